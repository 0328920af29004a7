"""Gates from the data alone as a user asks for them: files, lines, notes."""

from pathlib import Path

import pytest

import symreln as sr
from symreln.base import progress
from tests.cli.command import command


def spec(x: list, y: list, **more: object) -> sr.Spec:
    return sr.load({"dataset": {"X": x, "Y": y}, "pathway": [{"name": "all"}], **more})


def test_gates_that_were_found_are_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    asked = ["--set", "parameters.Delta.value=1", "--out", str(tmp_path)]
    done = command("gates", "xor", "--method", "self-consistent", *asked)
    assert "gates …" in done.err
    found = sr.load(str(tmp_path / "gates.toml"))
    assert [pathway.gate for pathway in found.pathways] == [(1, 1, 0, 0), (0, 0, 1, 1)]
    original = sr.load("xor", {"parameters.Delta.value": 1})
    assert (found.dataset.inputs - original.dataset.inputs).is_zero
    assert (found.dataset.targets - original.dataset.targets).is_zero
    assert (found.network, found.values) == (original.network, original.values)


def test_all_gates() -> None:
    answer = sr.gates("xor", "enumerate")
    found = answer.to_json()
    assert (found["count"], found["open"], found["symmetries"]) == (9, 4, 8)
    assert sum(kind["size"] for kind in found["kinds"]) == len(found["gates"]) == 9
    pathways = answer.to_spec().pathways
    assert [pathway.name for pathway in pathways] == [f"gate_{n}" for n in range(1, 9)]
    assert {"".join(map(str, p.gate)) for p in pathways} == {g for g in found["gates"] if "1" in g}


def test_a_partial_winner_is_a_stage_and_a_pathway() -> None:
    x, y = [[2, 0, 0, 2], [-2, 1, -1, -2]], [[-1, -2, -3, 2]]
    answer = sr.gates(spec(x, y))
    (first, *_) = answer.to_json()["stages"]
    assert (first["winners"], first["winner_proven"]) == (["/01/"], True)
    searched = "stage 1: 1 fastest; all activity patterns searched: no gate grows faster than the"
    assert searched in "\n".join(answer.lines())
    pathway = answer.to_spec().pathways[0]
    assert (pathway.gate, pathway.boundary) == ((0, 0, 1, 0), (0, 3))
    # Equal inputs with different targets: what is left after the first stage stays.
    found = "\n".join(sr.gates(spec([[1, 1, 0], [0, 0, 1]], [[1, 2, 3]])).lines())
    assert "stage 1: 1 fastest" in found
    assert "stage 2: no gate grows on what is left, proven" in found
