"""A line of equilibria in the strengths themselves, and the point of it that a start leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import sympy as sp
from flint import arb

from symreln.base.summaries import few
from symreln.claims.claim import Claim
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, equation
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say, typeset
from symreln.exact.algebraic import WRITTEN_BITS, AlgebraicNumber
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.laws.resting_line import BITS, place_on_line

if TYPE_CHECKING:
    from symreln.claims.derivation import ModeDerivation
    from symreln.exact.scalar import Scalar
    from symreln.laws.competition import Competition
    from symreln.laws.resting_line import RestingLine

#: What the conserved product is at the start.
PRODUCT = sp.Symbol("rho", positive=True)
#: Factors of the conserved product above which its equation is not written out.
_MOST_FACTORS = 200
#: Values of it at which the branch of a root in radicals is told; any would do.
_PROBES = (Fraction(1, 1000), Fraction(3, 7), Fraction(5), Fraction(700))
#: Modes that are named one by one.
MOST_NAMED = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class RestingPoints(Claim):
    """Equilibria pi = base + Σ_k nu_k x_k, x_k the strength of one mode each.

    Attributes:
        modes: Labels of all modes that compete.
        die_out: Labels of those that are not there in the end.
        strengths: The modes that stay, or the sums of those that are alike.
        unknowns: x_k, the strengths that the others are expressed by.
        base: Strengths at x = 0, one entry a mode that stays.
        along: nu_k of every unknown, entries as ``base``.
        exponents: m nu_k of every unknown: Σ m nu_k ln pi does not change.
        low, high: Between which the unknown lies; None for several unknowns.
        balls: Certified strengths from equal starts of single modes; None without a start, or for
            several unknowns.
    """

    modes: tuple[str, ...]
    die_out: tuple[str, ...]
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

    @property
    def product(self) -> sp.Expr | None:
        """The conserved product rho of the strengths, where there is one."""
        if self.powers is None:
            return None
        return sp.Mul(*(pi**e for pi, e in zip(self.strengths, self.powers, strict=True)))

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
            form for form in _forms(polynomial) if all(self._inside(form, rho) for rho in _PROBES)
        ]
        return sp.simplify(inside[0]) if inside else None

    @cached_property
    def polynomial(self) -> sp.Poly | None:
        """What vanishes at the unknown: Π pi^e over e > 0 less rho Π pi^{-e} over e < 0.

        None too where its degree or its numbers are beyond what is written out.
        """
        if self.powers is None or sum(map(abs, self.powers)) > _MOST_FACTORS:
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

    def values(self) -> dict[str, Any]:
        """Return the strengths by the unknowns, at the declared values, and what picks a point.

        "conserved" are the sums that pick it. With one unknown: its "range", the "root" in radicals
        of rho = "product" at the start, None where there is none, and the decimals
        "from_equal_starts" of the prediction.
        """
        return {
            "unknowns": self.unknowns,
            "strengths": dict(zip(self.strengths, self.formulas, strict=True)),
            "die_out": self.die_out,
            "conserved": self.sums,
            "range": None if self.low is None else (self.low, self.high),
            "product": self.product,
            "root": self.root,
            "from_equal_starts": None
            if self.balls is None
            else dict(zip(self.strengths, self.balls, strict=True)),
        }

    def says(self) -> Iterator[Block]:
        """Say where modes end, as a function of the start."""
        count = len(self.unknowns)
        shape = "a line" if count == 1 else f"a set of dimension {count}"
        yield say(
            "The couplings of {modes} are singular at the declared values (checked exactly), and "
            f"equilibria of least loss are {shape}:",
            modes=typeset(few(self.modes, MOST_NAMED)),
        )
        yield equation(
            *(
                f"{to_latex(pi)} &= {to_latex(formula)}"
                for pi, formula in zip(self.strengths, self.formulas, strict=True)
                if pi not in self.unknowns
            )
        )
        where = "wherever all are positive"
        if self.low is not None and self.high is not None:
            low, x, high = map(to_latex, (self.low, self.unknowns[0], self.high))
            where = f"for ${low} < {x} < {high}$"
        sums = " and ".join(f"${to_latex(total)}$" for total in self.sums)
        yield say(
            f"{where}. {'{gone} die out. ' * bool(self.die_out)}From every positive start the "
            f"aligned modes come to rest at the one of them at which {sums} "
            f"{'has' if count == 1 else 'have'} the value of the start: the flow keeps it.",
            gone=typeset(few(self.die_out, MOST_NAMED)),
        )
        if count == 1:
            yield from self._solved()

    def _solved(self) -> Iterator[Block]:
        """Say which point of a line it is: by its equation, in radicals, as decimals."""
        if self.product is not None and self.polynomial is not None:
            yield say(
                f"With ${to_latex(PRODUCT)} = {to_latex(self.product)}$ at the start it is the "
                "only root in this range of"
            )
            yield equation(f"{to_latex(self.polynomial.as_expr())} = 0,")
            if self.root is not None:
                yield say("that is")
                yield equation(f"{to_latex(self.unknowns[0])} = {to_latex(self.root)}.")
        if self.balls is not None:
            decimals = (decimal_latex(*decimal_of(b, 21), digits=8) for b in self.balls)
            shown = ", ".join(
                f"${to_latex(pi)} = {decimal}$"
                for pi, decimal in zip(self.strengths, decimals, strict=True)
            )
            yield say(rf"From equal starts, at the expected $\pi_0$: {shown}.")


def why_a_point() -> Block:
    """Return the proof that every positive start comes to rest, and where."""
    return Details(
        summary="Why the start picks one equilibrium",
        blocks=(
            say(
                r"$A_{ab} = m_a \kappa_{ab}$ is symmetric and positive semidefinite, so the minima "
                r"of $L$ over $\pi \geq 0$ are convex, with one drive "
                r"$\delta_a = s_a - \sum_b \kappa_{ab} \pi_b \leq 0$ a mode. For every minimum "
                r"$\pi^*$, $V = \sum_a (m_a/2)(\pi_a - \pi^*_a - \pi^*_a \ln \pi_a)$ has "
                r"$\tau \dot{V} = -(\pi - \pi^*)^{\top} A (\pi - \pi^*) "
                r"+ \sum_a m_a \pi_a \delta_a \leq 0$: strengths stay bounded, limit points are "
                "minima, and, $V$ being finite there, have every mode that any minimum has. With a "
                r"limit point in place of $\pi^*$, $V$ is least there alone and falls, so there is "
                r"one limit point. Where $\kappa \nu = 0$, symmetry gives "
                r"$\sum_a m_a \nu_a \kappa_{ab} = 0$, and $\sum_a m_a \nu_a s_a = 0$ as the loss "
                r"is bounded below (checked exactly): $\sum_a m_a \nu_a \ln \pi_a$ never changes. "
                "These sums are, along the minima, the gradient of the strictly convex "
                r"$\sum_a m_a (\pi_a \ln \pi_a - \pi_a)$, so they have the values of the start at "
                "one minimum only."
            ),
        ),
    )


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


def resting_points(
    system: Competition,
    line: RestingLine,
    modes: Sequence[Sequence[tuple[ModeDerivation, ...]]],
    values: Mapping[str, Fraction],
    start: Fraction | None,
) -> RestingPoints:
    """Return a line of equilibria in its strengths.

    Args:
        system: The competition, those that are alike as one mode.
        line: Its equilibria of least loss.
        modes: The modes that every class stands for, a tuple a root.
        values: The parameters' values.
        start: Where every single mode starts; None where that is not known.
    """
    places = [a for a, there in enumerate(line.support) if there]
    squares = [c.eigenvalue[0] for c in system.classes]

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
    labels = [[mode.label for part in parts for mode in part] for parts in modes]
    strengths = tuple(
        sp.Add(*(sp.Symbol(label, positive=True) for label in labels[a])) for a in places
    )
    begun = [] if start is None else [start * len(own) for own in labels]
    low = high = None
    if len(free) == 1:
        low, high = (
            s[free[0]] * sp.Rational(line.point[free[0]] + x) for x in line.ends if x is not None
        )
    return RestingPoints(
        modes=tuple(label for own in labels for label in own),
        die_out=tuple(label for a, own in enumerate(labels) if a not in places for label in own),
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
        balls=None
        if start is None or len(free) > 1
        else _balls(system, line, begun, places, values),
    )


def _free(directions: tuple[tuple[Fraction, ...], ...], k: int) -> int:
    """Return a mode that direction k alone moves, by 1."""
    return next(
        a
        for a, value in enumerate(directions[k])
        if value == 1 and not any(other[a] for i, other in enumerate(directions) if i != k)
    )


def _balls(
    system: Competition,
    line: RestingLine,
    begun: Sequence[Fraction],
    places: list[int],
    values: Mapping[str, Fraction],
) -> tuple[arb, ...]:
    """Return certified strengths of the point that starts lead to."""
    classes = system.classes
    squares = [c.eigenvalue[0].substitute(values).to_fraction() for c in classes]
    with precision(BITS):
        sizes = [ball(square).sqrt() for square in squares]
        weights = [c.multiplicity * square for c, square in zip(classes, squares, strict=True)]
        x = place_on_line(line, sizes, weights, [ball(start) for start in begun])
        (along,) = line.directions
        return tuple(sizes[a] * (ball(line.point[a]) + x * ball(along[a])) for a in places)
