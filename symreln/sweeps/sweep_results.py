"""A sweep as sweep.json and as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from symreln.base.provenance import library_versions
from symreln.experiment.metrics import METHOD
from symreln.report.validation_json import floor_to_json
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
