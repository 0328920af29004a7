"""Products with square roots in their shortest printed form.

That of 2√(120c²+45)/(8c²+3) is √(60/(8c²+3)).
Roots are joined and factors moved below them only where signs are proven, so that every form equals
the product for all values of its symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy as sp

from symreln.document.tex import tokens

#: Operations above which a product is printed as it is: factoring it is not worth the time.
_MOST_OPERATIONS = 120
_NO_INK = frozenset(["{", "}", " ", r"\frac", r"\left", r"\right", "^", "_"])


class JoinedRoot(sp.Function):
    """The square root of its argument, which SymPy would split; only for print."""


def shortest_root_form(product: Any, printed: Callable[[Any], str]) -> Any:
    """Return the form of a product with roots that prints with the fewest characters.

    Args:
        product: A product or power. It is returned itself where no form is shorter.
        printed: Returns the LaTeX of a form.
    """
    forms = list(_forms(product))
    if not forms:
        return product
    given = sp.Mul(*_marked(product))
    return min((given, *forms), key=lambda form: _ink(printed(form)))


def _marked(product: Any) -> Iterator[Any]:
    """Yield the factors; square roots of polynomials are marked, lest they are joined again."""
    factors: tuple[Any, ...] = sp.Mul.make_args(product)
    for factor in factors:
        if _is_root(factor) and factor.free_symbols:
            yield JoinedRoot(factor.base) ** (2 * factor.exp)
        else:
            yield factor


def _forms(product: Any) -> Iterator[Any]:
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
            for radicand in dict.fromkeys((sp.factor(below), sp.cancel(below))):
                yield outside * JoinedRoot(radicand)


def _is_root(factor: Any) -> bool:
    return bool(factor.is_Pow and factor.exp.is_Rational and factor.exp.q == 2)


def _squared(factor: Any) -> Any:
    return factor.base ** (2 * factor.exp) if factor.is_Pow else factor**2


def _may_join(roots: list[Any]) -> bool:
    """Whether the roots' product is the root of their product: √a √b = √(ab) for a > 0."""
    unsure = [root for root in roots if not root.base.is_positive]
    return not unsure or (len(unsure) == 1 and unsure[0].exp == sp.S.Half)


def _cancels(factor: Any, roots: list[Any]) -> bool:
    """Whether a positive factor has a polynomial in common with what is below a root."""
    base, power = factor.as_base_exp()
    if not (power.is_Integer and base.is_positive and base.free_symbols):
        return False
    if not base.is_polynomial():
        return False
    return any(
        root.base.is_polynomial() and bool(sp.gcd(base, root.base).free_symbols) for root in roots
    )


def _ink(latex: str) -> int:
    """Return how many characters are printed."""
    return sum(part not in _NO_INK for part in tokens(latex))
