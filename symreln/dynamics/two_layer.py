r"""Two-layer balanced family: one decoupled mode of a pathway with one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.errors import InputError

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
class SigmoidalMode:
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
    def case(self) -> str:
        """Which of the family's formulas holds: "sigmoid", "decay", "growth" or "constant"."""
        if self.s.is_zero:
            return "constant" if self.d.is_zero else "decay"
        return "growth" if self.d.is_zero else "sigmoid"

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

    @property
    def half_time(self) -> sp.Expr | None:
        """Time at which half the plateau is reached, in steps; None outside the sigmoid case."""
        if self.case != "sigmoid":
            return None
        ratio = self.plateau / self.strength0 - 1
        return self.tau / (2 * self.s) * sp.log(ratio)

    def residual(self) -> sp.Expr:
        r"""Zero exactly when ``expr`` solves the mode's equation from ``strength0``.

        The template is substituted into :math:`\tau\dot\pi - 2\pi(s - d\pi)` with every quantity
        a free symbol, where ``cancel`` decides, and specialised afterwards: a rational identity
        in s, d, pi_0 and exp survives any specialisation that keeps s and d from vanishing, and
        those that do vanish have a template of their own.
        """
        generic, start = _template_residuals(self.case)
        values = {**self._values(), _D: self.d}
        defects = [generic.xreplace(values), start.xreplace(values)]
        if self.case == "sigmoid" and self.height is not None:
            # Both are non-negative roots of rational functions: equal if their squares are.
            defects.append(sp.cancel((self.height * self.d) ** 2 - self.s**2))
            if self.height.is_negative:
                defects.append(self.height)
        return sp.Add(*(sp.Abs(defect) for defect in defects))

    def _values(self) -> dict[sp.Basic, sp.Basic]:
        return {
            _S: self.s,
            _D: self.d,
            _HEIGHT: self.plateau,
            _P0: self.strength0,
            _T: self.t,
            _TAU: self.tau,
        }

    def to_numpy(self, *arguments: sp.Symbol) -> Callable[..., np.ndarray]:
        """Return the trajectory as a float64 function, stable for any t >= 0.

        Args:
            arguments: Every symbol that occurs, in the order in which the function takes values:
                ``t``, and ``tau``, ``strength0`` and parameters where they are symbols.

        Raises:
            InputError: A symbol that occurs is not among the arguments.

        Example:
            >>> mode = SigmoidalMode(s=sp.Integer(2), d=sp.Integer(1), tau=sp.Integer(100))
            >>> float(mode.to_numpy(TIME, STRENGTH0)(0.0, 0.5))
            0.5
        """
        parts = (self.s, self.d, self.strength0, self.t, self.tau)
        missing = set().union(*(part.free_symbols for part in parts)) - set(arguments)
        if missing:
            names = ", ".join(sorted(map(str, missing)))
            msg = f"to_numpy: {names} occurs in the trajectory; give it among the arguments"
            raise InputError(msg)
        functions = [sp.lambdify(arguments, part, "numpy") for part in parts]
        return lambda *values: strength_float(*(function(*values) for function in functions))

    def to_latex(self) -> str:
        """Return the LaTeX of the trajectory, without delimiters."""
        return sp.latex(self.expr)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"


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
def _template_residuals(case: str) -> tuple[sp.Expr, sp.Expr]:
    """Return (equation's residual, initial value's residual) of a template, cancelled."""
    strength = _template(case).subs(_HEIGHT, _S / _D)
    s = sp.S.Zero if case in ("decay", "constant") else _S
    d = sp.S.Zero if case in ("growth", "constant") else _D
    equation = sp.cancel(_TAU * strength.diff(_T) - 2 * strength * (s - d * strength))
    return equation, sp.cancel(strength.subs(_T, 0) - _P0)


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

    s, d, strength0, t = (np.asarray(value, dtype=float) for value in (s, d, strength0, t))
    x = 2 * s * (t / tau)
    small = np.where(x > 0, x, 1.0)
    phi = np.where(x > 0, -np.expm1(-x) / small, 1.0)
    with np.errstate(divide="ignore", over="ignore"):
        return strength0 / (np.exp(-x) + 2 * d * strength0 * (t / tau) * phi)


def strength_ball(s: arb, d: arb, strength0: arb, t: arb, tau: arb) -> arb:
    """Evaluate the family with certified error bounds at Arb's current precision.

    Balls that are exactly zero select the case; s and d must otherwise be positive.
    """
    if s.is_zero():
        return strength0 / (1 + 2 * d * strength0 * t / tau)
    decay = (-2 * s * t / tau).exp()
    return strength0 / (decay + d * strength0 * (1 - decay) / s)


def matches(*, decoupled: bool, layers: int = 2) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    if layers != 2:
        return False, f"the family is for two layers of weights, the pathway has {layers}"
    if not decoupled:
        return False, "the mode is coupled to modes of other pathways"
    return True, "two layers of weights, the mode is decoupled, balanced small initial weights"


def solve(s: sp.Expr, d: sp.Expr, **context: Any) -> SigmoidalMode:
    """Return the trajectory of a mode with the given s and d (or d_eff)."""
    return SigmoidalMode(s=s, d=d, **context)
