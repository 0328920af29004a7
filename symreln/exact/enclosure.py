"""Certified numbers: Arb balls for roots of polynomials and for functions of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite, lcm
from typing import TYPE_CHECKING, cast

from flint import arb, ctx, fmpq, fmpz_poly

from symreln.exact import isolation

if TYPE_CHECKING:
    from flint import acb


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set Arb's working precision, which is global state, and restore it."""
    saved = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = saved


def ball(value: Fraction | int) -> arb:
    """Return a ball that contains a rational number, at the working precision."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


@lru_cache(maxsize=4096)
def real_roots(coefficients: tuple[Fraction, ...], bits: int) -> tuple[arb, ...]:
    """Return certified balls for all real roots, ascending, repeated by multiplicity.

    Args:
        coefficients: Low to high, not all zero.
        bits: Working precision.
    """
    scale = lcm(*(value.denominator for value in coefficients))
    whole = [int(value * scale) for value in coefficients]
    polynomial = fmpz_poly(whole)
    with precision(bits):
        if isolation.is_wide(whole):
            found = isolation.real_roots(polynomial, bits)
        else:
            # FLINT isolates the roots and gives a real root an imaginary part that is exactly 0.
            pairs = cast("list[tuple[acb, int]]", polynomial.complex_roots())
            found = [(root.real, multiplicity) for root, multiplicity in pairs if root.imag == 0]
    found.sort(key=lambda pair: pair[0].mid())
    return tuple(root for root, multiplicity in found for _ in range(multiplicity))


def sign_of(number: Callable[[int], arb], most: int | None = None) -> int:
    """Return the sign of a real number, told by balls of doubling precision; else 0.

    Args:
        number: Returns a ball that contains it, computed with so many bits.
        most: Bits up to which it is told from 0; None where it is known not to be 0.
    """
    bits = 64
    while most is None or bits <= most:
        with precision(bits):
            found = number(bits)
        if not found.contains(0):
            return 1 if found > 0 else -1
        bits *= 2
    return 0


def evaluate(coefficients: Sequence[Fraction], point: arb) -> arb:
    """Return Σ c_j point^j by Horner's rule at the working precision."""
    total = arb(0)
    for coefficient in reversed(coefficients):
        total = total * point + ball(coefficient)
    return total


def decimal_of(value: arb, digits: int) -> tuple[str, str]:
    """Return (decimal, radius) as text: the number lies within radius of the decimal.

    Args:
        value: A ball; its radius should be well below the last digit asked for.
        digits: Significant digits of the decimal.
    """
    mid, rad, exponent = value.mid_rad_10exp(digits + 10)
    mid, rad, exponent = int(mid), int(rad), int(exponent)
    drop = len(str(abs(mid))) - digits
    if mid == 0 or drop <= 0:
        return _text(mid, exponent), _radius(rad, exponent)
    unit = 10**drop
    rounded = (2 * abs(mid) + unit) // (2 * unit) * (1 if mid > 0 else -1)
    error = abs(rounded * unit - mid) + rad
    while rounded % 10 == 0 and error == 0 and rounded:
        rounded, drop = rounded // 10, drop + 1
    return _text(rounded, exponent + drop), _radius(error, exponent)


def rounded_text(value: arb, digits: int) -> str:
    """Return a ball's midpoint with some significant digits; beyond float64 as 1.00e+400."""
    if in_float64(value):
        return f"{float(value):.{digits}g}"
    return f"{Decimal(decimal_of(value, digits + 2)[0]):.{digits}g}"


def in_float64(value: arb) -> bool:
    """Return whether float64 has room for a ball's midpoint, neither infinite nor lost to zero."""
    nearest = float(value)
    return isfinite(nearest) and (nearest != 0 or bool(value.contains(0)))


def _text(mantissa: int, exponent: int) -> str:
    sign = "-" if mantissa < 0 else ""
    figures = str(abs(mantissa))
    if exponent >= 0:
        whole = figures + "0" * exponent
        return sign + whole if len(whole) <= 40 else f"{sign}{figures}e{exponent}"
    point = len(figures) + exponent
    if point > 0:
        return f"{sign}{figures[:point]}.{figures[point:]}"
    if point > -8:
        return f"{sign}0.{'0' * -point}{figures}"
    return f"{sign}{figures[0]}.{figures[1:] or '0'}e{point - 1}"


def _radius(radius: int, exponent: int) -> str:
    """Return a power of ten that is not smaller than radius·10^exponent."""
    if radius == 0:
        return "0"
    power = len(str(radius))
    if radius == 10 ** (power - 1):
        power -= 1
    return f"1e{power + exponent}"


def exact_decimal(value: Fraction) -> str:
    """Return a rational number whose decimal expansion ends, in full."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    return _text(int(value * 10**places), -places)
