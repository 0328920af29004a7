"""Numbers in print beside a bound: rounding must not carry one over to the other's side."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from math import isfinite


def rounded(value: float, digits: int, beside: float | None = None, *, power: int = 0) -> str:
    """Return a number with some significant digits, or as many more as a bound needs.

    Sides are compared in decimals, so no product that floats round comes between.

    Args:
        value: The number.
        digits: Significant digits where they are enough.
        beside: A bound; the printed number lies on its same side (:func:`all_digits` prints it).
        power: Both are printed times 10 to this power.

    Example:
        >>> rounded(2.0004, 3), rounded(2.0004, 3, beside=2), rounded(0.29, 2, power=2)
        ('2', '2.0004', '29')
    """
    text = f"{value * 10**power:.{digits}g}"
    if beside is None or not (isfinite(value) and isfinite(beside)):
        return text
    exact, bound = _decimal(value, power), _decimal(beside, power)
    while exact.compare(bound) != Decimal(text).compare(bound):
        digits += 1
        text = _plain(Context(prec=digits).plus(exact))
    return text


def positional(value: float, digits: int) -> str:
    """Return a number with some significant digits, without a power of ten where it is a count.

    Below 1 and from ten million on the power of ten stays: zeros would have to be counted.

    Example:
        >>> positional(1923.4, 3), positional(-0.5, 3), positional(2.5e9, 3)
        ('1920', '-0.5', '2.5e+09')
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e" in text and 1 <= abs(value) < 1e7 else text


def all_digits(value: float, *, power: int = 0) -> str:
    """Return a number with every digit that tells it from its neighbours, times 10 to a power.

    Example:
        >>> all_digits(0.05, power=2)
        '5'
    """
    return _plain(_decimal(value, power))


def rounded_down(value: float, digits: int) -> str:
    """Return a positive number with some significant digits, never above itself.

    Example:
        >>> rounded_down(0.0999, 2)
        '0.099'
    """
    down = Context(prec=digits, rounding=ROUND_FLOOR)
    return f"{down.create_decimal(repr(float(value))):g}"


def _decimal(value: float, power: int) -> Decimal:
    return Decimal(repr(float(value))).scaleb(power)


def _plain(number: Decimal) -> str:
    number = number.normalize()
    return f"{number:e}" if number and not -7 < number.adjusted() < 16 else f"{number:f}"


def percent(value: float, beside: float | None = None) -> str:
    """Return a share as per cent with two significant digits, or more where it is large.

    What was rounded has all of them, 0.20 % beside 0.23 %; what is exact has no zeros to its right.

    Args:
        value: The share.
        beside: A bound that the share is compared with, as :func:`bound_text` prints it: as many
            digits more are given as it takes to lie on the bound's same side in print too.

    Example:
        >>> percent(0.031), percent(0.2), percent(11.42)
        ('3.1 %', '20 %', '1140 %')
    """
    digits = 2 if value < 0.1 else 3
    text = rounded(value, digits, beside, power=2)
    if "e" in text and 1 <= abs(value) < 1e5:
        text = f"{float(text):.0f}"
    if isfinite(value) and Decimal(text) != _decimal(value, 2):
        text = _filled(text, digits)
    return f"{text} %"


def _filled(text: str, digits: int) -> str:
    """Return a number with zeros to its right up to so many significant digits.

    Example:
        >>> _filled("0.2", 2), _filled("5", 2), _filled("12", 2), _filled("0", 2)
        ('0.20', '5.0', '12', '0')
    """
    figures = text.lstrip("-0.").replace(".", "")
    missing = digits - len(figures)
    if not figures or missing <= 0 or "e" in text:
        return text
    return text + "." * ("." not in text) + "0" * missing
