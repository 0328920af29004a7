"""Assumptions that may fail, and what replacing one of them brought.

An assumption is named where more than half of the distance goes with it: where the whole interval
of what is left is below half of what was there. Where none of the interval is, it is not; between
the two the networks are too few to tell.
"""

from __future__ import annotations

from functools import cached_property

from symreln.base.records import record

ALIGNMENT, GATES, SCALE, STEP, FLOW, WIDTH, NETWORKS, STAGES, FORMS, BATCHES = (
    "alignment",
    "gates",
    "initial scale",
    "step size",
    "small steps",
    "width",
    "many networks",
    "head starts",
    "closed forms",
    "full batches",
)


def start_of(stage: int) -> str:
    """Return the name of the assumption that a stage's pathways start as strong as they do."""
    return f"start of stage {stage}"


@record
class Finding:
    """One assumption, replaced alone.

    Attributes:
        assumption: Its name.
        replaced: By what, in words.
        before: max |ΔL|/L(0) with the assumption, to the networks that the rest was measured with.
        after: The same with it replaced; None where that was not possible.
        low: Lower end of the 95 % interval of ``after`` over seeds; None where it is one run that
            nothing was drawn for.
        high: Upper end.
        why_not: Why it was not replaced, or "".
        measured: A quantity beside it that says the same, in words, or "".
        fitted: Numbers that were fitted for it, none of which enters a prediction.
    """

    assumption: str
    replaced: str
    before: float
    after: float | None
    low: float | None = None
    high: float | None = None
    why_not: str = ""
    measured: str = ""
    fitted: int = 0

    @property
    def explains(self) -> bool:
        """Whether more than half of the distance goes with the assumption, by all of its interval.

        Where there is no interval the distance itself says it.
        """
        if self.after is None:
            return False
        return (self.after if self.high is None else self.high) < self.before / 2

    @property
    def undecided(self) -> bool:
        """Whether the networks are too few to tell."""
        if self.after is None or self.low is None:
            return False
        return not self.explains and self.low < self.before / 2


@record
class PairDiagnosis:
    """Why one pair of curves disagrees.

    Attributes:
        pair: Its name, as in ``metrics``.
        findings: What was tried, in order.
    """

    pair: str
    findings: tuple[Finding, ...]

    @cached_property
    def named(self) -> tuple[Finding, ...]:
        """What explains the distance."""
        found = [each for each in self.findings if each.explains]
        names = {each.assumption for each in found}
        # A smaller start changes what everything else is replaced in: gates stay as they are and
        # layers align the better the smaller they start, and the more units they have. Where that
        # mends it, it is the cause.
        if SCALE in names:
            found = [
                each
                for each in found
                if each.assumption not in (GATES, ALIGNMENT)
                and not each.assumption.startswith("start of")
            ]
        elif any(
            each.assumption in (SCALE, WIDTH) and (each.explains or each.undecided)
            for each in self.findings
        ):
            found = [each for each in found if each.assumption != ALIGNMENT]
        if STAGES in names:  # what is computed needs no number that is fitted
            found = [each for each in found if not each.fitted]
        return tuple(found)

    @property
    def failed(self) -> tuple[str, ...]:
        """The assumptions that are named; none where the distance is unexplained."""
        return tuple(dict.fromkeys(each.assumption for each in self.named))

    @property
    def left(self) -> float | None:
        """Least distance with a named assumption replaced; None where nothing is named."""
        return min((each.after for each in self.named if each.after is not None), default=None)
