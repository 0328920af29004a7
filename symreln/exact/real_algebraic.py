"""Real algebraic numbers as elements of an ordered field Q(theta), for exact elimination.

:class:`symreln.exact.algebraic.AlgebraicNumber` names a number and encloses it; elimination and
linear programming need sums, quotients and signs of many numbers of one field. Elements are
polynomials in theta modulo its irreducible polynomial: zero exactly where the polynomial is zero,
and the sign of anything else is read from balls of growing precision, which ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq, fmpq_poly

from symreln.exact import enclosure
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar

#: Working precision with which a sign is first looked for; it doubles until 0 is left out.
_FIRST_BITS = 64


class RealField:
    """Q(theta) in the real numbers.

    Args:
        minpoly: f, irreducible over Q, coefficients low to high.
        root: Index of theta among the real roots of f, ascending, from 0.
    """

    def __init__(self, minpoly: Sequence[Fraction], root: int) -> None:
        self.minpoly = tuple(Fraction(value) for value in minpoly)
        self.root = root
        self.modulus = fmpq_poly([fmpq(v.numerator, v.denominator) for v in self.minpoly])
        self._balls: dict[int, arb] = {}

    @property
    def degree(self) -> int:
        """Degree of theta over Q."""
        return len(self.minpoly) - 1

    def element(self, coefficients: Sequence[Fraction | int]) -> Real:
        """Return Σ c_j theta^j."""
        values = [Fraction(value) for value in coefficients]
        polynomial = fmpq_poly([fmpq(v.numerator, v.denominator) for v in values])
        return Real(self, polynomial % self.modulus)

    def ball(self, bits: int) -> arb:
        """Return a ball that contains theta."""
        if bits not in self._balls:
            self._balls[bits] = enclosure.real_roots(self.minpoly, bits)[self.root]
        return self._balls[bits]


class Real:
    """An element of a real field: exact arithmetic, exact comparison with 0 and with others."""

    __slots__ = ("field", "polynomial")

    def __init__(self, field: RealField, polynomial: fmpq_poly) -> None:
        self.field = field
        self.polynomial = polynomial

    def _other(self, other: Real | fmpq | int) -> fmpq_poly:
        return other.polynomial if isinstance(other, Real) else fmpq_poly([other])

    def __add__(self, other: Real | fmpq | int) -> Real:
        return Real(self.field, self.polynomial + self._other(other))

    __radd__ = __add__

    def __sub__(self, other: Real | fmpq | int) -> Real:
        return Real(self.field, self.polynomial - self._other(other))

    def __neg__(self) -> Real:
        return Real(self.field, -self.polynomial)

    def __mul__(self, other: Real | fmpq | int) -> Real:
        return Real(self.field, self.polynomial * self._other(other) % self.field.modulus)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | fmpq | int) -> Real:
        divisor = self._other(other)
        if not divisor:
            msg = "division by zero in Q(theta)"
            raise ZeroDivisionError(msg)
        common, inverse, _ = divisor.xgcd(self.field.modulus)
        return Real(self.field, self.polynomial * inverse % self.field.modulus / common[0])

    def __rsub__(self, other: fmpq | int) -> Real:
        return -self + other

    def __rtruediv__(self, other: fmpq | int) -> Real:
        return Real(self.field, fmpq_poly([other])) / self

    def __bool__(self) -> bool:
        return bool(self.polynomial)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Real | fmpq | int):
            return NotImplemented
        return not self - other

    __hash__ = None  # type: ignore[assignment]

    def __gt__(self, other: Real | fmpq | int) -> bool:
        return (self - other).sign() > 0

    def __lt__(self, other: Real | fmpq | int) -> bool:
        return (self - other).sign() < 0

    def sign(self) -> int:
        """Return -1, 0 or 1; exact."""
        if not self.polynomial:
            return 0
        coefficients = [Fraction(int(c.p), int(c.q)) for c in self.polynomial.coeffs()]
        if len(coefficients) == 1:
            return 1 if coefficients[0] > 0 else -1
        bits = _FIRST_BITS
        while True:  # ends: f is irreducible, so the number is not 0
            with enclosure.precision(bits):
                value = enclosure.evaluate(coefficients, self.field.ball(bits))
                if value > 0:
                    return 1
                if value < 0:
                    return -1
            bits *= 2

    @property
    def number(self) -> AlgebraicNumber:
        """The number in the form that documents print."""
        coefficients = [Fraction(int(c.p), int(c.q)) for c in self.polynomial.coeffs()]
        coefficients += [Fraction(0)] * (self.field.degree - len(coefficients))
        scalars = tuple(Scalar.of(value) for value in coefficients)
        if self.field.degree == 1:
            return AlgebraicNumber.rational(scalars[0])
        return AlgebraicNumber(
            minpoly=tuple(Scalar.of(value) for value in self.field.minpoly),
            coefficients=scalars,
            root=self.field.root,
        )

    def __repr__(self) -> str:
        return f"Real({self.number!r})"
