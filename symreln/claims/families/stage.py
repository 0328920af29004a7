"""One stage of a family in one sector: what its pathways see, their modes, what they leave."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.families.spectrum import joint_classes
from symreln.claims.families.template import SPECIAL
from symreln.exact.field import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.families.algebra import FamilyMatrix, Kind
    from symreln.claims.families.spectrum import Coefficients, FamilyClass
    from symreln.claims.families.template import PathwayTemplate, Sector


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Learner:
    """A pathway in one sector, before any division by the number of samples.

    Attributes:
        template: The pathway.
        features: F, from samples to its inputs, gate and masks applied; where there is one
            pathway a value of the index, in the space with that value special.
        drive: A = O Y F*, P times Sigma^{yx}.
    """

    template: PathwayTemplate
    features: FamilyMatrix
    drive: FamilyMatrix

    @cached_property
    def input_correlation(self) -> FamilyMatrix:
        """B = F F*, P times Sigma^x."""
        return self.features @ self.features.adjoint

    @cached_property
    def m(self) -> FamilyMatrix:
        """M = A* A."""
        return self.drive.adjoint @ self.drive

    @cached_property
    def commutator(self) -> FamilyMatrix:
        """M B - B M."""
        return self.m @ self.input_correlation - self.input_correlation @ self.m

    @cached_property
    def classes(self) -> tuple[FamilyClass, ...]:
        """The classes of modes; only where the commutator vanishes."""
        return joint_classes(self.m, self.input_correlation)

    def powers(self, a: int, count: int) -> list[FamilyMatrix]:
        """Return E T^k of class ``a`` for k < count."""
        mode = self.classes[a]
        powers = [mode.projector]
        if count > 1:
            operator = mode.operator(self.m, self.input_correlation)
            while len(powers) < count:
                powers.append(powers[-1] @ operator)
        return powers


def learner(sector: Sector, template: PathwayTemplate, targets: FamilyMatrix) -> Learner | None:
    """Return a pathway in a sector, or None where it has no input there.

    Args:
        sector: The sector.
        template: The pathway.
        targets: What the stage learns, from samples to outputs.
    """
    inputs = sector.inputs
    if template.each:
        inputs, targets = inputs.refined(SPECIAL), targets.refined(SPECIAL)
    own = [i for i, kind in enumerate(inputs.rows.kinds) if _within(kind, template.inputs)]
    if not own:
        return None
    gated = [i for i, kind in enumerate(inputs.columns.kinds) if _open(kind, template)]
    features = inputs.selected(rows=own).masked(columns=gated)
    drive = targets @ features.adjoint
    return Learner(
        template=template,
        features=features,
        drive=written(drive, template),
    )


def _within(kind: Kind, groups: frozenset[str]) -> bool:
    return kind.group in groups or (kind.tag == SPECIAL and f"{kind.group}:own" in groups)


def _open(kind: Kind, template: PathwayTemplate) -> bool:
    own, others = template.gate[kind.base]
    return bool(own if kind.tag == SPECIAL else others)


def written(matrix: FamilyMatrix, template: PathwayTemplate) -> FamilyMatrix:
    """Return the rows that a pathway writes to, the others zero."""
    keep = [i for i, kind in enumerate(matrix.rows.kinds) if _within(kind, template.outputs)]
    return matrix if len(keep) == matrix.rows.size else matrix.masked(rows=keep)


def least_squares(
    learners: Mapping[int, Learner],
    d_eff: Mapping[tuple[int, int], Coefficients],
    targets: FamilyMatrix,
) -> FamilyMatrix:
    """Return what a closed stage leaves of its targets when it has converged.

    The outputs of pathway p are A_p H_p F_p with H_p = Σ_a E_a (1/d_eff)(T): every strength is at
    its plateau s/d_eff, and u vᵀ of a mode is A_p E/s.

    Args:
        learners: The stage's pathways, by their place in it.
        d_eff: Of every class that is not null, keyed by (pathway, class).
        targets: From samples to outputs.
    """
    rest = targets
    for p, item in learners.items():
        outputs = _converged_map(item, p, d_eff) @ item.features
        rest = rest - (outputs.summed(SPECIAL) if item.template.each else outputs)
    return rest


def _converged_map(
    item: Learner, p: int, d_eff: Mapping[tuple[int, int], Coefficients]
) -> FamilyMatrix:
    """Return A_p H_p, from the pathway's inputs to the outputs."""
    total = item.drive.scale(0)
    for a, mode in enumerate(item.classes):
        if mode.is_null:
            continue
        inverse = Field(mode.minpoly).inverse(d_eff[p, a])
        for coefficient, power in zip(inverse, item.powers(a, mode.degree), strict=True):
            if not coefficient.is_zero:
                total = total + (item.drive @ power).scale(coefficient)
    return total
