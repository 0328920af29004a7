"""Gates from the data alone as a user asks for them: files, lines, notes."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import symreln as sr
from symreln.base import progress
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.gating.serialise import number_text
from symreln.networks.orbits import sample_group
from tests.app.command import command


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


@pytest.mark.parametrize(
    ("inputs", "targets", "said"),
    [
        ([[1, 1, 0], [0, 0, 1]], [[1, 1, 2]], "earlier one: 1 of 3"),
        ([[0, 1, 1], [1, 0, 0]], [[2, 1, -1]], "samples 1 and 2 (counted from 0)"),
        ([[1, 2, 0], [0, 0, 1]], [[0, 0, 0]], "all targets are 0"),
        ([[0, 0, 0]], [[1, 2, 3]], "all inputs are 0"),
        ([[1, 2, 0], [0, 1, 1]], [[1, 2, 3]], ""),
    ],
)
@pytest.mark.parametrize("method", ["enumerate", "self-consistent"])
def test_data_whose_gates_tell_little_apart(inputs, targets, said: str, method: str) -> None:
    found = sr.gates(spec(inputs, targets), method)
    shown = "\n".join(found.lines())
    assert said in shown
    assert ("note: " in shown) == bool(said)
    # A spec is written only where it has a pathway, so that derive takes it.
    assert ("gates.toml" in found.files()) == bool(found.found.pathways)
    assert said != "all inputs are 0" or not found.found.pathways


def test_what_is_not_shown_is_counted() -> None:
    curve = [[(-1) ** k * k**power for k in range(1, 13)] for power in range(3)]
    found = sr.gates(spec(curve, [[1] * 12]), "enumerate")
    lines = [*found.lines()]
    left = len(found.to_json()["kinds"]) - sum(" orbit of size " in line for line in lines)
    assert f"{left} more kinds in gates.json" in "\n".join(lines)
    assert "no gates.toml" in lines[-1]
    assert [*found.files()] == ["gates.json"]
    group = sample_group(found.spec.dataset.inputs)
    for each in (found, found.found.found, group):
        assert len(repr(each)) < 3000


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


def test_a_long_exact_number_is_shown_by_its_decimals() -> None:
    root = sr.gates(spec([[Fraction(10) ** 400, 2], [3, 1]], [[1, 2]]))
    assert root.to_json()["stages"][0]["bound"] is None
    assert "speed 5.00000e+399" in "\n".join(root.lines())
    third = AlgebraicNumber.rational(Scalar.of(Fraction(1, 3)))
    assert number_text(third) == "1/3"
    a = Scalar.symbol("a", ("a",))
    symbolic = AlgebraicNumber.rational((a + 1) ** 5 / (a - 2) ** 3)
    assert number_text(symbolic) == symbolic.to_json({})["expr"]
    assert json.dumps(root.to_json())
