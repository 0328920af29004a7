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

from collections import Counter
from functools import cached_property, reduce
from itertools import compress, count, product
from math import gcd, prod
from struct import pack, unpack
from typing import Any

try:
    from symreln.verify_numbers import (
        MOST_PAIRS,
        Poly,
        Ratio,
        add,
        common_multiple,
        multiply,
        quotient,
    )
except ImportError:  # the files alone, without the package
    from verify_numbers import MOST_PAIRS, Poly, Ratio, add, common_multiple, multiply, quotient  # type: ignore[no-redef]

CODES = {4: "i", 8: "q"}
#: Slots for monomials, to those that there are in the factors, up to which they lie side by side:
#: what that takes stays within this factor of what the factors take.
DENSE = 16


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
    def groups(self) -> Any:
        """By monomial, every row once with all the places where it stands."""
        found: Any = {}
        for key, part in self.terms.items():
            table: dict[Any, tuple[Any, list[int]]] = {}
            for i, row in part.items():
                table.setdefault(tuple(row.items()), (row, []))[1].append(i)
            found[key] = list(table.values())
        return found

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
        """Return the same matrix with factors cancelled that all entries share."""
        if not self:
            return Sparse(self.shape, {}, {(0,) * len(next(iter(self.below))): 1})
        whole = self._one_polynomial()
        common = gcd(*whole.below.values())
        for part in whole.terms.values():
            for row in part.values():
                common = gcd(common, *row.values())
                if common == 1:
                    return whole
        terms = {
            key: {i: {j: v // common for j, v in row.items()} for i, row in part.items()}
            for key, part in whole.terms.items()
        }
        below = {key: value // common for key, value in whole.below.items()}
        return Sparse(whole.shape, terms, below)

    def _one_polynomial(self) -> Sparse:
        """Return C·(g/q) with g/q in fewer terms where all entries are multiples of one g."""
        (key, first), *others = self.terms.items() or [((), {})]
        place = next(((i, j) for i, row in first.items() for j in row), None)
        if not others or len(self.below) == 1 or place is None:
            return self
        i, j = place
        shares = {k: part.get(i, {}).get(j, 0) for k, part in self.terms.items()}
        for k, part in others:
            if not shares[k] or part.keys() != first.keys():
                return self
            for row, values in first.items():
                scaled = {n: v * shares[k] for n, v in values.items()}
                if scaled != {n: v * shares[key] for n, v in part[row].items()}:
                    return self
        content = gcd(*shares.values())
        g = {k: v // content for k, v in shares.items()}
        factor = Ratio(g, self.below)  # C is over Z: g is primitive
        constant = {r: {n: v // g[key] for n, v in row.items()} for r, row in first.items()}
        terms = {
            k: {r: {n: v * share for n, v in row.items()} for r, row in constant.items()}
            for k, share in factor.top.items()
        }
        return Sparse(self.shape, terms, factor.below)

    def inner(self, other: Sparse) -> Ratio:
        """Return Σ self_ij other_ij."""
        if len(self.terms) * len(other.terms) > MOST_PAIRS:
            mine, theirs = self.entries(), other.entries()
            parts = (multiply(mine[at], theirs[at]) for at in mine.keys() & theirs.keys())
            return Ratio(reduce(add, parts, {}), multiply(self.below, other.below))
        total: Poly = {}
        for (x, a), (y, b) in product(self.terms.items(), other.terms.items()):
            key = tuple(map(int.__add__, x, y))
            for i, row in a.items():
                if other_row := b.get(i):
                    dot = sum([v * other_row[j] for j, v in row.items() if j in other_row])
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

    @property
    def written(self) -> set[int]:
        """The rows that are not zero."""
        return {i for rows in self.terms.values() for i, row in rows.items() if row}

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

    def gram(self) -> Packed:
        """Return AᵀA, equal rows of A multiplied once."""
        found: dict[int, list[Any]] = {}
        for key, rows in self.terms.items():
            for i, row in rows.items():
                found.setdefault(i, []).append((key, row))
        counts = Counter(map(tuple, found.values()))
        terms: Any = {}
        for n, line in enumerate(counts):
            for key, row in line:
                terms.setdefault(key, {})[n] = row
        shape = len(counts), self.shape[1]
        once = Packed(shape, terms, self.below, self.bound, self.size).sparse().reduced()
        weights = list(counts.values())
        weighted = {
            key: {n: {j: v * weights[n] for j, v in row.items()} for n, row in part.items()}
            for key, part in once.terms.items()
        }
        return Sparse(shape, weighted, once.below).flipped @ once.packed()

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
    factors = [
        _scaled(whole, b.of_size(size)) for whole, (_, _, b, _) in zip(wholes, parts, strict=True)
    ]
    shape = parts[0][1].shape[0], parts[0][2].shape[1]
    pairs = [(f, a, places) for f, (_, a, _, places) in zip(factors, parts, strict=True)]
    return Packed(shape, _multiplied(pairs, size, shape[1]), common, bound, size)


def _multiplied(parts: list[tuple[Any, Sparse, Any]], size: int, width: int) -> Any:
    """Return the terms of Σ left @ right, (right, left, places) the parts."""
    used = [(f, a.terms) for f, a, _ in parts if f and a.terms]
    sums = ([x + y for x, y in zip(_degrees(f), _degrees(a), strict=True)] for f, a in used)
    spans = [most + 1 for most in map(max, zip(*sums, strict=True))]
    if prod(spans) > DENSE * sum(len(f) + len(a.terms) for f, a, _ in parts):
        return _by_pairs(parts)
    return _by_slots(parts, spans, size, width)


def _degrees(terms: Any) -> list[int]:
    return [max(powers) for powers in zip(*terms, strict=True)]


def _by_pairs(parts: list[tuple[Any, Sparse, Any]]) -> Any:
    """Multiply monomial by monomial."""
    terms: Any = {}
    for right, left, places in parts:
        for (x, groups), (y, rows) in product(left.groups.items(), right.items()):
            found = terms.setdefault(_sum(x, y), {})
            for row, equal in groups:
                if value := sum([v * rows[k] for k, v in row.items() if k in rows]):
                    for i in equal if places is None else [places[i] for i in equal]:
                        found[i] = found.get(i, 0) + value
    return terms


def _by_slots(parts: list[tuple[Any, Sparse, Any]], spans: list[int], size: int, width: int) -> Any:
    """Multiply with the rows of all monomials side by side in one integer (Kronecker)."""
    strides = [8 * size * width * prod(spans[:n]) for n in range(len(spans))]
    total: dict[int, int] = {}
    for right, left, places in parts:
        merged: dict[int, int] = {}
        for y, rows in right.items():
            shift = sum(map(int.__mul__, y, strides))
            for k, row in rows.items():
                merged[k] = merged.get(k, 0) + (row << shift)
        for x, groups in left.groups.items():
            shift = sum(map(int.__mul__, x, strides))
            for row, equal in groups:
                if value := sum([v * merged[k] for k, v in row.items() if k in merged]) << shift:
                    for i in equal if places is None else [places[i] for i in equal]:
                        total[i] = total[i] + value if i in total else value
    return _parted(total, spans, size, width)


def _sum(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int.__add__, x, y))


def _parted(total: dict[int, int], spans: list[int], size: int, width: int) -> Any:
    """Return the rows of every monomial by itself."""
    keys = [key[::-1] for key in product(*map(range, reversed(spans)))]
    if len(keys) < 2:
        return {key: total for key in keys}
    whole, mask, length = _mask(size, width * len(keys)), _mask(size, width), size * width
    terms: Any = {}
    for i, row in total.items():
        if row:
            raw = ((row + whole) ^ whole).to_bytes(length * len(keys), "little")
            for n, key in enumerate(keys):
                slots = int.from_bytes(raw[n * length : (n + 1) * length], "little")
                if slots:
                    terms.setdefault(key, {})[i] = slots - ((slots & mask) << 1)
    return terms


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
    if len(whole) * len(m.terms) > MOST_PAIRS:
        rows = m.written
        diagonal = {key: {i: {i: factor} for i in rows} for key, factor in whole.items()}
        left = Sparse((m.shape[0], m.shape[0]), diagonal, m.below)
        return _multiplied([(m.terms, left, None)], m.size, m.shape[1])
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
