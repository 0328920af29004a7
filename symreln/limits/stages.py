"""Correlations of all stages without any spectrum: what an earlier stage leaves is a projection.

A second route to what the pipeline finds from plateaus, in use where spectra may not be had.
Pathways that a checked symmetry maps to each other have equal spectra, so one stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.certified import root_bound
from symreln.limits.projecting import leftover
from symreln.network.effective import EffectiveDataset, effective_dataset
from symreln.network.symmetry import symmetry_search
from symreln.network.targets import Targets
from symreln.verdict.alike import StageSymmetry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.network.symmetry import SymmetrySearch
    from symreln.spec.model import Spec


@dataclass(frozen=True, kw_only=True, eq=False)
class Orbit:
    """Pathways of one stage that symmetries of the spec map to each other.

    Attributes:
        numbers: Their numbers, from 1.
        first: The effective dataset of the first of them.
        error: Its Sigma^{yx} is known up to this Frobenius distance; 0 where it is exact.
    """

    numbers: tuple[int, ...]
    first: EffectiveDataset
    error: Fraction


def orbits(spec: Spec) -> Iterator[Orbit]:
    """Yield the pathways of a spec whose parameters all have values, stage by stage.

    Later stages learn what converged earlier ones leave, exactly or within a proven distance
    (:mod:`symreln.limits.projecting`).

    Raises:
        ArithmeticError: The data's entries are beyond the range of floats.
    """
    search = symmetry_search(spec)
    goal, error = Targets.of(spec.dataset.sparse_targets), Fraction(0)
    for stage in spec.stages:
        found = _members(spec, stage, goal, search)
        for numbers, first in found:
            yield Orbit(numbers=numbers, first=first, error=_seen(first, error))
        if stage != spec.stages[-1]:
            goal, more = leftover(goal, [first for _, first in _singly(spec, found, goal)])
            error += more


def first_orbits(spec: Spec) -> Iterator[Orbit]:
    """Yield the pathways of the first stage, for all parameter values."""
    goal = Targets.of(spec.dataset.sparse_targets)
    for numbers, first in _members(spec, spec.stages[0], goal, symmetry_search(spec)):
        yield Orbit(numbers=numbers, first=first, error=Fraction(0))


def _members(
    spec: Spec, stage: int, goal: Targets, search: SymmetrySearch | None
) -> list[tuple[tuple[int, ...], EffectiveDataset]]:
    numbers = [
        number
        for number, pathway in enumerate(spec.pathways, start=1)
        if len(spec.stages) == 1 or pathway.stage == stage
    ]
    originals = StageSymmetry([number - 1 for number in numbers], search).originals
    alike: dict[int, list[int]] = {}
    for number, original in zip(numbers, originals, strict=True):
        alike.setdefault(original, []).append(number)
    return [
        (tuple(members), effective_dataset(spec.dataset, spec.pathways[members[0] - 1], goal))
        for members in alike.values()
    ]


def _singly(
    spec: Spec, found: list[tuple[tuple[int, ...], EffectiveDataset]], goal: Targets
) -> list[tuple[int, EffectiveDataset]]:
    """Return every pathway of a stage with its own effective dataset."""
    return [
        (
            n,
            first
            if n == numbers[0]
            else effective_dataset(spec.dataset, spec.pathways[n - 1], goal),
        )
        for numbers, first in found
        for n in numbers
    ]


def _seen(effective: EffectiveDataset, error: Fraction) -> Fraction:
    """Return how far Sigma^{yx} = O Y Fᵀ/P is off where Y is off by ``error``.

    ‖F‖² = P‖Sigma^x‖, and the norm of a symmetric matrix is at most its largest row sum.
    """
    if not error:
        return error
    part = effective.sparse_sigma_x.reduced()
    sums: dict[int, int] = {}
    for entries in part.terms.values():
        for row, value in zip(entries.rows.tolist(), entries.values.tolist(), strict=True):
            sums[row] = sums.get(row, 0) + abs(value)
    largest = Fraction(max(sums.values(), default=0), int(part.denominator.leading_coefficient()))
    return error * root_bound(largest / effective.samples, up=True)
