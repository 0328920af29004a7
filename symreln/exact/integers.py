"""Linear algebra over Z and Q by FLINT: kernels, spans, coordinates.

A rational subspace is held as an integer matrix whose columns span it; every equality that a result
rests on is checked over Z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, TypeVar, cast

from flint import fmpq_mat, fmpq_poly, fmpz, fmpz_mat, fmpz_poly

_Word = TypeVar("_Word")


def identity(size: int, columns: int | None = None) -> fmpz_mat:
    """Return the integer identity, or its first columns."""
    width = size if columns is None else columns
    result = fmpz_mat(size, width)
    for index in range(width):
        result[index, index] = 1
    return result


def columns_of(matrix: fmpz_mat) -> list[list[fmpz]]:
    """Return the columns as lists."""
    return matrix.transpose().tolist()


def from_columns(columns: Sequence[Sequence[fmpz]], height: int) -> fmpz_mat:
    """Return the matrix with the given columns."""
    if not columns:
        return fmpz_mat(height, 0)
    return fmpz_mat([list(column) for column in columns]).transpose()


def stack_columns(parts: Iterable[fmpz_mat], height: int) -> fmpz_mat:
    """Return the matrices side by side."""
    turned = [part.transpose() for part in parts]
    flat = [entry for part in turned for entry in part.entries()]
    return fmpz_mat(sum(part.nrows() for part in turned), height, flat).transpose()


def select_columns(matrix: fmpz_mat, wanted: Sequence[int]) -> fmpz_mat:
    """Return some columns, in the order given."""
    columns = columns_of(matrix)
    return from_columns([columns[index] for index in wanted], matrix.nrows())


def primitive_columns(matrix: fmpz_mat) -> fmpz_mat:
    """Return an integer matrix with every column divided by its greatest common divisor."""
    columns = columns_of(matrix)
    for place, column in enumerate(columns):
        content = fmpz_poly(column).content()
        if content > 1:
            columns[place] = [entry // content for entry in column]
    return from_columns(columns, matrix.nrows())


def iterated(step: Callable[[_Word], _Word], first: _Word, length: int) -> list[_Word]:
    """Return first, step(first), step(step(first)), …: ``length`` of them, at least one."""
    return list(accumulate(range(length - 1), lambda last, _: step(last), initial=first))


def kernel(matrix: fmpz_mat) -> fmpz_mat:
    """Return primitive columns that span the kernel over Q."""
    width = matrix.ncols()
    if matrix.is_zero():
        return identity(width)
    basis, nullity = matrix.nullspace()
    # The basis fills the first columns of a square matrix; only those are worth converting.
    return primitive_columns(basis * identity(width, int(nullity)))


def pivot_columns(matrix: fmpz_mat) -> list[int]:
    """Return the first columns that are independent over Q, as many as the rank is."""
    reduced, _, rank = matrix.rref()
    rows = reduced.tolist()[: int(rank)]
    return [next(column for column, entry in enumerate(row) if entry != 0) for row in rows]


def independent(matrix: fmpz_mat) -> bool:
    """Whether the columns are independent over Q."""
    return int(matrix.rank()) == matrix.ncols()


def coordinates(basis: fmpz_mat, targets: fmpz_mat) -> fmpq_mat | None:
    """Return X with basis·X = targets, or None where some target leaves the span.

    The columns of ``basis`` must be independent. The answer is exact: X comes from a square
    subsystem and the whole equation is checked over Z.
    """
    rows = pivot_columns(basis.transpose())
    if len(rows) != basis.ncols():
        msg = "coordinates need a basis with independent columns"
        raise ArithmeticError(msg)
    table, goal = basis.tolist(), targets.tolist()
    square = fmpz_mat([table[row] for row in rows])
    found = cast("fmpq_mat", square.solve(fmpz_mat([goal[row] for row in rows])))
    numerator, denominator = found.numer_denom()
    return found if basis * numerator == targets * denominator else None


def inverse(matrix: fmpz_mat) -> tuple[fmpz_mat, int]:
    """Return (numerator, denominator) of the inverse.

    Raises:
        ZeroDivisionError: The matrix is singular.
    """
    numerator, denominator = cast("fmpq_mat", matrix.inv()).numer_denom()
    return numerator, int(denominator)


def of_matrix(polynomial: fmpz_poly | fmpq_poly, matrix: Any) -> Any:
    """Return polynomial(matrix), over Z or Q, by Horner's rule."""
    size, kind = matrix.nrows(), type(matrix)
    one, result = kind(identity(size)), kind(size, size)
    for coefficient in reversed(polynomial.coeffs()):
        result = matrix * result + one * coefficient
    return result


def integer_factors(polynomial: fmpz_poly) -> list[tuple[fmpz_poly, int]]:
    """Return the irreducible factors over Q, primitive with positive leading coefficient."""
    _, factors = polynomial.factor()
    return [
        (factor if factor.leading_coefficient() > 0 else -factor, int(exponent))
        for factor, exponent in factors
    ]
