"""Integer matrices; exact, because every bound is checked.

Small matrices and those of long numbers are FLINT's dense ones; large ones of numbers that fit
into 64 bits are scipy's sparse ones, whose work follows the number of entries. An operation that
could overflow is FLINT's. Floats occur only where every partial sum is an integer below 2^53.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.sparse is loaded when it is first asked for
from flint import fmpz_mat, fmpz_poly

from symreln.errors import FloatRangeError

# Sums and products below this stay in int64, with a factor of two to spare.
_WORD = 2**62
# Integers below this, and their sums, are exact in float64.
_MANTISSA = 2**53
# Cells up to which a matrix is FLINT's: other calls take longer than the work.
_SMALL = 4096
# Cells of a dense matrix that a product may make on its way (float64: 256 MB), and how many steps
# of a sparse product take as long as one of a dense one.
_MOST_CELLS, _DENSE_GAIN = 2**25, 50

#: A scipy.sparse.csr_array of int64; scipy ships no types.
_Sparse = Any


class _Entries(NamedTuple):
    """The entries that are not zero, in reading order, each place once.

    Attributes:
        rows: int64, shape (entries,).
        columns: int64, shape (entries,).
        values: int64, or Python integers in an object array; never 0.
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class IntegerMatrix:
    """An immutable integer matrix.

    Attributes:
        shape: (rows, columns).
        by_flint: Whether it is held, and worked on, by FLINT.
    """

    __slots__ = ("_entries", "_flint", "_sparse", "by_flint", "shape")

    def __init__(
        self, shape: tuple[int, int], *, flint: fmpz_mat | None = None, sparse: _Sparse = None
    ) -> None:
        """Hold FLINT's matrix, or scipy's, which is put in order here."""
        self.shape, self.by_flint = shape, sparse is None
        self._flint, self._sparse = flint, sparse
        self._entries: _Entries | None = None
        if sparse is not None:
            sparse.sum_duplicates()
            sparse.eliminate_zeros()

    @classmethod
    def of_flint(cls, matrix: fmpz_mat) -> IntegerMatrix:
        """Return FLINT's matrix."""
        return cls((matrix.nrows(), matrix.ncols()), flint=matrix)

    @classmethod
    def of_flat(cls, shape: tuple[int, int], values: Sequence[int]) -> IntegerMatrix:
        """Return the matrix of all entries, row by row."""
        flat = None if _is_small(shape) else integer_array(values)
        if flat is None or flat.dtype == object:
            return cls(shape, flint=fmpz_mat(*shape, list(values)))
        return cls(shape, sparse=scipy.sparse.csr_array(flat.reshape(shape)))

    @classmethod
    def of_triples(
        cls, shape: tuple[int, int], triples: Iterable[np.ndarray], *, distinct: bool = False
    ) -> IntegerMatrix:
        """Return the matrix of (rows, columns, values) in any order; values at one place add up.

        Args:
            shape: (rows, columns).
            triples: What is at which places.
            distinct: Whether no two values are at one place.
        """
        rows, columns, values = triples
        if not _is_small(shape) and _largest(values) * (distinct or len(values)) < _WORD:
            at = (values.astype(np.int64), (rows, columns))
            return cls(shape, sparse=scipy.sparse.csr_array(at, shape=shape))
        found = fmpz_mat(*shape)
        listed = (part.tolist() for part in (rows, columns, values))
        for row, column, value in zip(*listed, strict=True):
            found[row, column] += value
        return cls(shape, flint=found)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it again: FLINT's matrices are not pickled."""
        return IntegerMatrix.of_triples, (self.shape, tuple(self.entries))

    # -- forms ----------------------------------------------------------------------------------

    @property
    def flint(self) -> fmpz_mat:
        """The matrix as FLINT's; not to be written to."""
        if self._flint is None:
            self._flint = fmpz_mat(*self.shape)
            for row, column, value in self.triples():
                self._flint[row, column] = value
        return self._flint

    @property
    def entries(self) -> _Entries:
        """Rows, columns and values of the entries that are not zero, in reading order."""
        if self._entries is None:
            height, width = self.shape
            if self.by_flint:
                flat = self.flint.entries()
                places = [place for place, value in enumerate(flat) if value]
                where = np.array(places, dtype=np.int64)
                values = integer_array([int(flat[place]) for place in places])
                self._entries = _Entries(where // max(width, 1), where % max(width, 1), values)
            else:
                rows = np.repeat(np.arange(height), np.diff(self._sparse.indptr))
                columns = self._sparse.indices.astype(np.int64)
                self._entries = _Entries(rows, columns, self._sparse.data)
        return self._entries

    @property
    def rows(self) -> np.ndarray:
        """The row of every entry that is not zero, in reading order."""
        return self.entries.rows

    @property
    def columns(self) -> np.ndarray:
        """Its column."""
        return self.entries.columns

    @property
    def values(self) -> np.ndarray:
        """Its value: int64, or Python integers in an object array."""
        return self.entries.values

    @property
    def places(self) -> np.ndarray:
        """Its place, counted row by row."""
        return self.rows * self.shape[1] + self.columns

    def triples(self) -> Iterable[tuple[int, int, int]]:
        """Return (row, column, value) of every entry that is not zero, in reading order."""
        return zip(*(part.tolist() for part in self.entries), strict=True)

    # -- numbers --------------------------------------------------------------------------------

    @property
    def is_zero(self) -> bool:
        """Whether every entry is 0."""
        return bool(self.flint.is_zero()) if self.by_flint else not self._sparse.nnz

    def largest(self) -> int:
        """Return the largest absolute value."""
        return _largest(self.values)

    def content(self, start: int = 0) -> int:
        """Return the greatest common divisor of ``start`` and all entries."""
        if self.by_flint:
            # A polynomial with these coefficients has this content: one call.
            return gcd(start, int(fmpz_poly(self.flint.entries()).content()))
        return gcd(start, int(np.gcd.reduce(self.values, initial=0)))

    def entry(self, row: int, column: int) -> int:
        """Return one entry."""
        return int(self.flint[row, column] if self.by_flint else self._sparse[row, column])

    def dot(self, other: IntegerMatrix) -> int:
        """Return the sum over all places of the products of both entries."""
        most = 1 + min(len(self.values), len(other.values))
        if pair := self._pair(other, lambda a, b: a * b * most):
            return int(pair[0].multiply(pair[1]).sum())
        pairs = zip(self.flint.entries(), other.flint.entries(), strict=True)
        return int(sum((x * y for x, y in pairs if x and y), start=0))

    def quotients(self, divisor: int) -> np.ndarray:
        """Return the entries that are not zero, over an integer, in float64, rounded correctly.

        Raises:
            FloatRangeError: A quotient is beyond float64.
        """
        if self.values.dtype != object and max(self.largest(), abs(divisor)) < _MANTISSA:
            return self.values / divisor  # both exact in float64: one division rounds correctly
        try:
            return np.array([value / divisor for value in self.values.tolist()])  # of any size
        except OverflowError as error:
            row, column, largest = max(self.triples(), key=lambda entry: abs(entry[2]))
            size = largest.bit_length() - abs(divisor).bit_length()
            what = (
                f"1e{size * 301 // 1000}, in row {row + 1} and column {column + 1} of a matrix of "
                f"{self.shape[0]} × {self.shape[1]} such as X, Y or a correlation of the two,"
            )
            raise FloatRangeError.of_size(what) from error

    # -- arithmetic -----------------------------------------------------------------------------

    def _pair(
        self, other: IntegerMatrix, bound: Callable[[int, int], int]
    ) -> tuple[_Sparse, _Sparse] | None:
        """Return both matrices as scipy's, None where an operation is FLINT's.

        Args:
            other: The second one.
            bound: Of the result, from the largest entries of both.
        """
        if self.by_flint and other.by_flint:
            return None
        if bound(self.largest() or 1, other.largest() or 1) >= _WORD:
            return None
        return self._as_sparse(), other._as_sparse()

    def _as_sparse(self) -> _Sparse:
        if not self.by_flint:
            return self._sparse
        rows, columns, values = self.entries
        return scipy.sparse.csr_array((values.astype(np.int64), (rows, columns)), shape=self.shape)

    def __add__(self, other: IntegerMatrix) -> IntegerMatrix:
        if pair := self._pair(other, lambda a, b: a + b):
            return IntegerMatrix(self.shape, sparse=pair[0] + pair[1])
        return IntegerMatrix(self.shape, flint=self.flint + other.flint)

    def __mul__(self, factor: int) -> IntegerMatrix:
        if factor == 1 or self.is_zero:
            return self
        if self.by_flint or self.largest() * abs(factor) >= _WORD:
            return IntegerMatrix(self.shape, flint=self.flint * factor)
        return IntegerMatrix(self.shape, sparse=self._sparse * factor)

    def divided(self, divisor: int) -> IntegerMatrix:
        """Return the matrix divided by an integer that divides every entry."""
        if divisor == 1 or self.is_zero:
            return self
        if self.by_flint:
            flat = [entry // divisor for entry in self.flint.entries()]
            return IntegerMatrix(self.shape, flint=fmpz_mat(*self.shape, flat))
        triples = (self.rows, self.columns, self.values // divisor)
        return self.of_triples(self.shape, triples, distinct=True)

    def __matmul__(self, other: IntegerMatrix) -> IntegerMatrix:
        (height, inner), width = self.shape, other.shape[1]
        pair = self._pair(other, lambda a, b: a * b * inner)
        if not pair:
            return IntegerMatrix((height, width), flint=self.flint * other.flint)
        a, b = pair
        dense, steps = height * inner * width, a.nnz * b.nnz // max(inner, 1)
        cells = height * inner + inner * width + height * width
        exact = self.largest() * other.largest() * inner < _MANTISSA
        if exact and cells <= _MOST_CELLS and dense + _DENSE_GAIN * cells < _DENSE_GAIN * steps:
            cells = a.astype(float).toarray() @ b.astype(float).toarray()
            return IntegerMatrix(
                (height, width), sparse=scipy.sparse.csr_array(cells.astype(np.int64))
            )
        return IntegerMatrix((height, width), sparse=a @ b)

    @property
    def T(self) -> IntegerMatrix:
        """The transpose."""
        shape = (self.shape[1], self.shape[0])
        if self.by_flint:
            return IntegerMatrix(shape, flint=self.flint.transpose())
        return IntegerMatrix(shape, sparse=self._sparse.T.tocsr())

    # -- parts ----------------------------------------------------------------------------------

    def moved(
        self, to_row: np.ndarray, to_column: np.ndarray, shape: tuple[int, int]
    ) -> IntegerMatrix:
        """Return a matrix with every row and column at a new place, dropped where that is -1."""
        rows, columns = to_row[self.rows], to_column[self.columns]
        keep = (rows >= 0) & (columns >= 0)
        kept = (each[keep] for each in (rows, columns, self.values))
        return self.of_triples(shape, kept, distinct=True)


def integer_array(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return integers as int64 where they fit with room to spare, else as objects."""
    if isinstance(values, np.ndarray) and values.dtype != object and _largest(values) < _WORD:
        return values.astype(np.int64)
    listed = [int(value) for value in values]
    kind = object if listed and max(max(listed), -min(listed)) >= _WORD else np.int64
    return np.array(listed, dtype=kind)


def merged(listed: Sequence[np.ndarray]) -> np.ndarray:
    """Return what ascending arrays hold together, ascending, each number once."""
    found = np.sort(np.concatenate(listed), kind="stable")  # merges runs, linear for few arrays
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if len(found) else found


def _is_small(shape: tuple[int, int]) -> bool:
    return shape[0] * shape[1] <= _SMALL


def _largest(values: np.ndarray) -> int:
    return max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0
