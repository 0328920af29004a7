"""Certified numbers: Arb balls for roots of polynomials and for functions of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import isfinite, lcm

from flint import arb, ctx, fmpq, fmpz_poly


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
    return arb(_fmpq(Fraction(value)))


@lru_cache(maxsize=4096)
def real_roots(coefficients: tuple[Fraction, ...], bits: int) -> tuple[arb, ...]:
    """Return certified balls for all real roots, ascending, repeated by multiplicity.

    Args:
        coefficients: Low to high, not all zero.
        bits: Working precision.
    """
    scale = lcm(*(value.denominator for value in coefficients))
    polynomial = fmpz_poly([int(value * scale) for value in coefficients])
    with precision(bits):
        found = _isolated_roots(polynomial, bits)
    found.sort(key=lambda pair: pair[0].mid())
    return tuple(root for root, multiplicity in found for _ in range(multiplicity))


def compare_root(coefficients: tuple[Fraction, ...], place: int, bound: Fraction) -> int:
    """Return the sign of a real root of an irreducible polynomial minus a rational number; exact.

    Args:
        coefficients: Low to high.
        place: Which root, ascending.
        bound: The rational number.
    """
    if len(coefficients) == 2:
        root = -coefficients[0] / coefficients[1]
        return (root > bound) - (root < bound)
    return sign_of(lambda bits: real_roots(coefficients, bits)[place] - ball(bound))


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
    value = Decimal(f"{mantissa}e{exponent}")
    if exponent >= 0:
        return f"{value:f}" if value.adjusted() < 40 else f"{mantissa}e{exponent}"
    if value.adjusted() > -9:
        return f"{value:f}"
    head, _, tail = f"{value:e}".partition("e")
    return f"{head if '.' in head else head + '.0'}e{tail}"


def _radius(radius: int, exponent: int) -> str:
    """Return a power of ten that is not smaller than radius·10^exponent."""
    if radius < 2:
        return f"1e{exponent}" if radius else "0"
    return f"1e{len(str(radius - 1)) + exponent}"


def exact_decimal(value: Fraction) -> str:
    """Return a rational number whose decimal expansion ends, in full."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    return _text(int(value * 10**places), -places)


# -- real roots ------------------------------------------------------------------------------------
# FLINT's search for complex roots starts near the unit circle: roots of size 1e400 beside others of
# size 1, as characteristic polynomials of data have them, take it hours. Descartes' rule of signs
# tells how many roots an interval can have; intervals are split at powers of two while they span
# several.

_Interval = tuple[Fraction, Fraction]


def _isolated_roots(polynomial: fmpz_poly, bits: int) -> list[tuple[arb, int]]:
    """Return (certified ball, multiplicity) of every real root.

    Args:
        polynomial: Not zero.
        bits: Relative accuracy of the balls, and the working precision.
    """
    found: list[tuple[arb, int]] = []
    for factor, multiplicity in polynomial.factor()[1]:
        if not factor[0]:  # irreducible, so it is x
            found.append((arb(0), int(multiplicity)))
            continue
        mirrored = fmpz_poly([(-1) ** k * int(c) for k, c in enumerate(factor)])
        for part, sign in ((factor, 1), (mirrored, -1)):
            balls = (_ball(part, interval, bits) for interval in _isolated(part))
            found += [(sign * ball, int(multiplicity)) for ball in balls]
    return found


def _isolated(polynomial: fmpz_poly) -> list[_Interval]:
    """Return intervals with one positive root each, (x, x) for x itself; no root is 0."""
    reverse = fmpz_poly(list(reversed(polynomial.coeffs())))
    waiting = [(1 / _bound(reverse), _bound(polynomial))]
    found: list[_Interval] = []
    while waiting:
        low, high = waiting.pop()
        most = _most_roots(polynomial, low, high)
        if most == 1:
            found.append((low, high))
        elif most > 1:
            middle = _middle(low, high)
            if not _value(polynomial, middle):
                found.append((middle, middle))
            waiting += [(low, middle), (middle, high)]
    return found


def _bound(polynomial: fmpz_poly) -> Fraction:
    """Return a power of two above which no root lies (Fujiwara's bound)."""
    *others, lead = (int(c).bit_length() for c in polynomial.coeffs())
    degree = len(others)
    ratios = (-((lead - 1 - size) // (degree - k)) for k, size in enumerate(others) if size)
    return Fraction(2) ** (1 + max(ratios, default=0))


def _most_roots(polynomial: fmpz_poly, low: Fraction, high: Fraction) -> int:
    """Return the number of roots between two numbers, or more by an even number."""
    below = lcm(low.denominator, high.denominator)
    scaled = fmpz_poly([c * below ** (polynomial.degree() - k) for k, c in enumerate(polynomial)])
    inside = scaled(fmpz_poly([int(low * below), int((high - low) * below)]))
    turned = fmpz_poly(list(reversed(inside.coeffs())))(fmpz_poly([1, 1]))
    signs = [c > 0 for c in turned.coeffs() if c]
    return sum(a != b for a, b in pairwise(signs))


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """Return the mean of two positive numbers, or where they are far apart that of their sizes."""
    if high <= 4 * low:
        return (low + high) / 2
    return Fraction(2) ** (sum(_exponent(x) for x in (low, high)) // 2)


def _exponent(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def _ball(polynomial: fmpz_poly, interval: _Interval, bits: int) -> arb:
    low, high = interval
    rises = _value(polynomial, high) > 0 or _value(polynomial, low) < 0
    slope = polynomial.derivative()
    gain = 1  # bits; doubled where Newton's method finds them, halved where it does not
    while (high - low) * 2**bits > low:
        apart = (high - low) / 2**gain
        middle = _middle(low, high)
        near = _newton(polynomial, slope, middle, apart)
        for point in (middle, near - apart, near + apart):
            if not low < point < high:
                continue
            value = _value(polynomial, point)
            if not value:
                low = high = point
            elif (value > 0) == rises:
                high = point
            else:
                low = point
        gain = 2 * gain if high - low <= 2 * apart else max(1, gain // 2)
    # The ends are dyadic, so that both balls are exact but for the working precision.
    return ball((low + high) / 2) + arb(0, ball((high - low) / 2))


def _newton(polynomial: fmpz_poly, slope: fmpz_poly, point: Fraction, apart: Fraction) -> Fraction:
    """Return where Newton's step from a point leads, a quarter of ``apart`` off at most."""
    value, steepness = _value(polynomial, point), _value(slope, point)
    unit = apart / 4
    below = int(value.q * steepness.p) * unit.numerator
    steps = int(value.p * steepness.q) * unit.denominator // below if below else 0
    return point - steps * unit


def _value(polynomial: fmpz_poly, point: Fraction) -> fmpq:
    return polynomial(_fmpq(point))


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
