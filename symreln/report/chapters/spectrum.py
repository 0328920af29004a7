"""Joint spectrum of every pathway: the modes, their speed and their height."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.orbits import PathwayOrbit, mode_orbits, plateaus_latex
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Reference, Section, Table, equation
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say
from symreln.document.widths import latex_width
from symreln.document.words import NONE, Values, evaluable
from symreln.report.chapters.formulas import (
    MOST_ROWS,
    NUMBERS,
    first_modes,
    modes_table,
    other_modes,
)
from symreln.report.chapters.vectors import vector_blocks

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.document.inlines import Content, Inline
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.report.abbreviations import Abbreviations

#: Terms and printed letters up to which a polynomial is printed.
MOST_POLYNOMIAL_TERMS, LONGEST_POLYNOMIAL = 8, 70.0


def spectrum_chapter(derivation: Derivation, names: Abbreviations) -> Section:
    """Return the chapter on the spectra, where the document's abbreviations are defined."""
    groups, others = mode_orbits(derivation), other_modes(derivation)
    heights = plateaus_latex(groups)
    blocks: list[Block] = [
        say(
            r"With $M = (\Sigma^{yx})^{\top} \Sigma^{yx}$, orthonormal $U$ and orthogonal $V$ "
            "with"
        ),
        equation(
            r"\Sigma^{yx} = U S V^{\top}, \qquad \Sigma^{x} = V D V^{\top}",
            label="eq:svd",
        ),
        say(
            r"exist if and only if $\Sigma^{x}$ commutes with $M$. The modes are the joint "
            r"eigenspaces, $s_\alpha^2$ and $d_\alpha$ the eigenvalues of $M$ and "
            r"$\Sigma^{x}$. The speed of a mode is set by $s$, its plateau is "
            "$s/d${effective}{lowered}. A decimal such as "
            "$0.577350(1)$ is certified: its last digit is off by at most the number in brackets.",
            effective=tuple(_effective(groups, heights)),
            lowered=tuple(_lowered(derivation)),
        ),
    ]
    if first_modes(derivation):
        more = "; the others follow" if others else ""
        blocks.append(say(f"[#tab:modes] has the modes{more}."))
    blocks += [modes_table(derivation, [chosen], names) for chosen in others]
    blocks += _definitions(derivation, groups)
    blocks += vector_blocks(derivation)
    return Section(title="Joint spectrum", blocks=tuple(blocks), label="sec:spectrum")


def _effective(groups: list[PathwayOrbit], heights: str) -> list[Inline | str]:
    """Say what replaces d where couplings change a height, or that no mode has one."""
    if not _settled(groups):
        return [" where a joint eigenbasis exists and no other pathway interferes"]
    if heights == "s/d":
        return []
    return [
        ", where pathways couple to ",
        Math(heights),
        " with the ",
        Math(r"d_{\mathrm{eff}}"),
        " of ",
        Reference("eq:deff"),
    ]


def _lowered(derivation: Derivation) -> list[Inline | str]:
    """Say where weight decay keeps the strengths."""
    if not derivation.known.lowers_plateaus:
        return []
    return [" without weight decay, and with it to ", Math(r"(s - \lambda)/d"), " or 0"]


def _settled(groups: list[PathwayOrbit]) -> bool:
    """Return whether some mode has a height of its own."""
    return any(mode.d_eff is not None for group in groups for mode in group.learning)


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
