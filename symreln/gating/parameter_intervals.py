"""A parameter's range, cut at roots of polynomials: intervals with a rational number inside each.

What depends on the parameter through signs of these polynomials alone is the same on all of an
interval, so it is decided exactly at its rational number; at rational roots it is decided there.
Irrational roots are ends of intervals, and in none.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key

from flint import arb, fmpz_mpoly

from symreln.base.records import record
from symreln.exact import enclosure
from symreln.exact.algebraic import AlgebraicNumber, real_roots
from symreln.exact.domain import Range
from symreln.exact.factoring import factors
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar


@record(eq=False)
class Piece:
    """A rational root, or the open interval between two neighbouring roots or ends of the range.

    Attributes:
        low: Lower end, or None where there is none.
        high: Upper end, or None; the same object as ``low`` for a root.
        sample: A rational number inside.
    """

    low: AlgebraicNumber | None
    high: AlgebraicNumber | None
    sample: Fraction

    @property
    def ends(self) -> tuple[AlgebraicNumber | None, AlgebraicNumber | None]:
        """Both ends."""
        return self.low, self.high

    @property
    def is_root(self) -> bool:
        """Whether this is a single value."""
        return self.low is not None and self.low is self.high


def over(matrix: ExactMatrix, name: str) -> ExactMatrix:
    """Return a matrix over one parameter, others not occurring in it.

    Args:
        matrix: Exact.
        name: The parameter.
    """
    others = [other for other in matrix.parameters if other != name]
    left = matrix.substitute(dict.fromkeys(others, Fraction(1)))
    return left if left.parameters else left.promoted((name,))


def roots_of(polynomials: Iterable[fmpz_mpoly], limits: Range) -> list[AlgebraicNumber]:
    """Return the distinct roots of polynomials in the range.

    Args:
        polynomials: In the one parameter, over Z; constants are left out.
        limits: The parameter's range.
    """
    distinct = {str(f): f for p in polynomials if not p.is_zero() for f in factors(p)}
    roots = [root for f in distinct.values() for root in real_roots(f)]
    return [root for root in roots if limits.contains(root.compare)]


def pieces(polynomials: Iterable[fmpz_mpoly], limits: Range) -> tuple[Piece, ...]:
    """Return rational roots of polynomials and the intervals between roots, in ascending order.

    Args:
        polynomials: In the one parameter, over Z; constants are left out.
        limits: The parameter's range. An end that belongs to it counts as a root.
    """
    return pieces_between(roots_of(polynomials, limits), limits)


def pieces_between(roots: Iterable[AlgebraicNumber], limits: Range) -> tuple[Piece, ...]:
    """Return rational roots and intervals in ascending order, from end to end of the range.

    Args:
        roots: In the range.
        limits: The parameter's range. An end that belongs to it counts as a root.
    """
    low, high = (None if e is None else rational_number(e) for e in (limits.low, limits.high))
    opened = low is None or limits.open_low  # else it is a root
    roots = {*roots, *(end for end in (None if opened else low, high) if end is not None)}
    ordered = sorted(roots, key=cmp_to_key(_compared))
    walls = [*([low] if opened else []), *ordered, *([None] if high is None else [])]
    found = list[Piece]()
    for place, wall in enumerate(walls):
        if wall is not None and wall.scalar is not None and place >= opened:
            found.append(Piece(low=wall, high=wall, sample=wall.scalar.to_fraction()))
        if place + 1 < len(walls):
            found.append(_between(wall, walls[place + 1]))
    return tuple(found)


def rational_number(value: Fraction | int) -> AlgebraicNumber:
    """Return a fraction as an algebraic number."""
    return AlgebraicNumber.rational(Scalar.of(value))


def _compared(one: AlgebraicNumber, two: AlgebraicNumber) -> int:
    """Return the sign of the difference of distinct numbers."""
    return enclosure.sign_of(lambda bits: one.ball({}, bits) - two.ball({}, bits))


def _between(low: AlgebraicNumber | None, high: AlgebraicNumber | None) -> Piece:
    """Return the interval with a short rational number inside."""
    if low is None and high is None:
        return Piece(low=None, high=None, sample=Fraction(0))
    bits = 64
    while True:
        with enclosure.precision(bits):
            bottom = None if low is None else _end(low.ball({}, bits), up=True)
            top = None if high is None else _end(high.ball({}, bits), up=False)
        if bottom is None:
            assert top is not None
            return Piece(low=None, high=high, sample=Fraction(top.__ceil__() - 1))
        if top is None:
            return Piece(low=low, high=None, sample=Fraction(bottom.__floor__() + 1))
        if bottom < top:
            return Piece(low=low, high=high, sample=_simplest(bottom, top))
        bits *= 2


def _end(ball: arb, *, up: bool) -> Fraction:
    end = ball.upper() if up else ball.lower()
    man, exp = end.mid().man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of the least denominator strictly between two."""
    whole = low.__floor__()
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # low is whole and high at most one more: 1/k above it, the least k that fits.
        return whole + Fraction(1, (1 / (high - whole)).__floor__() + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))
