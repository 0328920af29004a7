"""When the loss of an effective network drops, and the units of which gates grow meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.base.summaries import few
from symreln.claims.claim import Claim

#: Share of the growth that the units which are named make.
_MOST_OF = 0.9
#: Times, by equal ratios, at which the loss is looked at for drops; and the size of a drop, and the
#: rate that it stands out by, in a factor e of time, over L(0).
_TIMES, _LEAST_DROP = 400, 0.02
#: Share of its rate by which a drop stands out: draws that drop one after the other are one drop.
_APART = 0.25


@record
class Drop(Claim):
    """A drop of the loss.

    Attributes:
        step: Where the loss falls fastest, in logarithmic time.
        unit: Name of the pathway whose gate is nearest to the units that grow most meanwhile.
        units: Names of those whose units make nearly all of the growth, the largest first.
        gate: As of the pathway.
        loss_before: Loss over L(0) where it begins.
        loss_after: Loss over L(0) where the next one begins, or at the last step.
    """

    step: int
    unit: str
    units: tuple[str, ...]
    gate: str | None
    loss_before: float
    loss_after: float

    @property
    def sentence(self) -> str:
        """Whose units grow, and how far the loss falls."""
        before, after = (percent(round(loss, 6)) for loss in (self.loss_before, self.loss_after))
        units = few(self.units, 4)
        return f"step {self.step}: units of {units} grow, loss {before} to {after} of L(0)"


def timeline_of_units(
    losses: np.ndarray,
    looks: Sequence[int],
    strengths: np.ndarray,
    named: Sequence[tuple[str, str | None]],
) -> tuple[Drop, ...]:
    """Return the drops of a loss, each with the gate whose units grow most meanwhile.

    Args:
        losses: At steps 0, 1, …, shape (steps,).
        looks: Steps at which strengths are known, from the horizon on.
        strengths: Of the units of each gate, shape (looks, gates).
        named: Name and pattern of each gate.
    """
    found = []
    for step, (begin, end), (before, after) in drops_of(losses, looks[0]):
        pairs = [np.interp([begin, end], looks, row) for row in strengths.T]
        grown = np.diff(pairs)[:, 0]
        order, made = np.argsort(-grown, kind="stable"), np.maximum(grown, 0)
        before_it = np.cumsum(made[order]) - made[order]
        named_too = order[: max(1, int((before_it < _MOST_OF * made.sum()).sum()))]
        name, gate = named[order[0]]
        units = tuple(named[place][0] for place in named_too.tolist())
        drop = Drop(
            step=step, unit=name, units=units, gate=gate, loss_before=before, loss_after=after
        )
        found.append(drop)
    return tuple(found)


def drops_of(
    losses: np.ndarray, begin: int
) -> list[tuple[int, tuple[int, int], tuple[float, float]]]:
    """Return the drops of a loss: where it falls fastest, from where to where, and how far.

    Args:
        losses: At steps 0, 1, …, shape (steps,).
        begin: From which step on it is looked at.

    Returns:
        (step, (first, last step), loss over L(0) at both), in logarithmic time.
    """
    # Here, because it takes a second to import, and given gates have no timeline.
    from scipy.signal import find_peaks

    grid = np.unique(np.geomspace(begin + 1, len(losses), _TIMES).round().astype(int)) - 1
    if len(grid) < 2:
        return []
    curve = losses[grid] / losses[0]
    rates = -np.gradient(curve, np.log1p(grid))
    padded = np.pad(rates, 1)  # training may begin or end in the middle of a drop
    peaks, found = find_peaks(padded, prominence=_LEAST_DROP)
    peaks = peaks[found["prominences"] >= _APART * padded[peaks]] - 1
    valleys = [low + int(np.argmin(rates[low:high])) for low, high in pairwise(peaks)]
    steps = grid.tolist()
    return [
        (steps[peak], (steps[low], steps[high]), (float(curve[low]), float(curve[high])))
        for peak, (low, high) in zip(peaks, pairwise([0, *valleys, len(grid) - 1]), strict=False)
        if curve[low] - curve[high] >= _LEAST_DROP
    ]
