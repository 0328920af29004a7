"""Where coupled modes come to rest: exact, by integration, and by non-negative least squares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import nnls

import symreln as sr
from symreln.claims.equilibria import mode_system
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.laws.coupled_modes import integrate_modes
from tests.cases import matrix_spec
from tests.verdict.examples import (
    CUBIC,
    EQUAL,
    GOLDEN,
    RATIONAL,
    masked_race,
    race,
    race_of_three,
    scaled_structure,
)

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
    assert derivation.verdict.level is sr.Level.COUPLED_MODES
    system = mode_system(derivation.stages[0])
    exact = dict.fromkeys(system.labels, 0.0)
    rates = dict.fromkeys(system.labels, 0.0)
    for found in derivation.races:
        assert found.phi is not None
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
    rest = Fraction(derivation.to_json()["equilibria"]["loss"]["expr"])
    assert float(rest) == pytest.approx(loss[0], rel=1e-12)
    assert rest >= derivation.final_loss.to_fraction()


def test_known_ends():
    # Two pathways, by hand: d = 1/3, κ = 1/6, s = 5/3 and 2 (times 1/2): π = (8/3, 14/3).
    first, second = sr.derive(race(RATIONAL)).races
    for found, scale in ((first, 1), (second, Fraction(1, 2))):
        strengths = [x.to_sympy() for x in found.winners.values()]
        assert strengths == [sp.Rational(8, 3) * scale, sp.Rational(14, 3) * scale]
    # Three: the weakest pathway loses although it starts to learn: s = 3/4 < (4 + 4)/8.
    found, _ = sr.derive(race_of_three(RATIONAL)).races
    assert [x.is_zero for x in found.phi] == [True, False, False]
    assert [x.to_sympy() for x in found.losers.values()] == [sp.Rational(1, 4)]


def test_a_wrong_end_is_noticed():
    (found, _) = sr.derive(race(RATIONAL)).races
    found.competition.check(found.phi)
    # A drive that does not vanish on the support, a mode that is absent and grows, a negative one.
    for wrong in (
        (Scalar.of(2), found.phi[1]),
        (found.phi[0] * 0, found.phi[1]),
        (-found.phi[0], found.phi[1]),
    ):
        with pytest.raises(ArithmeticError, match="equilibrium"):
            found.competition.check(wrong)


@pytest.mark.parametrize("seed", range(30))
def test_ends_are_least_squares_over_strengths_that_are_not_negative(seed):
    """Pathways of one input each and one output: a strength is a weight, of its mode's sign."""
    random = np.random.default_rng(seed)
    x, y = random.integers(-3, 4, (4, 6)), random.integers(-3, 4, (1, 6))
    x[:, 0] += (x @ y[0] == 0).astype(int)  # each learns something
    pathways = [{"gate": [1] * 6, "inputs": [place]} for place in range(4)]
    derivation = sr.derive(matrix_spec(x.tolist(), y.tolist(), pathways))
    expected, _ = nnls((x * np.sign(x @ y[0])[:, None]).T.astype(float), y[0].astype(float))
    found = {}
    for each in derivation.races:
        found |= dict.fromkeys(each.labels, 0.0)
        found |= {label: strength.to_float() for label, strength in each.winners.items()}
    if found and not any(each.undecided for each in derivation.races):
        assert [found[f"pi_{n}_1"] for n in range(1, 5)] == pytest.approx(expected, abs=1e-9)
    else:
        assert derivation.level is not sr.Level.COUPLED_MODES or np.linalg.matrix_rank(x) < 4


@pytest.mark.parametrize("spec", [race(GOLDEN), race(CUBIC), race_of_three(CUBIC)])
def test_conjugates_are_left_open_and_integrated(spec):
    derivation = sr.derive(spec)
    assert all(found.phi is None for found in derivation.races if len(found.modes[0]) > 1)
    assert any("conjugate" in found.undecided for found in derivation.races)
    assert derivation.to_json()["equilibria"]["loss"] is None
    assert "of conjugate modes some may win" in derivation.to_latex()


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
