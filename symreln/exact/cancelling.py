"""Whether a SymPy expression is zero as a rational function, by FLINT: in a tenth of the time.

Letters are what powers are of: symbols, functions, numbers that are not rational, and for roots
also sums. A letter stands for the least power that occurs, so that all others are whole powers of
it; where it is the root of a number or a sum, it obeys the equation of a root. Nothing else of the
letters is used, so what is zero is zero, whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Any

import sympy as sp
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

#: What is raised to multiples of what.
_Letter = tuple[Any, Any]
_Quotient = tuple[fmpq_mpoly, fmpq_mpoly]


def cancelled(expr: Any) -> Any:
    """Return an expression as one quotient in lowest terms, zero by :func:`is_zero_fraction`."""
    found = sp.sympify(expr, strict=True)
    return sp.S.Zero if is_zero_fraction(found) else sp.cancel(sp.together(found))


def is_zero_fraction(expr: Any) -> bool:
    """Whether an expression is found to be zero; another may be zero all the same."""
    roots: dict[_Letter, int] = {}
    _collect(expr, roots, set())
    names = [f"x{place}" for place in range(len(roots))]
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    reading = _Reading(roots, dict(zip(roots, context.gens(), strict=True)), context.constant(1))
    try:
        return reading.vanishes(reading.read(expr)[0])
    except ZeroDivisionError:
        return False


def _powers(expr: Any) -> Iterator[tuple[_Letter, Any]]:
    """Yield letters and exponents that an expression is the product of."""
    base, exponent = expr.as_base_exp()
    expanded: Any = sp.expand_mul(exponent)
    for term in sp.Add.make_args(expanded):
        factor, rest = term.as_coeff_Mul()
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
    def __init__(
        self, roots: dict[_Letter, int], letters: dict[_Letter, fmpq_mpoly], one: fmpq_mpoly
    ) -> None:
        self._roots, self._letters, self._one = roots, letters, one
        self._known: dict[Any, _Quotient] = {}

    def read(self, expr: Any) -> _Quotient:
        """Return an expression as a quotient of polynomials."""
        if expr not in self._known:
            self._known[expr] = self._read(expr)
        return self._known[expr]

    def _read(self, expr: Any) -> _Quotient:
        one = self._one
        if expr.is_Rational:
            return fmpq(int(expr.p), int(expr.q)) * one, one
        if expr.is_Add:
            top, bottom = 0 * one, one
            for more, below in map(self.read, expr.args):
                if below == bottom:
                    top += more
                    continue
                common = bottom.gcd(below)
                rest = below / common
                top, bottom = top * rest + more * (bottom / common), bottom * rest
            return top, bottom
        if expr.is_Mul:
            parts = [self.read(part) for part in expr.args]
        elif _is_tree(expr):
            parts = [_power(self.read(expr.args[0]), int(expr.args[1]))]
        else:
            parts = [
                _power((self._letters[letter], one), int(exponent * self._roots[letter]))
                for letter, exponent in _powers(expr)
            ]
        top, bottom = one, one
        for more, below in parts:
            top, bottom = top * more, bottom * below
        return top, bottom

    def vanishes(self, top: fmpq_mpoly) -> bool:
        """Whether a polynomial in the letters is zero, by the equations that roots obey."""
        for place, (letter, root) in enumerate(self._roots.items()):
            base, rest = letter
            if rest != 1 or not (base.is_Rational or _is_tree(base)):
                continue
            above, below = self.read(base)
            parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
            for powers, value in top.to_dict().items():
                whole, left = divmod(powers[place], root)
                key = (*powers[:place], left, *powers[place + 1 :])
                parts.setdefault(whole, {})[key] = value
            most = max(parts, default=0)
            top = sum(
                (
                    top.context().from_dict(part) * above**whole * below ** (most - whole)
                    for whole, part in parts.items()
                ),
                0 * self._one,
            )
        return top.is_zero()


def _power(quotient: _Quotient, exponent: int) -> _Quotient:
    top, bottom = quotient if exponent >= 0 else quotient[::-1]
    if bottom.is_zero():
        raise ZeroDivisionError
    return top ** abs(exponent), bottom ** abs(exponent)
