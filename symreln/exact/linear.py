"""Inverses, pseudo-inverses, ranks, projectors and coordinates over Q(parameters).

With parameters, a symmetric matrix is first cut into constant invariant blocks
(:mod:`symreln.exact.blocks`); only the small blocks are inverted over Q(parameters).
"""

from __future__ import annotations

from collections.abc import Sequence

from symreln.errors import InputError
from symreln.exact import integers, polynomials
from symreln.exact.blocks import invariant_blocks
from symreln.exact.field import Coefficients
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar


def inverse(matrix: ExactMatrix) -> ExactMatrix:
    """Return the inverse of a square matrix over Q(parameters).

    Raises:
        ZeroDivisionError: The matrix is singular.
    """
    _square(matrix, "inverse")
    if not matrix.shape[0]:
        return matrix
    if matrix.is_constant:
        return _constant_inverse(matrix)
    symmetric = (matrix - matrix.T).is_zero
    result, nullity = _by_blocks(matrix) if symmetric else _group_inverse(matrix)
    if nullity:
        msg = "the matrix is singular"
        raise ZeroDivisionError(msg)
    return result.reduced()


def pseudo_inverse(matrix: ExactMatrix) -> ExactMatrix:
    """Return the Moore-Penrose inverse of a symmetric matrix over Q(parameters).

    It is the inverse on the image and zero on the kernel; for a constant matrix it is
    (A + N)^{-1} - N with N the projector on the kernel.

    Raises:
        InputError: The matrix is not symmetric.
    """
    _square(matrix, "pseudo_inverse")
    if not (matrix - matrix.T).is_zero:
        msg = "pseudo_inverse: the matrix is not symmetric; for A use (AᵀA)⁺ Aᵀ"
        raise InputError(msg)
    if matrix.is_zero:
        return matrix
    if not matrix.is_constant:
        return _by_blocks(matrix)[0].reduced()
    null = integers.kernel(matrix.integers()[0])
    if not null.ncols():
        return _constant_inverse(matrix)
    basis = ExactMatrix.from_integers(null, 1, matrix.parameters)
    projector = (basis @ inverse(basis.gram) @ basis.T).reduced()
    return (_constant_inverse(matrix + projector) - projector).reduced()


def rank(matrix: ExactMatrix) -> int:
    """Return the rank over Q(parameters), exactly."""
    if matrix.is_zero:
        return 0
    if matrix.is_constant:
        return int(matrix.integers()[0].rank())
    full = min(matrix.shape)
    if len(polynomials.rows_at_point(matrix.T.numerators())) == full:
        return full  # full rank at one point proves it
    gram = matrix.gram if matrix.shape[1] <= matrix.shape[0] else matrix.T.gram
    return gram.shape[0] - _by_blocks(gram)[1]


def complement_projector(columns: ExactMatrix) -> ExactMatrix:
    """Return the orthogonal projector on what is orthogonal to all columns, dependent or not."""
    whole = ExactMatrix.identity(columns.shape[0], columns.parameters)
    return (whole - columns @ right_inverse(columns)).reduced()


def projected(rows: ExactMatrix, features: ExactMatrix) -> ExactMatrix:
    """Return every row's orthogonal projection onto the row space of the features.

    Args:
        rows: Shape (any, P).
        features: Shape (any, P).
    """
    if features.shape[0] >= features.shape[1] == rank(features):
        return rows
    return ((rows @ right_inverse(features)) @ features).reduced()


def right_inverse(features: ExactMatrix) -> ExactMatrix:
    """Return F⁺, shape (P, any), of features F of shape (any, P).

    By the Gram matrix of the features or of the samples, whichever are fewer. Every symmetry of
    the features is one of it.
    """
    if features.shape[1] < features.shape[0]:
        return (pseudo_inverse(features.gram.reduced()) @ features.T).reduced()
    return (features.T @ pseudo_inverse(features.T.gram.reduced())).reduced()


def characteristic(matrix: ExactMatrix) -> Coefficients:
    """Return the coefficients of det(x - matrix), low to high; the last is 1."""
    whole = matrix.reduced()
    return polynomials.characteristic(whole.numerators(), whole.denominator, matrix.parameters)


def evaluate(polynomial: Sequence[Scalar], matrix: ExactMatrix, on: ExactMatrix) -> ExactMatrix:
    """Return polynomial(matrix)·on by Horner's rule, coefficients low to high."""
    total = on.scale(polynomial[-1])
    for coefficient in reversed(polynomial[:-1]):
        total = (matrix @ total + on.scale(coefficient)).reduced()
    return total


def coordinates(basis: ExactMatrix, targets: ExactMatrix) -> ExactMatrix | None:
    """Return C with basis·C = targets, or None where the columns are no basis of the targets.

    Exact: a square subsystem is solved, and the whole equation is checked.
    """
    width, names = basis.shape[1], basis.parameters
    top, goal = basis.numerators(), targets.numerators()
    rows = polynomials.independent_rows(list(zip(*top, strict=True)))
    if len(rows) < width:
        return None
    _, reduced, below = polynomials.echelon([[*top[row], *goal[row]] for row in rows])
    entries = [entry for row in reduced for entry in row[width:]]
    found = ExactMatrix.of_polynomials((width, targets.shape[1]), names, entries)
    below = Scalar(names, targets.denominator * below)
    found = found.scale(Scalar(names, basis.denominator) / below)
    return found if (basis @ found - targets).is_zero else None


def _square(matrix: ExactMatrix, name: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        msg = f"{name}: the matrix has shape {matrix.shape}; it must be square"
        raise InputError(msg)


def _constant_inverse(matrix: ExactMatrix) -> ExactMatrix:
    numerator, denominator = matrix.integers()
    top, bottom = integers.inverse(numerator)
    return ExactMatrix.from_integers(top * denominator, bottom, matrix.parameters).reduced()


def _by_blocks(matrix: ExactMatrix) -> tuple[ExactMatrix, int]:
    """Return (pseudo-inverse, nullity) of a symmetric matrix.

    With A Q = Q b for a constant basis Q and b block-diagonal, A⁺ = Q b# Q^{-1}: a symmetric
    matrix's pseudo-inverse is its group inverse, which respects similarity.
    """
    names, size = matrix.parameters, matrix.shape[0]
    index = {key: place for place, key in enumerate(matrix.terms)}
    blocks = invariant_blocks([part.flint for part in matrix.terms.values()])
    bases = [integers.stack_columns(block.basis, size) for block in blocks]
    back = ExactMatrix.from_integers(*integers.inverse(integers.stack_columns(bases, size)), names)
    total, nullity, start = ExactMatrix.zeros(size, size, names), 0, 0
    for block, basis in zip(blocks, bases, strict=True):
        inverted, lost = _group_inverse(block.combined(index, names))
        nullity += lost * block.copies
        q = ExactMatrix.from_integers(basis, 1, names)
        rows = range(start, start + basis.ncols())
        total = total + q @ inverted.repeated(block.copies) @ back.select(rows=rows)
        start += basis.ncols()
    # A = numerator/q, so A⁺ = q·numerator⁺.
    return total.scale(Scalar(names, matrix.denominator)), nullity


def _group_inverse(matrix: ExactMatrix) -> tuple[ExactMatrix, int]:
    """Return (b#, nullity) of a diagonalisable matrix b; without nullity, of any one, b^{-1}.

    With charpoly x^r q(x), q(0) ≠ 0, and u(x) = (q(0) - q(x))/(q(0) x): u(b) inverts b on its
    image, and b# = b u(b)² is zero on its kernel besides.
    """
    coefficients = characteristic(matrix)
    nullity = next(i for i, value in enumerate(coefficients) if not value.is_zero)
    q = coefficients[nullity:]
    one = ExactMatrix.identity(matrix.shape[0], matrix.parameters)
    if len(q) == 1:
        return matrix, nullity  # zero
    u = evaluate(q[1:], matrix, one).scale(-1 / q[0])
    return (matrix @ u @ u if nullity else u), nullity
