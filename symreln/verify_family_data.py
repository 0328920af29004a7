"""The dataset of a family's certificate, and where its divisors vanish: standard library alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

try:
    from symreln.verify_family_algebra import (
        OTHERS,
        Kind,
        Matrix,
        Poly,
        Ring,
        Space,
        Value,
        plus,
        poly,
        require,
        times_poly,
    )
except ImportError:  # these files alone, without the package
    from verify_family_algebra import (  # type: ignore[import-not-found,no-redef]
        OTHERS,
        Kind,
        Matrix,
        Poly,
        Ring,
        Space,
        Value,
        plus,
        poly,
        require,
        times_poly,
    )

MOST_ROOTS = 10**6


def take(value: Any, path: str, keys: str) -> list[Any]:
    """Return the values of exactly these keys."""
    good = isinstance(value, dict) and sorted(value) == sorted(keys.split())
    require(good, path, f"an object with the keys {keys}")
    return [value[key] for key in keys.split()]


@dataclass
class Range:
    """What the symbols run over."""

    names: tuple[str, ...]
    minimum: dict[str, int]
    copies: str
    items: str | int

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
        unit = {n: tuple(int(m == n) for m in self.names) for n in self.names}
        zero = (0,) * len(self.names)
        if name == self.copies:
            return {unit[name]: 1, zero: 1}
        if self.copies and name == self.items:
            return {unit[name]: 1, unit[self.copies]: 2, zero: 2}
        return {unit[name]: 1, **({zero: n} if (n := self.minimum.get(name)) else {})}

    def never_zero(self, polynomial: Poly) -> bool:
        """Whether all coefficients have one sign, that of the constant one, once shifted."""
        zero = (0,) * len(self.names)
        total = Poly()
        for key, value in polynomial.items():
            term: Poly = {zero: value}
            for name, power in zip(self.names, key, strict=True):
                for _ in range(power):
                    term = times_poly(term, self._shift(name))
            total = plus(total, term)
        constant = total.get(zero, 0)
        return bool(constant) and all((value > 0) == (constant > 0) for value in total.values())

    def zeros(self, polynomial: Poly, name: str) -> list[int]:
        """Return all values of a size at which the coefficients, in that size alone, vanish."""
        place = self.names.index(name)
        parts = [
            {key[place]: value for key, value in c.items()} for c in self.coefficients(polynomial)
        ]
        low = min(min(part) for part in parts)
        bound = abs(parts[0][min(parts[0])])  # a root other than 0 divides the lowest coefficient
        require(bound <= MOST_ROOTS, "divisors", "a polynomial with a small lowest coefficient")
        if name == self.copies:
            tried = [2**n for n in range(int(self.items).bit_length() - 1)]
        else:
            least = self.minimum[name]
            tried = ([0] if low and least <= 0 else []) + [*range(max(1, least), bound + 1)]
        return [n for n in tried if not any(sum(v * n**e for e, v in p.items()) for p in parts)]

    def common(self, polynomials: list[Poly], name: str) -> list[int]:
        """Return all values of a size at which all of these vanish, whatever the others are."""
        place = self.names.index(name)
        parts: dict[tuple[int, ...], dict[int, Any]] = {}
        for n, polynomial in enumerate(polynomials):
            for key, value in polynomial.items():
                rest = (n, *key[:place], *key[place + 1 :])
                parts.setdefault(rest, {})[key[place]] = value
        # Cauchy's bound on the roots of the polynomial for which it is least.
        bound = min(1 + max(map(abs, p.values())) / abs(p[max(p)]) for p in parts.values())
        require(bound <= MOST_ROOTS, "stages", "of actions with small roots")
        tried = range(self.minimum[name], int(bound) + 1)
        return [
            n for n in tried if not any(sum(v * n**e for e, v in p.items()) for p in parts.values())
        ]

    def allows(self, name: str, number: int) -> bool:
        """Whether a size takes a value: at least its least one, a power of 2 in trees."""
        is_tree = bool(self.copies) and name == self.items
        return number >= self.minimum[name] and not (is_tree and number & (number - 1))


def _divisor(value: Any, path: str, range_: Range) -> Poly:
    text, symbol, values = take(value, path, "polynomial symbol values")
    polynomial = poly(text, range_.names)
    parts = range_.coefficients(polynomial)
    occurring = {n for p in parts for key in p for n, e in zip(range_.names, key, strict=True) if e}
    good = any(any(key) for key in polynomial) and polynomial[max(polynomial)] > 0
    require(good, path, "no constant, with a positive leading coefficient")
    if any(range_.never_zero(part) for part in parts):
        require((symbol, values) == (None, None), path, "null, because it never vanishes")
    elif len(occurring) == 1 and (
        {*occurring} <= {*range_.minimum} or range_.items not in range_.names
    ):
        require({symbol} == occurring, f"{path}.symbol", "the one size that occurs")
        require(values == range_.zeros(polynomial, symbol), f"{path}.values", "all zeros in range")
    else:
        require((symbol, values) == ("", []), path, "of unknown zeros")
    return polynomial


# -- the dataset ----------------------------------------------------------------------------------


@dataclass
class Sector:
    """One invariant part of the dataset."""

    name: str
    inputs: Matrix
    targets: Matrix


class Data:
    """Everything but the stages."""

    def __init__(self, v: dict[str, Any]) -> None:
        names, minimum = tuple(v["symbols"]), v["minimum"]
        require(
            len({*names}) == len(names) and {*minimum} <= {*names}, "symbols", "different names"
        )
        items = int(v["items"]) if v["items"].isdigit() else v["items"]
        good = items in minimum or isinstance(items, int)
        good = good and all(type(n) is int and n > 0 for n in minimum.values())
        require(good and (not v["copies"] or v["copies"] in names), "minimum", "one number a size")
        self.range = Range(names, minimum, v["copies"], items)
        divisors = [_divisor(d, f"divisors[{n}]", self.range) for n, d in enumerate(v["divisors"])]
        self.ring = Ring(names, divisors)
        self.samples, self.per_sample = self.read(v["samples"]), self.read(v["per_sample"])
        good = self.samples * self.per_sample == self.ring.number(1)
        require(good, "per_sample", "1/samples")
        self.count = self.read(v["count"])
        good = v["count"] in minimum or (v["count"].isdigit() and int(v["count"]) > 0)
        require(good, "count", "a size or a number from 1")
        require({*minimum} <= {v["count"], v["items"]}, "minimum", "of sizes that occur")
        self.sectors = [self._sector(s, f"sectors[{n}]") for n, s in enumerate(v["sectors"])]
        self._tree(v)
        self.pathways = [self._pathway(p, f"pathways[{n}]") for n, p in enumerate(v["pathways"])]

    def read(self, value: Any) -> Value:
        """Read a value; see :meth:`Ring.read`."""
        return self.ring.read(value)

    def _space(self, value: Any, path: str) -> Space:
        kinds = []
        for base, (group, tag, weight, inverse) in enumerate(value):
            require(tag in ("", OTHERS) and type(group) is str, path, "group and tag")
            kind = Kind(base, tag, group, self.read(weight), self.read(inverse))
            require(kind.weight * kind.inverse == self.ring.number(1), path, "weight and 1/weight")
            kinds.append(kind)
        return Space(tuple(kinds), self.count)

    def matrix(self, value: Any, path: str, rows: Space, columns: Space) -> Matrix:
        """Read a matrix between two spaces."""
        parts = []
        for part, name in zip(take(value, path, "d e"), "de", strict=True):
            keys = [(i, j) for i, j, _ in part]
            good = keys == sorted({*keys}) and all(type(n) is int for key in keys for n in key)
            good = good and all(
                0 <= i < len(rows.kinds)
                and 0 <= j < len(columns.kinds)
                and (name == "e" or (rows.indexed(i) and columns.indexed(j)))
                for i, j in keys
            )
            require(good, f"{path}.{name}", "entries in order, D between indexed types")
            parts.append({(i, j): self.read(text) for i, j, text in part})
            require(all(parts[-1].values()), f"{path}.{name}", "of entries other than 0")
        found = Matrix(rows, columns, *parts)
        require(
            (found.d.keys(), found.e.keys()) == (parts[0].keys(), parts[1].keys()),
            path,
            "of entries that are seen at this number of values",
        )
        return found

    def _sector(self, value: Any, path: str) -> Sector:
        keys = "name multiplicity inputs samples outputs x y"
        name, _, inputs, samples, outputs, x, y = take(value, path, keys)
        spaces = [self._space(s, f"{path}.spaces") for s in (inputs, samples, outputs)]
        groups = [{kind.group for kind in space.kinds} for space in spaces]
        require(groups[1] == {"samples"}, f"{path}.samples", "of the group samples")
        found = Sector(
            name,
            self.matrix(x, f"{path}.x", spaces[0], spaces[1]),
            self.matrix(y, f"{path}.y", spaces[2], spaces[1]),
        )
        for matrix in (found.inputs, found.targets):
            rows, columns = ({key[n] for key in (*matrix.d, *matrix.e)} for n in (0, 1))
            kinds = matrix.rows.kinds
            idle = {*range(len(kinds))} - rows
            if matrix is found.inputs:  # a group of inputs may be 0 as a whole
                used = {kinds[n].group for n in rows}
                idle = {n for n in idle if kinds[n].group in used}
            good = not idle and columns == {*range(len(matrix.columns.kinds))}
            require(good, path, "without rows and columns that are zero")
        return found

    def _pathway(self, value: Any, path: str) -> dict[str, Any]:
        name, each, gate, inputs, outputs = take(value, path, "name each gate inputs outputs")
        kinds = len(self.sectors[0].inputs.columns.kinds)
        good = type(name) is str and type(each) is bool and len(gate) == kinds
        good = good and all(type(g) is int and g in (0, 1) for pair in gate for g in pair)
        good = good and all(len(pair) == 2 and (each or pair[0] == pair[1]) for pair in gate)
        require(good, path, "a gate for every type of sample")
        for groups, what in ((inputs, "inputs"), (outputs, "outputs")):
            spaces = [s.inputs.rows if what == "inputs" else s.targets.rows for s in self.sectors]
            known = {kind.group for space in spaces for kind in space.kinds}
            known |= {f"{group}:own" for group in known} if each else set()
            good = groups == sorted({*groups}) and {*groups} <= known and groups
            require(good, f"{path}.{what}", "names of groups")
        return dict(value)

    def _tree(self, v: dict[str, Any]) -> None:
        """Check the eigenvalues of the tree's features by induction, and its use."""
        many = [self.read(item["multiplicity"]) for item in v["sectors"]]
        one = self.ring.number(1)
        # A tree's vectors: the constant one and u wavelets for every u = 1, 2, 4, … n/2.
        own = self.ring.number(len(self.sectors[0].targets.columns.kinds))
        good = self.samples == self.count * (self.read(v["items"]) if v["tree"] else own)
        require(good, "samples", "one an item and context")
        if not v["tree"]:
            require(many == [one] and not v["copies"], "sectors", "one, of multiplicity 1")
            return
        texts = take(v["tree"], "tree", "root wavelets_times_u")
        root, wavelets = (poly(text, ("n", "u")) for text in texts)
        half = _scaled(root, Fraction(1, 2))
        # H(n)ᵀH(n) = 1 1ᵀ + two copies of H(n/2)ᵀH(n/2); u·tau is stored for the wavelets.
        good = root == plus(half, {(1, 0): 1}) and sum(root.values()) == 1
        good = good and not any(u for _, u in root) and _at_one(wavelets) == half
        good = good and wavelets == {k: 2 * c for k, c in _scaled(wavelets, Fraction(1, 2)).items()}
        require(good, "tree", "eigenvalues by induction on the tree")
        items, copies = str(self.range.items), self.read(self.range.copies)
        least = self.range.minimum.get(items, 2)
        good = least >= 2 and least & (least - 1) == 0
        require(good, "minimum", "a power of 2 for the items of a tree, which only these are")
        require(many == [one, copies], "sectors", "two, of multiplicities 1 and u")
        n = self.read(items)
        ratios = (self._in(root, n, copies), self._in(wavelets, n, copies))
        for sector, length, ratio, times in zip(
            self.sectors, (n, one), ratios, (one, copies), strict=True
        ):
            self._tree_sector(sector, length, times, length * ratio)

    def _tree_sector(self, sector: Sector, length: Value, times: Value, features: Value) -> None:
        """Check that X and Y are those of an item vector w and of its features H w.

        Squared lengths are |w|² and, ``times`` that of H w, ``features``; a context's input may
        be anything on w.
        """
        spaces = (sector.inputs.columns, sector.inputs.rows, sector.targets.rows)
        found = [[(kind.group, kind.tag) for kind in space.kinds] for space in spaces]
        inputs = [("items", ""), ("contexts", OTHERS)][: len(found[1])]
        wanted = [[("samples", OTHERS)], inputs, [("common", ""), ("own", OTHERS)]]
        good = found == wanted and all(
            kind.weight == length for kind in (spaces[0].kinds[0], spaces[1].kinds[0])
        )
        one = self.ring.number(1)
        good = good and all(kind.weight == one for kind in spaces[1].kinds[1:])
        good = good and all(kind.weight * times == features for kind in spaces[2].kinds)
        x, y = sector.inputs, sector.targets
        own = {key: x.d.get(key) or x.e[key] for key in [(1, 0)] if key in {*x.d, *x.e}}
        for matrix, d in ((x, own), (y, {(1, 0): one})):
            known = Matrix(matrix.rows, matrix.columns, d, {(0, 0): one})
            good = good and (matrix.d, matrix.e) == (known.d, known.e)
        require(good, f"sector {sector.name}", "one item vector of the tree and its features")

    def _in(self, polynomial: Poly, n: Value, u: Value) -> Value:
        total = self.ring.number(0)
        for (a, b), value in polynomial.items():
            term = self.ring.number(value)
            for factor in [n] * a + [u] * b:
                term = term * factor
            total = total + term
        return total


def _scaled(polynomial: Poly, factor: Fraction) -> Poly:
    """Return the polynomial at (factor·n, factor·u)."""
    return {key: value * factor ** sum(key) for key, value in polynomial.items()}


def _at_one(polynomial: Poly) -> Poly:
    total: Poly = {}
    for (n, _), value in polynomial.items():
        total = plus(total, {(n, 0): value})
    return total
