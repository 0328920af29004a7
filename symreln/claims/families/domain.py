"""What the symbols of a family run over, and where a denominator can vanish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.exact.domain import variables
from symreln.exact.factoring import factorisation
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flint import fmpz_mpoly

    from symreln.exact.algebraic import AlgebraicNumber

Symbols = Mapping[str, sp.Symbol]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A polynomial in the symbols at whose zeros the results are not proven.

    Attributes:
        polynomial: Irreducible.
        symbol: The symbol whose values decide it, or "" where its zeros are not known.
        values: The values of ``symbol`` at which it vanishes: all of them, perhaps none.
    """

    polynomial: Scalar
    symbol: str = ""
    values: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it is proven to hold nowhere."""
        return bool(self.symbol) and not self.values


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The symbols and their ranges.

    Attributes:
        names: All symbols, in the order of the polynomial ring: parameters of the data, sizes,
            and the number of copies of a sector.
        minimum: Smallest value of every size symbol: sizes are whole numbers from there on.
        copies: Symbol u of the number of copies of a sector, or "". It runs over 1, 2, 4, …, n/2.
        items: n where copies is given: a size symbol or a number, a power of two.
    """

    names: tuple[str, ...]
    minimum: dict[str, int]
    copies: str = ""
    items: str | int = 0

    def symbol(self, name: str) -> Scalar:
        """Return a symbol as a scalar over all of them."""
        return Scalar.symbol(name, self.names)

    def number(self, value: int) -> Scalar:
        """Return a number as a scalar over all symbols."""
        return Scalar(self.names, value)

    def copy_numbers(self, items: int) -> tuple[int, ...]:
        """Return the values of the number of copies at a number of items."""
        return tuple(2**level for level in range(items.bit_length() - 1))

    def allows(self, name: str, value: int) -> bool:
        """Whether a size symbol takes a value: at least its least one, a power of 2 in trees."""
        is_tree = bool(self.copies) and name == self.items
        return value >= self.minimum[name] and not (is_tree and value & (value - 1))

    def common_roots(self, values: Iterable[Scalar], name: str) -> set[int]:
        """Return the whole values of a size at which all of these vanish, whatever the others."""
        roots: set[int] | None = None
        for value in values:
            for part in self.split(value.numerator, name).values():
                found = self._integer_roots(part, name)
                roots = found if roots is None else roots & found
            if not roots:
                return set()
        return roots or set()

    def condition(self, factor: fmpz_mpoly) -> Condition | None:
        """Return where an irreducible polynomial vanishes; None where signs show: nowhere.

        The parameters of the data stay generic: a polynomial counts as zero at sizes where it is
        the zero polynomial in them.
        """
        coefficients = self.split(factor, *self.minimum, self.copies).values()
        if any(self._one_sign(coefficient) for coefficient in coefficients):
            return None
        symbols = {name for c in coefficients for name in variables(c, self.names)}
        scalar = Scalar(self.names, factor)
        name = next(iter(symbols), "")
        if len(symbols) == 1 and name in self.minimum:
            roots = set.intersection(*(self._integer_roots(c, name) for c in coefficients))
            allowed = tuple(sorted(root for root in roots if root >= self.minimum[name]))
            return Condition(polynomial=scalar, symbol=name, values=allowed)
        if symbols == {self.copies} and isinstance(self.items, int):
            values = tuple(
                u
                for u in self.copy_numbers(self.items)
                if scalar.substitute({self.copies: Fraction(u)}).is_zero
            )
            return Condition(polynomial=scalar, symbol=self.copies, values=values)
        return Condition(polynomial=scalar)

    def sign(self, factor: fmpz_mpoly) -> int:
        """Return 1 or -1 where a polynomial in the sizes is proven to have that sign, else 0."""
        if not {*variables(factor, self.names)} <= {*self.minimum, self.copies}:
            return 0
        if found := self._one_sign(factor):
            return found
        if isinstance(self.items, int) and variables(factor, self.names) == (self.copies,):
            scalar = Scalar(self.names, factor)
            values = [
                scalar.substitute({self.copies: Fraction(u)}).to_fraction()
                for u in self.copy_numbers(self.items)
            ]
            return all(value > 0 for value in values) - all(value < 0 for value in values)
        return 0

    def split(self, polynomial: fmpz_mpoly, *names: str) -> dict[tuple[int, ...], fmpz_mpoly]:
        """Return the coefficients of the monomials in all other symbols: polynomials in these."""
        ring, own = polynomial_ring(self.names), [name in names for name in self.names]
        parts: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        for exponents, value in polynomial.to_dict().items():
            outer = tuple(0 if mine else int(e) for e, mine in zip(exponents, own, strict=True))
            inner = tuple(int(e) if mine else 0 for e, mine in zip(exponents, own, strict=True))
            parts.setdefault(outer, {})[inner] = int(value)
        return {outer: ring.from_dict(part) for outer, part in parts.items()}

    def _one_sign(self, polynomial: fmpz_mpoly) -> int:
        """Return the sign that all coefficients have, the constant one included, once shifted.

        Every size is its least value plus something that is not negative. 0 where they differ.
        """
        found = polynomial.compose(*self._shifts(), ctx=polynomial_ring(self.names)).to_dict()
        if (0,) * len(self.names) not in found:
            return 0
        return all(value > 0 for value in found.values()) - all(v < 0 for v in found.values())

    def _shifts(self) -> list[fmpz_mpoly]:
        """Return every symbol as its least value plus a symbol >= 0; n is 2u plus one."""
        ring = polynomial_ring(self.names)
        images = []
        for name in self.names:
            image = ring.gen(self.names.index(name))
            if name == self.copies:
                image = image + 1
            elif name == self.items and self.copies:
                image = image + 2 * (ring.gen(self.names.index(self.copies)) + 1)
            elif name in self.minimum:
                image = image + self.minimum[name]
            images.append(image)
        return images

    def _integer_roots(self, polynomial: fmpz_mpoly, name: str) -> set[int]:
        """Return the whole roots of a polynomial in one size: those of its linear factors."""
        place = self.names.index(name)
        roots: set[int] = set()
        for factor, _ in factorisation(polynomial)[1]:
            if factor.degrees()[place] != 1:
                continue
            found = {int(e[place]): int(v) for e, v in factor.to_dict().items()}
            root = Fraction(-found.get(0, 0), found[1])
            if root.denominator == 1:
                roots.add(int(root))
        return roots


def root_of(value: Scalar, domain: Domain, symbols: Symbols) -> sp.Expr:
    """Return the square root of a rational function that is not negative, factored.

    A factor goes before the root with its sign where that is proven, else in bars.
    """
    signed: dict[sp.Basic, sp.Basic] = {}
    for polynomial in (value.numerator, value.denominator):
        for factor, _ in factorisation(polynomial)[1]:
            part = Scalar(domain.names, factor).to_sympy(symbols)
            if sign := domain.sign(factor):
                signed[sp.Abs(part)] = sign * part
    root: Any = sp.sqrt(sp.factor(value.to_sympy(symbols)))
    return root.xreplace(signed)


def number_of(number: AlgebraicNumber, domain: Domain, symbols: Symbols) -> sp.Expr | None:
    """Return a number by radicals, a square root of a rational function factored, or None."""
    if number.scalar is not None and number.is_sqrt:
        return root_of(number.scalar, domain, symbols)
    return number.to_sympy(symbols) if number.is_radical else None
