"""Figures of races, of shares over training, and of replays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from symreln.document.mathtext import slashed_latex
from symreln.document.model import Drawing
from symreln.document.symbols import symbol_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.gating.confronted import RacePoint
from symreln.gating.race_pieces import PhaseBoundary, Race
from symreln.gating.race_report import RaceReport
from symreln.gating.replay import ReplayReport
from symreln.gating.serialise import Result
from symreln.report.drawing import (
    FONT_SIZE,
    TEXT_WIDTH,
    drawing,
    dress,
    legend_below,
    log_scale,
    new_axes,
    plain,
    styled,
)
from symreln.report.looks import FAINT, INK, PALETTE, line_style

#: Values of the parameter in an interval at which lines are drawn.
_DRAWN = 60
#: Dashes of a boundary by its kind.
_KINDS = {"speed": "-", "existence": (0, (1.5, 1.5))}


@singledispatch
def figure_of(result: Result) -> Drawing | None:
    """Draw a result of ``symreln gates``, ``race`` or ``replay``; None where nothing is drawn."""
    return None


@figure_of.register
@styled
def _race(found: RaceReport) -> Drawing | None:
    """Draw speeds, boundaries and, where networks were trained, their shares below."""
    race, points = found.race, found.points
    if not race.parameter:
        return None
    panels = _panels(3 if points else 1)
    _draw_speeds(panels[0], found)
    if points:
        _draw_shares(panels[1:], race, points)
    _mark(panels, race.boundaries)
    panels[-1].set_xlabel(f"${symbol_latex(race.parameter)}$", fontsize=FONT_SIZE)
    panels[0].margins(x=0.01)
    handles, labels = panels[0].get_legend_handles_labels()
    for kind in dict.fromkeys(mark.kind for mark in race.boundaries):
        handles.append(Line2D([], [], color=INK, linewidth=0.7, linestyle=_KINDS[kind]))
        labels.append(f"{kind} boundary")
    if points:
        handles.append(Line2D([], [], color=INK, marker="o", markersize=3.5, linewidth=0))
        labels.append("dots: trained networks, ± std; crosses: at infinite width")
    return _finished("race", panels[0], handles, labels, 3)


def _draw_speeds(ax: Axes, found: RaceReport) -> None:
    race = found.race
    intervals = [
        (part, np.linspace(*race.ends(place), _DRAWN + 2)[1:-1])
        for place, part in enumerate(race.pieces)
        if not part.piece.is_root
    ]
    drawn = 0
    for name, alike in race.classes.items():
        # A gap where the gate ends: nan breaks the line.
        lines = [
            (np.append(inner, np.nan), [*_along(runner.rate, race.parameter, inner), np.nan])
            for part, inner in intervals
            for runner in part.runners
            if runner.pattern == name and runner.rate is not None
        ]
        if lines:
            more = f", orbit of size {len(alike)}" if len(alike) > 1 else ""
            x, y = (np.concatenate(parts) for parts in zip(*lines, strict=True))
            label = plain(race.names[name] + more)
            ax.plot(x, y, label=label, linewidth=1.4, **line_style(drawn))
            drawn += 1
    everywhere = np.concatenate([inner for _, inner in intervals])
    for other in found.beside:
        if other.speed is not None and not other.realisable:
            label = f"{plain(f'{other.name}, {other.pattern}')}: no ReLU unit can have it"
            speeds = _along(other.speed, race.parameter, everywhere)
            ax.plot(
                everywhere, speeds, label=label, linewidth=1.4, color=FAINT, linestyle=(0, (4, 2))
            )
    ax.set_ylim(bottom=0)
    dress(ax, y=r"speed $s$  ($1/\tau$)")


def _along(rate: AlgebraicNumber, parameter: str, values: np.ndarray) -> list[float]:
    at = (Fraction(float(value)).limit_denominator(10_000) for value in values)
    return [rate.to_float({parameter: value}) for value in at]


def _draw_shares(panels: Sequence[Axes], race: Race, points: Sequence[RacePoint]) -> None:
    """Draw shares of the weight and of the units."""
    values = [float(point.value or 0) for point in points]
    for place, name in enumerate(race.classes):
        own = [each for point in points for each in point.classes if each.pattern == name]
        colour = PALETTE[place % len(PALETTE)]
        panels[0].errorbar(
            values, [each.measured for each in own], yerr=[each.spread for each in own], fmt="o",
            markersize=3.5, color=colour, elinewidth=0.8, capsize=2, linewidth=0,
        )  # fmt: skip
        wide = [np.nan if each.predicted is None else each.predicted for each in own]
        panels[0].plot(values, wide, "x", markersize=4.5, color=colour)
        panels[1].plot(values, [each.units for each in own], "o", markersize=3.5, color=colour)
    for panel, whose in zip(panels, ("weight", "units"), strict=True):
        dress(panel, y=f"share of {whose}")
        panel.set_ylim(-0.04, 1.04)


def _mark(panels: Sequence[Axes], boundaries: Sequence[PhaseBoundary]) -> None:
    """Draw boundaries through all panels, and their values above the first."""
    named: set[float] = set()
    for mark in boundaries:
        value = float(mark.value)
        for panel in panels:
            panel.axvline(value, color=INK, linewidth=0.7, linestyle=_KINDS[mark.kind], zorder=0)
        if value not in named:
            label = slashed_latex(mark.value.to_sympy())
            panels[0].annotate(
                f"${label}$", (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
                textcoords="offset points", ha="center", fontsize=FONT_SIZE - 1,
            )  # fmt: skip
        named.add(value)


def _panels(count: int) -> list[Axes]:
    """Return panels one below the other, with one horizontal axis."""
    heights = [1.6, 1.1, 0.8][:count]
    figure = Figure(figsize=(TEXT_WIDTH, 1.3 + 1.35 * sum(heights)), layout="constrained", dpi=72)
    grid = figure.add_gridspec(count, 1, height_ratios=heights)
    panels: list[Axes] = []
    for row in range(count):
        panels.append(figure.add_subplot(grid[row, 0], sharex=panels[0] if panels else None))
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
    return panels


def _finished(name: str, ax: Axes, handles: list, labels: list, columns: int) -> Drawing:
    """Add a legend below all and lay the figure out: the common arranging is for one row."""
    legend_below(ax, handles, labels, columns=columns)
    figure = ax.figure.figure
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
    return drawing(name, ax, pdf=False)


@figure_of.register
@styled
def _replay(found: ReplayReport) -> Drawing | None:
    """Draw replay errors by windows, a line for each number of gates."""
    if not found.curve:
        return None
    (panel,) = new_axes(3.0)
    for place, count in enumerate(dict.fromkeys(point.clusters for point in found.curve)):
        line = sorted((p.windows, 100 * p.mean) for p in found.curve if p.clusters == count)
        panel.plot(
            *zip(*line, strict=True),
            label="each unit its own" if count is None else f"$K = {count}$",
            marker="o",
            markersize=3,
            linewidth=1.3,
            **line_style(place),
        )
    own, floor = 100 * found.spec.mean, 100 * found.seed_floor
    panel.axhline(own, linestyle="-.", color=FAINT, linewidth=1.2, label="gates of the spec")
    panel.axhline(floor, color=FAINT, linewidth=3, alpha=0.5, label="other seeds")
    log_scale(panel, of="x")
    log_scale(panel)
    dress(
        panel,
        x="time windows $W$",
        y=r"$\max_t |\Delta L|/L(0)$, %",
        title="Replay against the network",
    )
    panel.tick_params(labelsize=FONT_SIZE - 1)
    legend_below(panel)
    return drawing("replay", panel, pdf=False)
