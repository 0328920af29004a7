"""Loss, modes and gates: three verdicts, each three-valued by its interval over seeds.

A quantity agrees where its whole 95 % interval is within the tolerance, disagrees where none of it
is, and is undecided otherwise, with the number of seeds that would decide. The one home of all
judgements: of derivations, of graphs and of sweeps.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.experiment.metrics import (
    LEVEL,
    Interval,
    alone,
    around,
    bound_text,
    share_text,
    simultaneous_radius,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.experiment.gates_held import GatesHeld
    from symreln.experiment.strengths import ModeMeasured
    from symreln.experiment.uninformative import Uninformative

Outcome = Literal["agrees", "disagrees", "undecided", "not tested"]
#: Numbers of seeds above which nobody would train them.
MOST_SEEDS = 10_000
_ONE_SEED = "one seed gives no interval; train at least two"


@record
class Verdict:
    """The judgement of one quantity.

    Attributes:
        outcome: "agrees", "disagrees", "undecided" or "not tested".
        value: As measured; None where nothing was.
        interval: Ends of its interval over seeds; None where there is none.
        tolerance: What it is judged by.
        reason: Why, in words, with the numbers.
    """

    outcome: Outcome
    value: float | None
    interval: tuple[float, float] | None
    tolerance: float
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether it agrees."""
        return self.outcome == "agrees"


def not_tested(reason: str, tolerance: float, value: float | None = None) -> Verdict:
    """Return the verdict of what could not be judged."""
    return Verdict(
        outcome="not tested", value=value, interval=None, tolerance=tolerance, reason=reason
    )


def outcome_of(found: Interval, tolerance: float) -> Outcome:
    """Return the outcome of a distance; "not tested" where it has no interval."""
    if found.value is None or found.low is None or found.high is None:
        return "not tested"
    if found.high <= tolerance:
        return "agrees"
    return "disagrees" if found.low > tolerance else "undecided"


def _deciding_seeds(
    found: Interval, tolerance: float, seeds: int, fixed: float = 0.0
) -> int | None:
    """Return about how many seeds would decide; None where no number that can be trained would.

    Args:
        found: A distance with its interval.
        tolerance: What it is judged by.
        seeds: Of which its interval is.
        fixed: Part of the interval's radius that more seeds leave as it is.
    """
    assert found.value is not None
    assert found.high is not None
    width = found.high - found.value
    radius = sqrt(max(0.0, (width - fixed) * (width + fixed)))  # a square of floats may overflow
    gap = abs(found.value - tolerance)
    if gap <= fixed:
        return None
    needed = sqrt((gap - fixed) * (gap + fixed))
    for count in range(seeds + 1, MOST_SEEDS + 1):
        if radius * _width(count) / _width(seeds) <= needed:
            return count
    return None


def _width(seeds: int) -> float:
    """Return the width of an interval for a mean, in standard deviations of one seed."""
    return float(stdtrit(seeds - 1, (1 + LEVEL) / 2)) / sqrt(seeds)


def _worst_of(found: Sequence[Interval]) -> Interval:
    """Return the interval of the largest of several distances; no ends where one has none.

    Raises:
        ValueError: There are none.
    """
    value = max(each.value if each.value is not None else -inf for each in found)
    ends = [(each.low, each.high) for each in found if None not in (each.low, each.high)]
    if len(ends) < len(found):
        return alone(value)
    low, high = (max(end for end in side if end is not None) for side in zip(*ends, strict=True))
    return Interval(value=value, low=low, high=high)


def _judged(
    found: Interval,
    tolerance: float,
    seeds: int,
    reason: str,
    uninformative: Uninformative | None,
    *,
    fixed: float = 0.0,
    shown: Interval | None = None,
) -> Verdict:
    """Judge a distance.

    Args:
        found: The distance.
        tolerance: Largest allowed one.
        seeds: Networks of each kind.
        reason: What was found, in words.
        uninformative: Why training tests nothing; a disagreement is one all the same.
        fixed: Part of the interval's radius that more seeds leave as it is.
        shown: What is given out in the place of the distance.
    """
    shown, outcome = shown or found, outcome_of(found, tolerance)
    if outcome == "not tested":
        return not_tested(f"{_ONE_SEED} ({reason})", tolerance, shown.value)
    if uninformative is not None and outcome != "disagrees":
        return not_tested(f"{uninformative.sentence()} ({reason})", tolerance, shown.value)
    if outcome == "undecided":
        reason += _decided_by(found, tolerance, seeds, fixed)
    assert shown.low is not None
    assert shown.high is not None
    return Verdict(
        outcome=outcome,
        value=shown.value,
        interval=(shown.low, shown.high),
        tolerance=tolerance,
        reason=reason,
    )


def _decided_by(found: Interval, tolerance: float, seeds: int, fixed: float = 0.0) -> str:
    """Say how many seeds would decide, after what is undecided."""
    count = _deciding_seeds(found, tolerance, seeds, fixed)
    if count is not None:
        return f"; about {count} seeds would decide"
    if fixed > abs((found.value or 0.0) - tolerance):
        own = percent(fixed, tolerance)
        return f"; more seeds cannot decide: the prediction's own Monte Carlo error is {own}"
    return f"; more than {MOST_SEEDS} seeds would be needed to decide"


def loss_verdict(
    distances: Mapping[str, Interval],
    tolerance: float,
    seeds: int,
    uninformative: Uninformative | None,
    error: float = 0.0,
) -> Verdict:
    """Judge max |ΔL|/L(0) of the judged curve: the worst of several kinds of networks.

    Args:
        distances: By what is compared, "against the …".
        tolerance: Largest allowed distance.
        seeds: Networks of each kind.
        uninformative: Why training tests nothing, or None.
        error: Monte Carlo error of the judged curve, which more seeds leave as it is.
    """
    what = " and ".join(f"{share_text(x, tolerance)} {name}" for name, x in distances.items())
    reason = f"max |ΔL|/L(0) is {what}, tolerance {bound_text(tolerance)}"
    found = _worst_of(list(distances.values()))
    return _judged(found, tolerance, seeds, reason, uninformative, fixed=error)


def modes_verdict(
    modes: Sequence[ModeMeasured],
    tolerance: float,
    names: Mapping[str, str],
    rng: int,
    uninformative: Uninformative | None = None,
    error: float = 0.0,
) -> Verdict:
    """Judge measured strengths by their formulas, relative to the plateaus: the worst mode.

    Args:
        modes: All that were measured, of every kind of network.
        tolerance: Largest allowed difference over the plateau.
        names: What every kind of network is called.
        rng: Seed of the intervals.
        uninformative: Why training tests nothing, or None.
        error: Monte Carlo error of the formulas' strengths over their plateaus, as a radius.
    """
    asked = [mode for mode in modes if mode.why_not(tolerance) == ""]
    left = _left_out([m for m in modes if "attributable" in m.why_not(tolerance)], names)
    if not asked:
        idle = "no mode was learned, in theory or in training" if modes else "none was measured"
        return not_tested(left or idle, tolerance)
    intervals = []
    for subject in dict.fromkeys(mode.subject for mode in asked):
        own = [mode for mode in asked if mode.subject == subject]
        radius = simultaneous_radius(np.hstack([m.measured / m.plateau for m in own]), rng)
        ends = None if radius is None else float(np.hypot(radius, error))
        intervals.append(around(max(mode.difference for mode in own), ends))
    found, top = _worst_of(intervals), max(asked, key=lambda mode: mode.difference)
    reason = (
        f"relative error {share_text(found, tolerance)} of the plateau, the worst of {len(asked)}: "
        f"{top.label} of the {names[top.subject]}{left and f'; {left}'}"
    )
    verdict = _judged(found, tolerance, len(top.measured), reason, uninformative, fixed=error)
    return replace(verdict, outcome="not tested") if left and verdict.agrees else verdict


def _left_out(lost: Sequence[ModeMeasured], names: Mapping[str, str]) -> str:
    parts = []
    for subject in dict.fromkeys(mode.subject for mode in lost):
        labels = [mode.label for mode in lost if mode.subject == subject]
        shown = ", ".join(labels[:4]) + (", …" if len(labels) > 4 else "")
        parts.append(f"not attributable in the {names[subject]}: {shown}")
    return "; ".join(parts)


def gates_verdict(
    held: GatesHeld | str, tolerance: float, rng: int, uninformative: Uninformative | None
) -> Verdict:
    """Judge the share of the weight that has one of the spec's gates: the worst stage's.

    Args:
        held: The shares, or why there are none.
        tolerance: Largest share of the weight that may have another gate.
        rng: Seed of the intervals.
        uninformative: Why training tests nothing, or None.
    """
    if isinstance(held, str):
        return not_tested(held, tolerance)
    means = held.shares.mean(axis=0)
    place = int(np.argmin(means))
    lacking = around(float(1 - means[place]), simultaneous_radius(held.shares, rng))
    share = alone(float(means[place]))
    if lacking.low is not None and lacking.high is not None:
        share = replace(share, low=max(0.0, 1 - lacking.high), high=1 - lacking.low)
    reason = (
        f"{share_text(share)} of the weight has a gate of the spec at the end of "
        f"{held.stages[place]} (step {held.steps[place]}; a sample with pre-activation 0 fits any "
        f"gate). The tolerance asks for {percent(1 - tolerance)}"
    )
    if held.unended:
        reason += f". Not tested: {held.unended}"
    if uninformative is not None and share.low is not None:  # units may not have turned yet
        return not_tested(f"{uninformative.sentence()} ({reason})", tolerance, share.value)
    return _judged(lacking, tolerance, len(held.shares), reason, None, shown=share)
