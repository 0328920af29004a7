"""validation.json, as interface.md fixes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from symreln.provenance import library_versions
from symreln.validation.confront import PAIRS

if TYPE_CHECKING:
    from symreln.validation.confront import PathwayAlignment, Validation

FORMAT = "symreln-validation/1"


def validation_to_json(validation: Validation) -> dict[str, Any]:
    """Return the confrontation as JSON values."""
    spec = validation.derivation.spec
    published = validation.published
    drift = validation.drift
    return {
        "format": FORMAT,
        "title": spec.title,
        "source": spec.source,
        "seeds": validation.seeds,
        "rng": validation.rng,
        "steps": validation.gdln.settings.steps,
        "network": {**asdict(validation.gdln.settings), "samples": spec.dataset.samples},
        "no_network": validation.no_network or None,
        "free_constants": validation.prediction.free_constants,
        "method": validation.prediction.method,
        "metrics": dict.fromkeys(PAIRS)
        | {name: asdict(found) for name, found in validation.metrics.items()},
        "seed_floor": None
        if validation.floor is None
        else {
            "mean": asdict(validation.floor.mean),
            "maximum": asdict(validation.floor.maximum),
        },
        "alignment": {
            "gdln": [_alignment(a) for a in validation.gdln_alignment],
            "network": None
            if validation.network_alignment is None
            else [_alignment(a) for a in validation.network_alignment],
            "network_share_of_pathways": None
            if validation.network_shares is None
            else list(validation.network_shares),
            "network_share_with_exact_gates": validation.assignment_exact,
        },
        "gate_drift": None
        if drift is None
        else {
            "steps": list(drift.steps),
            "share": [float(x) for x in drift.mean],
            "max_after_drop": drift.max_after_drop,
        },
        "published": None if published is None else asdict(published),
        "verdict": "agrees" if validation.agrees else "disagrees",
        "disagreements": list(validation.disagreements),
        "tolerance": {
            "max_abs_over_initial": validation.tolerance,
            "reason": spec.validation.reason,
        },
        "versions": library_versions(),
    }


def _alignment(found: PathwayAlignment) -> dict[str, Any]:
    return {
        "pathway": found.pathway,
        "left": list(found.left),
        "right": list(found.right),
        "outside": found.outside,
    }
