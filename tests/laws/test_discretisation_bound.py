"""The error of the solution against gradient descent, through a derivation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from flint import arb

import symreln as sr
from symreln.claims.discretisation_bound import large_starts, step_error, step_errors
from symreln.laws import discretisation_bound as bound_of
from symreln.laws.choice import started
from symreln.laws.ops import NUMPY
from symreln.report.content import derivation_document
from symreln.report.html import render as html
from tests.laws.test_choice import load
from tests.laws.test_half_speed import load as load_odd


@pytest.mark.parametrize("rate", ["1/20", "1/100", "1/400"])
@pytest.mark.parametrize("half_speed", [False, True])
def test_no_strength_leaves_its_bound(rate, half_speed):
    spec = load_odd(learning_rate=rate) if half_speed else load(learning_rate=rate)
    derivation = sr.derive(spec)
    tau = float(derivation.tau)
    for mode in derivation.pathways[0].modes:
        bound = step_error(derivation, mode)
        s, d = mode.s.to_float(), mode.d_eff.to_float()
        law = started(derivation.known, np.array(s), np.array(d), tau, ops=NUMPY).in_steps()
        steps = np.arange(int(40 * tau / s))
        orbit = np.array([next(taken) for taken in [law.steps()] for _ in steps])
        gap = np.abs(orbit - law.strengths(steps)).max() * d / s
        assert gap <= bound < 6 * gap
    text = html(derivation_document(derivation))
    assert "solution against gradient descent" in text
    assert any(step.name == "finite steps" for step in derivation.steps)
    assert derivation.to_json()["pathways"][0]["modes"][0]["step_error"] == step_error(
        derivation, derivation.pathways[0].modes[0]
    )


def test_of_several_stages_the_first_is_bounded():
    """It sees no later one: gradient descent on its modes alone. Later ones rest on head starts."""
    derivation = sr.derive(sr.load("contextual-3")).at_values
    steps = np.arange(3000)
    curves = {curve.label: curve for curve in derivation.evaluate(steps).modes}
    first, later = (
        [m for p in stage.pathways for m in p.modes if not m.is_null] for stage in derivation.stages
    )
    for mode in first:
        bound = step_error(derivation, mode)
        rate, weight, found = float(1 / derivation.tau), float(derivation.strength0) ** 0.5, []
        for _ in steps:
            found.append(weight**2)
            weight += rate * weight * (mode.s.to_float() - mode.d_eff.to_float() * weight**2)
        curve = curves[mode.label]
        assert 0.3 * bound < np.abs(curve.closed - found).max() / curve.plateau <= bound
    assert all(step_error(derivation, mode) is None for mode in later)
    page = html(derivation_document(derivation))
    assert "bound the distance of strengths of the first stage to their closed forms" in page


@pytest.mark.parametrize(
    "keys", [{"learning_rate": "2"}, {"weight_decay": "1/4"}, {"layers": 3}, {"init_std": "3"}]
)
def test_nothing_is_claimed_where_nothing_is_proven(keys):
    derivation = sr.derive(load(**keys))
    assert all(step_error(derivation, mode) is None for mode in derivation.pathways[0].modes)
    assert step_errors(derivation) is None
    assert "solution against gradient descent" not in html(derivation_document(derivation))


def test_a_wrong_identity_stops_the_derivation(monkeypatch):
    monkeypatch.setattr(bound_of, "residual", lambda: sp.S.One)
    with pytest.raises(ArithmeticError, match="gradient descent"):
        sr.derive(load())


def test_the_identities_are_decided(monkeypatch):
    assert bound_of.residual() == 0
    monkeypatch.setattr(bound_of, "_H", 2 * bound_of._X)
    assert bound_of.residual.__wrapped__() != 0


def test_the_bound_shrinks_with_the_learning_rate_and_refuses_overshoot():
    found = [bound_of.step_error(*map(arb, (0.7, 0.3, 1e-4, tau))) for tau in (10, 100, 1000)]
    assert found[2] < found[1] / 9 < found[0] / 60
    assert bound_of.step_error(*map(arb, (0.7, 0.3, 1e-4, 1.4))) is None
    assert bound_of.step_error(*map(arb, (0.7, 0.3, 3.0, 100))) is None


@pytest.mark.parametrize("tau", [1.5, 2, 5, 50])
@pytest.mark.parametrize("share", [1e-12, 0.3, 0.79, 0.95])
def test_all_orbits_keep_the_bound_whatever_the_start(tau, share):
    """Also from near the plateau, and with steps so large that the bound is 1."""
    s, d = 0.7, 0.3
    bound = bound_of.step_error(*map(arb, (s, d, share * s / d, tau)))
    x, rate, largest = share, 2 * np.log1p(s / tau), 0.0
    for step in range(2000):
        printed = 1 / (1 + (1 / share - 1) * np.exp(-rate * step))
        largest = max(largest, abs(x - printed))
        x *= (1 + s / tau * (1 - x)) ** 2
    assert 0 < largest <= bound


def test_the_bound_hardly_depends_on_the_start():
    weak, strong = (bound_of.step_error(*map(arb, (0.7, 0.3, p, 1000))) for p in (1e-12, 1e-2))
    assert weak < 1.02 * strong


@pytest.mark.parametrize(
    ("std", "nearer"), [("1/1000", False), ("1/50", True), (["1/5", "1/50"], True), ("2/3", True)]
)
def test_where_weights_start_large_the_flow_is_nearer_and_it_is_said(std, nearer):
    """By gradient descent's own steps: half-times of both solutions beside the one there."""
    derivation = sr.derive(load(init_std=std, learning_rate="1/20"))
    claim = large_starts(derivation)
    said = {} if claim is None else {late.label: late for late in claim.modes}
    tau = float(derivation.tau)
    for mode in derivation.pathways[0].modes:
        s, d = mode.s.to_float(), mode.d_eff.to_float()
        flow = started(derivation.known, np.array(s), np.array(d), tau, ops=NUMPY)
        assert (mode.label in said) == nearer
        if flow.strength0 >= flow.plateau / 2:
            assert said[mode.label].descent is None
            continue
        orbit = np.array(
            [float(p) for _, p in zip(range(int(40 * tau / s)), flow.steps(), strict=False)]
        )
        after = int(np.argmax(orbit >= s / d / 2))
        left, right = orbit[after - 1 : after + 1]
        trained = after - 1 + (s / d / 2 - left) / (right - left)
        steps, smooth = (abs(float(law.half_time) - trained) for law in (flow.in_steps(), flow))
        assert (smooth < steps) == nearer
        if nearer:
            # What is left out beside the curve: none balanced, up to ½ ln √2 steps apart.
            late = trained - float(flow.half_time)
            assert abs(said[mode.label].descent - late) < 0.05 + 0.18 * derivation.known.apart
    text = html(derivation_document(derivation))
    assert ("Large starts." in text) == nearer
