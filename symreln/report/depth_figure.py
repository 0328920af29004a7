"""Deep networks compared, as files; the figure: bands of losses, distributions of their falls."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from symreln.base.jsonio import dumps
from symreln.base.provenance import library_versions
from symreln.experiment.distributions import MOMENTS, SIGNIFICANT, crossing_times, spread_moments
from symreln.report import html
from symreln.report.chapters.depth import NAME, depth_document
from symreln.report.drawing import (
    FONT_SIZE,
    TEXT_WIDTH,
    drawing,
    dress,
    legend_below,
    plain,
    styled,
)
from symreln.report.figures import TIME
from symreln.report.folder import npz
from symreln.report.looks import DASHES, FAINT, INK, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.document.model import Drawing
    from symreln.experiment.depth import DepthComparison
    from symreln.experiment.distributions import CrossingComparison

FORMAT = "symreln-depth/2"
#: Points of a drawn curve.
POINTS = 400
#: Levels whose crossing times are drawn.
DRAWN = (0.9, 0.5, 0.25)
HEIGHT = 3.0  # inches


def depth_files(found: DepthComparison) -> dict[str, str | bytes]:
    """Return curves.npz, depth.svg, depth.html and, last, depth.json."""
    figure = _depth_drawing(found)
    return {
        "curves.npz": _curves(found),
        "depth.svg": figure.svg,
        "depth.html": html.render(depth_document(found, figure)),
        "depth.json": dumps(depth_to_json(found)),
    }


def depth_to_json(found: DepthComparison) -> dict[str, Any]:
    """Return depth.json."""
    return {
        "format": FORMAT,
        "title": found.spec.title,
        "source": found.spec.source,
        "seeds": found.seeds,
        "rng": found.rng,
        "network": {
            **asdict(found.relu.settings),
            "widths": list(found.widths),
            "samples": found.spec.dataset.samples,
        },
        "gated_units": found.units,
        "free_constants": found.free_constants,
        "curves": asdict(found.curves),
        "crossings": [_crossing(each) for each in found.crossings],
        "switching": _switching(found),
        "first_drop": _first_drop(found),
        "scatter": found.scatter,
        "differ": found.differ,
        "not_tested": found.uninformative,
        "too_few_seeds": found.too_few,
        "significant": SIGNIFICANT,
        "versions": library_versions(),
    }


def _switching(found: DepthComparison) -> dict[str, Any] | None:
    """Return what is said of gated networks whose gates switch."""
    if found.switching is None or found.switched is None:
        return None
    return {
        "curves": asdict(found.switched),
        "crossings": [_crossing(each) for each in found.switched_crossings],
        "open_units": [list(each) for each in found.switching.units],
        "readings": [list(each) for each in found.switching.readings],
    }


def _first_drop(found: DepthComparison) -> dict[str, Any] | None:
    """Return first drops of the ReLU networks beside those of their early phases."""
    drop = found.first_drop
    if drop is None:
        return None
    return {
        "predicted": [_step(time) for time in drop.predicted],
        "trained": [_step(time) for time in drop.trained],
        "correlation": drop.correlation,
        "mean_gap": drop.gap,
        "standard_deviation_of_gap": drop.spread,
    }


def _crossing(found: CrossingComparison) -> dict[str, Any]:
    one, other = ([_step(time) for time in times] for times in found.times)
    shift, ratio = (
        None if each is None else asdict(each) for each in (found.shift, found.spread_ratio)
    )
    return {
        "level": found.level,
        "steps": {"relu": one, "gdln": other},
        "distance": found.distance,
        "p": found.p,
        "shift_of_median": shift,
        "ratio_of_spreads": ratio,
    }


def _step(time: float) -> int | None:
    return int(time) if np.isfinite(time) else None


def _curves(found: DepthComparison) -> bytes:
    """Return all losses at the steps at which whole curves are compared."""
    pooled = np.concatenate([found.relu.losses, found.gdln.losses])
    steps = spread_moments(pooled.mean(axis=0), MOMENTS)
    runs = {"relu": found.relu, "gdln": found.gdln, "one_hidden_layer": found.shallow}
    losses = {name: run.losses for name, run in runs.items()}
    if found.switching is not None:
        losses["switching"] = found.switching.losses
    return npz({name: curves[:, steps] for name, curves in losses.items()} | {"steps": steps})


@styled
def _depth_drawing(found: DepthComparison) -> Drawing:
    """Draw the distributions of a comparison."""
    depth = len(found.widths)
    shallow = {"color": FAINT, "linewidth": 1.3, "linestyle": DASHES[1], "zorder": 2}
    kinds = [
        (f"ReLU network, {depth} hidden layers", found.relu.losses, look("relu")),
        ("gated network, fixed gates", found.gdln.losses, look("gdln")),
        ("ReLU network, one hidden layer", found.shallow.losses, shallow),
    ]
    if found.switching is not None:
        losses = found.switching.losses * found.relu.losses[:, :1]
        kinds.append(("gated network, switching gates", losses, look("theory")))
    figure = Figure(figsize=(TEXT_WIDTH, HEIGHT), dpi=72)
    grid = figure.add_gridspec(1, 2, left=0.08, right=0.98, top=0.91, bottom=0.27, wspace=0.22)
    left, right = (figure.add_subplot(grid[0, place]) for place in range(2))
    for name, losses, style in kinds:
        _band(left, losses, name, style)
        for level in DRAWN:
            _distribution(right, crossing_times(losses, level), losses.shape[1], style)
    for level in DRAWN:
        _name_level(right, level, crossing_times(found.relu.losses, level))
    left.set_ylim(bottom=0)
    right.set_ylim(0, 1.02)
    levels = ", ".join(f"{level:g}" for level in DRAWN)
    dress(left, x=TIME, y="loss $L(t)$")
    dress(right, x=TIME, y=f"share with a loss below {levels} of $L(0)$")
    legend_below(left)
    return drawing(NAME, left, pdf=False)


def _band(panel: Axes, losses: np.ndarray, name: str, style: dict[str, Any]) -> None:
    steps = np.unique(np.linspace(0, losses.shape[1] - 1, POINTS).astype(int))
    low, middle, high = np.quantile(losses[:, steps], (0.05, 0.5, 0.95), axis=0)
    panel.fill_between(steps, low, high, color=style["color"], alpha=0.18, linewidth=0)
    panel.plot(steps, middle, label=plain(name), **style)


def _distribution(panel: Axes, times: np.ndarray, end: int, style: dict[str, Any]) -> None:
    reached = np.sort(times[np.isfinite(times)])
    if not len(reached):
        return
    share = np.arange(1, len(reached) + 1) / len(times)
    panel.step([reached[0], *reached, end - 1], [0, *share, share[-1]], where="post", **style)


def _name_level(panel: Axes, level: float, times: np.ndarray) -> None:
    """Write a level above the last network that falls to it."""
    reached = times[np.isfinite(times)]
    if len(reached):
        panel.annotate(
            f"{level:g}", (float(reached.max()), len(reached) / len(times)), xytext=(0, 4),
            textcoords="offset points", ha="center", fontsize=FONT_SIZE - 1, color=INK,
            annotation_clip=False,
        )  # fmt: skip
