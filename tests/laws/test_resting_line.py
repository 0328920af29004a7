"""Coupled modes with singular couplings: which equilibria there are, which one a start picks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

import symreln as sr
from symreln.claims import equilibria
from symreln.claims.derivation import Derivation
from symreln.claims.equilibria import equilibria_of
from symreln.claims.mode_system import mode_system
from symreln.claims.resting_points import PRODUCT
from symreln.exact.truth import Truth
from symreln.laws.competition import Competition
from symreln.laws.coupled_modes import integrate_modes
from symreln.laws.resting_line import (
    RestingLine,
    _minimum,
    is_semidefinite,
    resting_line,
)
from tests.laws.test_competition import ended, plain
from tests.pathways.examples import GOLDEN, RATIONAL, scaled_structure
from tests.strategies import examples

ONE = [[1]]
#: A pathway for all contexts and one for each; a grid of two by two; two such pathways at once.
LINES = {
    "a whole and two parts": scaled_structure(RATIONAL, [3, 2], [(1, 1), (1, 0), (0, 1)]),
    "a whole and three": scaled_structure(
        ONE, [3, 2, 4], [(1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    ),
    "rows and columns": scaled_structure(
        ONE, [3, 2, 4, 5], [(1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1)]
    ),
    "a plane": scaled_structure(
        ONE, [3, 2, 4], [(1, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 1, 1)]
    ),
    "twins in it": scaled_structure(ONE, [3, 2], [(1, 1), (1, 1), (1, 0), (0, 1)]),
    "gains": sr.load(
        {
            "dataset": {"X": [[1, 1]], "Y": [[3, 2]]},
            "pathway": [
                {"name": "a", "gate": [1, "1/2"]},
                {"name": "b", "gate": ["2", 1]},
                {"name": "c", "gate": [1, 0]},
            ],
        }
    ),
}


def flowed(derivation, start, end=3000.0):
    """Return the strengths, by label, that an aligned start comes to, integrated in floats."""
    system = mode_system(derivation.stages[0])
    found = integrate_modes(system.s, system.kappa, start, np.array([0.0, end]), 1.0)
    return dict(zip(system.labels, found[:, -1], strict=True))


@cache
def derived(name: str) -> Derivation:
    return sr.derive(LINES[name])


def symbols(strengths) -> Any:
    return {sp.Symbol(label, positive=True): value for label, value in strengths.items()}


@pytest.mark.parametrize("name", LINES)
def test_the_flow_ends_where_the_conserved_sums_say(name):
    derivation = derived(name)
    labels = mode_system(derivation.stages[0]).labels
    start = 10.0 ** np.random.default_rng(3).uniform(-5, 0, len(labels))
    end = symbols(flowed(derivation, start))
    begun = symbols(dict(zip(labels, start, strict=True)))
    for race in derivation.races:
        assert race.end is None
        points: Any = race.points
        apart = [f - pi for f, pi in zip(points.formulas, points.strengths, strict=True)]
        assert max(abs(float(each.subs(end))) for each in apart) < 1e-9
        for total in points.sums:
            assert float(total.subs(end) - total.subs(begun)) == pytest.approx(0, abs=1e-8)
        if len(points.unknowns) == 1:
            assert points.low < points.unknowns[0].subs(end) < points.high
        if points.root is not None:
            rho = sp.Mul(
                *(p.subs(begun) ** e for p, e in zip(points.strengths, points.powers, strict=True))
            )
            expected = points.unknowns[0].subs(end)
            assert float(points.root.subs(PRODUCT, rho)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("name", [name for name in LINES if name != "a plane"])
def test_balls_from_equal_starts_hold_what_the_flow_comes_to(name):
    derivation = derived(name)
    begun = Fraction(1, 500)
    end = symbols(flowed(derivation, np.full(len(mode_system(derivation.stages[0]).s), 1 / 500)))
    for race in derivation.races:
        points: Any = replace(race, strength0=begun).points
        assert points.balls is not None
        for pi, found in zip(points.strengths, points.balls, strict=True):
            assert float(found) == pytest.approx(float(pi.subs(end)), rel=1e-8)
            assert float(found.rad()) < 1e-15


def test_known_line():
    # s = 5/2 and 3/2, 1; d = 1/2 and 1/4: π_1 + π_2 = 6 in context 1, π_1 + π_3 = 4 in context 2.
    race = derived("a whole and two parts").races[0]
    points: Any = race.points
    one, two, three = points.strengths
    assert points.formulas == (4 - three, 2 + three, three)
    assert points.sums == (sp.log(two) + sp.log(three) - sp.log(one),)
    root = sp.sqrt(PRODUCT**2 + 20 * PRODUCT + 4) / 2 - PRODUCT / 2 - 1
    assert sp.simplify(points.root - root) == 0


def test_a_root_is_given_where_its_first_coefficient_vanishes_too():
    # Four parts: x²(1 − ρ) + …, and equal starts have ρ = 1.
    points: Any = replace(derived("rows and columns").races[0], strength0=Fraction(1, 100)).points
    assert points.root is not None
    assert points.balls is not None
    assert sp.degree(points.polynomial.as_expr().subs(PRODUCT, 1), points.unknowns[0]) == 1
    place = points.strengths.index(points.unknowns[0])
    assert float(points.root.subs(PRODUCT, 1)) == pytest.approx(float(points.balls[place]))


@pytest.mark.parametrize("structure", [RATIONAL, GOLDEN])
def test_modes_that_are_alike_share_the_sum_in_the_ratio_of_their_starts(structure):
    derivation = sr.derive(
        scaled_structure(structure, [3, 2, 4], [(1, 1, 0), (1, 1, 0), (0, 1, 1)])
    )
    labels = mode_system(derivation.stages[0]).labels
    start = np.linspace(0.01, 0.2, len(labels))
    begun = dict(zip(labels, start, strict=True))
    end = flowed(derivation, start)
    shared = 0
    for race in derivation.races:
        assert race.line is None
        for modes, total in race.strengths(ended(race)):
            parts = [end[mode.label] for mode in modes]
            assert sum(parts) == pytest.approx(total.to_float(), rel=1e-9)
            whole = sum(begun[mode.label] for mode in modes)
            shares = [begun[mode.label] / whole * total.to_float() for mode in modes]
            assert parts == pytest.approx(shares, rel=1e-7)
            shared += len(modes) > 1
    assert shared == 2
    steps = {step.name: step.outcome for step in derivation.steps}
    assert steps["modes that share"] is Truth.PROVEN
    assert Truth.UNDECIDED not in steps.values()


def test_singular_at_the_declared_value_alone():
    # The third context's factor decides whether the three pathways' couplings are singular.
    tables = {
        "dataset": {"X": [[1, 1]], "Y": [[3, 2]]},
        "parameters": {"a": {"positive": True, "value": 1}},
        "pathway": [
            {"name": "a", "gate": [1, "a"]},
            {"name": "b", "gate": [1, 0]},
            {"name": "c", "gate": [1, 1]},
        ],
    }
    at_one = sr.derive(sr.load(tables)).races
    assert [race.groups for race in at_one] == [((0,), (1,), (2,))]
    assert at_one[0].line is not None
    assert len(at_one[0].line.directions) == 1
    # Two pathways span what three cannot leave open: elsewhere the line is another one.
    elsewhere = sr.derive(sr.load(tables, ["parameters.a.value=2"])).races
    assert elsewhere[0].line is not None
    assert elsewhere[0].line.directions != at_one[0].line.directions


def test_more_modes_than_are_followed_are_left_open(monkeypatch):
    monkeypatch.setattr(equilibria, "MOST_FOLLOWED", 2)
    derivation = sr.derive(LINES["rows and columns"])
    (race,) = derivation.races
    assert (race.end, race.line) == (None, None)
    assert "4 modes compete" in race.undecided
    assert "4 modes compete" in derivation.to_latex()


# -- the polytope of minima ------------------------------------------------------------------------

rows = st.lists(st.tuples(st.integers(1, 4), st.integers(-3, 3)), min_size=3, max_size=5)


@examples(100)
@given(rows)
def test_minima_are_those_of_least_squares(factors):
    # A = R Rᵀ and w = R c with c = (1, 0): L = ½|Rᵀphi − c|² − ½, which nnls and linprog know.
    r = np.array(factors, dtype=float)
    size = len(factors)
    form = [[Fraction(x[0] * y[0] + x[1] * y[1]) for y in factors] for x in factors]
    weights = [x[0] for x in factors]
    matrix = [[form[a][b] / weights[a] for b in range(size)] for a in range(size)]
    assert is_semidefinite(form)
    line = resting_line(plain(matrix, weights), {})
    assert line is not None
    best, _ = nnls(r.T, np.array([1.0, 0.0]))
    point = np.array(line.point, dtype=float)
    np.testing.assert_allclose(r.T @ point, r.T @ best, atol=1e-9)
    for a in range(size):
        # Which modes any minimum has.
        most = linprog(-np.eye(size)[a], A_eq=r.T, b_eq=r.T @ point, bounds=(0, None))
        assert line.support[a] == (most.status == 3 or -most.fun > 1e-9)
    inside = r[list(line.support)]
    assert len(line.directions) == len(inside) - np.linalg.matrix_rank(inside)
    for along in line.directions:
        np.testing.assert_allclose(r.T @ np.array(along, dtype=float), 0, atol=1e-12)
        assert all(there or not n for there, n in zip(line.support, along, strict=True))


def test_a_form_that_is_not_semidefinite_has_no_line():
    assert not is_semidefinite([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]])
    assert is_semidefinite([[Fraction(0), Fraction(0)], [Fraction(0), Fraction(1)]])
    assert resting_line(plain([[1, 2], [2, 1]]), {}) is None
    # Semidefinite, but the loss falls for ever along (1, −1): w is not orthogonal to it.
    assert resting_line(plain([[4, 2], [2, 1]], [1, 1]), {}) is None


def test_modes_that_others_would_join_are_no_minimum():
    r = [(1, 1), (1, 1), (1, 9)]
    matrix = [[Fraction(x[0] * y[0] + x[1] * y[1]) for y in r] for x in r]
    # The third alone is in equilibrium, but the first two grow when they are put in.
    assert _minimum(matrix, (False, False, True), positive=()) is None
    assert _minimum(matrix, (True, False, False), positive=()) == (Fraction(1, 2), 0, 0)
    assert _minimum(matrix, (True, True, False), positive=(1,)) is not None
    assert _minimum(matrix, (True, False, False), positive=(0,)) == (Fraction(1, 2), 0, 0)


def test_a_mode_that_no_minimum_has_dies_out():
    # R = (1, 1), (1, 1), (1, 9): the first two leave (1, −1)/2, against which the third works.
    r = [(1, 1), (1, 1), (1, 9)]
    form = [[x[0] * y[0] + x[1] * y[1] for y in r] for x in r]
    line = resting_line(plain(form), {})
    assert line is not None
    assert line.support == (True, True, False)
    assert line.drives == (0, 0, -4)
    f = np.array(form, dtype=float)
    last = integrate_modes(np.ones(3), f, [0.3, 0.1, 0.2], np.array([0.0, 200.0]), 1.0)[:, -1]
    np.testing.assert_allclose(last, [3 / 8, 1 / 8, 0], atol=1e-9)


# -- wrong lines are noticed -----------------------------------------------------------------------


def test_a_wrong_line_is_noticed():
    race = derived("a whole and two parts").races[0]
    race.check()
    line: Any = race.line
    moved = (line.point[0] + 1, *line.point[1:])
    tilted = ((line.directions[0][0] + 1, *line.directions[0][1:]),)
    lifted = (Fraction(1), *line.drives[1:])
    for wrong in (
        replace(line, point=moved),
        replace(line, directions=tilted),
        replace(line, drives=lifted),
    ):
        with pytest.raises(ArithmeticError, match="line"):
            replace(race, line=wrong).check()
    # Nothing learned is an equilibrium too, with these drives, but every mode grows out of it.
    nothing = RestingLine(point=(Fraction(0),) * 3, directions=(), drives=(Fraction(1),) * 3)
    with pytest.raises(ArithmeticError, match="line"):
        replace(race, line=nothing).check()


def test_modes_that_are_not_alike_are_not_summed():
    race = derived("twins in it").races[0]
    assert race.groups == ((0, 1), (2,), (3,))
    other = sr.derive(scaled_structure(RATIONAL, [3, 2, 4], [(1, 1, 0), (1, 1, 0), (0, 1, 1)]))
    race = other.races[0]
    # Taken as one although they are not: the sums' end is no end of the modes.
    wrong = replace(race, groups=((0,), (1,), (2,)))
    with pytest.raises((ArithmeticError, IndexError)):
        wrong.check()


# -- document and JSON -----------------------------------------------------------------------------


def test_document_and_json_say_what_the_start_decides():
    derivation = derived("a whole and two parts")
    entry = derivation.to_json()["equilibria"]
    first = entry["competitions"][0]
    assert first["undecided"] == ""
    assert first["at_rest"] is None
    assert first["line"]["strengths"]["pi_1_1"] == "4 - pi_3_1"
    assert first["line"]["range"] == ["0", "4"]
    assert first["line"]["product"] == "pi_2_1*pi_3_1/pi_1_1"
    assert derivation.ask(equilibria_of).loss is not None
    assert entry["loss"]["expr"] == "0"
    text = derivation.to_latex()
    assert "positive definite" not in text.replace("positive definite, by", "")
    assert "singular at the declared values" in text
    steps = {step.name for step in derivation.steps}
    assert "lines of equilibria" in steps
    assert "equilibria" not in steps
    twins = derived("twins in it")
    assert "keep their ratios for ever" in twins.to_latex()


@pytest.mark.parametrize("value", ["1/2", "1", "3"])
def test_the_loss_on_a_line_is_that_at_the_declared_values(value):
    # Either pathway can learn either feature, whatever the gain: nothing is left to explain.
    tables = {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [[2, 0], [0, 1]]},
        "parameters": {"g": {"positive": True, "value": value}},
        "pathway": [{"name": "a", "gate": [1, "g"]}, {"name": "b", "gate": ["1/3", 1]}],
    }
    derivation = sr.derive(sr.load(tables))
    assert any(race.line is not None for race in derivation.races)
    rest = derivation.ask(equilibria_of).loss
    assert rest is not None
    assert rest.to_fraction() == 0
    assert "above the least" not in derivation.to_latex()


@pytest.mark.parametrize(("value", "words"), [("1", "above the least"), ("3", "the least")])
def test_a_loss_above_the_least_is_said_of_the_declared_values(value, words):
    # 'a' would have to turn negative for the least loss, except at y = 3, where it is not needed.
    tables = {
        "dataset": {"X": [[1, 1]], "Y": [["y", 3]]},
        "parameters": {"y": {"positive": True, "value": value}},
        "pathway": [{"name": "a", "gate": [1, "1/2"]}, {"name": "b", "gate": [1, 1]}],
    }
    derivation = sr.derive(sr.load(tables))
    rest = derivation.ask(equilibria_of).loss
    assert rest is not None
    (y,) = derivation.spec.symbols.values()
    assert sp.expand(rest.to_sympy(derivation.spec.symbols) - (y - 3) ** 2 / 8) == 0
    assert f"at the declared values, {words} that the pathways" in derivation.to_latex()


def test_competitions_without_alike_modes_are_their_own_totals():
    system = plain([[2, 1], [1, 2]])
    assert isinstance(system, Competition)
    line = resting_line(system, {})
    assert line is not None
    assert line.directions == ()
    assert line.point == (Fraction(1, 3), Fraction(1, 3))
