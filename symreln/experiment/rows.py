"""One line of a confrontation's table: a distance, as it is or with one thing replaced.

Curves that are compared, what is published, and each assumption that was replaced where theory and
training disagree are lines of one table. An assumption fails where that is proven, or where more
than half of the distance goes with it: where the whole 95 % interval over seeds of what is left is
below half of what was there. Where the interval is on both sides of the half that is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable

from symreln.base.records import record
from symreln.experiment.metrics import METRICS, Distance, Interval, alone

ALIGNMENT, GATES, SCALE, STEP, FORMS, WIDTH, NETWORKS, BATCHES = (
    "alignment",
    "gates",
    "initial scale",
    "step size",
    "closed forms",
    "width",
    "many networks",
    "full batches",
)
"""Assumptions that may fail."""

PUBLISHED, FLOOR = "published", "seed_floor"
"""What stands in the place of a pair where none of ours is compared."""


@record
class Row:
    """One distance between theory and training, max |ΔL|/L(0) first.

    Attributes:
        pair: Name of the pair of curves, as in ``metrics``, or :data:`PUBLISHED` or :data:`FLOOR`.
        assumption: What theory takes for granted and is replaced; "" where curves are compared as
            they are.
        replaced: By what, in words; of what is published by whom.
        before: max |ΔL|/L(0) with the assumption, to the networks that the rest was measured with.
        distance: The distance, with the assumption replaced; None where that was not possible.
        why_not: Why it was not replaced, or "".
        proven: Why the assumption is known to fail, whatever was measured, or "".
        measured: A quantity beside it that says the same, in words, or "".
    """

    pair: str
    assumption: str = ""
    replaced: str = ""
    before: float | None = None
    distance: Distance[Interval] | None = None
    why_not: str = ""
    proven: str = ""
    measured: str = ""

    @property
    def after(self) -> Interval:
        """Max |ΔL|/L(0) and its interval over seeds."""
        return alone(None) if self.distance is None else self.distance.max_abs_over_initial

    @property
    def explains(self) -> bool:
        """Whether the assumption fails."""
        high = self.after.value if self.after.high is None else self.after.high
        return bool(self.proven) or (high is not None and high < (self.before or 0) / 2)

    @property
    def undecided(self) -> bool:
        """Whether the networks are too few to tell."""
        low = self.after.low
        return not self.explains and low is not None and low < (self.before or 0) / 2


def named(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return those of one pair's rows that explain its distance, what is proven first.

    A smaller start changes what everything else is replaced in: gates stay as they are, layers
    align and closed forms hold the better the smaller they start, and layers the more units they
    have. Where that mends it, it is the cause. So is a step that is too large where closed forms
    fail.
    """
    rows = tuple(rows)
    found = [row for row in rows if row.explains]
    names = {row.assumption for row in found}
    weaker = {row.assumption for row in rows if row.explains or row.undecided}
    hidden = {ALIGNMENT} if weaker & {SCALE, WIDTH} else set()
    hidden |= {FORMS} if STEP in names else set()
    hidden |= {GATES, ALIGNMENT, FORMS} if SCALE in names else set()
    return tuple(row for row in found if row.proven or row.assumption not in hidden)


def left_of(rows: Iterable[Row]) -> float | None:
    """Return the least distance with a named assumption replaced; None where none was measured."""
    values = (row.after.value for row in named(rows))
    return min((value for value in values if value is not None), default=None)


# -- what others have published --------------------------------------------------------------------

HAND_SET = "initial strengths a pathway, overlaps, divisors, context scales"
"""What was set by hand in the published predictions."""


def _published(what: str, largest: Interval, drop: int | None = None) -> Row:
    known = {"max_abs_over_initial": largest, "drop_time_error_steps": alone(drop)}
    distance = {metric.name: known.get(metric.name, alone(None)) for metric in METRICS}
    return Row(pair=PUBLISHED, replaced=f"[Jarvis2025], {what}", distance=Distance(**distance))


#: By ready-made spec. The closed forms of [Jarvis2025] against trained ReLU networks, by the
#: official code; 8, 1 and 26 steps are the errors of the first drop for 3, 4 and 5 contexts, in an
#: earlier measurement. No drop time was measured for section 4, whose race script draws a further
#: curve, in a range.
PUBLISHED_ROWS: dict[str, tuple[Row, ...]] = {
    "contextual-3": (_published("section 5, closed form", alone(0.037), 8),),
    "contextual-4": (_published("section 5, closed form", alone(0.015), 1),),
    "contextual-5": (_published("section 5, closed form", alone(0.157), 26),),
    "contextual-different": (
        _published("section 4, closed form", alone(0.038)),
        _published("section 4, race script", Interval(value=0.115, low=0.115, high=0.125)),
    ),
}
