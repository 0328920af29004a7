"""What a family of derivations is asked of: a dataset and pathways, written for every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.domain import Domain
    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.scalar import Scalar

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
    sectors: tuple[Sector, ...]
    pathways: tuple[PathwayTemplate, ...]
    joint: bool
    lemma: Mapping[str, str]
    basis: Callable[[Sector, int, int, int], list[Basis]]
