"""Common polynomial factors of sparse matrices over Z[parameters]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.exact import entries as coo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flint import fmpz_mpoly, fmpz_mpoly_ctx

    from symreln.exact.entries import Entries

Exponents = tuple[int, ...]


def without_common_factor(
    terms: Mapping[Exponents, Entries], denominator: fmpz_mpoly, ring: fmpz_mpoly_ctx, width: int
) -> tuple[dict[Exponents, Entries], fmpz_mpoly] | None:
    """Return (terms, denominator) with their common factor cancelled, or None without one.

    Entries of data repeat, so that every distinct polynomial is treated once.

    Args:
        terms: Entries of the integer matrix of every monomial, at least one.
        denominator: The common denominator.
        ring: The ring of the polynomials.
        width: Columns of the matrix.
    """
    places, rows, kinds = _spelled(terms, width)
    polynomials = [
        ring.from_dict({key: int(value) for key, value in zip(terms, row, strict=True) if value})
        for row in rows.tolist()
    ]
    common = denominator
    for polynomial in polynomials:
        common = common.gcd(polynomial)
        if common.is_constant():
            return None
    quotients = [(polynomial // common).to_dict() for polynomial in polynomials]
    divided = {}
    for exponents in dict.fromkeys(key for found in quotients for key in found):
        column = coo.integer_array([int(found.get(exponents, 0)) for found in quotients])
        key = tuple(int(e) for e in exponents)
        divided[key] = coo.at_places(places, column[kinds], width)
    return divided, denominator // common


def _spelled(
    terms: Mapping[Exponents, Entries], width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (places, rows of coefficients, which of them stands at every place)."""
    listed = [part.rows * width + part.columns for part in terms.values()]
    places = coo.merged(listed)
    big = any(part.values.dtype == object for part in terms.values())
    table = np.zeros((len(places), len(listed)), dtype=object if big else np.int64)
    for column, (at, part) in enumerate(zip(listed, terms.values(), strict=True)):
        table[np.searchsorted(places, at), column] = part.values
    rows, kinds = coo.distinct_rows(table)
    return places, rows, kinds
