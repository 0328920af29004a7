"""Polynomials and rational functions as short plain text: no needless brackets, ``**`` for powers.

The texts are formulas that :mod:`symreln.specs.expression` and SymPy read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import fmpz_mpoly


def polynomial(value: fmpz_mpoly) -> str:
    """Return a polynomial, terms in the order of the ring."""
    return _sum(_terms(value))


def _terms(value: fmpz_mpoly, factors: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return (sign, text) of every term, each multiplied by further factors."""
    names = value.context().names()
    found = []
    for exponents, coefficient in value.to_dict().items():
        powers = [
            name if int(e) == 1 else f"{name}**{int(e)}"
            for name, e in zip(names, exponents, strict=True)
            if int(e)
        ]
        size = abs(coefficient)
        parts = [*powers, *factors]
        shown = parts if size == 1 and parts else [str(size), *parts]
        found.append(("-" if coefficient < 0 else "", "*".join(shown)))
    return found


def rational(top: fmpz_mpoly, bottom: fmpz_mpoly) -> str:
    """Return top/bottom."""
    upper = polynomial(top)
    if bottom.is_one():
        return upper
    lower = polynomial(bottom)
    if len(top.to_dict()) > 1:
        upper = f"({upper})"
    # One factor needs no brackets below the line: a sum, a product or a coefficient does.
    if "*" in lower.replace("**", "") or " " in lower:
        lower = f"({lower})"
    return f"{upper}/{lower}"


def univariate(coefficients: Sequence[fmpz_mpoly], variable: str = "x") -> str:
    """Return Σ coefficients[j]·variable^j, highest power first."""
    terms: list[tuple[str, str]] = []
    for power in range(len(coefficients) - 1, -1, -1):
        value = coefficients[power]
        monomial = variable if power == 1 else f"{variable}**{power}"
        if not power or len(value.to_dict()) < 2:
            terms += _terms(value, (monomial,) if power else ())
        elif value.leading_coefficient() < 0:
            terms.append(("-", f"({polynomial(-value)})*{monomial}"))
        else:
            terms.append(("", f"({polynomial(value)})*{monomial}"))
    return _sum(terms)


def _sum(terms: list[tuple[str, str]]) -> str:
    if not terms:
        return "0"
    (sign, first), *others = terms
    return sign + first + "".join(f" {sign or '+'} {part}" for sign, part in others)
