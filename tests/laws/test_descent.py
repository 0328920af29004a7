"""Discrete gradient descent: the exact map, its brackets, and the error of the flow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.errors import InputError
from symreln.laws import descent, two_layer
from symreln.laws.common import Direction
from symreln.laws.descent import BEFORE, DescentMode

s, d = sp.symbols("s d", positive=True)


def test_map_is_proven_and_a_wrong_one_is_caught(monkeypatch):
    mode = DescentMode(s=s, d=d)
    assert mode.residual() == 0
    assert sp.simplify(mode.step.subs(BEFORE, mode.plateau) - mode.plateau) == 0
    monkeypatch.setattr(descent, "_stepped", lambda x: x * (1 + 2 * descent._H * (1 - x)))
    assert descent._template_defect.__wrapped__() != 0


def test_map_is_a_step_of_two_scalar_layers():
    a, rate = Fraction(3, 7), Fraction(1, 50)
    gave = (Fraction(7, 10), Fraction(3, 10))
    b = a
    for expected in descent.orbit_exact(*gave, a * a, 1 / rate, 4)[1:]:
        drive = gave[0] - gave[1] * a * b
        a, b = a + rate * b * drive, b + rate * a * drive
        assert a * b == expected


@settings(max_examples=60, deadline=None)
@given(
    h=st.floats(1e-5, 0.49),
    share=st.floats(-12, -0.01),
    scale=st.floats(-3, 3),
    steps=st.integers(0, 3000),
)
def test_orbit_and_flow_lie_between_the_brackets(h, share, scale, steps):
    plateau, slope = 10.0**scale, 0.7
    s, d = slope, slope / plateau
    tau, start = slope / h, plateau * 10.0**share
    orbit = float(descent.strength_float(s, d, start, np.array(steps), tau))
    flow = float(two_layer.strength_float(s, d, start, float(steps), tau))
    low, high = map(float, descent.brackets(*map(arb, (s, d, start)), arb(steps), arb(tau)))
    # Rounding of the orbit adds up over its steps.
    room = 1e-15 * (steps + 10) * plateau
    assert low - room <= orbit <= high + room
    assert low - room <= flow <= high + room
    assert abs(flow - orbit) <= descent.flow_error(*map(arb, (s, d, start, tau))) * plateau + room


def test_bound_of_the_flow_is_not_idle():
    # It shrinks with the learning rate, and is within a factor 10 of what is found.
    found = []
    for tau in (10.0, 100.0, 1000.0):
        n = np.arange(int(30 * tau))
        orbit = descent.strength_float(0.7, 0.3, 1e-4, n, tau)
        gap = np.abs(orbit - two_layer.strength_float(0.7, 0.3, 1e-4, n, tau)).max()
        bound = descent.flow_error(*map(arb, (0.7, 0.3, 1e-4, tau))) * 0.7 / 0.3
        assert gap <= bound < 10 * gap
        found.append(bound)
    assert found[2] < found[1] / 8 < found[0] / 30


def test_exact_orbit_lies_between_certified_brackets():
    saved, ctx.prec = ctx.prec, 300
    try:
        row = (Fraction(7, 10), Fraction(3, 10), Fraction(1, 1000), Fraction(2))
        for n, value in enumerate(descent.orbit_exact(*row, 7)):
            s, d, start, tau = (arb(fmpq(x.numerator, x.denominator)) for x in row)
            low, high = descent.brackets(s, d, start, arb(n), tau)
            exact = arb(fmpq(value.numerator, value.denominator))
            assert n == 0 or low < exact < high
    finally:
        ctx.prec = saved


def test_orbit_settles_and_takes_steps_in_any_order():
    steps = np.array([[10**12, 0], [5, 3]])
    found = descent.strength_float(0.7, 0.3, 1e-4, steps, 100.0)
    assert found[0, 0] == pytest.approx(0.7 / 0.3, rel=1e-15)
    assert found[0, 1] == pytest.approx(1e-4, rel=1e-15)
    assert found[1, 0] > found[1, 1]


def test_refusals_and_direction():
    with pytest.raises(InputError, match="overshoot"):
        descent.flow_error(*map(arb, (0.7, 0.3, 1e-4, 1.4)))
    with pytest.raises(InputError, match="strength0 < s/d"):
        descent.strength_float(0.7, 0.3, 3.0, np.array(1), 100.0)
    one = sp.S.One
    start = sp.Rational(1, 9)
    rising = DescentMode(s=one, d=one, strength0=start, tau=sp.Integer(9))
    assert rising.direction() is Direction.RISING
    assert DescentMode(s=one, d=one, strength0=start, tau=one).direction() is Direction.UNDECIDED
    low, high = DescentMode(s=s, d=d).rates()
    assert "log" in str(low)
    assert "log" in str(high)
