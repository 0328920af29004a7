"""Intervals, diagnosis and modes of a confrontation, for validation.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from symreln.experiment import metrics, strengths

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from symreln.experiment.confront import Validation
    from symreln.experiment.findings import Finding, PairDiagnosis
    from symreln.experiment.metrics import Distance, SeedFloor
    from symreln.experiment.strengths import ModeMeasured

#: Significant digits of strengths that were measured.
DIGITS = 6


def judgement_to_json(validation: Validation) -> dict[str, Any]:
    """Return the entries that say how sure the comparison is and what fails."""
    return {
        "modes": _modes(validation),
    }


def intervals_to_json(found: Mapping[str, Distance]) -> dict[str, Any] | None:
    """Return the entry "intervals", None where there are none."""
    if not found:
        return None
    pairs = {name: asdict(each) for name, each in found.items()}
    return {"level": metrics.LEVEL, "method": metrics.METHOD, "pairs": pairs}


def floor_to_json(found: SeedFloor | None) -> dict[str, Any] | None:
    """Return the entry "seed_floor"."""
    return None if found is None else {"mean": asdict(found.mean), "maximum": asdict(found.maximum)}


def diagnosis_to_json(found: tuple[PairDiagnosis, ...]) -> dict[str, Any]:
    """Return the entries that say what was replaced, and what fails."""
    tried = [_finding(pair.pair, each) for pair in found for each in pair.findings]
    failing = [
        {
            "pair": each.pair,
            "failed": list(each.failed),
            "unexplained": not each.failed,
            "left": each.left,
        }
        for each in found
    ]
    return {"diagnosis": tried, "failing": failing}


def _finding(pair: str, found: Finding) -> dict[str, Any]:
    return {
        "pair": pair,
        "assumption": found.assumption,
        "replaced_by": found.replaced,
        "distance_before": found.before,
        "distance_after": found.after,
        "interval": None if found.low is None else [found.low, found.high],
        "explains": None if found.undecided else found.explains,
        "fitted": found.fitted,
        "why_not": found.why_not or None,
        "measured": found.measured or None,
    }


def _modes(validation: Validation) -> dict[str, Any] | None:
    if not validation.modes:
        return None
    return {
        "method": strengths.METHOD,
        "steps": {mode.subject: list(mode.steps) for mode in validation.modes},
        "strengths": [_mode(mode) for mode in validation.modes],
    }


def _mode(mode: ModeMeasured) -> dict[str, Any]:
    band = mode.band
    return {
        "subject": mode.subject,
        "pathway": mode.pathway,
        "label": mode.label,
        "multiplicity": mode.multiplicity,
        "plateau": mode.plateau,
        "metrics": {
            "max_abs_over_plateau": asdict(mode.largest),
            "last_over_plateau": asdict(mode.last),
            "half_time_error_steps": asdict(mode.half_time_error),
        },
        "predicted": _short(mode.predicted),
        "measured": _short(mode.mean),
        "low": None if band is None else _short(band[0]),
        "high": None if band is None else _short(band[1]),
    }


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
