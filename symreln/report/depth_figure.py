"""Deep networks compared, as files; the figure: bands of losses, distributions of their falls."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.jsonio import dumps
from symreln.base.provenance import library_versions
from symreln.experiment.distributions import MOMENTS, SIGNIFICANT, crossing_times, spread_moments
from symreln.report import html
from symreln.report.chapters.depth import NAME, depth_document
from symreln.report.folder import npz
from symreln.report.looks import DASHES, FAINT, look
from symreln.report.plots import TIME, thinned
from symreln.report.sketch import Curve, Panel, Sketch

if TYPE_CHECKING:
    from symreln.document.model import Drawing
    from symreln.experiment.depth import DepthComparison
    from symreln.experiment.distributions import CrossingComparison

FORMAT = "symreln-depth/2"
#: Levels whose crossing times are drawn.
_DRAWN = (0.9, 0.5, 0.25)


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
        "differ": found.differ,
        "not_tested": found.uninformative,
        "too_few_seeds": found.seeds < found.curves.least,
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
    bands = tuple(_band(*kind) for kind in kinds)
    shares = [
        _distribution(losses, level, style, name=f"{level:g}" * (losses is found.relu.losses))
        for _, losses, style in kinds
        for level in _DRAWN
    ]
    said = f"share with a loss below {', '.join(f'{level:g}' for level in _DRAWN)} of $L(0)$"
    sketch = Sketch.of(
        NAME,
        Panel(x=TIME, y="loss $L(t)$", curves=bands),
        Panel(x=TIME, y=said, curves=tuple(shares), top=1.02),
        height=2.6,
    )
    return sketch.draw(pdf=False)


def _band(name: str, losses: np.ndarray, style: dict[str, Any]) -> Curve:
    steps = thinned(np.arange(losses.shape[1]))
    low, middle, high = np.quantile(losses[:, steps], (0.05, 0.5, 0.95), axis=0)
    return Curve(x=steps, y=middle, style=style, label=name, low=low, high=high)


def _distribution(losses: np.ndarray, level: float, style: dict[str, Any], name: str) -> Curve:
    """Return the share of networks whose loss has fallen below a level, over time."""
    times = crossing_times(losses, level)
    reached = np.sort(times[np.isfinite(times)])
    share = np.arange(1, len(reached) + 1) / len(times)
    x = np.array([*reached[:1], *reached, losses.shape[1] - 1.0])
    y = np.array([*[0.0] * len(reached[:1]), *share, len(reached) / len(times)])
    return Curve(x=x, y=y, style=style | {"drawstyle": "steps-post"}, name=name)
