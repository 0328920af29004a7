"""The figure of a race: speeds against the parameter, boundaries, and what networks take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.report.drawing import (
    FAINT,
    FONT_SIZE,
    INK,
    PALETTE,
    TEXT_WIDTH,
    drawing,
    dress,
    line_style,
    plain,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.document.model import Drawing

#: Dashes of a boundary by its kind.
KINDS = {"speed": "-", "existence": (0, (1.5, 1.5))}


@dataclass(frozen=True, kw_only=True, eq=False)
class SpeedLine:
    """Speeds of a class of gates where it runs.

    Attributes:
        label: Its name.
        values: Values of the parameter, shape (T,).
        speeds: Shape (T,); NaN where the gate does not run.
        faint: Whether no ReLU unit can have the gate.
    """

    label: str
    values: np.ndarray
    speeds: np.ndarray
    faint: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class SharePoints:
    """Shares of a class of gates in trained networks.

    Attributes:
        label: Its name.
        values: Values of the parameter at which networks were trained, shape (N,).
        weight: Mean share of the weight, shape (N,).
        spread: Its standard deviation over seeds, shape (N,).
        units: Share of the units, shape (N,).
        curve: (values, predicted shares of the weight), each of shape (T,).
    """

    label: str
    values: np.ndarray
    weight: np.ndarray
    spread: np.ndarray
    units: np.ndarray
    curve: tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class BoundaryMark:
    """A boundary to mark.

    Attributes:
        value: Where.
        kind: "speed" or "existence".
        label: Mathtext of its value, without dollars.
    """

    value: float
    kind: str
    label: str


@styled
def race_figure(
    parameter: str,
    lines: Sequence[SpeedLine],
    boundaries: Sequence[BoundaryMark],
    shares: Sequence[SharePoints] = (),
    *,
    png: bool = False,
) -> Drawing:
    """Draw speeds and, where networks were trained, their shares below.

    Args:
        parameter: Name of the parameter, mathtext without dollars.
        lines: A line a class, and one for gates that are none of a ReLU unit.
        boundaries: Where the race changes.
        shares: Of the same classes, in the same order.
        png: Whether to make a raster copy.
    """
    panels = _panels(3 if shares else 1)
    for place, line in enumerate(lines):
        style = {"color": FAINT, "linestyle": (0, (4, 2))} if line.faint else line_style(place)
        panels[0].plot(line.values, line.speeds, label=plain(line.label), linewidth=1.4, **style)
    panels[0].set_ylim(bottom=0)
    dress(panels[0], y=r"speed $s$  ($1/\tau$)")
    for place, each in enumerate(shares):
        colour = PALETTE[place % len(PALETTE)]
        panels[1].errorbar(
            each.values, each.weight, yerr=each.spread, fmt="o", markersize=3.5, color=colour,
            elinewidth=0.8, capsize=2, linewidth=0,
        )  # fmt: skip
        panels[1].plot(*each.curve, linewidth=1.0, **line_style(place))
        panels[2].plot(each.values, each.units, "o", markersize=3.5, color=colour)
    if shares:
        dress(panels[1], y="share of weight")
        dress(panels[2], y="share of units")
        for panel in panels[1:]:
            panel.set_ylim(-0.04, 1.04)
    _mark(panels, boundaries)
    panels[-1].set_xlabel(f"${parameter}$", fontsize=FONT_SIZE)
    panels[0].margins(x=0.01)
    foretold = any(len(each.curve[0]) for each in shares)
    _legend(panels, boundaries, trained=bool(shares), foretold=foretold)
    _settle(panels[0])
    return drawing("race", panels[0], pdf=False, png=png)


def _settle(ax: Axes) -> None:
    """Lay a figure out and keep it so: the common arranging of panels is for one row."""
    figure = ax.figure.figure
    figure.draw_without_rendering()
    figure.set_layout_engine(None)


def _panels(count: int) -> list[Axes]:
    """Return panels one below the other, with one horizontal axis."""
    from matplotlib.figure import Figure

    heights = [1.6, 1.1, 0.8][:count]
    figure = Figure(figsize=(TEXT_WIDTH, 1.3 + 1.35 * sum(heights)), layout="constrained", dpi=72)
    grid = figure.add_gridspec(count, 1, height_ratios=heights)
    panels: list[Axes] = []
    for row in range(count):
        panels.append(figure.add_subplot(grid[row, 0], sharex=panels[0] if panels else None))
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
    return panels


def _mark(panels: Sequence[Axes], boundaries: Sequence[BoundaryMark]) -> None:
    """Draw boundaries through all panels, and their values above the first."""
    named: set[float] = set()
    for mark in boundaries:
        for panel in panels:
            panel.axvline(
                mark.value, color=INK, linewidth=0.7, linestyle=KINDS[mark.kind], zorder=0
            )
        if mark.value not in named:
            panels[0].annotate(
                f"${mark.label}$", (mark.value, 1), xycoords=("data", "axes fraction"),
                xytext=(0, 3), textcoords="offset points", ha="center", fontsize=FONT_SIZE - 1,
            )  # fmt: skip
        named.add(mark.value)


def _legend(
    panels: Sequence[Axes], boundaries: Sequence[BoundaryMark], *, trained: bool, foretold: bool
) -> None:
    """Name lines, kinds of boundaries, and what points and their lines are, below all."""
    from matplotlib.lines import Line2D

    handles, labels = panels[0].get_legend_handles_labels()
    for kind in dict.fromkeys(mark.kind for mark in boundaries):
        handles.append(Line2D([], [], color=INK, linewidth=0.7, linestyle=KINDS[kind]))
        labels.append(f"{kind} boundary")
    if trained:
        handles.append(Line2D([], [], color=INK, marker="o", markersize=3.5, linewidth=0))
        labels.append("trained networks, ± std")
    if foretold:
        handles.append(Line2D([], [], color=INK, linewidth=1.0))
        labels.append("predicted at this width and init_std")
    panels[0].figure.legend(
        handles, labels, loc="outside lower left", ncols=3, fontsize=FONT_SIZE - 1, frameon=False
    )


@styled
def stacked_shares(
    name: str,
    steps: np.ndarray,
    shares: Sequence[tuple[str, np.ndarray]],
    loss: np.ndarray,
    *,
    png: bool = False,
) -> Drawing:
    """Draw shares of the weight over training, stacked, and the loss above them.

    Args:
        name: File name without extension.
        steps: Shape (T,).
        shares: Label and values, shape (T,), of each class, the lowest first.
        loss: Over the initial one, shape (T,).
        png: Whether to make a raster copy.
    """
    panels = _panels(2)
    panels[0].plot(steps, loss, color=INK, linewidth=1.2)
    panels[0].set_ylim(bottom=0)
    dress(panels[0], y="loss $L/L(0)$")
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(shares))]
    panels[1].stackplot(
        steps,
        [values for _, values in shares],
        labels=[plain(label) for label, _ in shares],
        colors=colours,
        linewidth=0,
        alpha=0.85,
    )
    dress(panels[1], x=r"time $t$ (full-batch steps)", y="share of weight")
    panels[1].set_ylim(0, 1)
    panels[1].margins(x=0)
    handles, labels = panels[1].get_legend_handles_labels()
    panels[0].figure.legend(
        handles, labels, loc="outside lower left", ncols=6, fontsize=FONT_SIZE - 1, frameon=False
    )
    _settle(panels[0])
    return drawing(name, panels[0], pdf=False, png=png)
