"""The order of algebraic numbers at parameter values."""

from __future__ import annotations

from functools import total_ordering

from flint import arb

from symreln.exact import enclosure
from symreln.exact.algebraic import ORDER_BITS, AlgebraicNumber, Values


@total_ordering
class order_key:
    """Sort key: larger numbers first; numbers equal to ``ORDER_BITS`` bits tie."""

    def __init__(self, number: AlgebraicNumber, values: Values) -> None:
        self.number = number
        self.values = values
        exact = number.scalar
        self.exact = None
        if exact is not None:
            self.exact = exact.substitute(dict(values)).to_fraction()
        self.first = number.ball(values, 64)

    def _compare(self, other: order_key) -> int:
        if self.exact is not None and other.exact is not None:
            return (self.exact > other.exact) - (self.exact < other.exact)
        return enclosure.sign_of(lambda bits: self._ball(bits) - other._ball(bits), ORDER_BITS)

    def _ball(self, bits: int) -> arb:
        return self.first if bits == 64 else self.number.ball(self.values, bits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, order_key) and self._compare(other) == 0

    def __lt__(self, other: order_key) -> bool:
        return self._compare(other) > 0

    __hash__ = None  # type: ignore[assignment]
