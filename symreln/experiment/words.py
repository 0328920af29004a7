"""Figures of a confrontation as text: shares of the first loss, steps, rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import all_digits

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.experiment.metrics import Interval


def bound_text(bound: float) -> str:
    """Return a tolerance as per cent, with every digit that it has."""
    return f"{all_digits(bound, power=2)} %"


def interval_text(found: Interval, shown: Callable[[float], str]) -> str:
    """Return a number and, in brackets, where it may be; a dash where it is not known.

    Args:
        found: The number with its interval.
        shown: How a number is printed.
    """
    if found.value is None:
        return "–"
    if found.low is None or found.high is None:
        return shown(found.value)
    return f"{shown(found.value)} [{shown(found.low)}, {shown(found.high)}]"
