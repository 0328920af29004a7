"""The figure of representations: similarities of samples, their pictures over time, agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from symreln.experiment.representation import PLANE
from symreln.report.chapters.representations import NAME
from symreln.report.drawing import FONT_SIZE, TEXT_WIDTH, drawing, dress, plain, styled
from symreln.report.figures import TIME
from symreln.report.looks import DASHES, FAINT, INK, PALETTE, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.document.model import Drawing
    from symreln.experiment.representation import RepresentationComparison

HEIGHT = 4.6  # inches


@styled
def representation_drawing(
    found: RepresentationComparison, network_name: str, *, pdf: bool
) -> Drawing:
    """Draw predicted and trained representations.

    Above similarities of all pairs of samples, where the predicted ones have half their final
    spread and at the end; below the paths of samples in the plane that shows the distances at the
    end best, and how far networks are from the prediction.

    Args:
        found: What was compared.
        network_name: What the network is called.
        pdf: Whether to make the PDF for LaTeX.
    """
    names = {"relu": network_name, "gdln": "GDLN"}
    first = found.subjects[0]
    figure = Figure(figsize=(TEXT_WIDTH, HEIGHT), dpi=72)
    upper = figure.add_gridspec(1, 4, left=0.02, right=0.98, top=0.94, bottom=0.57, wspace=0.1)
    lower = figure.add_gridspec(1, 3, left=0.02, right=0.98, top=0.46, bottom=0.1, wspace=0.25)
    scale = max(float(np.abs(first.mean[-1]).max()), float(np.abs(found.theory[-1]).max()))
    for place, (name, moment, part) in enumerate(
        (name, moment, part)
        for moment in (found.half_way, len(found.steps) - 1)
        for name, part in (("theory", found.theory), (names[first.name], first.mean))
    ):
        panel = figure.add_subplot(upper[0, place])
        _matrix(panel, part[moment], scale, f"{name}, step {found.steps[moment]}")
    predicted, trained = (found.paths[name][:, :, :PLANE] for name in ("theory", first.name))
    colours = _colours(found)
    panels = [figure.add_subplot(lower[0, place]) for place in range(3)]
    reach = 1.08 * float(np.abs([trained, predicted]).max() or 1.0)
    for panel, points, name in (
        (panels[0], predicted, "theory"),
        (panels[1], trained, names[first.name]),
    ):
        _paths(panel, points, colours, reach, name)
    _legend(panels[0], found, colours)
    _agreement(panels[2], found, names)
    return drawing(NAME, panels[0], pdf=pdf)


def _matrix(panel: Axes, similarity: np.ndarray, scale: float, title: str) -> None:
    panel.imshow(similarity, cmap="RdBu_r", vmin=-scale, vmax=scale, interpolation="nearest")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.set_title(plain(title), fontsize=FONT_SIZE - 1.5, loc="left", color=INK)
    for spine in panel.spines.values():
        spine.set(color=FAINT, linewidth=0.4)


def _colours(found: RepresentationComparison) -> list[str]:
    """Return the colour of every sample: by label, where there are not too many values."""
    samples = found.theory.shape[-1]
    if found.labels is None:
        return [PALETTE[0]] * samples
    values = list(dict.fromkeys(found.labels[1]))
    if len(values) > len(PALETTE):
        return [PALETTE[0]] * samples
    return [PALETTE[values.index(value)] for value in found.labels[1]]


def _paths(panel: Axes, points: np.ndarray, colours: list[str], reach: float, title: str) -> None:
    for sample, colour in enumerate(colours):
        path = points[:, sample]
        panel.plot(path[:, 0], path[:, 1], color=colour, linewidth=0.7, alpha=0.7)
        panel.plot(*path[-1], marker="o", markersize=3, color=colour, linestyle="")
    panel.set_xlim(-reach, reach)
    panel.set_ylim(-reach, reach)
    panel.set_aspect("equal")
    panel.set_xticks([])
    panel.set_yticks([])
    dress(panel, title=plain(title))


def _legend(panel: Axes, found: RepresentationComparison, colours: list[str]) -> None:
    """Name the colours above the pictures."""
    if found.labels is None or len(set(colours)) < 2:
        return
    name, values = found.labels
    marks: dict[str, Any] = dict(zip(values, colours, strict=True))
    handles = [
        Line2D([], [], marker="o", markersize=3, linestyle="", color=colour)
        for colour in marks.values()
    ]
    panel.figure.legend(
        handles,
        [plain(f"{name} {value}") for value in marks],
        fontsize=FONT_SIZE - 1,
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0.0, 0.49),
        ncols=len(marks),
        handletextpad=0.1,
    )


def _agreement(panel: Axes, found: RepresentationComparison, names: dict[str, str]) -> None:
    for subject in found.subjects:
        style = look("gdln" if subject.name == "gdln" else "relu")
        shown = subject.correlation  # no number where all similarities are equal
        marks: dict[str, Any] = {} if np.isfinite(shown).any() else {"markevery": None}
        panel.plot(found.steps, shown, label=plain(names[subject.name]), **style | marks)
        distance = np.minimum(subject.distance, 1.05)
        panel.plot(found.steps, distance, **style | {"linestyle": DASHES[2], "marker": ""})
    panel.set_ylim(0, 1.05)
    panel.tick_params(labelsize=FONT_SIZE - 1)
    panel.legend(fontsize=FONT_SIZE - 2, frameon=False, loc="best")
    dress(panel, x=TIME, title="correlation; dotted: distance")
