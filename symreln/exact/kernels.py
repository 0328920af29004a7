"""The spaces on which a symmetric integer matrix satisfies an irreducible polynomial.

Polynomials and kernels are guessed modulo primes and small vectors, because that is cheap, and
proven over Z before they are returned; where a guess fails, FLINT's exact routines take over.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz_mat, fmpz_poly, nmod_mat

from symreln.exact import integers

if TYPE_CHECKING:
    from collections.abc import Iterator

#: 2^31 - 1: the product of two residues fits int64.
SMALL_PRIME = 2**31 - 1
#: Numerators and denominators up to this are determined by their quotient modulo the prime.
_RECONSTRUCTED = 2**15 - 1
#: Denominators that a kernel vector's entries are searched for, one after another.
_MOST_DENOMINATORS = 8


def eigenspaces(matrix: fmpz_mat) -> Iterator[tuple[fmpz_poly, fmpz_mat]]:
    """Yield (f, integer columns that span the kernel of f(matrix)) until the space is filled.

    Args:
        matrix: Symmetric, so that the kernels of the irreducible factors f of its characteristic
            polynomial are orthogonal and fill the space.
    """
    size = matrix.nrows()
    left = size
    seen: list[fmpz_poly] = []
    short = _short_annihilator(matrix)
    for factor in [] if short is None else _sorted_factors(short):
        seen.append(factor)
        space = kernel_of(factor, matrix)
        left -= space.ncols()
        yield factor, space
    if not left:
        return
    # The vector missed an eigenspace, or there are many eigenvalues.
    factors = [f for f in _sorted_factors(matrix.charpoly()) if f not in seen]
    for factor in factors:
        # By Cayley and Hamilton the only factor annihilates a diagonalisable matrix.
        alone = len(factors) == 1 and not seen
        yield factor, integers.identity(size) if alone else kernel_of(factor, matrix)


def _sorted_factors(polynomial: fmpz_poly) -> list[fmpz_poly]:
    """Return the irreducible factors in an order that does not depend on how they were found."""
    factors = [factor for factor, _ in integers.integer_factors(polynomial)]
    return sorted(factors, key=lambda f: (f.degree(), [int(c) for c in f.coeffs()]))


def _short_annihilator(matrix: fmpz_mat) -> fmpz_poly | None:
    """Return the minimal polynomial of one vector, or None where its degree is above n/3.

    It divides the minimal polynomial of the matrix, and is equal to it unless the vector is
    special. Structured data have few eigenvalues: finding those this way takes a few products
    with a vector, where a characteristic polynomial takes n of them.
    """
    size = matrix.nrows()
    weight = 1
    entries = []
    for _ in range(size):
        weight = weight * 48271 % 2147483647
        entries.append(weight % 211 + 1)
    words = [fmpz_mat(size, 1, entries)]
    most = size // 3
    length = min(16, most)
    while length > 0:
        while len(words) <= length:
            words.append(matrix * words[-1])
        basis = integers.stack_columns(words, size)
        degree = integers.rank_modulo_prime(basis)
        if degree <= length:
            first = integers.stack_columns(words[:degree], size)
            found = integers.coordinates(first, words[degree])
            if found is None:
                return None
            numerator, denominator = found.numer_denom()
            return fmpz_poly([*(-c for c in numerator.entries()), denominator])
        if length == most:
            return None
        length = min(2 * length, most)
    return None


def kernel_of(factor: fmpz_poly, matrix: fmpz_mat) -> fmpz_mat:
    """Return primitive columns that span the kernel of factor(matrix)."""
    guess = _modular_kernel(factor, matrix)
    # The rank modulo a prime is at most the rank, so as many columns as that leaves, once they
    # are known to lie in the kernel, are all of it; they are independent by their unit rows.
    if guess is not None and integers.of_matrix(factor, matrix, guess).is_zero():
        return guess
    one = integers.identity(matrix.nrows())
    return integers.kernel(integers.of_matrix(factor, matrix, one))


def _modular_kernel(factor: fmpz_poly, matrix: fmpz_mat) -> fmpz_mat | None:
    """Return small integer columns that span the kernel modulo a prime, or None."""
    size = matrix.nrows()
    reduced = nmod_mat(matrix, SMALL_PRIME)
    one = nmod_mat(integers.identity(size), SMALL_PRIME)
    lead, second, *others = [int(c) % SMALL_PRIME for c in reversed(factor.coeffs())]
    value = reduced * lead + one * second
    for coefficient in others:
        value = reduced * value + one * coefficient
    basis, nullity = value.nullspace()
    nullity = int(nullity)
    if not nullity:
        return fmpz_mat(size, 0)
    # The basis fills the first columns of a square matrix; only those are worth converting.
    taken = fmpz_mat(size, nullity)
    for index in range(nullity):
        taken[index, index] = 1
    kept = basis * nmod_mat(taken, SMALL_PRIME)
    residues = np.array([int(entry) for entry in kept.entries()], dtype=np.int64)
    return _reconstructed(residues.reshape(size, nullity))


def _reconstructed(residues: np.ndarray) -> fmpz_mat | None:
    """Return primitive integer columns proportional to the residues, or None."""
    values = _centred(residues)
    for _ in range(_MOST_DENOMINATORS):
        place = np.abs(values).argmax()
        if abs(int(values.flat[place])) <= _RECONSTRUCTED:
            common = np.gcd.reduce(values, axis=0)
            return fmpz_mat((values // common).tolist())
        denominator = _denominator(int(values.flat[place]) % SMALL_PRIME)
        if denominator is None:
            return None
        values = _centred(values * denominator)
    return None


def _centred(values: np.ndarray) -> np.ndarray:
    residues = values % SMALL_PRIME
    return np.where(residues > SMALL_PRIME // 2, residues - SMALL_PRIME, residues)


def _denominator(residue: int) -> int | None:
    """Return the denominator q of the fraction p/q = residue with small p and q, or None."""
    before, now = (SMALL_PRIME, 0), (residue, 1)
    while now[0] > _RECONSTRUCTED:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    numerator, denominator = now[0], abs(now[1])
    if not 1 < denominator <= _RECONSTRUCTED or gcd(numerator, denominator) != 1:
        return None
    return denominator
