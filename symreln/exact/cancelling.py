"""Whether a SymPy expression is zero as a rational function, by FLINT: in a tenth of the time.

Letters are what powers are of: symbols, functions, numbers that are not rational, and for roots
also sums. A letter stands for the least power that occurs, so that all others are whole powers of
it; where it is the root of a number or a sum, it obeys the equation of a root. Nothing else of the
letters is used, so what is zero is zero, whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm, prod
from typing import Any

import sympy as sp

from symreln.exact.scalar import Scalar, polynomial_ring

#: What is raised to multiples of what.
_Letter = tuple[Any, Any]


def cancelled(expr: Any) -> Any:
    """Return an expression as one quotient in lowest terms, zero by :func:`_is_zero_fraction`."""
    found = sp.sympify(expr, strict=True)
    return sp.S.Zero if _is_zero_fraction(found) else sp.cancel(sp.together(found))


def _is_zero_fraction(expr: Any) -> bool:
    """Whether an expression is found to be zero; another may be zero all the same."""
    roots: dict[_Letter, int] = {}
    _collect(expr, roots, set())
    try:
        return _Reading(roots).vanishes(expr)
    except ZeroDivisionError:
        return False


def _powers(expr: Any) -> Iterator[tuple[_Letter, Any]]:
    """Yield letters and exponents that an expression is the product of."""
    base, exponent = expr.as_base_exp()
    expanded: Any = sp.expand_mul(exponent)
    for term in sp.Add.make_args(expanded):
        # 1/(2 + 2 x) is half of 1/(1 + x), a power of the same letter.
        factor, rest = (sp.factor_terms(term) if term.has(sp.Add) else term).as_coeff_Mul()
        logs = [part for part in sp.Mul.make_args(rest) if isinstance(part, sp.log)]
        if base is sp.E and len(logs) == 1:
            yield (logs[0].args[0], rest / logs[0]), factor
        else:
            yield (base, rest), factor


def _is_tree(expr: Any) -> bool:
    return isinstance(expr, sp.Add | sp.Mul) or (expr.is_Pow and expr.args[1].is_Integer)


def _collect(expr: Any, roots: dict[_Letter, int], seen: set[Any]) -> None:
    """Find the letters, those within roots after them, and the least power of each."""
    if expr in seen or expr.is_Rational:
        return
    seen.add(expr)
    if _is_tree(expr):
        for part in expr.args:
            _collect(part, roots, seen)
        return
    for letter, exponent in _powers(expr):
        roots[letter] = lcm(roots.get(letter, 1), int(exponent.q))
        if letter[1] == 1 and letter[0] != expr:
            _collect(letter[0], roots, seen)


class _Reading:
    """Expressions as quotients of polynomials in the letters."""

    def __init__(self, roots: dict[_Letter, int]) -> None:
        self._roots, self._names = roots, tuple(f"x{place}" for place in range(len(roots)))
        symbols = (Scalar.symbol(name, self._names) for name in self._names)
        self._letters = dict(zip(roots, symbols, strict=True))
        self._known: dict[Any, Scalar] = {}

    def _read(self, expr: Any) -> Scalar:
        if expr not in self._known:
            self._known[expr] = self._made(expr)
        return self._known[expr]

    def _made(self, expr: Any) -> Scalar:
        if expr.is_Rational:
            return Scalar(self._names, int(expr.p), int(expr.q))
        if expr.is_Add:
            return sum(map(self._read, expr.args), Scalar(self._names, 0))
        if expr.is_Mul:
            return prod(map(self._read, expr.args), start=Scalar(self._names, 1))
        if _is_tree(expr):
            return self._read(expr.args[0]) ** int(expr.args[1])
        powers = [
            self._letters[letter] ** int(exponent * self._roots[letter])
            for letter, exponent in _powers(expr)
        ]
        return prod(powers, start=Scalar(self._names, 1))

    def vanishes(self, expr: Any) -> bool:
        """Whether an expression is zero, by the equations that roots obey."""
        ring, found = polynomial_ring(self._names), self._read(expr)
        for place, ((base, rest), root) in enumerate(self._roots.items()):
            if rest != 1 or not (base.is_Rational or _is_tree(base)):
                continue
            parts: dict[int, dict[tuple[int, ...], Any]] = {}
            for powers, value in found.numerator.to_dict().items():
                whole, left = divmod(powers[place], root)
                key = (*powers[:place], left, *powers[place + 1 :])
                parts.setdefault(whole, {})[key] = value
            found = sum(
                (
                    Scalar(self._names, ring.from_dict(part)) * self._read(base) ** whole
                    for whole, part in parts.items()
                ),
                Scalar(self._names, 0),
            )
        return found.is_zero
