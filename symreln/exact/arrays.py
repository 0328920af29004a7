"""Integer matrices as int64 arrays, multiplied by BLAS where a bound proves the product exact.

Converting a large matrix to FLINT takes longer than decomposing it, so large correlations stay
arrays. Every function returns None, or says so, where the numbers could leave the exact range:
the caller then goes on with FLINT's integers of any size.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz_mat

from symreln.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Exponents = tuple[int, ...]
Arrays = dict[Exponents, np.ndarray]

#: float64 holds every integer below this, and so every partial sum of a product bounded by it.
EXACT = 2**53
#: At most so many exact products are added in int64: 2^53·2^9 = 2^62.
MOST_SUMMED = 2**9
#: Rows looked at between two tests whether a common divisor is 1 already.
CHUNK = 64


def largest(array: np.ndarray) -> int:
    """Return the largest absolute value (0 for an empty array)."""
    if not array.size:
        return 0
    return max(int(array.max()), -int(array.min()))


def to_flint(array: np.ndarray) -> fmpz_mat:
    """Return the array as FLINT's matrix."""
    return fmpz_mat(array.shape[0], array.shape[1], array.ravel().tolist())


def from_flint(matrix: fmpz_mat) -> np.ndarray | None:
    """Return FLINT's matrix as an int64 array, or None where an entry is too large."""
    flat = [int(entry) for entry in matrix.entries()]
    try:
        return np.array(flat, dtype=np.int64).reshape(matrix.nrows(), matrix.ncols())
    except OverflowError:
        return None


def content(array: np.ndarray, start: int = 0) -> int:
    """Return the greatest common divisor of ``start`` and all entries; 1 is found early."""
    common = start
    for first in range(0, array.shape[0], CHUNK):
        common = gcd(common, int(np.gcd.reduce(array[first : first + CHUNK], axis=None)))
        if common == 1:
            break
    return common


def checked(terms: Mapping[Exponents, np.ndarray]) -> Arrays:
    """Return integer arrays as int64, those of zeros left out.

    Raises:
        InputError: An array is not of an integer type, or has an entry of 2^62 or more.
    """
    for array in terms.values():
        if array.dtype.kind not in "iu" or largest(array) >= 2**62:
            msg = (
                f"from_arrays: an array of type {array.dtype}, largest entry {largest(array)}; "
                "needed are integers below 2^62 (use from_rows)"
            )
            raise InputError(msg)
    return nonzero_terms({key: array.astype(np.int64) for key, array in terms.items()})


def nonzero_terms(terms: Mapping[Exponents, np.ndarray]) -> Arrays:
    """Return the terms that are not zero, in the order of their exponents."""
    return {key: terms[key] for key in sorted(terms) if terms[key].any()}


def product(left: Arrays, right: Arrays, inner: int) -> Arrays | None:
    """Return the product of Σ monomial·array and Σ monomial·array, or None above the bound.

    Args:
        left: Coefficient arrays of one shape (rows, inner).
        right: Coefficient arrays of one shape (inner, columns).
        inner: Their common dimension.
    """
    if not _is_exact(left, right, inner):
        return None
    floats_left = {key: array.astype(float) for key, array in left.items()}
    floats_right = {key: array.astype(float) for key, array in right.items()}
    result: Arrays = {}
    for key_a, a in floats_left.items():
        for key_b, b in floats_right.items():
            _add(result, _times(key_a, key_b), (a @ b).astype(np.int64))
    return nonzero_terms(result)


def gram(terms: Arrays, rows: int) -> Arrays | None:
    """Return AᵀA of A = Σ monomial·array, or None above the bound.

    Only the columns in which a coefficient is not zero are multiplied: the coefficients of a
    parameter often fill few columns.
    """
    if not _is_exact(terms, terms, rows):
        return None
    width = next(iter(terms.values())).shape[1] if terms else 0
    parts = []
    for key, array in terms.items():
        columns = np.flatnonzero(array.any(axis=0))
        parts.append((key, columns, array[:, columns].astype(float)))
    result: Arrays = {}
    for place, (key_a, columns_a, a) in enumerate(parts):
        for key_b, columns_b, b in parts[place:]:
            found = np.zeros((width, width), dtype=np.int64)
            found[np.ix_(columns_a, columns_b)] = (a.T @ b).astype(np.int64)
            _add(result, _times(key_a, key_b), found if key_a == key_b else found + found.T)
    return nonzero_terms(result)


def added(left: Arrays, right: Arrays) -> Arrays | None:
    """Return left + right, or None where a sum could leave int64."""
    if any(largest(array) >= 2**62 for array in (*left.values(), *right.values())):
        return None
    result = dict(left)
    for key, array in right.items():
        _add(result, key, array)
    return nonzero_terms(result)


def weighted(terms: Arrays, weights: Mapping[Exponents, int], keep: Sequence[int]) -> Arrays | None:
    """Return Σ weight·array by the exponents kept, or None where int64 could overflow."""
    bound = sum(largest(array) * abs(weights[key]) for key, array in terms.items())
    if bound >= 2**62 or any(abs(weight) >= 2**62 for weight in weights.values()):
        return None
    result: Arrays = {}
    for key, array in terms.items():
        _add(result, tuple(key[i] for i in keep), array * weights[key])
    return nonzero_terms(result)


def _is_exact(left: Arrays, right: Arrays, inner: int) -> bool:
    if len(left) * len(right) > MOST_SUMMED:
        return False
    high_left = max(map(largest, left.values()), default=0)
    high_right = max(map(largest, right.values()), default=0)
    return high_left * high_right * inner < EXACT


def _times(a: Exponents, b: Exponents) -> Exponents:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _add(total: Arrays, key: Exponents, array: np.ndarray) -> None:
    total[key] = total[key] + array if key in total else array
