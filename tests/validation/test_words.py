"""Shares in print: a bound and what is judged by it lie on the same sides in text."""

from __future__ import annotations

from decimal import Decimal

import pytest

from symreln.base.rounding import percent
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
