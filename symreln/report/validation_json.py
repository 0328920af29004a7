"""validation.json: a confrontation as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.provenance import library_versions
from symreln.claims.early import early_strengths
from symreln.claims.regime import regime_of
from symreln.experiment import metrics, strengths
from symreln.experiment.comparing import PAIRS
from symreln.experiment.outcome import Validation
from symreln.pipeline.certificate import certificate
from symreln.report.encode import Encoder
from symreln.verifier.folder import NONE, sealed_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.experiment.findings import Finding, PairDiagnosis
    from symreln.experiment.gate_law import GateLawMeasured
    from symreln.experiment.metrics import Distance, SeedFloor
    from symreln.experiment.strengths import ModeMeasured

FORMAT = "symreln-validation/2"
#: Significant digits of strengths that were measured.
DIGITS = 6
#: Gates that are recorded, those that a symmetry maps onto each other once.
MOST_GATES = 24


def validation_to_json(validation: Validation, files: Mapping[str, bytes] = NONE) -> dict[str, Any]:
    """Return validation.json: a confrontation as JSON values, with the proof that it names.

    Args:
        validation: The confrontation.
        files: What is written beside it, by name.
    """
    spec, uninformative = validation.derivation.spec, validation.uninformative
    found = {
        "format": FORMAT,
        "title": spec.title,
        "source": spec.source,
        "seeds": validation.seeds,
        "rng": validation.rng,
        "steps": validation.gdln.settings.steps,
        "network": {**asdict(validation.gdln.settings), "samples": spec.dataset.samples},
        "no_network": validation.no_network or None,
        "loss": {"kind": "mean", "unit": "1/(2P) Σ_μ ‖y_μ − ŷ_μ‖²"},
        "free_constants": validation.prediction.free_constants,
        "constants": [constant.values() for constant in validation.constants],
        "judged": validation.judged,
        "verdicts": {name: asdict(found) for name, found in validation.verdicts.items()},
        "method": validation.prediction.method,
        "metrics": dict.fromkeys(PAIRS)
        | {name: asdict(found) for name, found in validation.metrics.items()},
        "seed_floor": floor_to_json(validation.floor),
        "not_tested": None if uninformative is None else asdict(uninformative),
        "intervals": _intervals(validation.intervals if validation.seeds > 1 else {}),
        **diagnosis_to_json(validation.diagnosis),
        "verdict": validation.verdict,
        "disagreements": list(validation.disagreements),
        "tolerance": {
            "max_abs_over_initial": validation.tolerance,
            "reason": spec.validation.reason,
        },
        "versions": library_versions(),
    }
    found |= _measured(validation)
    return sealed_json(found, validation.derivation.ask(certificate), files)


def _measured(validation: Validation) -> dict[str, Any]:
    """Return what is said of pathways and gates."""
    spec = validation.derivation.spec
    published = validation.published
    return {
        "mean_field": _mean_field(validation),
        "chain_start": _chain(validation),
        "initial_strengths": _strengths(validation),
        "regime": Encoder.of(spec)(validation.derivation.ask(regime_of)),
        "alignment": _alignments(validation),
        **_narrow(validation),
        "gate_drift": _drift(validation),
        "gate_law": None if validation.law is None else _gate_law(validation.law),
        "modes": _modes(validation) if validation.modes else None,
        **_representations(validation),
        "published": None if published is None else asdict(published),
    }


def _intervals(found: Mapping[str, Distance]) -> dict[str, Any] | None:
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


def _modes(validation: Validation) -> dict[str, Any]:
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


def _strengths(validation: Validation) -> dict[str, Any] | None:
    """Return what strengths start from; null where the early phase says nothing of them.

    "units" are those that were followed: which share of them is open on some sample and has no
    pathway's gate, and which is closed on all; null where no pathway has a gate that units keep.
    """
    found = validation.derivation.ask(early_strengths)
    encode = Encoder.of(validation.derivation.spec)
    if not found and not found.unsupported:
        return None
    return {
        "unsupported": dict(found.unsupported),
        "units": encode.fields(found, "followed", "elsewhere", "closed")
        if found.followed
        else None,
        "pathways": dict(validation.kappas),
        "modes": {
            label: encode.fields(each, "kappa", "error", "spread", "share", "orbit")
            for label, each in found.items()
        },
    }


def _alignments(validation: Validation) -> dict[str, Any]:
    split, encode = validation.split, Encoder.of(validation.derivation.spec)
    gdln, relu = (
        [encode.fields(a, "pathway", "modes", "left", "right", "outside") for a in found]
        for found in (validation.gdln_alignment, () if split is None else split.alignment)
    )
    return {
        "gdln": gdln,
        "network": None if split is None else relu,
        "network_share_of_pathways": None if split is None else list(split.shares),
        "network_share_with_exact_gates": None if split is None else split.exact,
    }


def _drift(validation: Validation) -> dict[str, Any] | None:
    drift = validation.drift
    if drift is None:
        return None
    return {
        "steps": list(drift.steps),
        "share": [float(x) for x in drift.mean],
        "max_after_drop": drift.max_after_drop,
    }


def _representations(validation: Validation) -> dict[str, Any]:
    """Return the entry "representations" where it was asked for."""
    found = validation.representations
    if found is None:
        return {}
    entry = {
        "seeds": found.seeds,
        "steps": found.steps,
        "subjects": {
            each.name: {
                "correlation": _numbers(each.correlation),
                "distance": _numbers(each.distance),
                "seed_floor": None if each.floor is None else _numbers(each.floor),
            }
            for each in found.subjects
        },
        "shown_in_picture": found.shown,
    }
    return {"representations": entry}


def _numbers(values: np.ndarray) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _narrow(validation: Validation) -> dict[str, Any]:
    """Return the entry "narrow": by label how many equal modes are predicted and held."""
    return {"narrow": [asdict(each) for each in validation.narrow]} if validation.narrow else {}


def _mean_field(validation: Validation) -> dict[str, Any]:
    found = validation.mean_field
    if found is None:
        return {"why_not": validation.no_mean_field}
    return {
        "error": found.error,
        "particles": found.particles,
        "steps": found.steps.tolist(),
        "classes": [
            {
                "gate": "".join(map(str, each.gate)),
                "alike": each.alike,
                "largest_share": each.largest,
                "carries": list(each.carries(found.steps)),
                "shares": [round(float(share), 6) for share in each.shares],
            }
            for each in found.classes[:MOST_GATES]
        ],
        "classes_left_out": max(0, len(found.classes) - MOST_GATES),
    }


def _gate_law(law: GateLawMeasured) -> dict[str, Any]:
    return {
        "steps": law.steps.tolist(),
        "predicted": law.predicted.tolist(),
        "measured": law.mean.tolist(),
        "distances": law.share_distances,
        "losses": [
            {"order": order, **asdict(found)} for order, found in enumerate(law.distances, start=2)
        ],
        "why_no_losses": law.why_not or None,
    }


def _chain(validation: Validation) -> dict[str, Any] | None:
    found = validation.chain
    if found is None:
        return None
    shown = Encoder.of(validation.derivation.spec).fields(
        found, "layers", "units", "kappa", "error"
    )
    return {**shown, "followed": len(found.times)}
