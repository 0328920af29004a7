"""Distances between loss curves, what seeds differ by among themselves, and drift of gates.

No training and no symbols: curves in, numbers out. A curve is a loss at steps 0, 1, 2, …, one value
a step. Source of the definitions: the interface's ``validation.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError

DROP = 0.9  # the interface's drop time: the first step with a loss under this share of the first


@dataclass(frozen=True, kw_only=True)
class CurveComparison:
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

    max_abs_over_initial: float
    mean_abs_over_initial: float
    drop_time_error_steps: float | None
    log10_tail_rms: float | None


@short_repr
@dataclass(frozen=True, kw_only=True)
class SeedFloor:
    """What each seed's curve (A) differs from the mean of the others (B).

    No prediction of the mean can be asked to be closer to one network than networks are to each
    other.

    Attributes:
        mean: Mean over seeds of each metric; of the drop time, of its absolute error.
        maximum: Maximum over seeds, likewise.
        each: The comparisons, one a seed.
    """

    mean: CurveComparison
    maximum: CurveComparison
    each: tuple[CurveComparison, ...]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SeedBand:
    """Spread over seeds at each step.

    Attributes:
        quantiles: Q numbers in [0, 1].
        values: Loss at each quantile, shape (Q, steps).
        mean: Mean over seeds, shape (steps,).
    """

    quantiles: tuple[float, ...]
    values: np.ndarray
    mean: np.ndarray


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GateDrift:
    """How far hidden activity patterns are from those of the last snapshot.

    Attributes:
        steps: Snapshot steps, K of them.
        share: Shape (seeds, K): share of (neuron, sample) gates that differ from the last
            snapshot's, each neuron weighted by its contribution ‖w1‖‖w2‖ at the snapshot itself.
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


def drop_time(curve: np.ndarray) -> int | None:
    """First step with a loss < 0.9 of the curve's own first; None where it never gets there."""
    below = np.asarray(curve) < DROP * curve[0]
    return int(np.argmax(below)) if below.any() else None


def compare(curve_a: np.ndarray, curve_b: np.ndarray) -> CurveComparison:
    """Compare two loss curves at the same steps.

    Args:
        curve_a: Shape (steps,); the prediction, where there is one.
        curve_b: Shape (steps,); what it is compared with. Its first loss is the unit.

    Raises:
        InputError: Different lengths, no steps, an entry that is not finite, or a first loss of
            curve B that is not positive.

    Example:
        >>> compare(np.array([4.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0]))
        ... # doctest: +NORMALIZE_WHITESPACE
        CurveComparison(max_abs_over_initial=0.25, mean_abs_over_initial=0.08333333333333333,
                        drop_time_error_steps=0, log10_tail_rms=0.0)
    """
    a, b = _checked_curve("curve_a", curve_a), _checked_curve("curve_b", curve_b)
    if a.shape != b.shape:
        msg = (
            f"compare: curve_a has {len(a)} steps, curve_b {len(b)}. "
            "Evaluate both at the same steps 0, 1, 2, …"
        )
        raise InputError(msg)
    initial = float(b[0])
    if initial <= 0:
        msg = (
            f"compare: the first loss of curve_b is {initial}, so there is nothing to learn and "
            "no unit to measure in. Give targets that the initial network does not already fit."
        )
        raise InputError(msg)
    distance = np.abs(a - b) / initial
    drop_a, drop_b = drop_time(a), drop_time(b)
    return CurveComparison(
        max_abs_over_initial=float(distance.max()),
        mean_abs_over_initial=float(distance.mean()),
        drop_time_error_steps=None if drop_a is None or drop_b is None else drop_a - drop_b,
        log10_tail_rms=_tail_rms(a, b, initial),
    )


def _checked_curve(name: str, curve: np.ndarray) -> np.ndarray:
    values = np.asarray(curve, dtype=float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        what = f"shape {values.shape}" if values.ndim != 1 or not len(values) else "NaN or infinity"
        msg = f"compare: {name} has {what}. Give one finite loss a step, shape (steps,)."
        raise InputError(msg)
    return values


def _tail_rms(a: np.ndarray, b: np.ndarray, initial: float) -> float | None:
    tail = slice((3 * len(a)) // 4, None)
    floor = np.finfo(float).eps * initial
    if max(a[tail].max(), b[tail].max()) <= floor:
        return None
    difference = np.log10(np.maximum(a[tail], floor)) - np.log10(np.maximum(b[tail], floor))
    return float(np.sqrt(np.mean(difference**2)))


def seed_floor(losses: np.ndarray, together: int | None = None) -> SeedFloor | None:
    """Compare each seed's curve with the mean of the others.

    Args:
        losses: Shape (seeds, steps).
        together: How many are compared with each other, in groups one after the other: the mean of
            few others is farther off. All of them, or as many as there are, by default.

    Returns:
        The floor; None for a single seed, which has nothing to be compared with.
    """
    size = min(together or len(losses), len(losses))
    if size < 2:
        return None
    starts = range(0, len(losses) - size + 1, size)
    each = tuple(one for start in starts for one in _left_out(losses[start : start + size]))
    return SeedFloor(mean=_over_seeds(each, np.mean), maximum=_over_seeds(each, np.max), each=each)


def _left_out(losses: np.ndarray) -> Iterator[CurveComparison]:
    """Yield how far each curve is from the mean of the others."""
    total = losses.sum(axis=0)
    for curve in losses:
        yield compare(curve, (total - curve) / (len(losses) - 1))


def _over_seeds(each: Sequence[CurveComparison], reduce: np.ufunc | object) -> CurveComparison:
    drops = [one.drop_time_error_steps for one in each]
    known = [abs(drop) for drop in drops if drop is not None]

    def over(values: list[float]) -> float:
        return float(reduce(values))  # pyright: ignore[reportCallIssue]

    return CurveComparison(
        max_abs_over_initial=over([one.max_abs_over_initial for one in each]),
        mean_abs_over_initial=over([one.mean_abs_over_initial for one in each]),
        drop_time_error_steps=over(known) if len(known) == len(drops) else None,
        log10_tail_rms=over(tails) if (tails := _known_tails(each)) else None,
    )


def _known_tails(each: Sequence[CurveComparison]) -> list[float]:
    return [one.log10_tail_rms for one in each if one.log10_tail_rms is not None]


def seed_band(losses: np.ndarray, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> SeedBand:
    """Quantiles over seeds of the loss at each step.

    Args:
        losses: Shape (seeds, steps).
        quantiles: Numbers in [0, 1]; between two seeds the value is interpolated.
    """
    values = np.quantile(losses, quantiles, axis=0)
    return SeedBand(quantiles=tuple(quantiles), values=values, mean=losses.mean(axis=0))


def gate_drift(
    activity: np.ndarray, contribution: np.ndarray, steps: Sequence[int], losses: np.ndarray
) -> GateDrift:
    """How much the gates of ReLU networks move, weighted by what the neurons contribute.

    Args:
        activity: Patterns 1[W1 x_μ > 0] at K snapshots, truth values, shape (seeds, K, H, P).
        contribution: ‖w1_h‖ ‖w2_h‖ at the same, shape (seeds, K, H).
        steps: The snapshot steps.
        losses: Shape (seeds, steps of the training).

    Raises:
        InputError: The shapes do not fit.
    """
    seeds, count, hidden, _ = activity.shape
    if contribution.shape != (seeds, count, hidden) or len(steps) != count or len(losses) != seeds:
        msg = (
            f"gate_drift: activity {activity.shape}, contribution {contribution.shape}, "
            f"{len(steps)} steps, losses {losses.shape}. Give (seeds, K, H, P), (seeds, K, H), "
            "K steps, (seeds, steps)."
        )
        raise InputError(msg)
    moved = np.stack([(activity[:, k] != activity[:, -1]).mean(axis=2) for k in range(count)], 1)
    weight = contribution.sum(axis=2)
    # Where no neuron contributes, no gate matters: a share of 0.
    safe = np.where(weight > 0, weight, 1.0)
    share = (moved * contribution).sum(axis=2) / safe
    after = [
        share[seed, k]
        for seed, drop in enumerate(map(drop_time, losses))
        for k, step in enumerate(steps)
        if drop is not None and step >= drop
    ]
    return GateDrift(
        steps=tuple(steps), share=share, max_after_drop=float(max(after)) if after else None
    )
