r"""Two-layer balanced family: one decoupled mode of a pathway with one hidden layer."""

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
    geometric_series,
    phi,
    span_ball,
    unfit_for_two_layers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from flint import arb

NAME = "two-layer balanced"

#: Symbols that every printed trajectory uses.
TIME = sp.Symbol("t", nonnegative=True)
TIME_CONSTANT = sp.Symbol("tau", positive=True)
STRENGTH0 = sp.Symbol("pi_0", positive=True)


@dataclass(frozen=True, kw_only=True)
class SigmoidalMode(AbstractMode):
    r"""Trajectory :math:`\pi(t)` of one decoupled mode.

    Solves :math:`\tau \dot\pi = 2\pi (s - d\pi)`, :math:`\pi(0) = \pi_0`.

    Source: [Saxe2014], [Saxe2019].
    Assumes: two layers, balanced and aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Scalar, not negative.
        d: Matching eigenvalue of its Sigma^{x} (or d_eff where pathways couple). Not negative.
        strength0: Initial strength. Scalar, positive.
        t: Time in steps of full-batch gradient descent.
        tau: Time constant in steps: 1/learning_rate for a mean loss, 1/(P learning_rate) for a
            sum over samples.
        height: s/d in a shorter form, or None; it enters the proof like everything else.
    """

    s: sp.Expr
    d: sp.Expr
    height: sp.Expr | None = None
    strength0: sp.Expr = STRENGTH0
    t: sp.Symbol = TIME
    tau: sp.Expr = TIME_CONSTANT

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return r"\tau \dot{\pi} = 2 \pi \left(s - d\, \pi\right), \qquad \pi(0) = \pi_0"

    @property
    def case(self) -> str:
        """Which of the family's formulas holds: "sigmoid", "decay", "growth" or "constant"."""
        # By structure: is_zero may isolate roots of long polynomials, for minutes (SymPy 1.14).
        if self.s == 0:
            return "constant" if self.d == 0 else "decay"
        return "growth" if self.d == 0 else "sigmoid"

    @cached_property
    def expr(self) -> sp.Expr:
        """The trajectory, in the form that stays finite for any t >= 0."""
        expression: Any = _template(self.case).xreplace(self._values())
        return expression

    @property
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity."""
        if self.case == "sigmoid":
            return self.s / self.d if self.height is None else self.height
        return {"constant": self.strength0, "decay": sp.S.Zero, "growth": sp.oo}[self.case]

    @cached_property
    def half_time(self) -> sp.Expr | None:
        """Time at which half the plateau is reached, in steps; None outside the sigmoid case."""
        if self.case != "sigmoid":
            return None
        ratio = self.plateau / self.strength0 - 1
        # The logarithm of a sum with a symbol is what it is, which SymPy finds out at length.
        plain = ratio.is_Add and self.strength0.is_Symbol
        return self.tau / (2 * self.s) * sp.log(ratio, evaluate=not plain)

    def residual(self) -> sp.Expr:
        r"""Zero exactly when ``expr`` solves the mode's equation from ``strength0``.

        The template is substituted into :math:`\tau\dot\pi - 2\pi(s - d\pi)` with every quantity
        a free symbol, where ``cancel`` decides, and specialised afterwards: a rational identity
        in s, d, pi_0 and exp survives any specialisation that keeps s and d from vanishing, and
        those that do vanish have a template of their own.
        """
        values = {**self._values(), _D: self.d}
        defects: list[Any] = [part.xreplace(values) for part in _template_residuals(self.case)]
        if self.case == "sigmoid" and self.height is not None:
            # Both are non-negative roots of rational functions: equal if their squares are.
            defects.append(sp.cancel((self.height * self.d) ** 2 - self.s**2))
            if self.height.is_negative:
                defects.append(self.height)
        return defect(*defects)

    def _values(self) -> dict[sp.Basic, sp.Basic]:
        return {
            _S: self.s,
            _D: self.d,
            _HEIGHT: self.plateau,
            _P0: self.strength0,
            _T: self.t,
            _TAU: self.tau,
        }

    def direction(self) -> Direction:
        """Return the direction: the slope keeps the sign of s - d strength0."""
        return direction_of((self.s - self.d * self.strength0) * self.strength0)

    def series(self, order: int) -> sp.Expr:
        """Return the time to reach a strength, as a series in it; see the base class."""
        whole = geometric_series(self.s, self.d, 0, order)
        return self.tau / 2 * (whole - whole.subs(STRENGTH, self.strength0))

    @property
    def numeric(self) -> Callable[..., np.ndarray]:
        """:func:`strength_float`."""
        return strength_float


_S, _D, _HEIGHT, _P0, _T, _TAU = sp.symbols("_s _d _height _p0 _t _tau", positive=True)


@lru_cache(maxsize=4)
def _template(case: str) -> sp.Expr:
    if case == "sigmoid":
        return _HEIGHT / (1 + (_HEIGHT / _P0 - 1) * sp.exp(-2 * _S * _T / _TAU))
    if case == "decay":
        return _P0 / (1 + 2 * _D * _P0 * _T / _TAU)
    if case == "growth":
        return _P0 * sp.exp(2 * _S * _T / _TAU)
    return _P0


@lru_cache(maxsize=4)
def _template_residuals(case: str) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return the residuals of a template, cancelled: equation, initial value, drive.

    The drive s − d pi keeps its sign: it is its value at t = 0, times pi exp(−2st/tau)/pi_0 > 0.
    """
    strength = _template(case).subs(_HEIGHT, _S / _D)
    s = sp.S.Zero if case in ("decay", "constant") else _S
    d = sp.S.Zero if case in ("growth", "constant") else _D
    drive = s - d * strength
    kept = strength * sp.exp(-2 * s * _T / _TAU) / _P0
    return (
        sp.cancel(_TAU * strength.diff(_T) - 2 * strength * drive),
        sp.cancel(strength.subs(_T, 0) - _P0),
        sp.cancel(drive - (s - d * _P0) * kept),
    )


def strength_float(
    s: np.ndarray, d: np.ndarray, strength0: np.ndarray, t: np.ndarray, tau: float
) -> np.ndarray:
    r"""Evaluate the family in float64, for s, d >= 0, every case at once.

    With x = 2 s t/tau the four cases are one formula,
    :math:`\pi = \pi_0 / (e^{-x} + 2 d \pi_0 (t/\tau) \varphi(x))`,
    :math:`\varphi(x) = (1 - e^{-x})/x`, whose terms are all positive: no cancellation, no
    overflow for any t (but for the growth that d = 0 really has).

    Args:
        s: Singular values, broadcastable with ``t``.
        d: Input eigenvalues.
        strength0: Initial strengths, positive.
        t: Times in steps, >= 0.
        tau: Time constant in steps.
    """
    import numpy as np

    s, d, strength0, t = as_floats(s, d, strength0, t)
    x = 2 * s * (t / tau)
    with np.errstate(divide="ignore", over="ignore"):
        return strength0 / (np.exp(-x) + 2 * d * strength0 * (t / tau) * phi(x))


def strength_ball(s: arb, d: arb, strength0: arb, t: arb, tau: arb) -> arb:
    """Evaluate the family with certified error bounds at Arb's current precision.

    An s that is exactly zero selects its case; s and d must otherwise be positive.
    """
    time = t / tau
    return strength0 / ((-2 * s * time).exp() + 2 * d * strength0 * span_ball(2 * s, time))


def matches(
    *, decoupled: bool, layers: int = 2, balanced: bool = True, weight_decay: bool = False
) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    unfit = unfit_for_two_layers(
        layers=layers, decoupled=decoupled, balanced=balanced, wants_balanced=True
    )
    if unfit:
        return False, unfit
    if weight_decay:
        return False, "weight decay adds −2λπ to the equation"
    return True, "two layers of weights, the mode is decoupled, balanced small initial weights"


def solve(s: sp.Expr, d: sp.Expr, **context: Any) -> SigmoidalMode:
    """Return the trajectory of a mode with the given s and d (or d_eff)."""
    return SigmoidalMode(s=s, d=d, **context)
