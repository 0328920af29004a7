"""Shares in print: a bound and what is judged by it lie on the same sides in text."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.base.rounding import percent
from symreln.experiment.metrics import steps_text
from symreln.experiment.words import bound_text


def number(text: str) -> Decimal:
    return Decimal(text.removesuffix(" %"))


@pytest.mark.parametrize(
    ("value", "bound", "texts"),
    [
        (0.0500001, 0.05, ("5.00001 %", "5 %")),
        (0.049996, 0.05, ("4.9996 %", "5 %")),
        (0.05, 0.05, ("5 %", "5 %")),
        (0.0286, 0.05, ("2.9 %", "5 %")),
        (0.12310, 0.123456, ("12.3 %", "12.3456 %")),
        (0.12348, 0.123456, ("12.35 %", "12.3456 %")),
        (0.16, 0.05, ("16 %", "5 %")),
        (1e-9, 1e-9 / 3, ("1e-07 %", "3.3333333333333337e-8 %")),
    ],
)
def test_digits_tell_a_share_from_its_bound(value, bound, texts):
    assert (percent(value, bound), bound_text(bound)) == texts


@given(
    bound=st.fractions(min_value="1/1000000", max_value=1, max_denominator=1000000).map(float),
    step=st.integers(min_value=-50, max_value=50),
)
def test_neighbours_of_a_bound_are_printed_on_their_side(bound, step):
    value = bound
    for _ in range(abs(step)):
        value = math.nextafter(value, math.inf if step > 0 else 0)
    shown, limit = number(percent(value, bound)), number(bound_text(bound))
    assert (shown > limit) == (value > bound)
    assert (shown < limit) == (value < bound)


@pytest.mark.parametrize(("steps", "text"), [(1, "1 step"), (-1, "-1 step"), (0, "0 steps")])
def test_steps_have_their_number(steps, text):
    assert steps_text(steps) == text
