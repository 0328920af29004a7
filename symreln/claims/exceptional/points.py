"""Rational special values, derived again: what holds at the point itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from typing import TYPE_CHECKING

from symreln.base.summaries import few
from symreln.claims.exceptional.claim import Consequence, SpecialPoint
from symreln.claims.exceptional.conditions import Effect
from symreln.claims.solve import derive_unchecked
from symreln.errors import LimitReachedError
from symreln.exact.algebraic import AlgebraicNumber, real_roots
from symreln.exact.domain import variables
from symreln.exact.factoring import factors
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.claims.derivation import Derivation, PathwayDerivation
    from symreln.exact.domain import Range
    from symreln.specs.model import Spec

    Found = tuple[SpecialPoint, Derivation | None]

MAX_ENTRIES = 60_000
"""Entries of all effective datasets together up to which a point is derived again by itself: a
fraction of a second."""
SMALL = (Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3), Fraction(-1))
"""Values that are tried for all parameters of a set but one."""
_TRIES = 25
"""Combinations of them, for each choice of the last parameter."""
_MAX_POINTS = 6
"""Rational roots of one polynomial in one parameter: irreducible, it has one; a guard."""


def spec_at(spec: Spec, values: Mapping[str, Fraction]) -> Spec:
    """Return the spec with these parameters at these values, the others left as symbols.

    Raises:
        ZeroDivisionError: The data are infinite there.
    """
    dataset = replace(
        spec.dataset,
        inputs=spec.dataset.inputs.substitute(values),
        targets=spec.dataset.targets.substitute(values),
    )
    return replace(
        spec,
        dataset=dataset,
        parameters=tuple(p for p in spec.parameters if p.name not in values),
        pathways=tuple(pathway.at(values) for pathway in spec.pathways),
    )


def special_points(
    derivation: Derivation, name: str, roots: Sequence[AlgebraicNumber]
) -> list[Found]:
    """Return the rational ones of some values of a parameter, each derived again, exactly."""
    rational = [root.scalar.to_fraction() for root in roots if root.scalar is not None]
    return [point_at(derivation, {name: value}) for value in rational[:_MAX_POINTS]]


def rational_point(
    polynomial: fmpz_mpoly,
    derivation: Derivation,
    ranges: Mapping[str, Range],
    avoid: Sequence[fmpz_mpoly],
) -> dict[str, Fraction] | None:
    """Return a rational zero of a polynomial in several parameters, in the domain, or None.

    All parameters but one take their declared or a small value, and a rational root gives the last.

    Args:
        polynomial: Irreducible; several parameters occur in it.
        derivation: The generic one.
        ranges: Range of every parameter.
        avoid: Polynomials that must not vanish there, so that one set alone is looked at.
    """
    declared = {p.name: p.value for p in derivation.spec.parameters}
    whole = Scalar(tuple(declared), polynomial)
    used = variables(polynomial, whole.parameters)
    for name in used:
        others = [n for n in used if n != name]
        choices = [dict.fromkeys((declared[n], *SMALL)) for n in others]
        for values in islice(product(*choices), _TRIES):
            point = {n: v for n, v in zip(others, values, strict=True) if v is not None}
            if len(point) < len(others):
                continue
            for root in _rational_roots(whole.substitute(point), name):
                found = {**point, name: root}
                if _allowed(found, ranges) and not _on_any(avoid, whole.parameters, found):
                    return {n: found[n] for n in used}
    return None


def _rational_roots(value: Scalar, name: str) -> list[Fraction]:
    """Return the rational roots in one parameter of what others leave of a polynomial."""
    names = value.parameters
    found = []
    for factor in factors(value.numerator) if not value.is_zero else ():
        if variables(factor, names) == (name,) and int(factor.total_degree()) == 1:
            root = real_roots(factor, names)[0].scalar
            assert root is not None
            found.append(root.to_fraction())
    return found


def _allowed(point: Mapping[str, Fraction], ranges: Mapping[str, Range]) -> bool:
    return all(
        ranges[n].contains(AlgebraicNumber.rational(Scalar.of(v, ()))) for n, v in point.items()
    )


def _on_any(
    polynomials: Sequence[fmpz_mpoly], names: tuple[str, ...], point: Mapping[str, Fraction]
) -> bool:
    return any(Scalar(names, p).substitute(point).is_zero for p in polynomials)


def point_at(derivation: Derivation, values: Mapping[str, Fraction]) -> Found:
    """Return what a second derivation finds at a point, and itself where it was possible."""
    spec = derivation.spec
    cost = spec.dataset.samples * (spec.dataset.n_x + spec.dataset.n_y) * len(spec.pathways)
    if cost > MAX_ENTRIES:
        note = "not derived again: the data are large"
        return SpecialPoint(at=values, note=note), None
    try:
        there = spec_at(spec, values)
    except ZeroDivisionError:
        return SpecialPoint(at=values, note="the data are infinite there"), None
    closed = [p.name for p in there.pathways if not p.open_samples]
    if closed:
        note = f"the gate of '{closed[0]}' is closed on every sample there"
        return SpecialPoint(at=values, note=note), None
    try:
        found = derive_unchecked(there)
    except LimitReachedError:
        note = "not derived again: the numbers there are too long"
        return SpecialPoint(at=values, note=note), None
    point = SpecialPoint(
        at=values,
        generic=tuple(p.name for p in there.parameters),
        level=found.verdict.level.value,
        learning_modes=tuple(_learning(pathway) for pathway in found.pathways),
        changes=tuple(_changes(derivation, found, values)),
    )
    return point, found


def _learning(pathway: PathwayDerivation) -> int:
    """Return how many modes learn, with multiplicity."""
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)


def _changes(generic: Derivation, there: Derivation, values: Mapping[str, Fraction]) -> list[str]:
    """Say what the derivation at a point finds otherwise than the generic one."""
    changes = []
    before, after = generic.verdict.level.value, there.verdict.level.value
    if before != after:
        changes.append(f"the verdict is '{after}' instead of '{before}'")
    changes += [
        f"pathway '{one.name}' has a joint eigenbasis"
        for one, two in zip(generic.pathways, there.pathways, strict=True)
        if two.spectrum.commutes and not one.spectrum.commutes
    ]
    for counted, what in (
        (_learning, "modes that learn"),
        (lambda one: len(one.modes), "distinct pairs (s, d)"),
    ):
        groups: dict[tuple[int, int], list[str]] = {}
        for one, two in zip(generic.pathways, there.pathways, strict=True):
            if counted(one) != counted(two):
                groups.setdefault((counted(two), counted(one)), []).append(one.name)
        for (now, then), names in groups.items():
            changes.append(f"{what}: {now} instead of {then} ({few(names, 3)})")
    try:
        limit = generic.final_loss.substitute(values)
    except ZeroDivisionError:
        changes.append("the formula of the loss that is left has no value")
    else:
        if limit != there.final_loss:
            changes.append(f"the loss that is left is {there.final_loss}, not {limit}")
    return changes


def check_at_points(
    consequences: tuple[Consequence, ...],
    derivation: Derivation,
    found: Sequence[Found],
    *,
    whole: bool,
) -> tuple[Consequence, ...]:
    """Return the consequences, stronger levels proven if at all points and left out if at none.

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
    levels = [{s.stage: s.verdict.level.rank for s in d.stages} for d in (derivation, *there)]
    kept = []
    for each in consequences:
        if each.effect is Effect.STRONGER and each.stage and not each.proven:
            generic, *now = (level[each.stage] for level in levels)
            if all(level >= generic for level in now):
                continue
            each = replace(each, proven=all(level < generic for level in now))
        kept.append(each)
    listed = any(not each.effect.harmless for each in kept)
    changed = any(point.changes or point.generic for point, _ in found)
    return tuple(kept) if listed or not changed else consequences
