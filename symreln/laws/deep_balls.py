r"""Certified balls of the depth-L family: t(π) inverted by the Taylor series of its inverse.

The clock E(y) of :mod:`symreln.laws.deep_numbers`, up to a constant, follows from
t(π) of :mod:`symreln.laws.deep`. With :math:`v = e^{-y}`, r the L-th root of x for a
rising and of 1/x for a falling mode, :math:`\varphi_j = 2\pi j/L`, and the logarithms of all roots
of unity, whose sum is :math:`\ln(1 - r^L)`, taken out,

.. math:: E = -\ln(1 - r^L) + \sum_{0 < j < L/2} \bigl[ 2 \sin^2\varphi_j
   \ln(1 - 2 r \cos\varphi_j + r^2) \pm 2 \sin 2\varphi_j
   \arctan\tfrac{r \sin\varphi_j}{1 - r \cos\varphi_j} \bigr] - \tfrac{1}{e} r^{\mp(L-2)},

:math:`e = 1 - 2/L`, upper signs rising; for infinite L, :math:`E = y \mp v`. No term cancels
another near the plateau.

Its inverse y(E) obeys :math:`dy/dE = g`, :math:`g = x^e`, and with :math:`q = 1 - x`
:math:`dg/dE = e q g^2`, :math:`dq/dE = -q(1 - q) g`. So its k-th derivative is
:math:`g^k P_k(q)`, :math:`P_1 = 1`, :math:`P_{k+1} = q [k e P_k - (1 - q) P_k']`. From a float y,
where E is off its goal by little, a few terms give the solution to the last bit.

What follows them is bounded by Cauchy: if :math:`|g| \le F` for complex z within M of y, the
inverse is analytic for steps below R = M/F and moves by M at most. A rising mode has Re v >= 0
within M = π/2, hence :math:`|1 + v(z)| \ge (1 + v(y)) e^{-\pi/2}/\sqrt{2}` and, as e <= 1,
:math:`R \ge 0.23/g`. For a falling one with M = y/2,
:math:`|1 - v(z)| \ge 1 - e^{-y/2} \ge (1 - v(y))/2` and :math:`R \ge y/(4 g)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log2

import numpy as np
from flint import arb, arb_poly, ctx, fmpq, fmpq_poly

from symreln.errors import LimitReachedError, NoClosedFormError
from symreln.exact.enclosure import ball
from symreln.laws import deep_numbers

_NEWTON = 200
#: Share of the radius of convergence below which the series is summed: 20 bits a term.
_NEAR_BITS = 20
_NEAR = 2.0**-_NEAR_BITS
#: Beyond it a logit is no number that floats propose.
_LARGEST = 1e300


def strength_ball(layers: int | None, s: arb, d: arb, strength0: arb, t: arb, tau: arb) -> arb:
    """Evaluate at one time; see :func:`strength_balls`."""
    return strength_balls(layers, s, d, strength0, [t], tau)[0]


def strength_balls(
    layers: int | None, s: arb, d: arb, strength0: arb, times: Sequence[arb], tau: arb
) -> tuple[arb, ...]:
    """Evaluate the family with certified error bounds at Arb's current precision.

    Balls that are exactly zero select the case; s, d and strength0 must otherwise be positive.

    Args:
        layers: L, from 3; None for the rescaled limit of infinitely many.
        s: Singular value.
        d: Input eigenvalue.
        strength0: Initial strength.
        times: Times in steps (times L in the limit), of any order.
        tau: Time constant in steps.

    Raises:
        NoClosedFormError: d = 0 and the strength is not finite until then.
        LimitReachedError: The precision is too low to tell where the solution lies.
    """
    pace = (layers or 1) / tau
    if s.is_zero() and d.is_zero():
        return (strength0,) * len(times)
    if s.is_zero() or d.is_zero():
        return tuple(_power_law(layers, s, d, strength0, pace * t) for t in times)
    share, plateau = strength0 * d / s, s / d
    if share == 1:
        return (plateau,) * len(times)
    if not share < 1 and not share > 1:
        msg = "depth L: at this precision the start cannot be told from the plateau"
        raise LimitReachedError(msg)
    clock = _Clock.of(layers, rises=share < 1)
    unit = s * plateau**clock.exponent * pace
    start = share.log() - (-share).log1p() if clock.rises else -(-1 / share).log1p()
    grown = [unit * t for t in times]
    begun = clock.at(start).value
    return tuple(
        strength0 if t.is_zero() else plateau * clock.share(begun + growth, near)
        for t, growth, near in zip(times, grown, _proposals(clock, start, grown), strict=True)
    )


def _power_law(layers: int | None, s: arb, d: arb, strength0: arb, time: arb) -> arb:
    """Return the strength where s or d is 0, at a time in units of tau/L."""
    e = arb(1) if layers is None else ball(1 - Fraction(2, layers))
    if s.is_zero():
        power = 1 + e
        return strength0 * (1 + d * power * strength0**power * time) ** (-1 / power)
    left = 1 - s * e * strength0**e * time
    if not left > 0:
        msg = f"depth {layers}: without inputs (d = 0) the strength is infinite before that t"
        raise NoClosedFormError(msg)
    return strength0 * left ** (-1 / e)


def _proposals(clock: _Clock, start: arb, grown: list[arb]) -> list[float]:
    """Return a logit for every time from floats; only speed depends on them."""
    growth = np.minimum([float(g) for g in grown], _LARGEST)
    invert = deep_numbers.rising_inverse if clock.rises else deep_numbers.falling_inverse
    guess = float(start) + growth
    try:
        with np.errstate(all="ignore"):
            found = invert(float(clock.exponent), np.full(len(grown), float(start)), growth)
    except LimitReachedError:
        found = guess
    known = np.isfinite(found) & (found > 0 if not clock.rises else True)
    return np.where(known, found, guess).tolist()


@dataclass(frozen=True, kw_only=True)
class _Point:
    """The clock at a logit: its value E, g = 1/E', and x."""

    value: arb
    pace: arb
    share: arb


@dataclass(frozen=True, kw_only=True)
class _Clock:
    """E(y) of one depth, its constants at the working precision.

    Attributes:
        layers: L, or None for the limit.
        rises: Whether the strength rises.
        exponent: e.
        pairs: cos φ, sin φ, 2 sin² φ and ±2 sin 2φ of every pair of roots of unity.
        derivatives: P_k/k!, from k = 1.
    """

    layers: int | None
    rises: bool
    exponent: arb
    pairs: tuple[tuple[arb, arb, arb, arb], ...]
    derivatives: tuple[arb_poly, ...]

    @classmethod
    def of(cls, layers: int | None, *, rises: bool) -> _Clock:
        exact = Fraction(1) if layers is None else 1 - Fraction(2, layers)
        pairs = []
        whole = layers or 1  # in the limit there is no pair
        for j in range(1, (whole + 1) // 2):
            sine, cosine = arb.sin_cos_pi_fmpq(fmpq(2 * j, whole))
            twice = 4 * sine * cosine
            pairs.append((cosine, sine, 2 * sine * sine, twice if rises else -twice))
        count = ctx.prec // _NEAR_BITS + 2
        return cls(
            layers=layers,
            rises=rises,
            exponent=ball(exact),
            pairs=tuple(pairs),
            derivatives=tuple(map(arb_poly, _derivatives(exact, count))),
        )

    def at(self, y: arb) -> _Point:
        """Return the clock at a logit, positive for a falling mode."""
        v = (-y).exp()
        bottom = 1 + v if self.rises else -(-y).expm1()
        share = 1 / bottom
        if self.layers is None:
            return _Point(value=y - v if self.rises else y + v, pace=share, share=share)
        logarithm = bottom.log()
        size = -logarithm if self.rises else logarithm
        r = (size / self.layers).exp()
        power = r ** (self.layers - 2)
        value = y + (logarithm if self.rises else 0)
        for cosine, sine, weight, turn in self.pairs:
            part = r * cosine
            value += weight * (1 - 2 * part + r * r).log()
            if not turn.is_zero():
                value += turn * (r * sine / (1 - part)).atan()
        inverse = 1 / power
        value -= (inverse if self.rises else power) / self.exponent
        return _Point(value=value, pace=power if self.rises else inverse, share=share)

    def share(self, goal: arb, near: float) -> arb:
        """Return x where the clock shows ``goal``.

        Args:
            goal: A ball of E.
            near: A logit to start from.

        Raises:
            LimitReachedError: The goal is too wide, or Newton's iteration does not arrive.
        """
        y = arb(near)
        if near > 2 * ctx.prec:
            # So near the plateau that half of the logit leaves less than the precision.
            before = self.at(y / 2)
            if before.value < goal:
                return before.share.union(arb(1))
        for _ in range(_NEWTON):
            point = self.at(y)
            step = point.pace * (goal - point.value)
            # Rounded up by a thousandth, which is more than floats lose.
            ratio = max(float(abs(step).upper()) * (5.005 if self.rises else 4.004 / near), 1e-300)
            exact = abs(step.mid()) <= step.rad()
            if ratio < _NEAR or (exact and ratio < 0.5):
                moved = self._moved(near, point, step, ratio)
                if self.rises:
                    return 1 / (1 + (-y - moved).exp())
                return -1 / (-y - moved).expm1()
            if exact and not goal.is_exact():
                # Too wide for the series: the strength is monotone in the clock.
                low, high = (self.share(end, near) for end in (goal.lower(), goal.upper()))
                return low.union(high)
            y = (y + step).mid()
            near = float(y)
        msg = "depth L: at this precision the inversion of t(strength) cannot be enclosed"
        raise LimitReachedError(msg)

    def _moved(self, near: float, point: _Point, step: arb, ratio: float) -> arb:
        """Return how far the solution is from y: the series, and a bound of what follows."""
        count = min(int(ctx.prec / -log2(ratio)) + 1, len(self.derivatives))
        q, total = 1 - point.share, arb(0)
        for derivative in self.derivatives[count - 1 :: -1]:
            total = (total + derivative(q)) * step
        most = 2.0 if self.rises else 0.501 * near
        return total + arb(0, most / (1 - ratio)) * arb(ratio) ** (count + 1)


@lru_cache(maxsize=64)
def _derivatives(e: Fraction, count: int) -> tuple[fmpq_poly, ...]:
    """Return P_k/k! for k = 1 … count."""
    exponent, q = fmpq(e.numerator, e.denominator), fmpq_poly([0, 1])
    found = [fmpq_poly([1])]
    for k in range(1, count):
        last = found[-1]
        found.append(q * (k * exponent * last - (1 - q) * last.derivative()) / (k + 1))
    return tuple(found)
