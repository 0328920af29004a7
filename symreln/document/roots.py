"""Products with square roots in their shortest printed form.

That of 2√(120c²+45)/(8c²+3) is √(60/(8c²+3)).
Roots are joined and factors moved below them only where signs are proven, so that every form equals
the product for all values of its symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from symreln.document.tex import tokens

#: Operations above which a product is printed as it is: factoring it is not worth the time.
_MOST_OPERATIONS = 120
_NO_INK = frozenset(["{", "}", ")", " ", r"\frac", r"\right)", "^", "_"])


#: Powers of ten from which on SymPy would write decimals in another way: none.
PLACES = {"min": -(10**6), "max": 10**6}


class JoinedRoot(sp.Function):
    """The root of its argument, which SymPy would split, square or of a degree; only for print."""


def plain_formula(expr: Any, names: Mapping[sp.Symbol, str] | None = None) -> str:
    """Return a formula as it is typed: roots in their shortest form, a positive term first.

    A sum of numbers is one fraction, and a minus that all its terms have in common is in front.

    Args:
        expr: The formula.
        names: How symbols are typed, where it is not their name.

    Example:
        >>> a = sp.Symbol("a", positive=True)
        >>> plain_formula(2 * sp.sqrt(120 * a**2 + 45) / (8 * a**2 + 3))
        'sqrt(60/(8*a**2 + 3))'
    """
    return _Plain(names or {}).doprint(expr)


class _Plain(StrPrinter):
    """SymPy's own spelling, but of products with roots and of where a sum begins."""

    def __init__(self, names: Mapping[sp.Symbol, str]) -> None:
        super().__init__({"full_prec": False, **PLACES})
        self.names = names

    def _print_Symbol(self, expr: Any) -> str:
        return self.names.get(expr, expr.name)

    def _as_ordered_terms(self, expr: Any, order: str | None = None) -> list[Any]:
        terms = list(map(sign_first, super()._as_ordered_terms(expr, order)))
        return sorted(terms, key=lambda term: term is not _first_positive(terms))

    def _print_Add(self, expr: Any, order: str | None = None) -> str:
        shared = over_one(expr)
        if shared is None:
            return super()._print_Add(expr, order)
        return super()._print_Mul(sp.Mul(*shared, evaluate=False))

    def _print_Mul(self, expr: Any) -> str:
        form = shortest_root_form(sign_first(expr), self._print_product)
        return self._print_product(_whole_sums(form))

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        form = sign_first(expr)
        return super()._print_Pow(expr, rational) if form is expr else self.doprint(form)

    def _print_product(self, form: Any) -> str:
        return super()._print_Mul(form) if form.is_Mul else self.doprint(form)

    def _print_JoinedRoot(self, expr: Any) -> str:
        return f"sqrt({self.doprint(expr.args[0])})"


def _first_positive(terms: list[Any]) -> Any:
    return next((term for term in terms if not term.could_extract_minus_sign()), terms[0])


def _whole_sums(product: Any) -> Any:
    """Return a product with the denominator of its sums of numbers in front of them."""
    shared = {factor: over_one(factor) for factor in sp.Mul.make_args(product)}
    if not any(shared.values()):
        return product
    factors = [part for factor, parts in shared.items() for part in parts or (factor,)]
    number = sp.Mul(*(factor for factor in factors if factor.is_Rational))
    return sp.Mul(number, *(f for f in factors if not f.is_Rational), evaluate=False)


def over_one(total: Any, *, symbols: bool = False) -> tuple[Any, Any] | None:
    """Return a sum as a fraction and a sum of whole multiples; None where there is no gain.

    A minus that all terms have in common is the fraction's.

    Args:
        total: Of numbers, or anything else.
        symbols: Whether it may have symbols.
    """
    if not total.is_Add or (total.free_symbols and not symbols):
        return None
    pairs = [term.as_coeff_Mul() for term in total.args]
    if not all(n.is_Rational for n, _ in pairs) or sum(n.q > 1 for n, _ in pairs) < 2:
        return None
    bottom = sp.ilcm(*(number.q for number, _ in pairs))
    if _has_minus(total):
        bottom = -bottom
    return sp.Rational(1, bottom), sp.Add(*(bottom * n * root for n, root in pairs))


def sign_first(product: Any) -> Any:
    """Return a product with the minus of its sums in front: -(a + b)/c, and so -(√5 - 1)/c.

    A sum has one where all its terms have, or where it is a number below zero. Anything else is
    returned itself.
    """
    if not (product.is_Mul or product.is_Pow):
        return product
    sign, factors = sp.S.One, []
    for factor in sp.Mul.make_args(product):
        base, power = factor.as_base_exp()
        below = _has_minus(base) or (base.is_Add and not base.free_symbols and base.is_negative)
        if power.is_Integer and below:
            sign, factor = sign * (-1) ** power, (-base) ** power
        factors.append(factor)
    return product if tuple(factors) == sp.Mul.make_args(product) else sp.Mul(sign, *factors)


def _has_minus(total: Any) -> bool:
    """Whether every term of a sum has a minus."""
    return total.is_Add and all(term.could_extract_minus_sign() for term in total.args)


def shortest_root_form(product: Any, printed: Callable[[Any], str]) -> Any:
    """Return the form of a product with roots that prints with the fewest characters.

    Factors that have no symbol in common with what is below a root do not count: a number has the
    same form whatever it is divided by.

    Args:
        product: A product or power. It is returned itself where no form is shorter.
        printed: Returns the LaTeX of a form.
    """
    factors: tuple[Any, ...] = sp.Mul.make_args(product)
    below = {symbol for factor in factors if _is_root(factor) for symbol in factor.free_symbols}
    apart = [f for f in factors if f.free_symbols and below.isdisjoint(f.free_symbols)]
    number = sp.Mul(*(factor for factor in factors if factor not in apart))
    forms = _forms(number)
    if not forms:
        return product
    return sp.Mul(*apart, min((number, *forms), key=lambda form: _ink(printed(form))))


@lru_cache(maxsize=256)
def _forms(product: Any) -> tuple[Any, ...]:
    """Return other forms: documents, JSON and the terminal print the same products."""
    return tuple(_joined(product))


def _joined(product: Any) -> Iterator[Any]:
    factors: tuple[Any, ...] = sp.Mul.make_args(product)
    roots = [factor for factor in factors if _is_root(factor)]
    if not any(root.free_symbols for root in roots) or not _may_join(roots):
        return
    if product.count_ops() > _MOST_OPERATIONS:
        return
    others = [factor for factor in factors if factor not in roots]
    shared = [factor for factor in others if _cancels(factor, roots)]
    numbers = [factor for factor in others if factor.is_Rational]
    sign = sp.S.NegativeOne if any(number.is_negative for number in numbers) else sp.S.One
    for moved in ((), shared) if shared else ((),):
        for coefficient in ((), numbers) if numbers else ((),):
            if len(roots) + len(moved) < 2:
                continue
            inside = (*roots, *moved, *coefficient)
            left = [factor for factor in others if factor not in inside]
            outside = sp.Mul(sign if coefficient else sp.S.One, *left)
            below = sp.Mul(*(_squared(factor) for factor in inside))
            factored = _signed(sp.factor(below))
            yield outside * JoinedRoot(factored)
            if _has_single_sums(factored):
                yield outside * JoinedRoot(sp.cancel(below))


def _has_single_sums(quotient: Any) -> bool:
    """Whether multiplying out multiplies no two sums, above or below the fraction bar."""
    return all(
        sum(bool(factor.as_base_exp()[0].is_Add) for factor in sp.Mul.make_args(part)) < 2
        for part in sp.fraction(quotient)
    )


def _signed(product: Any) -> Any:
    """Return a product without a minus sign in front: that of -(C + 1)(u - 8) is (C + 1)(8 - u)."""
    number, factors = product.as_coeff_mul()
    unsure = [f for f in factors if f.is_Add and not f.is_nonnegative]
    turned = min(unsure, key=lambda f: not f.could_extract_minus_sign(), default=None)
    if not number.is_negative or turned is None:
        return product
    return sp.Mul(-number, -turned, *(f for f in factors if f is not turned))


def _is_root(factor: Any) -> bool:
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp.q == 2)


def _squared(factor: Any) -> Any:
    return factor.base ** (2 * factor.exp) if factor.is_Pow else factor**2


def _may_join(roots: list[Any]) -> bool:
    """Whether the roots' product is the root of their product: √a √b = √(ab) for a >= 0."""
    unsure = [
        root
        for root in roots
        if not (root.base.is_positive or (root.base.is_nonnegative and root.exp.is_positive))
    ]
    return not unsure or (len(unsure) == 1 and unsure[0].exp == sp.S.Half)


def _cancels(factor: Any, roots: list[Any]) -> bool:
    """Whether a positive factor has a polynomial in common with what is below a root."""
    base, power = factor.as_base_exp()
    if not (power.is_Integer and base.is_positive and base.free_symbols and base.is_polynomial()):
        return False
    return any(
        root.base.is_polynomial() and bool(sp.gcd(base, root.base).free_symbols) for root in roots
    )


def _ink(latex: str) -> int:
    """Return how many characters are printed; brackets count once, a root sign for three."""
    parts = [part for part in tokens(latex) if part not in _NO_INK]
    letters = sum(len(part) if part.isalnum() else 1 for part in parts)
    return letters + 2 * parts.count(r"\sqrt")
