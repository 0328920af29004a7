"""Matrices as coloured cells, drawn as shapes: sharp at any size, and few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from symreln.errors import InputError
from symreln.report.drawing import FONT_SIZE, INK, check_shape, dress, new_axes, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_SIDE, _TALLEST = 3.1, 1.6  # inches of the longer side; height over width at most
_STEPS = 48  # of the colour scale
LEVELS = 256  # of colour; more cannot be told apart


@styled
def gate_pattern(
    gates: NDArray[np.bool_],
    pathways: Sequence[str],
    *,
    groups: Sequence[tuple[str, int]] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw which samples each pathway sees.

    Args:
        gates: Shape (pathways, P): True where the gate is open.
        pathways: Name of each row.
        groups: Label and number of samples of each run of columns, such as a context.
        ax: Axes to draw into.
    """
    rows, samples = gates.shape
    check_shape("gate pattern", gates, (len(pathways), samples))
    ax = ax or new_axes(0.75 + 0.26 * rows)[0]
    draw_cells(ax, np.asarray(gates, dtype=float), colours="Blues", bound=1.15)
    for row in range(1, rows):
        ax.axhline(row, color="white", linewidth=1.6)
    ax.set_yticks(np.arange(rows) + 0.5, [plain(name) for name in pathways])
    _group_ticks(ax, groups, samples, "x")
    dress(ax, x=f"samples ({samples})")
    _frame(ax)
    return ax


@styled
def matrix_image(
    values: NDArray[np.float64],
    *,
    title: str = "",
    row_groups: Sequence[tuple[str, int]] = (),
    column_groups: Sequence[tuple[str, int]] = (),
    ax: Axes | None = None,
) -> Axes:
    r"""Draw a matrix as coloured cells, blue below zero and red above, white at zero.

    Args:
        values: Shape (rows, columns), finite.
        title: Mathtext of our own, such as ``$\Sigma^{yx}$``.
        row_groups: Label and number of rows of each block.
        column_groups: Label and number of columns of each block.
        ax: Axes to draw into.
    """
    rows, columns = values.shape
    shape = float(np.clip(rows / columns, 0.2, _TALLEST))
    ax = ax or new_axes(0.5 + _SIDE * min(1.0, shape), width=1.2 + _SIDE / max(1.0, shape))[0]
    bound = float(np.abs(values).max()) or 1.0
    signed = bool((values < 0).any())
    draw_cells(ax, values, colours=_colours(signed), bound=bound)
    ax.set_box_aspect(shape)
    _group_ticks(ax, row_groups, rows, "y")
    _group_ticks(ax, column_groups, columns, "x")
    dress(ax, title=title)
    _frame(ax)
    _colour_bar(ax, bound, signed=signed, width=0.04 * max(1.0, shape))
    return ax


def _colours(signed: bool) -> str:
    return "RdBu_r" if signed else "Reds"


def _colour_bar(ax: Axes, bound: float, *, signed: bool, width: float) -> None:
    """Draw the scale beside ``ax``; steps overlap downwards, so that no gap shows between them."""
    from matplotlib import colormaps

    bar = ax.inset_axes((1.03, 0.0, width, 1.0))
    low = -bound if signed else 0.0
    edges = np.linspace(bound, low, _STEPS + 1)
    for index, edge in enumerate(edges[:-1]):
        share = 1 - index / (_STEPS - 1)
        bar.axhspan(low, edge, facecolor=colormaps[_colours(signed)](share), linewidth=0)
    bar.set_xticks([])
    bar.set_ylim(low, bound)
    bar.yaxis.tick_right()
    levels = (bound, 0.0, -bound) if signed else (bound, 0.0)
    bar.set_yticks(levels, [f"{level:.3g}".replace("-", "−") for level in levels])
    bar.tick_params(labelsize=FONT_SIZE - 1.5, length=2, width=0.6)
    _frame(bar)


def _group_ticks(
    ax: Axes, groups: Sequence[tuple[str, int]], total: int, axis: Literal["x", "y"]
) -> None:
    """Name runs of rows or columns in their middle and rule a line between them."""
    sizes = [size for _, size in groups]
    if groups and sum(sizes) != total:
        msg = f"figure: groups of {sizes} for {total} along {axis}. Give sizes that add up."
        raise InputError(msg)
    ends = np.cumsum(sizes)
    centres = ends - np.array(sizes) / 2
    names = [plain(name) for name, _ in groups]
    (ax.set_xticks if axis == "x" else ax.set_yticks)(centres, names)
    rule = ax.axvline if axis == "x" else ax.axhline
    for end in ends[:-1]:
        rule(float(end), color=INK, linewidth=0.8)
    ax.tick_params(axis=axis, length=0)


def _frame(ax: Axes) -> None:
    for side in ax.spines.values():
        side.set(visible=True, linewidth=0.6, color=INK)


def draw_cells(ax: Axes, values: NDArray[np.float64], *, colours: str, bound: float) -> None:
    """Draw ``values`` as unit squares, row 0 at the top.

    Cells of one colour are one shape, and neighbours in a row are one rectangle of it: a browser
    would smear an image and leave hairlines between separate squares.

    Args:
        ax: Axes to draw into; its limits become the edges of the matrix.
        values: Matrix, shape (rows, columns), finite.
        colours: Name of a matplotlib colour map.
        bound: Values from ``-bound`` to ``bound`` span the map (from 0 where none is negative).
    """
    from matplotlib import colormaps
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    rows, columns = values.shape
    low = -bound if (values < 0).any() else 0.0
    levels = np.rint((values - low) / (bound - low) * (LEVELS - 1)).astype(int)
    for level in np.unique(levels):
        corners = [_rectangle(*run) for run in _runs(levels == level)]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(corners)
        shape = Path(np.concatenate(corners), codes)
        colour = colormaps[colours](level / (LEVELS - 1))
        ax.add_patch(PathPatch(shape, facecolor=colour, linewidth=0, antialiased=False))
    ax.set(xlim=(0, columns), ylim=(rows, 0))


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return (row, first column, column after the last) of every run of True."""
    edges = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    return [(row, first, last) for (row, first), (_, last) in zip(starts, ends, strict=True)]


def _rectangle(row: int, first: int, last: int) -> NDArray[np.float64]:
    return np.array(
        [(first, row), (last, row), (last, row + 1), (first, row + 1), (first, row)], dtype=float
    )
