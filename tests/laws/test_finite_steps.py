"""Gradient descent along its flow, late by half the logarithm of the speed: against the steps."""

from __future__ import annotations

from itertools import takewhile

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb

import symreln as sr
from symreln.exact.enclosure import precision
from symreln.laws import deep_chain as depth
from symreln.laws.deep_chain import Depth
from symreln.laws.law import STRENGTH, STRENGTH0, TIME_CONSTANT
from symreln.laws.ops import ARB, NUMPY
from symreln.laws.shared_chain import D, S


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_the_delay_that_is_printed_is_proven(layers):
    assert depth._delay_residual(layers) == 0


def test_a_wrong_delay_is_noticed(monkeypatch):
    right = depth._delay
    monkeypatch.setattr(depth, "_delay", lambda *known: 2 * right(*known))
    depth._delay_residual.cache_clear()
    try:
        assert depth._delay_residual(2) != 0
        law = Depth(s=S, d=D, layers=sp.Integer(3)).in_steps()
        assert law.residual() != 0
        assert not all(line.holds for line in law.lines())
    finally:
        depth._delay_residual.cache_clear()


@pytest.mark.parametrize("layers", [3, 4, 5, 8])
@pytest.mark.parametrize("start", [1e-4, 0.3])
def test_deep_modes_in_steps_are_gradient_descent(layers, start):
    """Ten times smaller steps: the flow's error falls by 10, that of the law in steps by 100."""
    errors = {}
    for tau in (100.0, 1000.0):
        law = Depth(s=1.3, d=0.7, strength0=start, tau=tau, layers=sp.Integer(layers), ops=NUMPY)
        rising = takewhile(lambda strength: strength < 0.9999 * 1.3 / 0.7, law.steps())
        descent = np.fromiter(map(float, rising), dtype=float)
        times = np.arange(len(descent), dtype=float)
        curves = (law.strengths(times), law.in_steps().strengths(times))
        errors[tau] = [np.abs(curve - descent).max() for curve in curves]
    (flow, steps), (fine_flow, fine_steps) = errors.values()
    assert steps < 0.05 * flow
    assert 7 < flow / fine_flow < 14
    assert steps / fine_steps > 50


@pytest.mark.parametrize("layers", [3, 4, 7])
def test_certified_strengths_in_steps_solve_the_printed_equation(layers):
    values = {"s": 1.3, "d": 0.7, "strength0": 1e-3, "tau": 30.0}
    s, d = sp.symbols("s d", positive=True)
    printed = Depth(s=s, d=d, layers=sp.Integer(layers), stepwise=True).printed
    letters = (STRENGTH, s, d, STRENGTH0, TIME_CONSTANT)
    time = sp.lambdify(letters, printed.rhs, "mpmath")
    given = [*map(mpmath.mpf, values.values())]
    steps = [round(time(share * 1.3 / 0.7, *given)) for share in (0.01, 0.3, 0.6, 0.97)]
    law = Depth(layers=sp.Integer(layers), ops=NUMPY, stepwise=True, **values)
    numbers = law.strengths(np.array(steps, dtype=float))
    with precision(120):
        balls = {name: arb(value) for name, value in values.items()}
        law = Depth(layers=sp.Integer(layers), ops=ARB, stepwise=True, **balls)
        enclosed = law.strengths([arb(n) for n in steps])
    for ball, number, step in zip(enclosed, numbers, steps, strict=True):
        assert float(ball.rad()) < 1e-25 * float(ball.mid())
        assert number == pytest.approx(float(ball.mid()), rel=1e-11)
        with mpmath.workdps(30):
            there = mpmath.mpf(ball.mid().str(34, radius=False))
            assert abs(time(there, *given) - step) < 1e-15


def test_modes_of_which_descent_diverges_go_by_the_flow():
    law = Depth(s=1.3, d=0.7, strength0=1e-3, tau=0.5, layers=sp.Integer(3), ops=NUMPY)
    times = np.linspace(0, 60, 7)
    np.testing.assert_array_equal(law.in_steps().strengths(times), law.strengths(times))


def test_formulas_and_curves_of_a_derivation_have_finite_steps():
    """The clock is g/ln(1 + g/τ): near to gradient descent, where the flow is far off."""
    derivation = sr.derive(sr.load("linear-hierarchy", {"network.learning_rate": "1/200"}))
    tau, start = float(derivation.tau), float(derivation.strength0)
    mode = derivation.pathways[0].modes[0]
    s, d = mode.s.to_float(), mode.d_eff.to_float()
    weight, descent = start**0.5, []
    for _ in range(int(30 * tau / s)):
        descent.append(weight**2)
        weight += weight * (s - d * weight**2) / tau
    taken = np.interp(s / d / 2, descent, np.arange(len(descent)))
    half = float(derivation.to_json()["pathways"][0]["modes"][0]["half_time"]["decimal"])
    assert half == pytest.approx(np.log(s / d / start - 1) / (2 * np.log1p(s / tau)))
    assert abs(half - taken) < 1
    assert abs(np.log(s / d / start - 1) * tau / (2 * s) - taken) > 2
    assert derivation.to_numpy(mode.label)(taken) == pytest.approx(s / d / 2, rel=0.02)
