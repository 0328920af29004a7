r"""Two-layer balanced family with weight decay: the balanced form with s − λ in the place of s.

The loss is :math:`L + \tfrac{1}{2} \lambda (\|W_1\|^2 + \|W_2\|^2)`, L the mean loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from symreln.laws import two_layer
from symreln.laws.common import (
    AbstractMode,
    Direction,
    as_floats,
    phi,
    span_ball,
    unfit_for_two_layers,
)
from symreln.laws.two_layer import STRENGTH0, TIME, TIME_CONSTANT, SigmoidalMode

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from flint import arb

NAME = "two-layer balanced, weight decay"

#: Factor of the squared weights.
WEIGHT_DECAY = sp.Symbol("lambda", positive=True)


def matches(
    *, layers: int, decoupled: bool, balanced: bool, weight_decay: bool
) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    if not weight_decay:
        return False, "no weight decay"
    unfit = unfit_for_two_layers(
        layers=layers, decoupled=decoupled, balanced=balanced, wants_balanced=True
    )
    if unfit:
        return False, unfit
    return True, "two layers of weights, the mode is decoupled, balanced, with weight decay"


@dataclass(frozen=True, kw_only=True)
class DecayingMode(AbstractMode):
    r"""Trajectory of one decoupled mode under weight decay.

    Solves :math:`\tau \dot\pi = 2\pi (s - \lambda - d\pi)`, :math:`\pi(0) = \pi_0`: the mode is
    learned exactly if s > λ, and dies out otherwise.

    Source: the balanced solution of [Saxe2014]; amplitudes a = b obey
    :math:`\tau \dot a = a(s - \lambda - d a^2)`.
    Assumes: two layers, balanced and aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Scalar, not negative.
        d: Matching eigenvalue of its Sigma^{x}. Scalar, not negative.
        weight_decay: λ, not negative.
        strength0: Initial strength. Scalar, positive.
        t: Time in steps of full-batch gradient descent.
        tau: Time constant in steps.
    """

    s: sp.Expr
    d: sp.Expr
    weight_decay: sp.Expr = WEIGHT_DECAY
    strength0: sp.Expr = STRENGTH0
    t: sp.Symbol = TIME
    tau: sp.Expr = TIME_CONSTANT

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = 2 \pi \left(s - \lambda - d\, \pi\right), "
            r"\qquad \pi(0) = \pi_0, \quad "
            rf"\lambda = {sp.latex(self.weight_decay)}"
        )

    @property
    def growth(self) -> sp.Expr:
        """The growth s − λ: half the rate of the early growth; negative for a decline."""
        return self.s - self.weight_decay

    @property
    def learned(self) -> bool | None:
        """Whether the mode is learned; None where the sign of s − λ is not known."""
        return self.growth.is_positive

    @property
    def balanced(self) -> SigmoidalMode:
        """The balanced mode without weight decay that it moves like; its s may be negative."""
        return SigmoidalMode(
            s=self.growth, d=self.d, strength0=self.strength0, t=self.t, tau=self.tau
        )

    @cached_property
    def expr(self) -> sp.Expr:
        """The trajectory; a mode that starts at 0 stays there."""
        return sp.S.Zero if self.strength0.is_zero else self.balanced.expr

    @property
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity: (s − λ)/d where that is positive, else 0."""
        if not self.d.is_zero:
            return sp.Max(0, self.growth / self.d)
        return sp.Piecewise(
            (sp.oo, self.growth > 0), (self.strength0, sp.Eq(self.growth, 0)), (0, True)
        )

    def residual(self) -> sp.Expr:
        """Zero exactly when ``expr`` solves its equation: the balanced mode's identities.

        They are rational in s and the exponential, and use no sign of s − λ.
        """
        return self.balanced.residual()

    def direction(self) -> Direction:
        """Return the direction: the slope keeps the sign of s − λ − d strength0."""
        return self.balanced.direction()

    def series(self, order: int) -> sp.Expr:
        """Return the time to reach a strength, as a series in it; see the base class."""
        return self.balanced.series(order)

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """Growth s − λ, d, strength0, t, tau."""
        return (self.growth, self.d, self.strength0, self.t, self.tau)

    @property
    def numeric(self) -> Callable[..., np.ndarray]:
        """:func:`strength_float`."""
        return strength_float


def strength_float(
    growth: np.ndarray, d: np.ndarray, strength0: np.ndarray, t: np.ndarray, tau: float
) -> np.ndarray:
    r"""Evaluate in float64 for d >= 0 and any sign of ``growth`` = s − λ, every case at once.

    With x = 2|s − λ| t/tau the denominator is :math:`e^{-x} + 2 d \pi_0 (t/\tau)\varphi(x)` for
    a growing and :math:`1 + 2 d \pi_0 (t/\tau) \varphi(x)` for a declining mode, whose numerator
    carries the :math:`e^{-x}`: all terms are positive.
    """
    import numpy as np

    growth, d, strength0, t = as_floats(growth, d, strength0, t)
    time = t / tau
    x = 2 * np.abs(growth) * time
    falling, grown = growth < 0, np.exp(-x)
    with np.errstate(divide="ignore", over="ignore"):
        bottom = np.where(falling, 1.0, grown) + 2 * d * strength0 * time * phi(x)
        return strength0 * np.where(falling, grown, 1.0) / bottom


def strength_ball(growth: arb, d: arb, strength0: arb, t: arb, tau: arb) -> arb:
    """Evaluate with certified error bounds; ``growth`` may be of either sign, or exactly 0."""
    if not growth < 0:
        return two_layer.strength_ball(growth, d, strength0, t, tau)
    time = t / tau
    span = span_ball(-2 * growth, time)
    return strength0 * (2 * growth * time).exp() / (1 + 2 * d * strength0 * span)
