"""Entries and values of an exact matrix."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from flint import fmpz_mat

from symreln.errors import InputError
from symreln.exact import by_entries, reduction
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import sympy as sp
    from flint import fmpz, fmpz_mpoly

    from symreln.exact.arrays import Arrays
    from symreln.exact.matrix import ExactMatrix

Exponents = tuple[int, ...]


class Readable:
    """What can be read off a matrix Σ monomial·coefficients/denominator."""

    __slots__ = ()

    shape: tuple[int, int]
    parameters: tuple[str, ...]
    denominator: fmpz_mpoly
    _arrays: Arrays | None

    @property
    def terms(self) -> dict[Exponents, fmpz_mat]:
        """Integer coefficient matrix of every monomial whose coefficient is not zero."""
        raise NotImplementedError

    def aligned(self, other: ExactMatrix) -> tuple[ExactMatrix, ExactMatrix]:
        """Return both matrices over the union of their parameters."""
        raise NotImplementedError

    def content(self, start: int = 0) -> int:
        """Return the greatest common divisor of ``start`` and all coefficients."""
        common = start
        if self._arrays is not None:
            from symreln.exact import arrays

            for array in self._arrays.values():
                common = arrays.content(array, common)
            return common
        for matrix in self.terms.values():
            common = reduction.content(matrix, common)
        return common

    @property
    def is_zero(self) -> bool:
        """Whether every entry is the zero function."""
        return not (self.terms if self._arrays is None else self._arrays)

    @property
    def is_constant(self) -> bool:
        """Whether no parameter occurs in any entry."""
        keys = self.terms if self._arrays is None else self._arrays
        return bool(self.denominator.is_constant()) and all(not any(key) for key in keys)

    def entry(self, row: int, column: int) -> Scalar:
        """Return one entry."""
        ring = polynomial_ring(self.parameters)
        found: dict[Exponents, fmpz | int]
        if self._arrays is not None:
            found = {key: int(array[row, column]) for key, array in self._arrays.items()}
        else:
            found = {key: matrix[row, column] for key, matrix in self.terms.items()}
        return Scalar(self.parameters, ring.from_dict(found), self.denominator)

    def rows(self) -> list[list[Scalar]]:
        """Return all entries, row by row."""
        return [[self.entry(i, j) for j in range(self.shape[1])] for i in range(self.shape[0])]

    def first_nonzero(self) -> tuple[int, int, Scalar] | None:
        """Return (row, column, entry) of the first non-zero entry in reading order, or None."""
        positions = [
            next(k for k, entry in enumerate(matrix.entries()) if entry != 0)
            for matrix in self.terms.values()
        ]
        if not positions:
            return None
        row, column = divmod(min(positions), self.shape[1])
        return row, column, self.entry(row, column)

    def trace(self) -> Scalar:
        """Return the trace of a square matrix."""
        ring = polynomial_ring(self.parameters)
        size = range(self.shape[0])
        polynomial = ring.from_dict(
            {key: sum(matrix[i, i] for i in size) for key, matrix in self.terms.items()}
        )
        return Scalar(self.parameters, polynomial, self.denominator)

    def frobenius(self, other: ExactMatrix) -> Scalar:
        """Return the Frobenius inner product tr(selfᵀ other)."""
        a, b = self.aligned(other)
        if by_entries.pays(len(a.terms) * len(b.terms), a.shape[0] * a.shape[1]):
            total = by_entries.frobenius(a.terms, b.terms, a.parameters)
            return Scalar(a.parameters, total, a.denominator * b.denominator)
        ring = polynomial_ring(a.parameters)
        total = ring.constant(0)
        for key_a, left in a.terms.items():
            flat = left.entries()
            for key_b, right in b.terms.items():
                dot = sum(
                    (x * y for x, y in zip(flat, right.entries(), strict=True) if x and y), start=0
                )
                key = tuple(x + y for x, y in zip(key_a, key_b, strict=True))
                total += ring.from_dict({key: dot})
        return Scalar(a.parameters, total, a.denominator * b.denominator)

    def integers(self) -> tuple[fmpz_mat, int]:
        """Return (integer matrix, common denominator) of a constant matrix.

        Raises:
            InputError: A parameter occurs.
        """
        if not self.is_constant:
            msg = (
                f"the matrix depends on {', '.join(self.parameters)}; "
                "substitute values before asking for numbers"
            )
            raise InputError(msg)
        matrix = next(iter(self.terms.values()), fmpz_mat(*self.shape))
        return matrix, int(self.denominator.leading_coefficient())

    def to_fractions(self) -> list[list[Fraction]]:
        """Return the entries of a constant matrix as fractions."""
        matrix, denominator = self.integers()
        return [[Fraction(int(x), denominator) for x in row] for row in matrix.tolist()]

    def to_numpy(self) -> np.ndarray:
        """Return a constant matrix as float64, every entry correctly rounded.

        Raises:
            InputError: A parameter occurs, or float64 has no room for an entry.
        """
        import numpy as np

        from symreln.exact.entries import quotients

        if self._arrays and self.is_constant:
            array = next(iter(self._arrays.values()))
            bottom = int(self.denominator.leading_coefficient())
            # Both exact in float64, so that one division rounds correctly.
            if np.abs(array).max(initial=0) < 2**53 and abs(bottom) < 2**53:
                return array / bottom
        matrix, denominator = self.integers()
        places = product(range(self.shape[0]), range(self.shape[1]))
        flat = quotients([int(x) for x in matrix.entries()], denominator, places, self.shape)
        return np.array(flat, dtype=float).reshape(self.shape)

    def to_sympy(self, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.ImmutableMatrix:
        """Return the matrix as SymPy's, entries factored."""
        import sympy as sp

        return sp.ImmutableMatrix(
            *self.shape, [entry.to_sympy(symbols) for row in self.rows() for entry in row]
        )
