"""Gradient descent along its flow, late by half the logarithm of the speed: against the steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.experiment.scalar_modes import ScalarModes
from symreln.laws.finite_steps import at_steps, delays
from symreln.laws.shared_chain import SharedChain
from tests.network.examples import chain_spec, shared_spec
from tests.network.test_components import NETWORK


def errors(spec: sr.Spec, start: float, rate: Fraction, steps: int) -> tuple[float, float]:
    """Return max |ΔL|/L(0) against gradient descent, of the flow and of the closed forms."""
    network = replace(NETWORK, steps=steps, learning_rate=rate)
    modes = ScalarModes.of(replace(spec, network=network))
    exact = modes.descend(start).loss
    assert exact[-1] < 0.5 * exact[0]
    flow = modes.flow_loss(start, np.arange(steps, dtype=float))
    found = (flow, modes.closed_loss(start))
    return tuple(float(np.abs(each - exact).max() / exact[0]) for each in found)


CASES = [
    (chain_spec(2), 0.02, 500),
    (chain_spec(3), 0.2, 800),
    (chain_spec(4), 0.4, 800),
    (shared_spec(), 0.2, 300),
]


@pytest.mark.parametrize(("spec", "start", "steps"), CASES, ids=["2", "3", "4", "shared"])
def test_closed_forms_in_steps_are_gradient_descent_to_a_hundredth_of_the_flow_s_error(
    spec, start, steps
):
    flow, closed = errors(spec, start, Fraction(1, 20), steps)
    assert flow > 0.005
    assert closed < 0.02 * flow


def test_the_error_is_of_second_order_in_the_step():
    """Ten times smaller steps: the flow's error falls by 10, that of the closed forms by 100."""
    coarse = errors(chain_spec(3), 0.2, Fraction(1, 5), 200)
    fine = errors(chain_spec(3), 0.2, Fraction(1, 50), 2000)
    assert 7 < coarse[0] / fine[0] < 14
    assert coarse[1] / fine[1] > 50


@pytest.mark.parametrize("counts", [(1,), (1, 1), (2, 3), (1, 1, 1), (2, 4, 4, 2), ("M", "K", 1)])
def test_the_delay_that_is_printed_is_proven(counts):
    chain = SharedChain(
        counts=tuple(
            sp.Symbol(n, positive=True) if isinstance(n, str) else sp.Integer(n) for n in counts
        )
    )
    assert chain.delay_residual() == 0


def test_a_wrong_delay_is_noticed(monkeypatch):
    right = SharedChain.delay.fget
    monkeypatch.setattr(SharedChain, "delay", property(lambda self: 2 * right(self)))
    assert SharedChain(counts=(sp.Integer(1), sp.Integer(1))).delay_residual() != 0


def test_the_delay_is_what_two_layers_grow_by_in_exact_steps():
    """z grows by 1 + g a step: ln(z/z0)/ln(1 + g) steps, against ln(z/z0)/g of the flow."""
    g, ratio = 1e-3, 50.0
    exact = np.log(ratio) / np.log1p(g) - np.log(ratio) / g
    (_, delay) = delays(np.array([1.0, ratio]))
    assert delay == pytest.approx(exact, rel=1e-3)


def test_what_stands_still_is_not_moved():
    times = np.arange(5.0)
    still = np.zeros(5)
    assert delays(still).tolist() == [0] * 5
    assert at_steps(times, still + 3, still, delays(still)).tolist() == [3] * 5


def test_reading_a_curve_at_later_steps_is_exact_for_cubics():
    times = np.arange(6.0)
    after = np.full(6, 0.0)
    found = at_steps(times, times**3, 3 * times**2, after)
    assert found == pytest.approx(times**3)
    late = at_steps(times, times**3, 3 * times**2, 0.5 * np.minimum(times, 1))
    assert late[2:] == pytest.approx((times[2:] - 0.5) ** 3)
