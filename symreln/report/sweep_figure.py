"""Figures of a sweep: every distance against each key whose values are numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from symreln.report.drawing import (
    FONT_SIZE,
    drawing,
    dress,
    legend_below,
    log_scale,
    new_axes,
    plain,
    styled,
)
from symreln.report.looks import line_style
from symreln.report.sweep_table import SHOWN
from symreln.specs.expression import constant
from symreln.specs.finding import Finding
from symreln.specs.overrides import parse_override

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.document.model import Drawing
    from symreln.sweeps.axes import Axis
    from symreln.sweeps.summary import Summary, SummaryRow

#: Lines of one panel: more cannot be told apart.
_MOST_LINES = 7
#: Ratio of the largest to the smallest value from which an axis is logarithmic.
_WIDE = 10


def _numbers(axis: Axis) -> list[float] | None:
    """Return an axis's values where all of them are numbers, else None."""
    try:
        return [_number(axis.key, value) for value in axis.values]
    except (Finding, OverflowError, ArithmeticError):
        return None


def _number(key: str, value: str) -> float:
    found = parse_override(f"{key}={value}")[1]
    if isinstance(found, bool):
        raise Finding(value, "a number")
    return float(constant(found))


def sweep_figures(summary: Summary) -> tuple[Drawing, ...]:
    """Draw a figure for each swept key whose values are numbers; none of one value alone."""
    found = []
    if not any(row.metrics for row in summary.rows):
        return ()
    for place, axis in enumerate(summary.plan.axes):
        values = _numbers(axis)
        if values is not None and len(set(values)) > 1:
            found.append(_figure(summary, place, values))
    return tuple(found)


@styled
def _figure(summary: Summary, place: int, values: list[float]) -> Drawing:
    axis = summary.plan.axes[place]
    there = [pair for pair in SHOWN if any(pair in row.metrics for row in summary.rows)]
    lines = _lines(summary, place)
    panels = new_axes(2.4 + 0.2 * (len(lines) > 1), len(there))
    for panel, pair in zip(panels, there, strict=True):
        for number, (label, line) in enumerate(lines):
            _draw(panel, pair, [(values[x], row) for x, row in line], label, number)
        panel.set_ylim(bottom=0)
        if min(values) > 0 and max(values) >= _WIDE * min(values):
            log_scale(panel, of="x")
        name = r"$\max_t |\Delta L|/L(0)$, %" if panel is panels[0] else ""
        dress(panel, x=plain(axis.key), y=name, title=SHOWN[pair])
    if len(lines) > 1:
        legend_below(panels[0])
    name = re.sub(r"[^A-Za-z0-9]+", "-", axis.key).strip("-")
    return drawing(f"sweep-{place + 1}-{name}", panels[0], pdf=False)


def _lines(summary: Summary, place: int) -> list[tuple[str, list[tuple[int, SummaryRow]]]]:
    """Return (label, [(number of the value, row)]), a line for each value of the other keys."""
    sizes = [len(axis.values) for axis in summary.plan.axes]
    lines: dict[str, list[tuple[int, SummaryRow]]] = {}
    for number, row in enumerate(summary.rows):
        others = ", ".join(text for k, text in enumerate(row.over) if k != place)
        own = int(np.unravel_index(number, sizes)[place])
        lines.setdefault(others, []).append((own, row))
    return list(lines.items())[:_MOST_LINES]


def _draw(
    panel: Axes, pair: str, line: list[tuple[float, SummaryRow]], label: str, number: int
) -> None:
    there = [(x, row) for x, row in line if pair in row.metrics]
    ordered = sorted(there, key=lambda item: item[0])
    shown = [(x, row.metrics[pair].max_abs_over_initial) for x, row in ordered]
    if not shown:
        return
    x = [at for at, _ in shown]
    y = 100 * np.array([found.value for _, found in shown], dtype=float)
    low, high = (
        np.array([y[k] if end is None else 100 * end for k, end in enumerate(ends)], dtype=float)
        for ends in ([f.low for _, f in shown], [f.high for _, f in shown])
    )
    panel.errorbar(
        x,
        y,
        yerr=[y - low, high - y],
        label=plain(label),
        marker="o",
        markersize=3,
        linewidth=1.1,
        elinewidth=0.8,
        capsize=2,
        **line_style(number),
    )
    panel.tick_params(labelsize=FONT_SIZE - 1)
