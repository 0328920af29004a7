"""Numbers in print: decimals with their error, roots by their polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

import sympy as sp

from symreln.specs.number import WrittenDecimal

#: Places of a decimal that is shown in place of a fraction.
_PLACES = 6


def decimal_latex(decimal: str, radius: str = "0", digits: int = 8) -> str:
    r"""Return a number with the error of its last digit in brackets: ``1.1180340(1)``.

    The true value lies within the error; rounding is counted in. A value that is exact and short
    has no error and no brackets.

    Args:
        decimal: Midpoint of an enclosure.
        radius: Its radius.
        digits: Significant digits at most.

    Example:
        >>> decimal_latex("1.11803398874989484820", "1e-20"), decimal_latex("0.25")
        ('1.1180340(1)', '0.25')
    """
    middle, error = Fraction(decimal), Fraction(radius)
    exponent = _exponent(middle if abs(middle) >= error else error)
    unit, doubt, rounded = Fraction(10) ** (exponent - digits), 10, 0
    while doubt > 9:
        unit *= 10
        rounded = round(middle / unit)
        doubt = ceil((error + abs(middle - rounded * unit)) / unit)
    places = -_exponent(unit)
    exponent = max(exponent, -places)  # a large error leaves less than the first digit
    scientific = exponent < -4 or places < 0 or (doubt == 0 and exponent >= digits)
    shift = exponent if scientific else 0
    shown = _positional(rounded, places + shift, strip=doubt == 0)
    power = rf" \times 10^{{{shift}}}" if scientific and shift else ""
    return f"{shown}({doubt}){power}" if doubt else f"{shown}{power}"


def decimal_rows(
    rows: Sequence[Sequence[Fraction]], digits: int = 3
) -> tuple[int, list[list[str]], str]:
    r"""Return numbers of one matrix as (power of ten in front, decimals, LaTeX of their error).

    Args:
        rows: The numbers, not all of them 0.
        digits: Significant digits of the largest.

    Example:
        >>> decimal_rows([[Fraction(2, 3), Fraction(-1, 70)]])
        (0, [['0.667', '-0.014']], '5 \\times 10^{-4}')
    """
    largest = _exponent(max(abs(x) for row in rows for x in row))
    unit = Fraction(10) ** (largest - digits + 1)
    front = 0 if -digits <= largest < digits else largest
    places = max(0, digits - 1 - largest + front)
    shown = [[_positional(round(x / unit), places, strip=False) for x in row] for row in rows]
    return front, shown, rf"5 \times 10^{{{largest - digits}}}"


def short_decimal(value: Fraction) -> str | None:
    """Return a fraction as a decimal where it has at most _PLACES places, else None.

    Example:
        >>> short_decimal(Fraction(617, 2500)), short_decimal(Fraction(1, 3))
        ('0.2468', None)
    """
    if 10**_PLACES % value.denominator:
        return None
    return WrittenDecimal(value.numerator, value.denominator).decimal


def in_decimals(expr: Any) -> Any:
    """Return a formula for print with its fractions as decimals, those of few places.

    Fractions stay beside roots of numbers, in powers of numbers and below roots, where SymPy would
    work a decimal out. The result is good for print alone.

    Example:
        >>> import sympy as sp
        >>> x = sp.Symbol("x", positive=True)
        >>> in_decimals(sp.Rational(617, 2500) * x + sp.Rational(1, 3)), in_decimals(sp.sqrt(5) / 4)
        (0.2468*x + 1/3, sqrt(5)/4)
    """
    if expr.is_Rational:
        shown = None if expr.is_Integer else short_decimal(Fraction(int(expr.p), int(expr.q)))
        return expr if shown is None else sp.Float(shown, len(shown))
    if not expr.free_symbols:
        return expr
    if expr.is_Mul:
        number, factors = expr.as_coeff_mul()
        alone = all(factor.free_symbols for factor in factors)
        return sp.Mul(in_decimals(number) if alone else number, *map(in_decimals, factors))
    if expr.is_Pow and expr.base.is_Add and (expr.exp.is_Integer or expr.exp.free_symbols):
        return sp.Pow(in_decimals(expr.base), in_decimals(expr.exp))
    if expr.is_Add or isinstance(expr, sp.exp | sp.Max):
        return expr.func(*map(in_decimals, expr.args))
    return expr


def scientific_latex(value: float) -> str:
    r"""Return a measured number with two digits and a power of ten.

    Example:
        >>> scientific_latex(1.63e-11), scientific_latex(0.0)
        ('1.6 \\times 10^{-11}', '0')
    """
    if value == 0:
        return "0"
    digits, _, power = f"{value:.1e}".partition("e")
    return rf"{digits} \times 10^{{{int(power)}}}"


def _positional(rounded: int, places: int, *, strip: bool) -> str:
    shown = f"{Decimal(f'{rounded}e{-places}'):f}"
    return shown.rstrip("0").rstrip(".") if strip and places > 0 else shown


def _exponent(value: Fraction) -> int:
    """Return the power of ten of the first significant digit; 0 for zero."""
    value = abs(value)
    estimate = len(str(value.numerator)) - len(str(value.denominator))
    return estimate - (0 < value < Fraction(10) ** estimate)
