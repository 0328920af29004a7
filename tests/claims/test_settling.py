"""Where the loss comes to rest under weight decay, against the curves; and what else was found."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.report.terminal import summary_of
from tests.own_specs import LINEAR, own

UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def derived(x=UNIT, y=([3, 0, 0], [0, 2, 0], [0, 0, 1]), **network):
    small = LINEAR | {"hidden": 60, "init_std": "1/1000", "steps": 3000}
    return sr.derive(sr.load(own(x, [*y], network=small | network)))


@pytest.mark.parametrize(
    ("decay", "final"),
    # m (s - pi d)²/2d a mode: s = 1, 2/3, 1/3 and d = 1/3.
    [("1/10", Fraction(9, 200)), ("1/2", Fraction(11, 12)), ("2", Fraction(7, 3))],
)
def test_the_final_loss_is_where_the_curves_end(decay, final):
    derivation = derived(weight_decay=decay)
    found = derivation.to_json()["loss"]["final"]
    assert Fraction(found["expr"]) == final
    assert abs(float(found["decimal"]) - float(final)) < 1e-15
    curves = derivation.evaluate()
    assert curves.loss[-1] == pytest.approx(float(final), abs=2e-4)
    for curve in curves.modes:
        np.testing.assert_allclose(curve.best[-1], curve.plateau, atol=2e-3)
    statements = [step.statement for step in derivation.steps]
    assert not any("plateaus reach the least-squares" in text for text in statements)
    text = derivation.to_latex()
    assert "weight decay holds the strengths below" in text
    # Rational numbers are exact in print, and have a radius where their decimal does not end.
    assert rf"$\frac{{{final.numerator}}}{{{final.denominator}}}$, and not to the least" in text
    assert (found["radius"] == "0") == (final.denominator == 200)


def test_without_decay_it_is_the_least_squares_value():
    found = derived().to_json()["loss"]["final"]
    assert found["expr"] == "0"
    assert "the least-squares loss of the pathways" in derived().to_latex()


def test_half_speed_doubles_the_decay():
    """The effective lambda of a symmetric ReLU network is what its strengths settle with."""
    derivation = derived([[1, -1]], [[1, -1]], activation="relu", weight_decay="1/8")
    final = derivation.to_json()["loss"]["final"]
    assert float(final["decimal"]) == pytest.approx(float(Fraction(final["expr"])), abs=1e-15)
    assert derivation.evaluate().reduced[-1] == pytest.approx(float(final["decimal"]), abs=1e-3)


@pytest.mark.parametrize(("changes", "form"), [({"layers": 3}, "an implicit solution"), ({}, None)])
def test_one_word_for_what_modes_have(changes, form):
    derivation = derived(**changes)
    mode = derivation.to_json()["pathways"][0]["modes"][0]
    assert mode.get("form") == form
    shown = "\n".join(summary_of(derivation, [Path("derivation.html")])["formulas"])
    text = derivation.to_latex()
    assert f"every mode has {form or 'a closed form'}, because" in text
    assert "has no solution in closed form" not in text
    assert form is None or f"(t): {form}, in derivation.html" in shown
