r"""Exact values and matrices for :mod:`symreln.verify_family`: the standard library alone.

Values are polynomials over products of the certificate's divisors, which are shown not to vanish;
nothing is ever divided by anything else. Matrices are the pairs (D, E) of
``symreln/families/algebra.py``, where their rules are derived.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

try:
    from symreln.errors import CertificateError
except ImportError:  # this file alone, without the package
    CertificateError = ValueError  # type: ignore[assignment,misc]

OTHERS = "*"
Poly = dict[tuple[int, ...], Any]
_TERM = re.compile(r"\s*([+-]?)\s*(\d+)?((?:\*?[A-Za-z_]\w*(?:\^\d+)?)*)", re.ASCII)
_POWER = re.compile(r"([A-Za-z_]\w*)(?:\^(\d+))?", re.ASCII)


def require(holds: object, path: str, needed: str) -> None:
    """Raise CertificateError that names the field unless something holds."""
    if not holds:
        msg = f"certificate, {path}: this needs to be {needed}, and is not"
        raise CertificateError(msg)


def poly(text: str, names: tuple[str, ...]) -> Poly:
    """Read a polynomial with whole coefficients."""
    total, place = Poly(), 0
    while place < len(text):
        found = _TERM.match(text, place)
        if found is None or found.end() == place or not (found[2] or found[3]):
            msg = f"no polynomial: {text[:60]!r}"
            raise ValueError(msg)
        place, exponents = found.end(), [0] * len(names)
        for name, power in _POWER.findall(found[3]):
            exponents[names.index(name)] += int(power or 1)
        value = int(found[2] or 1) * (-1 if found[1] == "-" else 1)
        key = tuple(exponents)
        require((value and key not in total) or text == "0", text[:60], "a sum of unlike terms")
        total[key] = value
    return {key: value for key, value in total.items() if value}


def plus(a: Poly, b: Poly) -> Poly:
    """Return a + b."""
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, 0) + value
    return {key: value for key, value in total.items() if value}


def times_poly(a: Poly, b: Poly) -> Poly:
    """Return a·b."""
    total = Poly()
    for (x, p), (y, q) in product(a.items(), b.items()):
        key = tuple(map(int.__add__, x, y))
        total[key] = total.get(key, 0) + p * q
    return {key: value for key, value in total.items() if value}


def quotient(a: Poly, b: Poly) -> Poly | None:
    """Return a/b, or None where it is no polynomial."""
    lead, found = max(b), Poly()
    while a:
        shift = tuple(map(int.__sub__, max(a), lead))
        if min(shift, default=0) < 0:
            return None
        found[shift] = _exact(Fraction(a[max(a)]) / b[lead])
        a = plus(a, times_poly({shift: -found[shift]}, b))
    return found


def _exact(value: Fraction) -> Any:
    return value if value.denominator > 1 else int(value)


class Ring:
    """The symbols and the divisors."""

    def __init__(self, names: tuple[str, ...], divisors: list[Poly]) -> None:
        self.names, self.divisors = names, divisors
        self.plain = (0,) * len(divisors)
        self.used: set[int] = set()

    def number(self, value: Any) -> Value:
        """Return a rational number as a value."""
        return Value(self, {(0,) * len(self.names): value} if value else {}, self.plain)

    def read(self, value: Any) -> Value:
        """Read a polynomial, or [polynomial, whole number, [[divisor, power], …]] below it."""
        if isinstance(value, str):
            return Value(self, poly(value, self.names), self.plain)
        text, whole, powers = value
        places = [place for place, _ in powers]
        good = places == sorted({*places}) and all(type(n) is int for p in powers for n in p)
        good = good and all(power > 0 for _, power in powers) and min(places, default=0) >= 0
        require(good and type(whole) is int and whole > 0, str(text)[:60], "a value")
        self.used.update(places)
        top = {key: _exact(Fraction(c, whole)) for key, c in poly(text, self.names).items()}
        below = dict(powers)
        return Value(self, top, tuple(below.get(n, 0) for n in range(len(self.divisors))))


class Value:
    """A polynomial over powers of the divisors."""

    __slots__ = ("below", "ring", "top")

    def __init__(self, ring: Ring, top: Poly, below: tuple[int, ...]) -> None:
        below = below if top else ring.plain
        for place in range(len(below)):
            while below[place] and (found := quotient(top, ring.divisors[place])) is not None:
                top, below = found, (*below[:place], below[place] - 1, *below[place + 1 :])
        self.ring, self.top, self.below = ring, top, below

    def __bool__(self) -> bool:
        return bool(self.top)

    def _over(self, below: tuple[int, ...]) -> Poly:
        top = self.top
        for divisor, wanted, have in zip(self.ring.divisors, below, self.below, strict=True):
            for _ in range(wanted - have):
                top = times_poly(top, divisor)
        return top

    def __add__(self, other: Value) -> Value:
        below = tuple(map(max, self.below, other.below))
        return Value(self.ring, plus(self._over(below), other._over(below)), below)

    def __mul__(self, other: Any) -> Value:
        if not isinstance(other, Value):
            return self * self.ring.number(other)
        below = tuple(map(int.__add__, self.below, other.below))
        return Value(self.ring, times_poly(self.top, other.top), below)

    def __sub__(self, other: Value) -> Value:
        return self + other * -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and not self - other

    __hash__ = None  # type: ignore[assignment]

    def at(self, name: str, number: int) -> Poly:
        """Return the numerator with a number in place of a symbol, whatever the others are."""
        place = self.ring.names.index(name)
        total = Poly()
        for key, value in self.top.items():
            total = plus(
                total, {(*key[:place], 0, *key[place + 1 :]): value * number ** key[place]}
            )
        return total


@dataclass(frozen=True)
class Kind:
    """A type of basis vector: special value or "*", group, squared length and 1/it."""

    base: int
    tag: str
    group: str
    weight: Value
    inverse: Value


@dataclass(frozen=True)
class Space:
    """Types of basis vectors over ``count`` exchangeable values."""

    kinds: tuple[Kind, ...]
    count: Value

    def refined(self, special: str) -> tuple[Space, list[int]]:
        """Return (the space with one value named, place of each type's old type)."""
        new = [(kind, place) for place, kind in enumerate(self.kinds)]
        new += [(_tagged(k, special), n) for n, k in enumerate(self.kinds) if k.tag == OTHERS]
        new.sort(key=lambda item: (item[0].base, item[0].tag == OTHERS, item[0].tag))
        count = self.count - self.count.ring.number(1)
        return Space(tuple(kind for kind, _ in new), count), [place for _, place in new]

    def coarsened(self, special: str) -> tuple[Space, list[tuple[int, int]]]:
        """Return (the space without a special value, places of the others and of the special)."""
        kept = [n for n, kind in enumerate(self.kinds) if kind.tag != special]
        named = {kind.base: n for n, kind in enumerate(self.kinds) if kind.tag == special}
        pairs = [(n, named[self.kinds[n].base] if self.indexed(n) else n) for n in kept]
        kinds = tuple(self.kinds[n] for n in kept)
        return Space(kinds, self.count + self.count.ring.number(1)), pairs

    def indexed(self, place: int) -> bool:
        """Whether a type has one vector a value."""
        return self.kinds[place].tag == OTHERS


def _tagged(kind: Kind, tag: str) -> Kind:
    return Kind(kind.base, tag, kind.group, kind.weight, kind.inverse)


Entries = dict[tuple[int, int], Value]


def _clean(entries: Entries) -> Entries:
    return {key: value for key, value in entries.items() if value}


def _add(total: Entries, key: tuple[int, int], value: Value) -> None:
    total[key] = total[key] + value if key in total else value


Sums = dict[tuple[int, int], dict[tuple[int, ...], Poly]]  # numerators by what is below them


def _dot(total: Sums, a: Entries, b: Entries) -> None:
    rows: dict[int, list[tuple[int, Value]]] = {}
    for (k, j), value in b.items():
        rows.setdefault(k, []).append((j, value))
    for (i, k), left in a.items():
        for j, right in rows.get(k, ()):
            below = tuple(map(int.__add__, left.below, right.below))
            into = total.setdefault((i, j), {}).setdefault(below, {})
            for (x, p), (y, q) in product(left.top.items(), right.top.items()):
                key = tuple(map(int.__add__, x, y))
                into[key] = into.get(key, 0) + p * q


def _collected(ring: Ring, sums: Sums) -> Entries:
    """Return sums of products as values: common factors are cancelled once a sum, at its end."""
    found = Entries()
    for key, parts in sums.items():
        values = [
            Value(ring, {e: c for e, c in top.items() if c}, below) for below, top in parts.items()
        ]
        found[key] = sum(values[1:], start=values[0])
    return found


def _number(count: Poly) -> Any:
    """Return N where it is a number, else 2: for all that is seen, as good as any from there on."""
    return 2 if any(any(key) for key in count) else sum(count.values())


def _seen(
    d: Entries, e: Entries, rows: Space, columns: Space, many: Any
) -> tuple[Entries, Entries]:
    """Return (D, E) without what N values do not show: D beside E for N = 1, indexed types for 0.

    For N < 0 two different values are missing, and there is nothing at all.
    """
    if many >= 2:
        return d, e
    total = dict(e) if many >= 0 else {}
    if many == 1:
        for key, value in d.items():
            _add(total, key, value)
        return {}, total
    plain = (k for k in total if not rows.indexed(k[0]) and not columns.indexed(k[1]))
    return {}, {key: total[key] for key in plain}


class Matrix:
    """D δ + E between two spaces; what N values do not show is left out, so that 0 is empty."""

    def __init__(self, rows: Space, columns: Space, d: Entries, e: Entries) -> None:
        d, e = _seen(d, e, rows, columns, _number(rows.count.top))
        self.rows, self.columns, self.d, self.e = rows, columns, _clean(d), _clean(e)

    def __bool__(self) -> bool:
        return bool(self.d or self.e)

    def __add__(self, other: Matrix) -> Matrix:
        d, e = dict(self.d), dict(self.e)
        for total, more in ((d, other.d), (e, other.e)):
            for key, value in more.items():
                _add(total, key, value)
        return Matrix(self.rows, self.columns, d, e)

    def vanishes(self, name: str, number: int) -> bool:
        """Whether the matrix is zero with a number in place of a symbol."""
        many = _number(self.rows.count.at(name, number))
        parts = _seen(self.d, self.e, self.rows, self.columns, many)
        return not any(value.at(name, number) for part in parts for value in part.values())

    def times(self, factor: Any) -> Matrix:
        """Return the matrix times a value."""
        d, e = ({key: v * factor for key, v in part.items()} for part in (self.d, self.e))
        return Matrix(self.rows, self.columns, d, e)

    def __matmul__(self, other: Matrix) -> Matrix:
        d, e = Sums(), Sums()
        count, inner, ring = self.columns.count, self.columns, self.columns.count.ring
        weighted = {(k, j): v * count if inner.indexed(k) else v for (k, j), v in other.e.items()}
        _dot(d, self.d, other.d)
        _dot(e, self.d, other.e)
        _dot(e, self.e, other.d)
        _dot(e, self.e, weighted)
        return Matrix(self.rows, other.columns, _collected(ring, d), _collected(ring, e))

    def adjoint(self) -> Matrix:
        """Return the adjoint for the squared lengths."""

        def flip(part: Entries) -> Entries:
            rows, columns = self.rows.kinds, self.columns.kinds
            return {(j, i): v * rows[i].weight * columns[j].inverse for (i, j), v in part.items()}

        return Matrix(self.columns, self.rows, flip(self.d), flip(self.e))

    def trace(self) -> Value:
        """Return the trace."""
        total = self.rows.count.ring.number(0)
        for (i, j), value in [*self.d.items(), *self.e.items()]:
            if i == j:
                total = total + (value * self.rows.count if self.rows.indexed(i) else value)
        return total

    def masked(self, rows: Any = None, columns: Any = None) -> Matrix:
        """Return the matrix with the types that fail a test set to zero."""

        def keep(part: Entries) -> Entries:
            return {
                (i, j): v
                for (i, j), v in part.items()
                if (rows is None or rows(self.rows.kinds[i]))
                and (columns is None or columns(self.columns.kinds[j]))
            }

        return Matrix(self.rows, self.columns, keep(self.d), keep(self.e))

    def rows_only(self, places: list[int]) -> Matrix:
        """Return some of the rows."""
        where = {place: n for n, place in enumerate(places)}
        rows = Space(tuple(self.rows.kinds[n] for n in places), self.rows.count)
        parts = (
            {(where[i], j): v for (i, j), v in p.items() if i in where} for p in (self.d, self.e)
        )
        return Matrix(rows, self.columns, *parts)

    def renamed(self, old: str, new: str) -> Matrix:
        """Return the matrix with another name for a special value."""

        def of(space: Space) -> Space:
            kinds = (_tagged(k, new) if k.tag == old else k for k in space.kinds)
            return Space(tuple(kinds), space.count)

        return Matrix(of(self.rows), of(self.columns), self.d, self.e)

    def refined(self, special: str) -> Matrix:
        """Return the same matrix with one value named."""
        (rows, row_of), (columns, column_of) = (
            self.rows.refined(special),
            self.columns.refined(special),
        )
        d, e = Entries(), Entries()
        for (i, old_i), (j, old_j) in product(enumerate(row_of), enumerate(column_of)):
            tags = rows.kinds[i].tag, columns.kinds[j].tag
            if (old_i, old_j) in self.e:
                _add(e, (i, j), self.e[old_i, old_j])
            if (old_i, old_j) in self.d and tags in ((OTHERS, OTHERS), (special, special)):
                _add(d if tags[0] == OTHERS else e, (i, j), self.d[old_i, old_j])
        return Matrix(rows, columns, d, e)

    def summed(self, special: str) -> Matrix:
        """Return the sum over all choices of the special value."""
        (rows, row_of), (columns, column_of) = (
            self.rows.coarsened(special),
            self.columns.coarsened(special),
        )
        d, e, count, zero = Entries(), Entries(), rows.count, rows.count.ring.number(0)
        two, one = (rows.count.ring.number(n) for n in (2, 1))
        for (i, (t, s)), (j, (v, w)) in product(enumerate(row_of), enumerate(column_of)):
            others, same = self.e.get((t, v), zero), self.d.get((t, v), zero)
            unequal = self.e.get((s, v), zero) + self.e.get((t, w), zero)
            unequal = unequal + others * (count - two)
            e[i, j] = unequal
            if rows.indexed(i) and columns.indexed(j):
                equal = self.e.get((s, w), zero) + (same + others) * (count - one)
                d[i, j] = equal - unequal
        return Matrix(rows, columns, d, e)


def identity(space: Space) -> Matrix:
    """Return the identity."""
    one = space.count.ring.number(1)
    d = {(n, n): one for n in range(len(space.kinds)) if space.indexed(n)}
    e = {(n, n): one for n in range(len(space.kinds)) if not space.indexed(n)}
    return Matrix(space, space, d, e)
