"""Small matrices over Z[parameters], entry by entry: FLINT multiplies polynomials of many terms.

A matrix is kept as one integer matrix a monomial, which is fast for large matrices of few
monomials. A product goes through all pairs of monomials then; where these outnumber the entries,
as for gains such as (a + b + c)**8, the entries are taken as polynomials instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import fmpz, fmpz_mat

from symreln.exact import polynomials
from symreln.exact.scalar import polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flint import fmpz_mpoly

    from symreln.exact.polynomials import Table

Exponents = tuple[int, ...]
Terms = dict[Exponents, fmpz_mat]

#: Pairs of monomials from which on, and products of entries up to which, entries are polynomials.
FEWEST_PAIRS, MOST_CELLS = 64, 256


def pays(pairs: int, cells: int) -> bool:
    """Return whether entries are taken as polynomials.

    Args:
        pairs: Pairs of monomials of the two factors.
        cells: Products of two entries that are needed.
    """
    return pairs > FEWEST_PAIRS and cells <= MOST_CELLS


def product(a: Terms, b: Terms, parameters: tuple[str, ...]) -> Terms:
    """Return the terms of a·b; neither is empty."""
    return _terms(polynomials.product(_table(a, parameters), _table(b, parameters)))


def frobenius(a: Terms, b: Terms, parameters: tuple[str, ...]) -> fmpz_mpoly:
    """Return tr(aᵀ b), of terms of equal shape; neither is empty."""
    total = polynomial_ring(parameters).constant(0)
    for left, right in zip(_table(a, parameters), _table(b, parameters), strict=True):
        for x, y in zip(left, right, strict=True):
            total += x * y
    return total


def scaled(a: Terms, factor: fmpz_mpoly, parameters: tuple[str, ...]) -> Terms:
    """Return the terms of factor·a, which is not empty."""
    return _terms([[entry * factor for entry in row] for row in _table(a, parameters)])


def _table(terms: Terms, parameters: tuple[str, ...]) -> Table:
    ring = polynomial_ring(parameters)
    rows = {key: matrix.tolist() for key, matrix in terms.items()}
    shape = next((m.nrows(), m.ncols()) for m in terms.values())
    return [
        [ring.from_dict({key: found[i][j] for key, found in rows.items()}) for j in range(shape[1])]
        for i in range(shape[0])
    ]


def _terms(table: Table) -> Terms:
    shape = (len(table), len(table[0]))
    parts: dict[Exponents, list[fmpz]] = {}
    for place, entry in enumerate(entry for row in table for entry in row):
        found: Mapping = entry.to_dict()
        for exponents, coefficient in found.items():
            key = tuple(int(e) for e in exponents)
            parts.setdefault(key, [fmpz(0)] * (shape[0] * shape[1]))[place] = coefficient
    return {key: fmpz_mat(*shape, flat) for key, flat in parts.items()}
