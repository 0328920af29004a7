"""The one integrator, the coupled modes that use it, and the initial strengths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symreln.errors import LimitReachedError
from symreln.laws.choice import expected_start
from symreln.laws.coupled_modes import integrate_modes
from symreln.laws.integrate import DRAWN, PRECISE, integrate
from symreln.laws.law import Regime
from symreln.specs.spec import NetworkSpec
from tests.cases import PLAIN_NETWORK

TIMES = {
    "many": np.linspace(0, 9, 200),
    "one": np.array([0.0]),
    "one, later": np.array([3.0]),
    "two": np.array([0.0, 9.0]),
    "repeated": np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.5, 2.5, 2.5, 9.0, 9.0]),
    "all equal": np.array([4.0, 4.0, 4.0]),
    "crowded": np.concatenate([[0.0], np.linspace(1, 1 + 1e-9, 30), [2.0]]),
    "far apart": np.array([0.0, 1e-12, 1e-3, 8.0]),
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_every_time_once_and_in_order(times):
    seen, states = [], []
    for part, values in integrate(lambda _, y: -y, np.array([1.0, 2.0]), times):
        assert values.shape == (2, part.stop - part.start)
        seen += range(part.start, part.stop)
        states.append(values)
    assert seen == list(range(len(times)))
    exact = np.exp(-(times - times[0])) * np.array([[1.0], [2.0]])
    np.testing.assert_allclose(np.hstack(states), exact, rtol=1e-9)


def test_accuracy_does_not_depend_on_the_size_of_the_start():
    # Weights as small as 1e-30 grow by s t: with an absolute tolerance they would be noise.
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    times = np.array([0.0, 5.0, 40.0])
    for size in (1.0, 1e-10, 1e-30):
        start = size * np.array([1.0, 0.2])
        found = np.hstack([v for _, v in integrate(lambda _, y: matrix @ y, start, times)])
        growing, falling = 0.6 * np.exp(times), 0.4 * np.exp(-times)
        exact = size * np.array([growing + falling, growing - falling])
        np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_blow_up_ends_in_a_limit():
    parts = integrate(lambda _, y: y**2, np.array([1.0]), np.array([0.0, 2.0]))
    with (
        pytest.raises(LimitReachedError, match="could not be integrated past t = 1"),
        np.errstate(all="ignore"),
    ):
        list(parts)


@pytest.mark.parametrize("accuracy", [PRECISE, DRAWN])
def test_a_stiff_flow_is_followed(accuracy):
    """One state relaxes a million times as fast as the other: 330 000 explicit steps for that."""
    calls = []

    def rhs(_: float, y: np.ndarray) -> np.ndarray:
        calls.append(0)
        return np.array([-1e6 * (y[0] - y[1]), -y[1]])

    times = np.linspace(0, 2, 9)
    found = np.hstack([v for _, v in integrate(rhs, np.ones(2), times, accuracy=accuracy)])
    np.testing.assert_allclose(found[1], np.exp(-times), rtol=20 * accuracy)
    assert len(calls) < 20_000


# -- coupled modes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_coupled_modes_against_an_implicit_integrator(seed):
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.5, 2, 4)
    kappa = np.diag(rng.uniform(0.5, 1.5, 4)) + 0.1 * rng.uniform(-1, 1, (4, 4))
    start = 10.0 ** rng.uniform(-9, -1, 4)
    times = np.linspace(0, 30, 61)
    found = integrate_modes(s, kappa, start, times, tau=1.5)
    flow = solve_ivp(
        lambda _, p: 2 * p * (s - kappa @ p) / 1.5,
        (0, 30),
        start,
        t_eval=times,
        method="Radau",
        rtol=1e-10,
        atol=1e-20,
    )
    # The integrator's share between steps, relative to the plateaus.
    np.testing.assert_allclose(found, flow.y, rtol=1e-8, atol=1e-8 * flow.y.max())


# -- loss and initial strengths --------------------------------------------------------------------


def test_initial_strength_is_what_random_units_grow_from():
    """E π(t) e^{−2st} of random units under the early flow a' = s b, b' = s a.

    Σ_h a_h b_h = π0 (e^{2st} …): 20 000 networks of 30 units know the mean to
    √(2/30)/√20000 = 0.2 %; five times that is allowed.
    """
    network = NetworkSpec(**(PLAIN_NETWORK | {"hidden": 30}))
    rng = np.random.default_rng(2)
    a, b = float(network.init_std) * rng.standard_normal((2, 20_000, 30))
    st = 3.0
    grown = a * np.cosh(st) + b * np.sinh(st), b * np.cosh(st) + a * np.sinh(st)
    strengths = (grown[0] * grown[1]).sum(axis=1) * np.exp(-2 * st)
    expected = float(expected_start(Regime.of_network(network)).strength0)
    assert strengths.mean() == pytest.approx(expected, rel=0.01)
    plain = Regime.of_network(NetworkSpec(**PLAIN_NETWORK))
    assert expected_start(plain).strength0 == Fraction(1, 1000)
