"""One stage of a family in one sector: what its pathways see, their modes, what they leave.

What a family of derivations is asked of: a dataset and pathways, written for every size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.families.spectrum import joint_classes
from symreln.exact.field import Field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from symreln.claims.families.algebra import FamilyMatrix, Kind
    from symreln.claims.families.domain import Domain
    from symreln.claims.families.spectrum import Coefficients, FamilyClass
    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.scalar import Scalar


class NoFamilyError(Exception):
    """The spec is not the same for every size; a reason, not a mistake of the user."""


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


SPECIAL = "k"
"""Name of the value of the index that one pathway treats apart."""


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Sector:
    """An invariant part of the dataset, with as many equal copies as its multiplicity says.

    Attributes:
        name: What it is called in results.
        multiplicity: Number of copies, in the symbols.
        copies: Symbol that tells the copies of this kind apart and runs over 1, 2, 4, …, half the
            number of items, itself being the number of copies; "" where there is one kind.
        inputs: X on this part, from samples to inputs.
        targets: Y on this part, from samples to outputs.
    """

    name: str
    multiplicity: Scalar
    copies: str = ""
    inputs: FamilyMatrix
    targets: FamilyMatrix


@short_repr
@dataclass(frozen=True, kw_only=True)
class PathwayTemplate:
    """One pathway, or one for every value of the index.

    Attributes:
        name: Name, with the label in braces where there is one pathway a value.
        each: Whether there is one pathway a value.
        gate: For every sample type (gate on the pathway's own value, gate on the others), 0 or 1;
            both are the same where there is one pathway only.
        inputs: Names of the groups of inputs that it sees.
        outputs: Names of the groups of outputs that it writes to.
        stage: Training stage.
    """

    name: str
    each: bool
    gate: tuple[tuple[int, int], ...]
    inputs: frozenset[str]
    outputs: frozenset[str]
    stage: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """One copy of a sector at numbers for all sizes: its basis vectors in the dataset.

    Attributes:
        samples: One column for every vector of the template's space, in the order of
            :meth:`symreln.claims.families.algebra.Space.vectors`; one row a sample.
        inputs: The same over the inputs.
        outputs: The same over the outputs.
        scale: Squared lengths are this many times those of the template's types.
    """

    samples: ExactMatrix
    inputs: ExactMatrix
    outputs: ExactMatrix
    scale: int


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyTemplate:
    """Dataset and pathways for every size.

    Attributes:
        domain: The symbols and what they run over.
        samples: P in the symbols.
        index: What is exchangeable, in words, such as "contexts".
        count: How many values the index has, in the symbols.
        sectors: Invariant parts; their dimensions times their multiplicities add up to all.
        pathways: The templates, in the order of the spec.
        joint: Whether all stages are trained together.
        lemma: Why the sectors are invariant, as identities that the certificate repeats.
        basis: Returns the basis vectors of (sector, number of items, number of index values,
            number of copies): one :class:`Basis` a copy.
    """

    domain: Domain
    samples: Scalar
    index: str
    count: Scalar
    sectors: tuple[Sector, ...]
    pathways: tuple[PathwayTemplate, ...]
    joint: bool
    lemma: Mapping[str, str]
    basis: Callable[[Sector, int, int, int], list[Basis]]
