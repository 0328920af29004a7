"""The figures of a derivation and its validation, from plain arrays and labels.

Every function draws into ``ax`` where one is given and into a new figure otherwise, and returns
the axes; :func:`symreln.report.drawing.drawing` turns them into files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symreln.document.words import letter
from symreln.report.cells import gate_pattern
from symreln.report.curve_labels import label_curves
from symreln.report.drawing import (
    FONT_SIZE,
    check_shape,
    dress,
    legend_below,
    legend_inside,
    log_scale,
    new_axes,
    plain,
    stack,
    styled,
)
from symreln.report.looks import (
    FAINT,
    GROUND,
    INK,
    PALETTE,
    Role,
    line_style,
    look,
    measured_look,
    points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from symreln.report.sketch import GateShare, LossCurve, PathwayModes, Vectors


#: Rows of a heat map up to which they have names, and characters of one.
_MOST_NAMES, _LONGEST_NAME = 16, 14


TIME = r"time $t$ (full-batch steps)"
#: As the closed form of L(t) is printed, whatever the training descends.
LOSS = "loss $L(t)$ (mean over samples)"
_ROW = 0.17  # inches that a row of a legend takes
_COLUMNS = 3  # of a legend below
_NAMES = 0.12  # share of given axes that names of curves take at the right


@styled
def mode_trajectories(pathways: Sequence[PathwayModes], *, ax: Axes | None = None) -> Axes:
    r"""Draw the strengths :math:`\pi_\alpha(t)`: a colour and dashes a pathway.

    A thin line is a plateau, a marker a strength in trained networks. Curves are named where
    there is room.

    Args:
        pathways: What is drawn.
        ax: Where; a new figure by default.
    """
    measured: dict[str, Role] = {
        found.label: found.role for each in pathways for found in each.measured
    }
    rows = -(-(len(pathways) + len(measured)) // _COLUMNS)
    shown = ax or new_axes(2.6 + _ROW * rows)[0]
    named = []
    for index, pathway in enumerate(pathways):
        style = line_style(index)
        check_shape(pathway.label, pathway.strengths, (len(pathway.strengths), len(pathway.times)))
        for mode, strength in enumerate(pathway.strengths):
            label = _pathway_label(pathway) if mode == 0 else None
            shown.plot(pathway.times, strength, linewidth=1.4, label=label, **style)
        levels = np.array([]) if pathway.plateaus is None else pathway.plateaus
        for level in np.unique(levels[np.isfinite(levels)]):
            colour = PALETTE[index % len(PALETTE)]
            _plateau_line(shown, pathway, float(level), colour, across=ax is None)
        for found in pathway.measured:
            for strength in found.strengths:
                shown.plot(found.steps, strength, **measured_look(found.role))
        named += [
            (symbol, pathway.times, strength)
            for symbol, strength in zip(pathway.symbols, pathway.strengths, strict=False)
        ]
    for label, role in measured.items():
        shown.plot([], [], label=plain(label), **measured_look(role))
    dress(shown, x=TIME, y=r"mode strength $\pi_{p,\alpha}(t)$")
    shown.margins(x=0.01)
    shown.set_ylim(bottom=0)
    if ax is not None and named:  # names stay inside: what is beside the axes is another's
        left, right = shown.get_xlim()
        shown.set_xlim(right=right + _NAMES * (right - left))
    label_curves(shown, named)
    if ax is None:
        legend_below(shown, columns=_COLUMNS)
    else:
        legend_inside(shown)
    return shown


def _pathway_label(pathway: PathwayModes) -> str:
    name = plain(pathway.label)
    return f"{name} (${pathway.number}$)" if pathway.number else name


def _plateau_line(
    ax: Axes, pathway: PathwayModes, level: float, colour: str, *, across: bool
) -> None:
    """Draw a thin line at a plateau: across the axes, or as long as the curves are drawn."""
    drawn = np.isfinite(pathway.strengths).any(axis=0)
    style = {"color": colour, "linewidth": 0.5, "alpha": 0.55}
    if across and drawn.all():
        ax.axhline(level, **style)
    elif drawn.any():
        times = pathway.times[drawn]
        ax.plot([times[0], times[-1]], [level, level], **style)


@styled
def loss_curve(curves: Sequence[LossCurve], ax: Axes) -> Axes:
    """Draw losses on a linear scale into given axes."""
    _draw_losses(ax, curves, log=False)
    dress(ax, x=TIME, y=LOSS)
    legend_inside(ax)
    return ax


@styled
def loss_curves(curves: Sequence[LossCurve]) -> tuple[Axes, Axes]:
    """Draw losses on a linear and a logarithmic scale, side by side."""
    linear, logarithmic = new_axes(2.3 + _ROW * -(-len(curves) // _COLUMNS), 2)
    _draw_losses(linear, curves, log=False)
    _draw_losses(logarithmic, curves, log=True)
    dress(linear, x=TIME, y=LOSS)
    dress(logarithmic, x=TIME, y="loss $L(t)$, logarithmic")
    legend_below(linear, columns=_COLUMNS)
    return linear, logarithmic


def _draw_losses(ax: Axes, curves: Sequence[LossCurve], *, log: bool) -> None:
    """Draw losses and, on a linear scale, the times of their first drops."""
    for curve in curves:
        _loss_curve(ax, curve)
    ax.margins(x=0.01)
    if log:
        log_scale(ax)
        return
    ax.set_ylim(bottom=0)
    marked: list[float] = []
    for curve in curves:
        if curve.drop_time is not None:
            near = _NEAR * float(curve.times[-1] - curve.times[0])
            below = sum(abs(time - curve.drop_time) <= near for time in marked)
            _mark_drop(ax, curve.drop_time, _DROP * below, curve.role)
            marked.append(curve.drop_time)


def _loss_curve(ax: Axes, curve: LossCurve) -> None:
    check_shape(curve.label, curve.loss, curve.times.shape)
    style = look(curve.role)
    ax.plot(curve.times, curve.loss, label=plain(curve.label), **style)
    if curve.low is None or curve.high is None:
        return
    if curve.role == "relu":
        ax.fill_between(
            curve.times, curve.low, curve.high, color=style["color"], alpha=0.35, linewidth=0
        )
        return
    # Edges, not a second area: areas upon each other cannot be told apart in grey.
    dashes = style.get("linestyle", "-")
    for edge in (curve.low, curve.high):
        ax.plot(curve.times, edge, color=style["color"], linewidth=0.6, linestyle=dashes)


_NEAR, _DROP = 0.02, 0.05  # shares of the axes: marks within the first are apart by the second


def _mark_drop(ax: Axes, time: float, height: float, role: Role) -> None:
    """Mark the time of the first drop by a small triangle on the axis."""
    ax.plot(
        [time],
        [height],
        marker="^",
        markersize=5,
        color=look(role)["color"],
        markeredgecolor=INK,
        markeredgewidth=0.5,
        clip_on=False,
        transform=ax.get_xaxis_transform(),
        zorder=5,
    )


@styled
def gate_motion(
    classes: Sequence[GateShare],
    times: NDArray[np.float64],
    *,
    groups: Sequence[tuple[str, int]] = (),
) -> tuple[Axes, Axes]:
    """Draw gates as a pattern and, beside it, their shares over time, stacked.

    Args:
        classes: What is drawn, the first at the bottom.
        times: Shape (T,).
        groups: Label and number of samples of each run of columns, such as a context.
    """
    pattern, shares = new_axes(2.6, 2)
    gates = np.array([list(each.gate) for each in classes]) == "1"
    gate_pattern(gates, [each.label for each in classes], groups=groups, ax=pattern)
    carried = np.array([each.shares for each in classes])
    colours = stack(shares, times, carried)
    total = carried.sum(axis=0)
    shares.fill_between(times, total, 1, color=FAINT, alpha=0.35, linewidth=0)
    beside = pattern.get_yaxis_transform()
    for row, colour in enumerate(colours):
        pattern.plot(
            1.03, row + 0.5, "s", color=colour, markersize=5, transform=beside, clip_on=False
        )
    left = max(times[-1] / 1000, 1)
    _letter_areas(shares, times, carried, left)
    dress(shares, x=TIME, y="share of the weight")
    # Gates settle early and move within a few growth times: equal ratios of time show it.
    shares.set_xlim(left=left)
    log_scale(shares, of="x")
    return pattern, shares


def _letter_areas(
    ax: Axes, times: NDArray[np.float64], shares: NDArray[np.float64], left: float
) -> None:
    """Write the letter of every class into its area, where this has room for one."""
    if times[-1] <= left:
        return
    tops = shares.cumsum(axis=0)
    along = np.log(times.clip(min=left) / left) / np.log(times[-1] / left)
    for place, share in enumerate(shares):
        widest = int(np.argmax(np.where(along > 0, share, 0.0)))
        broad = along[share >= share[widest] / 2]
        if share[widest] >= _HIGH and np.ptp(broad) >= _BROAD:
            middle = float(tops[place, widest] - share[widest] / 2)
            ax.text(
                times[widest], middle, letter(place), ha="center", va="center",
                fontsize=FONT_SIZE - 1, color=GROUND, fontweight="bold",
            )  # fmt: skip


_HIGH, _BROAD = 0.09, 0.12  # shares of the axes from which an area has room for a letter


@styled
def law_shares(
    predicted: NDArray[np.float64],
    measured: NDArray[np.float64],
    times: NDArray[np.float64],
) -> Axes:
    """Draw the share of the weight with the first stage's gates, by the law and in networks.

    Args:
        predicted: By order, shape (orders, K).
        measured: Of every network, shape (seeds, K).
        times: Shape (K,).
    """
    (ax,) = new_axes(2.5)
    orders = ("first", "second", "third", "fourth")
    for index, share in enumerate(predicted):
        ax.plot(times, share, label=f"law, {orders[index]} order", **line_style(index))
    mean, low, high = (f(measured, axis=0) for f in (np.mean, np.min, np.max))
    # A mean of equal numbers is rounded, perhaps beyond all of them.
    reach = np.maximum(0, [mean - low, high - mean])
    ax.errorbar(
        times,
        mean,
        yerr=reach,
        ecolor=INK,
        elinewidth=0.6,
        label="trained networks, with their range",
        **points("relu"),
    )
    dress(ax, x=TIME, y="share of the weight")
    log_scale(ax, of="x")
    ax.set_ylim(-0.03 * 1.03, 1.03)
    legend_below(ax, columns=4)
    return ax


@styled
def singular_vectors(pathways: Sequence[Vectors]) -> tuple[Axes, ...]:
    """Draw each pathway's V and U as heat maps, a column a mode.

    Args:
        pathways: What is drawn.

    Returns:
        The panels, V and U of each pathway.
    """
    axes = new_axes(2.4, 2 * len(pathways))
    for place, each in enumerate(pathways):
        for ax, values, names, title in zip(
            axes[2 * place :], (each.v, each.u), each.names, ("$V$", "$U$"), strict=False
        ):
            scale = max(float(np.abs(values).max(initial=0)), 1e-300)
            ax.imshow(
                values, cmap="RdBu", vmin=-scale, vmax=scale, aspect="auto", interpolation="none"
            )
            dress(ax, title=f"{title}, {plain(each.label)}")
            shown = names if len(names) <= _MOST_NAMES else []
            ax.set_yticks(range(len(shown)), [plain(name, _LONGEST_NAME) for name in shown])
            columns = np.array([*each.widths.values()])
            ends = columns.cumsum()
            ax.set_xticks(ends - columns / 2 - 0.5, [*each.widths])
            ax.tick_params(labelsize=FONT_SIZE - 2, length=0)
            for end in ends[:-1]:
                ax.axvline(end - 0.5, color=GROUND, linewidth=1.2)
    return tuple(axes)
