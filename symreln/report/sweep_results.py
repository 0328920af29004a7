"""A sweep as sweep.json, as a table, and as figures: distances against each key of numbers."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.provenance import library_versions
from symreln.base.rounding import percent, positional
from symreln.experiment.metrics import METHOD
from symreln.experiment.words import interval_text, share_text
from symreln.report.looks import line_style
from symreln.report.sketch import Curve, Panel, Sketch
from symreln.report.validation_json import floor_to_json
from symreln.specs.expression import constant
from symreln.specs.finding import Finding
from symreln.specs.overrides import parse_override

if TYPE_CHECKING:
    from symreln.document.model import Drawing
    from symreln.experiment.metrics import Interval
    from symreln.sweeps.axes import Axis
    from symreln.sweeps.summary import Summary, SummaryRow

_FORMAT = "symreln-sweep/2"
#: As in validation.json: the ReLU network's place is a linear network's where that is trained.
_PAIRS = (
    "theory_vs_gdln",
    "theory_vs_relu",
    "gdln_vs_relu",
    "closed_vs_gdln",
    "closed_vs_relu",
    "reduced_vs_gdln",
    "reduced_vs_relu",
    "mean_field_vs_relu",
)
#: Lines of one panel: more cannot be told apart.
_MOST_LINES = 7
#: Ratio of the largest to the smallest value from which an axis is logarithmic.
_WIDE = 10
#: Those that the table and the figures show, and their titles.
_SHOWN = {
    "theory_vs_relu": "theory – network",
    "theory_vs_gdln": "theory – GDLN",
    "gdln_vs_relu": "GDLN – network",
}


def sweep_to_json(summary: Summary) -> dict[str, Any]:
    """Return sweep.json."""
    plan, spec = summary.plan, summary.plan.theories[0].spec
    return {
        "format": _FORMAT,
        "title": spec.title,
        "spec": spec.source,
        "set": list(plan.overrides),
        "over": {axis.key: list(axis.values) for axis in plan.axes},
        "seeds": plan.seeds,
        "rng": plan.rng,
        "intervals": METHOD,
        "rows": [_row(row) for row in summary.rows],
        "versions": library_versions(),
    }


def _row(row: SummaryRow) -> dict[str, Any]:
    return {
        "over": list(row.over),
        "seeds": row.seeds,
        "level": row.level or None,
        "method": row.method or None,
        "free_constants": row.free_constants,
        "judged": row.judged or None,
        "verdict": None if row.verdict is None else row.verdict.outcome,
        "verdicts": None if row.verdict is None else {"loss": asdict(row.verdict)},
        "metrics": dict.fromkeys(_PAIRS)
        | {pair: asdict(found) for pair, found in row.metrics.items()},
        "seed_floor": floor_to_json(row.floor),
        "failures": [{"of": each.task.name, "message": each.message} for each in row.failures],
    }


def sweep_table(summary: Summary) -> tuple[str, list[str], list[list[str]]]:
    """Return title, header and rows of the table."""
    keys = [axis.key for axis in summary.plan.axes]
    return (
        f"sweep, {summary.plan.seeds} seeds: max |ΔL|/L(0)",
        [*keys, "seeds", *_SHOWN.values(), "drop time error", "seed floor", "judged", "loss"],
        [_cells(row) for row in summary.rows],
    )


def _cells(row: SummaryRow) -> list[str]:
    values = [text.partition("=")[2] for text in row.over]
    seeds = f"{row.seeds}{' *' if row.failures else ''}"
    distances = [
        share_text(row.metrics[pair].max_abs_over_initial) if pair in row.metrics else "–"
        for pair in _SHOWN
    ]
    relu = row.metrics.get("theory_vs_relu")
    drop = "–" if relu is None else _steps(relu.drop_time_error_steps)
    floor = "–" if row.floor is None else percent(row.floor.mean.max_abs_over_initial)
    outcome = "–" if row.verdict is None else row.verdict.outcome
    return [*values, seeds, *distances, drop, floor, row.judged or "–", outcome]


def _steps(found: Interval) -> str:
    if found.value is None:
        return "never drops"
    return interval_text(found, lambda steps: positional(steps, 3))


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


def _figure(summary: Summary, place: int, values: list[float]) -> Drawing:
    axis, lines = summary.plan.axes[place], _lines(summary, place)
    there = [pair for pair in _SHOWN if any(pair in row.metrics for row in summary.rows)]
    wide = min(values) > 0 and max(values) >= _WIDE * min(values)
    panels = []
    for pair in there:
        curves = tuple(
            _curve(pair, [(values[x], row) for x, row in line], label * (len(lines) > 1), number)
            for number, (label, line) in enumerate(lines)
        )
        y = r"$\max_t |\Delta L|/L(0)$, %" * (pair == there[0])
        panels.append(
            Panel(x=axis.key, y=y, title=_SHOWN[pair], curves=curves, log="x" if wide else "")
        )
    name = re.sub(r"[^A-Za-z0-9]+", "-", axis.key).strip("-")
    return Sketch.of(f"sweep-{place + 1}-{name}", *panels, height=2.4).draw(pdf=False)


def _lines(summary: Summary, place: int) -> list[tuple[str, list[tuple[int, SummaryRow]]]]:
    """Return (label, [(number of the value, row)]), a line for each value of the other keys."""
    sizes = [len(axis.values) for axis in summary.plan.axes]
    lines: dict[str, list[tuple[int, SummaryRow]]] = {}
    for number, row in enumerate(summary.rows):
        others = ", ".join(text for k, text in enumerate(row.over) if k != place)
        own = int(np.unravel_index(number, sizes)[place])
        lines.setdefault(others, []).append((own, row))
    return list(lines.items())[:_MOST_LINES]


def _curve(pair: str, line: list[tuple[float, SummaryRow]], label: str, number: int) -> Curve:
    """Return the distances of a pair over the values of a key, with their intervals."""
    found = sorted((x, row.metrics[pair]) for x, row in line if pair in row.metrics)
    shares = [metric.max_abs_over_initial for _, metric in found]
    y = 100 * np.array([each.value for each in shares], dtype=float)
    low, high = (
        np.where(np.isnan(ends), y, 100 * ends)
        for ends in np.array([(each.low, each.high) for each in shares], dtype=float).T
    )
    style = line_style(number) | {"marker": "o", "markersize": 3, "linewidth": 1.1}
    x = np.array([at for at, _ in found])
    return Curve(x=x, y=y, label=label, style=style, low=low, high=high, spread="bars")
