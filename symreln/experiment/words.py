"""Figures of a confrontation as text: shares of the first loss, steps, rows of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import all_digits, rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.experiment.intervals import Interval
    from symreln.experiment.metrics import CurveComparison


def percent(value: float, beside: float | None = None) -> str:
    """Return a share as per cent with two significant digits, or more where it is large.

    Args:
        value: The share.
        beside: A bound that the share is compared with, as :func:`bound_text` prints it: as many
            digits more are given as it takes to lie on the bound's same side in print too.
    """
    return f"{rounded(value, 2 if value < 0.1 else 3, beside, power=2)} %"


def bound_text(bound: float) -> str:
    """Return a tolerance as per cent, with every digit that it has."""
    return f"{all_digits(bound, power=2)} %"


def steps_text(steps: float) -> str:
    """Return a number of steps in words."""
    return f"{steps:.3g} step" + ("" if abs(steps) == 1 else "s")


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


def metric_cells(
    found: CurveComparison, tolerance: float | None = None
) -> tuple[str, str, str, str]:
    """Return (max, mean, drop time error, tail) as text.

    Args:
        found: The distance of two curves.
        tolerance: What its largest difference is judged by, where it is.
    """
    drop = found.drop_time_error_steps
    return (
        percent(found.max_abs_over_initial, tolerance),
        percent(found.mean_abs_over_initial),
        "never drops" if drop is None else steps_text(drop),
        "–" if found.log10_tail_rms is None else f"{found.log10_tail_rms:.2g}",
    )
