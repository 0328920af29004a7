"""What is only possible on a set, settled where its points are derived again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.exact.exceptional import Effect
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import Derivation
    from symreln.exact.exceptional import Consequence, SpecialPoint

_FROM_STRONGEST = list(Level)


def settled(
    consequences: tuple[Consequence, ...],
    derivation: Derivation,
    found: Sequence[tuple[SpecialPoint, Derivation | None]],
    *,
    whole: bool,
) -> tuple[Consequence, ...]:
    """Return the consequences, proven where they happen at all points and left out where at none.

    With parameters that are left free, that holds for generic values of these; a statement is then
    only left out where another one keeps the set among those outside which nothing happens.

    Args:
        consequences: Of one set in one parameter.
        derivation: The generic one.
        found: The derivations at its rational points.
        whole: Whether these are all points of the set in the domain.
    """
    there = [other for _, other in found if other is not None]
    if not whole or len(there) < len(found) or not there:
        return consequences
    free = any(point.generic for point, _ in found)
    kept = []
    for consequence in consequences:
        happens = [_happens(consequence, derivation, other) for other in there]
        if consequence.proven or None in happens:
            kept.append(consequence)
        elif all(happens):
            kept.append(replace(consequence, proven=True))
        elif any(happens):
            kept.append(consequence)
    listed = any(not c.effect.harmless for c in kept)
    changed = any(point.changes for point, _ in found)
    return tuple(kept) if listed or not (free or changed) else consequences


def _happens(consequence: Consequence, generic: Derivation, there: Derivation) -> bool | None:
    """Return whether a possible effect is there, None where that is not asked here."""
    before = next((s for s in generic.stages if s.stage == consequence.stage), None)
    after = next((s for s in there.stages if s.stage == consequence.stage), None)
    if before is None or after is None:
        return None
    if consequence.effect is Effect.STRONGER:
        levels = (before.verdict.level, after.verdict.level)
        then, now = map(_FROM_STRONGEST.index, levels)
        return now < then
    return None
