r"""Every size at once: ranges of symbols, and matrices over a number N of exchangeable values.

A space has basis vectors of two kinds: plain ones, and indexed ones (tag "*"), one for every value
k = 1…N. A matrix that commutes with all permutations of the values has entries
:math:`D_{ab}\delta_{kl} + E_{ab}`, with D only where both are indexed, so it is a pair, and

.. math:: (D_1, E_1)(D_2, E_2) = (D_1 D_2,\; D_1 E_2 + E_1 D_2 + E_1 W E_2),

with W = N on indexed inner vectors and 1 on plain ones: identities of polynomials in N, true for
N = 0, 1, 2, …. A gate that treats one value apart leaves N - 1 exchangeable ones
(:meth:`Pair.refined`); :meth:`Pair.summed` adds up over the choice of that value. Where N is a
number below 2 a pair says more than the matrix has entries, and what is not seen is left out, so
that a matrix is zero exactly where its pair is: an empty sector is found to be empty.

All that is read has denominators which are products of the listed ``divisors``, and nothing is ever
divided by anything else: an identity holds at all values of the symbols at which no divisor is 0.
Eigenvalues that are claimed not to be 0 and numbers of samples that a gate leaves open are
products of divisors too, unless the signs of their coefficients show that they never vanish in the
range. Every divisor is shown never to vanish in the same way, or the certificate lists all values
at which it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from math import isqrt
from types import SimpleNamespace
from typing import Any, Final

from .matrices import Matrix, combined, products
from .numbers import Poly, Ratio, add, multiply, quotient, require
from .reading import Given, Reader

OTHERS: Final = "*"
#: A least size; and the lowest coefficient of a polynomial whose whole roots are found.
MOST_LEAST: Final = 10**6
MOST_LOWEST: Final = 10**10
#: Power of a size in what is shown never to vanish.
MOST_SIZE_POWER: Final = 100


class Range(Reader):
    """The symbols and what they run over; the divisors, and where they vanish.

    Attributes:
        minimum: Least value of every size.
        copies: Symbol of the number of copies of a tree's wavelets, 1, 2, 4, … n/2; or "".
        items: n: a size or a number.
        excepted: (size, value) at which some divisor vanishes.
    """

    def __init__(self, v: Any, seed: int) -> None:
        super().__init__(v.symbols, seed)
        items, self.minimum, self.copies = v.items.text(), v.minimum.value, v.copies.text()
        self.items: str | int = int(items) if items.isdigit() else items
        good = isinstance(self.minimum, dict) and {*self.minimum} <= {*self.names}
        good = good and (self.items in self.minimum or (items.isdigit() and items[0] != "0"))
        good = good and all(type(n) is int and 0 < n <= MOST_LEAST for n in self.minimum.values())
        free = {*self.names} - {*self.minimum}
        good = good and (not self.copies or self.copies in free)
        v.minimum.require(good, "one number a size")
        at = v.at.value
        good = isinstance(at, dict) and {*at} == {*self.minimum}
        good = good and all(type(n) is int and n >= self.minimum[name] for name, n in at.items())
        v.at.require(good, "a value in range for every size")
        self.excepted: set[tuple[str, int]] = set()
        self.divisors = [self._divisor(item) for item in v.divisors.items(least=0)]

    def _divisor(self, given: Given) -> Poly:
        v, self.where = given.take("polynomial symbol values"), given.path
        found = self.poly(v.polynomial.value)
        keys = [key for part in self.coefficients(found) for key in part]
        met = {n for key in keys for n, e in zip(self.names, key, strict=True) if e}
        good = any(any(key) for key in found) and found[max(found)] > 0
        given.require(good, "no constant, with a positive leading coefficient")
        if self.never_zero(found):
            v.symbol.shows(None, "null, because it never vanishes")
            v.values.shows(None, "null, because it never vanishes")
        elif len(met) == 1 and (met <= {*self.minimum} or self.items not in self.names):
            v.symbol.shows(*met, "the one size that occurs")
            zeros = self._zeros(found, v.symbol.value)
            v.values.shows(zeros, "all zeros in range")
            self.excepted |= {(v.symbol.value, n) for n in zeros}
        else:
            v.symbol.shows("", "empty: of unknown zeros")
            v.values.shows([], "empty: of unknown zeros")
        return found

    def coefficients(self, polynomial: Poly) -> list[Poly]:
        """Return the coefficients of the monomials in the parameters of the data."""
        sizes = [name in self.minimum or name == self.copies for name in self.names]
        parts: dict[tuple[int, ...], Poly] = {}
        for key, value in polynomial.items():
            outer = tuple(0 if size else e for e, size in zip(key, sizes, strict=True))
            inner = tuple(e if size else 0 for e, size in zip(key, sizes, strict=True))
            parts.setdefault(outer, {})[inner] = value
        return list(parts.values())

    def _shift(self, name: str) -> Poly:
        """Return a symbol as its least value plus something that is not negative."""
        unit = {n: tuple(int(m == n) for m in self.names) for n in self.names}
        if name == self.copies:
            return {unit[name]: 1, self.unit: 1}
        if self.copies and name == self.items:
            return {unit[name]: 1, unit[self.copies]: 2, self.unit: 2}
        return {unit[name]: 1, **({self.unit: n} if (n := self.minimum.get(name)) else {})}

    def never_zero(self, polynomial: Poly) -> bool:
        """Whether a polynomial is nowhere 0 for generic parameters of the data.

        It is not where some coefficient, shifted, has terms of one sign, the constant one included.
        """
        return any(self._one_sign(part) for part in self.coefficients(polynomial))

    def positive(self, number: Ratio) -> bool:
        """Whether a number without parameters of the data is above 0 for all sizes in range."""
        place = self.names.index(self.copies) if self.copies else -1
        signs = []
        for polynomial in (number.top, number.below):
            met = {n for key in polynomial for n, e in enumerate(key) if e}
            if met == {place} and isinstance(self.items, int):
                values = {
                    sum(v * u ** k[place] for k, v in polynomial.items()) for u in self.copied
                }
                signs.append(all(x > 0 for x in values) - all(x < 0 for x in values))
            else:
                signs.append(self._one_sign(polynomial))
        return signs[0] * signs[1] > 0

    def _one_sign(self, polynomial: Poly) -> int:
        """Return the sign that all terms have, the constant one included, once shifted; else 0."""
        total: Poly = {}
        for key, value in polynomial.items():
            term: Poly = {self.unit: value}
            require(max(key, default=0) <= MOST_SIZE_POWER, self.where, "of lower powers of sizes")
            for name, exponent in zip(self.names, key, strict=True):
                for _ in range(exponent):
                    term = multiply(term, self._shift(name))
            total = add(total, term)
        constant = total.get(self.unit, 0)
        same = constant and all((value > 0) == (constant > 0) for value in total.values())
        return (1 if constant > 0 else -1) if same else 0

    def require_nonzero(self, number: Ratio, given: Given) -> None:
        """Check that a number vanishes only where divisors do."""
        given.require(number, "a number other than 0")
        top = self.numerator(number)
        if not self.never_zero(top):
            self.split(top, given.path)

    def numerator(self, number: Ratio) -> Poly:
        """Return a number's numerator without the divisors that are below it too."""
        return self.lowest(self.assembled({(0, 0): number}, (1, 1))).entries()[0, 0]

    def _zeros(self, polynomial: Poly, name: str) -> list[int]:
        """Return all values of a size at which the coefficients, in that size alone, vanish."""
        place = self.names.index(name)
        coefficients = self.coefficients(polynomial)
        parts = [{key[place]: value for key, value in c.items()} for c in coefficients]
        return self._whole_zeros(parts, name, "divisors")

    def common_zeros(self, polynomials: list[Poly], name: str) -> list[int]:
        """Return all values of a size at which all of these vanish, whatever the others are."""
        place = self.names.index(name)
        parts: dict[tuple[int, ...], dict[int, int]] = {}
        for n, polynomial in enumerate(polynomials):
            for key, value in polynomial.items():
                rest = (n, *key[:place], *key[place + 1 :])
                parts.setdefault(rest, {})[key[place]] = value
        return self._whole_zeros([*parts.values()], name, "stages")

    def _whole_zeros(self, parts: list[dict[int, int]], name: str, path: str) -> list[int]:
        """Return the values of a size at which polynomials in it, by powers, are all 0."""
        if name == self.copies:
            tried = self.copied
        else:  # a whole root divides the lowest coefficient, and sizes are above 0
            lowest = min(abs(part[min(part)]) for part in parts)
            require(lowest <= MOST_LOWEST, path, "of polynomials with a small lowest coefficient")
            low = [n for n in range(1, isqrt(lowest) + 1) if lowest % n == 0]
            tried = sorted({n for k in low for n in (k, lowest // k) if n >= self.minimum[name]})
        return [n for n in tried if not any(sum(v * n**e for e, v in p.items()) for p in parts)]

    @property
    def copied(self) -> list[int]:
        """The numbers of copies where the number of items is one."""
        return [2**n for n in range(int(self.items).bit_length() - 1)]

    def allows(self, name: str, number: int) -> bool:
        """Whether a size takes a value: at least its least one, a power of 2 in trees."""
        is_tree = bool(self.copies) and name == self.items
        good = number >= self.minimum[name] and not (is_tree and number & (number - 1))
        return good and (name, number) not in self.excepted

    def with_value(self, polynomial: Poly, name: str, number: int) -> Poly:
        """Return a polynomial with a number in place of a symbol."""
        place = self.names.index(name)
        total: Poly = {}
        for key, value in polynomial.items():
            rest = (*key[:place], 0, *key[place + 1 :])
            total = add(total, {rest: value * number ** key[place]})
        return total

    def lowest(self, matrix: Matrix) -> Matrix:
        """Return the same matrix with divisors cancelled that all entries share."""
        found = matrix.reduced()
        below, entries = found.below, found.entries()
        for factor in self.divisors or ():
            while (rest := quotient(below, factor)) is not None:
                tops = {at: quotient(top, factor) for at, top in entries.items()}
                if not all(tops.values()):
                    break
                below, entries = rest, {at: top for at, top in tops.items() if top}
        if below is found.below:
            return found
        terms: Any = {}
        for (i, j), top in entries.items():
            for key, value in top.items():
                terms.setdefault(key, {}).setdefault(i, {})[j] = value
        return Matrix(found.shape, terms, below).reduced()

    def words(self, v: Any) -> str:
        """Return for which sizes and parameters everything is proven."""
        tree = self.items if self.copies else ""
        sizes = [
            f"{n} a power of 2, at least {m}" if n == tree else f"{n} >= {m}"
            for n, m in self.minimum.items()
        ]
        excepted = [
            f"{d['symbol']} = {', '.join(map(str, d['values']))}"
            if d["symbol"]
            else f"where {_plain(d['polynomial'])} = 0"
            for d in v.divisors.value
            if d["values"] or d["symbol"] == ""
        ]
        generic = [n for n in self.names if n not in self.minimum and n != self.copies]
        parts = [f"for {' and '.join(sizes)}"]
        parts += [f"except {' or '.join(excepted)}"] * bool(excepted)
        parts += [f"for generic {', '.join(generic)}"] * bool(generic)
        return ", ".join(parts)


def _plain(polynomial: str) -> str:
    """Return a polynomial as it is written by hand."""
    return re.sub(r"\b1\*|\^1\b", "", polynomial).replace("+ -", "- ")


# -- spaces and pairs ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A type of basis vector: place in the space as read, special value or "*", group, lengths."""

    base: int
    tag: str
    group: str
    weight: Ratio
    inverse: Ratio


class Space:
    """Types of basis vectors over ``count`` exchangeable values."""

    def __init__(self, kinds: list[Kind], count: Ratio, sizes: Range) -> None:
        self.kinds, self.count, self.sizes = kinds, count, sizes
        self.indexed = [n for n, kind in enumerate(kinds) if kind.tag == OTHERS]

    @property
    def few(self) -> int:
        """N where it is a number, else 2: for all that is seen, as good as any from there on."""
        return _number_in(self.count.top)

    def diagonal(self, values: list[Ratio]) -> Matrix:
        """Return a diagonal matrix."""
        size = len(self.kinds)
        entries = {(n, n): value for n, value in enumerate(values) if value}
        return self.sizes.assembled(entries, (size, size))

    @cached_property
    def counts(self) -> Matrix:
        """W: N on indexed types and 1 on plain ones."""
        one = self.sizes.constant(1)
        return self.diagonal([self.count if k.tag == OTHERS else one for k in self.kinds])

    @cached_property
    def weights(self) -> Matrix:
        """The squared lengths."""
        return self.diagonal([kind.weight for kind in self.kinds])

    @cached_property
    def inverse_weights(self) -> Matrix:
        """One over the squared lengths."""
        return self.diagonal([kind.inverse for kind in self.kinds])

    def refined(self, special: str) -> tuple[Space, list[int]]:
        """Return (the space with one value named, place of each type's old type)."""
        new = [(kind, place) for place, kind in enumerate(self.kinds)]
        new += [(replace(self.kinds[n], tag=special), n) for n in self.indexed]
        new.sort(key=lambda item: (item[0].base, item[0].tag == OTHERS, item[0].tag))
        count = self.count - self.sizes.constant(1)
        return Space([kind for kind, _ in new], count, self.sizes), [place for _, place in new]

    def coarsened(self, special: str) -> tuple[Space, list[int], list[int]]:
        """Return (the space without a special value, places of the others, of the special)."""
        kept = [n for n, kind in enumerate(self.kinds) if kind.tag != special]
        named = {kind.base: n for n, kind in enumerate(self.kinds) if kind.tag == special}
        own = [named[self.kinds[n].base] if n in self.indexed else n for n in kept]
        count = self.count + self.sizes.constant(1)
        return Space([self.kinds[n] for n in kept], count, self.sizes), kept, own

    def tagged(self, tag: str) -> list[int]:
        """Return the places of types with a tag."""
        return [n for n, kind in enumerate(self.kinds) if kind.tag == tag]


def _number_in(count: Poly) -> int:
    """Return a polynomial's value where it is a number, else 2."""
    return 2 if any(any(key) for key in count) else sum(count.values())


def _kept(matrix: Matrix, rows: Any, columns: Any) -> Matrix:
    """Return a matrix without all other rows and columns, in place."""
    return matrix.moved({n: n for n in rows}, {n: n for n in columns}, matrix.shape)


def _seen(d: Matrix, e: Matrix, rows: Space, columns: Space, many: int) -> tuple[Matrix, Matrix]:
    """Return (D, E) without what N values do not show: D beside E for N = 1, indexed types for 0.

    For N < 0 two different values are missing, and there is nothing at all.
    """
    if many >= 2:
        return d, e
    nothing = Matrix(d.shape, {}, rows.sizes.one)
    if many == 1:
        return nothing, combined([(d.one, d), (d.one, e)])
    plain = (
        [{*range(len(s.kinds))} - {*s.indexed} for s in (rows, columns)] if many == 0 else [(), ()]
    )
    return nothing, _kept(e, *plain)


class Pair:
    """D δ + E between two spaces; what N values do not show is left out, so that 0 is empty."""

    def __init__(self, rows: Space, columns: Space, d: Matrix, e: Matrix) -> None:
        self.rows, self.columns, self.sizes = rows, columns, rows.sizes
        self.d, self.e = map(self.sizes.lowest, _seen(d, e, rows, columns, rows.few))

    def __bool__(self) -> bool:
        return bool(self.d) or bool(self.e)

    def _like(self, d: Matrix, e: Matrix) -> Pair:
        return Pair(self.rows, self.columns, d, e)

    def __add__(self, other: Pair) -> Pair:
        one = self.sizes.constant(1)
        both = zip((self.d, self.e), (other.d, other.e), strict=True)
        d, e = (combined([(one, x), (one, y)]) for x, y in both)
        return self._like(d, e)

    def __sub__(self, other: Pair) -> Pair:
        return self + other.times(-1)

    def times(self, factor: Ratio | int) -> Pair:
        """Return the pair times a number."""
        factor = self.sizes.constant(factor) if isinstance(factor, int) else factor
        return self._like(combined([(factor, self.d)]), combined([(factor, self.e)]))

    def __matmul__(self, other: Pair) -> Pair:
        one, weighted = self.sizes.constant(1), self.columns.counts @ other.e
        e = products(
            [
                (one, self.d, other.e, None),
                (one, self.e, other.d, None),
                (one, self.e, weighted, None),
            ]
        )
        return Pair(self.rows, other.columns, self.d @ other.d, e)

    def adjoint(self) -> Pair:
        """Return the adjoint for the squared lengths."""
        before, after = self.columns.inverse_weights, self.rows.weights
        d, e = (before @ part.T @ after for part in (self.d, self.e))
        return Pair(self.columns, self.rows, d, e)

    def trace(self) -> Ratio:
        """Return the trace."""
        total = self.sizes.constant(0)
        for (i, j), value in [*self.d.ratios().items(), *self.e.ratios().items()]:
            if i == j:
                total = total + (value * self.rows.count if i in self.rows.indexed else value)
        return total

    def masked(self, rows: Any = None, columns: Any = None) -> Pair:
        """Return the pair with the types that fail a test set to zero."""
        kept = [
            [n for n, kind in enumerate(space.kinds) if test is None or test(kind)]
            for space, test in ((self.rows, rows), (self.columns, columns))
        ]
        return self._like(_kept(self.d, *kept), _kept(self.e, *kept))

    def rows_only(self, places: list[int]) -> Pair:
        """Return some of the rows."""
        rows = Space([self.rows.kinds[n] for n in places], self.rows.count, self.sizes)
        every = [*range(len(self.columns.kinds))]
        return Pair(rows, self.columns, *(m.gathered(places, every) for m in (self.d, self.e)))

    def renamed(self, old: str, new: str) -> Pair:
        """Return the pair with another name for a special value."""
        rows, columns = (
            Space(
                [replace(k, tag=new) if k.tag == old else k for k in space.kinds],
                space.count,
                self.sizes,
            )
            for space in (self.rows, self.columns)
        )
        return Pair(rows, columns, self.d, self.e)

    def refined(self, special: str) -> Pair:
        """Return the same matrix with one value named."""
        rows, row_of = self.rows.refined(special)
        columns, column_of = self.columns.refined(special)
        d, e = (part.gathered(row_of, column_of) for part in (self.d, self.e))
        one = self.sizes.constant(1)
        # At equal values both D and E count: for the special value that is a plain entry.
        named = _kept(d, rows.tagged(special), columns.tagged(special))
        others = _kept(d, rows.indexed, columns.indexed)
        return Pair(rows, columns, others, combined([(one, e), (one, named)]))

    def summed(self, special: str) -> Pair:
        """Return the sum over all choices of the special value; N is then one more.

        Equal values get the entry at the special value once and that of two equal others N - 1
        times; unequal ones get each of them as the special one once, and neither N - 2 times.
        """
        rows, row_others, row_own = self.rows.coarsened(special)
        columns, others, own = self.columns.coarsened(special)
        one, count = self.sizes.constant(1), rows.count
        between = self.e.gathered(row_others, others)
        left, right = self.e.gathered(row_own, others), self.e.gathered(row_others, own)
        unequal = [(one, left), (one, right), (count - one * 2, between)]
        equal = [(one, self.e.gathered(row_own, own)), (count - one, between)]
        equal += [(count - one, self.d.gathered(row_others, others))]
        d = combined([*equal, *((factor * -1, part) for factor, part in unequal)])
        return Pair(rows, columns, _kept(d, rows.indexed, columns.indexed), combined(unequal))

    def numerators(self) -> list[Poly]:
        """Return the entries' numerators in lowest terms."""
        numbers = [*self.d.ratios().values(), *self.e.ratios().values()]
        return [self.sizes.numerator(number) for number in numbers]

    def vanishes(self, name: str, number: int) -> bool:
        """Whether the matrix is zero with a number in place of a symbol, no divisor being 0."""
        many = _number_in(self.sizes.with_value(self.rows.count.top, name, number))
        parts = _seen(self.d, self.e, self.rows, self.columns, many)
        tops = (top for part in parts for top in part.entries().values())
        return not any(self.sizes.with_value(top, name, number) for top in tops)


def identity(space: Space) -> Pair:
    """Return the identity."""
    one, zero = space.sizes.constant(1), space.sizes.constant(0)
    kinds = [kind.tag == OTHERS for kind in space.kinds]
    d, e = (space.diagonal([one if k == own else zero for k in kinds]) for own in (True, False))
    return Pair(space, space, d, e)


# -- the dataset -----------------------------------------------------------------------------------


@dataclass
class Sector:
    """One invariant part of the dataset, with as many copies as ``multiplicity`` says."""

    name: str
    multiplicity: Ratio
    inputs: Pair
    targets: Pair


class Dataset:
    """X and Y for every size, and what pathways see of them."""

    def __init__(self, v: Any, sizes: Range) -> None:
        self.sizes = sizes
        self.samples, self.per_sample = sizes.ratio(v.samples), sizes.ratio(v.per_sample)
        good = self.samples * self.per_sample == sizes.constant(1)
        v.per_sample.require(good, "1/samples")
        self.count = sizes.ratio(v.count)
        number = self.count.top.get(sizes.unit, 0) if self.count.top.keys() <= {sizes.unit} else 0
        symbol = next((n for n in sizes.minimum if v.count.value == f"1*{n}^1"), "")
        v.count.require(symbol or number > 0, "a size or a number from 1")
        v.minimum.require({*sizes.minimum} <= {symbol, sizes.items}, "of sizes that occur")
        self.sectors = [self._sector(s) for s in v.sectors.items()]
        self._tree(v)
        self.pathways = [self._pathway(p) for p in v.pathways.items()]

    def _space(self, given: Given) -> Space:
        kinds = []
        for base, item in enumerate(given.items()):
            group, tag, *lengths = item.items(4)
            item.require(tag.value in ("", OTHERS), "group and tag")
            weight, inverse = map(self.sizes.ratio, lengths)
            item.require(weight * inverse == self.sizes.constant(1), "weight and 1/weight")
            item.require(self.sizes.positive(weight), "a squared length above 0")
            kinds.append(Kind(base, tag.value, group.text(), weight, inverse))
        return Space(kinds, self.count, self.sizes)

    def pair(self, given: Given, rows: Space, columns: Space) -> Pair:
        """Read a matrix between two spaces: D between indexed types, E, and nothing unseen."""
        v, shape = given.take("d e"), (len(rows.kinds), len(columns.kinds))
        d, e = (self.sizes.matrix(part, *shape) for part in (v.d, v.e))
        good = all(i in rows.indexed and j in columns.indexed for i, j in d.entries())
        v.d.require(good, "between indexed types")
        found = Pair(rows, columns, d, e)
        good = all(
            x.entries().keys() == y.entries().keys() for x, y in ((found.d, d), (found.e, e))
        )
        given.require(good, "of entries that are seen at this number of values")
        return found

    def _sector(self, given: Given) -> Sector:
        v = given.take("name multiplicity inputs samples outputs x y")
        inputs, samples, outputs = map(self._space, (v.inputs, v.samples, v.outputs))
        good = {kind.group for kind in samples.kinds} == {"samples"}
        v.samples.require(good, "of the group samples")
        many = self.sizes.ratio(v.multiplicity)
        x, y = self.pair(v.x, inputs, samples), self.pair(v.y, outputs, samples)
        for matrix in (x, y):
            places = [*matrix.d.entries(), *matrix.e.entries()]
            rows, columns = ({key[n] for key in places} for n in (0, 1))
            kinds = matrix.rows.kinds
            idle = {*range(len(kinds))} - rows
            if matrix is x:  # a group of inputs may be 0 as a whole
                used = {kinds[n].group for n in rows}
                idle = {n for n in idle if kinds[n].group in used}
            good = not idle and columns == {*range(len(matrix.columns.kinds))}
            given.require(good, "without rows and columns that are zero")
        return Sector(v.name.text(), many, x, y)

    def _pathway(self, given: Given) -> Any:
        v = given.take("name each gate inputs outputs")
        kinds = self.sectors[0].inputs.columns.kinds
        v.each.require(type(v.each.value) is bool, "true or false")
        pathway = SimpleNamespace(**{**given.value, "name": v.name.text()})
        for pair in v.gate.items(len(kinds)):
            pair.items(2)
            own, others = pair.integers(1)
            pair.require(pathway.each or own == others, "a gate for every type of sample")
        for groups, spaces in (
            (v.inputs, [s.inputs.rows for s in self.sectors]),
            (v.outputs, [s.targets.rows for s in self.sectors]),
        ):
            known = {kind.group for space in spaces for kind in space.kinds}
            known |= {f"{group}:own" for group in known} if pathway.each else set()
            shown = groups.value
            good = shown == sorted({*shown}) and {*shown} <= known and shown
            groups.require(good, "names of groups")
        one, opened = self.sizes.constant(1), self.sizes.constant(0)
        for kind, (own, others) in zip(kinds, pathway.gate, strict=True):
            indexed = kind.tag == OTHERS
            opened = opened + (one * own + (self.count - one) * others if indexed else one * others)
        self.sizes.require_nonzero(opened, v.gate)
        return pathway

    def _tree(self, v: Any) -> None:
        """Check the eigenvalues of the tree's features by induction, and its use."""
        sizes, one = self.sizes, self.sizes.constant(1)
        many = [sector.multiplicity for sector in self.sectors]
        # A tree's vectors: the constant one and u wavelets for every u = 1, 2, 4, … n/2.
        n = sizes.symbol(sizes.items) if isinstance(sizes.items, str) else one * sizes.items
        own = one * len(self.sectors[0].targets.columns.kinds)
        good = self.samples == self.count * (n if v.tree.there else own)
        v.samples.require(good, "one an item and context")
        if not v.tree.there:
            v.sectors.require(many == [one] and not sizes.copies, "one, of multiplicity 1")
            return
        t = v.tree.take("root wavelets_times_u")
        lemma = Reader(Given(["n", "u"], v.tree.path))
        root, wavelets = lemma.poly(t.root.value), lemma.poly(t.wavelets_times_u.value)
        half = _scaled(root, Fraction(1, 2))
        # H(n)ᵀH(n) = 1 1ᵀ + two copies of H(n/2)ᵀH(n/2); u·tau is stored for the wavelets.
        good = root == add(half, {(1, 0): 1}) and sum(root.values()) == 1
        good = good and not any(u for _, u in root)
        ones = [(m, 0) for m, _ in wavelets]
        at_one = {key: sum(c for (m, _), c in wavelets.items() if m == key[0]) for key in ones}
        good = good and {k: c for k, c in at_one.items() if c} == half
        good = good and wavelets == {k: 2 * c for k, c in _scaled(wavelets, Fraction(1, 2)).items()}
        v.tree.require(good, "eigenvalues by induction on the tree")
        copies = sizes.symbol(sizes.copies)
        least = sizes.items if isinstance(sizes.items, int) else sizes.minimum[sizes.items]
        good = least >= 2 and least & (least - 1) == 0
        v.minimum.require(good, "a power of 2 for the items of a tree, which only these are")
        v.sectors.require(many == [one, copies], "two, of multiplicities 1 and u")
        for sector, length, polynomial, times in zip(
            self.sectors, (n, one), (root, wavelets), (one, copies), strict=True
        ):
            total = sizes.constant(0)
            for (a, b), value in polynomial.items():
                total = total + reduce(Ratio.__mul__, [n] * a + [copies] * b, one * value)
            v.tree.require(
                self._is_tree(sector, length, times, length * total),
                f"of sector {sector.name}: one item vector of the tree and its features",
            )

    def _is_tree(self, sector: Sector, length: Ratio, times: Ratio, features: Ratio) -> bool:
        """Whether X and Y are those of an item vector w and of its features H w.

        Squared lengths are |w|² and, ``times`` that of H w, ``features``; a context's input may
        be anything on w.
        """
        one, x, y = self.sizes.constant(1), sector.inputs, sector.targets
        spaces = (x.columns, x.rows, y.rows)
        found = [[(kind.group, kind.tag) for kind in space.kinds] for space in spaces]
        inputs = [("items", ""), ("contexts", OTHERS)][: len(found[1])]
        good = found == [[("samples", OTHERS)], inputs, [("common", ""), ("own", OTHERS)]]
        good = good and all(space.kinds[0].weight == length for space in spaces[:2])
        good = good and all(kind.weight == one for kind in x.rows.kinds[1:])
        good = good and all(kind.weight * times == features for kind in y.rows.kinds)
        own = {at: value for m in (x.d, x.e) for at, value in m.ratios().items() if at == (1, 0)}
        for pair, d in ((x, own), (y, {(1, 0): one})):
            shape = len(pair.rows.kinds), len(pair.columns.kinds)
            parts = (self.sizes.assembled(entries, shape) for entries in (d, {(0, 0): one}))
            good = good and not pair - Pair(pair.rows, pair.columns, *parts)
        return good


def _scaled(polynomial: Poly, factor: Fraction) -> Any:
    """Return the polynomial at (factor·n, factor·u)."""
    return {key: value * factor ** sum(key) for key, value in polynomial.items()}
