"""Data in float64 whatever their size: gates and ratios of rates do not change with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from symreln.exact.matrix import ExactMatrix

#: Singular values below this share of the largest are rounding.
CLEAR = 1e-9

_Integers = Sequence[Sequence[int]]


def unit_floats(matrix: ExactMatrix) -> np.ndarray:
    """Return a matrix without parameters over a power of two: its largest entry is about one."""
    table = _integers(matrix)
    return _over(table, [_bits(value for row in table for value in row)] * matrix.shape[1])


def unit_samples(
    inputs: ExactMatrix, residual: ExactMatrix
) -> tuple[np.ndarray, np.ndarray, Fraction]:
    """Return x, r and a scale with R diag(g) Xᵀ = scale · r diag(g) xᵀ for all gates g.

    Every sample's inputs over a power of two, which its residual takes: no sample that is not zero
    becomes zero. The largest entries are about one.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters.
    """
    samples, targets = _integers(inputs), _integers(residual)
    sizes = [_bits(column) for column in zip(*samples, strict=True)]
    targets = [[v << size for v, size in zip(row, sizes, strict=True)] for row in targets]
    size = _bits(value for row in targets for value in row)
    below = inputs.integers()[1] * residual.integers()[1]
    return (
        _over(samples, sizes),
        _over(targets, [size] * len(sizes)),
        Fraction(1 << size, abs(below)),
    )


def _integers(matrix: ExactMatrix) -> list[list[int]]:
    """Return the numerators over the common denominator."""
    return [[int(value) for value in row] for row in matrix.integers()[0].tolist()]


def _bits(values: Iterable[int]) -> int:
    return max((abs(value).bit_length() for value in values), default=0)


def _over(table: _Integers, sizes: Sequence[int]) -> np.ndarray:
    """Return integers over powers of two, one a column, rounded correctly."""
    rows = [[v / (1 << size) for v, size in zip(row, sizes, strict=True)] for row in table]
    return np.array(rows, dtype=float).reshape(len(table), len(sizes))
