"""Sizes at which no two pathways of a stage act on each other, so that it is closed there.

A matrix D δ + E over N exchangeable values vanishes where all its entries do. Besides there may be
too few values: with N = 0 indexed vectors do not exist, with N = 1 only D + E is seen between two
of them, and with N < 0 there is nothing at all, because two different values are missing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from symreln.exact.scalar import Scalar
    from symreln.families.algebra import FamilyMatrix
    from symreln.families.domain import Domain

#: From here on, N is at least 2 also with two values named: entries alone decide.
ENOUGH = 4


def vanishes(matrix: FamilyMatrix, values: Mapping[str, Fraction]) -> bool:
    """Return whether a matrix is zero at these values, for all values of the other symbols."""
    if matrix.is_zero:
        return True
    count = matrix.rows.count.substitute(values)
    return all(seen.substitute(values).is_zero for seen in _seen(matrix, count))


def _seen(matrix: FamilyMatrix, count: Scalar) -> Iterator[Scalar]:
    """Yield the numbers that the action on N exchangeable values shows."""
    many = int(count.to_fraction()) if count.is_constant else ENOUGH
    if many < 0:
        return
    rows, columns = matrix.rows.indexed, matrix.columns.indexed
    for i in range(matrix.rows.size):
        for j in range(matrix.columns.size):
            if not many and (i in rows or j in columns):
                continue
            same, entry = matrix.d.entry(i, j), matrix.e.entry(i, j)
            yield from (same + entry,) if many == 1 else (same, entry)


def closed_at(matrices: Sequence[FamilyMatrix], domain: Domain) -> dict[str, tuple[int, ...]]:
    """Return the values of every size at which all matrices vanish, whatever the others are."""
    if not matrices:
        return {}
    entries = [
        value
        for matrix in matrices
        for part in (matrix.d, matrix.e)
        for row in part.rows()
        for value in row
        if not value.is_zero
    ]
    found: dict[str, tuple[int, ...]] = {}
    for name in domain.minimum:
        tried = domain.common_roots(entries, name)
        if any(name in _occurring(matrix.rows.count) for matrix in matrices):
            tried |= set(range(1, ENOUGH))
        values = tuple(
            n
            for n in sorted(tried)
            if domain.allows(name, n) and all(vanishes(m, {name: Fraction(n)}) for m in matrices)
        )
        if values:
            found[name] = values
    return found


def _occurring(value: Scalar) -> list[str]:
    degrees = value.numerator.degrees()
    return [name for name, degree in zip(value.parameters, degrees, strict=True) if degree > 0]
