"""The confrontation of a graph in files: validation.json, curves.npz and a figure."""

from __future__ import annotations

import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.provenance import library_versions
from symreln.claims.constants import count_free
from symreln.experiment.metrics import drop_time, seed_band
from symreln.report.figures import LossCurve
from symreln.report.judgement_json import FORMAT, diagnosis_to_json, intervals_to_json
from symreln.report.loss_unit import loss_unit
from symreln.report.plots import loss_sketch

if TYPE_CHECKING:
    from symreln.experiment.graph_start import GraphStart
    from symreln.experiment.graphs import GraphValidation
    from symreln.report.drawing import Sketch
    from symreln.train.run import TrainingRun


def graph_validation_to_json(validation: GraphValidation) -> dict[str, Any]:
    """Return the confrontation of a graph as JSON values."""
    spec = validation.derivation.spec
    return {
        "format": FORMAT,
        "title": spec.title,
        "source": spec.source,
        "seeds": validation.seeds,
        "rng": validation.rng,
        "steps": validation.gdln.settings.steps,
        "network": {**asdict(validation.gdln.settings), "samples": spec.dataset.samples},
        "no_network": "the nodes of a graph are gated as given, which no ReLU network is",
        "loss": loss_unit(spec).to_json(),
        "free_constants": count_free(validation.constants),
        "constants": [constant.values() for constant in validation.constants],
        "method": "gradient descent on the scalar modes of the graph, step by step",
        "metrics": dict.fromkeys(("theory_vs_gdln", "theory_vs_relu", "gdln_vs_relu"))
        | {name: asdict(found) for name, found in validation.metrics.items()},
        "seed_floor": None
        if validation.floor is None
        else {"mean": asdict(validation.floor.mean), "maximum": asdict(validation.floor.maximum)},
        "initial_strengths": {
            "aligned": validation.aligned_theory.start,
            "random": _start_json(validation.start),
            "why_not": validation.start if isinstance(validation.start, str) else None,
        },
        "strengths": [
            {"pathways": label, "mode": number, "predicted": one, "trained": other}
            for label, number, one, other in validation.strengths
        ],
        "alignment": None,
        "gate_drift": None,
        "not_tested": None if validation.untested is None else asdict(validation.untested),
        "intervals": intervals_to_json(validation.intervals),
        **diagnosis_to_json(validation.diagnosis),
        "verdict": validation.verdict,
        "judged": validation.judged,
        "verdicts": {name: found.to_json() for name, found in validation.verdicts.items()},
        "disagreements": list(validation.disagreements),
        "tolerance": {
            "max_abs_over_initial": validation.tolerance,
            "reason": spec.validation.reason,
        },
        "versions": library_versions(),
    }


def _start_json(start: GraphStart | str) -> dict[str, Any] | None:
    if isinstance(start, str):
        return None
    return {
        "amplitude": start.amplitude,
        "error": start.error,
        "followed": len(start.amplitudes) if start.error else 0,
    }


def graph_curves(validation: GraphValidation) -> bytes:
    """Return curves.npz."""
    unit = loss_unit(validation.derivation.spec)
    arrays = {
        "theory_aligned": validation.aligned_theory.loss,
        "gdln_aligned": validation.aligned.losses,
        "gdln": validation.gdln.losses,
    }
    named = {
        "theory": validation.theory,
        "reduced": validation.reduced,
        "closed_forms": validation.closed,
    }
    arrays |= {name: curve for name, curve in named.items() if curve is not None}
    arrays = {name: unit.factor * losses for name, losses in arrays.items()}
    steps = np.arange(validation.aligned.losses.shape[1], dtype=float)
    arrays |= {"steps": steps, "loss_unit": np.array(unit.words)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def confronted_losses(validation: GraphValidation) -> Sketch:
    """Sketch the losses of theory and networks."""
    curves = [
        _trained("GDLN, random weights", validation.gdln),
        _trained("GDLN, aligned start", validation.aligned),
        _predicted("theory, aligned start", validation.aligned_theory.loss),
    ]
    if validation.theory is not None:
        curves.append(_predicted("theory, random weights (judged)", validation.theory))
    unit = loss_unit(validation.derivation.spec)
    return loss_sketch([unit.of(curve) for curve in curves], unit.words)


def _predicted(label: str, loss: np.ndarray) -> LossCurve:
    # A loss under machine epsilon is rounding: a difference of sums that cancel.
    shown = np.maximum(loss, np.finfo(float).eps * loss[0])
    times = np.arange(len(loss), dtype=float)
    return LossCurve(label=label, times=times, loss=shown, drop_time=_drop(loss))


def _trained(label: str, run: TrainingRun) -> LossCurve:
    band = seed_band(run.losses)
    several = run.seeds > 1
    return LossCurve(
        label=label,
        times=np.arange(len(band.mean), dtype=float),
        loss=band.mean,
        low=band.values[0] if several else None,
        high=band.values[-1] if several else None,
        drop_time=_drop(band.mean),
    )


def _drop(loss: np.ndarray) -> float | None:
    found = drop_time(loss)
    return None if found is None else float(found)
