"""Polynomials and rational functions as short plain text: no needless brackets, ``**`` for powers.

The texts are formulas that :mod:`symreln.spec.expression` and SymPy read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import fmpz_mpoly


def polynomial(value: fmpz_mpoly) -> str:
    """Return a polynomial, terms in the order of the ring."""
    names = value.context().names()
    terms = []
    for exponents, coefficient in value.to_dict().items():
        factors = [
            name if int(e) == 1 else f"{name}**{int(e)}"
            for name, e in zip(names, exponents, strict=True)
            if int(e)
        ]
        terms.append(_term(int(coefficient), factors))
    return _sum(terms)


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
    terms = []
    for power in range(len(coefficients) - 1, -1, -1):
        value = coefficients[power]
        if value.is_zero():
            continue
        factors = [] if not power else [variable if power == 1 else f"{variable}**{power}"]
        if value.is_constant():
            terms.append(_term(int(value.leading_coefficient()), factors))
        elif len(value.to_dict()) == 1:
            shown = polynomial(value)
            sign = "-" if shown.startswith("-") else ""
            terms.append((sign, "*".join([shown.removeprefix("-"), *factors])))
        else:
            shown = polynomial(value)
            terms.append(("", "*".join([f"({shown})" if factors else shown, *factors])))
    return _sum(terms)


def _term(coefficient: int, factors: list[str]) -> tuple[str, str]:
    size = abs(coefficient)
    parts = factors if size == 1 and factors else [str(size), *factors]
    return "-" if coefficient < 0 else "", "*".join(parts)


def _sum(terms: list[tuple[str, str]]) -> str:
    if not terms:
        return "0"
    (sign, first), *others = terms
    return sign + first + "".join(f" {sign or '+'} {part}" for sign, part in others)
