"""Places of axes and legends in a figure, found in one pass.

Matplotlib's constrained layout finds them in several, each of which measures every word; that is
most of the time that a small figure takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAD = 4.0  # points between what belongs to different axes, and at the figure's edge
_LEAST = 0.1  # share of the figure that axes keep, however long their labels are


def arrange(figure: Figure) -> None:
    """Give the axes of ``figure``, one row, the room that their labels and the legend leave.

    Labels are measured where the axes stand now; a figure that was arranged once does not change.

    Args:
        figure: Its axes share one grid of one row; a legend stands at its right edge.
    """
    figure.set_layout_engine("none")
    axes = figure.axes
    scale = figure.dpi / 72
    width, height = figure.bbox.width, figure.bbox.height
    renderer = FigureCanvasAgg(figure).get_renderer()
    legend = max((box.get_window_extent(renderer).width for box in figure.legends), default=0.0)
    around = np.array([_overhangs(ax, renderer) for ax in axes]) + _PAD * scale
    left, bottom, right, top = around.T
    room = max(width - legend - float((left + right).sum()), _LEAST * width)
    grid = axes[0].get_gridspec()
    ratios = np.array(grid.get_width_ratios() if grid else [1.0] * len(axes), dtype=float)
    widths = room * ratios / ratios.sum()
    below = float(bottom.max())
    tall = max(height - below - float(top.max()), _LEAST * height)
    start = 0.0
    for ax, before, after, wide in zip(axes, left, right, widths, strict=True):
        start += before
        ax.set_position((start / width, below / height, wide / width, tall / height))
        start += wide + after


def _overhangs(ax: Axes, renderer: object) -> tuple[float, float, float, float]:
    """Return how far labels, ticks and insets reach out: left, below, right, above, in pixels."""
    outer = ax.get_tightbbox(renderer)  # pyright: ignore[reportArgumentType]
    inner = ax.get_window_extent()
    if outer is None:
        return 0.0, 0.0, 0.0, 0.0
    reach = (inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1)
    left, below, right, above = (max(0.0, float(side)) for side in reach)
    return left, below, right, above
