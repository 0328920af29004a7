"""Modes that are not on the first page, numbers without radicals, and singular vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.orbits import PathwayOrbit, mode_orbits
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, Math, Table
from symreln.document.numerals import decimal_latex
from symreln.document.widths import latex_width
from symreln.document.words import NONE, Notation, Values, evaluable
from symreln.report.chapters.formulas import (
    MOST_ROWS,
    NUMBERS,
    modes_table,
    other_modes,
)
from symreln.report.chapters.vectors import vector_blocks

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.document.model import Content
    from symreln.exact.algebraic import AlgebraicNumber

#: Terms and printed letters up to which a polynomial is printed.
MOST_POLYNOMIAL_TERMS, LONGEST_POLYNOMIAL = 8, 70.0


def spectrum_blocks(derivation: Derivation, notation: Notation) -> list[Block]:
    """Return the modes that are not on the first page, and the vectors of all.

    Args:
        derivation: What is shown.
        notation: How numbers are printed.
    """
    others = [modes_table(derivation, [chosen], notation) for chosen in other_modes(derivation)]
    folded = [Details(summary="The other modes", blocks=tuple(others))] if others else []
    numbers = _definitions(derivation, mode_orbits(derivation))
    return [*numbers, *folded, *vector_blocks(derivation)]


def _definitions(derivation: Derivation, groups: list[PathwayOrbit]) -> list[Block]:
    """Define the numbers that have no radical form: polynomial, which root, decimal."""
    rows = [
        _definition(name, number, derivation.spec.values)
        for group in groups
        for mode in [m for m in group.first.modes if not m.is_null][:MOST_ROWS]
        for name, number in _named(group, mode)
        if not number.is_radical
    ]
    if not rows:
        return []
    return [
        Table(
            header=("number", "is a root of", "which", "decimal"),
            rows=tuple(rows),
            caption="Numbers without a form in square roots, certified: real roots are counted "
            "upwards from 1. Polynomials that are not printed here are in derivation.json.",
            alignment="lprl",
            label=NUMBERS,
        )
    ]


def _named(group: PathwayOrbit, mode: ModeDerivation) -> list[tuple[str, AlgebraicNumber]]:
    """Return the numbers of a mode with the names that its formulas give them."""
    found = [("s", mode.s), ("d", mode.d)]
    if group.d_letter(mode) == "d_eff":
        found.append(("d_eff", mode.d_eff))
    return [(group.symbol(mode, letter), number) for letter, number in found if number is not None]


def _definition(name: str, number: AlgebraicNumber, values: Values) -> tuple[Content, ...]:
    known = evaluable(number, values)
    decimal = Math(decimal_latex(*number.decimal(values), digits=12)) if known else NONE
    root = number.defining_root(values if known else None) + 1
    return (Math(name), Math(_polynomial_latex(number)), str(root), decimal)


def _polynomial_latex(number: AlgebraicNumber) -> str:
    """Return a number's polynomial, or its degree where it is long."""
    x = sp.Symbol("x")
    coefficients = number.defining_polynomial
    if sum(not c.is_zero for c in coefficients) <= MOST_POLYNOMIAL_TERMS:
        polynomial = sp.Add(*(c.to_sympy() * x**power for power, c in enumerate(coefficients)))
        printed = to_latex(polynomial)
        if latex_width(printed) <= LONGEST_POLYNOMIAL:
            return printed
    return rf"\text{{polynomial of degree }} {number.degree}"
