"""Real roots of polynomials whose coefficients differ by hundreds of digits, by bisection.

FLINT's search for complex roots starts near the unit circle: roots of size 1e400 beside others of
size 1 take it hours. Descartes' rule of signs tells how many roots an interval can have; intervals
are split at powers of two while they span several.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import arb, fmpq, fmpz_poly

if TYPE_CHECKING:
    from collections.abc import Sequence

Interval = tuple[Fraction, Fraction]

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


def _isolated(polynomial: fmpz_poly) -> list[Interval]:
    """Return intervals with one positive root each, (x, x) for x itself; no root is 0."""
    reverse = fmpz_poly(list(reversed(polynomial.coeffs())))
    waiting = [(-_bound(reverse), _bound(polynomial))]
    found: list[Interval] = []
    while waiting:
        low, high = waiting.pop()
        inside = _between_powers(polynomial, low, high)
        most = _most_roots(inside)
        if most == 1:
            found.append((_power(low), _power(high)))
        elif most > 1 and high == low + 1:
            found += [(_power(low) * (1 + x), _power(low) * (1 + y)) for x, y in _halved(inside)]
        elif most > 1:
            middle = (low + high) // 2
            if not _value(polynomial, _power(middle)):
                found.append((_power(middle), _power(middle)))
            waiting += [(low, middle), (middle, high)]
    return found


def _halved(polynomial: fmpz_poly) -> list[Interval]:
    """Return intervals with one root each of those in (0, 1)."""
    waiting = [(polynomial, Fraction(0), 0)]
    found = []
    while waiting:
        inside, low, depth = waiting.pop()
        size = _power(-depth)
        most = _most_roots(inside)
        if most == 1:
            found.append((low, low + size))
        elif most > 1:
            degree = inside.degree()
            left = fmpz_poly([c * 2 ** (degree - k) for k, c in enumerate(inside.coeffs())])
            right = left(fmpz_poly([1, 1]))
            if not right[0]:
                found.append((low + size / 2, low + size / 2))
            waiting += [(left, low, depth + 1), (right, low + size / 2, depth + 1)]
    return found


def _bound(polynomial: fmpz_poly) -> int:
    """Return an exponent of two above which no root lies (Fujiwara's bound)."""
    *others, lead = (int(c).bit_length() for c in polynomial.coeffs())
    degree = len(others)
    ratios = (-((lead - 1 - size) // (degree - k)) for k, size in enumerate(others) if size)
    return 1 + max(ratios, default=0)


def _between_powers(polynomial: fmpz_poly, low: int, high: int) -> fmpz_poly:
    """Return a polynomial whose roots in (0, 1) are those in (2^low, 2^high)."""
    shift = max(0, -low * polynomial.degree())
    scaled = [c * 2 ** (low * k + shift) for k, c in enumerate(polynomial.coeffs())]
    return fmpz_poly(scaled)(fmpz_poly([1, 2 ** (high - low) - 1]))


def _most_roots(polynomial: fmpz_poly) -> int:
    """Return the number of roots in (0, 1) or more by an even number; 0 and 1 are exact."""
    coefficients = polynomial.coeffs()
    turned = fmpz_poly(list(reversed(coefficients)))(fmpz_poly([1, 1]))
    signs = [c > 0 for c in turned.coeffs() if c]
    return sum(a != b for a, b in pairwise(signs))


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _ball(polynomial: fmpz_poly, interval: Interval, bits: int) -> arb:
    low, high = interval
    rises = _value(polynomial, high) > 0 or _value(polynomial, low) < 0
    slope = polynomial.derivative()
    gain = 1  # bits; doubled where Newton's method finds them, halved where it does not
    while (high - low) * 2**bits > low:
        apart = (high - low) / 2**gain
        middle = (low + high) / 2 if high <= 4 * low else _power(_between(low, high))
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


def _between(low: Fraction, high: Fraction) -> int:
    """Return the exponent of a power of two in the middle of two that are farther apart."""
    ends = (x.numerator.bit_length() - x.denominator.bit_length() for x in (low, high))
    return sum(ends) // 2


def _value(polynomial: fmpz_poly, point: Fraction) -> fmpq:
    return polynomial(_fmpq(point))


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
