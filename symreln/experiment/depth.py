"""ReLU networks of several hidden layers beside the gated network that is to be like them.

Source: finding 4 of [Jarvis2025]: with more hidden layers trajectories differ between seeds, and a
gated network can have their distribution. Both kinds start from N(0, init_std²); nothing is
fitted. A hidden node of the gated network stands for units of a hidden layer that are open
together; half of a layer's units are, as the theory of one hidden layer counts them
(:func:`symreln.laws.law.pathway_units`). Another share can be given, and counts as a
constant that was set by hand.

Two samples of loss curves: do they come from one distribution.

No training and no symbols: curves in, numbers out. Nothing assumes a shape of the distributions:
differences are judged by exchanging which sample a curve belongs to, spreads by resampling seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.progress import phase
from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.metrics import DROP, Interval, drop_time
from symreln.experiment.switching import (
    EarlyPhase,
    SwitchingRun,
    early_phase,
    train_switching,
)
from symreln.experiment.training import gated_network, shared_progress, training_settings
from symreln.laws.law import pathway_units
from symreln.train.machine import machine
from symreln.train.trainers import train_deep_network, train_gated_network

if TYPE_CHECKING:
    from symreln.experiment.training import ProgressCallback
    from symreln.specs.model import Spec
    from symreln.train.network import GatedNetwork
    from symreln.train.run import TrainingRun


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class DepthComparison:
    """Distributions over seeds.

    Attributes:
        spec: What was trained, without free parameters.
        widths: Units of the ReLU network's hidden layers.
        units: Of the gated network's hidden nodes, by name.
        relu: The ReLU networks.
        gdln: The gated networks.
        shallow: ReLU networks with one hidden layer of the first width; what depth adds.
        switching: Gated networks that read their own gates (:mod:`symreln.experiment.switching`),
            from the initial weights of the ReLU networks, so that they are compared in pairs. None
            of other networks than those of ReLU, trained by full batches in double precision.
        early: The early phase of the ReLU networks, from their own initial weights; None likewise.
        rng: Seed of the random streams.
        share: What part of a layer's units a gated node has, where that was set by hand.
    """

    spec: Spec
    widths: tuple[int, ...]
    units: dict[str, int]
    relu: TrainingRun
    gdln: TrainingRun
    shallow: TrainingRun
    rng: int
    share: float | None = None
    switching: SwitchingRun | None = None
    early: EarlyPhase | None = None

    @property
    def free_constants(self) -> int:
        """Numbers that were set by hand."""
        return int(self.share is not None)

    @property
    def seeds(self) -> int:
        """Networks of each kind."""
        return self.relu.seeds

    @cached_property
    def curves(self) -> CurveTest:
        """Whole loss curves, ReLU networks against gated ones."""
        return compare_curves(self.relu.losses, self.gdln.losses)

    @cached_property
    def crossings(self) -> tuple[CrossingComparison, ...]:
        """When losses fall, ReLU networks against gated ones; levels that some curve meets."""
        return _crossings(self.relu.losses, self.gdln.losses)

    @cached_property
    def switched(self) -> CurveTest | None:
        """Whole loss curves, ReLU networks against gated ones that read their own gates."""
        if self.switching is None:
            return None
        return compare_curves(_relative(self.relu), self.switching.losses, pairs=True)

    @cached_property
    def switched_crossings(self) -> tuple[CrossingComparison, ...]:
        """When losses fall, ReLU networks against gated ones that read their own gates."""
        if self.switching is None:
            return ()
        return _crossings(_relative(self.relu), self.switching.losses, pairs=True)

    @cached_property
    def first_drop(self) -> FirstDrop | None:
        """The first drop beside that of the early phase; None where neither says anything."""
        if self.early is None:
            return None
        trained = crossing_times(self.relu.losses, DROP)
        both = np.isfinite(trained) & np.isfinite(self.early.steps)
        if both.sum() < 2:
            return None
        gaps = trained[both] - self.early.steps[both]
        related = float(np.corrcoef(trained[both], self.early.steps[both])[0, 1])
        return FirstDrop(
            predicted=self.early.steps,
            trained=trained,
            correlation=related if np.isfinite(related) else None,
            gap=float(gaps.mean()),
            spread=float(gaps.std(ddof=1)),
        )

    @property
    def differ(self) -> bool:
        """Whether the distributions of the curves differ by more than chance."""
        return self.curves.differ

    @cached_property
    def scatter(self) -> dict[str, float | None]:
        """Interquartile range of the time at which half the loss is gone, over its median.

        By kind of networks; None where a quarter of them never get there.
        """
        runs = {"relu": self.relu, "gdln": self.gdln, "shallow": self.shallow}
        return {name: _scatter(crossing_times(run.losses, 0.5)) for name, run in runs.items()}

    @property
    def least_seeds(self) -> int:
        """Networks of each kind with which a difference could be significant at all."""
        return next(n for n in range(2, 1000) if 2 / comb(2 * n, n) < SIGNIFICANT)

    @property
    def least_pairs(self) -> int:
        """The same of networks in pairs, whose labels are exchanged within each."""
        return next(n for n in range(2, 1000) if 2 / 2**n < SIGNIFICANT)

    @property
    def too_few(self) -> bool:
        """Whether no difference, however large, could be told from chance."""
        return self.seeds < self.least_seeds

    @property
    def uninformative(self) -> bool:
        """Whether neither kind has learned anything, so that there is nothing to tell apart."""
        return all(drop_time(run.mean_loss) is None for run in (self.relu, self.gdln))


def _crossings(
    one: np.ndarray, other: np.ndarray, *, pairs: bool = False
) -> tuple[CrossingComparison, ...]:
    """Return when two samples of losses fall, at the levels that some curve meets."""
    found = [compare_crossings(one, other, level, pairs=pairs) for level in LEVELS]
    return tuple(each for each in found if np.isfinite(np.concatenate(each.times)).any())


def _relative(run: TrainingRun) -> np.ndarray:
    """Return L/L(0), shape (seeds, steps)."""
    return run.losses / run.losses[:, :1]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FirstDrop:
    """The first drop of every ReLU network's loss beside what its early phase says.

    Attributes:
        predicted: In steps, shape (seeds,).
        trained: Likewise.
        correlation: Of both over seeds; None where one of them does not differ between seeds.
        gap: Mean of trained minus predicted, in steps.
        spread: Standard deviation of that.
    """

    predicted: np.ndarray
    trained: np.ndarray
    correlation: float | None
    gap: float
    spread: float


def _scatter(times: np.ndarray) -> float | None:
    low, middle, high = np.quantile(times, (0.25, 0.5, 0.75), method="higher")
    return float((high - low) / middle) if np.isfinite(high) and middle > 0 else None


@phase("training")
def compare_depth(
    spec: Spec,
    seeds: int = 50,
    rng: int = 0,
    progress: ProgressCallback | None = None,
    *,
    share: float | None = None,
    ready: Callable[[tuple[int, ...], dict[str, int]], None] | None = None,
) -> DepthComparison:
    """Train ReLU networks and gated networks of one depth and compare their distributions.

    Args:
        spec: With a network and a graph of at least two hidden nodes on a path; every parameter
            has a value.
        seeds: Networks of each kind; at least 2.
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.
        share: What part of a layer's units a gated node has; by default half for ReLU.
        ready: Called before the training with the widths and the units of the gated network.

    Raises:
        InputError: Fewer than two seeds, a parameter without a value, or training diverged.
        NotSupportedError: No graph, a graph of one hidden layer or less, or gates with gains,
            which no ReLU network realises.
    """
    if seeds < 2:
        msg = f"depth: found seeds = {seeds}. Give at least 2; 50 tell distributions apart."
        raise InputError(msg)
    numbers = spec.at_values()
    graph = _counted(numbers, share)
    asked, settings = network_of(numbers), training_settings(numbers)
    widths = (asked.hidden,) * (graph.depth - 1)
    units = {n.name: n.size for n in graph.nodes if not n.inputs and not n.outputs}
    if ready is not None:
        ready(widths, units)
    data = numbers.dataset.arrays
    streams, report = np.random.SeedSequence(rng).spawn(4), shared_progress(progress, 4)
    deep = {"seeds": seeds, "rng": streams[0], "progress": report(0)}
    switching = early = None
    # In single precision the frozen residual is lost in rounding.
    exact = machine().precision == "float64"
    if settings.activation == "relu" and settings.batch_size is None and exact:
        with phase("early phase"):
            # The stream is counted on where it is drawn from: a second one of the same numbers.
            same = np.random.SeedSequence(rng).spawn(1)[0]
            early = early_phase(data, widths, settings, seeds=seeds, rng=same)
        with phase("training gates that switch"):
            switching = train_switching(data, settings, early, report(3))
    return DepthComparison(
        spec=numbers,
        widths=widths,
        units=units,
        relu=train_deep_network(*data, widths, settings, **deep),
        gdln=train_gated_network(
            *data, graph, settings, seeds=seeds, rng=streams[1], progress=report(1)
        ),
        shallow=train_deep_network(
            *data, widths[:1], settings, seeds=seeds, rng=streams[2], progress=report(2)
        ),
        rng=rng,
        share=share,
        switching=switching,
        early=early,
    )


def _counted(spec: Spec, share: float | None) -> GatedNetwork:
    """Return the gated network with as many units as are open together in a ReLU layer."""
    if spec.graph is None:
        msg = "depth: the spec has no nodes and edges. Give a gated network of the same depth"
        raise NotSupportedError(msg)
    graph, network = gated_network(spec.graph), network_of(spec)
    if graph.depth < 3:
        msg = (
            f"depth: the longest path of the graph has {graph.depth} edges, so one hidden layer at "
            "most. `symreln validate` compares those"
        )
        raise NotSupportedError(msg)
    gates = [item.gate for item in (*graph.nodes, *graph.edges) if item.gate is not None]
    if any(not {0.0, 1.0}.issuperset(gate) for gate in gates):
        msg = "depth: a gate has a gain other than 0 and 1, which no ReLU network realises"
        raise NotSupportedError(msg)
    part = float(pathway_units(network)) / network.hidden if share is None else share
    if not 0 < part <= 1:
        msg = f"depth: share is {share}. Give a number above 0, at most 1"
        raise InputError(msg)
    nodes = tuple(
        node if node.inputs or node.outputs else replace(node, size=max(1, round(part * node.size)))
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)


#: Shares of the first loss whose crossing times are compared.
LEVELS = (0.9, 0.75, 0.5, 0.25, 0.1)
#: Random exchanges of the labels, and resamples of the seeds.
DRAWS = 2000
#: Steps at which whole curves are compared.
MOMENTS = 64
#: Losses are told apart by this share of the first: networks that have not begun to learn differ
#: by their tiny initial outputs, which is no difference in learning.
_RESOLUTION = 0.01
#: A difference that exchanged labels reach less often is none of chance.
SIGNIFICANT = 0.05
SEED = 2025


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class CrossingComparison:
    """When the losses of two samples first fall below a share of where they start.

    Attributes:
        level: The share.
        times: Of either sample, one a curve; infinite where the curve never falls so low.
        distance: Largest difference of the two distribution functions (Kolmogorov-Smirnov).
        p: How often exchanged labels give at least that distance: those of all curves, or of the
            two of each pair.
        shift: Median of the first sample minus that of the second, in steps; None where half of
            the curves of one never get there.
        spread_ratio: Interquartile range of the first over that of the second; None likewise.
    """

    level: float
    times: tuple[np.ndarray, np.ndarray]
    distance: float
    p: float
    shift: Interval | None
    spread_ratio: Interval | None


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveTest:
    """Whole curves of two samples at once.

    Attributes:
        distance: Largest Kolmogorov-Smirnov distance over the steps that are compared.
        step: Where it is.
        p: How often exchanged labels give at least that distance somewhere.
        inside: Share of the first sample's losses, over curves and steps, that lie between the
            5 % and 95 % quantiles of the second's, or _RESOLUTION beside them.
    """

    distance: float
    step: int
    p: float
    inside: float

    @property
    def differ(self) -> bool:
        """Whether the distributions differ by more than chance."""
        return self.p < SIGNIFICANT


def crossing_times(losses: np.ndarray, level: float) -> np.ndarray:
    """Return the first step with a loss < level · L(0) of each curve; infinite where there is none.

    Args:
        losses: Shape (curves, steps).
        level: Share of each curve's own first loss.
    """
    below = losses < level * losses[:, :1]
    return np.where(below.any(axis=1), below.argmax(axis=1).astype(float), np.inf)


def largest_gaps(values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return Kolmogorov-Smirnov distances of the samples that labels divide values into.

    Args:
        values: Shape (curves, moments); equal values, infinite ones too, are told apart by
            neither distribution function.
        first: Truth values, which curves are the first sample, shape (draws, curves).

    Returns:
        Shape (draws, moments).
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    last = np.ones(values.shape, dtype=bool)  # of a run of equal values
    last[:-1] = ordered[1:] != ordered[:-1]
    count = first.sum(axis=1, dtype=np.int32)[:, None]
    found = np.zeros((len(first), values.shape[1]))
    for moment in range(values.shape[1]):
        mine = np.cumsum(first[:, order[:, moment]], axis=1, dtype=np.int32)
        others = np.arange(1, len(values) + 1) - mine
        # Over a common denominator, so that equal distances are equal numbers.
        gaps = np.abs(mine * (len(values) - count) - others * count)
        found[:, moment] = gaps[:, last[:, moment]].max(axis=1)
    return found / (count * (len(values) - count))


def compare_crossings(
    one: np.ndarray, other: np.ndarray, level: float, *, pairs: bool = False
) -> CrossingComparison:
    """Compare when two samples of curves fall below a share of their start.

    Args:
        one: Losses, shape (curves, steps).
        other: Likewise.
        level: The share.
        pairs: Whether curves of one row belong together, as those of the same initial weights.
    """
    _check(one, other)
    times = crossing_times(one, level), crossing_times(other, level)
    rng = np.random.default_rng(SEED)
    pooled = np.concatenate(times)[:, None]
    gaps = largest_gaps(pooled, _labels(len(one), len(other), rng, pairs=pairs))[:, 0]
    known = all(np.isfinite(np.quantile(each, 0.75, method="higher")) for each in times)
    return CrossingComparison(
        level=level,
        times=times,
        distance=float(gaps[0]),
        p=_share_at_least(gaps),
        shift=_resampled(times, _shift, rng, pairs=pairs) if known else None,
        spread_ratio=_resampled(times, _spread_ratio, rng, pairs=pairs) if known else None,
    )


def compare_curves(one: np.ndarray, other: np.ndarray, *, pairs: bool = False) -> CurveTest:
    """Compare two samples of whole curves, shape (curves, steps) each, rows in pairs or not.

    At up to MOMENTS steps, half spread over time and half over the fall of the mean of all curves,
    so that the choice knows nothing of the two samples; losses are rounded to _RESOLUTION of the
    first mean loss.
    """
    _check(one, other)
    pooled = np.concatenate([one, other])
    steps = spread_moments(pooled.mean(axis=0), MOMENTS)
    labels = _labels(len(one), len(other), np.random.default_rng(SEED), pairs=pairs)
    unit = _RESOLUTION * pooled[:, 0].mean()
    gaps = largest_gaps(np.round(pooled[:, steps] / unit), labels)
    low, high = np.quantile(other, (0.05, 0.95), axis=0) + np.array([[-unit], [unit]])
    return CurveTest(
        distance=float(gaps[0].max()),
        step=int(steps[gaps[0].argmax()]),
        p=_share_at_least(gaps.max(axis=1)),
        inside=float(((one >= low) & (one <= high)).mean()),
    )


def spread_moments(loss: np.ndarray, count: int) -> np.ndarray:
    """Return steps spread over time and over what a loss falls, the first and the last with them.

    Args:
        loss: At every step.
        count: How many steps; fewer where there are fewer.
    """
    fallen = np.maximum.accumulate(loss[0] - loss)
    time = np.linspace(0, 1, len(loss))
    place = time + (fallen / fallen[-1] if fallen[-1] > 0 else time)
    wanted = np.linspace(0, place[-1], min(count, len(loss)))
    return np.unique(np.searchsorted(place, wanted))


def _check(one: np.ndarray, other: np.ndarray) -> None:
    shapes = one.shape, other.shape
    if any(len(shape) != 2 or shape[0] < 2 for shape in shapes) or shapes[0][1] != shapes[1][1]:
        msg = (
            f"distributions: curves of shapes {shapes[0]} and {shapes[1]}. Give at least two "
            "curves each, at the same steps."
        )
        raise InputError(msg)


def _labels(one: int, other: int, rng: np.random.Generator, *, pairs: bool) -> np.ndarray:
    """Return who belongs to the first sample: as it is, then exchanged, shape (1 + DRAWS, …)."""
    own = np.arange(one + other) < one
    if pairs:
        kept = rng.random((DRAWS, one)) < 1 / 2
        return np.concatenate([own[None], np.concatenate([kept, ~kept], axis=1)])
    return np.concatenate([own[None], rng.permuted(np.tile(own, (DRAWS, 1)), axis=1)])


def _share_at_least(values: np.ndarray) -> float:
    """Return the share of values that reach the first, itself among them: never 0."""
    return float((values >= values[0]).mean())


def _shift(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.median(one, axis=-1) - np.median(other, axis=-1)


def _spread_ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    ranges = [np.subtract(*np.quantile(each, (0.75, 0.25), axis=-1)) for each in (one, other)]
    return np.divide(*ranges, out=np.full(np.shape(ranges[0]), np.inf), where=ranges[1] > 0)


def _resampled(
    times: tuple[np.ndarray, np.ndarray], measure, rng: np.random.Generator, *, pairs: bool
) -> Interval:
    """Return a number with the 2.5 % and 97.5 % quantiles of it over resampled seeds."""
    rows = [rng.integers(len(each), size=(DRAWS, len(each))) for each in times]
    drawn = [each[rows[0] if pairs else own] for each, own in zip(times, rows, strict=True)]
    with np.errstate(invalid="ignore"):  # an infinite time minus another: no number
        found = np.sort(measure(*drawn))
        value = float(measure(*times))
    low, high = found[int(0.025 * DRAWS)], found[int(0.975 * DRAWS)]
    return Interval(value=value, low=_finite(low), high=_finite(high))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
