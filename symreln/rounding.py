"""Numbers in print beside a bound: rounding must not carry one over to the other's side."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context

#: Significant digits that tell any two float64 numbers apart.
ALL_DIGITS = 17


def rounded(value: float, digits: int, beside: float | None = None) -> str:
    """Return a number with some significant digits, or as many more as a bound needs.

    Args:
        value: The number.
        digits: Significant digits where they are enough.
        beside: A bound, as it is printed; the printed number lies on its same side.

    Example:
        >>> rounded(2.0004, 3), rounded(2.0004, 3, beside=2)
        ('2', '2.0004')
    """
    text = f"{value:.{digits}g}"
    if beside is None:
        return text
    while digits < ALL_DIGITS and _side(float(text), beside) != _side(value, beside):
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def rounded_down(value: float, digits: int) -> str:
    """Return a positive number with some significant digits, never above itself.

    Example:
        >>> rounded_down(0.0999, 2)
        '0.099'
    """
    down = Context(prec=digits, rounding=ROUND_FLOOR)
    return f"{down.create_decimal(repr(float(value))):g}"


def _side(value: float, bound: float) -> int:
    return (value > bound) - (value < bound)
