"""Panels drawn: curves, matrices as coloured cells, and shares over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from symreln.report.drawing import (
    FONT_SIZE,
    dress,
    legend_below,
    log_scale,
    new_axes,
    plain,
    styled,
)
from symreln.report.looks import CLOSED, FAINT, GAIN, GROUND, INK, OPEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from symreln.report.sketch import Cells, Curve, Panel

_ROW = 0.17  # inches that a row of a legend takes
_GATES = ListedColormap([CLOSED, GAIN, OPEN])  # of 0, 1/2 and 1
_MOST_ROWS = 26  # names that fit beside a matrix
_MOST_LETTERS = 60  # of names that fit below the width of a page
_MOST_SHAPES = 6000  # finer ones than a page can show are an image
_LONGEST_NAME = 14  # letters of a name beside a matrix of numbers
_NAMES = 0.12  # share of given axes that names of curves take at the right
_LINE = 9.0  # points from the name of a curve to the next
_SAME_END = 2.0  # points within which ends cannot be told apart
_FAR = 3 * _LINE  # points that a name may stand above or below its curve's end


@styled
def draw_panels(panels: Sequence[Panel], height: float, columns: int = 3) -> Axes:
    """Draw panels side by side with one legend below; return the axes of the first."""
    labels = sum(bool(curve.label) for curve in panels[0].curves)
    axes = new_axes(height + _ROW * -(-labels // columns), len(panels))
    for ax, panel in zip(axes, panels, strict=True):
        draw_panel(ax, panel)
    if labels:
        legend_below(axes[0], columns=columns)
    return axes[0]


@styled
def draw_panel(ax: Axes, panel: Panel, *, beside: bool = True) -> Axes:
    """Draw a panel into axes.

    Args:
        ax: Where.
        panel: What.
        beside: Whether names of curves may stand beside the axes, and not inside alone.
    """
    title = ", ".join(filter(None, [panel.title, plain(panel.of)]))
    dress(ax, x=panel.x, y=panel.y, title=title)
    if panel.cells is not None:
        _draw_cells(ax, panel.cells)
    for curve in panel.curves:
        _draw_curve(ax, curve)
    if panel.cells is None:
        ax.margins(x=0.01)
        if "y" not in panel.log:
            ax.set_ylim(0, panel.top)
        for axis in panel.log:
            log_scale(ax, of="x" if axis == "x" else "y")
    named = [each for each in panel.curves if each.name and np.isfinite(each.y).any()]
    if named:
        if not beside:
            left, right = ax.get_xlim()
            ax.set_xlim(right=right + _NAMES * (right - left))
        _name_curves(ax, named)
    return ax


def _draw_curve(ax: Axes, curve: Curve) -> None:
    style = curve.style
    label = plain(curve.label) + f" (${curve.note}$)" * bool(curve.note)
    ax.plot(curve.x, curve.y, label=label or None, **style)
    if curve.low is None or curve.high is None:
        return
    if curve.spread == "area":
        ax.fill_between(
            curve.x, curve.low, curve.high, color=style["color"], alpha=0.35, linewidth=0
        )
    elif curve.spread == "bars":
        ax.vlines(curve.x, curve.low, curve.high, color=INK, linewidth=0.6)
    else:  # not a second area: areas upon each other cannot be told apart in grey
        dashes = style.get("linestyle", "-")
        for edge in (curve.low, curve.high):
            ax.plot(curve.x, edge, color=style["color"], linewidth=0.6, linestyle=dashes)


def _name_curves(ax: Axes, curves: Sequence[Curve]) -> None:
    """Write the names of curves at their ends, a line apart, those with one end beside each other.

    A name for which there is no room near its end is left out.
    """
    points = ax.get_window_extent().height * 72 / ax.figure.dpi
    low, high = ax.get_ylim()
    ends: list[tuple[float, float, list[str]]] = []  # height in points, time, names
    for curve in sorted(curves, key=lambda each: _end(each)[1]):
        time, value = _end(curve)
        height = (value - low) / (high - low) * points
        if ends and height - ends[-1][0] <= _SAME_END and time == ends[-1][1]:
            ends[-1][2].append(curve.name)
        else:
            ends.append((height, time, [curve.name]))
    places = _spread([height for height, _, _ in ends])
    for (height, time, names), place in zip(ends, places, strict=True):
        if abs(place - height) > _FAR:
            continue
        line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 1}
        ax.annotate(
            ", ".join(names if len(names) < 3 else [names[0], "…", names[-1]]),
            (time, height / points),
            xycoords=("data", "axes fraction"),
            xytext=(6, place - height),
            textcoords="offset points",
            va="center",
            fontsize=FONT_SIZE - 1,
            color=INK,
            annotation_clip=False,
            arrowprops=line | {"relpos": (0, 0.5)} if abs(place - height) > 1 else None,
        )


def _end(curve: Curve) -> tuple[float, float]:
    """Return the last time at which a curve is drawn, and its value there."""
    last = np.flatnonzero(np.isfinite(curve.y))[-1]
    return float(curve.x[last]), float(curve.y[last])


def _spread(ends: Sequence[float]) -> list[float]:
    """Return heights a line apart, as near to increasing ``ends`` as a mean of each group is."""
    groups: list[list[float]] = []  # of ends less the lines below them: equal within a group
    for place, end in enumerate(ends):
        groups.append([end - place * _LINE])
        while len(groups) > 1 and np.mean(groups[-2]) >= np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    level = [float(np.mean(group)) for group in groups for _ in group]
    return [each + place * _LINE for place, each in enumerate(level)]


def _draw_cells(ax: Axes, cells: Cells) -> None:
    rows, columns = cells.values.shape
    runs = np.count_nonzero(np.diff(cells.values, axis=1)) + rows
    if cells.gates and runs <= _MOST_SHAPES:
        _draw_gates(ax, cells.values)
    else:
        _draw_image(ax, cells)
    places = np.arange(0, len(cells.rows), -(-rows // _MOST_ROWS))
    longest = {} if cells.gates else {"longest": _LONGEST_NAME}
    ax.set_yticks(places + 0.5, [plain(cells.rows[place], **longest) for place in places])
    common, named = _shortened(cells.columns)
    widths = np.array([width for _, width in named])
    ends = widths.cumsum()
    ax.set_xticks(ends - widths / 2, [plain(name) for name, _ in named])
    ax.tick_params(labelsize=FONT_SIZE - (1 if cells.gates else 2), length=0)
    for end in ends[:-1]:
        colour, wide = (INK, 0.8) if cells.gates else (GROUND, 1.2)
        ax.axvline(end, color=colour, linewidth=wide)
    if cells.gates:
        # Rules between rows, thinner where rows are.
        ax.hlines(range(1, rows), 0, columns, color=GROUND, linewidth=min(1.6, 22 / rows))
        ax.set_xlabel(ax.get_xlabel() + f", by {plain(common)}" * bool(common))
        for side in ax.spines.values():
            side.set(visible=True, linewidth=0.6, color=INK)


def _draw_gates(ax: Axes, values: NDArray[np.float64]) -> None:
    """Draw gates as shapes, whose colours follow a page into the dark."""
    rows, columns = values.shape
    for row, gates in enumerate(values):
        edges = [0, *(np.flatnonzero(np.diff(gates)) + 1), columns]
        for start, end in pairwise(edges):
            shape = Rectangle((start, row), end - start, 1, linewidth=0, antialiased=False)
            shape.set_facecolor(_GATES(gates[start]))
            ax.add_patch(shape)
    ax.set(xlim=(0, columns), ylim=(rows, 0))


def _draw_image(ax: Axes, cells: Cells) -> None:
    rows, columns = cells.values.shape
    scale = cells.scale or max(float(np.abs(cells.values).max(initial=0)), 1e-300)
    ax.imshow(
        cells.values,
        cmap=_GATES if cells.gates else "RdBu",
        vmin=0 if cells.gates else -scale,
        vmax=1 if cells.gates else scale,
        extent=(0, columns, rows, 0),
        aspect="auto",
        interpolation="none",
    )


def _shortened(runs: Sequence[tuple[str, int]]) -> tuple[str, Sequence[tuple[str, int]]]:
    """Return a first word that all names share and the names without it, if they are crowded."""
    heads = {name.partition(" ")[0] for name, _ in runs}
    if sum(len(name) for name, _ in runs) <= _MOST_LETTERS or len(heads) > 1:
        return "", runs
    return heads.pop(), [(name.partition(" ")[2], width) for name, width in runs]
