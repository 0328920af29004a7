"""Figures of a confrontation as text: shares of the first loss, steps, rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import all_digits, percent

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
    if found.low is None or found.high is None or found.low == found.high:
        return shown(found.value)
    return f"{shown(found.value)} [{shown(found.low)}, {shown(found.high)}]"


def share_text(found: Interval, beside: float | None = None) -> str:
    """Return a share of a loss, a plateau or a weight, and where it may be.

    An interval from nothing to all of it and more tells no theory from another: it is said in
    words, so that its ends are not read as a finding.

    Args:
        found: The share with its interval.
        beside: See :func:`symreln.base.rounding.percent`.

    Example:
        >>> from symreln.experiment.metrics import Interval
        >>> share_text(Interval(value=0.031, low=0.021, high=0.043))
        '3.1 % [2.1 %, 4.3 %]'
        >>> share_text(Interval(value=0.75, low=0.0, high=11.4))
        '75 % (anything up to 1140 %)'
    """
    if found.low is not None and found.high is not None and found.low <= 0 and found.high >= 1:
        return f"{percent(found.value or 0.0, beside)} (anything up to {percent(found.high)})"
    return interval_text(found, lambda share: percent(share, beside))
