"""The spaces on which a symmetric integer matrix satisfies an irreducible polynomial.

Polynomials and kernels are guessed modulo primes and small vectors, because that is cheap, and
proven over Z before they are returned; where a guess fails, FLINT's exact routines take over.
"""

from __future__ import annotations

from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING

from flint import fmpz_mat, fmpz_poly, nmod_mat

from symreln.exact import integers
from symreln.exact.integers import PRIME

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Numerators and denominators up to this are determined by their quotient modulo the prime.
_RECONSTRUCTED = 2**30 - 1


def eigenspaces(matrix: fmpz_mat) -> Iterator[tuple[fmpz_poly, fmpz_mat]]:
    """Yield (f, integer columns that span the kernel of f(matrix)) for all factors f.

    Args:
        matrix: Symmetric, so that the kernels of the irreducible factors of its characteristic
            polynomial are orthogonal and fill the space.
    """
    factors = [factor for factor, _ in integers.integer_factors(matrix.charpoly())]
    factors.sort(key=lambda f: (f.degree(), [int(c) for c in f.coeffs()]))
    for factor in factors:
        # By Cayley and Hamilton the only factor annihilates a diagonalisable matrix.
        alone = len(factors) == 1
        yield factor, integers.identity(matrix.nrows()) if alone else kernel_of(factor, matrix)


def kernel_of(factor: fmpz_poly, matrix: fmpz_mat) -> fmpz_mat:
    """Return primitive columns that span the kernel of factor(matrix)."""
    guess = _modular_kernel(factor, matrix)
    # The rank modulo a prime is at most the rank, so as many columns as that leaves, once they
    # are known to lie in the kernel, are all of it; they are independent by their unit rows.
    if integers.of_matrix(factor, matrix, guess).is_zero():
        return guess
    one = integers.identity(matrix.nrows())
    return integers.kernel(integers.of_matrix(factor, matrix, one))


def _modular_kernel(factor: fmpz_poly, matrix: fmpz_mat) -> fmpz_mat:
    """Return primitive columns that span the kernel modulo a prime, their fractions guessed."""
    size = matrix.nrows()
    reduced, one = (nmod_mat(each, PRIME) for each in (matrix, integers.identity(size)))
    lead, second, *others = [int(c % PRIME) for c in reversed(factor.coeffs())]
    value = reduced * lead + one * second
    for coefficient in others:
        value = reduced * value + one * coefficient
    basis, nullity = value.nullspace()
    kept, columns = basis * nmod_mat(integers.identity(size, int(nullity)), PRIME), []
    for column in kept.transpose().tolist():
        residues = list(map(int, column))
        parts = {residue: _fraction(residue) for residue in set(residues)}  # entries repeat
        common = lcm(*(below for _, below in parts.values()))
        whole = {residue: top * (common // below) for residue, (top, below) in parts.items()}
        columns.append([whole[residue] for residue in residues])
    return fmpz_mat(len(columns), size, [x for column in columns for x in column]).transpose()


@lru_cache(maxsize=4096)
def _fraction(residue: int) -> tuple[int, int]:
    """Return (p, q) with p/q the residue modulo the prime, both short if there are such."""
    before, now = (PRIME, 0), (residue, 1)
    while now[0] > _RECONSTRUCTED:
        quotient = before[0] // now[0]
        before, now = now, (before[0] - quotient * now[0], before[1] - quotient * now[1])
    return (now[0], now[1]) if now[1] > 0 else (-now[0], -now[1])
