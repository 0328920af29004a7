"""Matrices as coloured cells, drawn as shapes: sharp at any size, and few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from symreln.errors import InputError
from symreln.report.drawing import FONT_SIZE, check_shape, dress, new_axes, plain, styled
from symreln.report.looks import CLOSED, GAIN, GROUND, INK, OPEN

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_ROW, _ROWS = 0.26, 3.2  # inches: height of a row of gates, and of all of them at most
_NAMED_ROWS = 26  # names that fit beside _ROWS inches
_NAMES = 60  # letters that fit below the width of a page
_SHADES = ListedColormap([CLOSED, GAIN, OPEN])  # of gates: 0, 1/2 and 1
_LEVELS = 256  # of colour; more cannot be told apart
_MOST_SHAPES = 6000


@styled
def gate_pattern(
    gates: NDArray[np.bool_],
    pathways: Sequence[str],
    *,
    gains: NDArray[np.bool_] | None = None,
    boundary: NDArray[np.bool_] | None = None,
    groups: Sequence[tuple[str, int]] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw which samples each pathway sees, gains in another shade than an open gate.

    Args:
        gates: Shape (pathways, P): True where the gate is open.
        pathways: Name of each row.
        gains: Shape (pathways, P): True where an open gate is a gain other than 1, or None.
        boundary: Shape (pathways, P): True where a sample is on the gate's boundary, or None.
        groups: Label and number of samples of each run of columns, such as a context.
        ax: Axes to draw into.
    """
    rows, samples = gates.shape
    check_shape("gate pattern", gates, (len(pathways), samples))
    height = min(_ROW * rows, _ROWS)
    ax = ax or new_axes(0.75 + height)[0]
    shades = np.where(gates, 1.0, 0.0)
    named: list[Artist] = []
    if gains is not None and gains.any():
        check_shape("gains", gains, gates.shape)
        shades[gains] = 0.5
        shown = (("0", CLOSED), ("gain", GAIN), ("1", OPEN))
        named += [Patch(facecolor=c, edgecolor=INK, linewidth=0.6, label=n) for n, c in shown]
    if boundary is not None and boundary.any():
        row, column = np.nonzero(boundary)
        up, across = [row + 0.8, row + 0.2], [column + 0.2, column + 0.8]
        ax.plot(across, up, color=INK, linewidth=0.8, zorder=3)
        named.append(Line2D([], [], color=INK, linewidth=0.8, label="/ on its boundary"))
    if named:
        where = "outside right upper"
        ax.figure.legend(handles=named, loc=where, fontsize=FONT_SIZE - 1, frameon=False)
    draw_cells(ax, shades, colours=_SHADES, bound=1.0)
    # Rules between rows, thinner where rows are.
    ax.hlines(range(1, rows), 0, samples, color=GROUND, linewidth=min(1.6, 7.0 * height / rows))
    ticks = np.arange(0, rows, -(-rows // _NAMED_ROWS))
    ax.set_yticks(ticks + 0.5, [plain(pathways[int(row)]) for row in ticks])
    common, groups = _shortened(groups)
    _group_ticks(ax, groups, samples)
    dress(ax, x=f"samples ({samples})" + f", by {plain(common)}" * bool(common))
    _frame(ax)
    return ax


def _shortened(groups: Sequence[tuple[str, int]]) -> tuple[str, Sequence[tuple[str, int]]]:
    """Return a first word that all names share and the names without it, if they are crowded."""
    if sum(len(name) for name, _ in groups) <= _NAMES:
        return "", groups
    heads = {name.partition(" ")[0] for name, _ in groups}
    if len(heads) > 1:
        return "", groups
    return heads.pop(), [(name.partition(" ")[2], size) for name, size in groups]


def _group_ticks(ax: Axes, groups: Sequence[tuple[str, int]], total: int) -> None:
    """Name runs of columns in their middle and rule a line between them."""
    sizes = [size for _, size in groups]
    if groups and sum(sizes) != total:
        msg = f"figure: groups of {sizes} for {total} samples. Give sizes that add up."
        raise InputError(msg)
    ends = np.cumsum(sizes)
    centres = ends - np.array(sizes) / 2
    names = [plain(name) for name, _ in groups]
    ax.set_xticks(centres, names)
    for end in ends[:-1]:
        ax.axvline(float(end), color=INK, linewidth=0.8)
    ax.tick_params(axis="x", length=0)


def _frame(ax: Axes) -> None:
    for side in ax.spines.values():
        side.set(visible=True, linewidth=0.6, color=INK)


def draw_cells(ax: Axes, values: NDArray[np.float64], *, colours: Colormap, bound: float) -> None:
    """Draw ``values`` as unit squares, row 0 at the top.

    Cells of one colour are one shape, and neighbours in a row are one rectangle of it: a browser
    would smear an image and leave hairlines between separate squares. Above _MOST_SHAPES changes of
    colour the shapes are finer than a page can show and would fill megabytes: then it is an image.

    Args:
        ax: Axes to draw into; its limits become the edges of the matrix.
        values: Matrix, shape (rows, columns), finite.
        colours: Of values.
        bound: Values from ``-bound`` to ``bound`` span the map (from 0 where none is negative).
    """
    rows, columns = values.shape
    low = -bound if (values < 0).any() else 0.0
    levels = np.rint((values - low) / (bound - low) * (_LEVELS - 1)).astype(int)
    if np.count_nonzero(np.diff(levels, axis=1)) > _MOST_SHAPES:
        shades = colours(levels / (_LEVELS - 1))
        ax.imshow(shades, extent=(0, columns, rows, 0), aspect="auto", interpolation="none")
        return
    for level in np.unique(levels):
        corners = _rectangles(levels == level)
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        shape = Path(corners.reshape(-1, 2), codes)
        colour = colours(level / (_LEVELS - 1))
        ax.add_patch(PathPatch(shape, facecolor=colour, linewidth=0, antialiased=False))
    ax.set(xlim=(0, columns), ylim=(rows, 0))


def _rectangles(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the corners of every run of True in a row, shape (runs, 5, 2)."""
    edges = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, first = np.nonzero(edges == 1)
    _, last = np.nonzero(edges == -1)
    x = np.stack([first, last, last, first, first], axis=1)
    y = np.stack([row, row, row + 1, row + 1, row], axis=1)
    return np.stack([x, y], axis=2).astype(float)
