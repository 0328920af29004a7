r"""Joint eigenspaces of M and Sigma^x for every number N of exchangeable values at once.

Both commute with the permutations of the values, so both act separately on the vectors that are
equal for all values (the trivial sector, one vector a type) and on those whose sum over the values
is zero (the standard sector, N - 1 copies of one vector an indexed type). In either sector they
are small matrices over the field K of rational functions of all symbols, N among them.

With T = M + t Sigma^x and an irreducible factor f of T's characteristic polynomial, the
projector on the kernel of f(T) is a polynomial in T. That M and Sigma^x are polynomials
lambda(T) and d(T) there is found from traces and then checked; another t is tried where they are
not. Every result is an identity over K: it holds for each number that N stands for at which no
denominator vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.families.algebra import FamilyMatrix, from_standard, from_trivial
from symreln.exact import polynomials
from symreln.exact.field import Field, common_denominator, irreducible_factors
from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from collections.abc import Sequence


Coefficients = tuple[Scalar, ...]

MOST_TRIALS = 12
"""Weights t that are tried. At most one in each pair of joint eigenvalues collides at each t."""


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyClass:
    """Conjugate modes of one pathway, for every N.

    Attributes:
        minpoly: f, irreducible over K, low to high: the minimal polynomial of T on the class.
        eigenvalue: lambda(theta) = s², low to high; f and lambda in the units of the pathway.
        d: d(theta).
        weight: t of T = M + t Sigma^x.
        projector: E, on the whole class.
        multiplicity: Dimension of one mode's space, a polynomial in the sizes.
        sectors: "trivial", "standard" or both.
    """

    minpoly: Coefficients
    eigenvalue: Coefficients
    d: Coefficients
    weight: int
    projector: FamilyMatrix
    multiplicity: Scalar
    sectors: tuple[str, ...]

    @property
    def degree(self) -> int:
        """The number of conjugate modes."""
        return len(self.minpoly) - 1

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return all(value.is_zero for value in self.eigenvalue)

    def operator(self, m: FamilyMatrix, x: FamilyMatrix) -> FamilyMatrix:
        """Return T from M and Sigma^x."""
        return m if not self.weight else m + x.scale(self.weight)

    def alike(self, other: FamilyClass) -> bool:
        """Whether the modes of both have the same s and d, root by root."""
        return (
            self.minpoly == other.minpoly
            and self.weight == other.weight
            and self.eigenvalue == other.eigenvalue
            and self.d == other.d
        )


@dataclass(frozen=True)
class _Part:
    """A class within one sector: E as a small matrix."""

    minpoly: Coefficients
    eigenvalue: Coefficients
    d: Coefficients
    weight: int
    projector: ExactMatrix


def joint_classes(m: FamilyMatrix, x: FamilyMatrix) -> tuple[FamilyClass, ...]:
    """Return the classes of modes of two matrices that commute.

    Args:
        m: M = (Sigma^{yx})* Sigma^{yx}, self-adjoint.
        x: Sigma^x, self-adjoint.

    Raises:
        ArithmeticError: No small t separates the joint eigenvalues.
    """
    space = m.rows
    found: list[FamilyClass] = []
    for sector, pair, embed in (
        ("trivial", (m.trivial(), x.trivial()), from_trivial),
        ("standard", (m.standard(), x.standard()), from_standard),
    ):
        if not pair[0].shape[0]:
            continue
        for part in _parts(*pair):
            _merge(found, _class(part, embed(space, part.projector), sector))
    return tuple(found)


def _class(part: _Part, projector: FamilyMatrix, sector: str) -> FamilyClass:
    return FamilyClass(
        minpoly=part.minpoly,
        eigenvalue=part.eigenvalue,
        d=part.d,
        weight=part.weight,
        projector=projector,
        multiplicity=projector.trace() / (len(part.minpoly) - 1),
        sectors=(sector,),
    )


def _merge(found: list[FamilyClass], new: FamilyClass) -> None:
    for place, old in enumerate(found):
        if old.alike(new):
            found[place] = FamilyClass(
                minpoly=old.minpoly,
                eigenvalue=old.eigenvalue,
                d=old.d,
                weight=old.weight,
                projector=old.projector + new.projector,
                multiplicity=old.multiplicity + new.multiplicity,
                sectors=(*old.sectors, *new.sectors),
            )
            return
    found.append(new)


def _parts(m: ExactMatrix, x: ExactMatrix) -> list[_Part]:
    """Return the classes of one sector, with the smallest t that tells them apart."""
    for weight in range(MOST_TRIALS):
        operator = (m + x.scale(weight)).reduced() if weight else m
        found = _at_weight(operator, m, x, weight)
        if found is not None:
            return found
    msg = "no small combination of M and Sigma^x separates their joint eigenvalues"
    raise ArithmeticError(msg)


def _at_weight(
    operator: ExactMatrix, m: ExactMatrix, x: ExactMatrix, weight: int
) -> list[_Part] | None:
    factors = irreducible_factors(characteristic(operator))
    parts = []
    for place, factor in enumerate(factors):
        others = factors[:place] + factors[place + 1 :]
        projector = _projector(operator, factor, others)
        powers = _powers(operator, projector, len(factor) - 1)
        eigenvalue, d = _as_polynomial(m, powers), _as_polynomial(x, powers)
        if eigenvalue is None or d is None:
            return None
        if len(factor) == 2:  # T = M then, whatever told the spaces apart
            factor = _linear(eigenvalue[0])
        own_weight = weight if len(factor) > 2 else 0
        parts.append(_Part(factor, eigenvalue, d, own_weight, projector))
    total = parts[0].projector
    for part in parts[1:]:
        total = total + part.projector
    if total != ExactMatrix.identity(m.shape[0], m.parameters):
        msg = "a correlation that is self-adjoint has no full set of eigenvectors"
        raise ArithmeticError(msg)
    return parts


def _linear(root: Scalar) -> Coefficients:
    """Return the primitive polynomial with this root."""
    names = root.parameters
    return (Scalar(names, -root.numerator), Scalar(names, root.denominator))


def characteristic(matrix: ExactMatrix) -> Coefficients:
    """Return det(x - matrix), low to high, over K."""
    names, size = matrix.parameters, matrix.shape[0]
    rows = matrix.rows()
    common = common_denominator([value for row in rows for value in row], names)
    table = [[value.numerator * (common // value.denominator) for value in row] for row in rows]
    found = polynomials.characteristic(table, names)
    return tuple(
        Scalar(names, value, common ** (size - power)) for power, value in enumerate(found)
    )


def evaluate(polynomial: Sequence[Scalar], matrix: ExactMatrix) -> ExactMatrix:
    """Return a polynomial of a square matrix."""
    one = ExactMatrix.identity(matrix.shape[0], matrix.parameters)
    total = one.scale(polynomial[-1])
    for coefficient in reversed(polynomial[:-1]):
        total = (total @ matrix + one.scale(coefficient)).reduced()
    return total


def _projector(
    operator: ExactMatrix, factor: Coefficients, others: Sequence[Coefficients]
) -> ExactMatrix:
    """Return the projector on the kernel of factor(T): g(T) (1/g mod factor)(T), g the rest."""
    field = Field(factor)
    image = ExactMatrix.identity(operator.shape[0], operator.parameters)
    value = field.constant(1)
    for other in others:
        image = (image @ evaluate(other, operator)).reduced()
        value = field.multiply(value, field.reduce(other))
    return (image @ evaluate(field.inverse(value), operator)).reduced()


def _powers(operator: ExactMatrix, projector: ExactMatrix, degree: int) -> list[ExactMatrix]:
    powers = [projector]
    while len(powers) < 2 * degree - 1:
        powers.append((operator @ powers[-1]).reduced())
    return powers


def _as_polynomial(matrix: ExactMatrix, powers: list[ExactMatrix]) -> Coefficients | None:
    """Return h with matrix = h(T) on the class, or None where there is none.

    Args:
        matrix: Commutes with T.
        powers: T^i E for i < 2k - 1.
    """
    degree = (len(powers) + 1) // 2
    names = matrix.parameters
    moved = [(matrix @ power).reduced() for power in powers[:degree]]
    right = [value.trace() for value in moved]
    if degree == 1:
        solution: Coefficients = (right[0] / powers[0].trace(),)
    else:
        traces = [power.trace() for power in powers]
        gram = [[traces[i + j] for j in range(degree)] for i in range(degree)]
        column = ExactMatrix.from_rows([[value] for value in right], names)
        found = inverse(ExactMatrix.from_rows(gram, names)) @ column
        solution = tuple(found.entry(i, 0) for i in range(degree))
    expected = powers[0].scale(solution[0])
    for coefficient, power in zip(solution[1:], powers[1:], strict=False):
        expected = expected + power.scale(coefficient)
    return solution if moved[0] == expected else None
