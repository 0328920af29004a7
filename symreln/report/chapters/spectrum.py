"""Joint spectrum of every pathway: the modes, their speed and their height."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.report.chapters.alike import Alike, alike
from symreln.report.document import Block, Figure, Math, Section, Table, equation, prose
from symreln.report.words import decimal_cell, evaluable, height_cell, number_cell

if TYPE_CHECKING:
    from symreln.derivation import Derivation, ModeDerivation
    from symreln.report.inlines import Content

#: Modes of one pathway that are listed one by one.
MOST_ROWS = 40


def spectrum_chapter(derivation: Derivation, *, figures: bool) -> Section:
    """Return the chapter on the spectra."""
    blocks: list[Block] = [
        prose(
            "With ",
            Math(r"M = (\Sigma^{yx})^{\top} \Sigma^{yx}"),
            ", orthonormal ",
            Math("U"),
            " and orthogonal ",
            Math("V"),
            " with",
        ),
        equation(
            r"\Sigma^{yx} = U S V^{\top}, \qquad \Sigma^{x} = V D V^{\top}",
            label="eq:svd",
        ),
        prose(
            "exist if and only if ",
            Math(r"\Sigma^{x}"),
            " commutes with ",
            Math("M"),
            ". The modes are the joint eigenspaces, ",
            Math(r"s_\alpha^2"),
            " and ",
            Math(r"d_\alpha"),
            " the eigenvalues of ",
            Math("M"),
            " and ",
            Math(r"\Sigma^{x}"),
            ". A mode grows at a speed set by ",
            Math("s"),
            " to a height set by ",
            Math("s/d"),
            ": the two orders need not agree. The spaces, rational in the parameters, are in the "
            "certificate. A decimal such as ",
            Math("0.577350(1)"),
            " is certified: its last digit is off by at most the number in brackets.",
        ),
    ]
    groups = alike(derivation)
    blocks += [_mode_table(derivation, group) for group in groups]
    blocks += _definitions(derivation, groups)
    if figures:
        blocks.append(
            Figure(
                name="spectrum",
                caption=("Singular values ", Math("s"), " and heights ", Math("s/d"), "."),
                alt="Stems of s and of s over d for every pathway, with multiplicities.",
            )
        )
    return Section(title="Joint spectrum", blocks=tuple(blocks), label="sec:spectrum")


def _mode_table(derivation: Derivation, group: Alike) -> Table:
    pathway = group.first
    symbols, values = derivation.spec.symbols, derivation.spec.values
    learning = [mode for mode in pathway.modes if not mode.is_null]
    joint = pathway.spectrum.commutes
    rows: list[tuple[Content, ...]] = []
    for mode in learning[:MOST_ROWS]:
        speed = number_cell(mode.s, symbols, values, group.symbol(mode, "s"))
        heights = (
            number_cell(mode.d, symbols, values),
            height_cell(mode.s, mode.d, symbols, values),
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
            *((Math("d"), Math("s/d")) if joint else ()),
            (Math("s"), " at values"),
            "multiplicity",
        ),
        rows=tuple(rows),
        caption=_caption(group, len(learning) - len(rows)),
        alignment="l" + "c" * (4 if joint else 2) + "r",
    )


def _caption(group: Alike, left_out: int) -> Content:
    pathway = group.first
    nulls = sum(mode.multiplicity for mode in pathway.modes if mode.is_null)
    content: list = [f"Modes of {group.title}, by falling speed."]
    if not pathway.spectrum.commutes:
        content.append(" There is no joint eigenbasis, so no mode has a height of its own.")
    if left_out:
        content.append(f" {left_out} slower modes are in derivation.json.")
    if nulls:
        content += [" Null modes (", Math("s = 0"), f", nothing to learn): {nulls}."]
    return tuple(content)


def _definitions(derivation: Derivation, groups: list[Alike]) -> list[Block]:
    """Define the modes that have no short radical form: polynomial, decimal and radius."""
    from symreln.report.tex import check_math

    rows: list[tuple[Content, ...]] = []
    values = derivation.spec.values
    for group in groups:
        for mode in group.first.modes[:MOST_ROWS]:
            if mode.is_null or mode.s.is_radical:
                continue
            decimal, radius = ("–", "–")
            if evaluable(mode.s, values):
                decimal, radius = mode.s.decimal(values)
            polynomial = _polynomial_latex(mode)
            check_math(polynomial)
            rows.append(
                (
                    Math(group.symbol(mode, "s")),
                    Math(polynomial),
                    decimal,
                    radius,
                )
            )
    if not rows:
        return []
    return [
        Table(
            header=("number", "is a root of", "decimal", "radius"),
            rows=tuple(rows),
            caption="Singular values without a short radical form, certified. Polynomials that "
            "are not printed here are in derivation.json.",
            alignment="lpll",
        )
    ]


def _polynomial_latex(mode: ModeDerivation) -> str:
    """Return the polynomial of s, or its degree where it is long."""
    import sympy as sp

    from symreln.report.mathtext import to_latex

    x = sp.Symbol("x")
    degree = mode.s.degree
    coefficients = mode.s.defining_polynomial
    if degree > 6 or sum(len(str(c)) for c in coefficients) > 30:
        return rf"\text{{polynomial of degree }} {degree}"
    polynomial = sp.Add(*(c.to_sympy() * x**power for power, c in enumerate(coefficients)))
    return to_latex(polynomial)
