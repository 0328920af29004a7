"""Every law: it proves itself, its three number systems agree, and integration gives the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.integrate import quad

from symreln.errors import LimitReachedError, NotSupportedError
from symreln.exact.enclosure import precision
from symreln.laws import deep_chain as depth
from symreln.laws import one_layer, two_layer, unbalanced
from symreln.laws.deep_chain import Depth, _Clock
from symreln.laws.law import STRENGTH, STRENGTH0, TIME, TIME_CONSTANT
from symreln.laws.one_layer import OneLayer
from symreln.laws.ops import ARB, NUMPY
from symreln.laws.two_layer import WEIGHT_DECAY, TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import IMBALANCE, Unbalanced
from tests.laws.campaign import FAMILIES, error

s, d = sp.symbols("s d", positive=True)
ZERO = sp.S.Zero
SURD = {"s": sp.sqrt(15) / 8, "d": sp.Rational(1, 8)}
#: The integrations at rtol 1e-11 are themselves off by up to a few 1e-9 (depth 30).
TOLERANCE = 1e-8

EXPLICIT = {
    "one layer": OneLayer(s=s, d=d),
    "two layers": TwoLayer(s=s, d=d),
    "two layers, surds": TwoLayer(**SURD),
    "two layers, an asymptote of its own": TwoLayer(**SURD, asymptote=sp.sqrt(15)),
    "apart": Unbalanced(s=s, d=d),
    "decay": TwoLayerDecay(s=s, d=d),
    "decay, s = λ": TwoLayerDecay(s=s, d=d, weight_decay=s),
}
DEPTHS = [3, 4, 5, 6, 7, 12]
POINT = {
    s: sp.Rational(7, 5),
    d: sp.Rational(2, 7),
    STRENGTH0: sp.Rational(3, 11),
    TIME_CONSTANT: sp.Rational(9, 4),
    IMBALANCE: sp.Rational(5, 3),
    WEIGHT_DECAY: sp.Rational(3, 8),
}


def rate(law, strength):
    """Return tau dπ/dt from the equation that the law's docstring states."""
    if isinstance(law, OneLayer):
        return law.s - law.d * strength
    if isinstance(law, Depth):
        return law.layers * strength ** (2 - 2 / law.layers) * (law.s - law.d * strength)
    root = sp.sqrt(getattr(law, "imbalance", ZERO) ** 2 + 4 * strength**2)
    return root * (law.s - law.d * strength) - 2 * getattr(law, "weight_decay", ZERO) * strength


@pytest.mark.parametrize("law", EXPLICIT.values(), ids=EXPLICIT)
def test_printed_trajectory_solves_its_equation(law):
    assert law.residual() == 0
    # And the expression that a reader sees, at 30 digits, its slope by a difference of order 8.
    expression = law.expr.subs(POINT)
    h, at = sp.Rational(1, 10000), sp.Rational(7, 10)
    weights = (sp.Rational(4, 5), -sp.Rational(1, 5), sp.Rational(4, 105), -sp.Rational(1, 280))

    def value(t):
        return sp.N(expression.subs(TIME, t), 50)

    pairs = enumerate(weights, start=1)
    slope = sum(w * (value(at + k * h) - value(at - k * h)) for k, w in pairs) / h
    equation = rate(law, sp.Symbol("_v")).subs(POINT).subs("_v", value(at))
    assert abs(slope * POINT[TIME_CONSTANT] - sp.N(equation, 50)) < 1e-20
    assert abs(value(ZERO) - POINT[STRENGTH0]) < 1e-40
    # And its limit.
    left = value(sp.Integer(4000)) - sp.N(law.plateau.subs(POINT), 50)
    assert abs(left) < (0.02 if law.growth == 0 else 1e-20)


@pytest.mark.parametrize("layers", DEPTHS)
def test_implicit_solution(layers):
    law = Depth(layers=sp.Integer(layers), s=s, d=d)
    assert law.residual() == 0
    # And the printed t(π): dt/dπ · π' = 1 at 40 digits.
    slope = law.time.diff(STRENGTH) * rate(law, STRENGTH) / law.tau
    assert abs(sp.N(slope.subs(POINT).subs(STRENGTH, sp.Rational(13, 10)), 40) - 1) < 1e-35
    begun = law.time.subs(STRENGTH, STRENGTH0).subs(POINT)
    assert abs(sp.N(begun, 40, chop=False)) < 1e-35 or begun == 0


def test_a_mode_that_rests_is_zero():
    for kind in (OneLayer, TwoLayer, TwoLayerDecay, Unbalanced):
        assert kind(s=ZERO, d=d, strength0=ZERO).expr == 0
    law = Depth(layers=sp.Integer(3), s=ZERO, d=ZERO, strength0=ZERO)
    assert law.printed == law.residual() == law.plateau == 0


def test_half_time():
    for law in EXPLICIT.values():
        if law.half_time is not None:
            at_half = (law.expr.subs(law.t, law.half_time) / law.plateau).subs(
                {**POINT, STRENGTH0: sp.Rational(1, 50)}
            )
            assert abs(sp.N(at_half, 40) - sp.Rational(1, 2)) < sp.Float("1e-35")
    # With numbers it need not be a logarithm of a sum.
    one = TwoLayer(s=sp.S.One, d=sp.S.One, strength0=sp.Rational(1, 3))
    assert one.half_time == TIME_CONSTANT / 2 * sp.log(2)


@pytest.mark.parametrize("asymptote", [sp.sqrt(14), -sp.sqrt(15), sp.Integer(4)])
def test_a_wrong_asymptote_is_caught(asymptote):
    assert TwoLayer(**SURD, asymptote=asymptote).residual() != 0
    assert TwoLayerDecay(**SURD, asymptote=sp.sqrt(15)).residual() != 0


@pytest.mark.parametrize("layers", [3, 4, 6, 7, 12])
def test_logarithms_are_the_integral(layers):
    assert depth._integral_defect(layers) == 0
    found = sp.N(depth._integral(layers, sp.Rational(3, 7)), 40)
    with mp.workdps(40):
        whole = mp.quad(lambda r: r / (1 - r**layers), [0, mpf(3) / 7])
        assert abs(found - sp.Float(whole, 40)) < 1e-35


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (one_layer, "_template", lambda: one_layer._P0 * sp.exp(-one_layer._T)),
        (two_layer, "_formula", lambda law, _: law.growth / law.d),
        (two_layer.TwoLayer, "strength", lambda law, t: law.strength0 + t),
        (one_layer.OneLayer, "strength", lambda law, t: law.strength0 + t),
        (unbalanced, "_printed", lambda: (unbalanced._U0 + unbalanced._E, 1 + unbalanced._E)),
        (unbalanced.Unbalanced, "_fraction", lambda law, decay, span: decay + span),
    ],
)
def test_wrong_formulas_are_caught(monkeypatch, module, name, wrong):
    of = getattr(module, "__module__", None) and __import__(module.__module__, fromlist=["x"])
    home = of or module
    residual = (home._residuals if home is two_layer else home._residual).__wrapped__
    monkeypatch.setattr(module, name, wrong)
    found = residual("sigmoid") if home is two_layer else (residual(),)
    assert any(part != 0 for part in found)


def test_wrong_integrals_are_caught(monkeypatch):
    right = depth._integral
    monkeypatch.setattr(depth, "_integral", lambda layers, x: right(layers, x) + x)
    assert depth._integral_defect.__wrapped__(5) != 0


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_law_is_what_integration_of_the_weights_gives(name):
    family, rng = FAMILIES[name], np.random.default_rng(1)
    for drawn in [family.draw(rng) for _ in range(20)]:
        assert error(family, drawn) < TOLERANCE, drawn


@pytest.mark.parametrize("name", FAMILIES)
def test_float_agrees_with_ball(name):
    family, rng = FAMILIES[name], np.random.default_rng(5)
    for _ in range(40):
        *numbers, t = drawn = tuple(map(float, family.draw(rng)))
        found, bits = family.closed(*drawn), 400
        if name.startswith("depth") and numbers[2] * numbers[1] > numbers[0]:
            continue  # above its plateau: integrated, in float64 alone
        while True:  # fifty digits, whatever precision that takes
            with precision(bits):
                ball = family.law(tuple(map(arb, numbers)), ARB).strength(arb(t))
            if ball.rel_accuracy_bits() > 166:
                break
            bits *= 2
            assert bits < 1 << 16, drawn
        if float(ball) < 1e-290:
            continue
        condition = 1 + abs(t * family.slope(float(ball), *drawn) / float(ball))
        # A rounding of x = 2st moves exp(−x) by x roundings, hence the condition.
        with precision(400):
            assert abs(float(arb(found) / ball - 1)) < 2e-14 * condition, drawn


EVALUATED = {
    name: (FAMILIES[name], (0.7, 0.3, *((0.4,) if name == "apart" else ())))
    for name in ("one layer", "two layers", "apart", "depth 3", "depth 30")
}


def evaluated(name, start, times):
    family, numbers = EVALUATED[name]
    return family.law((*numbers, start), NUMPY, 2.0).strengths(times)


@pytest.mark.parametrize("name", EVALUATED)
def test_limits_are_reached_without_a_warning(name):
    times = np.array([0.0, 1e-300, 1e12, 1e30])
    for start in (1e-3, 0.7 / 0.3, 1e6):
        found = evaluated(name, start, times)
        np.testing.assert_allclose(found[:2], start, rtol=1e-14)
        np.testing.assert_allclose(found[2:], 0.7 / 0.3, rtol=1e-14)


@pytest.mark.parametrize("name", EVALUATED)
@settings(max_examples=20, deadline=None)
@given(share=st.floats(-12, 6), times=st.lists(st.floats(-8, 9), min_size=2, max_size=12))
def test_strengths_are_monotone_and_stay_between_start_and_plateau(name, share, times):
    plateau = 0.7 / 0.3
    start = plateau * 10.0**share
    found = evaluated(name, start, 10.0 ** np.sort(times))
    low, high = sorted((start, plateau))
    assert (found >= low * (1 - 1e-13)).all()
    assert (found <= high * (1 + 1e-13)).all()
    steps = np.diff(found) * np.sign(plateau - start)
    assert (steps >= -1e-12 * found[1:]).all()


@pytest.mark.parametrize("layers", [3, 8])
def test_what_starts_above_its_plateau_is_integrated(layers):
    s, d = np.array([[1.4], [0.3]]), np.array([[0.3], [0.3]])
    law = Depth(layers=sp.Integer(layers), s=s, d=d, strength0=50.0, tau=2.0, ops=NUMPY)
    times = np.array([0.05, 0.0, 0.002, 0.1, 1e12])
    found = law.strengths(times)
    np.testing.assert_allclose(found[:, -1], (s / d)[:, 0], rtol=1e-10)
    np.testing.assert_array_equal(found[:, 1], 50.0)
    for own, each, row in zip(s[:, 0], d[:, 0], found, strict=True):

        def pace(x, own=own, each=each):
            return 2 / (layers * x ** (2 - 2 / layers) * (own - each * x))

        took = [quad(pace, 50.0, row[n], epsabs=0)[0] for n in (0, 2, 3)]
        assert took == pytest.approx(times[[0, 2, 3]], rel=1e-8)


def deep(layers, *numbers):
    values = dict(zip(("s", "d", "strength0", "tau"), map(arb, numbers), strict=True))
    return Depth(layers=sp.Integer(layers), ops=ARB, **values)


@pytest.mark.parametrize("layers", [3, 8, 100])
@pytest.mark.parametrize("start", ["1e-30", "1e-3"])
def test_deep_balls_at_extremes(layers, start):
    with precision(320):
        times = [arb(t) for t in ("1e-12", "1", "1e6", "1e12", "1e30", "1e300")]
        found = deep(layers, 1, 1, start, 1).strengths(times)
        assert min(strength.rel_accuracy_bits() for strength in found) > 166
        assert (found[-1] - 1).contains(0)
    order = [float(strength) for strength in (arb(start), *found)]
    assert order == sorted(order)


def test_deep_ball_refuses_what_it_cannot_tell():
    with precision(200):
        with pytest.raises(LimitReachedError, match="plateau"):
            deep(3, 1, 1, arb(1, 1e-3), 1).strength(arb(2))
        with pytest.raises(NotSupportedError, match="starts above its plateau"):
            deep(3, 1, 1, 2, 1).strength(arb(2))
        # A wide but usable start gives a wide ball that holds every solution.
        ball = deep(3, 1, 1, arb("0.1", 0.01), 1).strength(arb(2))
        for start in (0.09, 0.1, 0.11):
            assert ball.contains(deep(3, 1, 1, start, 1).strength(arb(2)))
        # The start of a mode whose s is exactly 0 decays by a power of time.
        still = deep(4, 0, 2, "0.3", 1).strength(arb(5))
        assert abs(still - arb("0.3") * (1 + 60 * arb("0.3") ** 1.5) ** (-1 / arb(1.5))) < 1e-50


def test_the_inverse_of_the_clock_holds_what_it_inverts():
    for layers, y in ((3, 2), (5, -30)):
        clock = _Clock(layers=layers, ops=ARB)
        with precision(200):
            found = clock.enclosed(clock.at(arb(y))[0], 1.01 * y)
            assert found.contains(arb(y))
            assert found.rel_accuracy_bits() > 150


# -- gradient descent ------------------------------------------------------------------------------


def descended(layers, start, s, d, decay, rate, count):
    """Return the strengths of scalar layers through gradient descent, layer by layer."""
    found, weights = [], [np.longdouble(w) for w in start]
    for _ in range(count):
        found.append(np.prod(weights))
        drive = s - d * found[-1]
        slopes = [np.prod([w for j, w in enumerate(weights) if j != i]) for i in range(layers)]
        weights = [
            w + rate * (drive * slope - decay * w) for w, slope in zip(weights, slopes, strict=True)
        ]
    return np.array(found, dtype=float)


@pytest.mark.parametrize(
    ("name", "start", "decay"),
    [
        ("one layer", [0.2], 0.0),
        ("two layers", [0.3, 0.3], 0.0),
        ("apart", [0.7, 0.1], 0.0),
        ("decay", [0.3, 0.3], 0.05),
        ("depth 3", [0.4] * 3, 0.0),
        ("depth 5", [0.8] * 5, 0.0),
    ],
)
def test_steps_are_those_of_scalar_layers(name, start, decay):
    more = {"weight_decay": decay, "strength0": np.prod(start), "s": 0.9, "d": 0.4}
    more["imbalance"] = abs(start[0] ** 2 - start[-1] ** 2)
    family = FAMILIES[name]
    law = family.law(tuple(more[key] for key in family.names), NUMPY, 10.0)
    steps = law.steps()
    found = [float(next(steps)) for _ in range(60)]
    expected = descended(len(start), start, 0.9, 0.4, decay, 0.1, 60)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # Near the plateau a step multiplies the distance by 1 − r/τ.
    plateau, rate = float(law.plateau), float(law.relaxation) / 10.0
    near = next(f for f in pairwise(map(float, law.steps())) if abs(f[0] / plateau - 1) < 1e-4)
    ratio = (near[1] - plateau) / (near[0] - plateau)
    assert ratio == pytest.approx(1 - rate, abs=3e-2 * rate + 1e-3)


@pytest.fixture(autouse=True)
def precision_is_put_back():
    before = ctx.prec
    yield
    assert ctx.prec == before
