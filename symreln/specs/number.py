"""Exact numbers from text, floats and Python objects; every size is bounded before computing."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isfinite

from symreln.specs.finding import Finding, cut, need, quoted, shown

_MAX_DIGITS = 1200
"""Digits plus the size of the decimal exponent: 1200 of them fit into MAX_BITS, and every float64
(at most 17 digits and exponent 324) is far below."""
MAX_BITS = 4096
"""Bits of any numerator or denominator that is read or computed from a formula."""

_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?", re.ASCII)


class WrittenDecimal(Fraction):
    """An exact number that was written as a decimal, and is shown as one: 0.1, not 1/10.

    It equals the fraction, and what is computed from it is a fraction.

    Example:
        >>> str(exact_decimal("0.10")), exact_decimal("0.10").decimal
        ('1/10', '0.1')
    """

    @property
    def decimal(self) -> str:
        """The shortest decimal that is the number: digits without an exponent, "-0.25"."""
        with localcontext(prec=2 * _MAX_DIGITS):
            return f"{(Decimal(self.numerator) / self.denominator).normalize():f}"

    def __neg__(self) -> WrittenDecimal:
        return WrittenDecimal(-self.numerator, self.denominator)


def exact_decimal(text: str) -> Fraction:
    """Return the exact value of an integer or a decimal: "0.1" is 1/10, and shown as 0.1.

    Args:
        text: Digits with an optional sign, point and exponent, ASCII only.

    Raises:
        Finding: It is no such number, or a larger one than _MAX_DIGITS allows.
    """
    match = _DECIMAL.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise Finding(quoted(text), "a number such as 3, -0.25 or 1e-3", _number_hint(text))
    sign, whole, decimals, exponent = match[1], match[2], match[3] or "", match[4] or "0"
    # len() before int(): an exponent of a million digits must not be converted.
    size = len(exponent) if len(exponent) > 6 else abs(int(exponent))
    if len(exponent) > 6 or len(whole) + len(decimals) + size > _MAX_DIGITS:
        expected = f"at most {_MAX_DIGITS} digits, the exponent counted as that many"
        raise Finding(f"the number {cut(text, 30)}", expected, "Rescale the data.")
    shift = int(exponent) - len(decimals)
    digits = int(f"{sign}{whole}{decimals}")
    if shift >= 0:
        return Fraction(digits * 10**shift)
    return WrittenDecimal(digits, 10**-shift)


def exact_fraction(text: str) -> Fraction:
    """Return the exact value of an integer, a decimal or a fraction a/b of two of them.

    Raises:
        Finding: It is none of these, or the denominator is zero.
    """
    top, slash, bottom = text.partition("/")
    value = exact_decimal(top.strip())
    if not slash:
        return value
    divisor = exact_decimal(bottom.strip())
    need(divisor, quoted(text), "a fraction with a denominator that is not zero")
    return _bounded(value / divisor)


def _bounded(value: Fraction) -> Fraction:
    """Return a fraction after checking MAX_BITS.

    Raises:
        Finding: The numerator or the denominator has more bits.
    """
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > MAX_BITS:
        raise Finding(f"a number of {bits} bits", f"at most {MAX_BITS} bits", "Rescale the data.")
    return value


def exact_number(value: object) -> Fraction:
    """Return the exact value of a number that was read from TOML or handed in from Python.

    A file of floats holds 0.1 as the nearest binary fraction; whoever wrote it meant 1/10, and the
    shortest decimal that rounds to the same float (``repr``) gives that back. The binary value
    itself would carry a denominator of 2**55 through every formula.

    Args:
        value: An int, a float, a Decimal, a Fraction, or a text such as "1/3"; not a bool.

    Raises:
        Finding: It is something else, not finite, or too large.
    """
    match value:
        case bool():
            raise Finding(shown(value), "a number", "Write 1 or 0.")
        case int() | Fraction():
            return _bounded(Fraction(value))
        case str():
            return exact_fraction(value)
        case float():
            hint = "Remove the sample, or fill the gap in."
            need(isfinite(value), str(value), "a finite number", hint)
            return exact_decimal(repr(value))
        case Decimal():
            return exact_decimal(str(value))
        case _:
            raise Finding(shown(value), "a number")


def _number_hint(text: str) -> str:
    if text.strip().lstrip("+-").lower() in {"nan", "inf", "infinity", "na", "n/a", ""}:
        return "Exact algebra needs every number: remove the sample, or fill the gap in."
    if re.fullmatch(r"[+-]?\d+,\d+", text.strip(), re.ASCII):
        return "Write a decimal point, not a comma."
    if "_" in text:
        return "Remove the underscores."
    if not text.isascii():
        return "Use the ASCII digits 0 to 9 and the ASCII minus sign."
    return ""
