"""Certified balls of a derivation: they hold the doubles, with the digits asked for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import symreln as sr
from symreln.errors import NoClosedFormError
from tests.cases import contexts_spec
from tests.claims.test_prediction import parametric
from tests.verdict.examples import (
    CUBIC,
    GOLDEN,
    RATIONAL,
    one_hot_contexts,
    race,
)

# -- certified balls -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        contexts_spec(RATIONAL, 3, network={}),
        contexts_spec(CUBIC, 4, network={}),
        one_hot_contexts([GOLDEN], [(1,)], network={"init_std": Fraction(1, 10**12)}),
        parametric(Fraction(7, 3)),
    ],
    ids=["rational", "degree 3", "tiny start", "parameter"],
)
def test_balls_contain_the_doubles(spec):
    derivation = sr.derive(spec)
    times = [0, 1, Fraction(1, 3), 100, 2500, 10**7]
    balls = derivation.enclose(times, digits=40)
    order = np.argsort([float(t) for t in times])
    prediction = derivation.evaluate([float(times[i]) for i in order])
    assert set(balls) == {mode.label for mode in prediction.modes}
    for mode in prediction.modes:
        for place, index in enumerate(order):
            ball = balls[mode.label][index]
            assert ball.rel_accuracy_bits() >= 40 * 3.32
            double = mode.closed[place]
            # A ball of 40 digits hardly contains a double; it lies within its rounding.
            assert abs(ball - arb(double)) < abs(ball) * 1e-13


def test_digits_asked_for_are_delivered_and_consistent():
    derivation = sr.derive(contexts_spec(CUBIC, 3, network={}))
    few, many = derivation.enclose([1234], 10), derivation.enclose([1234], 200)
    for label, (ball,) in many.items():
        assert ball.rel_accuracy_bits() >= 200 * 3.32
        assert few[label][0].overlaps(ball)


def test_only_closed_forms_can_be_enclosed():
    with pytest.raises(NoClosedFormError, match="coupled modes"):
        sr.derive(race(RATIONAL, network={})).enclose([0])
