"""Distances between mean curves with intervals that hold for the means over all seeds.

What is measured is how far theory is from the mean over *all* networks, of which the trained ones
are a sample. Distances are norms of a difference of curves, so by the triangle inequality they
move by at most the norm of what the mean curve moves by: |‖a − m‖ − ‖a − M‖| ≤ ‖m − M‖. The 95 %
quantile of the latter comes from resampling seeds. The interval around the measured distance then
covers at least as often as the resampling says, and also where the distance is smaller than the
scatter, where quantiles of resampled distances would all lie above it. The drop time is no norm;
its interval is the quantiles of the resampled ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from symreln.validation.metrics import DROP, CurveComparison, compare

#: Share of samples of seeds in which an interval is to hold.
LEVEL = 0.95
#: Resamples: the ends are then known to a few per cent of the interval's width.
RESAMPLES = 1000
#: Bytes of resampled curves at a time.
CHUNK_BYTES = 32 << 20
METHOD = (
    f"bootstrap over seeds, {RESAMPLES} resamples, fixed stream: distances ± the "
    f"{100 * LEVEL:g} % quantile of the norm of what resampled mean curves move by (triangle "
    "inequality), widened as Student's t for the number of seeds; drop times: percentiles"
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


def distance(curve: np.ndarray, losses: np.ndarray, rng: int) -> Distance:
    """Compare a curve that is exactly known with the mean over seeds.

    Args:
        curve: Curve A, shape (steps,).
        losses: One row a seed; their mean is curve B, shape (seeds, steps).
        rng: Seed of the resampling.
    """
    return _distance(curve[None], losses, _weights(rng, 0, 1), _weights(rng, 1, len(losses)))


def mutual_distance(first: np.ndarray, second: np.ndarray, rng: int) -> Distance:
    """Compare the means over seeds of two kinds of networks, trained independently.

    Args:
        first: Losses of which the mean is curve A, shape (seeds, steps).
        second: Of which it is curve B.
        rng: Seed of the resampling.
    """
    return _distance(first, second, _weights(rng, 0, len(first)), _weights(rng, 1, len(second)))


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


def _distance(
    first: np.ndarray, second: np.ndarray, weigh_a: np.ndarray, weigh_b: np.ndarray
) -> Distance:
    a, b = first.mean(axis=0), second.mean(axis=0)
    found = compare(a, b)
    if len(first) * len(second) == 1:
        return Distance(**{name: _alone(value) for name, value in vars(found).items()})
    moved = _moved(first, second, weigh_a, weigh_b)
    drops = moved.pop("drop_time_error_steps")
    wider = _widening(max(len(first), len(second)))
    radii = {name: wider * float(np.quantile(values, LEVEL)) for name, values in moved.items()}
    return Distance(
        drop_time_error_steps=_percentiles(found, drops),
        **{name: _around(getattr(found, name), radius) for name, radius in radii.items()},
    )


def _moved(
    first: np.ndarray, second: np.ndarray, weigh_a: np.ndarray, weigh_b: np.ndarray
) -> dict[str, np.ndarray]:
    """Return by how much each resample's curves move, in each metric's norm; drop times as such."""
    start, tail = _seen(first.mean(axis=0)[None], second.mean(axis=0)[None])
    size = max(1, CHUNK_BYTES // (8 * first.shape[1]))
    parts = []
    for begin in range(0, RESAMPLES, size):
        chunk = slice(begin, begin + size)
        a = np.broadcast_to(weigh_a[chunk] @ first, (len(weigh_b[chunk]), first.shape[1]))
        b = weigh_b[chunk] @ second
        own_start, own_tail = _seen(a, b)
        distance = np.abs(own_start - start)
        parts.append(
            (
                distance.max(axis=1),
                distance.mean(axis=1),
                np.sqrt(np.mean((own_tail - tail) ** 2, axis=1)),
                _drops(a) - _drops(b),
            )
        )
    names = (
        "max_abs_over_initial",
        "mean_abs_over_initial",
        "log10_tail_rms",
        "drop_time_error_steps",
    )
    columns = zip(*parts, strict=True)
    return {name: np.concatenate(part) for name, part in zip(names, columns, strict=True)}


def _seen(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of curves that metrics are norms of: (A − B)/B(0), log A − log B."""
    initial = b[:, :1]
    tail, floor = slice((3 * a.shape[1]) // 4, None), np.finfo(float).eps * initial
    logs = [np.log10(np.maximum(curve[:, tail], floor)) for curve in (a, b)]
    return (a - b) / initial, logs[0] - logs[1]


def _drops(curves: np.ndarray) -> np.ndarray:
    """Return drop times, NaN where a curve never drops."""
    below = curves < DROP * curves[:, :1]
    return np.where(below.any(axis=1), below.argmax(axis=1), np.nan)


def _around(value: float | None, radius: float) -> Interval:
    if value is None:
        return Interval(value=None, low=None, high=None)
    return Interval(value=value, low=max(0.0, value - radius), high=value + radius)


def _alone(value: float | None) -> Interval:
    return Interval(value=value, low=None, high=None)


def _percentiles(found: CurveComparison, drops: np.ndarray) -> Interval:
    value = found.drop_time_error_steps
    if value is None or np.isnan(drops).any():
        return _alone(value)
    ends = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low, high = np.quantile(drops, ends, method="inverted_cdf")  # whole steps
    return Interval(value=value, low=min(float(low), value), high=max(float(high), value))
