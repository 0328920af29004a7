"""What others have published for the same experiments, to be printed beside our own figures."""

from __future__ import annotations

from symreln.base.records import record


@record
class PublishedPrediction:
    """Agreement of a published prediction with trained ReLU networks.

    Attributes:
        source: Whose prediction, and what it is.
        max_abs_over_initial: max |ΔL|/L(0) over the steps.
        drop_time_error_steps: Steps between predicted and measured first drop, or None where it
            was not measured.
        hand_set_constants: What was set by hand in it, in words.
        others: (what, lowest, highest) max |ΔL|/L(0) of further published curves.
    """

    source: str
    max_abs_over_initial: float
    drop_time_error_steps: int | None
    hand_set_constants: str
    others: tuple[tuple[str, float, float], ...] = ()

    def closer_than(self, ours: float | None) -> bool:
        """Whether it is nearer to its network than ours is, the judged curve's distance."""
        return ours is not None and self.max_abs_over_initial < ours


_HAND_SET = "initial strengths a pathway, overlaps, divisors, context scales"

#: Keyed by the ready-made spec. The closed forms of [Jarvis2025] against trained ReLU networks, by
#: the official code; 8, 1 and 26 steps are the errors of the first drop for 3, 4 and 5 contexts, in
#: an earlier measurement. No drop time was measured for section 4, whose race script draws a
#: further curve.
PUBLISHED: dict[str, PublishedPrediction] = {
    f"contextual-{contexts}": PublishedPrediction(
        source="[Jarvis2025], section 5, closed form",
        max_abs_over_initial=largest,
        drop_time_error_steps=steps,
        hand_set_constants=_HAND_SET,
    )
    for contexts, largest, steps in ((3, 0.037, 8), (4, 0.015, 1), (5, 0.157, 26))
} | {
    "contextual-different": PublishedPrediction(
        source="[Jarvis2025], section 4, closed form",
        max_abs_over_initial=0.038,
        drop_time_error_steps=None,
        hand_set_constants=_HAND_SET,
        others=(("[Jarvis2025], section 4, race script", 0.115, 0.125),),
    ),
}
