"""Real algebraic numbers as elements of an ordered field Q(theta), for exact elimination.

:class:`symreln.exact.algebraic.AlgebraicNumber` names a number and encloses it; elimination and
linear programming need sums, quotients and signs of many numbers of one field. Elements are
polynomials in theta modulo its irreducible polynomial: zero exactly where the polynomial is zero,
and the sign of anything else is read from balls of growing precision, which ends.
"""

from __future__ import annotations

from functools import total_ordering

from flint import fmpq, fmpq_poly

from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.field import Field


@total_ordering
class Real:
    """An element of Q(theta) in the real numbers: exact arithmetic, exact comparison.

    Args:
        field: Q(theta), without parameters.
        root: Index of theta among the real roots of its polynomial, ascending, from 0.
        polynomial: Σ c_j theta^j, of lower degree than the field's polynomial.
    """

    __slots__ = ("_field", "_root", "polynomial")

    def __init__(self, field: Field, root: int, polynomial: fmpq_poly) -> None:
        self._field, self._root, self.polynomial = field, root, polynomial

    def _with(self, polynomial: fmpq_poly) -> Real:
        return Real(self._field, self._root, polynomial)

    def _of(self, other: Real | fmpq | int) -> fmpq_poly:
        return other.polynomial if isinstance(other, Real) else fmpq_poly([other])

    def __add__(self, other: Real | fmpq | int) -> Real:
        return self._with(self.polynomial + self._of(other))

    __radd__ = __add__

    def __sub__(self, other: Real | fmpq | int) -> Real:
        return self._with(self.polynomial - self._of(other))

    def __neg__(self) -> Real:
        return self._with(-self.polynomial)

    def __mul__(self, other: Real | fmpq | int) -> Real:
        return self._with(self.polynomial * self._of(other) % self._field.modulus)

    __rmul__ = __mul__

    def __truediv__(self, other: Real | fmpq | int) -> Real:
        divisor = self._of(other)
        if not divisor:
            msg = "division by zero in Q(theta)"
            raise ZeroDivisionError(msg)
        common, inverse, _ = divisor.xgcd(self._field.modulus)
        return self._with(self.polynomial * inverse % self._field.modulus / common[0])

    def __rsub__(self, other: fmpq | int) -> Real:
        return -self + other

    def __rtruediv__(self, other: fmpq | int) -> Real:
        return self._with(fmpq_poly([other])) / self

    def __bool__(self) -> bool:
        return bool(self.polynomial)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Real | fmpq | int):
            return NotImplemented
        return not self - other

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Real | fmpq | int) -> bool:
        return (self - other).number.sign() < 0

    @property
    def number(self) -> AlgebraicNumber:
        """The number in the form that documents print."""
        own = self._field.unpack(self.polynomial)
        return AlgebraicNumber(minpoly=self._field.minpoly, coefficients=own, root=self._root)
