"""The part of a certificate on every size at once.

Sizes at which no two pathways of a stage act on each other, so that it is closed there.

A matrix D δ + E over N exchangeable values vanishes where all its entries do, and where there are
too few values to see those that do not: :func:`symreln.claims.families.algebra.seen`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import fmpz_mpoly

from symreln.claims.families.algebra import FamilyMatrix, Space, few, seen
from symreln.claims.families.derivation import FamilyDerivation, FamilyStage, SectorStage
from symreln.claims.families.domain import Condition, Domain
from symreln.claims.families.spectrum import FamilyClass
from symreln.claims.families.stage import PathwayTemplate, Sector
from symreln.claims.texts import Json, Texts
from symreln.errors import InputError
from symreln.exact.domain import variables
from symreln.exact.factoring import factorisation
from symreln.exact.field import Field
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class _Divisors(Texts):
    """Spells numbers, and collects the factors of what must not vanish."""

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain.names)
        self.domain = domain
        self.factors: dict[str, fmpz_mpoly] = {}

    def collect(self, value: fmpz_mpoly) -> None:
        """Note the factors of a polynomial."""
        if not value.is_constant():
            for factor, _ in factorisation(value)[1]:
                self.factors.setdefault(str(factor), factor)

    def nonzero(self, value: Scalar) -> None:
        """Note where a number vanishes that must not."""
        if not value.is_constant and self.domain.condition(value.numerator) is not None:
            self.collect(value.numerator)

    def ratio(self, value: Scalar) -> str:
        """Return a rational function."""
        self.collect(value.denominator)
        return super().ratio(value)

    def matrix(self, matrix: ExactMatrix) -> Json:
        """Return a matrix."""
        found = super().matrix(matrix)
        self.collect(matrix.denominator)
        return found

    def pair(self, matrix: FamilyMatrix) -> Json:
        """Return D and E."""
        return {"d": self.matrix(matrix.d.reduced()), "e": self.matrix(matrix.e.reduced())}

    def space(self, space: Space) -> list[list[Any]]:
        """Return the types: group, "*" where indexed, squared length and 1/it."""
        return [
            [kind.group, kind.tag, self.ratio(kind.weight), self.ratio(1 / kind.weight)]
            for kind in space.kinds
        ]


def conditions_of(family: FamilyDerivation) -> tuple[Condition, ...]:
    """Return where the results may break: sizes, or equations between symbols."""
    return tuple(c for c in family.ask(sizes_part)[1] if not c.is_empty)


def sizes_closed_at(family: FamilyDerivation, stage: FamilyStage) -> dict[str, tuple[int, ...]]:
    """Return the values of sizes at which a stage that is closed by symmetry is closed."""
    if family.template is None:
        return {}
    return closed_at(stage, family.template.domain, family.ask(conditions_of))


def sizes_part(family: FamilyDerivation) -> tuple[Json, tuple[Condition, ...]]:
    """Return the part on every size, and where it may not hold.

    Raises:
        InputError: The spec is not the same for every size, so there is nothing to certify.
    """
    template = family.template
    if template is None:
        raise InputError(family.reason)
    domain = template.domain
    texts = _Divisors(domain)
    part: Json = {
        "kind": "sizes",
        "at": {size.name: size.value for size in family.sizes},
        "symbols": list(domain.names),
        "minimum": dict(domain.minimum),
        "copies": domain.copies,
        "items": str(domain.items),
        "tree": dict(template.lemma) or None,
        "samples": texts.ratio(template.samples),
        "per_sample": texts.ratio(1 / template.samples),
        "count": texts.ratio(template.sectors[0].inputs.columns.count),
        "sectors": [_data(texts, sector) for sector in template.sectors],
        "pathways": [_pathway(p) for p in template.pathways],
        "stages": [
            {
                "pathways": [template.pathways.index(p) for p in stage.templates],
                "level": stage.level_name,
                "sectors": [
                    _sector(texts, stage, each, template.samples) for each in stage.sectors
                ],
            }
            for stage in family.stages
        ],
    }
    for pathway in template.pathways:
        texts.nonzero(_opened(pathway, template.sectors[0].inputs.columns))
    conditions = [domain.condition(factor) for factor in texts.factors.values()]
    part["divisors"] = [
        {
            "polynomial": texts.polynomial(factor, domain.names),
            "symbol": None if found is None else found.symbol,
            "values": None if found is None else list(found.values),
        }
        for factor, found in zip(texts.factors.values(), conditions, strict=True)
    ]
    for stage, written in zip(family.stages, part["stages"], strict=True):
        closed = closed_at(stage, domain, conditions)
        written["closed_at"] = {name: list(values) for name, values in closed.items()}
    return part, tuple(found for found in conditions if found is not None)


def _opened(pathway: PathwayTemplate, samples: Space) -> Scalar:
    """Return a number that is 0 exactly where no sample is open."""
    total = samples.count * 0
    for kind in samples.kinds:
        own, others = pathway.gate[kind.base]
        indexed = kind.tag == "*"
        total = total + (own + (samples.count - 1) * others if indexed else others)
    return total


def _data(texts: _Divisors, sector: Sector) -> Json:
    return {
        "name": sector.name,
        "multiplicity": texts.ratio(sector.multiplicity),
        "inputs": texts.space(sector.inputs.rows),
        "samples": texts.space(sector.inputs.columns),
        "outputs": texts.space(sector.targets.rows),
        "x": texts.pair(sector.inputs),
        "y": texts.pair(sector.targets),
    }


def _pathway(pathway: PathwayTemplate) -> Json:
    return {
        "name": pathway.name,
        "each": pathway.each,
        "gate": [list(pair) for pair in pathway.gate],
        "inputs": sorted(pathway.inputs),
        "outputs": sorted(pathway.outputs),
    }


def _sector(texts: _Divisors, stage: FamilyStage, part: SectorStage, samples: Scalar) -> Json:
    return {
        "level": "open" if part.obstacle or part.level is None else part.level.value,
        "initial_loss": texts.ratio(part.initial_loss),
        "final_loss": None if part.final_loss is None else texts.ratio(part.final_loss),
        "pathways": [_classes(texts, part, p, samples) for p in range(len(stage.templates))],
    }


def _classes(texts: _Divisors, part: SectorStage, p: int, samples: Scalar) -> list[Json] | None:
    item = part.learners.get(p)
    if item is None or not item.commutator.is_zero:
        return None
    return [
        _class(texts, mode, part.d_eff.get((p, a)), samples) for a, mode in enumerate(item.classes)
    ]


def _class(
    texts: _Divisors, mode: FamilyClass, d_eff: tuple[Scalar, ...] | None, samples: Scalar
) -> Json:
    square, field = samples * samples, Field(mode.minpoly)
    if not mode.is_null:
        texts.nonzero(field.characteristic(mode.eigenvalue)[0])
    inverse = None if d_eff is None else field.inverse(d_eff)
    return {
        "minpoly": texts.ratios(c / mode.minpoly[-1] for c in mode.minpoly[:-1]),
        "weight": mode.weight,
        "s_squared": texts.ratios(value / square for value in mode.eigenvalue),
        "d": texts.ratios(value / samples for value in mode.d),
        "d_eff": None if d_eff is None else texts.ratios(value / samples for value in d_eff),
        "inverse_d_eff": None
        if inverse is None
        else texts.ratios(value * samples for value in inverse),
        "multiplicity": texts.ratio(mode.multiplicity),
        "projector": texts.pair(mode.projector),
    }


#: From here on, N is at least 2 also with two values named: entries alone decide.
_ENOUGH = 4


def vanishes(matrix: FamilyMatrix, values: Mapping[str, Fraction]) -> bool:
    """Return whether a matrix is zero at these values, for all values of the other symbols.

    An entry that is not finite there is not zero.
    """
    if matrix.is_zero:
        return True
    d, e = matrix.d, matrix.e
    number = few(matrix.rows.count.substitute(values))
    if number is not None:
        d, e = seen(d, e, matrix.rows, matrix.columns, number)
    return all(
        Scalar(value.parameters, value.numerator).substitute(values).is_zero
        for value in _entries(d, e)
    )


def closed_at(
    stage: FamilyStage, domain: Domain, exceptions: Iterable[Condition | None]
) -> dict[str, tuple[int, ...]]:
    """Return the values of sizes at which a stage closed by symmetry is closed.

    Args:
        stage: The stage.
        domain: The sizes.
        exceptions: Where nothing is proven.
    """
    matrices = stage.meetings
    if stage.level is not Level.CLOSED_BY_SYMMETRY or not matrices:
        return {}
    broken = {(c.symbol, value) for c in exceptions if c is not None for value in c.values}
    entries = [value for matrix in matrices for value in _entries(matrix.d, matrix.e)]
    found: dict[str, tuple[int, ...]] = {}
    for name in domain.minimum:
        tried = domain.common_roots(entries, name)
        if any(name in variables(matrix.rows.count.numerator, domain.names) for matrix in matrices):
            tried |= set(range(1, _ENOUGH))
        values = tuple(
            n
            for n in sorted(tried)
            if domain.allows(name, n)
            and (name, n) not in broken
            and all(vanishes(m, {name: Fraction(n)}) for m in matrices)
        )
        if values:
            found[name] = values
    return found


def _entries(*parts: ExactMatrix) -> Iterator[Scalar]:
    """Yield the entries that are not zero."""
    for part in parts:
        for row in part.rows():
            yield from (value for value in row if not value.is_zero)
