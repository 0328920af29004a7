"""The derivation for every size, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_repr
from symreln.claims.claim import Asked
from symreln.claims.families.domain import number_of, root_of
from symreln.claims.families.head_start import Driven, driven
from symreln.exact.algebraic import AlgebraicNumber
from symreln.laws.choice import printed
from symreln.laws.law import HEAD_START, STRENGTH0, Regime
from symreln.laws.sigmoid_drive import letters, sigmoid_factor, start_factor
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.claims.claim import Step
    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.spectrum import Coefficients, FamilyClass
    from symreln.claims.families.stage import FamilyTemplate, Learner, PathwayTemplate, Sector
    from symreln.exact.scalar import Scalar
    from symreln.laws.law import Law
    from symreln.specs.model import SizeSymbol, Spec
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
        law: Its closed form in steps; None where the stage does not close or s = 0. A mode with a
            head start begins at its symbol.
        ahead: Its head start, or None.
        obstacle: Why it is not known where the mode starts, or "".
    """

    sector: Sector
    mode_class: FamilyClass
    s: AlgebraicNumber
    d: AlgebraicNumber
    d_eff: AlgebraicNumber | None
    multiplicity: Scalar
    law: Law | None = None
    ahead: HeadStart | None = None
    obstacle: str = ""

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

    @property
    def strength0(self) -> sp.Expr | None:
        """Where it starts in effect, in π₀, τ and the sizes; None where that is not known."""
        if self.law is None or self.obstacle:
            return None
        return self.law.strength0 if self.ahead is None else self.ahead.strength0

    @property
    def half_time(self) -> sp.Expr | None:
        """Its half-time in steps, from there; None where there is no formula."""
        start = self.strength0
        if self.law is None or start is None or self.law.half_time is None:
            return None
        return self.law.half_time.xreplace({HEAD_START: start})


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class HeadStart:
    """Where a mode of a later stage starts in effect, because an earlier one still learns.

    Attributes:
        by: The earlier mode.
        pathway: Its pathway.
        driven: What it does, exactly.
        faster: r/s.
        overlap: γ.
        letters: ν_r, ν_s and ν_γ of :mod:`symreln.laws.sigmoid_drive`; None where it drives the
            mode out of a plane.
        strength0: π̃₀ in π₀, τ and the sizes.
    """

    by: FamilyMode
    pathway: PathwayTemplate
    driven: Driven
    faster: sp.Expr
    overlap: sp.Expr
    letters: tuple[sp.Expr, ...] | None
    strength0: sp.Expr


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
        found: list[FamilyPathway] = []
        for stage in self.stages:
            found += [
                FamilyPathway(
                    template=template,
                    stage=stage.stage,
                    modes=_modes(self, stage, place, found),
                )
                for place, template in enumerate(stage.templates)
            ]
        return tuple(found)

    @cached_property
    def known(self) -> Regime:
        """What is known of its modes."""
        return Regime.of(self.spec)

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


def _modes(
    family: FamilyDerivation, stage: FamilyStage, place: int, earlier: Sequence[FamilyPathway]
) -> tuple[FamilyMode, ...]:
    """Return the modes of one pathway of a stage, given all pathways before."""
    assert family.template is not None
    per_sample = 1 / family.template.samples
    found: list[FamilyMode] = []
    for number, part in enumerate(stage.sectors):
        item = part.learners.get(place)
        if item is None or not item.commutator.is_zero:
            continue
        starts = _drives(family, stage, number, item)
        modes = []
        for a, (mode, start) in enumerate(zip(item.classes, starts, strict=True)):
            d_eff = part.d_eff.get((place, a))
            modes += [
                _started(
                    FamilyMode(
                        sector=part.sector,
                        mode_class=mode,
                        s=mode.number(mode.eigenvalue, per_sample**2, root, is_sqrt=True),
                        d=mode.number(mode.d, per_sample, root),
                        d_eff=None if d_eff is None else mode.number(d_eff, per_sample, root),
                        multiplicity=mode.multiplicity * part.sector.multiplicity,
                    ),
                    family,
                    start,
                    earlier,
                )
                for root in range(mode.degree)
            ]
        modes.sort(key=lambda mode: (mode.is_null, -_size(mode, family.values)))
        found += modes
    return tuple(found)


def _drives(
    family: FamilyDerivation, stage: FamilyStage, sector: int, item: Learner
) -> list[Driven | str | None]:
    """Return what drives every class of a pathway while earlier stages learn."""
    before = [each for each in family.stages if each.stage < stage.stage]
    if stage.level is None:
        return [None] * len(item.classes)
    return driven(
        item,
        {
            (each.stage, place): (learner, each.sectors[sector].d_eff)
            for each in before
            for place, learner in each.sectors[sector].learners.items()
        },
    )


def _started(
    mode: FamilyMode,
    family: FamilyDerivation,
    start: Driven | str | None,
    earlier: Sequence[FamilyPathway],
) -> FamilyMode:
    """Return a mode with its law and where it starts."""
    if mode.d_eff is None or mode.is_null:
        return mode
    assert family.template is not None
    s, d, asymptote = (
        None if each is None else number_of(each, family.template.domain, family.symbols)
        for each in (mode.s, mode.d_eff, mode.height)
    )
    law = printed(
        family.known,
        sp.Symbol("s", positive=True) if s is None else s,
        sp.Symbol("d_eff", positive=True) if d is None else d,
        asymptote=asymptote,
        later=start is not None,
    )
    found = start
    if isinstance(start, Driven):
        found = _ahead(law, family, start, earlier)
    return replace(
        mode,
        law=law,
        ahead=found if isinstance(found, HeadStart) else None,
        obstacle=found if isinstance(found, str) else "",
    )


def _ahead(
    law: Law, family: FamilyDerivation, start: Driven, earlier: Sequence[FamilyPathway]
) -> HeadStart | str:
    """Return the head start of a mode with this law, or why there is none."""
    pathway, by = next(
        (pathway, mode)
        for pathway in earlier
        for mode in pathway.modes
        if mode.mode_class is start.mode_class
    )
    if by.half_time is None:
        return "the half-time of the mode that drives it is not derived"
    assert family.template is not None
    faster = root_of(start.faster_squared, family.template.domain, family.symbols)
    overlap = start.along.to_sympy(family.symbols) / faster
    assert by.law is not None  # it has a half-time
    ratio = sp.simplify(law.s / by.law.s)
    found = tuple(map(sp.simplify, letters(faster * ratio, ratio, overlap, sp.S.One, sp.sqrt)))
    factor = sigmoid_factor(law.ops, *found) if start.in_plane else sp.S.One
    whole = start_factor(law.s, faster * law.s, overlap, by.half_time, law.tau, factor)
    return HeadStart(
        by=by,
        pathway=pathway.template,
        driven=start,
        faster=faster,
        overlap=overlap,
        letters=found if start.in_plane else None,
        strength0=STRENGTH0 * whole,
    )


def _size(mode: FamilyMode, values: dict[str, Fraction]) -> float:
    return mode.s.to_float(values) if all(n in values for n in mode.s.parameters) else 0.0
