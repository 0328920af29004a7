"""Deep ReLU networks beside a gated network of the same depth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from symreln.base.jsonio import dumps
from symreln.base.progress import phase
from symreln.base.provenance import library_versions
from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.base.tables import plain_table
from symreln.calls.answers import AbstractAnswer
from symreln.document.document_model import Drawing
from symreln.experiment.metrics import Interval
from symreln.experiment.representation import spread_moments
from symreln.lab import depth as depths
from symreln.lab.depth import DepthComparison
from symreln.lab.distributions import (
    MOMENTS,
    SIGNIFICANT,
    CrossingComparison,
    CurveTest,
    crossing_times,
)
from symreln.report.looks import DASHES, FAINT, look
from symreln.report.plots import TIME, thinned
from symreln.report.results_folder import npz
from symreln.report.sketch import Curve, Panel, Sketch
from symreln.specs.spec import Spec
from symreln.task_library.load import spec_of

_FORMAT = "symreln-depth/2"
#: Levels whose crossing times are drawn.
_DRAWN = (0.9, 0.5, 0.25)


@record(eq=False)
class DepthAnswer(AbstractAnswer):
    """What :func:`symreln.depth` found.

    Attributes:
        found: The distributions over seeds.
    """

    found: depths.DepthComparison

    def to_json(self) -> dict[str, Any]:
        """Return what depth.json says."""
        found, switching, drop = self.found, None, self.found.first_drop
        if found.switching is not None and found.switched is not None:
            switching = {
                "curves": asdict(found.switched),
                "crossings": [_crossing(each) for each in found.switched_crossings],
                "open_units": [list(each) for each in found.switching.units],
                "readings": [list(each) for each in found.switching.readings],
            }
        return {
            "format": _FORMAT,
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
            "switching": switching,
            "first_drop": drop
            and {
                "predicted": _steps(drop.predicted),
                "trained": _steps(drop.trained),
                "correlation": drop.correlation,
                "mean_gap": drop.gap,
                "standard_deviation_of_gap": drop.spread,
            },
            "differ": found.differ,
            "not_tested": found.uninformative,
            "too_few_seeds": found.seeds < found.curves.least,
            "significant": SIGNIFICANT,
            "versions": library_versions(),
        }

    def files(self) -> dict[str, str | bytes]:
        """Return curves.npz, depth.svg and, last, depth.json, by file name."""
        return {
            "curves.npz": _curves(self.found),
            "depth.svg": _drawing(self.found).svg,
            "depth.json": dumps(self.to_json()),
        }

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows: when losses fall, beside each kind of gated networks."""
        title = f"first step with a loss below a share of the first, {self.found.seeds} seeds"
        kinds = {"fixed": self.found.crossings, "switching": self.found.switched_crossings}
        rows = [_row(kind, each) for kind, crossings in kinds.items() for each in crossings]
        if rows:
            cells = [[*row.values()] for row in rows]
            yield plain_table(f"{title}: quartiles", [*rows[0]], cells).rstrip("\n")
        yield from _depth_sentences(self.found)


def depth(
    spec: Spec | str | os.PathLike[str] = "depth",
    seeds: int = 50,
    rng: int = 0,
) -> DepthAnswer:
    """Train deep ReLU networks and a gated network of the same depth, and compare distributions.

    A network of nodes and edges, by default the paper's two hidden layers; the ReLU network has as
    many hidden layers of network.hidden units. That they differ is a result, not a failure. The
    files are depth.json, depth.svg and curves.npz.

    Args:
        spec: A spec, its file or its name; of nodes and edges with at least two hidden nodes on a
            path, with a network.
        seeds: Networks to train of each kind; at least 2.
        rng: Seed of the random streams.

    Raises:
        InputError: Fewer than two seeds, a parameter without a value, or training diverged.
        NotSupportedError: No graph, or one that no deep ReLU network is like.

    Example:
        >>> import symreln as sr
        >>> small = sr.load("depth", {"network.hidden": 20, "network.steps": 100})
        >>> sr.depth(small, seeds=2).found.seeds
        2
    """
    with phase("comparing depths"):
        return DepthAnswer(found=depths.DepthComparison.of(spec_of(spec, "depth"), seeds, rng))


def _row(kind: str, found: CrossingComparison) -> dict[str, str]:
    """Return what is said of a kind of gates and a level that losses fall below, by header."""
    relu, gated = map(_times, found.times)
    return {
        "gates": kind,
        "L/L(0) below": f"{found.level:g}",
        "ReLU": relu,
        "gated": gated,
        "KS distance": f"{found.distance:.2f}",
        "p": f"{found.p:.2g}",
        "shift of the median": _interval_text(found.shift, ".0f"),
        "spread": _interval_text(found.spread_ratio, ".2g"),
    }


def _times(times: np.ndarray) -> str:
    """Return the quartiles of some steps, and how many curves never got there."""
    quartiles = np.quantile(times, (0.25, 0.5, 0.75), method="higher")
    never = int((~np.isfinite(times)).sum())
    shown = " / ".join("–" if not np.isfinite(x) else f"{x:.0f}" for x in quartiles)
    return shown + (f" ({never} never)" if never else "")


def _interval_text(found: Interval | None, form: str) -> str:
    """Return a number and its interval."""
    if found is None or found.value is None or not np.isfinite(found.value):
        return "–"
    ends = ("?" if end is None else format(end, form) for end in (found.low, found.high))
    return f"{format(found.value, form)} [{', '.join(ends)}]"


def _depth_sentences(found: DepthComparison) -> list[str]:
    """Say whether distributions of the curves differ, and what the early phase predicts."""
    sentences = [_sentence(found, found.curves, "their gated network", found.free_constants)]
    switching, drop = found.switching, found.first_drop
    if found.switched is not None and switching is not None and any(switching.units):
        name = "gated networks whose gates switch, from the same initial weights"
        sentences.append(_sentence(found, found.switched, name, switching.free_constants))
        read = [len(each) for each in switching.readings]
        open_units = np.mean([each for each in switching.units if each], axis=0)
        shares = " and ".join(f"{share:.0%}" for share in open_units / found.widths)
        sentences.append(
            f"gates that switch: {shares} of the units of the hidden layers are open at the first "
            f"drop; gates were read {min(read)} to {max(read)} times"
        )
    if drop is not None:
        related = "" if drop.correlation is None else f", correlation {drop.correlation:.3f}"
        sentences.append(
            "the first drop of every ReLU network's loss is that of the same initial weights in "
            f"the frozen residual: {drop.gap:+.0f} ± {drop.spread:.0f} steps off{related}"
        )
    return sentences


def _sentence(found: DepthComparison, test: CurveTest, gated: str, constants: int) -> str:
    """Say whether distributions differ."""
    whose = f"{found.seeds} ReLU networks with {len(found.widths)} hidden layers and as many of"
    outcome = "DIFFER" if test.differ else "cannot be distinguished"
    if found.seeds < test.least:
        outcome = f"are TOO FEW to say whether they differ (it takes {test.least} of each)"
    head = f"{whose} {gated} {outcome}"
    if found.uninformative:
        steps = found.relu.settings.steps - 1
        head = f"Training made too little progress to test the prediction: in {steps} steps {head}"
    return (
        f"{head} by their loss curves: largest difference of distribution functions "
        f"{test.distance:.2f}, at step {test.step}; exchanged labels reach it in "
        f"{percent(test.p)} of draws; {100 * test.inside:.0f} % of the ReLU losses lie in "
        f"the gated networks' 5 % to 95 % band; free constants: {constants}"
    )


def _crossing(found: CrossingComparison) -> dict[str, Any]:
    relu, gated = map(_steps, found.times)
    return {
        "level": found.level,
        "steps": {"relu": relu, "gdln": gated},
        "distance": found.distance,
        "p": found.p,
        "shift_of_median": found.shift and asdict(found.shift),
        "ratio_of_spreads": found.spread_ratio and asdict(found.spread_ratio),
    }


def _steps(times: np.ndarray) -> list[int | None]:
    return [int(time) if np.isfinite(time) else None for time in times]


def _curves(found: DepthComparison) -> bytes:
    """Return all losses at the steps at which whole curves are compared."""
    pooled = np.concatenate([found.relu.losses, found.gdln.losses])
    steps = spread_moments(pooled.mean(axis=0), MOMENTS)
    runs = {"relu": found.relu, "gdln": found.gdln, "one_hidden_layer": found.shallow}
    losses = {name: run.losses for name, run in runs.items()}
    if found.switching is not None:
        losses["switching"] = found.switching.losses
    return npz({name: curves[:, steps] for name, curves in losses.items()} | {"steps": steps})


def _drawing(found: DepthComparison) -> Drawing:
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
        "depth",
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
