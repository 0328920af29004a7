"""Intervals that hold for means over all seeds, of which the trained ones are a sample.

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
    moved = np.abs(student(values, rng, 1)).max(axis=1, initial=0.0)
    return float(np.quantile(moved, LEVEL))


def student(values: np.ndarray, rng: int, kind: int) -> np.ndarray:
    """Draw what the mean of the rows may move by, shape (RESAMPLES, columns); 0 for one row."""
    seeds = len(values)
    if seeds < 2:
        return np.zeros((RESAMPLES, 1))
    stream = np.random.default_rng([rng, kind, 2])
    normal = stream.standard_normal((RESAMPLES, seeds))
    scatter = np.sqrt(stream.chisquare(seeds - 1, RESAMPLES) / (seeds - 1))
    weights = normal / (np.sqrt(seeds * (seeds - 1)) * scatter[:, None])
    return weights @ (values - values.mean(axis=0))


def resampling(rng: int, kind: int, seeds: int) -> np.ndarray:
    """Return how much each seed counts in each resample, shape (RESAMPLES, seeds)."""
    stream = np.random.default_rng([rng, kind])
    return stream.multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES) / seeds


def widening(seeds: int) -> float:
    """Return by how much a bootstrap's radius is too small.

    Resampled means scatter by the sample's own standard deviation, √((n − 1)/n) of what it
    estimates; and as with Student's t that estimate is uncertain itself.
    """
    upper = (1 + LEVEL) / 2
    return float(np.sqrt(seeds / (seeds - 1)) * stdtrit(seeds - 1, upper) / ndtri(upper))


def around(value: float | None, radius: float | None) -> Interval:
    """Return the interval of a distance, which is never negative; no ends without a radius."""
    if radius is None:
        return alone(value)
    if value is None:
        return Interval(value=None, low=None, high=None)
    return Interval(value=value, low=max(0.0, value - radius), high=value + radius)


def point(value: float | None) -> Interval:
    """Return the interval of a number that nothing random enters."""
    return Interval(value=value, low=value, high=value)


def alone(value: float | None) -> Interval:
    """Return the interval of a number that was measured once: it has no ends."""
    return Interval(value=value, low=None, high=None)


def percentiles(value: float | None, drawn: np.ndarray) -> Interval:
    """Return the interval of a number from what resampled seeds give it, NaN where nothing."""
    if value is None or np.isnan(drawn).any():
        return alone(value)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(drawn, ends, method="inverted_cdf")  # of steps, whole ones
    return Interval(value=value, low=min(float(low), value), high=max(float(high), value))
