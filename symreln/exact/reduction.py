"""Common factors of the entries of a matrix over Z[parameters]."""

from __future__ import annotations

import operator
from math import gcd
from typing import TYPE_CHECKING, Any, TypeVar

from flint import fmpz, fmpz_mat, fmpz_mpoly, fmpz_poly

from symreln.exact.scalar import polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Exponents = tuple[int, ...]
Terms = dict[Exponents, fmpz_mat]
T = TypeVar("T")


def content(matrix: fmpz_mat, start: int = 0) -> int:
    """Return the greatest common divisor of ``start`` and all entries (0 for a zero matrix)."""
    # A polynomial with these coefficients has this content: FLINT runs through them in one call.
    return gcd(start, int(fmpz_poly(matrix.entries()).content()))


def quotient(matrix: fmpz_mat, divisor: int) -> fmpz_mat:
    """Return the matrix divided by an integer that divides every entry."""
    flat = [entry // divisor for entry in matrix.entries()]
    return fmpz_mat(matrix.nrows(), matrix.ncols(), flat)


def by_polynomial(
    terms: Mapping[Exponents, fmpz_mat], parameters: tuple[str, ...], bottom: fmpz_mpoly
) -> tuple[Terms, fmpz_mpoly]:
    """Cancel the polynomial that divides ``bottom`` and every entry of Σ monomial·terms.

    Returns:
        The terms and the denominator, the one given where nothing cancels.
    """
    polynomials = _entries(terms, parameters)
    common = bottom
    for polynomial in polynomials.values():
        common = common.gcd(polynomial)
        if common.is_constant():
            return dict(terms), bottom
    shape = next((m.nrows(), m.ncols()) for m in terms.values())
    parts: dict[Exponents, list[fmpz]] = {}
    for position, polynomial in polynomials.items():
        for exponents, coefficient in (polynomial // common).to_dict().items():
            key = tuple(int(e) for e in exponents)
            flat = parts.setdefault(key, [fmpz(0)] * (shape[0] * shape[1]))
            flat[position] = coefficient
    divided = {key: fmpz_mat(*shape, flat) for key, flat in parts.items()}
    return divided, bottom // common


def _entries(
    terms: Mapping[Exponents, fmpz_mat], parameters: tuple[str, ...]
) -> dict[int, fmpz_mpoly]:
    """Return the non-zero entries by position, row by row."""
    ring = polynomial_ring(parameters)
    entries: dict[int, dict[Exponents, fmpz]] = {}
    for key, matrix in terms.items():
        for position, value in enumerate(matrix.entries()):
            if value:
                entries.setdefault(position, {})[key] = value
    return {position: ring.from_dict(found) for position, found in entries.items()}


def times_polynomial(
    terms: Mapping[Exponents, T],
    polynomial: fmpz_mpoly,
    scaled: Callable[[T, int], T] = operator.mul,
    added: Callable[[Any, Any], Any] = operator.add,
) -> dict[Exponents, T]:
    """Multiply every coefficient matrix by a polynomial, monomial by monomial.

    Args:
        terms: Integer matrices of one kind, dense or sparse.
        polynomial: The factor.
        scaled: Returns a matrix times a whole number.
        added: Returns the sum of two matrices.
    """
    if polynomial.is_one():
        return dict(terms)
    result: dict[Exponents, T] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        for key, matrix in terms.items():
            place = tuple(x + int(y) for x, y in zip(key, exponents, strict=True))
            product = scaled(matrix, int(coefficient))
            result[place] = added(result[place], product) if place in result else product
    return result
