r"""Shallow family: one layer of weights, a mode relaxes exponentially."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.laws.common import (
    COUPLED,
    STRENGTH,
    AbstractMode,
    Direction,
    as_floats,
    defect,
    direction_of,
    geometric_series,
    phi,
    span_ball,
)
from symreln.laws.two_layer import STRENGTH0, TIME, TIME_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from flint import arb

NAME = "shallow"

_S, _D, _P0, _T, _TAU = sp.symbols("_s _d _p0 _t _tau", positive=True)


def matches(*, layers: int, decoupled: bool, weight_decay: bool = False) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    if layers != 1:
        return False, f"the family is for one layer of weights, the pathway has {layers}"
    if not decoupled:
        return False, COUPLED
    if weight_decay:
        return False, "weight decay of a single layer is not written yet"
    return True, "one layer of weights, the mode is decoupled"


@dataclass(frozen=True, kw_only=True)
class ShallowMode(AbstractMode):
    r"""Trajectory of one decoupled mode of a single layer.

    Solves :math:`\tau \dot\pi = s - d\pi`, :math:`\pi(0) = \pi_0`.

    Source: [Saxe2014].

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Scalar, not negative.
        d: Matching eigenvalue of its Sigma^{x}. Scalar, not negative.
        strength0: Initial strength. Scalar.
        t: Time in steps of full-batch gradient descent.
        tau: Time constant in steps.
    """

    s: sp.Expr
    d: sp.Expr
    strength0: sp.Expr = STRENGTH0
    t: sp.Symbol = TIME
    tau: sp.Expr = TIME_CONSTANT

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return r"\tau \dot{\pi} = s - d\, \pi, \qquad \pi(0) = \pi_0"

    @cached_property
    def expr(self) -> sp.Expr:
        """The trajectory."""
        expression: Any = _template(bool(self.d.is_zero)).xreplace(self._values())
        return expression

    @property
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity: s/d, or without inputs (d = 0) infinity or the start."""
        if self.d.is_zero:
            return self.strength0 if self.s.is_zero else sp.oo
        return self.s / self.d

    def residual(self) -> sp.Expr:
        r"""Zero exactly when ``expr`` solves its equation; decided with every quantity a symbol.

        So is :math:`s - d\pi(t) = (s - d\pi_0) e^{-dt/\tau}`, from which the direction follows.
        """
        flat = bool(self.d.is_zero)
        strength, d = _template(flat), sp.S.Zero if flat else _D
        slope = _S - d * strength
        return defect(
            sp.cancel(_TAU * strength.diff(_T) - slope),
            sp.cancel(strength.subs(_T, 0) - _P0),
            sp.cancel(slope - (_S - d * _P0) * sp.exp(-d * _T / _TAU)),
        )

    def direction(self) -> Direction:
        """Return the direction: the slope keeps the sign of s - d strength0."""
        return direction_of(self.s - self.d * self.strength0)

    def series(self, order: int) -> sp.Expr:
        """Return the time to reach a strength, as a series in it; see the base class."""
        whole = geometric_series(self.s, self.d, 1, order)
        return self.tau * (whole - whole.subs(STRENGTH, self.strength0))

    @property
    def numeric(self) -> Callable[..., np.ndarray]:
        """:func:`strength_float`."""
        return strength_float

    def _values(self) -> dict[sp.Basic, sp.Basic]:
        return {_S: self.s, _D: self.d, _P0: self.strength0, _T: self.t, _TAU: self.tau}


def _template(flat: bool) -> sp.Expr:
    if flat:
        return _P0 + _S * _T / _TAU
    return _S / _D + (_P0 - _S / _D) * sp.exp(-_D * _T / _TAU)


def strength_float(
    s: np.ndarray, d: np.ndarray, strength0: np.ndarray, t: np.ndarray, tau: float
) -> np.ndarray:
    r"""Evaluate in float64, for s, d >= 0: :math:`\pi_0 e^{-x} + s (t/\tau) \varphi(x)`.

    With x = d t/tau and :math:`\varphi(x) = (1 - e^{-x})/x` no term cancels another where
    strength0 >= 0, and d = 0 needs no case of its own.
    """
    import numpy as np

    s, d, strength0, t = as_floats(s, d, strength0, t)
    x = d * (t / tau)
    return strength0 * np.exp(-x) + s * (t / tau) * phi(x)


def strength_ball(s: arb, d: arb, strength0: arb, t: arb, tau: arb) -> arb:
    """Evaluate with certified error bounds; a d that is exactly 0 selects its case."""
    time = t / tau
    return strength0 * (-d * time).exp() + s * span_ball(d, time)
