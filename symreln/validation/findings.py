"""Assumptions that may fail, and what replacing one of them brought."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

ALIGNMENT, GATES, SCALE, STEP, WIDTH, NETWORKS = (
    "alignment",
    "gates",
    "initial scale",
    "step size",
    "width",
    "many networks",
)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One assumption, replaced.

    Attributes:
        assumption: Its name.
        replaced: By what, in words.
        before: max |ΔL|/L(0) with the assumption.
        after: The same with it replaced; None where that was not possible.
        why_not: Why it was not, or "".
        measured: A quantity beside it that says the same, in words, or "".
        by_chance: Whether chance alone gives the distance, so that nothing is left to explain.
    """

    assumption: str
    replaced: str
    before: float
    after: float | None
    why_not: str = ""
    measured: str = ""
    by_chance: bool = False

    @property
    def explains(self) -> bool:
        """Whether more than half of the distance goes with the assumption."""
        return self.by_chance or (self.after is not None and self.after < self.before / 2)


@dataclass(frozen=True, kw_only=True)
class PairDiagnosis:
    """Why one pair of curves disagrees.

    Attributes:
        pair: Its name, as in ``metrics``.
        findings: What was tried, in order.
    """

    pair: str
    findings: tuple[Finding, ...]

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """The assumptions that are named; none where the distance is unexplained."""
        named = [found.assumption for found in self.findings if found.explains]
        # The mean-field simulation starts at the scale of the spec and takes it into account too,
        # and layers align the better the smaller they start and the more units they have: where
        # that mends it, it is the cause.
        less = (GATES, ALIGNMENT) if SCALE in named else (ALIGNMENT,) if WIDTH in named else ()
        return tuple(name for name in dict.fromkeys(named) if name not in less)

    @property
    def left(self) -> float | None:
        """Least distance with a named assumption replaced; None where nothing is named."""
        known = [
            found.after
            for found in self.findings
            if found.assumption in self.failed and found.after is not None
        ]
        return min(known, default=None)
