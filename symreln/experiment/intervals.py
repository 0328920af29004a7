"""Distances between mean curves with intervals that hold for the means over all seeds.

What is measured is how far theory is from the mean over *all* networks, of which the trained ones
are a sample. Distances are norms of a difference of curves, so by the triangle inequality they
move by at most the norm of what the mean curve moves by: |‖a − m‖ − ‖a − M‖| ≤ ‖m − M‖. The 95 %
quantile of the latter is that of a Student process: a Gaussian one with the covariance of the
trained curves, over the scatter of their variance. For a single number it is Student's t exactly;
for max_t |·| it holds at all steps at once, with few seeds too. The interval around the measured
distance covers at least as often, and also where the distance is smaller than the scatter, where
quantiles of resampled distances would all lie above it. The drop time and the tail are no linear
norms; seeds are resampled for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from symreln.experiment.metrics import DROP, CurveComparison, compare

#: Share of samples of seeds in which an interval is to hold.
LEVEL = 0.95
#: Resamples: the ends are then known to a few per cent of the interval's width.
RESAMPLES = 1000
#: Bytes of resampled curves at a time.
CHUNK_BYTES = 32 << 20
METHOD = (
    f"distances ± the {100 * LEVEL:g} % quantile of the norm of what the mean curve moves by "
    "(triangle inequality), by a Student process with the covariance of the seeds' curves, "
    f"{RESAMPLES} draws, fixed stream; a curve's Monte Carlo error is added in quadrature; tails "
    "and drop times: bootstrap over seeds"
)


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A measured number and where it may be for the mean over all seeds.

    Attributes:
        value: As measured.
        low: Lower end; None with it where there is one seed only, or no value.
        high: Upper end.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Distance:
    """The interface's metrics of a pair of curves, each with its interval."""

    max_abs_over_initial: Interval
    mean_abs_over_initial: Interval
    drop_time_error_steps: Interval
    log10_tail_rms: Interval


def distance(curve: np.ndarray, losses: np.ndarray, rng: int, error: float = 0.0) -> Distance:
    """Compare a curve with the mean over seeds.

    Args:
        curve: Curve A, shape (steps,).
        losses: One row a seed; their mean is curve B, shape (seeds, steps).
        rng: Seed of the resampling.
        error: Monte Carlo error of curve A, the radius of its 95 % interval over L(0).
    """
    return _distance(curve[None], losses, rng, error)


def mutual_distance(
    first: np.ndarray, second: np.ndarray, rng: int, error: float = 0.0
) -> Distance:
    """Compare the means of two kinds of curves, drawn independently.

    Args:
        first: Losses of which the mean is curve A, shape (seeds, steps).
        second: Of which it is curve B.
        rng: Seed of the resampling.
        error: As for :func:`distance`.
    """
    return _distance(first, second, rng, error)


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
    """Draw what the mean of the rows may move by, shape (RESAMPLES, columns); 0 for one row."""
    seeds = len(values)
    if seeds < 2:
        return np.zeros((RESAMPLES, 1))
    stream = np.random.default_rng([rng, kind, 2])
    normal = stream.standard_normal((RESAMPLES, seeds))
    scatter = np.sqrt(stream.chisquare(seeds - 1, RESAMPLES) / (seeds - 1))
    weights = normal / (np.sqrt(seeds * (seeds - 1)) * scatter[:, None])
    return weights @ (values - values.mean(axis=0))


def _weights(rng: int, kind: int, seeds: int) -> np.ndarray:
    """Return how much each seed counts in each resample, shape (RESAMPLES, seeds)."""
    stream = np.random.default_rng([rng, kind])
    return stream.multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES) / seeds


def _widening(seeds: int) -> float:
    """Return by how much a bootstrap's radius is too small.

    Resampled means scatter by the sample's own standard deviation, √((n − 1)/n) of what it
    estimates; and as with Student's t that estimate is uncertain itself.
    """
    upper = (1 + LEVEL) / 2
    return float(np.sqrt(seeds / (seeds - 1)) * stdtrit(seeds - 1, upper) / ndtri(upper))


def _distance(first: np.ndarray, second: np.ndarray, rng: int, error: float) -> Distance:
    found = compare(first.mean(axis=0), second.mean(axis=0))
    if len(second) == 1:  # what was trained once may be anywhere
        return Distance(**{name: _alone(value) for name, value in vars(found).items()})
    largest, mean = _linear_radii(first, second, rng)
    tails, drops = _resampled(first, second, rng)
    tail = _widening(len(second)) * float(np.quantile(tails, LEVEL))
    return Distance(
        max_abs_over_initial=around(found.max_abs_over_initial, float(np.hypot(largest, error))),
        mean_abs_over_initial=around(found.mean_abs_over_initial, float(np.hypot(mean, error))),
        drop_time_error_steps=_percentiles(found, drops),
        log10_tail_rms=around(found.log10_tail_rms, tail),
    )


def _linear_radii(first: np.ndarray, second: np.ndarray, rng: int) -> tuple[float, float]:
    """Return the radii of max and mean |A − B|/B(0), whose unit moves with B's first loss."""
    a, b = first.mean(axis=0), second.mean(axis=0)
    norms = []
    # One step after the other: all draws of all steps need not fit in memory.
    size = max(1, CHUNK_BYTES // (8 * RESAMPLES))
    unit = _student(second[:, :1], rng, 1) / b[0]
    for begin in range(0, len(a), size):
        chunk = slice(begin, begin + size)
        moved = _student(first[:, chunk], rng, 0) - _student(second[:, chunk], rng, 1)
        moved = np.abs(moved - (a - b)[chunk] * unit) / b[0]
        norms.append((moved.max(axis=1), moved.sum(axis=1)))
    largest = np.max([part[0] for part in norms], axis=0)
    mean = np.sum([part[1] for part in norms], axis=0) / len(a)
    return float(np.quantile(largest, LEVEL)), float(np.quantile(mean, LEVEL))


def _resampled(first: np.ndarray, second: np.ndarray, rng: int) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much resampled tails move, and the differences of resampled drop times."""
    weigh_a, weigh_b = _weights(rng, 0, len(first)), _weights(rng, 1, len(second))
    tail = _tails(first.mean(axis=0)[None], second.mean(axis=0)[None])
    size = max(1, CHUNK_BYTES // (8 * first.shape[1]))
    parts = []
    for begin in range(0, RESAMPLES, size):
        chunk = slice(begin, begin + size)
        a, b = weigh_a[chunk] @ first, weigh_b[chunk] @ second
        moved = np.sqrt(np.mean((_tails(a, b) - tail) ** 2, axis=1))
        parts.append((moved, _drops(a) - _drops(b)))
    tails, drops = zip(*parts, strict=True)
    return np.concatenate(tails), np.concatenate(drops)


def _tails(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return log A − log B over the last quarter of the steps."""
    tail, floor = slice((3 * a.shape[1]) // 4, None), np.finfo(float).eps * b[:, :1]
    logs = [np.log10(np.maximum(curve[:, tail], floor)) for curve in (a, b)]
    return logs[0] - logs[1]


def _drops(curves: np.ndarray) -> np.ndarray:
    """Return drop times, NaN where a curve never drops."""
    below = curves < DROP * curves[:, :1]
    return np.where(below.any(axis=1), below.argmax(axis=1), np.nan)


def around(value: float | None, radius: float | None) -> Interval:
    """Return the interval of a distance, which is never negative; no ends without a radius."""
    if radius is None:
        return _alone(value)
    if value is None:
        return Interval(value=None, low=None, high=None)
    return Interval(value=value, low=max(0.0, value - radius), high=value + radius)


def point(value: float | None) -> Interval:
    """Return the interval of a number that nothing random enters."""
    return Interval(value=value, low=value, high=value)


def _alone(value: float | None) -> Interval:
    return Interval(value=value, low=None, high=None)


def _percentiles(found: CurveComparison, drops: np.ndarray) -> Interval:
    value = found.drop_time_error_steps
    if value is None or np.isnan(drops).any():
        return _alone(value)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(drops, ends, method="inverted_cdf")  # whole steps
    return Interval(value=value, low=min(float(low), value), high=max(float(high), value))
