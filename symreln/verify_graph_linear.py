"""The graph verifier's linear algebra on integer matrices; the standard library alone.

A matrix is a list of rows of integers. Ranks are taken modulo a prime: they are lower bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from typing import Any

try:
    from symreln.verify_matrices import Sparse
    from symreln.verify_numbers import require
except ImportError:  # the files alone, without the package
    from verify_matrices import Sparse  # type: ignore[no-redef]
    from verify_numbers import require  # type: ignore[no-redef]

PRIME = 2**61 - 1
Rows = list[list[int]]


def read_rows(value: Any, path: str, height: int | None, width: int) -> Rows:
    """Read a matrix of integers, of that height if one is given."""
    good = isinstance(value, list) and len(value) == (len(value) if height is None else height)
    good = good and all(isinstance(row, list) and len(row) == width for row in value)
    good = good and all(type(entry) is int for row in value for entry in row)
    require(good, path, f"{'some' if height is None else height} rows of {width} integers")
    return value


def turned(matrix: Rows, width: int) -> Rows:
    """Return the transpose of a matrix that has ``width`` columns."""
    return [[row[j] for row in matrix] for j in range(width)]


def product(a: Rows, b: Rows, width: int) -> Rows:
    """Return a·b, where b has ``width`` columns."""
    found = []
    for row in a:
        total = [0] * width
        for value, other in zip(row, b, strict=True):
            if value:
                total = [t + value * o for t, o in zip(total, other, strict=True)]
        found.append(total)
    return found


def primitive(matrix: Rows) -> Rows:
    """Return a matrix over the common divisor of its entries."""
    common = gcd(*(entry for row in matrix for entry in row))
    return matrix if common <= 1 else [[entry // common for entry in row] for row in matrix]


def rank(rows: Iterable[list[int]]) -> int:
    """Return a lower bound of the rank: that modulo a prime."""
    pivots: list[tuple[int, list[int]]] = []
    for row in rows:
        reduced_row(row, pivots, keep=True)
    return len(pivots)


def reduced_row(row: list[int], pivots: list[tuple[int, list[int]]], *, keep: bool) -> bool:
    """Return whether a row is new modulo a prime; it becomes a pivot where ``keep`` says so."""
    work = [entry % PRIME for entry in row]
    for place, pivot in pivots:
        if factor := work[place]:
            work = [(w - factor * p) % PRIME for w, p in zip(work, pivot, strict=True)]
    place = next((n for n, entry in enumerate(work) if entry), None)
    if place is None:
        return False
    if keep:
        inverse = pow(work[place], -1, PRIME)
        pivots.append((place, [entry * inverse % PRIME for entry in work]))
    return True


def coefficients(matrix: Sparse) -> list[Rows]:
    """Return the integer matrix of every monomial of a matrix, without its denominator."""
    found = []
    for part in matrix.terms.values():
        rows = [[0] * matrix.shape[1] for _ in range(matrix.shape[0])]
        for i, row in part.items():
            for j, value in row.items():
                rows[i][j] = value
        if any(map(any, rows)):
            found.append(rows)
    return found


def combination(parts: list[tuple[Fraction, Rows]]) -> list[list[Fraction]]:
    """Return Σ factor · matrix of one or more matrices of equal shape."""
    total = [[Fraction(0)] * len(row) for row in parts[0][1]]
    for factor, matrix in parts:
        for line, row in zip(total, matrix, strict=True):
            for place, value in enumerate(row):
                if value:
                    line[place] += factor * value
    return total
