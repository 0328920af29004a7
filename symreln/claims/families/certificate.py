r"""The certificate of a family: identities of rational functions that prove it for every size.

Format ``symreln-family-certificate/1``; :mod:`symreln.verify_family` checks it with the standard
library alone. What is stated, sector by sector (D and E: :mod:`symreln.claims.families.algebra`):

* the dataset: types with their squared lengths, X and Y, and as many samples as there are;
* where items form a binary tree, the lemma that makes the sectors invariant, as identities in n
  and u (:mod:`symreln.tasks.contextual_family`);
* for every pathway its classes: f, lambda, d, the projector E, the multiplicity. Checked:
  the E of one pathway are self-adjoint, products of different ones vanish and they add up to 1,
  f(T) E = 0 (f monic, its leading coefficient left out), M E = lambda(T) E, Sigma^x E = d(T) E,
  and tr T^i E = m Σ theta^i over the roots of f for i below its degree, so that every root has
  multiplicity m;
* the level of the stage, recomputed from all couplings, with d_eff and its inverse; where it is
  closed by symmetry, "closed_at" has the values of every size at which no pathway acts on another
  (:mod:`symreln.claims.families.separate`), all others of the sizes free;
* what the stage leaves to the next one, recomputed, and the losses.

Where the number of exchangeable values is itself a number below 2, no matrix has entries that it
does not show: the verifier counts the values, and so finds by itself which sectors are empty.

All are identities of rational functions, so they hold for all values of the symbols at which no
denominator vanishes. ``divisors`` lists the irreducible factors of all denominators: "symbol" is
null where the signs of its coefficients show that it never vanishes (every size being its least
value plus something not negative), else a size with "values", all those at which it vanishes, or
"" where that is not known. The parameters of the data are generic.

A certificate proves what it states: the order of classes and of symbols has no meaning, a smaller
least size that is accepted is proven too, and another dataset or mask for which everything holds
as well, such as one feature with the other sign, makes another true statement.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from symreln.errors import InputError
from symreln.exact.factoring import factorisation
from symreln.exact.field import Field

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.claims.families.algebra import FamilyMatrix, Space
    from symreln.claims.families.derivation import FamilyDerivation, SectorStage
    from symreln.claims.families.domain import Condition
    from symreln.claims.families.spectrum import FamilyClass
    from symreln.claims.families.stage import Learner
    from symreln.claims.families.template import PathwayTemplate, Sector
    from symreln.exact.matrix import ExactMatrix
    from symreln.exact.scalar import Scalar

FORMAT = "symreln-family-certificate/1"


class Writer:
    """Writes exact values as texts, denominators as powers of a common list of divisors."""

    def __init__(self) -> None:
        self.divisors: dict[str, int] = {}
        self.polynomials: list[fmpz_mpoly] = []

    def scalar(self, value: Scalar) -> str | list[Any]:
        """Return a polynomial as text, or [polynomial, whole number, [[divisor, power], …]]."""
        if value.denominator.is_one():
            return str(value.numerator)
        whole, factors = factorisation(value.denominator)
        powers = sorted([self._place(factor), int(power)] for factor, power in factors)
        top = value.numerator if whole > 0 else -value.numerator
        return [str(top), abs(int(whole)), powers]

    def _place(self, factor: fmpz_mpoly) -> int:
        text = str(factor)
        if text not in self.divisors:
            self.divisors[text] = len(self.polynomials)
            self.polynomials.append(factor)
        return self.divisors[text]

    def scalars(self, values: tuple[Scalar, ...]) -> list[Any]:
        """Return several."""
        return [self.scalar(value) for value in values]

    def entries(self, matrix: ExactMatrix) -> list[list[Any]]:
        """Return the entries that are not zero as [row, column, text], from 0."""
        return [
            [i, j, self.scalar(value)]
            for i, row in enumerate(matrix.rows())
            for j, value in enumerate(row)
            if not value.is_zero
        ]

    def matrix(self, matrix: FamilyMatrix) -> dict[str, Any]:
        """Return D and E."""
        return {"d": self.entries(matrix.d), "e": self.entries(matrix.e)}

    def space(self, space: Space) -> list[list[Any]]:
        """Return the types: group, "*" where indexed, squared length and 1/it."""
        return [
            [kind.group, kind.tag, self.scalar(kind.weight), self.scalar(1 / kind.weight)]
            for kind in space.kinds
        ]


def build_certificate(family: FamilyDerivation) -> tuple[dict[str, Any], tuple[Condition, ...]]:
    """Return the certificate as JSON values, its digest included, and its exceptions.

    Raises:
        InputError: The spec is not the same for every size, so there is nothing to certify.
    """
    writer = Writer()
    template = family.template
    if template is None:
        raise InputError(family.reason)
    domain = template.domain
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "symbols": list(domain.names),
        "minimum": dict(domain.minimum),
        "copies": domain.copies,
        "items": str(domain.items),
        "tree": dict(template.lemma),
        "samples": writer.scalar(template.samples),
        "per_sample": writer.scalar(1 / template.samples),
        "count": writer.scalar(template.sectors[0].inputs.columns.count),
        "sectors": [_data(writer, sector) for sector in template.sectors],
        "pathways": [_masks(pathway) for pathway in template.pathways],
        "stages": [
            {
                "pathways": [template.pathways.index(p) for p in stage.templates],
                "level": stage.level_name,
                "sectors": [_sector(writer, part, family) for part in stage.sectors],
            }
            for stage in family.stages
        ],
    }
    exceptions = [domain.condition(factor) for factor in writer.polynomials]
    certificate["divisors"] = [
        {
            "polynomial": str(factor),
            "symbol": None if found is None else found.symbol,
            "values": None if found is None else list(found.values),
        }
        for factor, found in zip(writer.polynomials, exceptions, strict=True)
    ]
    for stage, written in zip(family.stages, certificate["stages"], strict=True):
        found = stage.closed_at(domain, exceptions)
        written["closed_at"] = {name: list(values) for name, values in found.items()}
    certificate["digest"] = digest(certificate)
    return certificate, tuple(found for found in exceptions if found is not None)


def _data(writer: Writer, sector: Sector) -> dict[str, Any]:
    return {
        "name": sector.name,
        "multiplicity": writer.scalar(sector.multiplicity),
        "inputs": writer.space(sector.inputs.rows),
        "samples": writer.space(sector.inputs.columns),
        "outputs": writer.space(sector.targets.rows),
        "x": writer.matrix(sector.inputs),
        "y": writer.matrix(sector.targets),
    }


def _masks(pathway: PathwayTemplate) -> dict[str, Any]:
    return {
        "name": pathway.name,
        "each": pathway.each,
        "gate": [list(pair) for pair in pathway.gate],
        "inputs": sorted(pathway.inputs),
        "outputs": sorted(pathway.outputs),
    }


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _sector(writer: Writer, part: SectorStage, family: FamilyDerivation) -> dict[str, Any]:
    return {
        "level": "open" if part.obstacle or part.level is None else part.level.value,
        "initial_loss": writer.scalar(part.initial_loss),
        "final_loss": None if part.final_loss is None else writer.scalar(part.final_loss),
        "pathways": [_pathway(writer, part, item, family) for item in part.slots],
    }


def _pathway(
    writer: Writer, part: SectorStage, item: Learner | None, family: FamilyDerivation
) -> list[dict[str, Any]] | None:
    if item is None or not item.commutator.is_zero:
        return None
    assert family.template is not None
    samples = family.template.samples
    p = part.learners.index(item)
    return [
        _class(writer, mode, part.d_eff.get((p, a)), samples) for a, mode in enumerate(item.classes)
    ]


def _class(
    writer: Writer, mode: FamilyClass, d_eff: tuple[Scalar, ...] | None, samples: Scalar
) -> dict[str, Any]:
    inverse = None if d_eff is None else Field(mode.minpoly).inverse(d_eff)
    square = samples * samples
    return {
        "minpoly": writer.scalars(tuple(c / mode.minpoly[-1] for c in mode.minpoly[:-1])),
        "weight": mode.weight,
        "s_squared": writer.scalars(tuple(value / square for value in mode.eigenvalue)),
        "d": writer.scalars(tuple(value / samples for value in mode.d)),
        "d_eff": None
        if d_eff is None
        else writer.scalars(tuple(value / samples for value in d_eff)),
        "inverse_d_eff": None
        if inverse is None
        else writer.scalars(tuple(value * samples for value in inverse)),
        "multiplicity": writer.scalar(mode.multiplicity),
        "projector": writer.matrix(mode.projector),
    }
