"""A sweep as sweep.json and as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from symreln.base.provenance import library_versions
from symreln.base.rounding import percent, positional
from symreln.experiment.metrics import METHOD, interval_text, share_text
from symreln.report.validation_json import floor_to_json

if TYPE_CHECKING:
    from symreln.experiment.metrics import Interval
    from symreln.sweeps.combinations import Sweep, SweepRow

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
    "effective_vs_relu",
    "mean_field_vs_relu",
)
#: Those that the table shows, and their titles.
_SHOWN = {
    "theory_vs_relu": "theory – network",
    "theory_vs_gdln": "theory – GDLN",
    "gdln_vs_relu": "GDLN – network",
}


def sweep_to_json(found: Sweep) -> dict[str, Any]:
    """Return sweep.json."""
    first = found.combinations[0]
    return {
        "format": _FORMAT,
        "title": first.spec.title,
        "spec": first.spec.source,
        "set": list(found.overrides),
        "over": {key: list(values) for key, values in found.axes.items()},
        "seeds": first.seeds,
        "rng": first.rng,
        "intervals": METHOD,
        "rows": [_row(row) for row in found.rows],
        "versions": library_versions(),
    }


def _row(row: SweepRow) -> dict[str, Any]:
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
        "failure": row.failure or None,
    }


def sweep_table(found: Sweep) -> tuple[str, list[str], list[list[str]]]:
    """Return title, header and rows of the table."""
    return (
        f"sweep, {found.combinations[0].seeds} seeds: max |ΔL|/L(0)",
        [*found.axes, "seeds", *_SHOWN.values(), "drop time error", "seed floor", "judged", "loss"],
        [_cells(row) for row in found.rows],
    )


def _cells(row: SweepRow) -> list[str]:
    values = [text.partition("=")[2] for text in row.over]
    seeds = f"{row.seeds}{' *' if row.failure else ''}"
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
