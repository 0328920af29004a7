"""Loss, modes and gates: three verdicts, each three-valued by its interval over seeds.

A quantity agrees where its whole 95 % interval is within the tolerance, disagrees where none of it
is, and is undecided otherwise, with the number of seeds that would decide. The one home of all
judgements: of derivations, of graphs and of sweeps.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.experiment.metrics import LEVEL, Interval, around, simultaneous_radius
from symreln.experiment.words import bound_text, share_text

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


def deciding_seeds(found: Interval, tolerance: float, seeds: int, fixed: float = 0.0) -> int | None:
    """Return about how many seeds would decide; None where no number that can be trained would.

    Args:
        found: A distance with its interval.
        tolerance: What it is judged by.
        seeds: Of which its interval is.
        fixed: Part of the interval's radius that more seeds leave as it is.
    """
    assert found.value is not None
    assert found.high is not None
    radius = sqrt(max(0.0, (found.high - found.value) ** 2 - fixed**2))
    gap = abs(found.value - tolerance)
    if gap <= fixed:
        return None
    needed = sqrt(gap**2 - fixed**2)
    for count in range(seeds + 1, MOST_SEEDS + 1):
        if radius * _width(count) / _width(seeds) <= needed:
            return count
    return None


def _width(seeds: int) -> float:
    """Return the width of an interval for a mean, in standard deviations of one seed."""
    return float(stdtrit(seeds - 1, (1 + LEVEL) / 2)) / sqrt(seeds)


def _worst_of(found: Sequence[Interval]) -> Interval:
    """Return the interval of the largest of several distances.

    Raises:
        ValueError: There are none.
    """
    value = max(each.value if each.value is not None else -inf for each in found)
    lows = [each.low for each in found if each.low is not None]
    highs = [each.high for each in found if each.high is not None]
    if len(lows) < len(found) or len(highs) < len(found):
        return Interval(value=value, low=None, high=None)
    return Interval(value=value, low=max(lows), high=max(highs))


def _judge(
    found: Interval, tolerance: float, seeds: int, fixed: float, before: str = "", after: str = ""
) -> Verdict:
    """Judge a distance; what it is is said before and after its number."""
    outcome = outcome_of(found, tolerance)
    if outcome == "not tested":
        text = f"{before}{percent(found.value or 0.0, tolerance)}{after}"
        return not_tested(f"{_ONE_SEED} ({text})", tolerance, found.value)
    reason = f"{before}{share_text(found, tolerance)}{after}"
    if outcome == "undecided":
        reason += _decided_by(found, tolerance, seeds, fixed)
    assert found.low is not None
    assert found.high is not None
    return Verdict(
        outcome=outcome,
        value=found.value,
        interval=(found.low, found.high),
        tolerance=tolerance,
        reason=reason,
    )


def _decided_by(found: Interval, tolerance: float, seeds: int, fixed: float = 0.0) -> str:
    """Say how many seeds would decide, after what is undecided."""
    count = deciding_seeds(found, tolerance, seeds, fixed)
    if count is None:
        if fixed > abs((found.value or 0.0) - tolerance):
            own = percent(fixed, tolerance)
            return f"; more seeds cannot decide: the prediction's own Monte Carlo error is {own}"
        return f"; more than {MOST_SEEDS} seeds would be needed to decide"
    return f"; about {count} seeds would decide"


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
    what = " and ".join(
        f"{share_text(found, tolerance)} {name}" for name, found in distances.items()
    )
    found = _worst_of(list(distances.values()))
    verdict = _judge(found, tolerance, seeds, error)
    if uninformative is not None and verdict.outcome != "disagrees":
        return not_tested(f"{uninformative.sentence()} ({what})", tolerance, found.value)
    reason = f"max |ΔL|/L(0) is {what}, tolerance {bound_text(tolerance)}"
    if verdict.outcome == "not tested":
        reason = f"{_ONE_SEED} ({reason})"
    if verdict.outcome == "undecided":
        reason += _decided_by(found, tolerance, seeds, error)
    return Verdict(
        outcome=verdict.outcome,
        value=found.value,
        interval=verdict.interval,
        tolerance=tolerance,
        reason=reason,
    )


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
    lost = [mode for mode in modes if "attributable" in mode.why_not(tolerance)]
    left = _left_out(lost, names)
    if not asked:
        idle = "no mode was learned, in theory or in training" if modes else "none was measured"
        return not_tested(left or idle, tolerance)
    intervals, worst = [], {}
    for subject in dict.fromkeys(mode.subject for mode in asked):
        own = [mode for mode in asked if mode.subject == subject]
        stacked = np.hstack([mode.measured / mode.plateau for mode in own])
        radius = simultaneous_radius(stacked, rng)
        top = max(own, key=lambda mode: mode.difference)
        worst[subject] = top
        ends = None if radius is None else float(np.hypot(radius, error))
        intervals.append(around(top.difference, ends))
    found = _worst_of(intervals)
    top = max(worst.values(), key=lambda mode: mode.difference)
    after = f" of the plateau, the worst of {len(asked)}: {top.label} of the {names[top.subject]}"
    verdict = _judge(found, tolerance, len(top.measured), error, "relative error ", after)
    reason = verdict.reason + (f"; {left}" if left else "")
    if uninformative is not None and verdict.outcome != "disagrees":
        return not_tested(f"{uninformative.sentence()} ({reason})", tolerance, verdict.value)
    outcome = "not tested" if left and verdict.outcome == "agrees" else verdict.outcome
    return Verdict(
        outcome=outcome,
        value=verdict.value,
        interval=verdict.interval,
        tolerance=tolerance,
        reason=reason,
    )


def _left_out(lost: Sequence[ModeMeasured], names: Mapping[str, str]) -> str:
    parts = []
    for subject in dict.fromkeys(mode.subject for mode in lost):
        own = [mode.label for mode in lost if mode.subject == subject]
        shown = ", ".join(own[:4]) + (", …" if len(own) > 4 else "")
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
    radius = simultaneous_radius(held.shares, rng)
    lacking = around(float(1 - means[place]), radius)
    value = float(means[place])
    where = (
        f"of the weight has a gate of the spec at the end of {held.stages[place]} "
        f"(step {held.steps[place]}; a sample with pre-activation 0 fits any gate). The tolerance "
        f"asks for {percent(1 - tolerance)}"
    )
    if held.unended:
        where += f". Not tested: {held.unended}"
    if lacking.low is None or lacking.high is None:
        return not_tested(f"{_ONE_SEED} ({percent(value)} {where})", tolerance, value)
    share = Interval(value=value, low=max(0.0, 1 - lacking.high), high=1 - lacking.low)
    reason = f"{share_text(share)} {where}"
    if uninformative is not None:
        return not_tested(f"{uninformative.sentence()} ({reason})", tolerance, value)
    outcome = outcome_of(lacking, tolerance)
    if outcome == "undecided":
        reason += _decided_by(lacking, tolerance, len(held.shares))
    assert share.low is not None
    assert share.high is not None
    return Verdict(
        outcome=outcome,
        value=value,
        interval=(share.low, share.high),
        tolerance=tolerance,
        reason=reason,
    )
