"""The figures of a derivation and its validation, from plain arrays and labels.

Every function draws into ``ax`` where one is given and into a new figure otherwise, and returns
the axes; :func:`symreln.report.drawing.drawing` turns them into files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.report.cells import gate_pattern
from symreln.report.drawing import (
    FAINT,
    FONT_SIZE,
    INK,
    PALETTE,
    check_shape,
    dress,
    legend_outside,
    line_style,
    log_scale,
    new_axes,
    plain,
    stack,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class PathwayModes:
    """Mode strengths of one pathway over time.

    Attributes:
        label: Name of the pathway.
        times: Shape (T,), in the unit of the axis label.
        strengths: Shape (R, T): one row a mode; NaN where it is not drawn.
        plateaus: Shape (R,): height that each mode grows to; NaN where it has none.
    """

    label: str
    times: NDArray[np.float64]
    strengths: NDArray[np.float64]
    plateaus: NDArray[np.float64] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class LossCurve:
    """A loss over time, with the spread between seeds where there is one.

    Attributes:
        label: What the curve is: "theory", "ReLU network".
        times: Shape (T,).
        loss: Shape (T,): for a network, the mean over seeds.
        low: Shape (T,): lower edge of the band.
        high: Shape (T,): upper edge of the band.
        drop_time: When the loss first falls below 0.9 of its start; marked where given.
        rival: Whether this is a prediction to compare with, drawn in grey.
    """

    label: str
    times: NDArray[np.float64]
    loss: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    drop_time: float | None = None
    rival: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class GateShare:
    """A class of gates and what it carries over time.

    Attributes:
        label: Name of the class.
        gate: One of its gates: "0" or "1" a sample.
        shares: Share of the units' weight, shape (T,).
    """

    label: str
    gate: str
    shares: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PathwaySpectrum:
    """Singular values of one pathway.

    Attributes:
        label: Name of the pathway.
        s: Singular values of Sigma^{yx}, one a mode.
        plateau: Height that each mode grows to, s/d or s/d_eff; NaN where it has none of its own.
        multiplicity: How many modes share each pair.
    """

    label: str
    s: tuple[float, ...]
    plateau: tuple[float, ...]
    multiplicity: tuple[int, ...]


@styled
def mode_trajectories(
    pathways: Sequence[PathwayModes], *, ax: Axes | None = None, time_label: str = r"time $t$"
) -> Axes:
    r"""Draw the strengths :math:`\pi_\alpha(t)`: a colour a pathway, a thin line a plateau."""
    ax = ax or new_axes(2.6)[0]
    for index, pathway in enumerate(pathways):
        style = line_style(index)
        check_shape(pathway.label, pathway.strengths, (len(pathway.strengths), len(pathway.times)))
        for mode, strength in enumerate(pathway.strengths):
            label = plain(pathway.label) if mode == 0 else None
            ax.plot(pathway.times, strength, linewidth=1.4, label=label, **style)
        levels = np.array([]) if pathway.plateaus is None else pathway.plateaus
        for level in np.unique(levels[np.isfinite(levels)]):
            _plateau_line(ax, pathway, float(level), PALETTE[index % len(PALETTE)])
    dress(ax, x=time_label, y=r"mode strength $\pi_\alpha(t)$")
    ax.set_ylim(bottom=0)
    ax.margins(x=0.01)
    legend_outside(ax)
    return ax


def _plateau_line(ax: Axes, pathway: PathwayModes, level: float, colour: str) -> None:
    """Draw a thin line at a plateau, as long as the pathway's curves are drawn."""
    drawn = np.isfinite(pathway.strengths).any(axis=0)
    style = {"color": colour, "linewidth": 0.5, "alpha": 0.55}
    if drawn.all():
        ax.axhline(level, **style)
    elif drawn.any():
        times = pathway.times[drawn]
        ax.plot([times[0], times[-1]], [level, level], **style)


@styled
def loss_curves(
    curves: Sequence[LossCurve],
    *,
    axes: tuple[Axes, Axes] | None = None,
    time_label: str = r"time $t$ (full-batch steps)",
    unit: str = "mean over samples",
) -> tuple[Axes, Axes]:
    """Draw losses on a linear and a logarithmic scale, side by side.

    The theory is drawn last, so that a network's curve below it can be judged by what shows.

    Args:
        curves: What is drawn.
        axes: Where; new ones by default.
        time_label: Name of the time axis.
        unit: Over what the losses are taken.
    """
    linear, logarithmic = axes or new_axes(2.5, 2)
    for ax in (linear, logarithmic):
        for index, curve in enumerate(curves):
            _loss_curve(ax, curve, index)
        ax.margins(x=0.01)
    dress(linear, x=time_label, y=f"loss $L(t)$ ({unit})")
    dress(logarithmic, x=time_label, y="loss $L(t)$, logarithmic")
    linear.set_ylim(bottom=0)
    log_scale(logarithmic)
    for index, curve in enumerate(curves):
        if curve.drop_time is not None:
            colour = FAINT if curve.rival else PALETTE[index % len(PALETTE)]
            _mark_drop(linear, curve.drop_time, colour)
    legend_outside(linear)
    return linear, logarithmic


def _loss_curve(ax: Axes, curve: LossCurve, index: int) -> None:
    check_shape(curve.label, curve.loss, curve.times.shape)
    style = line_style(index) | ({"color": FAINT, "linestyle": (0, (3, 2))} if curve.rival else {})
    ax.plot(curve.times, curve.loss, linewidth=1.4, label=plain(curve.label), **style)
    if curve.low is not None and curve.high is not None:
        ax.fill_between(
            curve.times, curve.low, curve.high, color=style["color"], alpha=0.22, linewidth=0
        )


def _mark_drop(ax: Axes, time: float, colour: str) -> None:
    """Mark the time of the first drop by a small triangle on the axis."""
    ax.plot(
        [time],
        [0.0],
        marker="^",
        markersize=5,
        color=colour,
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
    time_label: str = r"time $t$ (full-batch steps)",
) -> tuple[Axes, Axes]:
    """Draw gates as a pattern and, beside it, their shares over time, stacked.

    Args:
        classes: What is drawn, the first at the bottom.
        times: Shape (T,).
        groups: Label and number of samples of each run of columns, such as a context.
        time_label: Name of the time axis.
    """
    pattern, shares = new_axes(2.6, 2)
    gates = np.array([list(each.gate) for each in classes]) == "1"
    gate_pattern(gates, [each.label for each in classes], groups=groups, ax=pattern)
    colours = stack(shares, times, np.array([each.shares for each in classes]))
    total = np.sum([each.shares for each in classes], axis=0)
    shares.fill_between(times, total, 1, color=FAINT, alpha=0.35, linewidth=0)
    for tick, colour in zip(pattern.get_yticklabels(), colours, strict=True):
        tick.set_color(colour)
    dress(shares, x=time_label, y="share of the weight")
    # Gates settle early and move within a few growth times: equal ratios of time show it.
    shares.set_xscale("log")
    shares.set_xlim(left=max(times[-1] / 1000, 1))
    return pattern, shares


@dataclass(frozen=True, kw_only=True, eq=False)
class LawShares:
    """A share of the weight by the law of gates, and in trained networks.

    Attributes:
        title: What the share is of.
        predicted: By order, shape (orders, K).
        measured: Of every network, shape (seeds, K).
    """

    title: str
    predicted: NDArray[np.float64]
    measured: NDArray[np.float64]


@styled
def law_shares(
    panels: Sequence[LawShares],
    times: NDArray[np.float64],
    *,
    time_label: str = r"time $t$ (full-batch steps)",
) -> tuple[Axes, ...]:
    """Draw shares of gates by the law, a line an order, beside those of networks.

    Args:
        panels: What is drawn, a panel each.
        times: Shape (K,).
        time_label: Name of the time axis.
    """
    axes = new_axes(2.4, len(panels))
    orders = ("first", "second", "third", "fourth")
    for ax, panel in zip(axes, panels, strict=True):
        for index, share in enumerate(panel.predicted):
            ax.plot(times, share, label=f"law, {orders[index]} order", **line_style(index))
        mean, low, high = (f(panel.measured, axis=0) for f in (np.mean, np.min, np.max))
        ax.errorbar(
            times,
            mean,
            yerr=np.array([mean - low, high - mean]),
            fmt="o",
            markersize=3,
            color=FAINT,
            elinewidth=0.8,
            label="networks",
        )
        dress(ax, title=panel.title, x=time_label, y="share of the weight")
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_ylim(-0.03, 1.03 if panel is panels[0] else None)
    legend_outside(axes[-1])
    return tuple(axes)


@styled
def singular_values(
    pathways: Sequence[PathwaySpectrum], *, height: str = "s/d"
) -> tuple[Axes, ...]:
    """Draw each pathway's s (speed) and plateau as stems, with multiplicities above 1.

    Args:
        pathways: What is drawn.
        height: Mathtext of what the plateaus are, without dollars.

    Returns:
        The panel of speeds and, where some mode has a plateau, that of plateaus.
    """
    some = any(np.isfinite(pathway.plateau).any() for pathway in pathways)
    titles = ("speed: $s$", f"plateau: ${height}$")[: 1 + some]
    axes = new_axes(2.3, len(titles))
    for ax, title in zip(axes, titles, strict=True):
        start = 0.0
        centres: list[float] = []
        for index, pathway in enumerate(pathways):
            heights = np.array(pathway.s if ax is axes[0] else pathway.plateau)
            places = start + np.arange(len(heights), dtype=np.float64)
            _stems(ax, places, heights, pathway.multiplicity, PALETTE[index % len(PALETTE)])
            centres.append(float(places.mean()) if len(places) else start)
            start += len(heights) + 1.2
        names = [plain(pathway.label) for pathway in pathways]
        crowded = sum(map(len, names)) > 80 // len(axes)
        ax.set_xticks(centres, names, rotation=25 * crowded, ha="right" if crowded else "center")
        dress(ax, title=title)
        ax.tick_params(axis="x", length=0)
        ax.set_ylim(bottom=0)
        ax.margins(y=0.18)
    return tuple(axes)


def _stems(
    ax: Axes,
    places: NDArray[np.float64],
    heights: NDArray[np.float64],
    multiplicity: tuple[int, ...],
    colour: str,
) -> None:
    ax.vlines(places, 0, heights, color=colour, linewidth=1.2)
    ax.plot(places, heights, "o", color=colour, markersize=4, clip_on=False)
    for place, height, count in zip(places, heights, multiplicity, strict=True):
        if count > 1 and np.isfinite(height):
            ax.annotate(
                f"×{count}",
                (place, height),
                xytext=(0, 4),
                textcoords="offset points",
                ha="center",
                fontsize=FONT_SIZE - 2,
                color=INK,
            )
