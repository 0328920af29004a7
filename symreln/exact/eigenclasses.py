"""What is known of one irreducible polynomial's eigenvalues and eigenvectors in a block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import fmpq, fmpz, fmpz_mpoly

from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Exponents = tuple[int, ...]
Coefficients = tuple[Scalar, ...]


@dataclass(frozen=True, kw_only=True)
class Family:
    """The coefficient matrices of M and Sigma^x, as indices into one list of integer matrices.

    Attributes:
        parameters: Names of the parameters.
        m: Index of M's coefficient matrix for every monomial.
        x: The same for Sigma^x; None where only M is decomposed.
        zeros: Polynomials that must not vanish where T is taken at a point.
    """

    parameters: tuple[str, ...]
    m: Mapping[Exponents, int]
    x: Mapping[Exponents, int] | None
    zeros: tuple[fmpz_mpoly, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Eigenvalues:
    """The roots of one irreducible polynomial, with their eigenvectors in a block.

    Attributes:
        minpoly: f, coefficients low to high, polynomials over Z.
        t: T = M + t·Sigma^x.
        at: The point at which T is taken, where eigenvectors do not depend on the parameters;
            None for T itself.
        eigenvalue: lambda(theta), low to high, padded to the degree of f.
        d: d(theta), or None.
        vectors: Coordinates of the generators over the block's words.
    """

    minpoly: tuple[fmpz_mpoly, ...]
    t: int
    at: tuple[int, ...] | None
    eigenvalue: Coefficients
    d: Coefficients | None
    vectors: tuple[tuple[fmpz_mpoly, ...], ...]


def _combine(
    values: Sequence[fmpq], index: Mapping[Exponents, int], parameters: tuple[str, ...]
) -> Scalar:
    """Return Σ monomial · value."""
    common = 1
    for place in index.values():
        common = int(fmpz(common).lcm(values[place].q))
    ring = polynomial_ring(parameters)
    top = ring.from_dict({key: (values[place] * common).p for key, place in index.items()})
    return Scalar(parameters, top, common)


def rows(
    values: Sequence[Sequence[fmpq]], index: Mapping[Exponents, int], family: Family
) -> Coefficients:
    """Return Σ monomial·value for every power of theta, from one row a coefficient matrix."""
    degree = len(values[0])
    return tuple(
        _combine([value[power] for value in values], index, family.parameters)
        for power in range(degree)
    )


def linear(
    values: Sequence[Sequence[fmpq]], vectors: tuple[tuple[fmpz_mpoly, ...], ...], family: Family
) -> Eigenvalues:
    """Return a rational eigenvalue; T = M then, whatever told the spaces apart."""
    eigenvalue = rows(values, family.m, family)
    return Eigenvalues(
        minpoly=(-eigenvalue[0].numerator, eigenvalue[0].denominator),
        t=0,
        at=None,
        eigenvalue=eigenvalue,
        d=None if family.x is None else rows(values, family.x, family),
        vectors=vectors,
    )
