"""Limits, for graphs as for other specs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import symreln as sr
from symreln.cli.limited import supervise
from symreln.cli.request import Request
from symreln.limits import supervise as supervising

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


def test_from_python_a_graph_is_derived_within_limits(own: Path) -> None:
    found = sr.derive_within(own, time_limit="5min")
    assert isinstance(found, sr.NetworkDerivation)
    assert found.level is sr.derive(sr.load(own)).level


def test_at_a_limit_what_is_proven_by_then_is_written(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second spectrum never ends: the first one is there."""
    monkeypatch.setenv("SLOW_WORKER", "sleep")
    monkeypatch.setenv("SLOW_WORKER_NOTES", str(tmp_path))
    limit = 300.0

    def elapsed(_: supervising.Watch) -> float:
        return 2 * limit if (tmp_path / "worker").exists() else limit / 2

    monkeypatch.setattr(supervising.Watch, "elapsed", property(elapsed))
    out = tmp_path / "out"
    request = Request(command="derive", spec=str(own), out=str(out), time_limit=limit, quiet=True)
    assert supervise(request, "tests.limits.slow_worker") == 4
    found = json.loads((out / "derivation.json").read_text("utf-8"))
    first, second = found["pathways"]
    assert first["proven"]["spectrum"]
    assert first["modes"]
    assert not second["proven"]["spectrum"]
    assert second["modes"] == []
    assert found["verdict"]["level"] == "numeric only"
    assert not (out / "certificate.json").exists()
