"""What the verifier reads: a certificate's numbers and matrices; the standard library alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import gcd
from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify_matrices import Packed, Sparse, products
    from symreln.verify_numbers import (
        Poly,
        Ratio,
        common_multiple,
        divides,
        integers,
        multiply,
        quotient,
        render,
        require,
        take,
    )
except ImportError:  # the files alone, without the package
    from verify_matrices import Packed, Sparse, products  # type: ignore[no-redef]
    from verify_numbers import (  # type: ignore[no-redef]
        Poly,
        Ratio,
        common_multiple,
        divides,
        integers,
        multiply,
        quotient,
        render,
        require,
        take,
    )


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
            good = good and not (divides(top, bottom) or divides(bottom, top))
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
        used: dict[str, Poly] = {}
        last, columns = (-1, -1), v.columns
        for i, j, text in v.entries:
            good = type(i) is int is type(j) and last < (i, j) and 0 <= j < columns and i >= 0
            entry = used.get(text)
            if entry is None:
                entry = used[text] = self.poly(text)
            if not good or not entry:
                require(False, path, "ascending places of numbers that are not 0")
            last = (i, j)
            for key, number in entry.items():
                part = terms.get(key)
                if part is None:
                    part = terms[key] = {}
                if i in part:
                    part[i][j] = number
                else:
                    part[i] = {j: number}
        below = self.poly(v.denominator)
        good = last < (v.rows, 0) and v.rows == (rows or v.rows) and below and below[max(below)] > 0
        require(good, path, f"a matrix of {rows or v.rows} rows, its denominator positive")
        contents = [number for entry in used.values() for number in entry.values()]
        require(gcd(*contents, *below.values()) == 1, path, "in lowest terms")
        return Sparse((v.rows, v.columns), terms, below)

    def drive(self, seen: Packed) -> Packed:
        """Return what earlier stages leave of the targets, times samples × columns."""
        learned = [part for fit in self.fits for part in fit(seen)]
        return products([(self.constant(1), self.y, seen, None), *learned])

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
                        total = line.pop(j + column, 0) + factor * value
                        if total:
                            line[j + column] = total

    def assembled(self, entries: dict[tuple[int, int], Ratio], shape: tuple[int, int]) -> Sparse:
        """Return the matrix of these entries."""
        below = self.common(item.below for item in entries.values())
        terms: Any = {}
        for (i, j), item in entries.items():
            whole = multiply(item.top, quotient(below, item.below) or {})
            for key, number in whole.items():
                terms.setdefault(key, {}).setdefault(i, {})[j] = number
        return Sparse(shape, terms, below)
