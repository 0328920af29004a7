"""Figures as plain values, which JSON can carry to another process, and what draws them.

A sketch has everything that its figure shows and nothing else: names, numbers and groups.
Numbers come back from JSON as they were, so a figure does not depend on where it is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.report.drawing import drawing
from symreln.report.figures import (
    GateShare,
    LossCurve,
    PathwayModes,
    PathwaySpectrum,
    gate_motion,
    gate_pattern,
    loss_curves,
    mode_trajectories,
    singular_values,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.document.model import Drawing

#: Values of JSON by name; "name" is that of the figure and tells what kind it is.
Sketch = dict[str, Any]

#: What a gate is in a sketch: closed, a gain, open.
CLOSED, GAIN, OPEN = "0g1"


def gates_sketch(
    rows: Sequence[str], names: Sequence[str], groups: Sequence[tuple[str, int]]
) -> Sketch:
    """Return the sketch of a gate pattern.

    Args:
        rows: One text a pathway, one of the letters CLOSED, GAIN and OPEN a sample.
        names: Name of each row.
        groups: Label and number of samples of each run of columns.
    """
    return {"name": "gates", "rows": list(rows), "names": list(names), "groups": list(groups)}


def spectrum_sketch(pathways: Sequence[PathwaySpectrum], height: str) -> Sketch:
    """Return the sketch of singular values and plateaus, the latter named by mathtext."""
    return {"name": "spectrum", "pathways": list(map(_values, pathways)), "height": height}


def modes_sketch(pathways: Sequence[PathwayModes], time_label: str) -> Sketch:
    """Return the sketch of strengths over time."""
    return {"name": "modes", "pathways": list(map(_values, pathways)), "time_label": time_label}


def loss_sketch(curves: Sequence[LossCurve], unit: str = "mean over samples") -> Sketch:
    """Return the sketch of losses over time.

    Args:
        curves: What is drawn.
        unit: Over what the losses are taken.
    """
    return {"name": "loss", "curves": list(map(_values, curves)), "unit": unit}


def gate_motion_sketch(
    classes: Sequence[GateShare], times: np.ndarray, groups: Sequence[tuple[str, int]]
) -> Sketch:
    """Return the sketch of gates and of their shares over time."""
    return {
        "name": "mean_field",
        "classes": list(map(_values, classes)),
        "times": times.tolist(),
        "groups": list(groups),
    }


def draw(sketch: Sketch, *, pdf: bool = True) -> Drawing:
    """Draw a sketch.

    Args:
        sketch: As one of the functions above returns it, also after a way through JSON.
        pdf: Whether the drawing carries a PDF for LaTeX; it takes as long as all the rest.
    """
    axes = {
        "gates": _gates,
        "spectrum": _spectrum,
        "modes": _modes,
        "loss": _loss,
        "graph": _graph,
        "mean_field": _gate_motion,
    }
    return drawing(sketch["name"], axes[sketch["name"]](sketch), pdf=pdf)


def _gates(sketch: Sketch) -> Axes:
    letters = np.array([list(row) for row in sketch["rows"]])
    groups = [(label, size) for label, size in sketch["groups"]]
    return gate_pattern(letters != CLOSED, sketch["names"], gains=letters == GAIN, groups=groups)


def _spectrum(sketch: Sketch) -> Axes:
    pathways = [
        PathwaySpectrum(
            label=values["label"],
            s=tuple(values["s"]),
            plateau=tuple(values["plateau"]),
            multiplicity=tuple(values["multiplicity"]),
        )
        for values in sketch["pathways"]
    ]
    return singular_values(pathways, height=sketch["height"])[0]


def _modes(sketch: Sketch) -> Axes:
    pathways = [PathwayModes(**_arrays(values)) for values in sketch["pathways"]]
    return mode_trajectories(pathways, time_label=sketch["time_label"])


def _loss(sketch: Sketch) -> Axes:
    curves = [LossCurve(**_arrays(values)) for values in sketch["curves"]]
    return loss_curves(curves, unit=sketch["unit"])[0]


def _gate_motion(sketch: Sketch) -> Axes:
    classes = [
        GateShare(label=each["label"], gate=each["gate"], shares=np.array(each["shares"]))
        for each in sketch["classes"]
    ]
    groups = [(label, size) for label, size in sketch["groups"]]
    return gate_motion(classes, np.array(sketch["times"]), groups=groups)[0]


def _graph(sketch: Sketch) -> Axes:
    from symreln.report.graph_figure import EdgeMark, NodeMark, graph_figure

    nodes = [NodeMark(**values) for values in sketch["nodes"]]
    return graph_figure(nodes, [EdgeMark(**values) for values in sketch["edges"]])


def _values(part: GateShare | LossCurve | PathwayModes | PathwaySpectrum) -> dict[str, Any]:
    """Return the fields of a part of a figure, arrays as lists."""
    found = {field.name: getattr(part, field.name) for field in fields(part)}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}


def _arrays(values: dict[str, Any]) -> dict[str, Any]:
    return {k: np.array(v, dtype=float) if isinstance(v, list) else v for k, v in values.items()}
