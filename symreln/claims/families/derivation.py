"""The derivation for every size, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_repr
from symreln.claims.claim import Asked
from symreln.exact.algebraic import AlgebraicNumber
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.claim import Step
    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.spectrum import Coefficients, FamilyClass
    from symreln.claims.families.stage import FamilyTemplate, Learner, PathwayTemplate, Sector
    from symreln.exact.scalar import Scalar
    from symreln.spec.model import SizeSymbol, Spec
    from symreln.verdict.orbits import Node


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SectorStage:
    """One stage in one sector.

    Attributes:
        sector: The sector.
        learners: The pathways that have inputs in the sector, by their place in the stage.
        level: What was proven here; None where a pathway has no joint eigenbasis.
        obstacle: What stands in the way of closure, or "".
        d_eff: Effective input eigenvalue times P of every class that is not null, keyed by (place,
            class); empty where the stage does not close.
        meetings: What single pathways do to classes of others; empty where none acts on another.
        initial_loss: Loss of one copy of the sector before the stage.
        final_loss: Loss that the stage leaves, or None where it does not close.
    """

    sector: Sector
    learners: Mapping[int, Learner]
    level: Level | None
    obstacle: str
    d_eff: dict[Node, Coefficients]
    meetings: tuple[FamilyMatrix, ...]
    initial_loss: Scalar
    final_loss: Scalar | None


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyStage:
    """One stage, for every size.

    Attributes:
        stage: From 1.
        templates: Its pathways.
        sectors: What was found in every sector.
    """

    stage: int
    templates: tuple[PathwayTemplate, ...]
    sectors: tuple[SectorStage, ...]

    @property
    def level(self) -> Level | None:
        """The weakest level of the sectors, or None where it is not proven to close."""
        levels = [part.level for part in self.sectors]
        known = [level for level in levels if level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)]
        return max(known, key=lambda level: level.rank) if len(known) == len(levels) else None

    @property
    def level_name(self) -> str:
        """The level in words; "open" where nothing is said."""
        return "open" if self.level is None else self.level.value

    @property
    def meetings(self) -> tuple[FamilyMatrix, ...]:
        """What single pathways do to classes of others, in all sectors."""
        return tuple(matrix for part in self.sectors for matrix in part.meetings)

    @property
    def obstacle(self) -> str:
        """What stands in the way of closure, or ""."""
        return next((part.obstacle for part in self.sectors if part.obstacle), "")


@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyMode:
    """One mode of one pathway in one sector, for every size.

    Attributes:
        sector: The sector.
        mode_class: Its class.
        s: Singular value of Sigma^{yx}.
        d: Matching eigenvalue of Sigma^x.
        d_eff: Effective eigenvalue, or None where the stage does not close or s = 0.
        multiplicity: How many equal modes there are, all copies of the sector together.
    """

    sector: Sector
    mode_class: FamilyClass
    s: AlgebraicNumber
    d: AlgebraicNumber
    d_eff: AlgebraicNumber | None
    multiplicity: Scalar

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return self.mode_class.is_null

    @property
    def height(self) -> AlgebraicNumber | None:
        """The plateau s/d_eff, or None where d_eff is missing, zero or not rational."""
        value = None if self.d_eff is None or self.is_null else self.d_eff.scalar
        if value is None or value.is_zero:
            return None
        coefficients = tuple(c / (value * value) for c in self.s.coefficients)
        return replace(self.s, coefficients=coefficients)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyPathway:
    """A pathway, or one for every value of the index, with its modes."""

    template: PathwayTemplate
    stage: int
    modes: tuple[FamilyMode, ...]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyDerivation(Asked):
    """Everything derived for every size at once.

    Attributes:
        spec: The spec; ``spec.sizes`` are the symbols.
        template: Dataset and pathways for every size, or None where the spec is not the same for
            every size.
        reason: Why there is none, or "".
        stages: As far as they close.
        steps: What was checked.
    """

    spec: Spec
    template: FamilyTemplate | None
    reason: str
    stages: tuple[FamilyStage, ...]
    steps: tuple[Step, ...] = ()

    @property
    def sizes(self) -> tuple[SizeSymbol, ...]:
        """The size symbols."""
        return self.spec.sizes

    @property
    def complete(self) -> bool:
        """Whether every stage closes for every size."""
        return bool(self.stages) and self.stages[-1].level is not None

    @cached_property
    def pathways(self) -> tuple[FamilyPathway, ...]:
        """All pathways whose modes are known."""
        return tuple(
            FamilyPathway(template=template, stage=stage.stage, modes=_modes(self, stage, place))
            for stage in self.stages
            for place, template in enumerate(stage.templates)
        )

    @property
    def symbols(self) -> dict[str, sp.Symbol]:
        """SymPy symbols of the parameters, the sizes and the number of copies."""
        found = {**self.spec.symbols, **{size.name: size.symbol for size in self.sizes}}
        if self.template is not None and self.template.domain.copies:
            copies = self.template.domain.copies
            found[copies] = sp.Symbol(copies, integer=True, positive=True)
        return found

    @property
    def values(self) -> dict[str, Fraction]:
        """Declared values of the parameters and sizes, the first kind of copies included."""
        found = dict(self.spec.values)
        found |= {size.name: Fraction(size.value) for size in self.sizes}
        if self.template is not None and self.template.domain.copies:
            found[self.template.domain.copies] = Fraction(1)
        return found


def _modes(family: FamilyDerivation, stage: FamilyStage, place: int) -> tuple[FamilyMode, ...]:
    assert family.template is not None
    per_sample = 1 / family.template.samples
    found: list[FamilyMode] = []
    for part in stage.sectors:
        item = part.learners.get(place)
        if item is None or not item.commutator.is_zero:
            continue
        modes = []
        for a, mode in enumerate(item.classes):
            d_eff = part.d_eff.get((place, a))
            modes += [
                FamilyMode(
                    sector=part.sector,
                    mode_class=mode,
                    s=mode.number(mode.eigenvalue, per_sample**2, root, is_sqrt=True),
                    d=mode.number(mode.d, per_sample, root),
                    d_eff=None if d_eff is None else mode.number(d_eff, per_sample, root),
                    multiplicity=mode.multiplicity * part.sector.multiplicity,
                )
                for root in range(mode.degree)
            ]
        modes.sort(key=lambda mode: (mode.is_null, -_size(mode, family.values)))
        found += modes
    return tuple(found)


def _size(mode: FamilyMode, values: dict[str, Fraction]) -> float:
    return mode.s.to_float(values) if all(n in values for n in mode.s.parameters) else 0.0
