"""The figures of a confrontation: losses, and the mean-field simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.document.model import Drawing
from symreln.document.words import letter
from symreln.experiment.metrics import drop_time
from symreln.experiment.outcome import Validation
from symreln.report.chapters.mean_field import MOST_GATES
from symreln.report.plots import loss_sketch, sample_groups, thinned
from symreln.report.representation_figure import representation_drawing
from symreln.report.sketch import GateShare, LossCurve, Sketch, begin_to_draw

if TYPE_CHECKING:
    from symreln.experiment.gate_law import GateLawMeasured
    from symreln.laws.mean_field import MeanField
    from symreln.report.looks import Role
    from symreln.train.run import TrainingRun


def validation_drawings(validation: Validation, *, pdf: bool) -> tuple[Drawing, ...]:
    """Draw losses, the mean-field simulation and what hidden layers hold, where they are there.

    Args:
        validation: What was confronted.
        pdf: Whether LaTeX is to include them.
    """
    drawn = begin_to_draw(validation_sketches(validation), pdf=pdf)()
    found = validation.representations
    if found is None:
        return drawn
    return (*drawn, representation_drawing(found, validation.network_name, pdf=pdf))


def validation_sketches(validation: Validation) -> tuple[Sketch, ...]:
    """Sketch the losses and, where there are some, gates by the law and by the simulation."""
    found, derivation, law = validation.mean_field, validation.derivation, validation.law
    sketches = [loss_sketch(losses_of(validation))]
    if law is not None:
        sketches.append(_gate_law_sketch(law))
    if found is not None and isinstance(derivation, Derivation):
        sketches.append(_mean_field_sketch(found, derivation))
    return tuple(sketches)


def _gate_law_sketch(law: GateLawMeasured) -> Sketch:
    shown = {
        "predicted": law.predicted,
        "measured": law.measured,
        "times": law.steps.astype(float),
    }
    return Sketch(name="gate_law", function="figures.law_shares", shown=shown)


def losses_of(validation: Validation) -> list[LossCurve]:
    """Return the losses to draw: means over samples, as L(t) is printed."""
    prediction = validation.prediction
    chosen = thinned(prediction.times)
    times = prediction.times[chosen]
    edges = validation.edges
    aligned = None if edges is None else validation.aligned
    runs: list[tuple[str, Role, TrainingRun | None]] = [
        (validation.network_name, "relu", validation.network),
        ("GDLN", "gdln", validation.gdln),
        ("GDLN, aligned start", "aligned", aligned),
    ]
    curves = [
        _network_curve(name, role, run, times, chosen)
        for name, role, run in runs
        if run is not None
    ]
    closed = validation.judged == "closed"
    beside = prediction.reduced if closed else prediction.closed_loss
    predicted: list[tuple[str, Role, np.ndarray]] = []
    if beside is not None and beside is not prediction.loss and edges is None:
        label = "integrated reduction" if closed else "aligned strengths alone"
        curves.append(
            LossCurve(
                label=label, role="reduction" if closed else "modes", times=times,
                loss=beside[chosen],
            )
        )  # fmt: skip
    if validation.mean_field is not None:
        predicted.append(("mean-field simulation", "mean field", validation.mean_field.losses))
    if edges is not None:
        predicted.append(("theory, aligned start", "aligned theory", edges.descent.loss))
    if edges is None or not edges.unpredicted:
        label = "theory (closed forms)" if closed else "theory"
        predicted.append((label, "theory", prediction.loss))
    for label, role, losses in predicted:
        # A loss under machine epsilon is rounding: a difference of sums that cancel.
        shown = losses if edges is None else np.maximum(losses, np.finfo(float).eps * losses[0])
        curves.append(
            LossCurve(
                label=label,
                role=role,
                times=times,
                loss=shown[chosen],
                drop_time=_drop(losses),
            )
        )
    return curves


def _mean_field_sketch(found: MeanField, derivation: Derivation) -> Sketch:
    classes = [
        GateShare(
            label=f"{letter(place)} (orbit of size {each.alike})",
            gate="".join(map(str, each.gate)),
            shares=each.shares,
        )
        for place, each in enumerate(found.classes[:MOST_GATES])
    ]
    times, groups = found.steps.astype(float), sample_groups(derivation)
    shown = {"classes": classes, "times": times, "groups": groups}
    return Sketch(name="mean_field", function="figures.gate_motion", shown=shown)


def _network_curve(
    name: str, role: Role, run: TrainingRun, times: np.ndarray, chosen: np.ndarray
) -> LossCurve:
    mean, (low, high) = run.mean_loss, np.quantile(run.losses, (0.05, 0.95), axis=0)
    several = run.seeds > 1
    return LossCurve(
        label=name,
        role=role,
        times=times,
        loss=mean[chosen],
        low=low[chosen] if several else None,
        high=high[chosen] if several else None,
        drop_time=_drop(mean),
    )


def _drop(loss: np.ndarray) -> float | None:
    found = drop_time(loss)
    return None if found is None else float(found)
