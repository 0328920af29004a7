"""Sparse integer matrices as arrays of entries; exact, because every bound is checked.

Values are int64 where a bound proves that nothing can overflow, else Python integers in an array
of objects. Floats occur only where every partial sum is an integer below 2^53, so is exact.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import fmpz_mat

from symreln.errors import FloatRangeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Sums and products below this stay in int64, with a factor of two to spare.
WORD = 2**62
# Integers below this, and their sums, are exact in float64.
MANTISSA = 2**53
# Nanoseconds an operation, measured once on one core: they only choose between equal results.
_COST_ENTRY, _COST_OBJECT, _COST_CELL, _COST_BLAS, _COST_FLINT = 15.0, 150.0, 3.0, 0.06, 2.0
# Cells of a dense matrix that a product may make on its way (float64: 256 MB).
_MOST_CELLS = 2**25
# Cells that are gathered at once: they and the dense factor stay in the processor's cache, which
# makes a large product eight times faster.
_CACHED_CELLS = 2**16


class Entries(NamedTuple):
    """The non-zero entries of an integer matrix, in reading order, each place once.

    Attributes:
        rows: int64, shape (entries,).
        columns: int64, shape (entries,).
        values: int64, or Python integers in an object array; never 0.
    """

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @property
    def size(self) -> int:
        """How many entries there are."""
        return len(self.values)

    def largest(self) -> int:
        """Return the largest absolute value, 0 without entries."""
        if not len(self.values):
            return 0
        return max(abs(int(self.values.max())), abs(int(self.values.min())))

    def narrowed(self, bound: int) -> Entries:
        """Return the same entries, as :func:`narrowed` holds them."""
        return Entries(self.rows, self.columns, narrowed(self.values, bound))

    def transposed(self) -> Entries:
        """Return the entries of the transpose."""
        # Sixteen bits where they do: numpy sorts those by radix, the others by comparison.
        short = not len(self.columns) or self.columns.max() < 2**16
        columns = self.columns.astype(np.uint16) if short else self.columns
        order = np.argsort(columns, kind="stable")
        return Entries(self.columns[order], self.rows[order], self.values[order])


def integer_array(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return integers as int64 where they fit with room to spare, else as objects."""
    if isinstance(values, np.ndarray) and values.dtype != object and not len(values):
        return np.zeros(0, dtype=np.int64)
    if isinstance(values, np.ndarray) and values.dtype != object:
        if max(int(values.max()), -int(values.min())) < WORD:
            return values.astype(np.int64)
        values = values.astype(object)
    listed = [int(value) for value in values]
    if listed and max(max(listed), -min(listed)) >= WORD:
        result = np.empty(len(listed), dtype=object)
        result[:] = listed
        return result
    return np.array(listed, dtype=np.int64)


def narrowed(values: np.ndarray, bound: int) -> np.ndarray:
    """Return values as int64 where ``bound`` (of what comes next) fits into it, else as objects.

    Both ways: a part of a matrix of objects may hold small numbers alone, and an operation that
    mixes objects with int64 or floats fails.
    """
    kind = np.dtype(np.int64 if bound < WORD else object)
    return values if values.dtype == kind else values.astype(kind)


def quotients(
    values: Sequence[int], divisor: int, places: Iterable[tuple[int, int]], shape: tuple[int, int]
) -> list[float]:
    """Return entries of a matrix, integers divided by one, in float64, rounded correctly.

    Args:
        values: The integers, of any size.
        divisor: What they are divided by.
        places: Row and column of every one, from 0.
        shape: The matrix's, for the message.

    Raises:
        FloatRangeError: A quotient is beyond float64.
    """
    try:
        return [value / divisor for value in values]  # of integers of any size in Python
    except OverflowError as error:
        largest, (row, column) = max(
            zip(map(abs, values), places, strict=True), key=lambda entry: entry[0]
        )
        size = largest.bit_length() - abs(divisor).bit_length()
        msg = (
            f"a number of size 1e{size * 301 // 1000}, in row {row + 1} and column {column + 1} of "
            f"a matrix of {shape[0]} × {shape[1]} such as X, Y or a correlation of the two, is "
            "needed in float64, which has no room for it. Scale the data, or give the parameters "
            "other values"
        )
        raise FloatRangeError(msg) from error


def collected(
    rows: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int, bound: int
) -> Entries:
    """Sort entries into reading order, add those of one place, and drop zeros.

    Args:
        rows: Row of every entry.
        columns: Column of every entry.
        values: Its value.
        width: Columns of the matrix.
        bound: Bound of every partial sum's absolute value.
    """
    if not len(values):
        return Entries(rows[:0], columns[:0], np.zeros(0, dtype=np.int64))
    values = narrowed(values, bound)
    places = rows * width + columns
    if not np.all(places[1:] > places[:-1]):
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
        starts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
        places, values = places[starts], np.add.reduceat(values, starts)
    return at_places(places, values, width)


def at_places(places: np.ndarray, values: np.ndarray, width: int) -> Entries:
    """Return the entries at ascending places, counted row by row, without zeros."""
    keep = values != 0
    places, values = places[keep], values[keep]
    return Entries(places // width, places % width, _tight(values))


def _tight(values: np.ndarray) -> np.ndarray:
    """Return objects as int64 where they fit."""
    return integer_array(values.tolist()) if values.dtype == object else values


def from_cells(cells: np.ndarray) -> Entries:
    """Return the entries of a dense matrix of whole numbers (integers, objects or floats)."""
    rows, columns = np.nonzero(cells)
    values = cells[rows, columns]
    return Entries(
        rows, columns, _tight(values) if values.dtype == object else integer_array(values)
    )


def from_flint(matrix: fmpz_mat) -> Entries:
    """Return the entries of an integer matrix of FLINT."""
    flat = matrix.entries()
    width = matrix.ncols()
    places = [place for place, value in enumerate(flat) if value]
    where = np.array(places, dtype=np.int64)
    values = integer_array([int(flat[place]) for place in places])
    return Entries(where // max(width, 1), where % max(width, 1), values)


def to_flint(entries: Entries, shape: tuple[int, int]) -> fmpz_mat:
    """Return the matrix as FLINT's."""
    if entries.size * 20 < shape[0] * shape[1]:
        result = fmpz_mat(*shape)
        triples = zip(
            entries.rows.tolist(), entries.columns.tolist(), entries.values.tolist(), strict=True
        )
        for row, column, value in triples:
            result[row, column] = value
        return result
    return fmpz_mat(*shape, to_cells(entries, shape).ravel().tolist())


def to_cells(entries: Entries, shape: tuple[int, int], dtype: type | None = None) -> np.ndarray:
    """Return the dense matrix; zeros where there is no entry."""
    result = np.zeros(shape, dtype=entries.values.dtype if dtype is None else dtype)
    result[entries.rows, entries.columns] = entries.values
    return result


def added(a: Entries, b: Entries, width: int) -> Entries:
    """Return a + b."""
    if not a.size or not b.size:
        return a if a.size else b
    bound = a.largest() + b.largest()
    a, b = a.narrowed(bound), b.narrowed(bound)
    rows = int(max(a.rows[-1], b.rows[-1])) + 1
    if bound < WORD and _COST_CELL * rows * width < _COST_ENTRY * (a.size + b.size):
        cells = to_cells(a, (rows, width), np.int64)
        cells[b.rows, b.columns] += b.values
        return from_cells(cells)
    return collected(
        np.concatenate([a.rows, b.rows]),
        np.concatenate([a.columns, b.columns]),
        np.concatenate([a.values, b.values]),
        width,
        bound,
    )


def scaled(a: Entries, factor: int) -> Entries:
    """Return factor·a."""
    if factor == 1 or not a.size:
        return a
    if not factor:
        return Entries(a.rows[:0], a.columns[:0], a.values[:0])
    a = a.narrowed(a.largest() * abs(factor))
    return Entries(a.rows, a.columns, a.values * factor)


def divided(a: Entries, divisor: int) -> Entries:
    """Return a/divisor, which divides every entry."""
    if divisor == 1:
        return a
    big = abs(divisor) >= WORD and a.values.dtype != object
    values = a.values.astype(object) if big else a.values
    return Entries(a.rows, a.columns, _tight(values // divisor))


def content(a: Entries) -> int:
    """Return the greatest common divisor of all entries, 0 without entries."""
    return abs(int(np.gcd.reduce(a.values))) if a.size else 0


def dot(a: Entries, b: Entries, width: int) -> int:
    """Return the sum over all places of a·b."""
    mine, theirs = a.rows * width + a.columns, b.rows * width + b.columns
    _, left, right = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    bound = a.largest() * b.largest() * max(len(left), 1)
    return int((narrowed(a.values[left], bound) * narrowed(b.values[right], bound)).sum())


def product(a: Entries, b: Entries, shape: tuple[int, int, int]) -> Entries:
    """Return a·b, of shapes (rows, inner) and (inner, columns), by the cheapest exact route."""
    rows, inner, columns = shape
    if not a.size or not b.size:
        return Entries(*(part[:0] for part in (a.rows, a.rows, np.zeros(0, dtype=np.int64))))
    starts = np.searchsorted(b.rows, np.arange(inner + 1))
    lengths = np.diff(starts)[a.columns]
    steps = int(lengths.sum())
    longest = int(np.bincount(a.rows, minlength=1).max())
    bound = a.largest() * b.largest() * longest
    a, b = a.narrowed(bound), b.narrowed(bound)
    cells = rows * inner + inner * columns + rows * columns
    work = rows * inner * columns
    if bound < MANTISSA:
        blas = _COST_CELL * cells + _COST_BLAS * work
        if cells <= _MOST_CELLS and blas < _COST_ENTRY * steps:
            left = to_cells(a, (rows, inner), float)
            return from_cells(left @ to_cells(b, (inner, columns), float))
        gathered = a.size * columns
        thin = _COST_CELL * (gathered + inner * columns + rows * columns)
        if gathered <= _MOST_CELLS and thin < _COST_ENTRY * steps:
            return _gathered(a, to_cells(b, (inner, columns), float), rows)
    elif _COST_OBJECT * steps > 20 * _COST_CELL * cells + _COST_FLINT * work:
        return from_flint(to_flint(a, (rows, inner)) * to_flint(b, (inner, columns)))
    return _joined(a, b, starts, lengths, (rows, columns), bound)


def _gathered(a: Entries, dense: np.ndarray, rows: int) -> Entries:
    """Return a·dense: the rows of ``dense`` that every row of a meets, added in float64."""
    result = np.zeros((rows, dense.shape[1]))
    starts = np.flatnonzero(np.concatenate([[True], a.rows[1:] != a.rows[:-1]]))
    ends = np.append(starts, a.size)
    share = max(1, _CACHED_CELLS // max(1, dense.shape[1]))
    cuts = np.unique(np.searchsorted(starts, np.arange(0, a.size + share, share)))
    for first, last in pairwise(cuts.tolist()):
        part = slice(ends[first], ends[last])
        lines = dense[a.columns[part]]
        lines *= a.values[part, None]
        result[a.rows[starts[first:last]]] = np.add.reduceat(
            lines, starts[first:last] - starts[first], axis=0
        )
    return from_cells(result)


def _joined(
    a: Entries,
    b: Entries,
    starts: np.ndarray,
    lengths: np.ndarray,
    shape: tuple[int, int],
    bound: int,
) -> Entries:
    """Return a·b entry by entry: every entry of a with the row of b that it meets."""
    mine = np.repeat(np.arange(a.size), lengths)
    first = np.cumsum(lengths) - lengths
    theirs = np.arange(len(mine)) - np.repeat(first - starts[a.columns], lengths)
    values = a.values[mine] * b.values[theirs]
    rows, columns = a.rows[mine], b.columns[theirs]
    size = shape[0] * shape[1]
    if bound < MANTISSA and size <= min(4 * len(mine), _MOST_CELLS):
        places = rows * shape[1] + columns
        return from_cells(
            np.bincount(places, weights=values.astype(float), minlength=size).reshape(shape)
        )
    return collected(rows, columns, values, shape[1], bound)


def merged(listed: Sequence[np.ndarray]) -> np.ndarray:
    """Return what ascending arrays hold together, ascending, each number once."""
    found = np.sort(np.concatenate(listed), kind="stable")  # merges runs, linear for few arrays
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if len(found) else found


def distinct_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows, as few as hashes tell apart, and which of them every row of the table is)."""
    if table.dtype == object:
        known: dict[tuple[int, ...], int] = {}
        kinds = np.array([known.setdefault(tuple(row), len(known)) for row in table.tolist()])
        rows = np.empty((len(known), table.shape[1]), dtype=object)
        rows[:] = list(known)
        return rows, kinds
    words = np.zeros(len(table), dtype=np.uint64)
    for column in table.T:
        words = (words ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        words ^= words >> np.uint64(29)
    # np.unique would import numpy.ma, 50 ms.
    order = np.argsort(words, kind="stable")
    fresh = np.concatenate([[True], words[order[1:]] != words[order[:-1]]])
    kinds = np.empty(len(table), dtype=np.int64)
    kinds[order] = np.cumsum(fresh) - 1
    rows = table[order[fresh]]
    if not np.array_equal(rows[kinds], table):  # two rows with one hash
        return table, np.arange(len(table))
    return rows, kinds
