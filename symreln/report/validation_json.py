"""validation.json: a confrontation as JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symreln.base.provenance import library_versions
from symreln.claims.early import EarlyStrengths
from symreln.experiment import metrics, strengths
from symreln.experiment.comparing import PAIRS
from symreln.experiment.outcome import Validation
from symreln.experiment.rows import HAND_SET, Row, left_of
from symreln.experiment.strengths import ModeMeasured
from symreln.pipeline.certificate import certificate
from symreln.report.encode import Encoder
from symreln.verifier.folder import NONE, sealed_json

FORMAT = "symreln-validation/2"
#: Significant digits of strengths that were measured.
DIGITS = 6


def validation_to_json(validation: Validation, files: Mapping[str, bytes] = NONE) -> dict[str, Any]:
    """Return validation.json: a confrontation as JSON values, with the proof that it names.

    Args:
        validation: The confrontation.
        files: What is written beside it, by name.
    """
    spec, prediction = validation.derivation.spec, validation.prediction
    encode = Encoder(spec)
    intervals = {
        "level": metrics.LEVEL,
        "method": metrics.METHOD,
        "pairs": encode(validation.intervals),
    }
    found = {
        "format": FORMAT,
        **encode.fields(spec, "title", "source"),
        **encode.fields(validation, "seeds", "rng", "judged", "verdicts", "verdict"),
        "steps": validation.gdln.settings.steps,
        "network": {**encode(validation.gdln.settings), "samples": spec.dataset.samples},
        "no_network": validation.no_network or None,
        "loss": {"kind": "mean", "unit": "1/(2P) Σ_μ ‖y_μ − ŷ_μ‖²"},
        **encode.fields(prediction, "free_constants", "method"),
        "constants": [constant.values() for constant in validation.constants],
        "metrics": dict.fromkeys(PAIRS) | encode(validation.metrics),
        "seed_floor": encode(validation.floor),
        "not_tested": encode(validation.uninformative),
        "intervals": intervals if validation.seeds > 1 else None,
        "diagnosis": [_row(row) for row in validation.diagnosis],
        "failing": [
            {
                "pair": pair,
                "failed": list(validation.failed[pair]),
                "unexplained": not validation.failed[pair],
                "left": left_of(rows),
            }
            for pair, rows in validation.failing.items()
        ],
        "disagreements": list(validation.disagreements),
        "tolerance": {
            "max_abs_over_initial": validation.tolerance,
            "reason": spec.validation.reason,
        },
        "versions": library_versions(),
    }
    found |= _measured(validation, encode)
    return sealed_json(found, validation.derivation.ask(certificate), files)


def _measured(validation: Validation, encode: Encoder) -> dict[str, Any]:
    """Return what is said of pathways and gates."""
    split, law, drift = validation.split, validation.law, validation.drift
    return {
        "effective": _effective(validation, encode),
        "initial_strengths": _strengths(validation),
        "alignment": {
            "gdln": encode(validation.gdln_alignment),
            "network": None if split is None else encode(split.alignment),
            "network_share_of_pathways": None if split is None else list(split.shares),
            "network_share_with_exact_gates": None if split is None else split.exact,
        },
        "gate_drift": None
        if drift is None
        else {"share": encode(drift.mean), **encode.fields(drift, "steps", "max_after_drop")},
        "gate_law": None
        if law is None
        else {
            **encode.fields(law, "steps", "predicted", "distance"),
            "measured": encode(law.mean),
        },
        **({} if validation.met is None else {"units": encode(validation.met)}),
        "modes": None
        if not validation.modes
        else {
            "method": strengths.METHOD,
            "steps": {mode.subject: list(mode.steps) for mode in validation.modes},
            "strengths": [_mode(mode, encode) for mode in validation.modes],
        },
        **({"narrow": encode(validation.narrow)} if validation.narrow else {}),
        **_representations(validation, encode),
        "published": _published(validation.published),
    }


def _row(row: Row) -> dict[str, Any]:
    """Return a row of the diagnosis."""
    after = row.after
    return {
        "pair": row.pair,
        "assumption": row.assumption,
        "replaced_by": row.replaced or None,
        "distance_before": row.before,
        "distance_after": after.value,
        "interval": None if after.low is None else [after.low, after.high],
        "explains": None if row.undecided else row.explains,
        "proven": row.proven or None,
        "why_not": row.why_not or None,
        "measured": row.measured or None,
    }


def _published(rows: tuple[Row, ...]) -> dict[str, Any] | None:
    """Return what is published: the prediction, and further curves with their ranges."""
    if not rows:
        return None
    first, *others = rows
    assert first.distance is not None  # it was measured
    return {
        "source": first.replaced,
        "max_abs_over_initial": first.after.value,
        "drop_time_error_steps": first.distance.drop_time_error_steps.value,
        "hand_set_constants": HAND_SET,
        "others": [[each.replaced, each.after.low, each.after.high] for each in others],
    }


def _mode(mode: ModeMeasured, encode: Encoder) -> dict[str, Any]:
    low, high = mode.band or (None, None)
    return {
        **encode.fields(mode, "subject", "pathway", "label", "multiplicity", "plateau"),
        "metrics": {
            "max_abs_over_plateau": encode(mode.largest),
            "half_time_error_steps": encode(mode.half_time_error),
        },
        "predicted": _short(mode.predicted),
        "measured": _short(mode.mean),
        "low": _short(low),
        "high": _short(high),
    }


def _short(values: np.ndarray | None) -> list[float] | None:
    return None if values is None else [float(f"{value:.{DIGITS}g}") for value in values]


def _strengths(validation: Validation) -> dict[str, Any] | None:
    """Return what strengths start from; null where the early phase says nothing of them."""
    found = validation.derivation.ask(EarlyStrengths.of)
    if not found and not found.unsupported:
        return None
    return {"unsupported": dict(found.unsupported), "pathways": dict(validation.kappas)}


def _representations(validation: Validation, encode: Encoder) -> dict[str, Any]:
    """Return the entry "representations" where it was asked for."""
    found = validation.representations
    if found is None:
        return {}
    entry = {
        "seeds": found.seeds,
        "steps": found.steps,
        "subjects": {
            each.name: {
                **encode.fields(each, "correlation", "distance"),
                "seed_floor": encode(each.floor),
            }
            for each in found.subjects
        },
    }
    return {"representations": entry}


def _effective(validation: Validation, encode: Encoder) -> dict[str, Any]:
    found = validation.effective
    if found is None:
        return {"why_not": validation.no_effective}
    return {"way": found.way.name, **encode.fields(found, "count", "horizon", "error")}
