r"""Exact matrices for the verifier, with the standard library alone: a row is one long integer.

A matrix is Σ_e (monomial e) · C_e / q: integer matrices C_e, one for every monomial of the
parameters that occurs, and one common denominator q, a polynomial over Z. A :class:`Sparse` matrix
lists its entries. A :class:`Packed` one holds every row of every C_e as the single integer
:math:`\sum_k v_k 2^{wk}`, so that a product of the two is a few sums of long integers a row.

*Why this is exact.* While all :math:`|v_k| < 2^{w-1}`, the integer determines the v_k, and sums
and multiples of rows are those of the integers. Every packed matrix carries a bound on all of its
|v_k|, and every operation first derives the bound of its result from those of its operands (for a
product: the largest Σ|entry| over the rows of the left factor, all monomials together, times the
bound of the right one) and widens the slots where that bound needs it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, reduce
from itertools import compress, count, product
from math import gcd
from struct import pack, unpack
from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify_numbers import (
        Poly,
        Ratio,
        common_multiple,
        integers,
        multiply,
        quotient,
        render,
        require,
        take,
    )
except ImportError:  # the files alone, without the package
    from verify_numbers import (  # type: ignore[no-redef]  # type: ignore[no-redef]  # type: ignore[no-redef]
        Poly,
        Ratio,
        common_multiple,
        integers,
        multiply,
        quotient,
        render,
        require,
        take,
    )

CODES = {4: "i", 8: "q"}


class Sparse:
    """Entries as terms[monomial][row][column], over ``below``; equal ones may look different."""

    def __init__(self, shape: tuple[int, int], terms: Any, below: Poly) -> None:
        self.shape, self.terms, self.below = shape, terms, below

    @cached_property
    def norm(self) -> int:
        """The largest Σ|entry| of a row, all monomials together."""
        rows: dict[int, int] = {}
        for part in self.terms.values():
            for i, row in part.items():
                rows[i] = rows.get(i, 0) + sum(map(abs, row.values()))
        return max(rows.values(), default=0)

    @cached_property
    def flipped(self) -> Sparse:
        """The transpose."""
        terms: Any = {}
        for key, part in self.terms.items():
            turned = terms[key] = {}
            for i, row in part.items():
                for j, value in row.items():
                    turned.setdefault(j, {})[i] = value
        return Sparse((self.shape[1], self.shape[0]), terms, self.below)

    def __bool__(self) -> bool:
        return any(row for part in self.terms.values() for row in part.values())

    def __matmul__(self, other: Packed) -> Packed:
        unit = {(0,) * len(next(iter(self.below))): 1}
        return products([(Ratio(unit, unit), self, other, None)])

    def entries(self) -> dict[tuple[int, int], Poly]:
        """Return the numerators by place."""
        found: dict[tuple[int, int], Poly] = {}
        for key, part in self.terms.items():
            for i, row in part.items():
                for j, value in row.items():
                    found.setdefault((i, j), {})[key] = value
        return found

    def moved(self, rows: Any, columns: Any, shape: tuple[int, int]) -> Sparse:
        """Return the entries at (rows[i], columns[j]), those without a new place left out."""
        terms: Any = {}
        for key, part in self.terms.items():
            kept = terms[key] = {}
            for i, row in part.items():
                if i in rows:
                    kept[rows[i]] = {columns[j]: v for j, v in row.items() if j in columns}
        return Sparse(shape, terms, self.below)

    def reduced(self) -> Sparse:
        """Return the same matrix with the common integer factor cancelled."""
        common = gcd(*self.below.values())
        for part in self.terms.values():
            for row in part.values():
                common = gcd(common, *row.values())
                if common == 1:
                    return self
        terms = {
            key: {i: {j: v // common for j, v in row.items()} for i, row in part.items()}
            for key, part in self.terms.items()
        }
        below = {key: value // common for key, value in self.below.items()}
        return Sparse(self.shape, terms, below)

    def inner(self, other: Sparse) -> Ratio:
        """Return Σ self_ij other_ij."""
        total: Poly = {}
        for (x, a), (y, b) in product(self.terms.items(), other.terms.items()):
            key = tuple(map(int.__add__, x, y))
            dot = sum(v * b[i].get(j, 0) for i, row in a.items() if i in b for j, v in row.items())
            total[key] = total.get(key, 0) + dot
        return Ratio({k: v for k, v in total.items() if v}, multiply(self.below, other.below))

    def packed(self, bound: int = 0) -> Packed:
        """Return the matrix packed, with slots for values up to ``bound``."""
        width, largest = self.shape[1], 0
        for part in self.terms.values():
            for row in part.values():
                largest = max(largest, *map(abs, row.values())) if row else largest
        size = _size(max(bound, largest))
        mask = _mask(size, width)
        blank = [0] * width
        terms: Any = {}
        for key, part in self.terms.items():
            rows = terms[key] = {}
            for i, row in part.items():
                values = blank.copy()
                for j, value in row.items():
                    values[j] = value
                if row:
                    rows[i] = _joined(values, size, mask)
        return Packed((self.shape[0], width), terms, self.below, largest, size)


class Packed:
    """Rows as integers terms[monomial][row] in slots of ``size`` bytes, over ``below``."""

    def __init__(
        self, shape: tuple[int, int], terms: Any, below: Poly, bound: int, size: int
    ) -> None:
        if bound >= 1 << 8 * size - 1:
            msg = "a packed row would overflow"
            raise OverflowError(msg)
        self.shape, self.below, self.bound, self.size = shape, below, bound, size
        self.terms = {key: rows for key, rows in terms.items() if any(rows.values())}

    def __bool__(self) -> bool:
        return bool(self.terms)

    def of_size(self, size: int) -> Packed:
        """Return the matrix in slots of that many bytes, no fewer than it has."""
        return self if size == self.size else self.sparse().packed((1 << 8 * size - 1) - 1)

    def tight(self) -> Packed:
        """Return the matrix in the smallest slots, with its true bound, in lowest terms."""
        return self.sparse().reduced().packed()

    def sparse(self) -> Sparse:
        """Return the entries."""
        mask = _mask(self.size, self.shape[1])
        terms: Any = {}
        for key, rows in self.terms.items():
            part = terms[key] = {}
            for i, row in rows.items():
                if row:
                    values = _split(row, self.size, mask, self.shape[1])
                    part[i] = dict(
                        zip(compress(count(), values), filter(None, values), strict=False)
                    )
        return Sparse(self.shape, terms, self.below)

    def rows(self, places: Any) -> Packed:
        """Return row i as row places[i], rows without a new place left out."""
        terms = {
            key: {places[i]: row for i, row in part.items() if i in places}
            for key, part in self.terms.items()
        }
        return Packed(self.shape, terms, self.below, self.bound, self.size)


def products(parts: list[tuple[Ratio, Sparse, Packed, Any]]) -> Packed:
    """Return Σ factor · left @ right, row i of a product in row places[i] where these are given."""
    below = [multiply(f.below, multiply(a.below, b.below)) for f, a, b, _ in parts]
    common, wholes = _over_one([Ratio(f.top, d) for (f, *_), d in zip(parts, below, strict=True)])
    norms = [sum(map(abs, whole.values())) for whole in wholes]
    bound = sum(n * a.norm * b.bound for n, (_, a, b, _) in zip(norms, parts, strict=True))
    least = max(bound, *(n * b.bound for n, (_, _, b, _) in zip(norms, parts, strict=True)))
    size = max(_size(least), *(b.size for _, _, b, _ in parts))
    terms: Any = {}
    for whole, (_, left, right, places) in zip(wholes, parts, strict=True):
        scaled = _scaled(whole, right.of_size(size))
        for (x, a), (y, b) in product(left.terms.items(), scaled.items()):
            found = terms.setdefault(tuple(map(int.__add__, x, y)), {})
            for i, row in a.items():
                value = sum([v * b[k] for k, v in row.items() if k in b])
                if value:
                    at = i if places is None else places[i]
                    found[at] = found[at] + value if at in found else value
    shape = parts[0][1].shape[0], parts[0][2].shape[1]
    return Packed(shape, terms, common, bound, size)


def combined(parts: list[tuple[Ratio, Packed]]) -> Packed:
    """Return Σ factor · matrix; it is falsy exactly where the sum is zero."""
    factors = [Ratio(factor.top, multiply(factor.below, m.below)) for factor, m in parts]
    common, wholes = _over_one(factors)
    bound = sum(
        sum(map(abs, w.values())) * m.bound for w, (_, m) in zip(wholes, parts, strict=True)
    )
    size = max(_size(bound), *(m.size for _, m in parts))
    terms: Any = {}
    for whole, (_, m) in zip(wholes, parts, strict=True):
        for key, rows in _scaled(whole, m.of_size(size)).items():
            found = terms.setdefault(key, {})
            for i, row in rows.items():
                found[i] = found[i] + row if i in found else row
    return Packed(parts[0][1].shape, terms, common, bound, size)


def _over_one(factors: list[Ratio]) -> tuple[Poly, list[Poly]]:
    """Return a common denominator and the numerators over it."""
    common = reduce(common_multiple, (factor.below for factor in factors))
    return common, [multiply(f.top, quotient(common, f.below) or {}) for f in factors]


def _scaled(whole: Poly, m: Packed) -> Any:
    """Return the terms of a polynomial times a matrix."""
    if len(whole) == 1 and 1 in whole.values() and not any(next(iter(whole))):
        return m.terms
    terms: Any = {}
    for (shift, factor), (key, rows) in product(whole.items(), m.terms.items()):
        found = terms.setdefault(tuple(map(int.__add__, shift, key)), {})
        for i, row in rows.items():
            found[i] = found.get(i, 0) + factor * row
    return terms


def _size(bound: int) -> int:  # bytes of a slot that holds -bound to bound
    needed = bound.bit_length() // 8 + 1
    return next((n for n in CODES if n >= needed), -(-needed // 8) * 8)


def _mask(size: int, width: int) -> int:  # the highest bit of every slot
    return int.from_bytes((b"\0" * (size - 1) + b"\x80") * width, "little")


def _joined(values: list[int], size: int, mask: int) -> int:
    if size in CODES:
        raw = pack(f"<{len(values)}{CODES[size]}", *values)
    else:
        raw = b"".join([value.to_bytes(size, "little", signed=True) for value in values])
    slots = int.from_bytes(raw, "little")
    return slots - ((slots & mask) << 1)  # a negative slot borrows from the next one


def _split(row: int, size: int, mask: int, width: int) -> Any:
    raw = ((row + mask) ^ mask).to_bytes(size * width, "little")
    if size in CODES:
        return unpack(f"<{width}{CODES[size]}", raw)
    cuts = range(0, size * width, size)
    return [int.from_bytes(raw[k : k + size], "little", signed=True) for k in cuts]


# -- reading ---------------------------------------------------------------------------------------


class Data(SimpleNamespace):
    """The certificate's numbers: names, the texts read so far, and what was read from them."""

    def constant(self, value: int) -> Ratio:
        """Return an integer."""
        return Ratio({self.unit: value} if value else {}, {self.unit: 1})

    def poly(self, text: str) -> Poly:
        """Read a polynomial."""
        if text not in self.texts:
            total: Poly = {}
            for term in text.split(" + "):
                number, *factors = term.split("*")
                powers = dict.fromkeys(self.names, 0)
                for factor in factors:
                    name, power = factor.split("^")
                    powers[name] += int(power if len(power) < 5 else "")
                    self.used.add(name)
                total[tuple(powers.values())] = int(number)
            total = {key: value for key, value in total.items() if value}
            require(render(total, self.names) == text, self.where, "a number in normal form")
            self.texts[text] = total
        return self.texts[text]

    def ratio(self, text: Any, path: str) -> Ratio:
        """Read a ratio of polynomials, in lowest terms over the integers."""
        self.where = path  # for the message where the text is no number
        top, *below = map(self.poly, text.split(" / "))
        for bottom in below:
            good = bottom and bottom != {self.unit: 1} and bottom[max(bottom)] > 0
            good = good and top and gcd(*top.values(), *bottom.values()) == 1
            require(good, path, "a number with a denominator above 1, in lowest terms")
        return Ratio(top, *(below or [{self.unit: 1}]))

    def ratios(self, value: Any, path: str, length: int = 0) -> list[Ratio]:
        """Read a list of numbers, of that length if one is given."""
        good = isinstance(value, list) and len(value) == (length or len(value)) > 0
        require(good, path, f"a list of {length or 'some'} numbers")
        return [self.ratio(item, path) for item in value]

    def matrix(self, value: Any, path: str, rows: int = 0) -> Sparse:
        """Read a matrix, of that many rows if that is given."""
        v = take(value, path, "rows columns denominator entries")
        self.where = path
        integers([v.rows, v.columns], path, 10**7)
        terms: Any = {}
        last = (-1, -1)
        for i, j, text in v.entries:
            good = type(i) is int is type(j) and last < (i, j) and min(i, j) >= 0 and j < v.columns
            entry = self.poly(text)
            require(good and entry, path, "ascending places of numbers that are not 0")
            last = (i, j)
            for key, number in entry.items():
                terms.setdefault(key, {}).setdefault(i, {})[j] = number
        below = self.poly(v.denominator)
        good = last < (v.rows, 0) and v.rows == (rows or v.rows) and below and below[max(below)] > 0
        require(good, path, f"a matrix of {rows or v.rows} rows, its denominator positive")
        contents = [n for part in terms.values() for row in part.values() for n in row.values()]
        require(gcd(*contents, *below.values()) == 1, path, "in lowest terms")
        return Sparse((v.rows, v.columns), terms, below)

    def drive(self, seen: Packed) -> Packed:
        """Return what earlier stages leave of the targets, times samples × columns."""
        return products(self.left(seen))

    def left(self, seen: Packed) -> list[tuple[Ratio, Sparse, Packed, Any]]:
        """Return the products whose sum :meth:`drive` is."""
        learned = [part for fit in self.fits for part in fit(seen)]
        return [(self.constant(1), self.y, seen, None), *learned]

    def common(self, below: Iterable[Poly]) -> Poly:
        """Return a common multiple of polynomials."""
        return reduce(common_multiple, below, {self.unit: 1})

    def beside(self, terms: Any, part: Sparse, below: Poly, column: int, row: int = 0) -> None:
        """Put a matrix into ``terms``, which are over ``below``, from (row, column) on."""
        whole = quotient(below, part.below) or {}
        for shift, factor in whole.items():
            for key, rows in part.terms.items():
                found = terms.setdefault(tuple(map(int.__add__, shift, key)), {})
                for i, values in rows.items():
                    line = found.setdefault(i + row, {})
                    for j, value in values.items():
                        line[j + column] = line.get(j + column, 0) + factor * value

    def assembled(self, entries: dict[tuple[int, int], Ratio], shape: tuple[int, int]) -> Sparse:
        """Return the matrix of these entries."""
        below = self.common(item.below for item in entries.values())
        terms: Any = {}
        for (i, j), item in entries.items():
            whole = multiply(item.top, quotient(below, item.below) or {})
            for key, number in whole.items():
                terms.setdefault(key, {}).setdefault(i, {})[j] = number
        return Sparse(shape, terms, below)
