"""The figures of representations: similarities of samples, their pictures over time, agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.experiment.representation import PLANE
from symreln.report.looks import DASHES, PALETTE, look
from symreln.report.plots import TIME
from symreln.report.sketch import Cells, Curve, Panel, Sketch

if TYPE_CHECKING:
    from symreln.experiment.representation import RepresentationComparison


def representation_sketches(
    found: RepresentationComparison, names: Mapping[str, str]
) -> tuple[Sketch, Sketch]:
    """Sketch predicted and trained representations.

    The first shows similarities of all pairs of samples, where the predicted ones have half their
    final spread and at the end; the second the paths of samples in the plane that shows the
    distances at the end best, and how far networks are from the prediction.

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
    planes = [found.paths[name][:, :, :PLANE] for name in ("theory", first.name)]
    reach = 1.08 * float(np.abs(planes).max() or 1.0)
    paths = [
        Panel(title=title, curves=_paths(found, points), reach=reach)
        for title, points in zip(("theory", subject), planes, strict=True)
    ]
    return (
        Sketch.of("representations", *matrices, height=1.7),
        Sketch.of("paths", *paths, _agreement(found), height=2.2, columns=4),
    )


def _paths(found: RepresentationComparison, points: np.ndarray) -> tuple[Curve, ...]:
    """Return the way of every sample with a mark at its end, a colour for each label."""
    name, values = found.labels or ("", (0,) * points.shape[1])
    colours = {value: PALETTE[k % len(PALETTE)] for k, value in enumerate(dict.fromkeys(values))}
    if len(colours) > len(PALETTE):
        name, colours = "", dict.fromkeys(colours, PALETTE[0])
    curves: list[Curve] = []
    for sample, value in enumerate(values):
        line = {"color": colours[value], "linewidth": 0.7, "alpha": 0.7}
        dot = {"color": colours[value], "marker": "o", "markersize": 3, "linestyle": ""}
        label = f"{name} {value}" if name and value not in values[:sample] else ""
        x, y = points[:, sample].T
        curves += [Curve(x=x, y=y, style=line), Curve(x=x[-1:], y=y[-1:], style=dot, label=label)]
    return tuple(curves)


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
