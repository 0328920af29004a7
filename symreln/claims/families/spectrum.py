r"""Joint eigenspaces of M and Sigma^x for every number N of exchangeable values at once.

Both commute with the permutations of the values, so both act separately on the vectors that are
equal for all values (the trivial sector, one vector a type) and on those whose sum over the values
is zero (the standard sector, N - 1 copies of one vector an indexed type). In either sector they
are small matrices over the field K of rational functions of all symbols, N among them.

With T = M + t Sigma^x and an irreducible factor f of T's characteristic polynomial, the
projector on the kernel of f(T) is a polynomial in T. That M and Sigma^x are polynomials
lambda(T) and d(T) there is found by least squares and then checked; another t is tried where they
are not. Every result is an identity over K: it holds for each number that N stands for at which no
denominator vanishes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.families.algebra import FamilyMatrix, from_standard, from_trivial
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.field import Field, irreducible_factors
from symreln.exact.linear import characteristic, evaluate
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.verdict.modes import Drive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Coefficients = tuple[Scalar, ...]

_MOST_TRIALS = 12
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
    """

    minpoly: Coefficients
    eigenvalue: Coefficients
    d: Coefficients
    weight: int
    projector: FamilyMatrix
    multiplicity: Scalar

    @property
    def degree(self) -> int:
        """The number of conjugate modes."""
        return len(self.minpoly) - 1

    @property
    def is_null(self) -> bool:
        """Whether s = 0."""
        return all(value.is_zero for value in self.eigenvalue)

    def number(
        self, values: Coefficients, unit: Scalar, root: int, *, is_sqrt: bool = False
    ) -> AlgebraicNumber:
        """Return an element of the class's field times a unit at one root, or its square root."""
        coefficients = tuple(value * unit for value in values)
        if self.degree == 1:
            return AlgebraicNumber.rational(coefficients[0], is_sqrt=is_sqrt)
        return AlgebraicNumber(
            minpoly=self.minpoly, coefficients=coefficients, root=root, is_sqrt=is_sqrt
        )

    def operator(self, m: FamilyMatrix, x: FamilyMatrix) -> FamilyMatrix:
        """Return T from M and Sigma^x."""
        return m if not self.weight else m + x.scale(self.weight)


def joint_classes(m: FamilyMatrix, x: FamilyMatrix) -> tuple[FamilyClass, ...]:
    """Return the classes of modes of two matrices that commute.

    Args:
        m: M = (Sigma^{yx})* Sigma^{yx}, self-adjoint.
        x: Sigma^x, self-adjoint.

    Raises:
        ArithmeticError: No small t separates the joint eigenvalues.
    """
    found: dict[object, FamilyClass] = {}
    for small_m, small_x, embed in (
        (m.trivial(), x.trivial(), from_trivial),
        (m.standard(), x.standard(), from_standard),
    ):
        if not small_m.shape[0]:
            continue
        for new in _classes(small_m, small_x, partial(embed, m.rows)):
            key = (new.minpoly, new.weight, new.eigenvalue, new.d)
            old = found.get(key)
            if old is not None:  # the same s and d, root by root
                new = replace(
                    new,
                    projector=old.projector + new.projector,
                    multiplicity=old.multiplicity + new.multiplicity,
                )
            found[key] = new
    return tuple(found.values())


def _classes(
    m: ExactMatrix, x: ExactMatrix, embed: Callable[[ExactMatrix], FamilyMatrix]
) -> list[FamilyClass]:
    """Return the classes of one sector, with the smallest t that tells them apart."""
    for weight in range(_MOST_TRIALS):
        operator = (m + x.scale(weight)).reduced() if weight else m
        found = _at_weight(operator, m, x, weight, embed)
        if found is not None:
            return found
    msg = "no small combination of M and Sigma^x separates their joint eigenvalues"
    raise ArithmeticError(msg)


def _at_weight(
    operator: ExactMatrix,
    m: ExactMatrix,
    x: ExactMatrix,
    weight: int,
    embed: Callable[[ExactMatrix], FamilyMatrix],
) -> list[FamilyClass] | None:
    factors = [factor for factor, _ in irreducible_factors(characteristic(operator))]
    total = ExactMatrix.zeros(*m.shape, m.parameters)
    found = []
    for place, factor in enumerate(factors):
        projector = _projector(operator, factor, factors[:place] + factors[place + 1 :])
        total = total + projector
        degree = len(factor) - 1
        powers = [projector]
        while len(powers) < degree:
            powers.append((operator @ powers[-1]).reduced())
        drive = Drive(powers=tuple(powers), degree=degree)
        eigenvalue, d = (drive.polynomial(((a @ projector).reduced(),)) for a in (m, x))
        if eigenvalue is None or d is None:
            return None
        whole = embed(projector)
        found.append(
            FamilyClass(
                # Of degree 1, T = M, whatever told the spaces apart.
                minpoly=factor if degree > 1 else _linear(eigenvalue[0]),
                eigenvalue=eigenvalue,
                d=d,
                weight=weight if degree > 1 else 0,
                projector=whole,
                multiplicity=whole.trace() / degree,
            )
        )
    if total != ExactMatrix.identity(m.shape[0], m.parameters):
        msg = "a correlation that is self-adjoint has no full set of eigenvectors"
        raise ArithmeticError(msg)
    return found


def _linear(root: Scalar) -> Coefficients:
    """Return the primitive polynomial with this root."""
    names = root.parameters
    return (Scalar(names, -root.numerator), Scalar(names, root.denominator))


def _projector(
    operator: ExactMatrix, factor: Coefficients, others: Sequence[Coefficients]
) -> ExactMatrix:
    """Return the projector on the kernel of factor(T): g(T) (1/g mod factor)(T), g the rest."""
    field = Field(factor)
    image = ExactMatrix.identity(operator.shape[0], operator.parameters)
    value = field.constant(1)
    for other in others:
        image = evaluate(other, operator, image)
        value = field.multiply(value, field.reduce(other))
    return evaluate(field.inverse(value), operator, image)
