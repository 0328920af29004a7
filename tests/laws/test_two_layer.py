"""The two-layer balanced family: its proof, its numbers, and independent integrations of it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx
from mpmath import mp
from scipy.integrate import solve_ivp

from symreln.errors import InputError
from symreln.laws import two_layer
from symreln.laws.two_layer import STRENGTH0, TIME_CONSTANT, SigmoidalMode, strength_ball

a, b = sp.symbols("a b", positive=True)

# Symbolic, surd and parametric arguments of each case; the last two carry a height of their own.
MODES = {
    "sigmoid, symbols": SigmoidalMode(s=a, d=b),
    "sigmoid, surds": SigmoidalMode(s=sp.sqrt(15) / 8, d=sp.Rational(1, 8)),
    "sigmoid, nested surd": SigmoidalMode(s=sp.sqrt(3 - sp.sqrt(5)) / 4, d=sp.Rational(2, 9)),
    "sigmoid, parameter": SigmoidalMode(s=sp.sqrt(a**2 + 2) / 4, d=(a**2 + 2) / 4),
    "sigmoid, numbers": SigmoidalMode(s=sp.Rational(3, 7), d=sp.S.One, strength0=sp.Rational(1, 9)),
    "decay": SigmoidalMode(s=sp.S.Zero, d=a / 3),
    "growth": SigmoidalMode(s=sp.sqrt(2) * a, d=sp.S.Zero),
    "constant": SigmoidalMode(s=sp.S.Zero, d=sp.S.Zero),
    "null mode at zero": SigmoidalMode(s=sp.S.Zero, d=a, strength0=sp.S.Zero),
    "height, surd": SigmoidalMode(s=sp.sqrt(15) / 8, d=sp.Rational(1, 8), height=sp.sqrt(15)),
    "height, parameter": SigmoidalMode(
        s=sp.sqrt(a**2 + 2) / 4, d=(a**2 + 2) / 4, height=1 / sp.sqrt(a**2 + 2)
    ),
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_residual_is_exactly_zero(mode):
    assert mode.residual() == 0


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_printed_trajectory_solves_its_equation(mode):
    # Not the template: the expression that a reader sees, at 40 digits and random arguments.
    point = {
        x: sp.Rational(k + 3, 5 * k + 4)
        for k, x in enumerate(
            sorted(mode.expr.free_symbols | mode.s.free_symbols | mode.d.free_symbols, key=str)
        )
    }
    tau = point.get(TIME_CONSTANT, sp.S.One)
    strength, slope = mode.expr, mode.expr.diff(mode.t)
    left = tau * slope - 2 * strength * (mode.s - mode.d * strength)
    assert abs(sp.N(left.subs(point), 40)) < sp.Float("1e-35")
    start = mode.expr.subs(mode.t, 0) - mode.strength0
    assert abs(sp.N(start.subs(point), 40)) < sp.Float("1e-35")


@pytest.mark.parametrize("case", ["sigmoid", "decay", "growth", "constant"])
def test_a_broken_template_is_caught(case, monkeypatch):
    genuine = two_layer._template(case)
    mode = next(mode for mode in MODES.values() if mode.case == case)
    for wrong in (genuine * 2, genuine + two_layer._T, genuine.subs(two_layer._P0, 1)):
        monkeypatch.setattr(two_layer, "_template", lambda _, wrong=wrong: wrong)
        two_layer._template_residuals.cache_clear()
        assert mode.residual() != 0
    monkeypatch.undo()
    two_layer._template_residuals.cache_clear()
    assert mode.residual() == 0


@pytest.mark.parametrize("height", [sp.sqrt(14), -sp.sqrt(15), sp.Integer(4)])
def test_a_wrong_height_is_caught(height):
    mode = SigmoidalMode(s=sp.sqrt(15) / 8, d=sp.Rational(1, 8), height=height)
    assert mode.residual() != 0


def test_limits_and_half_time():
    for mode in MODES.values():
        limit = {
            "sigmoid": mode.s / mode.d if mode.d != 0 else None,
            "decay": sp.S.Zero,
            "growth": sp.oo,
            "constant": mode.strength0,
        }[mode.case]
        assert sp.simplify(mode.plateau - limit) == 0 if limit != sp.oo else mode.plateau == sp.oo
        if mode.case != "sigmoid":
            assert mode.half_time is None
            continue
        at_half = mode.expr.subs(mode.t, mode.half_time) / mode.plateau
        point = {
            x: sp.Rational(1, 50 + k) for k, x in enumerate(sorted(at_half.free_symbols, key=str))
        }
        assert abs(sp.N(at_half.subs(point), 40) - sp.Rational(1, 2)) < sp.Float("1e-35")


def test_the_logarithm_of_the_half_time_is_the_one_that_sympy_finds():
    for mode in MODES.values():
        if mode.case == "sigmoid":
            found = sp.log(mode.plateau / mode.strength0 - 1)
            assert mode.half_time == mode.tau / (2 * mode.s) * found
    # With numbers it need not be a logarithm of a sum.
    one = SigmoidalMode(s=sp.S.One, d=sp.S.One, strength0=sp.Rational(1, 3))
    assert one.half_time == TIME_CONSTANT / 2 * sp.log(2)
    assert SigmoidalMode(s=sp.S.One, d=sp.S.One, strength0=sp.Rational(1, 2)).half_time == 0


def test_matches_says_why():
    assert two_layer.matches(decoupled=True)[0]
    assert two_layer.matches(decoupled=False) == (
        False,
        "the mode is coupled to modes of other pathways",
    )
    assert not two_layer.matches(decoupled=True, layers=3)[0]


def test_latex_holds_the_exponential():
    assert "e^{" in SigmoidalMode(s=a, d=b).to_latex()
    assert SigmoidalMode(s=a, d=b)._repr_latex_().startswith("$\\displaystyle")


# -- float64 ---------------------------------------------------------------------------------------


def exact_strength(s, d, p0, t, tau):
    """The family from its textbook forms, one a case, at mpmath's working precision."""
    s, d, p0, t, tau = (mp.mpf(x) for x in (s, d, p0, t, tau))
    if s == 0:
        return p0 / (1 + 2 * d * p0 * t / tau)
    if d == 0:
        return p0 * mp.exp(2 * s * t / tau)
    return (s / d) / (1 - (1 - s / (d * p0)) * mp.exp(-2 * s * t / tau))


def parameter_sets(count: int) -> list[tuple[float, ...]]:
    """s and d over 12 decades, strength0 from 1e-30 to 1e9 plateaus, t from 0 to 1e12 tau."""
    rng = np.random.default_rng(7)
    sets = []
    for number in range(count):
        s, d = 10.0 ** rng.uniform(-6, 6, 2)
        tau = 10.0 ** rng.uniform(-3, 4)
        p0 = s / d * 10.0 ** rng.choice([rng.uniform(-30, 0), rng.uniform(-3, 9)])
        t = tau * 10.0 ** rng.uniform(-12, 12)
        # Near the rise, where the exponential is what counts.
        rise = tau / (2 * s) * np.log1p(s / (d * p0))
        t = rng.choice([t, rise * rng.uniform(0, 2), 0.0])
        if number % 10 == 5:  # growth without end, as far as 130 decades
            d, t = 0.0, tau / (2 * s) * rng.uniform(0, 300)
        sets.append((s * (number % 10 != 3), d, p0, t, tau))
    return sets


def test_float_agrees_with_fifty_digits():
    sets = parameter_sets(2000)
    columns = [np.array(column) for column in zip(*sets, strict=True)]
    s, d, p0, t, tau = columns
    found = np.array(
        [two_layer.strength_float(*(np.array(x) for x in row[:4]), row[4]) for row in sets]
    )
    with mp.workdps(50 + 30):  # 30 digits may cancel in the textbook form
        expected = [exact_strength(*row) for row in sets]
        worst = max(abs(mp.mpf(f) / e - 1) for f, e in zip(found, expected, strict=True))
    # exp(-x) carries x machine epsilons of the rounding of x, and counts while
    # e^x < plateau/strength0 = 1e30, x < 70, or x < 300 where d = 0: 300 · 2.2e-16 < 1e-13.
    assert worst < 1e-13
    together = two_layer.strength_float(s, d, p0, t / tau, 1.0)
    np.testing.assert_allclose(together, found, rtol=1e-13)


def test_float_growth_overflows_to_infinity_without_a_warning():
    d = np.zeros(3)
    found = two_layer.strength_float(np.ones(3), d, np.ones(3), np.array([1.0, 372.0, 1e6]), 1.0)
    assert found[0] == pytest.approx(np.exp(2.0), rel=1e-14)
    assert np.isinf(found[1:]).all()


@pytest.mark.parametrize("row", parameter_sets(400)[::8])
def test_ball_contains_the_value_at_sixty_digits(row):
    saved = ctx.prec
    try:
        ctx.prec = 300  # 90 digits
        ball = strength_ball(*(arb(x) for x in row))
    finally:
        ctx.prec = saved
    with mp.workdps(120):
        value = exact_strength(*row)
        text = mp.nstr(value, 60)
        ctx.prec = 500
        try:
            near = arb(text)
            # The text is the value to 60 digits; the ball is far sharper than those.
            assert abs(ball - near) < abs(near) * arb("1e-59")
            assert ball.rel_accuracy_bits() > 200
        finally:
            ctx.prec = saved


@pytest.mark.parametrize(
    ("s", "d", "p0"), [(0.7, 0.3, 1e-3), (0.0, 0.5, 2.0), (0.4, 0.0, 0.1), (0.3, 1.0, 5.0)]
)
def test_closed_form_is_what_taylor_integration_gives(s, d, p0):
    # mpmath's odefun: Taylor series of the equation itself, no Runge-Kutta.
    with mp.workdps(25):
        flow = mp.odefun(lambda _, p: [2 * p[0] * (s - d * p[0]) / 3], 0, [mp.mpf(p0)])
        for t in (0.5, 4.0, 12.0):
            found = two_layer.strength_float(*(np.array(x) for x in (s, d, p0, t)), 3.0)
            assert abs(found / flow(t)[0] - 1) < 1e-13


def test_closed_form_is_what_runge_kutta_gives():
    rng = np.random.default_rng(3)
    s, d = rng.uniform(0, 2, 60), rng.uniform(0, 2, 60)
    s[:5], d[5:10] = 0, 0
    p0 = 10.0 ** rng.uniform(-6, 1, 60)
    times = np.linspace(0, 5, 11)
    flow = solve_ivp(
        lambda _, p: 2 * p * (s - d * p), (0, 5), p0, t_eval=times, rtol=1e-12, atol=1e-18
    )
    found = two_layer.strength_float(s[:, None], d[:, None], p0[:, None], times, 1.0)
    np.testing.assert_allclose(found, flow.y, rtol=1e-8)


def test_lambdified_is_the_printed_expression():
    mode = MODES["height, parameter"]
    times = np.array([0.0, 1.0, 30.0, 1e9])
    found = mode.to_numpy(mode.t, a, STRENGTH0, TIME_CONSTANT)(times, 1.5, 0.01, 7.0)
    values = {a: sp.Rational(3, 2), STRENGTH0: sp.Rational(1, 100), TIME_CONSTANT: 7}
    for time, value in zip(times, found, strict=True):
        expected = mode.expr.subs(values | {mode.t: sp.Rational(time)})
        assert value == pytest.approx(float(sp.N(expected, 30)), rel=1e-14)
    with pytest.raises(InputError, match="pi_0, tau occurs"):
        mode.to_numpy(mode.t, a)


def test_strength0_is_a_free_symbol_until_it_is_given():
    assert STRENGTH0 in SigmoidalMode(s=a, d=b).expr.free_symbols
