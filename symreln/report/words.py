"""Numbers and names of a derivation in words, for tables and the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.exact.algebraic import AlgebraicNumber
from symreln.report.mathtext import to_latex
from symreln.report.numerals import decimal_latex
from symreln.report.symbols import symbol_latex

if TYPE_CHECKING:
    import sympy as sp

    from symreln.spec.model import Parameter, PathwaySpec

Values = Mapping[str, Fraction]
Symbols = Mapping[str, "sp.Symbol"]

#: Characters up to which a formula is printed inside a table cell.
SHORT = 60


def evaluable(number: AlgebraicNumber, values: Values) -> bool:
    """Return whether every parameter of the number has a value."""
    return all(name in values for name in number.parameters)


def short_number(number: AlgebraicNumber | None, symbols: Symbols, values: Values) -> str:
    """Return a number for a terminal: its formula if short, else a decimal."""
    if number is None:
        return "-"
    if number.is_radical:
        text = str(number.to_sympy(symbols))
        if len(text) <= SHORT or not evaluable(number, values):
            return text
    if not evaluable(number, values):
        return f"root of degree {number.degree}"
    return f"{number.to_float(values):.10g}"


def number_latex(number: AlgebraicNumber | None, symbols: Symbols, values: Values) -> str:
    """Return a number for a document: its formula if it has one in radicals, else a decimal."""
    if number is None:
        return r"\text{--}"
    if number.is_radical:
        return to_latex(number.to_sympy(symbols))
    if not evaluable(number, values):
        return rf"\text{{root of degree }} {number.degree}"
    return decimal_latex(*number.decimal(values, 21))


def decimal_or_dash(number: AlgebraicNumber | None, values: Values, digits: int = 6) -> str:
    """Return the LaTeX of a decimal at the declared values, or a dash."""
    if number is None or not evaluable(number, values):
        return r"\text{--}"
    return decimal_latex(*number.decimal(values, 21), digits=digits)


def fraction_latex(value: Fraction) -> str:
    """Return a rational number: as a fraction if short, else as a decimal with its error."""
    import sympy as sp

    if max(len(str(value.numerator)), len(str(value.denominator))) <= 6:
        return to_latex(sp.Rational(value.numerator, value.denominator))
    shown = AlgebraicNumber.rational(_scalar(value)).decimal({}, 21)
    return decimal_latex(*shown, digits=6)


def _scalar(value: Fraction):
    from symreln.exact.scalar import Scalar

    return Scalar.of(value)


def assumption_text(parameter: Parameter) -> str:
    """Return what is assumed of a parameter."""
    parts = []
    if parameter.positive:
        parts.append("> 0")
    elif parameter.nonnegative:
        parts.append(">= 0")
    if parameter.minimum is not None:
        parts.append(f">= {parameter.minimum}")
    if parameter.maximum is not None:
        parts.append(f"<= {parameter.maximum}")
    return ", ".join(parts) or "real"


def pathway_symbol(number: int) -> str:
    """Return the LaTeX by which a pathway is indexed."""
    return str(number)


def strength_latex(label: str) -> str:
    """Return the LaTeX of a strength's symbol."""
    return symbol_latex(label)


def inputs_text(pathway: PathwaySpec) -> str:
    """Return what a pathway sees, as the user wrote it, with the count."""
    return f"{pathway.inputs_text} ({len(pathway.inputs)})"
