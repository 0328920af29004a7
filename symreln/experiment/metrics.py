"""Distances between loss curves, their intervals, what seeds differ by, and drift of gates.

No training and no symbols: curves in, numbers out. A curve is a loss at steps 0, 1, 2, …, one value
a step. ``validation.json`` has them by these names.

**Intervals.** What is measured is how far theory is from the mean over *all* networks, of which
the trained ones are a sample. Distances are norms of a difference of curves, so by the triangle
inequality they move by at most the norm of what the mean curve moves by: |‖a − m‖ − ‖a − M‖| ≤ ‖m
− M‖. The 95 % quantile of the latter is that of a Student process: a Gaussian one with the
covariance of the trained curves, over the scatter of their variance. For a single number it is
Student's t exactly; for max_t |·| it holds at all steps at once, with few seeds too. The interval
around the measured distance covers at least as often, and also where the distance is smaller than
the scatter, where quantiles of resampled distances would all lie above it. The drop time is no
linear norm; seeds are resampled for it. The tail has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import all_digits, percent, positional
from symreln.document.document_model import Content, Math
from symreln.errors import InputError

DROP = 0.9  # drop time: the first step with a loss under this share of the first


Number = TypeVar("Number")


@record
class Distance(Generic[Number]):
    """How far curve A is from curve B; L(0) is the first loss of curve B.

    Attributes:
        max_abs_over_initial: max over steps of |A − B| / L(0).
        mean_abs_over_initial: Mean over steps of |A − B| / L(0).
        drop_time_error_steps: Drop time of A minus that of B, in steps: positive where A drops
            later. None where one of them never drops. See :func:`drop_time`.
        log10_tail_rms: Root mean square of log10 A − log10 B over the last quarter of the steps.
            A loss under machine epsilon times L(0), which is rounding, counts as that much. None
            where both curves are under it throughout: there is nothing left to compare.
    """

    max_abs_over_initial: Number
    mean_abs_over_initial: Number
    drop_time_error_steps: Number
    log10_tail_rms: Number


@record
class _Metric:
    """One number for how far curve A is from curve B.

    Attributes:
        name: Its key in validation.json.
        title: Head of its column in tables, and in LaTeX.
        of: Its value for two curves of positive first loss; None where it says nothing.
        shown: Its value as text.
        interval: From two samples of curves and its value; by default quantiles of its values for
            resampled seeds.
        size: Of a number with a sign, what seeds are averaged over.
        sparse: Whether seeds of which it says nothing are left out of that average, rather than
            leaving nothing to say.
    """

    name: str
    title: str
    latex: Content
    of: Callable[[np.ndarray, np.ndarray], float | None]
    shown: Callable[[Any], str]
    interval: Callable[[_Samples, float | None], Interval] | None = None
    size: Callable[[float], float] = float
    sparse: bool = False

    def distance(self, samples: _Samples, value: float | None) -> Interval:
        """Return its value with its interval."""
        if self.interval is not None:
            return self.interval(samples, value)
        few = any(1 < len(drawn) < _LEAST for drawn in (samples.first, samples.second))
        if few or value is None:
            return alone(value)
        drawn = [self.of(*means) for means in samples.resampled()]
        known = np.array([each for each in drawn if each is not None])
        if len(known) < len(drawn):
            return alone(value)
        ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
        low, high = np.quantile(known, ends, method="inverted_cdf")  # of steps, whole ones
        return Interval(value=value, low=min(float(low), value), high=max(float(high), value))

    def over(self, each: Sequence[float | None], reduce: Callable) -> float | None:
        """Return its mean, or another reduction, over seeds."""
        known = [self.size(value) for value in each if value is not None]
        return float(reduce(known)) if known and (self.sparse or len(known) == len(each)) else None


class _Samples:
    """Two samples of curves, and what may be of their means.

    Attributes:
        first: Curves of which the mean is curve A, shape (seeds, steps).
        second: Of which it is curve B.
        error: Monte Carlo error of curve A over L(0).
    """

    def __init__(self, first: np.ndarray, second: np.ndarray, rng: int, error: float) -> None:
        self.first, self.second, self.error, self._rng = first, second, error, rng

    @cached_property
    def norms(self) -> tuple[np.ndarray, np.ndarray]:
        """Max and mean |A − B|/B(0) of what the means move by, whose unit moves too."""
        first, second = self.first, self.second
        a, b = first.mean(axis=0), second.mean(axis=0)
        norms = []
        # One step after the other: all draws of all steps need not fit in memory.
        size = max(1, _CHUNK_BYTES // (8 * _RESAMPLES))
        unit = _student(second[:, :1], self._rng, 1) / b[0]
        for begin in range(0, len(a), size):
            chunk = slice(begin, begin + size)
            moved = _student(first[:, chunk], self._rng, 0) - _student(
                second[:, chunk], self._rng, 1
            )
            moved = np.abs(moved - (a - b)[chunk] * unit) / b[0]
            norms.append((moved.max(axis=1), moved.sum(axis=1)))
        largest = np.max([part[0] for part in norms], axis=0)
        return largest, np.sum([part[1] for part in norms], axis=0) / len(a)

    def resampled(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the means over resampled seeds."""
        weights = [
            _resampling(self._rng, kind, len(own))
            for kind, own in enumerate((self.first, self.second))
        ]
        for one, other in zip(*weights, strict=True):
            yield one @ self.first, other @ self.second


# -- the metrics -----------------------------------------------------------------------------------


def _shares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(a - b) / float(b[0])


def _drop_error(a: np.ndarray, b: np.ndarray) -> int | None:
    times = drop_time(a), drop_time(b)
    return None if times[0] is None or times[1] is None else times[0] - times[1]


def _tail_rms(a: np.ndarray, b: np.ndarray) -> float | None:
    tail, floor = slice((3 * len(a)) // 4, None), np.finfo(float).eps * b[0]
    if max(a[tail].max(), b[tail].max()) <= floor:
        return None
    logs = [np.log10(np.maximum(curve[tail], floor)) for curve in (a, b)]
    return float(np.sqrt(np.mean((logs[0] - logs[1]) ** 2)))


def _norm_interval(place: int) -> Callable[[_Samples, float | None], Interval]:
    """Return what makes the interval of a norm of the difference."""

    def interval(samples: _Samples, value: float | None) -> Interval:
        radius = float(np.quantile(samples.norms[place], LEVEL))
        return around(value, float(np.hypot(radius, samples.error)))

    return interval


def steps_text(steps: float) -> str:
    """Return a number of steps in words."""
    return f"{positional(steps, 3)} step" + ("" if abs(steps) == 1 else "s")


#: What is said of two curves, in the order of the tables. Of the first the tolerance judges.
METRICS = (
    _Metric(
        name="max_abs_over_initial",
        title="max |ΔL|/L(0)",
        latex=Math(r"\max |\Delta L| / L(0)"),
        of=lambda a, b: float(_shares(a, b).max()),
        shown=percent,
        interval=_norm_interval(0),
    ),
    _Metric(
        name="mean_abs_over_initial",
        title="mean |ΔL|/L(0)",
        latex=Math(r"\overline{|\Delta L|} / L(0)"),
        of=lambda a, b: float(_shares(a, b).mean()),
        shown=percent,
        interval=_norm_interval(1),
    ),
    _Metric(
        name="drop_time_error_steps",
        title="drop time error",
        latex="drop time error",
        of=_drop_error,
        shown=lambda drop: "never drops" if drop is None else steps_text(drop),
        size=abs,
    ),
    _Metric(
        name="log10_tail_rms",
        title="log10 tail rms",
        latex="tail",
        of=_tail_rms,
        shown=lambda rms: "–" if rms is None else f"{rms:.2g}",
        interval=lambda _, value: alone(value),
        sparse=True,
    ),
)


@record
class SeedFloor:
    """What each seed's curve (A) differs from the mean of the others (B).

    No prediction of the mean can be asked to be closer to one network than networks are to each
    other.

    Attributes:
        mean: Mean over seeds of each metric; of the drop time, of its absolute error.
        maximum: Maximum over seeds, likewise.
    """

    mean: Distance[Any]
    maximum: Distance[Any]

    @classmethod
    def of(cls, losses: np.ndarray) -> SeedFloor | None:
        """Compare each seed's curve with the mean of the others.

        Args:
            losses: Shape (seeds, steps).

        Returns:
            The floor; None for a single seed, which has nothing to be compared with.
        """
        if len(losses) < 2:
            return None
        total, others = losses.sum(axis=0), len(losses) - 1
        each = [compare(curve, (total - curve) / others) for curve in losses]
        return cls(mean=_over_seeds(each, np.mean), maximum=_over_seeds(each, np.max))


@record(eq=False)
class GateDrift:
    """How far hidden activity patterns are from those of the last snapshot.

    Attributes:
        steps: Snapshot steps, K of them.
        share: Shape (seeds, K): share of (unit, sample) gates that differ from the last
            snapshot's, each unit weighted by its contribution ‖w1‖‖w2‖ at the snapshot itself.
        max_after_drop: Largest share, over seeds and over snapshots at or after the seed's drop
            time; None where no loss dropped.
    """

    steps: tuple[int, ...]
    share: np.ndarray
    max_after_drop: float | None

    @property
    def mean(self) -> np.ndarray:
        """Mean over seeds, shape (K,)."""
        return self.share.mean(axis=0)

    @classmethod
    def of(
        cls,
        activity: np.ndarray,
        contribution: np.ndarray,
        steps: Sequence[int],
        losses: np.ndarray,
    ) -> GateDrift:
        """How much the gates of ReLU networks move, weighted by what the units contribute.

        Args:
            activity: Patterns 1[W1 x_μ > 0] at K snapshots, truth values, shape (seeds, K, H, P).
            contribution: ‖w1_h‖ ‖w2_h‖ at the same, shape (seeds, K, H).
            steps: The snapshot steps.
            losses: Shape (seeds, steps of the training).
        """
        count = activity.shape[1]
        moved = np.stack(
            [(activity[:, k] != activity[:, -1]).mean(axis=2) for k in range(count)], 1
        )
        weight = contribution.sum(axis=2)
        # Where no unit contributes, no gate matters: a share of 0.
        safe = np.where(weight > 0, weight, 1.0)
        share = (moved * contribution).sum(axis=2) / safe
        after = [
            share[seed, k]
            for seed, drop in enumerate(map(drop_time, losses))
            for k, step in enumerate(steps)
            if drop is not None and step >= drop
        ]
        return cls(
            steps=tuple(steps), share=share, max_after_drop=float(max(after)) if after else None
        )


def drop_time(curve: np.ndarray) -> int | None:
    """First step with a loss < 0.9 of the curve's own first; None where it never gets there."""
    below = np.asarray(curve) < DROP * curve[0]
    return int(below.argmax()) if below.any() else None


def compare(curve_a: np.ndarray, curve_b: np.ndarray) -> Distance[Any]:
    """Compare two loss curves at the same steps.

    Args:
        curve_a: Shape (steps,); the prediction, where there is one.
        curve_b: Shape (steps,); what it is compared with. Its first loss is the unit.

    Raises:
        InputError: A loss is not finite.

    Example:
        >>> found = compare(np.array([4.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0]))
        >>> found.max_abs_over_initial, found.drop_time_error_steps
        (0.25, 0)
    """
    a, b = np.asarray(curve_a, dtype=float), np.asarray(curve_b, dtype=float)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        msg = "compare: a loss is NaN or infinite. Lower network.learning_rate"
        raise InputError(msg)
    found: dict[str, Any] = {metric.name: metric.of(a, b) for metric in METRICS}
    return Distance(**found)


def mutual_distance(
    first: np.ndarray, second: np.ndarray, rng: int, error: float = 0.0
) -> Distance[Interval]:
    """Compare the means of two kinds of curves, drawn independently.

    Args:
        first: Losses of which the mean is curve A, shape (seeds, steps).
        second: Of which it is curve B.
        rng: Seed of the resampling.
        error: Monte Carlo error of curve A, the radius of its 95 % interval over L(0).
    """
    found = vars(compare(first.mean(axis=0), second.mean(axis=0)))
    if len(second) == 1:  # what was trained once may be anywhere
        return Distance(**{name: alone(value) for name, value in found.items()})
    samples = _Samples(first, second, rng, error)
    return Distance(**{m.name: m.distance(samples, found[m.name]) for m in METRICS})


def _over_seeds(each: Sequence[Distance[Any]], reduce: Callable) -> Distance[Any]:
    found: dict[str, Any] = {
        metric.name: metric.over([getattr(one, metric.name) for one in each], reduce)
        for metric in METRICS
    }
    return Distance(**found)


#: Share of samples of seeds in which an interval is to hold.
LEVEL = 0.95
#: Seeds that resampling takes: all it can reach lies between the least and the largest of n seeds,
#: which hold their median between them with probability 1 − 2^(1 − n); of five in 94 % of cases.
_LEAST = 1 + math.ceil(-math.log2(1 - LEVEL))
#: Resamples: the ends are then known to a few per cent of the interval's width.
_RESAMPLES = 1000
#: Bytes of resampled curves at a time.
_CHUNK_BYTES = 32 << 20
METHOD = (
    f"{100 * LEVEL:g} % confidence intervals of distances between curves hold for all steps at "
    "once. The mean over seeds is taken as a Student process with the covariance of the seeds' "
    f"curves ({_RESAMPLES} draws, fixed stream), and a distance moves by no more than the mean "
    "does. The Monte Carlo error of a prediction is added in quadrature. Intervals of drop times "
    "are a bootstrap over seeds"
)


@record
class Interval:
    """A measured number and where it may be for the mean over all seeds.

    Attributes:
        value: As measured.
        low: Lower end; None with it where there is one seed only, or no value, and of what is
            resampled, as drop times are, where there are fewer than six.
        high: Upper end.
    """

    value: float | None
    low: float | None
    high: float | None


def simultaneous_radius(values: np.ndarray, rng: int) -> float | None:
    """Return half the width of an interval that holds for all columns' means at once.

    Args:
        values: One row a seed, shape (seeds, columns).
        rng: Seed of the draws.

    Returns:
        The radius, one for all columns; None for one seed, infinite where a value is not finite.
    """
    if len(values) < 2:
        return None
    moved = np.abs(_student(values, rng, 1)).max(axis=1, initial=0.0)
    return float(np.quantile(moved, LEVEL))


def _student(values: np.ndarray, rng: int, kind: int) -> np.ndarray:
    """Draw what the mean of the rows may move by, shape (_RESAMPLES, columns); 0 for one row."""
    seeds = len(values)
    if seeds < 2:
        return np.zeros((_RESAMPLES, 1))
    stream = np.random.default_rng([rng, kind, 2])
    normal = stream.standard_normal((_RESAMPLES, seeds))
    scatter = np.sqrt(stream.chisquare(seeds - 1, _RESAMPLES) / (seeds - 1))
    weights = normal / (np.sqrt(seeds * (seeds - 1)) * scatter[:, None])
    return weights @ (values - values.mean(axis=0))


def _resampling(rng: int, kind: int, seeds: int) -> np.ndarray:
    """Return how much each seed counts in each resample, shape (_RESAMPLES, seeds)."""
    stream = np.random.default_rng([rng, kind])
    return stream.multinomial(seeds, np.full(seeds, 1 / seeds), size=_RESAMPLES) / seeds


def around(value: float | None, radius: float | None) -> Interval:
    """Return the interval of a distance, which is never negative; no ends without a radius."""
    if value is None or radius is None:
        return alone(value)
    return Interval(value=value, low=max(0.0, value - radius), high=value + radius)


def exactly(found: Distance[Any]) -> Distance[Interval]:
    """Return a distance that nothing random enters, with intervals of no width."""
    return Distance(**{name: Interval(value=x, low=x, high=x) for name, x in vars(found).items()})


def alone(value: float | None) -> Interval:
    """Return the interval of a number that was measured once: it has no ends."""
    return Interval(value=value, low=None, high=None)


def bound_text(bound: float) -> str:
    """Return a tolerance as per cent, with every digit that it has."""
    return f"{all_digits(bound, power=2)} %"


def interval_text(found: Interval, shown: Callable[[float], str]) -> str:
    """Return a number and, in brackets, where it may be; a dash where it is not known.

    Args:
        found: The number with its interval.
        shown: How a number is printed.
    """
    if found.value is None:
        return "–"
    if found.low is None or found.high is None or found.low == found.high:
        return shown(found.value)
    return f"{shown(found.value)} [{shown(found.low)}, {shown(found.high)}]"


def share_text(found: Interval, beside: float | None = None) -> str:
    """Return a share of a loss, a plateau or a weight, and where it may be.

    An interval from nothing to all of it and more tells no theory from another: it is said in
    words, so that its ends are not read as a finding.

    Args:
        found: The share with its interval.
        beside: See :func:`symreln.base.rounding.percent`.

    Example:
        >>> share_text(Interval(value=0.031, low=0.021, high=0.043))
        '3.1 % [2.1 %, 4.3 %]'
        >>> share_text(Interval(value=0.75, low=0.0, high=11.4))
        '75 % (anything up to 1140 %)'
    """
    if found.low is not None and found.high is not None and found.low <= 0 and found.high >= 1:
        return f"{percent(found.value or 0.0, beside)} (anything up to {percent(found.high)})"
    return interval_text(found, lambda share: percent(share, beside))
