"""A diagnosis in words: which assumption fails, on which evidence, or that nothing explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.experiment.findings import (
    ALIGNMENT,
    AND,
    FLOW,
    GATES,
    NETWORKS,
    SCALE,
    STAGES,
    STEP,
    WIDTH,
)
from symreln.experiment.intervals import Interval
from symreln.experiment.words import interval_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.experiment.findings import Finding, PairDiagnosis

#: What is said of an assumption that fails, after "what fails is".
FAILS = {
    ALIGNMENT: "the aligned start of the strength that is taken, which random layers do not have",
    GATES: "the gate pattern, which the network's units do not keep to",
    SCALE: "the initial scale, which is too large",
    STEP: "the step size, which is too large",
    FLOW: "infinitely small steps, which the network does not take",
    STAGES: "that earlier stages have converged before later ones start",
    WIDTH: "the limit of many hidden units, of which there are too few",
    NETWORKS: "the number of networks, which is too small to tell",
}


def failed_text(
    place: str, found: PairDiagnosis, tolerance: float, says: Mapping[str, str] = FAILS
) -> str:
    """Say it of the networks at a place, "against …"."""
    if not found.named:
        if any(each.undecided for each in found.findings):
            return f"{place} the networks are too few to tell what fails{_tried(found)}"
        return f"{place} the distance is unexplained{_tried(found)}"
    named = " and ".join(f"{_says(each, says)} ({_evidence(each)})" for each in found.named)
    text = f"{place} what fails is {named}"
    if found.left is not None and found.left > tolerance:
        left = percent(found.left, tolerance)
        text += (
            f"; {left} is left then, which is more than the tolerance{_beyond(found, tolerance)}"
        )
    return text


def left_text(found: Finding) -> str:
    """Return what replacing an assumption left, with its interval, or why that is not known."""
    if found.after is None:
        return found.why_not or found.measured
    shown = interval_text(Interval(value=found.after, low=found.low, high=found.high), percent)
    return f"{shown}, undecided" if found.undecided else shown


def _says(found: Finding, says: Mapping[str, str]) -> str:
    if len(found.parts) > 1:
        return f"shared by {AND.join(f'the {name}' for name in found.parts)}"
    return says.get(found.assumption, f"the {found.assumption}")


def _tried(found: PairDiagnosis) -> str:
    if not found.findings:
        return ""
    before = percent(found.findings[0].before)
    tried = [f"{e.assumption} {left_text(e)}" for e in found.findings if e.after is not None]
    left_out: dict[str, list[str]] = {}
    for each in found.findings:
        if each.after is None:
            left_out.setdefault(each.why_not or each.measured, []).append(each.assumption)
    tried += [f"not tried {', '.join(names)} ({why})" for why, names in left_out.items()]
    return f": of {before}, more than half is left, or may be, without {'; '.join(tried)}"


def _evidence(found: Finding) -> str:
    if found.after is None:
        return found.measured
    parts = [f"with {found.replaced} {percent(found.before)} become {left_text(found)}"]
    return ", and ".join([*parts, *([found.measured] if found.measured else [])])


def _beyond(found: PairDiagnosis, tolerance: float) -> str:
    """Say what explains the rest: an assumption that went unnamed, or one beside a named one."""
    rest = [
        f"{percent(each.after, tolerance)} with {each.replaced}"
        for each in found.findings
        if len(each.parts) == 1
        and each.assumption not in found.failed
        and each.after is not None
        and each.after <= tolerance
    ]
    if rest:
        return f": {AND.join(rest)}"
    together = [each for each in found.findings if len(each.parts) > 1 and each.after is not None]
    best = min(together, key=lambda each: each.after or 0.0, default=None)
    if best is None or best.after is None or best.after > tolerance:
        return " and unexplained"
    names = AND.join(f"the {name}" for name in best.parts)
    after = percent(best.after, tolerance)
    return f": with {names} replaced together {percent(best.before)} become {after}"
