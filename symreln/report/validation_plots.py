"""The figures of a confrontation: losses, shares of gates, and representations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.experiment.metrics import drop_time
from symreln.experiment.outcome import Validation
from symreln.report.looks import DASHES, INK, Role, line_style, look, points
from symreln.report.plots import TIME, loss_curve, loss_panel, thinned
from symreln.report.sketch import Cells, Curve, Panel, Sketch

if TYPE_CHECKING:
    from symreln.experiment.measured_gates import GateLawMeasured
    from symreln.experiment.representation import RepresentationComparison
    from symreln.train.run import TrainingRun


_NEAR, _DROP = 0.02, 0.05  # shares of the axes: marks within the first are apart by the second


#: Curves whose first drops are not marked: they are beside the judged one.
_BESIDE = ("reduction", "modes")


def validation_sketches(validation: Validation) -> tuple[Sketch, ...]:
    """Sketch the losses and, where there are some, gates and representations."""
    drops: list[tuple[float, Role]] = []
    for _, role, loss, _ in _losses(validation):
        if role not in _BESIDE and (time := drop_time(loss)) is not None:
            drops.append((float(time), role))
    law, sketches = validation.law, [loss_sketch(losses_of(validation), drops)]
    if law is not None:
        sketches.append(gate_law_sketch(law))
    if validation.representations is not None:
        names = {"relu": validation.network_name, "gdln": "GDLN"}
        sketches += _representation_sketches(validation.representations, names)
    return tuple(sketches)


def gate_law_sketch(law: GateLawMeasured) -> Sketch:
    """Sketch the share of the weight with the first stage's gates, by the law and in networks."""
    times = law.steps.astype(float)
    curves = [Curve(x=times, y=law.predicted, style=line_style(0), label="law of gates")]
    mean, low, high = (f(law.measured, axis=0) for f in (np.mean, np.min, np.max))
    said = "trained networks and their range" if len(law.measured) > 1 else "trained network"
    curves.append(
        Curve(x=times, y=mean, style=points("relu"), label=said, low=low, high=high, spread="bars")
    )
    panel = Panel(x=TIME, y="share of the weight", curves=tuple(curves), log="x", top=1.03)
    return Sketch.of("gate_law", panel, height=2.3, columns=4)


def losses_of(validation: Validation) -> list[Curve]:
    """Return the losses to draw: means over samples, as L(t) is printed."""
    chosen = thinned(validation.prediction.times)
    times = validation.prediction.times[chosen]
    return [
        loss_curve(label, role, times, loss[chosen], None if spread is None else spread[:, chosen])
        for label, role, loss, spread in _losses(validation)
    ]


def loss_sketch(curves: Sequence[Curve], drops: Sequence[tuple[float, Role]] = ()) -> Sketch:
    """Return the figure of losses over time, on a linear and a logarithmic scale.

    Args:
        curves: What is drawn.
        drops: When losses first fall, and whose: triangles on the linear panel's axis.
    """
    bare = tuple(replace(curve, label="") for curve in curves)
    logarithmic = Panel(x="", y="loss $L(t)$, logarithmic", curves=bare, log="y")
    marks = _drop_marks(curves, drops)
    return Sketch.of("loss", loss_panel([*curves, *marks]), logarithmic, height=2.0)


def _drop_marks(curves: Sequence[Curve], drops: Sequence[tuple[float, Role]]) -> Iterator[Curve]:
    """Yield the times of first drops; those that are near each other stand above each other."""
    wide = float(curves[0].x[-1] - curves[0].x[0])
    high = max(float(np.nanmax(curve.y)) for curve in curves)
    for place, (time, role) in enumerate(drops):
        below = sum(abs(other - time) <= _NEAR * wide for other, _ in drops[:place])
        style = {
            "marker": "^", "markersize": 5, "color": look(role)["color"], "clip_on": False,
            "markeredgecolor": INK, "markeredgewidth": 0.5, "zorder": 5,
        }  # fmt: skip
        yield Curve(x=np.array([time]), y=np.array([_DROP * below * high]), style=style)


def _losses(validation: Validation) -> Iterator[tuple[str, Role, np.ndarray, np.ndarray | None]]:
    """Yield what each loss is called, its role, its values, and the spread between seeds."""
    prediction = validation.prediction
    runs: list[tuple[str, Role, TrainingRun | None]] = [
        (validation.network_name, "relu", validation.network),
        ("GDLN", "gdln", validation.gdln),
    ]
    for name, role, run in runs:
        if run is not None:
            between = np.quantile(run.losses, (0.05, 0.95), axis=0)
            yield name, role, run.mean_loss, between if run.seeds > 1 else None
    closed = validation.judged == "closed"
    beside = prediction.reduced if closed else prediction.closed_loss
    if beside is not None and beside is not prediction.loss:
        if closed:
            yield "integrated reduction", "reduction", beside, None
        else:
            forms = validation.judged == "effective"
            yield "closed forms" if forms else "aligned strengths alone", "modes", beside, None
    if validation.effective is not None and validation.judged != "effective":
        yield "effective network", "effective", validation.effective.losses, None
    yield "theory (closed forms)" if closed else "theory", "theory", prediction.loss, None


def _representation_sketches(
    found: RepresentationComparison, names: Mapping[str, str]
) -> tuple[Sketch, Sketch]:
    """Sketch predicted and trained representations.

    The first shows similarities of all pairs of samples, where the predicted ones have half their
    final spread and at the end; the second how far networks are from the prediction over time.

    Args:
        found: What was compared.
        names: What the networks are called.
    """
    first = found.subjects[0]
    subject = names[first.name]
    scale = max(float(np.abs(first.mean[-1]).max()), float(np.abs(found.theory[-1]).max()))
    matrices = [
        Panel(
            title=f"{name}, step {found.steps[moment]}",
            cells=Cells(values=part[moment], scale=scale),
        )
        for moment in (found.half_way, len(found.steps) - 1)
        for name, part in (("theory", found.theory), (subject, first.mean))
    ]
    return (
        Sketch.of("representations", *matrices, height=1.7),
        Sketch.of("agreement", _agreement(found), height=2.2),
    )


def _agreement(found: RepresentationComparison) -> Panel:
    """Return the correlation of each network with the prediction, and dotted its distance."""
    curves: list[Curve] = []
    for subject in found.subjects:
        style, steps = look("gdln" if subject.name == "gdln" else "relu"), np.array(found.steps)
        there = {} if np.isfinite(subject.correlation).any() else {"markevery": None}
        distance = Curve(x=steps, y=np.minimum(subject.distance, 1.05), style=style)
        dotted = replace(distance, style=style | {"linestyle": DASHES[2], "marker": ""})
        curves += [Curve(x=steps, y=subject.correlation, style=style | there), dotted]
    title = "correlation; dotted: distance"
    return Panel(x=TIME, title=title, curves=tuple(curves), top=1.05)
