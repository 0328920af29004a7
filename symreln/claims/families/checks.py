"""What the program checks of a derivation for every size before it prints it.

Whether a dataset for every size is, at numbers for all sizes, the dataset itself.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.claims.claim import Step
from symreln.claims.families.certificate import conditions_of, vanishes
from symreln.exact import polynomials
from symreln.exact.field import Field
from symreln.exact.scalar import Scalar, cleared
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from symreln.claims.derivation import Derivation, StageDerivation
    from symreln.claims.families.derivation import FamilyDerivation, FamilyStage
    from symreln.claims.families.spectrum import Coefficients
    from symreln.claims.families.stage import Basis, FamilyTemplate, PathwayTemplate, Sector
    from symreln.specs.model import Dataset

Values = dict[str, Fraction]

#: The minimal polynomial of a class; its s², d and d_eff; how many there are; where to put sizes.
_Modes = tuple["Coefficients", "tuple[Coefficients, ...]", Scalar, "Mapping[str, Fraction]"]

#: Weights of s², d and d_eff in the combinations whose values are compared.
_COMBINATIONS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1009, 1000003))


def family_steps(
    family: FamilyDerivation, derivation: Derivation, sizes: Values
) -> tuple[Step, ...]:
    """Check a family and say how.

    Args:
        family: The derivation for every size.
        derivation: The ordinary one.
        sizes: Its sizes, at which no condition of the family breaks.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
    """
    if family.template is None:
        return ()
    shown = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    steps = [
        Step(
            name="every size",
            statement="Projectors, s, d, d_eff, multiplicities, levels and losses are what is "
            "printed, for every size in the range.",
            check="certificate.json, identities of rational functions in the sizes",
        )
    ]
    if any(mode.ahead for pathway in family.pathways for mode in pathway.modes):
        steps.append(
            Step(
                name="head starts for every size",
                statement="What an earlier mode that is not learned does to those of a later "
                "stage is r and gamma as printed, for every size in the range.",
                check="E_1^T E_1 v = r² v and D^T Sigma^yx v = (gamma r s - s²) v, and where chi "
                "enters also with D and Sigma^yx exchanged, on the projectors, identities of "
                "rational functions in the sizes",
            )
        )
    wrong = wrong_image(family.template, derivation.spec.dataset, sizes)
    if wrong:
        what = f"{wrong} at {shown}"
        raise _fail(what)
    steps.append(
        Step(
            name="dataset for every size",
            statement=f"At {shown} the dataset for every size is the dataset.",
            check="images of all basis vectors of the samples, equal exactly",
        )
    )
    compare_at(family, derivation, sizes)
    steps.append(
        Step(
            name="every size, second route",
            statement=f"At {shown} the modes are those of the ordinary derivation.",
            check="polynomials of s², d, d_eff and of a combination of them, with "
            "multiplicities, and the losses, equal exactly",
        )
    )
    return tuple(steps)


def _fail(what: str) -> ArithmeticError:
    return ArithmeticError(f"the check of the derivation for every size failed: {what}")


def broken_at(family: FamilyDerivation, sizes: Values) -> bool:
    """Return whether one of the conditions at which results may break holds at these sizes."""
    return any(
        condition.polynomial.substitute(values).is_zero
        for condition in family.ask(conditions_of)
        for values in _with_copies(family.template, sizes)
    )


def _with_copies(
    template: FamilyTemplate | None, sizes: Values, sector: Sector | None = None
) -> list[Values]:
    """Return the sizes with every value of the number of copies, of one sector or of any."""
    assert template is not None
    copies, items = template.domain.copies, template.domain.items
    if not copies or (sector is not None and not sector.copies):
        return [sizes]
    number = int(sizes[items]) if isinstance(items, str) else items
    return [sizes | {copies: Fraction(u)} for u in template.domain.copy_numbers(number)]


def compare_at(family: FamilyDerivation, derivation: Derivation, sizes: Values) -> None:
    """Compare with an ordinary derivation at these sizes.

    Raises:
        ArithmeticError: Something differs.
    """
    for general, special in zip(family.stages, derivation.stages, strict=False):
        if general.level is not None and special.verdict.level is not _level(
            general, family.template, sizes
        ):
            what = f"the level of stage {general.stage}"
            raise _fail(what)
        for place, template in enumerate(general.templates):
            learners = [part.learners.get(place) for part in general.sectors]
            if any(item is not None and not item.commutator.is_zero for item in learners):
                continue
            mine = [*_modes_for_every_size(family, general, place, sizes)]
            theirs = [[*_ordinary_modes(special, p)] for p in _members(derivation, template)]
            for weights in _COMBINATIONS:
                if weights[2] and general.level is None:
                    continue
                expected = _polynomials(mine, weights)
                if any(_polynomials(modes, weights) != expected for modes in theirs):
                    what = f"the modes of pathway '{template.name}'"
                    raise _fail(what)
        if general.level is not None and _loss(family, general, sizes) != special.final_loss:
            what = f"the loss that stage {general.stage} leaves"
            raise _fail(what)


def _level(stage: FamilyStage, template: FamilyTemplate | None, sizes: Values) -> Level | None:
    """Return the level of a stage at these sizes: closed where no pathway acts on another."""
    separate = all(
        vanishes(matrix, values)
        for values in _with_copies(template, sizes)
        for matrix in stage.meetings
    )
    return Level.CLOSED if separate else stage.level


def _members(derivation: Derivation, template: PathwayTemplate) -> tuple[int, ...]:
    """Return the pathways that a template stands for, at the derivation's own sizes."""
    spec = derivation.spec
    named = [family.members for family in spec.families if family.name == template.name]
    return (
        named[0]
        if named
        else tuple(
            place for place, pathway in enumerate(spec.pathways) if pathway.name == template.name
        )
    )


def _modes_for_every_size(
    family: FamilyDerivation, stage: FamilyStage, place: int, sizes: Values
) -> Iterator[_Modes]:
    assert family.template is not None
    unit = 1 / family.template.samples
    for part in stage.sectors:
        item = part.learners.get(place)
        for a, mode in enumerate(() if item is None else item.classes):
            d_eff = part.d_eff.get((place, a), mode.d)
            scaled = zip((mode.eigenvalue, mode.d, d_eff), (unit * unit, unit, unit), strict=True)
            values = tuple(tuple(c * factor for c in value) for value, factor in scaled)
            count = mode.multiplicity * part.sector.multiplicity
            for numbers in _with_copies(family.template, sizes, part.sector):
                yield mode.minpoly, values, count, numbers


def _ordinary_modes(stage: StageDerivation, member: int) -> Iterator[_Modes]:
    p = next(p for p, item in enumerate(stage.pathways) if item.number == member + 1)
    spectrum = stage.pathways[p].spectrum
    one = Scalar(spectrum.parameters, 1)
    for a, mode in enumerate(spectrum.classes):
        assert mode.d is not None
        values = (mode.eigenvalue, mode.d, stage.verdict.d_eff.get((p, a), mode.d))
        yield mode.minpoly, values, one * mode.multiplicity, {}


def _polynomials(modes: Iterable[_Modes], weights: tuple[int, int, int]) -> Counter:
    """Return how often every irreducible polynomial of a combination occurs."""
    total: Counter = Counter()
    for minpoly, parts, multiplicity, values in modes:
        number = multiplicity.substitute(values).to_fraction()
        if number.denominator != 1 or number < 0:
            what = f"a multiplicity is {number}"
            raise _fail(what)
        if not number:
            continue
        field = Field(minpoly)
        element = field.constant(0)
        for part, weight in zip(parts, weights, strict=True):
            element = field.add(element, field.scale(part, weight))
        exact = [value.substitute(values) for value in field.characteristic(element)]
        names = exact[0].parameters
        for factor, exponent in polynomials.factor_univariate(cleared(exact, names)[0], names):
            total[tuple(str(value) for value in factor)] += exponent * int(number)
    return total


def _loss(family: FamilyDerivation, stage: FamilyStage, sizes: Values) -> Scalar:
    total = Scalar((), 0)
    for part in stage.sectors:
        assert part.final_loss is not None
        whole = part.final_loss * part.sector.multiplicity
        for values in _with_copies(family.template, sizes, part.sector):
            total = total + whole.substitute(values)
    return total


def wrong_image(template: FamilyTemplate, dataset: Dataset, sizes: Values) -> str:
    """Return what differs between the template at these sizes and a dataset, or "".

    Every basis vector of the samples must have the images under X and Y that the template says,
    the basis vectors must be orthogonal with the template's squared lengths up to one factor a
    copy, and there must be as many as samples.
    """
    count = int(template.sectors[0].inputs.columns.count.substitute(sizes).to_fraction())
    items = dataset.samples // count
    dimension = 0
    for sector in template.sectors:
        for values in _with_copies(template, sizes, sector):
            number = int(values[sector.copies]) if sector.copies else 1
            for basis in template.basis(sector, items, count, number):
                dimension += basis.samples.shape[1]
                wrong = _wrong_copy(sector, basis, dataset, values)
                if wrong:
                    return f"{wrong} of sector '{sector.name}'"
    return "" if dimension == dataset.samples else "the number of basis vectors"


def _wrong_copy(
    sector: Sector, basis: Basis, dataset: Dataset, values: Mapping[str, Fraction]
) -> str:
    spaces = (
        (sector.inputs.columns, basis.samples),
        (sector.inputs.rows, basis.inputs),
        (sector.targets.rows, basis.outputs),
    )
    if any(b.gram() != space.lengths.at(values).scale(basis.scale) for space, b in spaces):
        return "the squared lengths"
    images = (
        ("X", dataset.inputs, basis.inputs, sector.inputs),
        ("Y", dataset.targets, basis.outputs, sector.targets),
    )
    for name, whole, image, matrix in images:
        if whole @ basis.samples != image @ matrix.at(values):
            return name
    return ""
