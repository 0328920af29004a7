"""Real roots of polynomials whose coefficients differ by hundreds of digits, by bisection.

FLINT's search for complex roots starts near the unit circle: roots of size 1e400 beside others of
size 1 take it hours. Descartes' rule of signs tells how many roots an interval can have; intervals
are split at powers of two while they span several.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING

from flint import arb, fmpq, fmpz_poly

if TYPE_CHECKING:
    from collections.abc import Sequence

_Interval = tuple[Fraction, Fraction]

#: Bits by which sizes of coefficients differ, above which FLINT is not asked.
_WIDEST = 512
#: Degree times bits of a coefficient above which FLINT is not asked: roots may be as near to each
#: other, or to the real line, as that.
LONGEST = 2048


def is_wide(coefficients: Sequence[int]) -> bool:
    """Return whether coefficients differ much in size, or are so long that roots can cluster."""
    bits = [abs(value).bit_length() for value in coefficients if value]
    return max(bits) - min(bits) > _WIDEST or max(bits) * (len(coefficients) - 1) > LONGEST


def real_roots(polynomial: fmpz_poly, bits: int) -> list[tuple[arb, int]]:
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
    return arb(_fmpq((low + high) / 2)) + arb(0, arb(_fmpq((high - low) / 2)))


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
