"""Values of formulas: how large an operation's result can be, and exact square roots."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from math import comb, isqrt
from typing import NamedTuple

from flint import fmpz_mpoly
from flint.utils.flint_exceptions import DomainError

from symreln.exact.scalar import Scalar
from symreln.specs.number import MAX_BITS

MAX_TERMS = 512
MAX_DEGREE = 64
"""Terms and total degree of any polynomial on the way: products and gcds of polynomials of this
size take milliseconds."""

Value = Fraction | Scalar


class Size(NamedTuple):
    """Upper bounds on a polynomial: bits of the coefficients, number of terms, total degree."""

    bits: int
    terms: int
    degree: int

    def times(self, other: Size) -> Size:
        """Return the size of a product."""
        carry = min(self.terms, other.terms).bit_length()
        return Size(
            self.bits + other.bits + carry, self.terms * other.terms, self.degree + other.degree
        )

    def plus(self, other: Size) -> Size:
        """Return the size of a sum."""
        return Size(
            max(self.bits, other.bits) + 1,
            self.terms + other.terms,
            max(self.degree, other.degree),
        )

    def power(self, exponent: int) -> Size:
        """Return the size of a power with an exponent >= 0."""
        if self.terms == 0 or exponent == 0:
            return Size(1, 1, 0)
        carry = self.terms.bit_length() if self.terms > 1 else 0
        terms = comb(self.terms + exponent - 1, exponent)
        return Size(exponent * (self.bits + carry), terms, self.degree * exponent)

    def excess(self, names: int) -> tuple[str, str] | None:
        """Return what is too large and the limit, in words, or None; ``names`` are in the ring."""
        if self.degree > MAX_DEGREE:
            return f"a result of degree {self.degree}", f"degree at most {MAX_DEGREE}"
        if self.bits > MAX_BITS:
            return f"a result of up to {self.bits} bits", f"at most {MAX_BITS} bits"
        # No polynomial of this degree in these names has more terms than that.
        if min(self.terms, comb(self.degree + names, names)) > MAX_TERMS:
            return "a result of too many terms", f"at most {MAX_TERMS} terms"
        return None


def sizes(value: Value) -> tuple[Size, Size]:
    """Return the sizes of numerator and denominator."""
    if isinstance(value, Fraction):
        top, bottom = value.numerator, value.denominator
        return Size(top.bit_length(), 1, 0), Size(bottom.bit_length(), 1, 0)
    return _size(value.numerator), _size(value.denominator)


def sizes_of_pair(a: Value, b: Value, *, adds: bool) -> tuple[Size, Size]:
    """Return the sizes of numerator and denominator of a + b or a * b, before cancelling."""
    top_a, bottom_a = sizes(a)
    top_b, bottom_b = sizes(b)
    if not adds:
        return top_a.times(top_b), bottom_a.times(bottom_b)
    return top_a.times(bottom_b).plus(top_b.times(bottom_a)), bottom_a.times(bottom_b)


def _size(polynomial: fmpz_mpoly) -> Size:
    coefficients = polynomial.coeffs()
    bits = max((int(x).bit_length() for x in coefficients), default=0)
    return Size(bits, len(coefficients), max(0, int(polynomial.total_degree())))


def as_fraction(value: Value) -> Fraction | None:
    """Return the number that a constant is, or None."""
    if isinstance(value, Fraction):
        return value
    return value.to_fraction() if value.is_constant else None


def square_root(value: Value, nonnegative: Collection[str]) -> Value | None:
    """Return the square root that is >= 0 for all allowed values of the parameters, or None.

    Args:
        value: What to take the root of.
        nonnegative: The parameters that are >= 0.
    """
    number = as_fraction(value)
    if number is not None:
        if number < 0:
            return None
        root = Fraction(isqrt(number.numerator), isqrt(number.denominator))
        return root if root**2 == number else None
    assert isinstance(value, Scalar)
    allowed = {i for i, name in enumerate(value.parameters) if name in nonnegative}
    top = _polynomial_root(value.numerator, allowed)
    bottom = _polynomial_root(value.denominator, allowed)
    return None if top is None or bottom is None else Scalar(value.parameters, top, bottom)


def _polynomial_root(polynomial: fmpz_mpoly, nonnegative: set[int]) -> fmpz_mpoly | None:
    try:
        root = polynomial.sqrt()
    except DomainError:
        return None
    if any(e and i not in nonnegative for key in root.to_dict() for i, e in enumerate(key)):
        return None
    # A polynomial with coefficients of one sign, in parameters >= 0, has that sign everywhere.
    coefficients = [int(c) for c in root.coeffs()]
    if all(c >= 0 for c in coefficients):
        return root
    return -root if all(c <= 0 for c in coefficients) else None
