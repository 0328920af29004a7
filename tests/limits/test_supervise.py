"""Commands that a limit ends: what is on disk, what is said, and that no process is left."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import symreln as sr
from symreln.cli import main as cli
from symreln.cli.request import Request
from symreln.limits import supervise as supervising
from symreln.limits.partial import Reached, Told, partial_derivation
from symreln.limits.supervise import supervise
from symreln.report.derivation_json import derivation_to_json
from symreln.verify import verify_file

SLOW = "tests.limits.slow_worker"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
ROOT = str(Path(cli.__file__).parents[2])
LIMIT = 300.0
CHILDREN = [supervising.WORKER, supervising.WITNESS, supervising.SCRIBE]

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
    for name in ("FINE_GRACE", "BOXES_GRACE", "DOCUMENT_GRACE"):
        # What is written is tested here; benchmarks/limits.py measures how soon.
        monkeypatch.setattr(supervising, name, 120.0)

    def make(event: Callable[[Told], bool], started: str = "worker") -> None:
        def elapsed(watch: supervising.Watch) -> float:
            happened = (tmp_path / started).exists() and event(watch.told())
            return 2 * LIMIT if happened else LIMIT / 2

        monkeypatch.setattr(supervising.Watch, "elapsed", property(elapsed))

    return make


def all_enclosed(told: Told) -> bool:
    return bool(told.pathways) and not told.missing


@pytest.mark.parametrize("how", ["sleep", "flint"])
def test_at_a_time_limit_what_is_proven_and_enclosed_is_on_disk(
    request_of, tmp_path, capsys, limit_at, how
):
    limit_at(all_enclosed)
    out = tmp_path / "out"
    out.mkdir()
    (out / "certificate.json").write_text("of an earlier derivation")
    (out / "notes.txt").write_text("mine")
    request = request_of(how, time_limit=LIMIT)
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
    assert second["commutes"] == whole[1]["commutes"]
    exact = [m["s"]["decimal"] for m in whole[1]["modes"] for _ in range(m["multiplicity"])]
    for box, decimal in zip(second["enclosures"], exact, strict=True):
        distance = abs(float(box["s"]["decimal"]) - float(decimal))
        assert distance <= float(box["s"]["radius"]) + 1e-12
    assert not (out / "certificate.json").exists(), "it would prove something else"
    assert (out / "notes.txt").read_text() == "mine"
    assert "not complete" in (out / "derivation.html").read_text("utf-8")
    assert "not complete" in (out / "derivation.tex").read_text("utf-8")


@LINUX
@pytest.mark.parametrize("how", ["allocate", "refuse"])
def test_at_a_memory_limit(request_of, tmp_path, capsys, how):
    assert supervise(request_of(how, memory_limit=700 << 20, as_json=True), SLOW) == 4
    said = capsys.readouterr()
    assert "memory limit of 700 MB was reached" in said.err
    found = json.loads(said.out)
    assert found == json.loads((tmp_path / "out" / "derivation.json").read_text("utf-8"))
    assert found["limits"]["kind"] == "memory"
    assert found["pathways"][0]["proven"]["spectrum"]
    assert not found["pathways"][1]["proven"]["spectrum"]


@LINUX
@pytest.mark.parametrize(
    ("how", "code", "kind", "said"),
    [
        ("SIGKILL", 4, "ended", "the system or someone ended the process"),
        ("SIGABRT", 4, "memory", "memory limit of this machine was reached"),
        ("refuse", 4, "memory", "memory limit of this machine was reached"),
        ("SIGSEGV", 1, "crash", "ended with SIGSEGV"),
        ("SIGTERM", 1, "crash", "ended with SIGTERM"),
    ],
)
def test_however_the_worker_dies_what_is_proven_is_on_disk(
    request_of, tmp_path, capsys, limit_at, how, code, kind, said
):
    limit_at(lambda _: False)
    assert supervise(request_of(how, time_limit=LIMIT), SLOW) == code
    assert said in capsys.readouterr().err
    out = tmp_path / "out"
    found = json.loads((out / "derivation.json").read_text("utf-8"))
    assert found["limits"]["kind"] == kind
    assert said in found["limits"]["said"]
    first, second = found["pathways"]
    assert first["proven"]["spectrum"]
    assert not second["proven"]["spectrum"]
    assert second["enclosures"]
    assert found["limits"]["enclosures"] is None
    for name in ("derivation.html", "derivation.tex"):
        assert "not complete" in (out / name).read_text("utf-8")


def test_a_witness_that_the_limit_took_is_started_again(request_of, tmp_path, limit_at):
    """Under a memory limit the witness makes room for the work, and comes back after it."""
    limit_at(lambda _: True)
    request = request_of("sleep", time_limit=LIMIT)
    folder = tmp_path / "steps"
    folder.mkdir()
    watch = supervising.Watch(request, folder, SLOW)
    try:
        assert isinstance(watch.wait(), Reached)
        if watch.witness is not None:
            watch.witness.kill()
        told = watch.enclose()
        assert all_enclosed(told)
        (tmp_path / "out").mkdir()
        path = tmp_path / "out" / "derivation.json"
        path.write_text(json.dumps(partial_derivation(told, Reached(kind="time", seconds=1.0))))
        assert watch.witness is not None
        watch.witness.kill()  # the documents are another's work
        pages = watch.documents(path, time.monotonic())
        assert {page.name for page in pages} == {"derivation.html", "derivation.tex"}
        assert all("not complete" in page.read_text("utf-8") for page in pages)
    finally:
        watch.end()


@LINUX
def test_enclosures_that_do_not_fit_are_said_to_be_missing(
    request_of, tmp_path, limit_at, monkeypatch
):
    limit_at(lambda told: bool(told.pathways))
    monkeypatch.setattr(supervising.Watch, "_start_others", lambda _: None)
    watch = supervising.Watch(request_of("sleep", time_limit=LIMIT), tmp_path, SLOW)
    try:
        reached = watch.wait()
        assert isinstance(reached, Reached)
        watch.request = replace(watch.request, memory_limit=1 << 20)
        found = partial_derivation(watch.enclose(), reached, watch.bare)
    finally:
        watch.end()
    assert found["limits"]["enclosures"] == supervising.NO_ROOM
    assert found["pathways"][1]["enclosures"] is None


WHOLE = ("certificate.json", "derivation.html", "derivation.tex", "derivation.json")


def _earlier(out: Path) -> None:
    (out / "figures").mkdir(parents=True)
    for name in (*WHOLE, "validation.json", "figures/modes.pdf"):
        (out / name).write_text("of an earlier command")


def test_a_run_that_proves_nothing_leaves_earlier_results_alone(
    request_of, tmp_path, capsys, limit_at, monkeypatch
):
    monkeypatch.setattr(supervising, "BOXES_GRACE", 0.0)
    monkeypatch.setattr(supervising.Watch, "elapsed", property(lambda _: 2 * LIMIT))
    out = tmp_path / "out"
    _earlier(out)
    assert supervise(request_of("sleep", time_limit=LIMIT), SLOW) == 4
    assert "keeps the results of an earlier command" in capsys.readouterr().err
    assert {path.read_text() for path in out.rglob("*.*")} == {"of an earlier command"}


def test_what_a_cut_run_leaves_of_an_earlier_one_is_mentioned(
    request_of, tmp_path, capsys, limit_at
):
    limit_at(all_enclosed)
    out = tmp_path / "out"
    _earlier(out)
    assert supervise(request_of("sleep", time_limit=LIMIT), SLOW) == 4
    said = capsys.readouterr().err
    left = [p for p in out.rglob("*.*") if p.read_bytes() == b"of an earlier command"]
    assert sorted(path.name for path in left) == ["modes.pdf", "validation.json"]
    assert "holds figures, validation.json of an earlier command" in said


def test_within_its_limits_a_command_does_what_it_does_without(tmp_path, capsys):
    asked = ["derive", "xor", "--quiet", "--no-cache"]
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


@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_derivation_that_was_finished_is_not_overwritten(
    request_of, tmp_path, capfd, limit_at, command
):
    """Training is what the limit ends; the derivation before it stays whole."""
    limit_at(lambda told: told.written, started="training")
    request = request_of("train", time_limit=LIMIT)
    asked = replace(request, command=command, spec="linear-hierarchy", quiet=True)
    assert supervise(asked, SLOW) == 4
    assert "after the derivation was finished" in capfd.readouterr().err
    found = json.loads((tmp_path / "out" / "derivation.json").read_text("utf-8"))
    assert found["verdict"]["level"] == "closed"
    assert verify_file(tmp_path / "out" / "certificate.json")


@pytest.mark.parametrize("command", ["derive", "run"])
def test_what_is_proven_is_on_disk_before_documents_are_made(
    request_of, tmp_path, capsys, limit_at, command
):
    limit_at(lambda told: bool(told.files), started="drawing")
    out = tmp_path / "out"
    out.mkdir()
    (out / "derivation.html").write_text("of an earlier derivation")
    request = request_of("draw", command=command, time_limit=LIMIT, as_json=True, **NETWORK)
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
    limit_at(lambda told: bool(told.files), started="drawing")
    request = request_of("draw", time_limit=LIMIT, formats=("tex",))
    assert supervise(request, SLOW) == 4
    assert "written to" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["certificate.json"]
