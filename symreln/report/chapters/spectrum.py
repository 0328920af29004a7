"""Joint spectrum of every pathway: the modes, their speed and their height."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.orbits import PathwayOrbit, mode_orbits, plateaus_latex
from symreln.claims.widths import narrow_pathways
from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Figure,
    Math,
    Reference,
    Section,
    Table,
    equation,
)
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say, typeset
from symreln.document.widths import latex_width
from symreln.document.words import (
    NONE,
    Notation,
    Values,
    decimal_cell,
    evaluable,
    height_cell,
    number_cell,
)
from symreln.report.abbreviations import NO_NAMES, Abbreviations

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.document.inlines import Content, Inline
    from symreln.exact.algebraic import AlgebraicNumber

#: Modes of one pathway that are listed one by one.
MOST_ROWS = 40
#: Terms and printed letters up to which a polynomial is printed.
MOST_POLYNOMIAL_TERMS, LONGEST_POLYNOMIAL = 8, 70.0


def spectrum_chapter(
    derivation: Derivation, *, figures: bool, names: Abbreviations = NO_NAMES
) -> Section:
    """Return the chapter on the spectra, where the document's abbreviations are defined."""
    groups = mode_orbits(derivation)
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
            r"$\Sigma^{x}$. A mode grows at a speed set by $s$ to the plateau "
            "$s/d${effective}{lowered}: the two orders need not agree. The spaces, rational "
            "in the parameters, are in the certificate. A decimal such as $0.577350(1)$ is "
            "certified: its last digit is off by at most the number in brackets.",
            effective=tuple(_effective(groups, heights)),
            lowered=tuple(_lowered(derivation)),
        ),
    ]
    blocks += names.blocks()
    blocks += [_mode_table(derivation, group, names) for group in groups]
    blocks += _definitions(derivation, groups)
    if figures:
        blocks.append(
            Figure(
                name="spectrum",
                caption=_figure_caption(derivation),
                alt="Stems of the modes of every pathway, with multiplicities.",
            )
        )
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


def _figure_caption(derivation: Derivation) -> Content:
    """Say what is drawn: plateaus only where a mode has one of its own."""
    speeds = ("Singular values ", Math("s"))
    groups = [group for _, phase in derivation.phases for group in mode_orbits(phase)]
    if not _settled(groups):
        return (*speeds, ". No mode has a plateau of its own.")
    heights = Math(plateaus_latex(groups, decay=derivation.known.lowers_plateaus))
    if derivation.ask(narrow_pathways):
        learned = ("; ", Reference("sec:dynamics"), " says which of them are learned.")
        return (*speeds, " and the plateaus ", heights, " of the strengths", *learned)
    above = ", 0 where " if derivation.known.lowers_plateaus else ""
    dying = (above, Math(r"s \le \lambda")) if above else ()
    return (*speeds, " and the plateaus ", heights, " that the strengths grow to", *dying, ".")


def _mode_table(derivation: Derivation, group: PathwayOrbit, names: Abbreviations) -> Table:
    pathway = group.first
    notation, values = Notation.of(derivation.spec), derivation.spec.values
    learning = group.learning
    joint = pathway.spectrum.commutes
    rows: list[tuple[Content, ...]] = []
    for mode in learning[:MOST_ROWS]:
        speed = number_cell(mode.s, notation, group.symbol(mode, "s"), names.latex)
        heights = (
            number_cell(mode.d, notation, group.symbol(mode, "d"), names.latex),
            _height_cell(group, mode, notation, names, lowered=derivation.known.lowers_plateaus),
        )
        rows.append(
            (
                Math(group.symbol(mode)),
                speed,
                *(heights if joint else ()),
                decimal_cell(mode.s, values),
                str(mode.multiplicity),
            )
        )
    return Table(
        header=(
            "strength",
            Math("s"),
            *((Math("d"), Math(group.height_latex)) if joint else ()),
            (Math("s"), " at values"),
            "multiplicity",
        ),
        rows=tuple(rows),
        caption=_caption(group, len(learning) - len(rows)),
        alignment="l" + "c" * (4 if joint else 2) + "r",
    )


def _height_cell(
    group: PathwayOrbit,
    mode: ModeDerivation,
    notation: Notation,
    names: Abbreviations,
    *,
    lowered: bool,
) -> Content:
    """Return s/d, which is the plateau unless that is lowered.

    A decimal only of a number that depends on no parameter.
    """
    d = mode.d if mode.d_eff is None else mode.d_eff
    if d is not None and (lowered or not (mode.s.parameters or d.parameters)):
        return height_cell(mode.s, d, replace(notation, values={}))
    height = group.height(mode, notation.symbols)
    return NONE if height is None else Math(names.latex(height))


def _caption(group: PathwayOrbit, left_out: int) -> Content:
    pathway = group.first
    nulls = sum(mode.multiplicity for mode in pathway.modes if mode.is_null)
    content: list = [*typeset(f"Modes of {group.title}, by decreasing speed.")]
    if not pathway.spectrum.commutes:
        content.append(" There is no joint eigenbasis, so no mode has a plateau of its own.")
    elif any(mode.d_eff is None for mode in group.learning):
        content += [" The plateau ", Math("s/d"), " is that of the pathway alone; pathways couple."]
    if left_out:
        content.append(f" {left_out} slower modes are in derivation.json.")
    if nulls:
        content += [" Null modes (", Math("s = 0"), f", nothing to learn): {nulls}."]
    return tuple(content)


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
