r"""Two-layer unbalanced family: a decoupled mode whose two amplitudes start apart.

Let a and b be the amplitudes, :math:`a' = b(s - dab)`, :math:`b' = a(s - dab)` in units of tau.
Then :math:`c = |a^2 - b^2|` is conserved, and so the sum of squares is
:math:`a^2 + b^2 = \sqrt{c^2 + 4\pi^2}` for :math:`\pi = ab`. With :math:`u = (a + b)^2/c`,
:math:`\pi = c(u - 1/u)/4` and u solves the Riccati equation
:math:`u' = 2su - \tfrac{1}{2} cd (u^2 - 1)`, whose solution is linear fractional in
:math:`E = e^{-kt}`, :math:`k = \sqrt{4s^2 + c^2d^2}`. The roles of a and b do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.laws.common import (
    STRENGTH,
    AbstractMode,
    Direction,
    as_floats,
    defect,
    direction_of,
    phi,
    unfit_for_two_layers,
)
from symreln.laws.two_layer import STRENGTH0, TIME, TIME_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from flint import arb

NAME = "two-layer unbalanced"

#: Conserved difference |a² − b²| of the two squared amplitudes.
IMBALANCE = sp.Symbol("c", positive=True)

_S, _D, _C, _P0 = sp.symbols("_s _d _c _p0", positive=True)
# The rate k, u(0), and r = sqrt(c² + 4 pi_0²): free symbols whose defining equations are used.
# E = exp(-k t/tau) is one too, with tau dE/dt = -k E.
_K, _U0, _R, _E = sp.symbols("_k _u0 _r _e", positive=True)


def matches(
    *, layers: int, decoupled: bool, balanced: bool, weight_decay: bool = False
) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    unfit = unfit_for_two_layers(
        layers=layers, decoupled=decoupled, balanced=balanced, wants_balanced=False
    )
    if unfit:
        return False, unfit
    if weight_decay:
        return False, "weight decay shrinks the difference a² − b², which must be constant here"
    return True, "two layers of weights, the mode is decoupled, a² − b² is not 0 and conserved"


@dataclass(frozen=True, kw_only=True)
class UnbalancedMode(AbstractMode):
    r"""Trajectory of one decoupled mode with amplitudes :math:`a^2 - b^2 = \pm c`.

    Solves :math:`\tau \dot\pi = \sqrt{c^2 + 4\pi^2}\,(s - d\pi)`, :math:`\pi(0) = \pi_0`.

    Source: [Saxe2014].
    Assumes: two layers, aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Scalar, not negative.
        d: Matching eigenvalue of its Sigma^{x}. Scalar, not negative.
        imbalance: c, positive. For c = 0 take the balanced family.
        strength0: Initial strength ab. Scalar, of either sign.
        t: Time in steps of full-batch gradient descent.
        tau: Time constant in steps.
    """

    s: sp.Expr
    d: sp.Expr
    imbalance: sp.Expr = IMBALANCE
    strength0: sp.Expr = STRENGTH0
    t: sp.Symbol = TIME
    tau: sp.Expr = TIME_CONSTANT

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = \sqrt{c^2 + 4 \pi^2} \left(s - d\, \pi\right), \qquad \pi(0) = \pi_0"
        )

    @property
    def rate(self) -> sp.Expr:
        """The rate k = sqrt(4 s² + c² d²): the strength approaches its limit as exp(-k t/tau)."""
        return sp.sqrt(4 * self.s**2 + self.imbalance**2 * self.d**2)

    @property
    def ratio(self) -> sp.Expr:
        """u(t) = (a + b)²/c, written with exp(-k t/tau), which is finite for any t >= 0."""
        values = self._values()
        top, bottom = _fraction()
        found: Any = (top / bottom).xreplace(values)
        return found

    @cached_property
    def expr(self) -> sp.Expr:
        """The trajectory."""
        if self.s.is_zero and self.d.is_zero:
            return self.strength0
        return self.imbalance * (self.ratio - 1 / self.ratio) / 4

    @property
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity."""
        if self.d.is_zero:
            return self.strength0 if self.s.is_zero else sp.oo
        return self.s / self.d

    def residual(self) -> sp.Expr:
        """Zero exactly when ``expr`` solves its equation from ``strength0``.

        Decided once with every quantity a free symbol; k and u(0) stand for radicals and enter
        through their defining equations, which are checked too.
        """
        return _template_residual()

    def direction(self) -> Direction:
        """Return the direction: the slope keeps the sign of s - d strength0."""
        return direction_of(self.s - self.d * self.strength0)

    def series(self, order: int) -> sp.Expr:
        """Return the time to reach a strength, as a series in it; see the base class."""
        rate = sp.series(
            1 / (sp.sqrt(1 + 4 * STRENGTH**2) * (1 - _D * STRENGTH)), STRENGTH, 0, order
        )
        # In units pi = c x: dt/dx = tau / (s sqrt(1 + 4x²) (1 − (cd/s) x)).
        terms = sp.integrate(rate.removeO().subs(_D, self.imbalance * self.d / self.s), STRENGTH)
        whole = terms.subs(STRENGTH, STRENGTH / self.imbalance)
        return self.tau / self.s * (whole - whole.subs(STRENGTH, self.strength0))

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """s, d, imbalance, strength0, t, tau."""
        return (self.s, self.d, self.imbalance, self.strength0, self.t, self.tau)

    @property
    def numeric(self) -> Callable[..., np.ndarray]:
        """:func:`strength_float`."""
        return strength_float

    def to_latex(self) -> str:
        """Return the LaTeX of the trajectory, with u, k and u(0) named, without delimiters."""
        named = {_K: sp.Symbol("k"), _U0: sp.Symbol("u_0")}
        values = {**self._values(), **named}
        values[_E] = sp.exp(-named[_K] * self.t / self.tau)
        top, bottom = (sp.latex(part.xreplace(values)) for part in _fraction())
        return (
            rf"\tfrac{{1}}{{4}} {sp.latex(self.imbalance)} \left(u - \frac{{1}}{{u}}\right), \quad "
            rf"u = \frac{{{top}}}{{{bottom}}}, \quad k = {sp.latex(self.rate)}, \quad "
            rf"u_0 = {sp.latex(self._values()[_U0])}"
        )

    def _values(self) -> dict[sp.Basic, sp.Basic]:
        return {
            _S: self.s,
            _D: self.d,
            _C: self.imbalance,
            _K: self.rate,
            _U0: first_ratio(self.imbalance, self.strength0),
            _E: sp.exp(-self.rate * self.t / self.tau),
        }


def first_ratio(imbalance: sp.Expr, strength0: sp.Expr) -> sp.Expr:
    """Return u(0) = (a + b)²/c."""
    return (2 * strength0 + sp.sqrt(imbalance**2 + 4 * strength0**2)) / imbalance


@lru_cache(maxsize=1)
def _fraction() -> tuple[sp.Expr, sp.Expr]:
    """Return numerator and denominator of u."""
    top = _U0 * (_K + 2 * _S) + _C * _D + (_U0 * (_K - 2 * _S) - _C * _D) * _E
    bottom = _K - 2 * _S + _C * _D * _U0 + (_K + 2 * _S - _C * _D * _U0) * _E
    return top, bottom


@lru_cache(maxsize=1)
def _template_residual() -> sp.Expr:
    top, bottom = _fraction()
    u = top / bottom
    strength = _C * (u - 1 / u) / 4
    root = _C * (u + 1 / u) / 2  # positive, and its square is c² + 4 pi²
    slope = -_K * _E * strength.diff(_E)
    drive = _S - _D * strength
    start = _S - _D * _C * (_U0 - 1 / _U0) / 4
    first = (2 * _P0 + _R) / _C
    k_squared = 4 * _S**2 + _C**2 * _D**2
    return defect(
        sp.cancel(root**2 - _C**2 - 4 * strength**2),
        _modulo(slope - root * drive, _K, k_squared),
        # The drive keeps its sign: it is multiplied by something positive.
        _modulo(drive - start * 4 * _K**2 * _U0 * _E / (top * bottom), _K, k_squared),
        sp.cancel(u.subs(_E, 1) - _U0),
        _modulo(_C * (first - 1 / first) / 4 - _P0, _R, _C**2 + 4 * _P0**2),
    )


def _modulo(expression: sp.Expr, root: sp.Symbol, square: sp.Expr) -> sp.Expr:
    """Return the numerator of a rational expression, reduced by root² = square."""
    numerator = sp.Poly(sp.fraction(sp.together(expression))[0], root)
    return numerator.rem(sp.Poly(root**2 - square, root)).as_expr()


def strength_float(
    s: np.ndarray,
    d: np.ndarray,
    imbalance: np.ndarray,
    strength0: np.ndarray,
    t: np.ndarray,
    tau: float,
) -> np.ndarray:
    r"""Evaluate the family in float64, for s, d, c >= 0, every case at once, c = 0 included.

    With p = a + b, m = |a − b| at t = 0, q = cd/2, κ = k/2, E = e^{-kt/τ} and
    F = (t/τ)φ(kt/τ), φ(x) = (1 − e^{-x})/x, numerator N and denominator D of u/u(0) are

    .. math::
        N = (1 + E)/2 + (s + d m^2/2) F, \qquad D = E + (\kappa - s + d p^2/2) F,

    and :math:`\pi = (pN - mD)(pN + mD)/(4ND)` with
    :math:`pN - mD = (p - m)((\kappa - q)F + E) + (p + m) s F`: for strength0 >= 0 every term is
    positive, κ − s = q²/(κ + s) and κ − q = s²/(κ + q) included, so nothing cancels.
    For strength0 < 0 the strength crosses zero, and is then good to rounding of its summands.

    Args:
        s: Singular values, broadcastable with ``t``.
        d: Input eigenvalues.
        imbalance: c = |a² − b²|.
        strength0: Initial strengths ab, of either sign.
        t: Times in steps, >= 0.
        tau: Time constant in steps.
    """
    import numpy as np

    s, d, c, strength0, t = as_floats(s, d, imbalance, strength0, t)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        p, m, difference = _amplitudes(c, strength0)
        time, q = t / tau, d * c / 2
        rate = np.hypot(s, q)
        x = 2 * rate * time
        decay, span = np.exp(-x), time * phi(x)
        less_s = q * _over(q, rate + s)
        less_q = s * _over(s, rate + q)
        above = (1 + decay) / 2 + (s + d * m * m / 2) * span
        below = decay + (less_s + d * p * p / 2) * span
        first = difference * (less_q * span + decay) + (p + m) * s * span
        return (first / below) * (p + m * (below / above)) / 4


def _amplitudes(c: np.ndarray, strength0: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a + b, |a − b| and their difference, none of them with cancellation."""
    import numpy as np

    large = np.sqrt(np.hypot(c, 2 * strength0) + 2 * np.abs(strength0))
    small = _over(c, large)
    p, m = np.where(strength0 >= 0, large, small), np.where(strength0 >= 0, small, large)
    return p, m, 4 * _over(strength0, p + m)


def _over(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """Divide; 0/0 is 0, the limit that is meant wherever it occurs here."""
    import numpy as np

    return np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), 0.0)


def strength_ball(s: arb, d: arb, imbalance: arb, strength0: arb, t: arb, tau: arb) -> arb:
    """Evaluate at one time; see :func:`strength_balls`."""
    return strength_balls(s, d, imbalance, strength0, [t], tau)[0]


def strength_balls(
    s: arb, d: arb, imbalance: arb, strength0: arb, times: Sequence[arb], tau: arb
) -> tuple[arb, ...]:
    r"""Evaluate with certified error bounds; for s, d >= 0, c > 0 and strength0 >= 0.

    The formula of :func:`strength_float` with :math:`F = (1 - E)/(2\kappa)` put in: what is left to
    do for a time is an exponential and the sums of E and 1 − E, all of positive terms.
    Quantities that are exactly zero select their case; the others must be positive.
    """
    q = d * imbalance / 2
    if s.is_zero() and q.is_zero():
        return (strength0,) * len(times)
    rate = (s * s + q * q).sqrt()
    p = ((imbalance**2 + 4 * strength0**2).sqrt() + 2 * strength0).sqrt()
    m = imbalance / p
    above = 0.5 + (s + d * m * m / 2) / (2 * rate)
    below = (q * q / (rate + s) + d * p * p / 2) / (2 * rate)
    begun = strength0 / (p + m)
    driven = (begun * s * s / (rate + q) + (p + m) * s / 4) / (2 * rate)
    both, mixed = p + m, p * above + m * below
    per_step = -2 * rate / tau
    found = []
    for t in times:
        gone = -(per_step * t).expm1()
        decay = 1 - gone
        top = (begun * decay + driven * gone) * (both * decay + mixed * gone)
        found.append(top / ((decay + above * gone) * (decay + below * gone)))
    return tuple(found)
