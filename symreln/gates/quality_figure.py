"""The figure of ``symreln replay --curve``: replay error against the number of time windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symreln.gates.quality import QualityPoint
from symreln.report.drawing import (
    FAINT,
    FONT_SIZE,
    drawing,
    dress,
    legend_outside,
    line_style,
    new_axes,
    styled,
)

if TYPE_CHECKING:
    from symreln.document.model import Drawing


@styled
def quality_figure(
    points: Sequence[QualityPoint], floor: float | None, given: float | None
) -> Drawing:
    """Draw a line for each number of gates, and what networks of other seeds differ by.

    Args:
        points: Errors by number of gates and windows.
        floor: The seed floor, or None.
        given: Error of the spec's own gates, or None.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    (panel,) = new_axes(3.0)
    numbers = list(dict.fromkeys(point.clusters for point in points))
    for place, count in enumerate(numbers):
        line = sorted((p.windows, p) for p in points if p.clusters == count)
        label = "each unit its own" if count is None else f"K = {count}"
        panel.plot(
            [windows for windows, _ in line],
            [100 * point.mean for _, point in line],
            label=label,
            marker="o",
            markersize=3,
            linewidth=1.3,
            **line_style(place),
        )
    if given is not None:
        panel.axhline(
            100 * given, linestyle="-.", color=FAINT, linewidth=1.2, label="gates of the spec"
        )
    if floor is not None:
        panel.axhline(100 * floor, color=FAINT, linewidth=3, alpha=0.5, label="other seeds")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    dress(panel, x="time windows W", y="max |ΔL|/L(0), %", title="Replay against the network")
    panel.tick_params(labelsize=FONT_SIZE - 1)
    legend_outside(panel)
    return drawing("replay", panel, pdf=False)
