"""Real algebraic numbers as elements of an ordered field Q(theta), for exact elimination.

:class:`symreln.exact.algebraic.AlgebraicNumber` names a number and encloses it; elimination and
linear programming need sums, quotients and signs of many numbers of one field. Elements are
polynomials in theta modulo its irreducible polynomial: zero exactly where the polynomial is zero,
and the sign of anything else is read from balls of growing precision, which ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_poly

from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.field import Coefficients, Field
from symreln.exact.scalar import Scalar


class RealField(Field):
    """Q(theta) in the real numbers.

    Args:
        minpoly: f, irreducible over Q, coefficients low to high.
        root: Index of theta among the real roots of f, ascending, from 0.
    """

    def __init__(self, minpoly: Coefficients, root: int) -> None:
        super().__init__(minpoly)
        self.root = root
        self.modulus = self.pack(minpoly)

    def element(self, coefficients: Sequence[Scalar | int]) -> Real:
        """Return Σ c_j theta^j."""
        return Real(self, self.pack([Scalar.of(value) for value in coefficients]))


class Real:
    """An element of a real field: exact arithmetic, exact comparison with 0 and with others."""

    __slots__ = ("field", "polynomial")

    def __init__(self, field: RealField, polynomial: fmpq_poly) -> None:
        self.field = field
        self.polynomial = polynomial

    def _of(self, other: Real | fmpq | int) -> fmpq_poly:
        return other.polynomial if isinstance(other, Real) else fmpq_poly([other])

    def __add__(self, other: Real | fmpq | int) -> Real:
        return Real(self.field, self.polynomial + self._of(other))

    __radd__ = __add__

    def __sub__(self, other: Real | fmpq | int) -> Real:
        return Real(self.field, self.polynomial - self._of(other))

    def __neg__(self) -> Real:
        return Real(self.field, -self.polynomial)

    def __mul__(self, other: Real | fmpq | int) -> Real:
        return Real(self.field, self.polynomial * self._of(other) % self.field.modulus)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | fmpq | int) -> Real:
        divisor = self._of(other)
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
        return self.number.sign()

    @property
    def number(self) -> AlgebraicNumber:
        """The number in the form that documents print."""
        minpoly, own = self.field.minpoly, self.field.unpack(self.polynomial)
        return AlgebraicNumber(minpoly=minpoly, coefficients=own, root=self.field.root)

    def __repr__(self) -> str:
        return f"Real({self.number!r})"
