"""Numbers and names of a derivation in words, for tables and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.document.model import Content, Math
from symreln.document.numerals import decimal_latex
from symreln.document.roots import plain_formula
from symreln.document.symbols import symbol_latex
from symreln.exact.algebraic import AlgebraicNumber, ratio
from symreln.exact.enclosure import decimal_of, precision
from symreln.exact.scalar import Scalar
from symreln.spec.number import WrittenDecimal

if TYPE_CHECKING:
    from symreln.spec.model import Parameter

Values = Mapping[str, Fraction]
Symbols = Mapping[str, "sp.Symbol"]

#: What a table shows where there is nothing to show.
NONE = "–"
#: Working precision of quotients that are shown as decimals.
_RATIO_BITS = 160
#: Digits of numerator and denominator above which a number is printed as a decimal.
_LONG_FRACTION = 16
#: Characters up to which a decimal is printed as it was written.
_LONG_DECIMAL = 10
_AT_LEAST, _AT_MOST = r"\geq", r"\leq"
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
        text = plain_formula(number.to_sympy(symbols))
        if len(text) <= SHORT or not evaluable(number, values):
            return text
    if not evaluable(number, values):
        return f"root of degree {number.degree}"
    return number.scientific(values)


def number_cell(
    number: AlgebraicNumber | None,
    symbols: Symbols,
    values: Values,
    name: str = "",
    latex: Callable[[sp.Expr], str] = to_latex,
) -> Content:
    """Return a number for a table: its formula in radicals, else its name or a decimal.

    Args:
        number: The number, or None where there is none.
        symbols: The parameters' symbols.
        values: The parameters' values.
        name: LaTeX of the symbol that stands for a number without a radical form.
        latex: How a formula is printed.
    """
    if number is None:
        return NONE
    if number.is_radical:
        return Math(latex(number.to_sympy(symbols)))
    if name:
        return Math(name)
    return decimal_cell(number, values, digits=8)


def decimal_cell(number: AlgebraicNumber | None, values: Values, digits: int = 6) -> Content:
    """Return a decimal at the declared values, or a dash where one is missing."""
    if number is None or not evaluable(number, values):
        return NONE
    return Math(decimal_latex(*number.decimal(values, 21), digits=digits))


def height_cell(
    s: AlgebraicNumber,
    d: AlgebraicNumber | None,
    symbols: Symbols,
    values: Values,
    latex: Callable[[sp.Expr], str] = to_latex,
) -> Content:
    """Return s/d: as the root of one rational function where it is one, else as a decimal."""
    if d is None or d.is_zero:
        return NONE
    height = ratio(s, d)
    if height is not None:
        return Math(latex(height.to_sympy(symbols)))
    if s.is_radical and d.scalar is not None:
        return Math(latex(sp.expand(s.to_sympy(symbols) / d.to_sympy(symbols))))
    if not (evaluable(s, values) and evaluable(d, values)):
        return NONE
    with precision(_RATIO_BITS):
        quotient = s.ball(values, _RATIO_BITS) / d.ball(values, _RATIO_BITS)
        return Math(decimal_latex(*decimal_of(quotient, 21), digits=6))


def written(value: Fraction) -> str:
    """Return a number of the spec as it was written: 0.1 as 0.1, 1/10 as 1/10."""
    return value.decimal if isinstance(value, WrittenDecimal) else str(value)


def fraction_latex(value: Fraction) -> str:
    """Return a rational number: as a fraction if short, else as a decimal with its error.

    One that was written as a decimal stays one.
    """
    if isinstance(value, WrittenDecimal) and len(value.decimal) <= _LONG_DECIMAL:
        return value.decimal
    if max(len(str(value.numerator)), len(str(value.denominator))) <= 6:
        return to_latex(sp.Rational(value.numerator, value.denominator))
    shown = AlgebraicNumber.rational(Scalar.of(value)).decimal({}, 21)
    return decimal_latex(*shown, digits=6)


def scalar_latex(value: Scalar, symbols: Mapping[str, sp.Symbol]) -> str:
    """Return an exact number in full, or as a decimal with its error where it is a long fraction.

    Formulas with parameters are printed in full.
    """
    if not value.parameters:
        fraction = value.to_fraction()
        if len(str(fraction.numerator)) + len(str(fraction.denominator)) > _LONG_FRACTION:
            return decimal_latex(*AlgebraicNumber.rational(value).decimal({}, 21))
    return to_latex(value.to_sympy(symbols))


def assumption(parameter: Parameter) -> Content:
    """Return what is assumed of a parameter: the range of its values."""
    name = symbol_latex(parameter.name)
    low = parameter.minimum
    if parameter.positive or parameter.nonnegative:
        low = max(Fraction(0), low or Fraction(0))
    strict = parameter.positive and low == 0
    if low is None and parameter.maximum is None:
        return "real"
    if parameter.maximum is None:
        return Math(rf"{name} {'>' if strict else _AT_LEAST} {low}")
    below = "" if low is None else rf"{low} {'<' if strict else _AT_MOST} "
    return Math(rf"{below}{name} {_AT_MOST} {parameter.maximum}")
