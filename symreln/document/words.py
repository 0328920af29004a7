"""Numbers and names of a derivation in words, for tables and the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record
from symreln.document.document_model import Content, Math
from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_latex, in_decimals
from symreln.document.roots import plain_formula
from symreln.document.symbols import symbol_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.enclosure import ball, rounded_text
from symreln.exact.scalar import Scalar
from symreln.specs.number import WrittenDecimal

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.specs.spec import Parameter, Spec

Values = Mapping[str, Fraction]
Symbols = Mapping[str, "sp.Symbol"]

#: What a table shows where there is nothing to show.
NONE = "–"
#: The same in a terminal.
MISSING = "-"
#: Digits of numerator and denominator above which a number is printed as a decimal.
_LONG_FRACTION = 16
_AT_LEAST, _AT_MOST = r"\geq", r"\leq"
#: Characters up to which a formula is printed inside a table cell.
SHORT = 60


def evaluable(number: AlgebraicNumber, values: Values) -> bool:
    """Return whether every parameter of the number has a value."""
    return all(name in values for name in number.parameters)


@record
class Notation:
    """How the numbers of a spec are printed.

    Attributes:
        symbols: The parameters' symbols.
        values: The parameters' values.
        decimals: Whether fractions are decimals where they have few places: the data were written
            as such.
    """

    symbols: Symbols
    values: Values
    decimals: bool = False

    @classmethod
    def of(cls, spec: Spec) -> Notation:
        """Return that of a spec."""
        return cls(symbols=spec.symbols, values=spec.values, decimals=spec.dataset.decimals)

    def shown(self, expr: sp.Expr) -> sp.Expr:
        """Return a formula as it is printed."""
        return in_decimals(expr) if self.decimals else expr

    def entries(self, matrix: ExactMatrix) -> list[list[str]]:
        """Return the LaTeX of the entries of a matrix."""
        return [
            [self.latex(entry) for entry in row] for row in matrix.to_sympy(self.symbols).tolist()
        ]

    def latex(self, expr: sp.Expr) -> str:
        """Return the LaTeX of a formula."""
        return to_latex(self.shown(expr))

    def plain(self, expr: sp.Expr) -> str:
        """Return a formula as it is typed."""
        return plain_formula(self.shown(expr))


def number_cell(
    number: AlgebraicNumber | None,
    notation: Notation,
    name: str = "",
) -> Content:
    """Return a number for a table: its formula in radicals, else its name or a decimal.

    Args:
        number: The number, or None where there is none.
        notation: How numbers are printed.
        name: LaTeX of the symbol that stands for a number without a radical form.
    """
    if number is None:
        return NONE
    if number.is_radical:
        return Math(notation.latex(number.to_sympy(notation.symbols)))
    if name:
        return Math(name)
    return decimal_cell(number, notation.values, digits=8)


def decimal_cell(number: AlgebraicNumber | None, values: Values, digits: int = 6) -> Content:
    """Return a decimal at the declared values, or a dash where one is missing."""
    if number is None or not evaluable(number, values):
        return NONE
    return Math(decimal_latex(*number.decimal(values, 21), digits=digits))


def written(value: Fraction) -> str:
    """Return a number of the spec as it was written: 0.1 as 0.1, 1/10 as 1/10."""
    return value.decimal if isinstance(value, WrittenDecimal) else str(value)


def is_long(value: Fraction) -> bool:
    """Whether a fraction is printed as a decimal with its error."""
    return len(str(value.numerator)) + len(str(value.denominator)) > _LONG_FRACTION


def scalar_latex(value: Scalar, notation: Notation) -> str:
    """Return an exact number in full, or as a decimal with its error where it is a long fraction.

    Formulas with parameters are printed in full.
    """
    expr: Any = value.to_sympy(notation.symbols)
    shown = notation.shown(expr)
    if not value.parameters and shown is expr and is_long(value.to_fraction()):
        return decimal_latex(*AlgebraicNumber.rational(value).decimal({}, 21))
    return to_latex(shown)


def scalar_text(value: Scalar, notation: Notation) -> str:
    """Return an exact number as it is typed, a long fraction as a decimal."""
    expr: Any = value.to_sympy(notation.symbols)
    if not value.parameters and notation.shown(expr) is expr and is_long(value.to_fraction()):
        return rounded_text(ball(value.to_fraction()), 8)
    return notation.plain(expr)


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
