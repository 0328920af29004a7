"""Certified balls of the families that are inverted or integrated: against printed formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx
from scipy.integrate import quad

from symreln.errors import LimitReachedError
from symreln.exact.enclosure import ball, precision
from symreln.laws import decaying_balls, deep_balls, deep_numbers, unbalanced
from symreln.laws.common import STRENGTH
from symreln.laws.decaying_imbalance import DecayingImbalanceMode
from symreln.laws.deep import DeepMode
from symreln.laws.two_layer import TIME


@pytest.fixture(autouse=True)
def digits():
    with precision(210):
        yield


def exact(rng, low, high):
    """Return a rational number between powers of ten."""
    return Fraction(int(10 ** (rng.uniform(low, high) + 6)) + 1, 10**6)


def printed(mode, time):
    """Return a mode's printed trajectory at an exact time, to 40 digits."""
    found = sp.N(mode.expr.subs(TIME, sp.Rational(time.numerator, time.denominator)), 50)
    return arb(str(found), abs(arb(str(found))) * arb("1e-40"))


def decaying(rng, growth):
    s = exact(rng, -1, 1) if growth else Fraction(0)
    d, decay, c, p0 = (
        exact(rng, low, high) for low, high in ((-1, 1), (-1.5, 0.3), (-2, 1), (-6, 1))
    )
    mode = DecayingImbalanceMode(
        s=sp.Rational(s),
        d=sp.Rational(d),
        weight_decay=sp.Rational(decay),
        imbalance=sp.Rational(c),
        strength0=sp.Rational(p0),
        tau=sp.Integer(3),
    )
    return mode, [ball(x) for x in (s, d, decay, c, p0)], float(decay + s)


@pytest.mark.parametrize("seed", range(3))
def test_decaying_imbalance_is_its_printed_bessel_functions(seed):
    # Many pieces in a row, and gaps that the Bessel functions leap over.
    rng = np.random.default_rng(seed)
    mode, parameters, rate = decaying(rng, growth=seed != 2)
    times = [Fraction(int(1000 * x), int(1000 * rate)) for x in (3, 0, 40, 3.1)]
    found = decaying_balls.strength_balls(*parameters, [ball(t) for t in times], arb(3))
    for time, strength in zip(times, found, strict=True):
        assert strength.overlaps(printed(mode, time))
        assert strength.rel_accuracy_bits() > 120
        assert strength.overlaps(decaying_balls.strength_ball(*parameters, ball(time), arb(3)))


def test_pieces_of_the_system_and_bessel_functions_agree(monkeypatch):
    rng = np.random.default_rng(9)
    _, parameters, rate = decaying(rng, growth=True)
    times = [ball(Fraction(k, 7)) / rate for k in range(60)]
    leaping = decaying_balls.strength_balls(*parameters, times, arb(1))
    monkeypatch.setattr(decaying_balls, "_PIECES", 1e9)
    creeping = decaying_balls.strength_balls(*parameters, times, arb(1))
    monkeypatch.setattr(decaying_balls, "_PIECES", -1)
    bessel = decaying_balls.strength_balls(*parameters, times, arb(1))
    for three in zip(leaping, creeping, bessel, strict=True):
        assert all(one.overlaps(other) for one in three for other in three)
        assert min(one.rel_accuracy_bits() for one in three) > 150


def test_linear_system_is_proven_and_a_wrong_one_is_caught(monkeypatch):
    assert decaying_balls.linear_defect() == 0
    monkeypatch.setattr(decaying_balls, "_rates", lambda s, kappa, m, d: (s * m, kappa * m))
    assert decaying_balls.linear_defect.__wrapped__() != 0


def test_bounds_of_what_series_leave_out_are_honest(monkeypatch):
    # With few terms the balls are wide, and hold what the sharp ones do.
    rng = np.random.default_rng(2)
    _, parameters, rate = decaying(rng, growth=True)
    times = [ball(Fraction(k, 3)) / rate for k in range(20)]
    sharp = decaying_balls.strength_balls(*parameters, times, arb(1))
    gave = (ball(Fraction(7, 10)), ball(Fraction(3, 10)), ball(Fraction(1, 1000)))
    deep = {
        (layers, scale): deep_balls.strength_balls(
            layers, *gave[:2], scale * gave[2], times, arb(2)
        )
        for layers in (3, 8, None)
        for scale in (1, 10**5)
    }
    monkeypatch.setattr(decaying_balls, "_TERMS", 8)
    wide = decaying_balls.strength_balls(*parameters, times, arb(1))
    assert all(one.contains(other) for one, other in zip(wide, sharp, strict=True))
    assert wide[-1].rel_accuracy_bits() < 60
    derivatives = deep_balls._derivatives
    monkeypatch.setattr(deep_balls, "_derivatives", lambda e, _: derivatives(e, 1))
    for (layers, scale), expected in deep.items():
        found = deep_balls.strength_balls(layers, *gave[:2], scale * gave[2], times, arb(2))
        assert all(one.overlaps(other) for one, other in zip(found, expected, strict=True))
        assert min(one.rel_accuracy_bits() for one in found[1:]) < 150


@pytest.mark.parametrize("layers", [3, 4, 5, 6, 12])
@pytest.mark.parametrize("start", [Fraction(1, 10**6), Fraction(9, 10), Fraction(50)])
def test_deep_ball_is_reached_at_its_time(layers, start):
    # The printed t(pi), by logarithms or the hypergeometric function, at three strengths.
    s, d = Fraction(7, 5), Fraction(2, 7)
    mode = DeepMode(layers=layers, s=sp.Rational(s), d=sp.Rational(d), strength0=sp.Rational(start))
    for part in (Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)):
        strength = start + part * (s / d - start)
        time = sp.N(mode.time.subs({STRENGTH: sp.Rational(strength), mode.tau: 1}), 60)
        found = deep_balls.strength_ball(layers, *map(ball, (s, d, start)), arb(str(time)), arb(1))
        assert found.rel_accuracy_bits() > 120
        assert abs(found / ball(strength) - 1) < arb("1e-50")


@pytest.mark.parametrize("layers", [3, 4, 5, 8, 31, None])
def test_clock_of_balls_is_that_of_floats_and_its_integral(layers):
    e = 1.0 if layers is None else 1 - 2 / layers
    for rises in (True, False):
        clock = deep_balls._Clock.of(layers, rises=rises)
        other = deep_numbers.rising_clock if rises else deep_numbers.falling_clock
        first = 0.3
        for y in (0.01, 0.7, 4.0, 30.0) + (-0.4, -9.0) * rises:
            moved = float(clock.at(arb(y)).value - clock.at(arb(first)).value)
            floats = float(other(e, np.array(y)) - other(e, np.array(first)))
            sign = 1 if rises else -1
            whole = quad(lambda x, sign=sign: (1 + sign * np.exp(-x)) ** e, first, y, epsabs=0)[0]
            assert moved == pytest.approx(floats, rel=1e-12, abs=1e-13)
            assert moved == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("layers", [3, 8, 100, None])
@pytest.mark.parametrize("start", ["1e-30", "1e-3", "1e3", "1e9"])
def test_deep_balls_at_extremes(layers, start):
    ctx.prec = 320
    times = [arb(t) for t in ("1e-12", "1", "1e6", "1e12", "1e30", "1e300")]
    found = deep_balls.strength_balls(layers, arb(1), arb(1), arb(start), times, arb(1))
    assert min(strength.rel_accuracy_bits() for strength in found) > 166
    assert (found[-1] - 1).contains(0)
    order = [float(strength) for strength in (arb(start), *found)]
    assert order == sorted(order, reverse=float(start) > 1)


def test_times_that_cannot_be_placed_are_refused():
    wide = arb(3, 2)
    with pytest.raises(LimitReachedError, match="cannot be placed"):
        decaying_balls.strength_ball(*[arb(1)] * 5, wide, arb(1))


def test_unbalanced_takes_its_times_one_by_one():
    parameters = [arb(x) for x in (0.7, 0.3, 0.5, 1e-4)]
    times = [arb(t) for t in (3.0, 0.0, 40.0, 1.0)]
    found = unbalanced.strength_balls(*parameters, times, arb(2))
    for t, strength in zip(times, found, strict=True):
        single = float(unbalanced.strength_float(0.7, 0.3, 0.5, 1e-4, float(t), 2.0))
        assert float(strength) == pytest.approx(single, rel=1e-14)
    still = unbalanced.strength_balls(arb(0), arb(0), *parameters[2:], times, arb(2))
    assert still == (parameters[3],) * 4
