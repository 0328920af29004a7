"""Two samples of loss curves: do they come from one distribution.

No training and no symbols: curves in, numbers out. Nothing assumes a shape of the distributions:
differences are judged by exchanging which sample a curve belongs to, spreads by resampling seeds.
"""

from __future__ import annotations

from itertools import count
from math import comb

import numpy as np

from symreln.base.records import record
from symreln.experiment.metrics import Interval
from symreln.experiment.representation import spread_moments

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


@record(eq=False)
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

    @classmethod
    def of(
        cls, one: np.ndarray, other: np.ndarray, level: float, *, pairs: bool = False
    ) -> CrossingComparison:
        """Compare when two samples of curves fall below a share of their start.

        Args:
            one: Losses, shape (curves, steps).
            other: Likewise.
            level: The share.
            pairs: Whether curves of one row belong together, as those of the same initial weights.
        """
        times = crossing_times(one, level), crossing_times(other, level)
        rng = np.random.default_rng(SEED)
        pooled = np.concatenate(times)[:, None]
        gaps = _largest_gaps(pooled, _labels(len(one), len(other), rng, pairs=pairs))[:, 0]
        known = all(np.isfinite(np.quantile(each, 0.75, method="higher")) for each in times)
        return cls(
            level=level,
            times=times,
            distance=float(gaps[0]),
            p=_share_at_least(gaps),
            shift=_resampled(times, _shift, rng, pairs=pairs) if known else None,
            spread_ratio=_resampled(times, _spread_ratio, rng, pairs=pairs) if known else None,
        )


@record(eq=False)
class CurveTest:
    """Whole curves of two samples at once.

    Attributes:
        distance: Largest Kolmogorov-Smirnov distance over the steps that are compared.
        step: Where it is.
        p: How often exchanged labels give at least that distance somewhere.
        inside: Share of the first sample's losses, over curves and steps, that lie between the
            5 % and 95 % quantiles of the second's, or _RESOLUTION beside them.
        least: Networks of each kind with which a difference could be significant at all.
    """

    distance: float
    step: int
    p: float
    inside: float
    least: int

    @property
    def differ(self) -> bool:
        """Whether the distributions differ by more than chance."""
        return self.p < SIGNIFICANT

    @classmethod
    def of(cls, one: np.ndarray, other: np.ndarray, *, pairs: bool = False) -> CurveTest:
        """Compare two samples of whole curves, shape (curves, steps) each, rows in pairs or not.

        At up to MOMENTS steps, half spread over time and half over the fall of the mean of all
        curves, so that the choice knows nothing of the two samples; losses are rounded to
        _RESOLUTION of the first mean loss.
        """
        pooled = np.concatenate([one, other])
        steps = spread_moments(pooled.mean(axis=0), MOMENTS)
        labels = _labels(len(one), len(other), np.random.default_rng(SEED), pairs=pairs)
        unit = _RESOLUTION * pooled[:, 0].mean()
        gaps = _largest_gaps(np.round(pooled[:, steps] / unit), labels)
        low, high = np.quantile(other, (0.05, 0.95), axis=0) + np.array([[-unit], [unit]])
        return cls(
            distance=float(gaps[0].max()),
            step=int(steps[gaps[0].argmax()]),
            p=_share_at_least(gaps.max(axis=1)),
            inside=float(((one >= low) & (one <= high)).mean()),
            least=_least(pairs=pairs),
        )


def crossing_times(losses: np.ndarray, level: float) -> np.ndarray:
    """Return the first step with a loss < level · L(0) of each curve; infinite where there is none.

    Args:
        losses: Shape (curves, steps).
        level: Share of each curve's own first loss.
    """
    below = losses < level * losses[:, :1]
    return np.where(below.any(axis=1), below.argmax(axis=1).astype(float), np.inf)


def _largest_gaps(values: np.ndarray, first: np.ndarray) -> np.ndarray:
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


def _least(*, pairs: bool) -> int:
    """Return from how many curves a sample on labels can be exchanged to be significant."""
    ways = (2**n if pairs else comb(2 * n, n) for n in count())
    return next(n for n, number in enumerate(ways) if 2 / number < SIGNIFICANT)


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
