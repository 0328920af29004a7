"""Solutions in print: implicit ones in parts, heights with weight decay, long numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy as sp

import symreln as sr
from symreln.claims.derivation import Derivation
from symreln.document.document_model import label_of
from symreln.document.words import Notation, scalar_latex
from symreln.exact.scalar import Scalar
from symreln.report.content import derivation_chapters
from symreln.report.plots import modes_sketches
from tests.own_specs import LINEAR, own
from tests.report.sample import words_of


def derived(**changes) -> Derivation:
    network = LINEAR | {"hidden": 50, "steps": 10} | changes
    return sr.derive(sr.load(own([[1, 0], [0, 1]], [[3, 0], [0, 1]], network=network)))


def shown(found: Derivation) -> str:
    """Return the first page, and the chapters on spectrum and dynamics."""
    wanted = ("sec:result", "sec:data", "sec:lines")
    chapters = derivation_chapters(found, None, ("vectors", "modes"))
    return words_of(*(each for each in chapters if label_of(each) in wanted))


def test_heights_are_lowered_by_weight_decay_in_figures_and_words():
    found = derived(weight_decay="3/4")
    (sketch,) = modes_sketches(found, found.evaluate())
    # s = 3/2 and 1/2, d = 1/2: (3/2 − 3/4)/(1/2), and 0 where s is below.
    curves = sketch.shown["panels"][0].curves
    plateaus = [each.y[0] for each in curves if len(each.y) == 2]
    np.testing.assert_allclose(plateaus, [0.0, 1.5])
    text = shown(found)
    assert text.replace("\\\\", "\\").count(r"(s - \lambda)/d") >= 2
    plain = derived()
    text = shown(plain)
    assert "lambda" not in text.replace("W_1 W_1^{", "").split("The inputs are white")[0]


def test_a_long_fraction_is_a_decimal_and_a_formula_stays():
    notation = Notation(symbols={"a": sp.Symbol("a")}, values={})
    assert scalar_latex(Scalar.of(Fraction(5, 16)), notation) == r"\frac{5}{16}"
    long = Fraction(10**30 + 1, 3 * 10**30)
    assert scalar_latex(Scalar.of(long), notation) == "0.33333333(1)"
    assert "a" in scalar_latex(Scalar.symbol("a", ("a",)) * Scalar.of(long, ("a",)), notation)
    decimals = replace(notation, decimals=True)
    assert scalar_latex(Scalar.of(Fraction(5, 16)), decimals) == "0.3125"
    exact = Fraction(1234567890123, 10**6)  # of few places, however long
    assert scalar_latex(Scalar.of(exact), decimals) == "1234567.890123"
    assert scalar_latex(Scalar.of(exact), notation) == "1234567.9(1)"
