"""Numbers of the families: balls against floats, extremes, limits at any time, monotony."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.integrate import quad

from symreln.errors import LimitReachedError, NoClosedFormError
from symreln.laws import (
    decaying_balls,
    decaying_imbalance,
    deep_balls,
    deep_numbers,
    shallow,
    two_layer,
    unbalanced,
    weight_decay,
)
from tests.laws.campaign import FAMILIES

BALLS = {
    "shallow": shallow.strength_ball,
    "two-layer balanced": two_layer.strength_ball,
    "two-layer unbalanced": unbalanced.strength_ball,
    "weight decay, balanced": lambda s, d, decay, p0, t, tau: weight_decay.strength_ball(
        s - decay, d, p0, t, tau
    ),
    "weight decay, unbalanced": decaying_balls.strength_ball,
    "depth 3": lambda *x: deep_balls.strength_ball(3, *x),
    "depth 8": lambda *x: deep_balls.strength_ball(8, *x),
    "depth infinity": lambda *x: deep_balls.strength_ball(None, *x),
}
#: Floats of this family are integrated, to 1e-12 a step.
ROUNDING = {"weight decay, unbalanced": 1e-9}


@pytest.fixture
def digits():
    saved, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = saved


def sharp(strength, drawn):
    """Return a ball of 50 digits, raising the precision as far as that takes."""
    while True:
        ball = strength(*map(arb, drawn), arb(1))
        if ball.rel_accuracy_bits() > 166:
            return ball
        ctx.prec *= 2
        assert ctx.prec < 1 << 16, drawn


@pytest.mark.parametrize("name", BALLS)
@pytest.mark.usefixtures("digits")
def test_float_agrees_with_ball(name):
    family, rng = FAMILIES[name], np.random.default_rng(5)
    for _ in range(40):
        drawn = tuple(map(float, family.draw(rng)))
        found, ball = float(family.closed(*drawn)), sharp(BALLS[name], drawn)
        if float(ball) < 1e-290:
            continue
        slope = family.slope(float(ball), *drawn)
        condition = 1 + abs(drawn[-1] * slope / float(ball))
        # A rounding of x = 2st moves exp(−x) by x roundings, hence the condition.
        assert abs(float(arb(found) / ball - 1)) < ROUNDING.get(name, 2e-14) * condition, drawn


def test_decaying_imbalance_takes_times_in_any_order():
    times = np.array([3.0, 0.0, 40.0, 1.0])
    row = (0.8, 0.4, 0.1, 0.3, 1e-4)
    found = decaying_imbalance.strength_float(*row, times, 2.0)
    single = [float(decaying_imbalance.strength_float(*row, t, 2.0)) for t in times]
    np.testing.assert_allclose(found, single, rtol=1e-9)
    assert found[1] == 1e-4


@pytest.mark.parametrize("row", [(0.7, 0.3, 0.5, 1e-2), (0.2, 0.9, 2.0, 3.0)])
@pytest.mark.usefixtures("digits")
def test_unbalanced_ball_is_what_taylor_integration_gives(row):
    with mp.workdps(30):
        s, d, c, p0 = map(mp.mpf, row)
        a = mp.sqrt((mp.sqrt(c**2 + 4 * p0**2) + c) / 2)
        end = 1 / mp.sqrt(s**2 + (c * d) ** 2)

        def rhs(_, w):
            drive = s - d * w[0] * w[1]
            return [w[1] * drive, w[0] * drive]

        first, second = mp.odefun(rhs, 0, [a, p0 / a])(end)
        found = unbalanced.strength_ball(*map(arb, row), arb(mp.nstr(end, 40)), arb(1))
        assert abs(float(found / arb(mp.nstr(first * second, 38)) - 1)) < 1e-24


def test_unbalanced_holds_without_imbalance_and_for_negative_strength():
    t = np.linspace(0, 9, 7)
    found = unbalanced.strength_float(0.7, 0.3, 0.0, 1e-5, t, 1.0)
    np.testing.assert_allclose(found, two_layer.strength_float(0.7, 0.3, 1e-5, t, 1.0), rtol=1e-14)
    # From below zero the strength crosses it; at c = 0 it never does.
    crossing = unbalanced.strength_float(0.7, 0.3, 0.5, -0.2, t, 1.0)
    assert crossing[0] == pytest.approx(-0.2, rel=1e-15)
    assert (np.diff(crossing) > 0).all()
    assert crossing[-1] > 0
    assert (unbalanced.strength_float(0.7, 0.3, 0.0, -0.2, t, 1.0) < 0).all()
    still = unbalanced.strength_float(0.0, 0.0, 0.5, 0.2, t, 1.0)
    np.testing.assert_allclose(still, 0.2, rtol=1e-15)


EVALUATED = {
    "shallow": lambda p0, t: shallow.strength_float(0.7, 0.3, p0, t, 2.0),
    "balanced": lambda p0, t: two_layer.strength_float(0.7, 0.3, p0, t, 2.0),
    "unbalanced": lambda p0, t: unbalanced.strength_float(0.7, 0.3, 0.4, p0, t, 2.0),
    "decay": lambda p0, t: weight_decay.strength_float(0.7, 0.3, p0, t, 2.0),
    "depth 3": lambda p0, t: deep_numbers.strength_float(3, 0.7, 0.3, p0, t, 2.0),
    "depth 40": lambda p0, t: deep_numbers.strength_float(40, 0.7, 0.3, p0, t, 2.0),
    "depth infinity": lambda p0, t: deep_numbers.strength_float(None, 0.7, 0.3, p0, t, 2.0),
}


@pytest.mark.parametrize("name", EVALUATED)
def test_limits_are_reached_without_a_warning(name):
    times = np.array([0.0, 1e-300, 1e12, 1e30])
    for start in (1e-3, 0.7 / 0.3, 1e6):
        found = EVALUATED[name](start, times)
        np.testing.assert_allclose(found[:2], start, rtol=1e-14)
        np.testing.assert_allclose(found[2:], 0.7 / 0.3, rtol=1e-14)


@pytest.mark.parametrize("name", EVALUATED)
@settings(max_examples=25, deadline=None)
@given(share=st.floats(-12, 6), times=st.lists(st.floats(-8, 9), min_size=2, max_size=12))
def test_strengths_are_monotone_and_stay_between_start_and_plateau(name, share, times):
    plateau = 0.7 / 0.3
    start = plateau * 10.0**share
    found = EVALUATED[name](start, 10.0 ** np.sort(times))
    low, high = sorted((start, plateau))
    assert (found >= low * (1 - 1e-13)).all()
    assert (found <= high * (1 + 1e-13)).all()
    steps = np.diff(found) * np.sign(plateau - start)
    assert (steps >= -1e-12 * found[1:]).all()


@pytest.mark.parametrize("e", [1 / 3, 0.5, 0.9, 0.98, 1.0])
def test_clocks_are_their_integrals(e):
    for y in (-20.0, -5.0, -1.0, -0.3, 0.7, 1.0, 3.0, 20.0):
        expected = quad(lambda x: (1 + np.exp(-x)) ** e, 0, y, epsabs=0, epsrel=1e-12, limit=200)[0]
        found = float(deep_numbers.rising_clock(e, np.array(y)))
        assert found == pytest.approx(expected, rel=1e-11)
    for y in (0.01, 0.7, 1.0, 3.0, 20.0):
        expected = quad(lambda x: (-np.expm1(-x)) ** e, 0, y, epsabs=0, epsrel=1e-12)[0]
        found = float(deep_numbers.falling_clock(e, np.array(y)))
        assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.usefixtures("digits")
def test_deep_growth_without_inputs_ends_at_its_blow_up():
    # L = 4, e = 1/2: t* = tau/(4 s e sqrt(pi_0)).
    end = 2.0 / (4 * 0.7 * 0.5 * np.sqrt(0.01))
    assert deep_numbers.strength_float(4, 0.7, 0.0, 0.01, 0.99 * end, 2.0) > 1
    arguments = (0.7, 0.0, 0.01, 1.01 * end, 2.0)
    with pytest.raises(NoClosedFormError, match="infinite"):
        deep_numbers.strength_float(4, *arguments)
    with pytest.raises(NoClosedFormError, match="infinite"):
        deep_balls.strength_ball(4, *map(arb, arguments))


@pytest.mark.usefixtures("digits")
def test_deep_ball_refuses_what_it_cannot_tell():
    blurred = arb(1, 1e-3)
    with pytest.raises(LimitReachedError, match="plateau"):
        deep_balls.strength_ball(3, arb(1), arb(1), blurred, arb(2), arb(1))
    # A wide but usable start gives a wide ball that holds every solution.
    ball = deep_balls.strength_ball(3, arb(1), arb(1), arb("0.1", 0.01), arb(2), arb(1))
    for start in (0.09, 0.1, 0.11):
        assert ball.contains(arb(float(deep_numbers.strength_float(3, 1.0, 1.0, start, 2.0, 1.0))))
