"""Equilibria of coupled modes and their stability: exact, and by integration."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.claims.equilibria import equilibria_of
from symreln.claims.mode_system import mode_system
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.laws.competition import Competition
from symreln.laws.coupled_modes import integrate_modes
from symreln.verdict.judge import Level
from tests.pathways.examples import (
    CUBIC,
    EQUAL,
    GOLDEN,
    RATIONAL,
    masked_race,
    race,
    race_of_three,
    scaled_structure,
)
from tests.strategies import examples


def numbers(*values: Fraction | int) -> tuple[Scalar, ...]:
    return tuple(Scalar.of(value) for value in values)


def plain(matrix, squares=None) -> Competition:
    """A competition of simple modes with the given F."""
    size = len(matrix)
    return Competition(
        squares=numbers(*(squares or [1] * size)),
        multiplicities=(1,) * size,
        matrix=[list(numbers(*row)) for row in matrix],
    )


def ended(found):
    """Return a competition's end, which must be there."""
    assert found.end is not None
    return found.end


def entries(values) -> list[Fraction]:
    return [value.to_fraction() for value in values]


EXAMPLES = {
    "rational": race(RATIONAL),
    "equal modes": race(EQUAL),
    "three, rational": race_of_three(RATIONAL),
    "an output mask": masked_race(),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_end_is_where_the_flow_ends(name):
    # Exact numbers against the floats that are integrated, from two starts of one's own.
    derivation = sr.derive(EXAMPLES[name])
    assert derivation.verdict.level is Level.COUPLED_MODES
    system = mode_system(derivation.stages[0])
    exact = dict.fromkeys(system.labels, 0.0)
    rates = dict.fromkeys(system.labels, 0.0)
    for found in derivation.races:
        assert found.end is not None
        exact |= {label: x.to_float() for label, x in found.winners.items()}
        rates |= {label: x.to_float() for label, x in found.losers.items()}
    end = np.array([exact[label] for label in system.labels])
    shortfall = np.array([rates[label] for label in system.labels])
    np.testing.assert_allclose(system.kappa @ end - system.s, shortfall, atol=1e-12)
    assert (end > 0).tolist() == (shortfall == 0).tolist()
    rng = np.random.default_rng(1)
    for _ in range(2):
        start = 10.0 ** rng.uniform(-6, 1, len(end))
        last = integrate_modes(system.s, system.kappa, start, np.array([0.0, 2000.0]), 1.0)[:, -1]
        np.testing.assert_allclose(last, end, rtol=1e-7, atol=1e-9)
    loss = system.loss(float(derivation.initial_loss.to_fraction()), end[:, None])
    rest = derivation.ask(equilibria_of).loss
    assert rest is not None
    assert float(rest.to_fraction()) == pytest.approx(loss[0], rel=1e-12)
    assert rest.to_fraction() >= derivation.final_loss.to_fraction()


def test_known_ends():
    # Two pathways, by hand: d = 1/3, κ = 1/6, s = 5/3 and 2 (times 1/2): π = (8/3, 14/3).
    first, second = sr.derive(race(RATIONAL)).races
    for found, scale in ((first, 1), (second, Fraction(1, 2))):
        strengths = [x.to_sympy() for x in found.winners.values()]
        assert strengths == [sp.Rational(8, 3) * scale, sp.Rational(14, 3) * scale]
    # Three: the weakest pathway loses although it starts to learn: s = 3/4 < (4 + 4)/8.
    found, _ = sr.derive(race_of_three(RATIONAL)).races
    assert ended(found).support == (False, True, True)
    assert [x.to_sympy() for x in found.losers.values()] == [sp.Rational(1, 4)]


def test_a_wrong_end_is_noticed():
    (found, _) = sr.derive(race(RATIONAL)).races
    end = ended(found)
    found.check(end)
    # A drive that does not vanish on the support, though it is the right one; a mode that grows.
    absent = found.system.equilibrium((True, False))
    wrong = (replace(end, phi=(Scalar.of(2), *end.phi[1:])), replace(absent, support=(True, True)))
    for each in (*wrong, absent):
        with pytest.raises(ArithmeticError, match="equilibrium"):
            found.check(each)


# -- supports ------------------------------------------------------------------------------------

whole = st.integers(-3, 3)


@examples(240)
@given(st.lists(st.lists(whole, min_size=4, max_size=4), min_size=2, max_size=4), st.data())
def test_pivoting_finds_the_one_equilibrium_that_nobody_can_enter(rows, data):
    size = len(rows)
    squares = data.draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
    # W F = R Rᵀ + 1 is positive definite.
    gram = [[sum(x * y for x, y in zip(a, b, strict=True)) + (a is b) for b in rows] for a in rows]
    matrix = [[Fraction(gram[a][b], squares[a]) for b in range(size)] for a in range(size)]
    system = plain(matrix, squares)
    assert system.has_lyapunov
    assert system.is_convex({})
    end = system.settled({})
    assert end is not None
    closed = []
    for support in product((True, False), repeat=size):
        inside = [a for a in range(size) if support[a]]
        block = sp.Matrix([[matrix[a][b] for b in inside] for a in inside])
        phi = dict.fromkeys(range(size), sp.S.Zero)
        if inside:
            phi |= dict(zip(inside, block.LUsolve(sp.ones(len(inside), 1)), strict=True))
        drives = [1 - sum(matrix[a][b] * phi[b] for b in range(size)) for a in range(size)]
        if all(phi[a] > 0 for a in inside) and all(drive <= 0 for drive in drives):
            closed.append((support, [phi[a] for a in range(size)]))
    assert closed == [(end.support, [sp.Rational(x) for x in entries(end.phi)])]


def test_a_mode_that_neither_wins_nor_falls_is_absent():
    # phi_2 = 0 exactly when both are there: the support is the first alone, its rate 0.
    end = plain([[1, 1], [1, 2]]).settled({})
    assert end is not None
    assert end.support == (True, False)
    assert entries(end.drives) == [0, 0]


@pytest.mark.parametrize("spec", [race(GOLDEN), race(CUBIC), race_of_three(CUBIC)])
def test_conjugates_are_left_open_and_integrated(spec):
    derivation = sr.derive(spec)
    assert all(found.end is None for found in derivation.races if len(found.modes[0]) > 1)
    assert any("conjugate" in found.undecided for found in derivation.races)
    assert derivation.ask(equilibria_of).loss is None
    assert "of conjugate modes some may win" in derivation.to_latex()


def test_couplings_without_a_falling_function():
    assert not plain([[2, 1], [0, 2]]).has_lyapunov
    assert not plain([[1, 2], [2, 1]]).is_convex({})
    assert not plain([[1, 1], [1, 1]]).is_convex({})


# -- document and JSON -----------------------------------------------------------------------------


def test_singular_couplings_are_integrated():
    # A pathway for both contexts and one for each: where they end depends on the start.
    network = {"init_std": Fraction(1, 1000), "learning_rate": Fraction(1, 10), "steps": 400}
    derivation = sr.derive(
        scaled_structure(RATIONAL, [3, 2], [(1, 1), (1, 0), (0, 1)], network=network)
    )
    entry = derivation.to_json()["equilibria"]
    assert entry["loss"] is None
    for found in entry["competitions"]:
        assert found["at_rest"] is None
        assert "couplings are singular" in found["undecided"]
    assert {step.outcome for step in derivation.steps if step.name == "equilibria"} == {
        Truth.UNDECIDED
    }
    assert "couplings are singular" in derivation.to_latex()
    curves = derivation.evaluate()
    assert curves.loss[-1] < 1e-5 * curves.loss[0]
