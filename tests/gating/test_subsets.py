"""Gates by subsets of a label: formulas, spectra at values, known answers, and trained networks."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.gating.context_subsets import _formulas
from tests.campaigns.random_specs import toml_of
from tests.cli.command import command
from tests.gating.subset_identities import SCALE, C, M, N, proofs
from tests.own_specs import UNIT, own, path

#: Two samples of each of two kinds; a in the targets makes one kind, the other or both the fastest.
KINDS = own(
    UNIT,
    [["a", 0, 0], [0, 2, 1]],
    path("all"),
    labels={"kind": ["left", "right", "right"]},
    parameters={"a": {"positive": True}},
    network={"hidden": 60, "init_std": "1/1000", "steps": 1501},
)


def formulas_at(contexts: int, size: int, items: int, scale: Fraction) -> dict[str, sp.Expr]:
    at = {C: contexts, M: size, N: items, SCALE: sp.Rational(scale)}
    return {name: value.subs(at) for name, value in vars(_formulas()).items()}


def middle(contexts: int) -> set[int]:
    """The m next to C/2: the fastest on the residual for every n and c."""
    return {contexts // 2, -(-contexts // 2)}


def test_every_formula_is_proven() -> None:
    for name, values in proofs().items():
        assert values, name
        assert all(value == 0 for value in values), name


@pytest.mark.parametrize(
    ("contexts", "items", "scale"),
    [(2, 2, "1"), (3, 8, "1"), (4, 4, "11/10"), (5, 4, "1/3"), (6, 2, "3")],
)
def test_formulas_are_the_largest_singular_values(contexts: int, items: int, scale: str) -> None:
    """The second route: the exact spectrum of each gate, with all its singular values."""
    keys = {"parameters.C.value": contexts, "dataset.items": items, "parameters.c.value": scale}
    spec = sr.load("contextual-C", keys)
    for stage, name in enumerate(("first", "residual"), start=1):
        answer = sr.race(spec, by="context", stage=stage)
        found = {each.pattern.count("1") // items: each for each in answer.found.runners}
        assert [*found] == sorted(found, key=lambda m: -float(found[m].s))
        assert {*found} == {*range(1, contexts + (stage == 1))}  # nothing is left for m = C
        for m, each in found.items():
            wanted = formulas_at(contexts, m, items, Fraction(scale))[name]
            assert (each.s.to_sympy() ** 2 - wanted**2).equals(0)
            assert each.self_consistent is (stage == 1 and m == contexts)
        top = {pattern.count("1") // items for pattern in answer.found.winner}
        assert top == ({contexts} if stage == 1 else middle(contexts))
        assert any("For all C, m, n and c, proven" in line for line in answer.lines())


def test_who_is_faster() -> None:
    """Signs of the differences, over numbers: m = C first, then next to C/2."""
    steps = _formulas().faster_with_m
    for contexts in range(2, 9):
        for size in range(1, contexts):
            at = {C: contexts, M: size, N: 8, SCALE: 2}
            signs = {name: float(value.subs(at)) for name, value in steps.items()}
            assert signs["first stage"] > 0
            turn = np.sign(contexts - 2 * size - 1)
            assert np.sign(signs["residual"]) == turn
            if size < contexts - 1:
                assert np.sign(signs["residual, partial gate"]) == turn
            here = formulas_at(contexts, size, 8, Fraction(1))
            assert 0 < float(here["partial"]) < float(here["residual"])
            assert 0 < float(here["inside"]) < 1
            assert 0 < float(here["outside"]) < 1


def test_speeds_cross_where_they_are_known_to() -> None:
    """Samples are orthonormal: a gate grows as the larger of a and √5, over P."""
    found = sr.race(sr.load(KINDS), "a", by="kind").found.race
    names = found.names
    orders = [[[names[g] for g in rank] for rank in part.order] for part in found.pieces]
    left, right, both = "m = 1 (left)", "m = 1 (right)", "m = 2 (left, right)"
    kinds = [sorted(map(sorted, order)) for order in orders if order]
    assert kinds[0] == sorted([[left], sorted([right, both])])
    assert kinds[-1] == sorted([[right], sorted([left, both])])
    (mark,) = [each for each in found.boundaries if {*each.between} >= {"100", "011"}]
    assert (str(mark.value.to_sympy()), mark.changes_winner) == ("sqrt(5)", True)
    assert all(each.kind == "speed" for each in found.boundaries)
    # A direction along one kind alone keeps that kind's gate, and no other.
    for part in found.pieces:
        assert all(each.self_consistent is (each.pattern != "111") for each in part.runners)


def test_networks_take_the_fastest_on_both_sides(tmp_path: Path) -> None:
    spec = tmp_path / "kinds.toml"
    spec.write_text(toml_of(KINDS))
    out = ["--seeds", "2", "--points", "1", "--out", str(tmp_path / "out")]
    shown = command("race", spec, "--by", "kind", "--over", "a", *out).out
    assert "the speeds of 100, 011 cross, the winner changes" in shown
    found = json.loads((tmp_path / "out" / "race.json").read_text())
    names = {"m = 1 (left)", "m = 1 (right)", "m = 2 (left, right)"}
    assert {each["name"] for each in found["candidates"]} == names
    assert "weight of 2 networks a point after training" in shown
    points = found["confronted"]["points"]
    assert len(points) == 2
    for point in points:
        predicted, measured = (
            [each[key] for each in point["classes"]] for key in ("predicted", "measured")
        )
        assert sum(predicted) == pytest.approx(1, abs=0.01)
        assert predicted == pytest.approx(measured, abs=0.15)  # 0.1 apart at 60 units
    drawn = (tmp_path / "out" / "race.svg").read_text()
    assert "m = 1 (left)" in drawn
    assert "trained networks" in drawn
