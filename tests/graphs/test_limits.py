"""Limits and the cache, for graphs as for other specs."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest

import symreln as sr
from symreln.cli import main as cli
from symreln.cli.request import Request
from symreln.limits import supervise as supervising
from symreln.limits.supervise import supervise
from symreln.verify import verify_file

SPEC = """
title = "Two chains"
[dataset]
X = [["1", "0", "2", "1"], ["0", "1", "1", "-2"]]
Y = [["1", "0", "3", "0"], ["0", "1", "1", "1"]]
[[node]]
name = "x"
inputs = "all"
[[node]]
name = "a"
size = 2
gate = [1, 1, 0, 0]
[[node]]
name = "b"
size = 2
gate = [0, 0, 1, 1]
[[node]]
name = "y"
outputs = "all"
[[edge]]
from = "x"
to = "a"
[[edge]]
from = "a"
to = "y"
[[edge]]
from = "x"
to = "b"
[[edge]]
from = "b"
to = "y"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(SPEC, "utf-8")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_second_equal_derive_comes_from_the_cache(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The key holds the program's own files, which may change while tests run beside work on them.
    monkeypatch.setattr("symreln.cache.key.program", lru_cache(lambda: "one"))
    first, second = tmp_path / "a", tmp_path / "b"
    assert cli._guarded(["derive", str(own), "--out", str(first)]) == 0
    out, note = capsys.readouterr()
    assert "cache" not in note
    assert cli._guarded(["derive", str(own), "--out", str(second)]) == 0
    again, note = capsys.readouterr()
    assert "taken from the cache" in note
    assert again == out.replace(str(first), str(second))
    assert contents(first) == contents(second)
    assert {"certificate.json", "derivation.html", "figures/graph.pdf"} <= contents(first).keys()
    assert cli._guarded(["derive", str(own), "--out", str(second), "--json", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert shown == (first / "derivation.json").read_text("utf-8")


def test_within_its_limits_a_graph_is_derived_as_without(own: Path, tmp_path: Path) -> None:
    bare, limited = tmp_path / "bare", tmp_path / "limited"
    asked = ["derive", str(own), "--quiet", "--no-cache", "--out"]
    assert cli._guarded([*asked, str(bare)]) == 0
    limits = ["--time-limit", "5min", "--memory-limit", "2GB"]
    assert cli._guarded([*asked, str(limited), *limits]) == 0
    assert contents(bare) == contents(limited)
    verify_file(limited / "certificate.json")


def test_from_python_a_graph_is_derived_within_limits(own: Path) -> None:
    found = sr.derive_within(own, time_limit="5min")
    assert isinstance(found, sr.NetworkDerivation)
    assert found.certificate == sr.derive(sr.load(own)).certificate


def test_at_a_limit_what_is_proven_by_then_is_written(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second spectrum never ends: conserved quantities and the first one are there."""
    for name in ("FINE_GRACE", "BOXES_GRACE", "DOCUMENT_GRACE"):
        monkeypatch.setattr(supervising, name, 120.0)
    monkeypatch.setenv("SLOW_WORKER", "sleep")
    monkeypatch.setenv("SLOW_WORKER_NOTES", str(tmp_path))
    limit = 300.0

    def elapsed(watch: supervising.Watch) -> float:
        happened = (tmp_path / "worker").exists() and not watch.told().missing
        return 2 * limit if happened else limit / 2

    monkeypatch.setattr(supervising.Watch, "elapsed", property(elapsed))
    out = tmp_path / "out"
    request = Request(command="derive", spec=str(own), out=str(out), time_limit=limit, quiet=True)
    assert supervise(request, "tests.limits.slow_worker") == 4
    found = json.loads((out / "derivation.json").read_text("utf-8"))
    first, second = found["pathways"]
    assert first["proven"]["spectrum"]
    assert first["modes"]
    assert not second["proven"]["spectrum"]
    assert second["enclosures"]
    proven = found["limits"]["proven"]
    assert any(each.startswith("proven: conserved at 'a': W'W of ") for each in proven)
    assert any("is conserved" in sentence for sentence in proven)
    assert found["verdict"]["level"] == "numeric only"
    assert not (out / "certificate.json").exists()
    assert "conserved at" in (out / "derivation.html").read_text("utf-8")
    assert "conserved at" in capsys.readouterr().out
