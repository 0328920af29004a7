"""A line of equilibria in the strengths themselves, and the point of it that a start leads to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import sympy as sp
from flint import arb

from symreln.dynamics.resting_line import BITS, place_on_line
from symreln.exact.algebraic import WRITTEN_BITS, AlgebraicNumber
from symreln.exact.enclosure import ball, precision

if TYPE_CHECKING:
    from symreln.claims.equilibria import Race
    from symreln.exact.scalar import Scalar

#: What the conserved product is at the start.
PRODUCT = sp.Symbol("rho", positive=True)
#: Factors of the conserved product above which its equation is not written out.
MOST_FACTORS = 200
#: Values of it at which the branch of a root in radicals is told; any would do.
PROBES = (Fraction(1, 1000), Fraction(3, 7), Fraction(5), Fraction(700))


@dataclass(frozen=True, kw_only=True, eq=False)
class RestingPoints:
    """Equilibria pi = base + Σ_k nu_k x_k, x_k the strength of one mode each.

    Attributes:
        strengths: The modes that stay, or the sums of those that are alike.
        unknowns: x_k, the strengths that the others are expressed by.
        base: Strengths at x = 0, one entry a mode that stays.
        along: nu_k of every unknown, entries as ``base``.
        exponents: m nu_k of every unknown: Σ m nu_k ln pi does not change.
        low, high: Between which the unknown lies; None for several unknowns.
        balls: Certified strengths from equal starts of single modes; None without a start, or for
            several unknowns.
    """

    strengths: tuple[sp.Expr, ...]
    unknowns: tuple[sp.Expr, ...]
    base: tuple[sp.Expr, ...]
    along: tuple[tuple[sp.Expr, ...], ...]
    exponents: tuple[tuple[sp.Expr, ...], ...]
    low: sp.Expr | None
    high: sp.Expr | None
    balls: tuple[arb, ...] | None

    @cached_property
    def formulas(self) -> tuple[sp.Expr, ...]:
        """All strengths by the unknowns."""
        return tuple(
            base + sum(nu[a] * x for nu, x in zip(self.along, self.unknowns, strict=True))
            for a, base in enumerate(self.base)
        )

    @cached_property
    def sums(self) -> tuple[sp.Expr, ...]:
        """Σ m nu_k ln pi of every unknown: what is conserved."""
        return tuple(
            sp.Add(*(e * sp.log(pi) for e, pi in zip(row, self.strengths, strict=True)))
            for row in self.exponents
        )

    @cached_property
    def powers(self) -> tuple[int, ...] | None:
        """Whole exponents of the conserved product rho; None for several unknowns or roots."""
        if len(self.unknowns) > 1 or not all(e.is_Rational for e in self.exponents[0]):
            return None
        scale = lcm(*(int(sp.denom(e)) for e in self.exponents[0]))
        return tuple(int(e * scale) for e in self.exponents[0])

    @cached_property
    def root(self) -> sp.Expr | None:
        """The unknown in radicals of rho, where its equation is quadratic at most.

        Its one root between ``low`` and ``high`` is simple, since the logarithm of the product
        rises along the line; so for rho > 0 it stays on one branch, which a few values show.
        """
        polynomial = self.polynomial
        if polynomial is None or polynomial.degree() > 2:
            return None
        inside = [
            form for form in _forms(polynomial) if all(self._inside(form, rho) for rho in PROBES)
        ]
        return sp.simplify(inside[0]) if inside else None

    @cached_property
    def polynomial(self) -> sp.Poly | None:
        """What vanishes at the unknown: Π pi^e over e > 0 less rho Π pi^{-e} over e < 0.

        None too where its degree or its numbers are beyond what is written out.
        """
        if self.powers is None or sum(map(abs, self.powers)) > MOST_FACTORS:
            return None
        radicands = (power.base for f in self.formulas for power in f.atoms(sp.Pow))
        # SymPy multiplies them, and looks for powers among floats (1.14).
        if max(map(_length, radicands), default=0) * sum(map(abs, self.powers)) > WRITTEN_BITS:
            return None
        parts = list(zip(self.powers, self.formulas, strict=True))
        up = sp.Mul(*(f**e for e, f in parts if e > 0))
        down = sp.Mul(*(f**-e for e, f in parts if e < 0))
        found = sp.Poly(sp.expand(up - PRODUCT * down), self.unknowns[0])
        long = _length(found.as_expr()) > WRITTEN_BITS // 4  # discriminants are twice as long
        return None if long else found

    def _inside(self, root: sp.Expr, rho: Fraction) -> bool:
        assert self.low is not None
        assert self.high is not None
        value = sp.N(root.subs(PRODUCT, sp.Rational(rho)), 60)
        return bool(value.is_real) and bool(self.low < value) and bool(value < self.high)


def _length(expression: sp.Expr) -> int:
    """Return the bits of the longest numerator or denominator in an expression."""
    numbers = expression.atoms(sp.Rational)
    return max((max(abs(int(n.p)), int(n.q)).bit_length() for n in numbers), default=0)


def _forms(polynomial: sp.Poly) -> list[sp.Expr]:
    """Return the roots of a polynomial of degree 1 or 2, in forms that hold for all rho > 0.

    (−b ± √D)/(2a) where a does not vanish; 2c/(−b ± √D) where c does not: unlike the first it
    goes through a = 0. Strengths are positive, so a root that is asked for is not 0.
    """
    a, b, c = ([sp.S.Zero] * 2 + polynomial.all_coeffs())[-3:]
    if a == 0:
        return [-c / b] if _no_zero(b) else []
    roots = [sign * sp.sqrt(sp.factor(b**2 - 4 * a * c)) for sign in (1, -1)]
    if _no_zero(a):
        return [(root - b) / (2 * a) for root in roots]
    return [2 * c / (root - b) for root in roots] if _no_zero(c) else []


def _no_zero(coefficient: sp.Expr) -> bool:
    """Whether a polynomial in rho has no zero at rho > 0."""
    found = sp.Poly(coefficient, PRODUCT)
    return not found.is_zero and sp.count_roots(found, 0, None) == int(found.eval(0) == 0)


def resting_points(race: Race, start: Fraction | None) -> RestingPoints:
    """Return the line of a race in its strengths.

    Args:
        race: With a line.
        start: Where every single mode starts; None where that is not known.
    """
    line, system = race.line, race.totals
    assert line is not None
    places = [a for a, there in enumerate(line.support) if there]
    squares = [c.eigenvalue[0] for c in system.classes]
    values = race.values

    def root(square: Scalar) -> sp.Expr:
        return AlgebraicNumber.rational(square.substitute(values), is_sqrt=True).to_sympy({})

    s = [root(x) for x in squares]
    free = [_free(line.directions, k) for k in range(len(line.directions))]
    base = [
        s[a]
        * sp.Rational(
            line.point[a]
            - sum(line.point[f] * n[a] for f, n in zip(free, line.directions, strict=True))
        )
        for a in places
    ]
    along = tuple(
        tuple(root(squares[a] / squares[f]) * sp.Rational(n[a]) for a in places)
        for f, n in zip(free, line.directions, strict=True)
    )
    strengths = tuple(_sum_of(race, a) for a in places)
    low = high = None
    if len(free) == 1:
        low, high = (
            s[free[0]] * sp.Rational(line.point[free[0]] + x) for x in line.ends if x is not None
        )
    return RestingPoints(
        strengths=strengths,
        unknowns=tuple(strengths[places.index(f)] for f in free),
        base=tuple(base),
        along=along,
        exponents=tuple(
            tuple(nu * system.classes[a].multiplicity for nu, a in zip(row, places, strict=True))
            for row in along
        ),
        low=low,
        high=high,
        balls=None if start is None or len(free) > 1 else _balls(race, start, places),
    )


def _free(directions: tuple[tuple[Fraction, ...], ...], k: int) -> int:
    """Return a mode that direction k alone moves, by 1."""
    return next(
        a
        for a, value in enumerate(directions[k])
        if value == 1 and not any(other[a] for i, other in enumerate(directions) if i != k)
    )


def _sum_of(race: Race, total: int) -> sp.Expr:
    (modes,) = race.alike(total)
    return sp.Add(*(sp.Symbol(mode.label, positive=True) for mode in modes))


def _balls(race: Race, start: Fraction, places: list[int]) -> tuple[arb, ...]:
    line, classes = race.line, race.totals.classes
    assert line is not None
    squares = [c.eigenvalue[0].substitute(race.values).to_fraction() for c in classes]
    with precision(BITS):
        sizes = [ball(square).sqrt() for square in squares]
        begun = [ball(start * len(group)) for group in race.groups]
        weights = [c.multiplicity * square for c, square in zip(classes, squares, strict=True)]
        x = place_on_line(line, sizes, weights, begun)
        (along,) = line.directions
        return tuple(sizes[a] * (ball(line.point[a]) + x * ball(along[a])) for a in places)
