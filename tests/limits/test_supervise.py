"""Commands that a limit ends: what is on disk, what is said, and that no process is left."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import symreln as sr
from symreln.cli import main as cli
from symreln.cli.limited import supervise
from symreln.cli.request import Request
from symreln.limits import supervise as supervising
from symreln.report.derivation_json import derivation_to_json
from symreln.report.partial_json import Finished
from symreln.verifier import verify_file

SLOW = "tests.limits.slow_worker"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
ROOT = str(Path(cli.__file__).parents[2])
LIMIT = 300.0
WHOLE = ("certificate.json", "derivation.html", "derivation.tex", "derivation.json")

SPEC = """
title = "Two pathways"
[dataset]
X = [["1", "0", "1"], ["0", "1", "1"], ["2", "0", "c"]]
Y = [["1", "0", "3"], ["0", "1", "1"]]
[parameters.c]
positive = true
value = "3/2"
[[pathway]]
name = "first"
gate = "all"
inputs = [0, 1]
[[pathway]]
name = "second"
gate = "all"
"""


#: A network, for commands that train one.
NETWORK = {
    "overrides": (
        "network.hidden=4",
        "network.init_std=0.1",
        "network.learning_rate=0.001",
        "network.steps=3",
    )
}


@pytest.fixture
def request_of(tmp_path, monkeypatch):
    spec = tmp_path / "own.toml"
    spec.write_text(SPEC, "utf-8")

    def make(how: str, **more) -> Request:
        monkeypatch.setenv("SLOW_WORKER", how)
        monkeypatch.setenv("SLOW_WORKER_NOTES", str(tmp_path))
        asked = {"command": "derive", "spec": str(spec), "out": str(tmp_path / "out"), **more}
        return Request(**asked)

    return make


@pytest.fixture
def limit_at(tmp_path, monkeypatch):
    """Return what makes the time limit pass at an event, and not after seconds."""

    def make(event: Callable[[Finished], bool] = bool, started: str = "worker") -> None:
        def elapsed(watch: supervising.Watch) -> float:
            happened = (tmp_path / started).exists() and event(watch.finished)
            return 2 * LIMIT if happened else LIMIT / 2

        monkeypatch.setattr(supervising.Watch, "elapsed", property(elapsed))

    return make


def _earlier(out: Path) -> None:
    (out / "figures").mkdir(parents=True)
    for name in (*WHOLE, "validation.json", "figures/modes.pdf"):
        (out / name).write_text("of an earlier command")


def test_at_a_time_limit_what_is_proven_is_on_disk(request_of, tmp_path, capsys, limit_at):
    limit_at()
    out = tmp_path / "out"
    _earlier(out)
    (out / "notes.txt").write_text("mine")
    request = request_of("flint", time_limit=LIMIT)
    assert supervise(request, SLOW) == 4
    said = capsys.readouterr()
    assert "time limit of 300 s was reached in the joint spectrum of pathway 'second'" in said.err
    found = json.loads((out / "derivation.json").read_text("utf-8"))
    assert found["verdict"]["level"] == "numeric only"
    first, second = found["pathways"]
    whole = derivation_to_json(sr.derive(sr.load(request.spec)))["pathways"]
    assert [m["s"] for m in first["modes"]] == [m["s"] for m in whole[0]["modes"]]
    assert first["commutes"] == whole[0]["commutes"]
    assert second["modes"] == []
    assert second["commutes"] == "undecided"
    left = [p for p in out.rglob("*.*") if p.read_bytes() == b"of an earlier command"]
    assert sorted(path.name for path in left) == ["modes.pdf", "validation.json"]
    assert "holds figures, validation.json of an earlier command" in said.err
    assert (out / "notes.txt").read_text() == "mine"
    assert "not complete" in (out / "derivation.html").read_text("utf-8")
    assert "not complete" in (out / "derivation.tex").read_text("utf-8")


@LINUX
def test_at_a_memory_limit(request_of, tmp_path, capsys):
    assert supervise(request_of("allocate", memory_limit=700 << 20, as_json=True), SLOW) == 4
    said = capsys.readouterr()
    assert "memory limit of 700 MB was reached" in said.err
    found = json.loads(said.out)
    assert found == json.loads((tmp_path / "out" / "derivation.json").read_text("utf-8"))
    assert found["limits"]["kind"] == "memory"
    assert found["pathways"][0]["proven"]["spectrum"]
    assert not found["pathways"][1]["proven"]["spectrum"]


@LINUX
def test_of_a_worker_that_is_killed_what_is_proven_is_on_disk(request_of, tmp_path, capsys):
    assert supervise(request_of("SIGKILL", time_limit=LIMIT), SLOW) == 4
    said = "the system or someone ended the process"
    assert said in capsys.readouterr().err
    out = tmp_path / "out"
    found = json.loads((out / "derivation.json").read_text("utf-8"))
    assert found["limits"]["kind"] == "ended"
    assert said in found["limits"]["said"]
    first, second = found["pathways"]
    assert first["proven"]["spectrum"]
    assert not second["proven"]["spectrum"]
    assert second["modes"] == []


def test_a_run_that_proves_nothing_leaves_earlier_results_alone(
    request_of, tmp_path, capsys, limit_at, monkeypatch
):
    monkeypatch.setattr(supervising.Watch, "elapsed", property(lambda _: 2 * LIMIT))
    out = tmp_path / "out"
    _earlier(out)
    assert supervise(request_of("sleep", time_limit=LIMIT), SLOW) == 4
    assert "keeps the results of an earlier command" in capsys.readouterr().err
    assert {path.read_text() for path in out.rglob("*.*")} == {"of an earlier command"}


def test_within_its_limits_a_command_does_what_it_does_without(tmp_path, capsys):
    asked = ["derive", "xor", "--quiet", "--format", "json", "--format", "html"]
    assert cli._guarded([*asked, "--out", str(tmp_path / "a")]) == 0
    found = subprocess.run(
        [sys.executable, "-m", "symreln", *asked, "--out", str(tmp_path / "b"),
         "--time-limit", "5min", "--memory-limit", "8GB"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    expected = capsys.readouterr().out.replace(str(tmp_path / "a"), str(tmp_path / "b"))
    assert found.stdout == expected
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_wrong_spec_under_a_limit_is_refused_as_ever(tmp_path, capfd):
    asked = ["derive", "xor", "--set", "network.hidden=-1", "--time-limit", "100"]
    assert cli._guarded([*asked, "--out", str(tmp_path / "out")]) == 2
    assert "network.hidden" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", ["0", "-5", "soon", "5 parsecs", ""])
def test_wrong_limits_end_in_2(value, capsys):
    assert cli._guarded(["derive", "xor", f"--time-limit={value}"]) == 2
    assert cli._guarded(["run", "xor", f"--memory-limit={value}"]) == 2
    assert "expected" in capsys.readouterr().err


def test_a_derivation_that_was_finished_is_not_overwritten(request_of, tmp_path, capfd, limit_at):
    """Training is what the limit ends; the derivation before it stays whole."""
    limit_at(lambda finished: finished.written, started="training")
    request = request_of("train", time_limit=LIMIT)
    asked = replace(request, command="validate", spec="linear-hierarchy", quiet=True)
    assert supervise(asked, SLOW) == 4
    assert "after the derivation was finished" in capfd.readouterr().err
    found = json.loads((tmp_path / "out" / "derivation.json").read_text("utf-8"))
    assert found["verdict"]["level"] == "closed"
    assert verify_file(tmp_path / "out" / "certificate.json")


def test_what_is_proven_is_on_disk_before_documents_are_made(
    request_of, tmp_path, capsys, limit_at
):
    limit_at(lambda finished: bool(finished.files), started="drawing")
    out = tmp_path / "out"
    out.mkdir()
    (out / "derivation.html").write_text("of an earlier derivation")
    request = request_of("draw", command="run", time_limit=LIMIT, as_json=True, **NETWORK)
    assert supervise(request, SLOW) == 4
    said = capsys.readouterr()
    assert "after the derivation was finished and proven" in said.err
    assert {path.name for path in out.iterdir()} == {"certificate.json", "derivation.json"}
    found = json.loads((out / "derivation.json").read_text("utf-8"))
    assert json.loads(said.out) == found
    assert "limits" not in found
    assert found["pathways"][0]["modes"]
    assert verify_file(out / "certificate.json")


def test_certificates_alone_where_no_json_is_asked_for(request_of, tmp_path, capsys, limit_at):
    limit_at(lambda finished: bool(finished.files), started="drawing")
    request = request_of("draw", time_limit=LIMIT, formats=("tex",))
    assert supervise(request, SLOW) == 4
    assert "written to" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["certificate.json"]
