"""Gates at an irrational value of the parameter: elimination and programming over Q(alpha)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum
from symreln.gates.consistent import Pair, Vector
from symreln.gates.programming import Direction, direction
from symreln.gates.real import Real, RealField

if TYPE_CHECKING:
    from flint import fmpz_mpoly


def field_of(root: AlgebraicNumber) -> RealField:
    """Return Q(alpha) for a root of an irreducible polynomial."""
    return RealField([value.to_fraction() for value in root.minpoly], root.root)


def value_at(value: Scalar, field: RealField) -> Real:
    """Return a rational function of one parameter at the field's generator.

    Raises:
        ZeroDivisionError: It is infinite there.
    """
    return _polynomial(value.numerator, field) / _polynomial(value.denominator, field)


def columns_at(matrix: ExactMatrix, field: RealField) -> list[Vector]:
    """Return the columns of a matrix at the field's generator.

    Raises:
        ZeroDivisionError: An entry is infinite there.
    """
    rows = [[value_at(entry, field) for entry in row] for row in matrix.rows()]
    return [tuple(column) for column in zip(*rows, strict=True)]


def realisable_at(samples: Sequence[Vector], gate: Sequence[int]) -> bool:
    """Return whether some direction opens exactly the gate's samples."""
    strict = [x for x, g in zip(samples, gate, strict=True) if g]
    weak = [x for x, g in zip(samples, gate, strict=True) if not g]
    return isinstance(direction(strict, weak, len(samples[0])), Direction)


def gates_at(samples: Sequence[Vector]) -> list[tuple[int, ...]]:
    """Return all gates, sample by sample: every gate of the first ones leads to at least one.

    Args:
        samples: Columns of X over any ordered field.
    """
    found: list[tuple[int, ...]] = [()]
    for n in range(1, len(samples) + 1):
        longer = ((*gate, side) for gate in found for side in (1, 0))
        found = [gate for gate in longer if realisable_at(samples[:n], gate)]
    return found


def pairs_at(spectrum: JointSpectrum, field: RealField) -> list[Pair] | None:
    """Return the singular pairs with s > 0 at the field's generator, or None if undecided.

    Eigenvalues come from the classes over Q(parameter), which hold for all values; those that are
    irrational over Q(alpha) are not followed.

    Args:
        spectrum: Over Q(parameter).
        field: Q(alpha), alpha no pole of the spectrum.
    """
    if any(one.degree > 1 for one in spectrum.classes if not one.is_null):
        return None
    table = [[value_at(entry, field) for entry in row] for row in spectrum.m.rows()]
    squares: list[Real] = []
    for one in spectrum.classes:
        square = value_at(one.eigenvalue[0], field)
        if square and not any(square == known for known in squares):
            squares.append(square)
    squares.sort(reverse=True)
    return [
        Pair(s=replace(square.number, is_sqrt=True), vectors=tuple(_kernel(table, square)))
        for square in squares
    ]


def _kernel(table: list[list[Real]], eigenvalue: Real) -> list[Vector]:
    """Return vectors that span the eigenspace of a symmetric matrix."""
    size = len(table)
    rows = [
        [value - eigenvalue if i == j else value for j, value in enumerate(row)]
        for i, row in enumerate(table)
    ]
    pivots: list[int] = []
    for column in range(size):
        height = len(pivots)
        place = next((i for i in range(height, size) if rows[i][column]), None)
        if place is None:
            continue
        rows[height], rows[place] = rows[place], rows[height]
        pivot = rows[height][column]
        rows[height] = [value / pivot for value in rows[height]]
        for i in range(size):
            factor = rows[i][column]
            if i != height and factor:
                rows[i] = [a - b * factor for a, b in zip(rows[i], rows[height], strict=True)]
        pivots.append(column)
    found = []
    one = eigenvalue.field.element([1])
    for free in (k for k in range(size) if k not in pivots):
        vector = [one * 0] * size
        vector[free] = one
        for row, pivot_column in zip(rows, pivots, strict=False):
            vector[pivot_column] = -row[free]
        found.append(tuple(vector))
    return found


def _polynomial(polynomial: fmpz_mpoly, field: RealField) -> Real:
    """Return a polynomial in one parameter at the field's generator."""
    coefficients: dict[int, int] = {}
    for key, value in polynomial.to_dict().items():
        coefficients[int(key[0]) if key else 0] = int(value)
    top = max(coefficients, default=0)
    return field.element([coefficients.get(k, 0) for k in range(top + 1)])
