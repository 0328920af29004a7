"""A sweep as rows of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent

if TYPE_CHECKING:
    from symreln.experiment.metrics import Interval
    from symreln.sweep.summary import Summary, SummaryRow

_PAIRS = ("theory_vs_relu", "theory_vs_gdln", "gdln_vs_relu")


def header(summary: Summary) -> list[str]:
    """Return the names of the columns."""
    keys = [axis.key for axis in summary.plan.axes]
    pairs = ["theory – network", "theory – GDLN", "GDLN – network"]
    return [*keys, "seeds", *pairs, "drop time error", "seed floor", "judged", "loss"]


def rows(summary: Summary) -> list[list[str]]:
    """Return a row of cells a combination."""
    return [_cells(row) for row in summary.rows]


def _cells(row: SummaryRow) -> list[str]:
    values = [text.partition("=")[2] for text in row.over]
    seeds = f"{row.seeds}{' *' if row.failures else ''}"
    distances = [
        _percents(row.metrics[pair].max_abs_over_initial) if pair in row.metrics else "–"
        for pair in _PAIRS
    ]
    relu = row.metrics.get("theory_vs_relu")
    drop = "–" if relu is None else _steps(relu.drop_time_error_steps)
    floor = "–" if row.floor is None else percent(row.floor.mean.max_abs_over_initial)
    outcome = "–" if row.verdict is None else row.verdict.outcome
    return [*values, seeds, *distances, drop, floor, row.judged or "–", outcome]


def _percents(found: Interval) -> str:
    assert found.value is not None  # two curves always have a largest distance
    if found.low is None or found.high is None:
        return percent(found.value)
    return f"{percent(found.value)} [{100 * found.low:.2g}, {100 * found.high:.2g}]"


def _steps(found: Interval) -> str:
    if found.value is None:
        return "never drops"
    if found.low is None or found.high is None:
        return f"{found.value:.3g}"
    return f"{found.value:.3g} [{found.low:.3g}, {found.high:.3g}]"
