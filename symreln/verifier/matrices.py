r"""Exact matrices for the verifier, with the standard library alone: a row is one long integer.

A matrix is Σ_e (monomial e) · C_e / q: integer matrices C_e, one for every monomial of the
parameters that occurs, and one common denominator q, a polynomial over Z. It is held by its entries
or *packed*, every row of every C_e as the single integer :math:`\sum_k v_k 2^{wk}`, so that a
product is a few sums of long integers a row: entries of the left factor times rows of the right
one.

*Why this is exact.* While all :math:`|v_k| < 2^{w-1}`, the integer determines the v_k, and sums
and multiples of rows are those of the integers. Packed rows carry a bound on all of their |v_k|,
and every operation first derives the bound of its result from those of its operands (for a
product: the largest Σ|entry| over the rows of the left factor, all monomials together, times the
bound of the right one) and widens the slots where that bound needs it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, reduce
from itertools import compress, count, product, repeat
from math import gcd
from struct import pack, unpack
from typing import Any, Final, NamedTuple

from .numbers import Poly, Ratio, common_multiple, multiply, quotient, work

#: Bytes of packed rows that are made, or added, in the time of a pair of terms.
_PACKED: Final = 64
_CODES: Final = {4: "i", 8: "q"}


class Rows(NamedTuple):
    """Packed rows terms[monomial][row] in slots of ``size`` bytes, all values up to ``bound``."""

    terms: Any
    size: int
    bound: int


class Matrix:
    """Entries as terms[monomial][row][column], over ``below``; equal ones may look different."""

    def __init__(
        self, shape: tuple[int, int], terms: Any, below: Poly, rows: Rows | None = None
    ) -> None:
        self.shape, self.below = shape, below
        if rows is None:
            self.__dict__["terms"] = terms
        else:
            if rows.bound >= 1 << 8 * rows.size - 1:
                msg = "a packed row would overflow"
                raise OverflowError(msg)
            kept = {key: part for key, part in rows.terms.items() if any(part.values())}
            self.__dict__["packed"] = Rows(kept, rows.size, rows.bound)

    @cached_property
    def terms(self) -> dict[Any, dict[int, dict[int, int]]]:
        """The entries of packed rows."""
        rows, size, _ = self.packed
        mask, width = _mask(size, self.shape[1]), self.shape[1]
        terms: Any = {}
        for key, packed in rows.items():
            part = terms[key] = {}
            for i, row in packed.items():
                if row:
                    values = _split(row, size, mask, width)
                    found = zip(compress(count(), values), filter(None, values), strict=False)
                    part[i] = dict(found)
        return terms

    @cached_property
    def packed(self) -> Rows:
        """The rows packed, in the smallest slots."""
        return self._packed(0)

    def _packed(self, bound: int) -> Rows:
        parts, places = self.terms.values(), range(self.shape[1])
        numbers = (max(map(abs, row.values())) for part in parts for row in part.values() if row)
        largest = max(numbers, default=0)
        size = _size(max(bound, largest))
        mask = _mask(size, len(places))
        terms: Any = {}
        for key, part in self.terms.items():
            rows = terms[key] = {}
            for i, row in part.items():
                if row:
                    work.spend(len(places) * size // _PACKED + 1)
                    rows[i] = _joined([*map(row.get, places, repeat(0))], size, mask)
        return Rows(terms, size, largest)

    def in_slots(self, size: int) -> Any:
        """Return the packed rows in slots of that many bytes, no fewer than they have."""
        own = self.packed
        return own.terms if size == own.size else self._packed((1 << 8 * size - 1) - 1).terms

    @cached_property
    def norm(self) -> int:
        """The largest Σ|entry| of a row, all monomials together."""
        rows: dict[int, int] = {}
        for part in self.terms.values():
            for i, row in part.items():
                rows[i] = rows.get(i, 0) + sum(map(abs, row.values()))
        return max(rows.values(), default=0)

    @cached_property
    def T(self) -> Matrix:
        """The transpose."""
        terms: Any = {}
        for key, part in self.terms.items():
            turned = terms[key] = {}
            for i, row in part.items():
                for j, value in row.items():
                    turned.setdefault(j, {})[i] = value
        return Matrix((self.shape[1], self.shape[0]), terms, self.below)

    def __bool__(self) -> bool:
        known = self.__dict__.get("packed")
        terms = self.terms if known is None else known.terms
        return any(any(part.values()) for part in terms.values())

    def __matmul__(self, other: Matrix) -> Matrix:
        return products([(self.one, self, other, None)])

    @property
    def one(self) -> Ratio:
        """The number 1."""
        unit = {(0,) * len(next(iter(self.below))): 1}
        return Ratio(unit, unit)

    @property
    def written(self) -> set[int]:
        """The rows that are not zero."""
        return {i for part in self.packed.terms.values() for i, row in part.items() if row}

    def entries(self) -> dict[tuple[int, int], Poly]:
        """Return the numerators by place."""
        found: dict[tuple[int, int], Poly] = {}
        for key, part in self.terms.items():
            for i, row in part.items():
                for j, value in row.items():
                    found.setdefault((i, j), {})[key] = value
        return found

    def ratios(self) -> dict[tuple[int, int], Ratio]:
        """Return the entries by place."""
        return {at: Ratio(top, self.below) for at, top in self.entries().items()}

    def moved(self, rows: Any, columns: Any, shape: tuple[int, int]) -> Matrix:
        """Return the entries at (rows[i], columns[j]), those without a new place left out."""
        terms: Any = {}
        for key, part in self.terms.items():
            for i, row in part.items():
                if i in rows and (kept := {columns[j]: v for j, v in row.items() if j in columns}):
                    terms.setdefault(key, {})[rows[i]] = kept
        return Matrix(shape, terms, self.below)

    def rows(self, places: Any) -> Matrix:
        """Return row i as row places[i], rows without a new place left out."""
        terms, size, bound = self.packed
        moved = {
            key: {places[i]: row for i, row in part.items() if i in places}
            for key, part in terms.items()
        }
        return Matrix(self.shape, None, self.below, Rows(moved, size, bound))

    def reduced(self) -> Matrix:
        """Return the same matrix with factors cancelled that all entries share."""
        if not self:
            return Matrix(self.shape, {}, self.one.below)
        parts = self.terms.values()
        numbers = [v for part in parts for row in part.values() for v in row.values()]
        common = gcd(*self.below.values(), *numbers)
        terms = {
            key: {i: {j: v // common for j, v in row.items()} for i, row in part.items()}
            for key, part in self.terms.items()
        }
        below = {key: value // common for key, value in self.below.items()}
        return Matrix(self.shape, terms, below)

    def inner(self, other: Matrix) -> Ratio:
        """Return Σ self_ij other_ij."""
        entries = sum(len(row) for part in self.terms.values() for row in part.values())
        work.spend(entries * len(other.terms))
        total: Poly = {}
        for (x, a), (y, b) in product(self.terms.items(), other.terms.items()):
            key = _sum(x, y)
            for i, row in a.items():
                if other_row := b.get(i):
                    dot = sum([v * other_row[j] for j, v in row.items() if j in other_row])
                    total[key] = total.get(key, 0) + dot
        return Ratio({k: v for k, v in total.items() if v}, multiply(self.below, other.below))

    def gram(self) -> Matrix:
        """Return AᵀA, equal rows of A multiplied once."""
        packed, size, bound = self.packed
        places = range(self.shape[0])
        counts = Counter(zip(*(map(rows.get, places) for rows in packed.values()), strict=True))
        terms = {
            key: {n: row for n, row in enumerate(rows) if row}
            for key, rows in zip(packed, zip(*counts, strict=True), strict=False)
        }
        shape, weights = (len(counts), self.shape[1]), list(counts.values())
        once = Matrix(shape, None, self.below, Rows(terms, size, bound)).reduced()
        weighted = {
            key: {n: {j: v * weights[n] for j, v in row.items()} for n, row in part.items()}
            for key, part in once.terms.items()
        }
        return Matrix(shape, weighted, once.below).T @ once


Part = tuple[Ratio, Matrix, Matrix, Any]  # factor, left, right, places: see products


def products(parts: list[Part]) -> Matrix:
    """Return Σ factor · left @ right, row i of a product in row places[i] where these are given."""
    below = [multiply(f.below, multiply(a.below, b.below)) for f, a, b, _ in parts]
    common, wholes = _over_one([Ratio(f.top, d) for (f, *_), d in zip(parts, below, strict=True)])
    norms = [sum(map(abs, whole.values())) for whole in wholes]
    right = [n * b.packed.bound for n, (_, _, b, _) in zip(norms, parts, strict=True)]
    bound = sum(n * a.norm for n, (_, a, _, _) in zip(right, parts, strict=True))
    size = max(_size(max(bound, *right)), *(b.packed.size for _, _, b, _ in parts))
    factors = [_scaled(whole, b, size) for whole, (_, _, b, _) in zip(wholes, parts, strict=True)]
    shape = parts[0][1].shape[0], parts[0][2].shape[1]
    pairs = [(f, a, places) for f, (_, a, _, places) in zip(factors, parts, strict=True)]
    return Matrix(shape, None, common, Rows(_multiplied(pairs, size * shape[1]), size, bound))


def combined(parts: list[tuple[Ratio, Matrix]]) -> Matrix:
    """Return Σ factor · matrix; it is falsy exactly where the sum is zero."""
    factors = [Ratio(factor.top, multiply(factor.below, m.below)) for factor, m in parts]
    common, wholes = _over_one(factors)
    bound = sum(
        sum(map(abs, w.values())) * m.packed.bound for w, (_, m) in zip(wholes, parts, strict=True)
    )
    size = max(_size(bound), *(m.packed.size for _, m in parts))
    terms: Any = {}
    for whole, (_, m) in zip(wholes, parts, strict=True):
        for key, rows in _scaled(whole, m, size).items():
            found = terms.setdefault(key, {})
            for i, row in rows.items():
                found[i] = found[i] + row if i in found else row
    return Matrix(parts[0][1].shape, None, common, Rows(terms, size, bound))


def equal(a: Matrix, b: Matrix) -> bool:
    """Return whether two matrices are equal."""
    return a.shape == b.shape and not combined([(a.one, a), (a.one * -1, b)])


def assembled(entries: dict[tuple[int, int], Ratio], shape: tuple[int, int], one: Poly) -> Matrix:
    """Return the matrix of these entries."""
    below = reduce(common_multiple, (item.below for item in entries.values()), one)
    terms: Any = {}
    for (i, j), item in entries.items():
        for key, number in multiply(item.top, quotient(below, item.below) or {}).items():
            terms.setdefault(key, {}).setdefault(i, {})[j] = number
    return Matrix(shape, terms, below)


def placed(parts: list[tuple[Matrix, int, int]], shape: tuple[int, int], one: Poly) -> Matrix:
    """Return the sum of matrices that begin at given (row, column)."""
    below = reduce(common_multiple, (part.below for part, _, _ in parts), one)
    terms: Any = {}
    for part, top, left in parts:
        for shift, factor in (quotient(below, part.below) or {}).items():
            for key, rows in part.terms.items():
                found = terms.setdefault(_sum(shift, key), {})
                for i, values in rows.items():
                    line = found.setdefault(i + top, {})
                    for j, value in values.items():
                        total = line.pop(j + left, 0) + factor * value
                        if total:
                            line[j + left] = total
    return Matrix(shape, terms, below)


# -- rows of long integers -------------------------------------------------------------------------


def _multiplied(parts: list[tuple[Any, Matrix, Any]], length: int) -> Any:
    """Return the terms of Σ left @ right, (right, left, places) the parts, of rows that long."""
    for right, left, _ in parts:
        entries = sum(len(row) for part in left.terms.values() for row in part.values())
        work.spend(entries * (length * len(right) // _PACKED + 1))
    terms: Any = {}
    for right, left, places in parts:
        pairs: Any = product(left.terms.items(), right.items())
        for (x, part), (y, rows) in pairs:
            found = terms.setdefault(_sum(x, y), {})
            for i, row in part.items():
                if value := sum([v * rows[k] for k, v in row.items() if k in rows]):
                    place = i if places is None else places[i]
                    found[place] = found.get(place, 0) + value
    return terms


def _sum(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int.__add__, x, y))


def _over_one(factors: list[Ratio]) -> tuple[Poly, list[Poly]]:
    """Return a common denominator and the numerators over it."""
    common = reduce(common_multiple, (factor.below for factor in factors))
    return common, [multiply(f.top, quotient(common, f.below) or {}) for f in factors]


def _scaled(whole: Poly, m: Matrix, size: int) -> Any:
    """Return the packed rows of a polynomial times a matrix."""
    packed = m.in_slots(size)
    if len(whole) == 1 and 1 in whole.values() and not any(next(iter(whole))):
        return packed
    terms: Any = {}
    pairs: Any = product(whole.items(), packed.items())
    for (shift, factor), (key, rows) in pairs:
        found = terms.setdefault(_sum(shift, key), {})
        for i, row in rows.items():
            found[i] = found.get(i, 0) + factor * row
    return terms


def _size(bound: int) -> int:  # bytes of a slot that holds -bound to bound
    needed = bound.bit_length() // 8 + 1
    return next((n for n in _CODES if n >= needed), -(-needed // 8) * 8)


def _mask(size: int, width: int) -> int:  # the highest bit of every slot
    return int.from_bytes((b"\0" * (size - 1) + b"\x80") * width, "little")


def _joined(values: list[int], size: int, mask: int) -> int:
    if size in _CODES:
        raw = pack(f"<{len(values)}{_CODES[size]}", *values)
    else:
        raw = b"".join([value.to_bytes(size, "little", signed=True) for value in values])
    slots = int.from_bytes(raw, "little")
    return slots - ((slots & mask) << 1)  # a negative slot borrows from the next one


def _split(row: int, size: int, mask: int, width: int) -> Any:
    raw = ((row + mask) ^ mask).to_bytes(size * width, "little")
    if size in _CODES:
        return unpack(f"<{width}{_CODES[size]}", raw)
    cuts = range(0, size * width, size)
    return [int.from_bytes(raw[k : k + size], "little", signed=True) for k in cuts]
