"""The error of the flow against gradient descent, through a derivation."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.claims.descending import descent_steps, flow_error, why_no_bound
from symreln.dynamics import two_layer
from symreln.dynamics.solutions import descent
from symreln.report.chapters.steps import _percent
from symreln.report.content import derivation_document
from symreln.report.html import render as html
from tests.dynamics.test_half_speed import load as load_odd
from tests.dynamics.test_switchboard import load


@pytest.mark.parametrize("rate", ["1/20", "1/100", "1/400"])
@pytest.mark.parametrize("half_speed", [False, True])
def test_no_strength_leaves_its_bound(rate, half_speed):
    spec = load_odd(learning_rate=rate) if half_speed else load(learning_rate=rate)
    derivation = sr.derive(spec)
    tau, start = float(derivation.tau), float(derivation.strength0)
    for mode in derivation.pathways[0].modes:
        bound = flow_error(derivation, mode)
        s, d = mode.s.to_float(), mode.d_eff.to_float()
        steps = np.arange(int(40 * tau / s))
        orbit = descent.strength_float(s, d, start, steps, tau)
        gap = np.abs(orbit - two_layer.strength_float(s, d, start, steps, tau)).max() * d / s
        assert gap <= bound < 12 * gap
    text = html(derivation_document(derivation))
    assert "flow against gradient descent" in text
    assert any(step.name == "finite steps" for step in derivation.steps)
    assert derivation.to_json()["pathways"][0]["modes"][0]["flow_error"] == flow_error(
        derivation, derivation.pathways[0].modes[0]
    )


def test_later_stages_have_no_bound():
    derivation = sr.derive(sr.load("contextual-3"))
    assert "step by step" in why_no_bound(derivation)
    assert all(flow_error(derivation, m) is None for p in derivation.pathways for m in p.modes)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"learning_rate": "2"}, ""),
        ({"weight_decay": "1/4"}, ""),
        ({"layers": 3}, "no initial strength"),
        ({"init_std": "3"}, ""),
    ],
)
def test_nothing_is_claimed_where_nothing_is_proven(keys, why):
    derivation = sr.derive(load(**keys))
    assert why in why_no_bound(derivation)
    assert all(flow_error(derivation, mode) is None for mode in derivation.pathways[0].modes)
    assert descent_steps(derivation) == []
    assert "flow against gradient descent" not in html(derivation_document(derivation))


def test_a_wrong_identity_stops_the_derivation(monkeypatch):
    monkeypatch.setattr(descent, "_template_defect", lambda: sp.S.One)
    with pytest.raises(ArithmeticError, match="gradient descent"):
        sr.derive(load())


def test_bounds_are_rounded_up():
    assert _percent(0.0104) == "1.1 %"
    assert _percent(1.0) == "100 %"
    assert _percent(1.23456e-7) == "1.3e-05 %"
