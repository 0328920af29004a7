"""Whole-number arrays: int64 while a bound proves it exact, Python's integers beyond."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

#: Results below this are safe in int64, sums of two of them included.
_SAFE = 2**61
#: Entries of witnesses from which shorter ones are looked for.
LONG = 1 << 17
#: Bits of whole numbers that float64 has room for.
_FLOAT_BITS = 1000


def _largest(array: np.ndarray) -> int:
    """Return the largest absolute value, 0 for an empty array."""
    return int(np.abs(array).max(initial=0))


def common(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the arrays in one type."""
    if all(array.dtype != object for array in arrays):
        return arrays
    return tuple(array.astype(object) for array in arrays)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the matrix product, exact."""
    small = _largest(a) * _largest(b) * max(a.shape[1], 1) < _SAFE
    if small and a.dtype != object and b.dtype != object:
        return a @ b
    return fitted(a.astype(object) @ b.astype(object))


def times_rows(rows: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return every row times its factor, exact."""
    if _largest(rows) * _largest(factors) >= _SAFE:
        rows, factors = rows.astype(object), factors.astype(object)
    rows, factors = common(rows, factors)
    return rows * factors[:, None]


def reduced_rows(rows: np.ndarray) -> np.ndarray:
    """Return every row divided by the greatest common divisor of its entries."""
    if not rows.size:
        return rows
    divisors = np.gcd.reduce(rows, axis=1)
    divisors[divisors == 0] = 1
    return fitted(rows // divisors[:, None])


def fitted(array: np.ndarray) -> np.ndarray:
    """Return the array in int64 where that holds it."""
    if array.dtype == object and _largest(array) < _SAFE:
        return array.astype(np.int64)
    return array


def primitive(values: Sequence[Fraction | int]) -> np.ndarray:
    """Return the whole-number vector without a common divisor on the ray of a rational one."""
    exact = [Fraction(value) for value in values]
    bottom = lcm(*(value.denominator for value in exact))
    whole = [int(value * bottom) for value in exact]
    divisor = gcd(*whole) or 1
    return fitted(np.array([value // divisor for value in whole], dtype=object))


def lengths_to_keep(products: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return N, one a row z, so that z·N + step has the signs of z where z is not 0.

    Args:
        products: z, shape (rows, n).
        step: Shape (n,).
    """
    against = np.sign(products) * np.sign(step)[None] < 0
    size = np.abs(products)
    size[size == 0] = 1
    quotients = np.abs(step)[None] // size
    return np.where(against, quotients, 0).max(axis=1, initial=0) + 1


def _in_range(numbers: np.ndarray) -> np.ndarray:
    """Return rows of whole numbers without the last bits of those that no float64 holds."""
    sizes = np.abs(numbers).max(axis=1, initial=0)
    drop = [max(0, int(size).bit_length() - _FLOAT_BITS) for size in sizes]
    if not any(drop):
        return numbers
    return numbers.astype(object) >> np.array(drop, dtype=object)[:, None]


def shortened(witnesses: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Return witnesses of the same signs, shorter where rounding a long one finds such.

    Rounding proposes; what it proposes is taken only if all signs, computed exactly, agree.
    """
    if _largest(witnesses) < LONG:
        return witnesses
    floats = _in_range(witnesses).astype(float)
    size = np.maximum(np.abs(floats).max(axis=1), 1)
    rounded = np.rint(floats * (LONG / 8 / size)[:, None]).astype(np.int64)
    same = (np.sign(product(rounded, samples)) == np.sign(product(witnesses, samples))).all(axis=1)
    mixed = np.where(same[:, None], *common(rounded, witnesses))
    return fitted(mixed)
