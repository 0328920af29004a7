r"""Discrete gradient descent of a balanced two-layer mode: the exact map, and two proven brackets.

Both amplitudes are w, and a step of full-batch gradient descent takes w to
:math:`w(1 + h(1 - x))`, :math:`h = s/\tau`, where :math:`x = d\pi/s` is the strength
:math:`\pi = w^2` in units of its plateau. So

.. math:: x' = x (1 + h(1 - x))^2, \qquad 1 - x' = (1 - x)(1 - 2hx - h^2 x(1 - x)),

and the logit y = ln(x/(1 − x)), which the flow advances by exactly 2h a step, moves by
:math:`\Delta(x) = 2\ln(1 + h(1 - x)) - \ln(1 - 2hx - h^2x(1 - x))`. Its derivative has the sign of
:math:`h^2(3 + h(1 - x)) > 0`, so for 0 < h < 1/2 and 0 < x < 1

.. math:: 2\ln(1 + h) \le \Delta(x) \le -\ln(1 - 2h):

after n steps gradient descent lies between two sigmoids of these rates, and so does the flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, ulp

import numpy as np
import sympy as sp
from flint import arb

from symreln.errors import InputError
from symreln.laws.common import COUPLED, Direction, defect
from symreln.laws.two_layer import STRENGTH0, TIME_CONSTANT

NAME = "discrete gradient descent, balanced"

#: The strength that a step starts from.
BEFORE = sp.Symbol("pi_n", positive=True)
#: Steps of gradient descent that an orbit may take before it has settled.
MOST_STEPS = 10_000_000

#: Relative distance from the plateau that counts as none: near the least normal float.
SETTLED = 1e-300

_H, _X = sp.symbols("_h _x", positive=True)


def matches(
    *, layers: int, decoupled: bool, balanced: bool, discrete: bool, weight_decay: bool = False
) -> tuple[bool, str]:
    """Say whether the family describes a mode, and why or why not."""
    if not discrete:
        return False, "the gradient flow is asked for, not its steps"
    if layers != 2:
        return False, f"the map is for two layers of weights, the pathway has {layers}"
    if not decoupled:
        return False, COUPLED
    if not balanced or weight_decay:
        return False, "the map is for balanced modes without weight decay"
    return True, "two layers of weights, the mode is decoupled, balanced, in steps of its own size"


@dataclass(frozen=True, kw_only=True)
class DescentMode:
    r"""Strengths of one decoupled mode after whole steps of gradient descent.

    Obeys :math:`\pi_{n+1} = \pi_n (1 + (s - d\pi_n)/\tau)^2` exactly.

    Source: derived in this module's docstring.
    Assumes: two layers, balanced and aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Scalar, positive.
        d: Matching eigenvalue of its Sigma^{x}. Scalar, positive.
        strength0: Initial strength. Scalar, positive.
        tau: Time constant in steps.
    """

    s: sp.Expr
    d: sp.Expr
    strength0: sp.Expr = STRENGTH0
    tau: sp.Expr = TIME_CONSTANT

    @property
    def step(self) -> sp.Expr:
        """The strength after one step from the strength :data:`BEFORE`."""
        return BEFORE * (1 + (self.s - self.d * BEFORE) / self.tau) ** 2

    @property
    def plateau(self) -> sp.Expr:
        """The fixed point s/d, reached for n to infinity where 2s < tau."""
        return self.s / self.d

    def residual(self) -> sp.Expr:
        """Zero exactly when the map is that of the amplitudes and its identities hold."""
        return _template_defect()

    def direction(self) -> Direction:
        """Return RISING where 0 < strength0 < s/d and 2s < tau are proven, else UNDECIDED."""
        below = (self.s - self.d * self.strength0).is_positive
        slow = (self.tau - 2 * self.s).is_positive
        return Direction.RISING if below and slow else Direction.UNDECIDED

    def rates(self) -> tuple[sp.Expr, sp.Expr]:
        """Return the least and the largest advance of the logit a step; the flow's is 2s/tau."""
        h = self.s / self.tau
        return 2 * sp.log(1 + h), -sp.log(1 - 2 * h)

    def to_latex(self) -> str:
        """Return the LaTeX of the map, without delimiters."""
        return rf"\pi_{{n+1}} = {sp.latex(self.step)}"


def _stepped(x: sp.Expr) -> sp.Expr:
    return x * (1 + _H * (1 - x)) ** 2


@lru_cache(maxsize=1)
def _template_defect() -> sp.Expr:
    step = _stepped(_X)
    left = 1 - 2 * _H * _X - _H**2 * _X * (1 - _X)
    advance = 2 * sp.log(1 + _H * (1 - _X)) - sp.log(left)
    slope = _H**2 * (3 + _H * (1 - _X)) / ((1 + _H * (1 - _X)) * left)
    s, d, tau, w = sp.symbols("_s _d _tau _w", positive=True)
    descended = (w + w * (s - d * w**2) / tau) ** 2
    values = {_X: d * w**2 / s, _H: s / tau}
    return defect(
        sp.cancel(1 - step - (1 - _X) * left),
        sp.cancel(advance.diff(_X) - slope),
        sp.cancel(descended - step.subs(values, simultaneous=True) * s / d),
        sp.cancel(left.subs(_X, 1) - (1 - 2 * _H)),
        sp.cancel(left.subs(_X, 0) - 1),
    )


def orbit_exact(
    s: Fraction, d: Fraction, strength0: Fraction, tau: Fraction, steps: int
) -> list[Fraction]:
    """Return the exact strengths after 0, 1, …, ``steps`` steps; digits triple with each."""
    found = [Fraction(strength0)]
    for _ in range(steps):
        found.append(found[-1] * (1 + (s - d * found[-1]) / tau) ** 2)
    return found


def strength_float(
    s: float, d: float, strength0: float, steps: np.ndarray, tau: float
) -> np.ndarray:
    """Return the strengths after the given whole numbers of steps, in float64.

    The orbit is followed in x, with 1 − x beside it, until it no longer moves; it is monotone, so
    every later step has that value.

    Raises:
        InputError: Outside 0 < s < tau/2, 0 < strength0 < s/d, where the map may overshoot.
    """
    h, x = check_range(s, d, strength0, tau)
    wanted = np.unique(np.asarray(steps))
    at = dict.fromkeys(wanted.tolist(), s / d)
    left, n = 1 - x, 0
    for goal in wanted.tolist():
        while n < goal and left > SETTLED and n < MOST_STEPS:
            # Of x and 1 − x the smaller one is kept to full relative accuracy.
            x, left = x * (1 + h * left) ** 2, left * (1 - 2 * h * x - h * h * x * left)
            n += 1
        if n < goal and left > SETTLED:
            msg = f"discrete gradient descent: not settled after {MOST_STEPS} steps; use brackets"
            raise InputError(msg)
        at[goal] = s / d * (x if x < 0.5 else 1 - left)
    return np.array([at[n] for n in np.asarray(steps).ravel().tolist()]).reshape(np.shape(steps))


def check_range(s: float, d: float, strength0: float, tau: float) -> tuple[float, float]:
    """Return (h, x at the start) where gradient descent rises to its plateau, or refuse.

    Raises:
        InputError: It may overshoot or diverge, or there is no plateau above the start.
    """
    why = unbounded(*map(arb, (s, d, strength0, tau)))
    if why:
        msg = f"discrete gradient descent: {why}"
        raise InputError(msg)
    return s / tau, d * strength0 / s


def unbounded(s: arb, d: arb, strength0: arb, tau: arb) -> str:
    """Say why the brackets are not proven to hold, or ""."""
    if not (s > 0 and d > 0 and strength0 > 0 and d * strength0 < s):
        return "expected s > 0, d > 0 and 0 < strength0 < s/d"
    if not 2 * s < tau:
        return (
            f"s/tau = {float(s / tau):.4g}; from 1/2 on steps overshoot the plateau and the "
            "bounds do not hold. Lower the learning rate"
        )
    return ""


def brackets(s: arb, d: arb, strength0: arb, steps: arb, tau: arb) -> tuple[arb, arb]:
    """Return certified balls of the two sigmoids between which gradient descent lies.

    They hold for any number of steps, far beyond what an orbit can be followed for; the flow's
    strength lies between them too. For 0 < s < tau/2 and 0 < strength0 < s/d.
    """
    h, share = s / tau, d * strength0 / s
    odds = (1 - share) / share
    slow, fast = 2 * h.log1p(), -(-2 * h).log1p()
    low, high = (s / d / (1 + odds * (-rate * steps).exp()) for rate in (slow, fast))
    return low, high


def flow_error(s: arb, d: arb, strength0: arb, tau: arb) -> float:
    r"""Return a bound, for all n, on how far the flow is from gradient descent after n steps.

    Both lie between the sigmoids with rates r₋ = 2 ln(1 + h) and r₊ = −ln(1 − 2h). In x they
    differ by less than the integral of x(1 − x) <= 1/4 over the logits between, (r₊ − r₋)n/4; and
    by at most 1 − x of the slower one, which is at most exp(−r₋(n − n½)), n½ its half-time. The
    first grows and the second falls with n: the larger of the two at any one n bounds all. It is
    taken where floats say that the two meet, in certified arithmetic.

    Returns:
        As a share of the plateau s/d, rounded up; of order h ln(s/(d strength0)).

    Raises:
        InputError: The brackets are not proven to hold.
    """
    why = unbounded(s, d, strength0, tau)
    if why:
        msg = f"discrete gradient descent: {why}"
        raise InputError(msg)
    h, share = s / tau, d * strength0 / s
    slow = 2 * h.log1p()
    gap = -(-h * h * (3 + 2 * h)).log1p()  # (1 − 2h)(1 + h)² = 1 − 3h² − 2h³
    half = ((1 - share) / share).log()
    # In units of 1/r₋, which no float holds where the learning rate is tiny.
    at = _meeting(float(gap / slow), float(half))
    worst = (gap * at / slow / 4).max((half - at).exp())
    # A bound that float64 has no room for is rounded up to its smallest number.
    bound = max(float(worst.upper()) * (1 + 2.0**-50), ulp(0.0))
    return min(bound, 1.0)


def _meeting(gap: float, half: float) -> float:
    """Return about the n at which gap n/4 and exp(half − n) are equal."""
    low, high = max(half, 0.0), max(half, 0.0) + 800
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gap * middle / 4 < exp(half - middle) else (low, middle)
    return high
