"""Names of curves beside them: at their right end, or at their rise where ends coincide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from symreln.base.records import record
from symreln.report.looks import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Box = tuple[float, float, float, float]  # left, bottom, right, top

SIZE = 7.5  # points, of the names
_LINE = 9.0  # points from a name to the next at the right
_SAME_END = 2.0  # points within which ends cannot be told apart
_FAR = 1.3 * _LINE  # points that a name may stand above or below its curve's end
_BESIDE = 3.0  # points between a curve and its name
_AT_END = 0.02  # share of the width within which a curve ends at the right
#: Heights of the rise, as shares, at which a name may stand; the first that is free is taken.
_RISES = (0.5, 0.62, 0.38, 0.74, 0.26, 0.86, 0.14)


@record(eq=False)
class _Curve:
    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def label_curves(
    ax: Axes, curves: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]]
) -> list[str]:
    """Write the names of curves beside them where there is room; return those left out.

    Args:
        ax: With the curves and with its limits.
        curves: Name, times and values of each; the first are named first, those with no name not.
    """
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    extent = ax.get_window_extent()
    size = np.array([extent.width, extent.height]) * 72 / ax.figure.dpi
    placed = []
    for name, times, values in curves:
        seen = np.isfinite(values)
        if seen.any():
            x, y = (np.stack([times[seen], values[seen]], axis=1) - low).T / (high - low)[:, None]
            placed.append(_Curve(name=name, x=x * size[0], y=y * size[1]))
    named = [each for each in placed if each.name]
    edge = max((float(each.x[-1]) for each in named), default=0.0)
    heights = _at_right([each for each in named if each.x[-1] >= edge - _AT_END * size[0]])
    for curve in named:
        if curve.name in heights:
            _write_end(ax, curve, heights[curve.name], edge, size)
    return list(_at_rise(ax, [c for c in named if c.name not in heights], placed, size))


def _at_right(curves: Sequence[_Curve]) -> dict[str, float]:
    """Return how high names at the right stand, a line apart and near the ends of their curves."""
    ends = {each.name: float(each.y[-1]) for each in curves}
    chosen = sorted(
        (
            name
            for name, end in ends.items()
            if all(abs(end - other) > _SAME_END for key, other in ends.items() if key != name)
        ),
        key=ends.__getitem__,
    )
    while chosen:
        heights = _spread([ends[name] for name in chosen])
        moved = [abs(ends[name] - at) for name, at in zip(chosen, heights, strict=True)]
        if max(moved) <= _FAR:
            return dict(zip(chosen, heights, strict=True))
        del chosen[int(np.argmax(moved))]
    return {}


def _spread(ends: Sequence[float]) -> list[float]:
    """Return heights a line apart, as near to increasing ``ends`` as a mean of each group is."""
    groups: list[list[float]] = []  # of ends less the lines below them: equal within a group
    for place, end in enumerate(ends):
        groups.append([end - place * _LINE])
        while len(groups) > 1 and np.mean(groups[-2]) >= np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    level = [float(np.mean(group)) for group in groups for _ in group]
    return [each + place * _LINE for place, each in enumerate(level)]


def _write_end(
    ax: Axes, curve: _Curve, height: float, edge: float, size: NDArray[np.float64]
) -> None:
    end = float(curve.y[-1])
    line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 1}
    ax.annotate(
        curve.name,
        (curve.x[-1] / size[0], end / size[1]),
        xycoords="axes fraction",
        xytext=(2 * _BESIDE + edge - curve.x[-1], height - end),
        textcoords="offset points",
        va="center",
        fontsize=SIZE,
        color=INK,
        annotation_clip=False,
        arrowprops=line | {"relpos": (0, 0.5)} if abs(height - end) > 1 else None,
    )


def _at_rise(
    ax: Axes, curves: Sequence[_Curve], every: Sequence[_Curve], size: NDArray[np.float64]
) -> Iterator[str]:
    """Write names where curves rise and nothing is drawn; yield those that found no room."""
    taken: list[Box] = []
    for curve in curves:
        text = ax.text(0, 0, curve.name, fontsize=SIZE, color=INK, ha="left", va="center")
        extent = text.get_window_extent(FigureCanvasAgg(ax.figure.figure).get_renderer())
        wide, high = (float(v) * 72 / ax.figure.dpi for v in (extent.width, extent.height))
        boxes = _beside(curve, wide, high)
        free = next((box for box in boxes if _is_free(box, every, taken, size)), None)
        if free is None:
            text.remove()
            yield curve.name
            continue
        taken.append(free)
        text.set_transform(ax.transAxes)
        text.set_position((free[0] / size[0], (free[1] + free[3]) / 2 / size[1]))


def _beside(curve: _Curve, wide: float, high: float) -> Iterator[Box]:
    """Yield places of a name beside the rise of a curve, right of it and left of it."""
    first, top = float(curve.y[0]), float(curve.y.max())
    for share in _RISES:
        at = int(np.argmax(curve.y >= first + share * (top - first)))
        x, y = float(curve.x[at]), float(curve.y[at])
        for left in (x + _BESIDE, x - _BESIDE - wide):
            yield left, y - high / 2, left + wide, y + high / 2


def _is_free(
    box: Box, curves: Sequence[_Curve], taken: Sequence[Box], size: NDArray[np.float64]
) -> bool:
    left, bottom, right, top = box
    if left < 0 or bottom < 0 or right > size[0] or top > size[1]:
        return False
    if any(left < r and right > start and bottom < t and top > b for start, b, r, t in taken):
        return False
    return not any(_meets(curve, box) for curve in curves)


def _meets(curve: _Curve, box: Box) -> bool:
    """Return whether the rectangle around some piece of a curve meets a box."""
    left, bottom, right, top = box
    (x0, x1), (y0, y1) = (
        (np.minimum(v[:-1], v[1:]), np.maximum(v[:-1], v[1:])) for v in (curve.x, curve.y)
    )
    return bool(np.any((x0 < right) & (x1 > left) & (y0 < top) & (y1 > bottom)))
