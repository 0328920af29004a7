"""Rational special values, derived again: what holds at the point itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.exceptional import SpecialPoint

if TYPE_CHECKING:
    from symreln.derivation import Derivation, PathwayDerivation
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.spec.model import Spec

MAX_ENTRIES = 60_000
"""Entries of all effective datasets together up to which a point is derived again by itself: a
fraction of a second."""
MAX_POINTS = 6
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
    derivation: Derivation, name: str, roots: tuple[AlgebraicNumber, ...]
) -> tuple[SpecialPoint, ...]:
    """Return the rational ones of some values of a parameter, each derived again, exactly."""
    rational = [root.scalar.to_fraction() for root in roots if root.scalar is not None]
    return tuple(_point(derivation, name, value) for value in rational[:MAX_POINTS])


def _point(derivation: Derivation, name: str, value: Fraction) -> SpecialPoint:
    spec = derivation.spec
    cost = spec.dataset.samples * (spec.dataset.n_x + spec.dataset.n_y) * len(spec.pathways)
    if cost > MAX_ENTRIES:
        return SpecialPoint(name=name, value=value, note="not derived again: the data are large")
    try:
        there = spec_at(spec, {name: value})
    except ZeroDivisionError:
        return SpecialPoint(name=name, value=value, note="the data are infinite there")
    closed = [p.name for p in there.pathways if not p.open_samples]
    if closed:
        note = f"the gate of '{closed[0]}' is closed on every sample there"
        return SpecialPoint(name=name, value=value, note=note)
    from symreln.pipeline import derive_unchecked

    found = derive_unchecked(there)
    return SpecialPoint(
        name=name,
        value=value,
        level=found.verdict.level.value,
        modes=tuple(_learning(pathway) for pathway in found.pathways),
        changes=tuple(_changes(derivation, found, {name: value})),
    )


def _learning(pathway: PathwayDerivation) -> int:
    """Return how many modes learn, with multiplicity."""
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)


def _distinct(pathway: PathwayDerivation) -> int:
    """Return how many pairs (s, d) there are."""
    return len(pathway.modes)


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
    for counted, what in ((_learning, "modes that learn"), (_distinct, "distinct pairs (s, d)")):
        groups: dict[tuple[int, int], list[str]] = {}
        for one, two in zip(generic.pathways, there.pathways, strict=True):
            if counted(one) != counted(two):
                groups.setdefault((counted(two), counted(one)), []).append(one.name)
        for (now, then), names in groups.items():
            changes.append(f"{what}: {now} instead of {then} ({_listed(names)})")
    try:
        limit = generic.final_loss.substitute(values)
    except ZeroDivisionError:
        changes.append("the formula of the loss that is left has no value")
    else:
        if limit != there.final_loss:
            changes.append(f"the loss that is left is {there.final_loss}, not {limit}")
    return changes


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
