r"""Certified balls of the unbalanced family with weight decay: a linear system, piece by piece.

With :math:`u = (D + m)/D` the Riccati equation of
:mod:`symreln.laws.decaying_imbalance` is a linear system, in units of τ

.. math:: m' = s(m + 2D) - \kappa m, \qquad D' = \kappa(m + D) - sD, \qquad
   \kappa = \tfrac{1}{2} c(t)\, d, \qquad \pi = \frac{c\, m (m + 2D)}{4 D (m + D)},

where nothing cancels: m and D stay positive. Along :math:`\omega = 1 - c(t)/c(t_0)`, from 0 at the
start of a piece, with :math:`\sigma = s/(2\lambda)` and :math:`\beta = c(t_0) d/(4\lambda)` it is
:math:`(1 - \omega)\, dm/d\omega = \sigma(m + 2D) - \beta(1 - \omega) m`,
:math:`(1 - \omega)\, dD/d\omega = \beta(1 - \omega)(m + D) - \sigma D`, and the coefficients of its
power series follow from one another.

For any δ > 0 and complex :math:`|\omega| = r < 1` the slopes of m and D/δ are at most a/(1 − r)
times the larger of \|m\| and \|D\|/δ, :math:`a = \sigma(1 + 2\delta) + \beta(1 + 1/\delta)`. So
within R that one grows at most by :math:`(1 - R)^{-a}`, and Cauchy bounds what follows a term.

Where the next time is many pieces away, the Bessel functions give it at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, log2

import sympy as sp
from flint import arb, arb_poly, ctx

from symreln.errors import LimitReachedError
from symreln.laws.common import defect

#: A piece ends at this share of the radius R: four bits a term.
_SHARE = 1 / 16
#: Logarithm of the growth that is allowed inside the radius, which makes R small where a is large.
_GROWTH = 20.0
#: Pieces between two times from which on Bessel functions are quicker.
_PIECES = 16
#: Terms beyond which a series is not summed.
_TERMS = 4096


def strength_ball(
    s: arb, d: arb, weight_decay: arb, imbalance: arb, strength0: arb, t: arb, tau: arb
) -> arb:
    """Evaluate at one time; see :func:`strength_balls`."""
    return strength_balls(s, d, weight_decay, imbalance, strength0, [t], tau)[0]


def strength_balls(
    s: arb,
    d: arb,
    weight_decay: arb,
    imbalance: arb,
    strength0: arb,
    times: Sequence[arb],
    tau: arb,
) -> tuple[arb, ...]:
    """Evaluate with certified error bounds at Arb's current precision.

    Args:
        s: Singular value, not negative.
        d: Input eigenvalue, positive.
        weight_decay: λ, positive.
        imbalance: c₀, positive.
        strength0: Initial strength, not negative.
        times: Times in steps, >= 0, of any order. What is next to another is cheap.
        tau: Time constant in steps.
    """
    if s.is_zero() and strength0.is_zero():
        return (strength0,) * len(times)
    mode = _Mode(s=s, d=d, decay=weight_decay, imbalance=imbalance, strength0=strength0)
    found = list(times)
    piece = mode.first()
    for place in sorted(range(len(times)), key=lambda k: float(times[k])):
        time = times[place] / tau
        piece, omega = mode.towards(piece, time)
        found[place] = strength0 if time.is_zero() else piece.strength(omega)
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """The system's solution from a time on, in units of tau, as power series in omega.

    Attributes:
        time: Where it starts.
        decay: λ.
        imbalance: c there.
        reach: Largest omega that the bound holds for.
        series: m and D.
        left: Bounds of what the two series leave out.
    """

    time: arb
    decay: arb
    imbalance: arb
    reach: float
    series: tuple[arb_poly, arb_poly]
    left: tuple[arb, arb]

    def omega(self, time: arb) -> arb:
        """Return omega at a time."""
        return -(2 * self.decay * (self.time - time)).expm1()

    def at(self, omega: arb) -> tuple[arb, arb]:
        """Return m and D.

        Raises:
            LimitReachedError: It is not certain that omega is inside the reach.
        """
        if not abs(omega) <= self.reach:
            msg = "weight decay: at this precision a time cannot be placed"
            raise LimitReachedError(msg)
        m, bottom = self.series
        return m(omega) + self.left[0], bottom(omega) + self.left[1]

    def strength(self, omega: arb) -> arb:
        """Return the strength inside the piece."""
        m, bottom = self.at(omega)
        whole = m + bottom
        return self.imbalance * (1 - omega) * m * (whole + bottom) / (4 * bottom * whole)


@dataclass(frozen=True, kw_only=True)
class _Mode:
    """A mode's constants, in units of tau."""

    s: arb
    d: arb
    decay: arb
    imbalance: arb
    strength0: arb

    def first(self) -> _Piece:
        """Return the piece at t = 0: u(0) − 1 without cancellation."""
        c, start = self.imbalance, self.strength0
        root = (c * c + 4 * start * start).sqrt()
        return self._piece(arb(0), 2 * start * (1 + 2 * start / (root + c)) / c, arb(1))

    def towards(self, piece: _Piece, time: arb) -> tuple[_Piece, arb]:
        """Return the piece that holds a time not before the given one, and omega there."""
        if _is_far(piece, time):
            piece = self._piece(time, self._ratio(time) - 1, arb(1))
        while not (omega := piece.omega(time)) <= piece.reach:
            # A step inside the reach, in binary numbers: the time stays exact.
            step = -log(1 - 0.99 * piece.reach) / (2 * float(self.decay))
            begun = (piece.time + arb(step)).mid()
            piece = self._piece(begun, *piece.at(piece.omega(begun)))
        return piece, omega

    def _piece(self, time: arb, m: arb, bottom: arb) -> _Piece:
        """Sum the series from m and D at a time; only their ratio counts."""
        c = self.imbalance * (-2 * self.decay * time).exp()
        sigma, beta = self.s / (2 * self.decay), c * self.d / (4 * self.decay)
        ratio = (bottom / m).mid() if m > bottom else arb(1)
        bound = sigma * (1 + 2 * ratio) + beta * (1 + 1 / ratio)
        radius = 0.5 if float(bound) <= 2 * _GROWTH else _GROWTH / float(bound)
        grown = (1 - arb(radius)) ** -bound
        bits = ctx.prec + float(grown.upper().log()) / log(2)
        terms = min(int(bits / -log2(_SHARE)) + 1, _TERMS)
        left = grown * abs(m).max(bottom / ratio) * arb(_SHARE) ** (terms + 1) / (1 - arb(_SHARE))
        return _Piece(
            time=time,
            decay=self.decay,
            imbalance=c,
            reach=radius * _SHARE,
            series=_series(sigma, beta, m, bottom, terms),
            left=(arb(0, left.upper()), arb(0, (ratio * left).upper())),
        )

    def _ratio(self, time: arb) -> arb:
        """Return u at a time from the Bessel functions."""
        order = (self.s - self.decay) / (2 * self.decay)
        start = self.imbalance * self.d / (4 * self.decay)
        c, strength0 = self.imbalance, self.strength0
        first = (2 * strength0 + (c * c + 4 * strength0 * strength0).sqrt()) / c

        def bessel(z: arb) -> tuple[arb, arb, arb, arb]:
            found = z.bessel_i(order), z.bessel_i(order + 1)
            return (*found, z.bessel_k(order), z.bessel_k(order + 1))

        (i, i1, k, k1) = bessel(start * (-2 * self.decay * time).exp())
        (i0, i10, k0, k10) = bessel(start)
        alpha, beta = k10 - first * k0, i10 + first * i0
        return (beta * k1 - alpha * i1) / (alpha * i + beta * k)


def _is_far(piece: _Piece, time: arb) -> bool:
    """Say whether a time is many pieces away."""
    return float(2 * piece.decay * (time - piece.time)) > _PIECES * piece.reach


def _series(sigma: arb, beta: arb, m: arb, bottom: arb, terms: int) -> tuple[arb_poly, arb_poly]:
    """Return m and D as polynomials in omega of degree ``terms``."""
    ms, bottoms = [m], [bottom]
    last_m = last_whole = arb(0)
    for k in range(terms):
        whole = m + bottom
        up = k * m + sigma * (whole + bottom) - beta * (m - last_m)
        down = k * bottom - sigma * bottom + beta * (whole - last_whole)
        last_m, last_whole = m, whole
        m, bottom = up / (k + 1), down / (k + 1)
        ms.append(m)
        bottoms.append(bottom)
    return arb_poly(ms), arb_poly(bottoms)


def _rates(s: sp.Expr, kappa: sp.Expr, m: sp.Expr, bottom: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return the slopes of m and D."""
    return s * (m + 2 * bottom) - kappa * m, kappa * (m + bottom) - s * bottom


@lru_cache(maxsize=1)
def linear_defect() -> sp.Expr:
    """Return 0 exactly when the linear system gives the Riccati equation and the strength."""
    s, d, c, m, bottom = sp.symbols("_s _d _c _m _bottom", positive=True)
    kappa, u = c * d / 2, (m + bottom) / bottom
    rates = zip((m, bottom), _rates(s, kappa, m, bottom), strict=True)
    slope = sp.Add(*(u.diff(name) * rate for name, rate in rates))
    riccati = slope - 2 * s * u + kappa * (u**2 - 1)
    strength = c * m * (m + 2 * bottom) / (4 * bottom * (m + bottom))
    return defect(sp.cancel(riccati), sp.cancel(strength - c * (u - 1 / u) / 4))
