"""The error of the flow against gradient descent, through a derivation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from flint import arb

import symreln as sr
from symreln.claims.discretisation_bound import flow_error, flow_errors
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
        bound = flow_error(derivation, mode)
        s, d = mode.s.to_float(), mode.d_eff.to_float()
        law = started(derivation.known, np.array(s), np.array(d), tau, ops=NUMPY)
        steps = np.arange(int(40 * tau / s))
        orbit = np.array([next(taken) for taken in [law.steps()] for _ in steps])
        gap = np.abs(orbit - law.strengths(steps)).max() * d / s
        assert gap <= bound < 12 * gap
    text = html(derivation_document(derivation))
    assert "flow against gradient descent" in text
    assert any(step.name == "finite steps" for step in derivation.steps)
    assert derivation.to_json()["pathways"][0]["modes"][0]["flow_error"] == flow_error(
        derivation, derivation.pathways[0].modes[0]
    )


def test_later_stages_have_no_bound():
    derivation = sr.derive(sr.load("contextual-3"))
    assert all(flow_error(derivation, m) is None for p in derivation.pathways for m in p.modes)


@pytest.mark.parametrize(
    "keys", [{"learning_rate": "2"}, {"weight_decay": "1/4"}, {"layers": 3}, {"init_std": "3"}]
)
def test_nothing_is_claimed_where_nothing_is_proven(keys):
    derivation = sr.derive(load(**keys))
    assert all(flow_error(derivation, mode) is None for mode in derivation.pathways[0].modes)
    assert flow_errors(derivation) is None
    assert "flow against gradient descent" not in html(derivation_document(derivation))


def test_a_wrong_identity_stops_the_derivation(monkeypatch):
    monkeypatch.setattr(bound_of, "residual", lambda: sp.S.One)
    with pytest.raises(ArithmeticError, match="gradient descent"):
        sr.derive(load())


def test_the_identities_are_decided(monkeypatch):
    assert bound_of.residual() == 0
    monkeypatch.setattr(bound_of, "_H", 2 * bound_of._X)
    assert bound_of.residual.__wrapped__() != 0


def test_the_bound_shrinks_with_the_learning_rate_and_refuses_overshoot():
    found = [bound_of.flow_error(*map(arb, (0.7, 0.3, 1e-4, tau))) for tau in (10, 100, 1000)]
    assert found[2] < found[1] / 8 < found[0] / 30
    assert bound_of.flow_error(*map(arb, (0.7, 0.3, 1e-4, 1.4))) is None
    assert bound_of.flow_error(*map(arb, (0.7, 0.3, 3.0, 100))) is None
