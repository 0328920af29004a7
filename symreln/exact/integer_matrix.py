"""Integer matrices; exact, because every bound is checked.

A matrix is held as the entries that are not zero (numpy), as FLINT's dense matrix, or as both:
whichever an operation needs is made from the other, once. Small matrices and those of long numbers
go to FLINT; work on large ones follows the number of their entries. Values of entries are int64
where a bound proves that nothing can overflow, else Python integers in an array of objects. Floats
occur only where every partial sum is an integer below 2^53, so is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from flint import fmpz_mat, fmpz_poly

from symreln.errors import FloatRangeError

# Sums and products below this stay in int64, with a factor of two to spare.
_WORD = 2**62
# Integers below this, and their sums, are exact in float64.
_MANTISSA = 2**53
# Cells up to which a matrix is treated by FLINT: numpy's calls take longer than the work.
_SMALL = 1024
# Nanoseconds an operation, measured once on one core: they only choose between equal results.
_COST_ENTRY, _COST_OBJECT, _COST_CELL, _COST_BLAS, _COST_FLINT = 15.0, 150.0, 3.0, 0.06, 2.0
# Cells of a dense matrix that a product may make on its way (float64: 256 MB).
_MOST_CELLS = 2**25


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

    def narrowed(self, bound: int) -> _Entries:
        """Return the same entries with values as int64 where ``bound`` fits, else as objects.

        Both ways: a part of a matrix of objects may hold small numbers alone, and an operation
        that mixes objects with int64 or floats fails.
        """
        return self._replace(values=_narrowed(self.values, bound))


class IntegerMatrix:
    """An immutable integer matrix.

    Attributes:
        shape: (rows, columns).
    """

    __slots__ = ("_entries", "_flint", "shape")

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        flint: fmpz_mat | None = None,
        entries: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> None:
        """Hold a matrix, given in one form or in both.

        Args:
            shape: (rows, columns).
            flint: The matrix as FLINT's.
            entries: Rows, columns and values of the entries that are not zero, in reading order.
        """
        self.shape = shape
        self._flint = flint
        self._entries = None if entries is None else _Entries(*entries)

    @classmethod
    def of_flint(cls, matrix: fmpz_mat) -> IntegerMatrix:
        """Return FLINT's matrix."""
        return cls((matrix.nrows(), matrix.ncols()), flint=matrix)

    @classmethod
    def of_flat(cls, shape: tuple[int, int], values: Sequence[int]) -> IntegerMatrix:
        """Return the matrix of all entries, row by row."""
        if _is_small(shape):
            return cls(shape, flint=fmpz_mat(*shape, list(values)))
        flat = integer_array(values)
        return cls.at_places(shape, np.arange(len(flat)), flat)

    @classmethod
    def at_places(
        cls, shape: tuple[int, int], places: np.ndarray, values: np.ndarray
    ) -> IntegerMatrix:
        """Return the matrix of values at ascending places, counted row by row; zeros may occur."""
        keep = values != 0
        places, values = places[keep], values[keep]
        width = max(shape[1], 1)
        return cls(shape, entries=(places // width, places % width, _tight(values)))

    @classmethod
    def of_triples(
        cls, shape: tuple[int, int], rows: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> IntegerMatrix:
        """Return the matrix of values at places in any order; those at one place add up."""
        if _is_small(shape):
            found = fmpz_mat(*shape)
            for row, column, value in zip(
                rows.tolist(), columns.tolist(), values.tolist(), strict=True
            ):
                found[row, column] += value
            return cls(shape, flint=found)
        return cls(shape, entries=_collected(rows, columns, values, shape[1], _sum_bound(values)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it again: FLINT's matrices are not pickled."""
        return IntegerMatrix.of_triples, (self.shape, *self.entries)

    # -- forms ----------------------------------------------------------------------------------

    @property
    def flint(self) -> fmpz_mat:
        """The matrix as FLINT's; not to be written to."""
        if self._flint is None:
            rows, columns, values = self.entries
            if len(values) * 20 < self.shape[0] * self.shape[1]:
                self._flint = fmpz_mat(*self.shape)
                for row, column, value in self.triples():
                    self._flint[row, column] = value
            else:
                cells = _cells((rows, columns, values), self.shape)
                self._flint = fmpz_mat(*self.shape, cells.ravel().tolist())
        return self._flint

    @property
    def entries(self) -> _Entries:
        """Rows, columns and values of the entries that are not zero, in reading order."""
        if self._entries is None:
            assert self._flint is not None
            flat = self._flint.entries()
            places = [place for place, value in enumerate(flat) if value]
            where = np.array(places, dtype=np.int64)
            values = integer_array([int(flat[place]) for place in places])
            width = max(self.shape[1], 1)
            self._entries = _Entries(where // width, where % width, values)
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
        return self.entries.rows * self.shape[1] + self.entries.columns

    def triples(self) -> Iterable[tuple[int, int, int]]:
        """Return (row, column, value) of every entry that is not zero, in reading order."""
        return zip(*(part.tolist() for part in self.entries), strict=True)

    @property
    def by_flint(self) -> bool:
        """Whether operations are FLINT's."""
        return self._entries is None or _is_small(self.shape)

    # -- numbers --------------------------------------------------------------------------------

    @property
    def is_zero(self) -> bool:
        """Whether every entry is 0."""
        return not len(self.values) if self._flint is None else bool(self._flint.is_zero())

    @property
    def first(self) -> int:
        """The place of the first entry that is not zero, counted row by row; there is one."""
        if self.by_flint:
            return next(k for k, entry in enumerate(self.flint.entries()) if entry)
        return int(self.places[0])

    @property
    def size(self) -> int:
        """How many entries are not zero."""
        return len(self.values)

    def largest(self) -> int:
        """Return the largest absolute value."""
        return _largest(self.values)

    def content(self, start: int = 0) -> int:
        """Return the greatest common divisor of ``start`` and all entries."""
        if self.by_flint:
            # A polynomial with these coefficients has this content: one call.
            return gcd(start, int(fmpz_poly(self.flint.entries()).content()))
        return gcd(start, int(np.gcd.reduce(self.values))) if self.size else start

    def entry(self, row: int, column: int) -> int:
        """Return one entry."""
        if self._flint is not None:
            return int(self._flint[row, column])
        place = row * self.shape[1] + column
        found = int(np.searchsorted(self.places, place))
        here = found < self.size and self.places[found] == place
        return int(self.values[found]) if here else 0

    def dot(self, other: IntegerMatrix) -> int:
        """Return the sum over all places of the products of both entries."""
        if self.by_flint and other.by_flint:
            pairs = zip(self.flint.entries(), other.flint.entries(), strict=True)
            return int(sum((x * y for x, y in pairs if x and y), start=0))
        _, left, right = np.intersect1d(
            self.places, other.places, assume_unique=True, return_indices=True
        )
        bound = self.largest() * other.largest() * max(len(left), 1)
        mine, theirs = _narrowed(self.values[left], bound), _narrowed(other.values[right], bound)
        return int((mine * theirs).sum())

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
            msg = (
                f"a number of size 1e{size * 301 // 1000}, in row {row + 1} and column "
                f"{column + 1} of a matrix of {self.shape[0]} × {self.shape[1]} such as X, Y or a "
                "correlation of the two, is needed in float64, which has no room for it. Scale "
                "the data, or give the parameters other values"
            )
            raise FloatRangeError(msg) from error

    # -- arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: IntegerMatrix) -> IntegerMatrix:
        if self.by_flint and other.by_flint:
            return IntegerMatrix(self.shape, flint=self.flint + other.flint)
        if not self.size or not other.size:
            return self if self.size else other
        return IntegerMatrix(self.shape, entries=_added(self.entries, other.entries, self.shape[1]))

    def __mul__(self, factor: int) -> IntegerMatrix:
        if factor == 1 or self.is_zero:
            return self
        if self.by_flint or not factor:
            return IntegerMatrix(self.shape, flint=self.flint * factor)
        rows, columns, values = self.entries.narrowed(self.largest() * abs(factor))
        return IntegerMatrix(self.shape, entries=(rows, columns, values * factor))

    def __neg__(self) -> IntegerMatrix:
        return self * -1

    def divided(self, divisor: int) -> IntegerMatrix:
        """Return the matrix divided by an integer that divides every entry."""
        if divisor == 1:
            return self
        if self.by_flint:
            flat = [entry // divisor for entry in self.flint.entries()]
            return IntegerMatrix(self.shape, flint=fmpz_mat(*self.shape, flat))
        rows, columns, values = self.entries
        values = values.astype(object) if abs(divisor) >= _WORD else values
        return IntegerMatrix(self.shape, entries=(rows, columns, _tight(values // divisor)))

    def __matmul__(self, other: IntegerMatrix) -> IntegerMatrix:
        shape = (self.shape[0], other.shape[1])
        if self.by_flint and other.by_flint:
            return IntegerMatrix(shape, flint=self.flint * other.flint)
        return _product(self, other, shape)

    @property
    def T(self) -> IntegerMatrix:
        """The transpose."""
        shape = (self.shape[1], self.shape[0])
        if self.by_flint:
            return IntegerMatrix(shape, flint=self.flint.transpose())
        rows, columns, values = self.entries
        # Sixteen bits where they do: numpy sorts those by radix, the others by comparison.
        keys = columns.astype(np.uint16) if self.shape[1] <= 2**16 else columns
        order = np.argsort(keys, kind="stable")
        return IntegerMatrix(shape, entries=(columns[order], rows[order], values[order]))

    # -- parts ----------------------------------------------------------------------------------

    def masked(self, rows: np.ndarray, columns: np.ndarray) -> IntegerMatrix:
        """Return the matrix with every row and column that is not True set to zero."""
        keep = rows[self.rows] & columns[self.columns]
        kept = (part[keep] for part in self.entries)
        return IntegerMatrix(self.shape, entries=_Entries(*kept))

    def moved(
        self, to_row: np.ndarray, to_column: np.ndarray, shape: tuple[int, int]
    ) -> IntegerMatrix:
        """Return a matrix with every row and column at a new place, dropped where that is -1."""
        rows, columns = to_row[self.rows], to_column[self.columns]
        keep = (rows >= 0) & (columns >= 0)
        values = self.values[keep]
        found = _collected(rows[keep], columns[keep], values, shape[1], _largest(values))
        return IntegerMatrix(shape, entries=found)


def integer_array(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return integers as int64 where they fit with room to spare, else as objects."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        if not len(values) or max(int(values.max()), -int(values.min())) < _WORD:
            return values.astype(np.int64)
        values = values.astype(object)
    listed = [int(value) for value in values]
    if listed and max(max(listed), -min(listed)) >= _WORD:
        result = np.empty(len(listed), dtype=object)
        result[:] = listed
        return result
    return np.array(listed, dtype=np.int64)


def merged(listed: Sequence[np.ndarray]) -> np.ndarray:
    """Return what ascending arrays hold together, ascending, each number once."""
    found = np.sort(np.concatenate(listed), kind="stable")  # merges runs, linear for few arrays
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if len(found) else found


# -- on entries -----------------------------------------------------------------------------------


def _is_small(shape: tuple[int, int]) -> bool:
    return shape[0] * shape[1] <= _SMALL


def _largest(values: np.ndarray) -> int:
    return max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0


def _sum_bound(values: np.ndarray) -> int:
    """Return a bound of every sum of some of the values."""
    return _largest(values) * max(len(values), 1)


def _narrowed(values: np.ndarray, bound: int) -> np.ndarray:
    kind = np.dtype(np.int64 if bound < _WORD else object)
    return values if values.dtype == kind else values.astype(kind)


def _tight(values: np.ndarray) -> np.ndarray:
    """Return objects as int64 where they fit."""
    return integer_array(values) if values.dtype == object else values


def _cells(
    entries: tuple[np.ndarray, ...], shape: tuple[int, int], dtype: type | None = None
) -> np.ndarray:
    """Return the dense matrix; zeros where there is no entry."""
    rows, columns, values = entries
    result = np.zeros(shape, dtype=values.dtype if dtype is None else dtype)
    result[rows, columns] = values
    return result


def _of_cells(cells: np.ndarray) -> _Entries:
    """Return the entries of a dense matrix of whole numbers (integers or floats)."""
    rows, columns = np.nonzero(cells)
    return _Entries(rows, columns, integer_array(cells[rows, columns]))


def _collected(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int, bound: int
) -> _Entries:
    """Sort entries into reading order, add those of one place, and drop zeros.

    Args:
        rows: Row of every entry.
        columns: Column of every entry.
        values: Its value.
        width: Columns of the matrix.
        bound: Bound of every partial sum's absolute value.
    """
    values = _narrowed(values, bound)
    places = rows * width + columns
    if not np.all(places[1:] > places[:-1]):
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
        starts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
        places, values = places[starts], np.add.reduceat(values, starts)
        rows, columns = places // max(width, 1), places % max(width, 1)
    keep = values != 0
    if not np.all(keep):
        rows, columns, values = rows[keep], columns[keep], values[keep]
    return _Entries(rows, columns, _tight(values))


def _added(a: _Entries, b: _Entries, width: int) -> _Entries:
    """Return the sum; neither is empty."""
    bound = _largest(a.values) + _largest(b.values)
    a, b = a.narrowed(bound), b.narrowed(bound)
    rows = int(max(a.rows[-1], b.rows[-1])) + 1
    if bound < _WORD and _COST_CELL * rows * width < _COST_ENTRY * (len(a.values) + len(b.values)):
        cells = _cells(a, (rows, width), np.int64)
        cells[b.rows, b.columns] += b.values
        return _of_cells(cells)
    rows, columns, values = (np.concatenate(parts) for parts in zip(a, b, strict=True))
    return _collected(rows, columns, values, width, bound)


def _product(left: IntegerMatrix, right: IntegerMatrix, shape: tuple[int, int]) -> IntegerMatrix:
    """Return left @ right by the cheapest exact route."""
    (rows, inner), columns = left.shape, shape[1]
    a, b = left.entries, right.entries
    if not left.size or not right.size:
        return IntegerMatrix.at_places(shape, a.rows[:0], np.zeros(0, dtype=np.int64))
    starts = np.searchsorted(b.rows, np.arange(inner + 1))
    lengths = np.diff(starts)[a.columns]
    steps = int(lengths.sum())
    longest = int(np.bincount(a.rows, minlength=1).max())
    bound = left.largest() * right.largest() * longest
    a, b = a.narrowed(bound), b.narrowed(bound)
    cells = rows * inner + inner * columns + rows * columns
    work = rows * inner * columns
    if bound < _MANTISSA:
        blas = _COST_CELL * cells + _COST_BLAS * work
        if cells <= _MOST_CELLS and blas < _COST_ENTRY * steps:
            dense = _cells(a, left.shape, float) @ _cells(b, right.shape, float)
            return IntegerMatrix(shape, entries=_of_cells(dense))
    elif _COST_OBJECT * steps > 20 * _COST_CELL * cells + _COST_FLINT * work:
        return IntegerMatrix(shape, flint=left.flint * right.flint)
    return IntegerMatrix(shape, entries=_joined(a, b, starts, lengths, shape, bound))


def _joined(
    a: _Entries,
    b: _Entries,
    starts: np.ndarray,
    lengths: np.ndarray,
    shape: tuple[int, int],
    bound: int,
) -> _Entries:
    """Return a·b entry by entry: every entry of a with the row of b that it meets."""
    mine = np.repeat(np.arange(len(a.rows)), lengths)
    first = np.cumsum(lengths) - lengths
    theirs = np.arange(len(mine)) - np.repeat(first - starts[a.columns], lengths)
    values = a.values[mine] * b.values[theirs]
    rows, columns = a.rows[mine], b.columns[theirs]
    size = shape[0] * shape[1]
    if bound < _MANTISSA and size <= min(4 * len(mine), _MOST_CELLS):
        places = rows * shape[1] + columns
        return _of_cells(
            np.bincount(places, weights=values.astype(float), minlength=size).reshape(shape)
        )
    return _collected(rows, columns, values, shape[1], bound)
