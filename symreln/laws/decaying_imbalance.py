r"""Two-layer unbalanced family with weight decay: modified Bessel functions.

Amplitudes obey :math:`a' = b(s - dab) - \lambda a` and :math:`b' = a(s - dab) - \lambda b` in
units of tau, so :math:`c(t) = |a^2 - b^2| = c_0 e^{-2\lambda t}`. With
:math:`u = (a + b)^2/c`, :math:`\pi = c(u - 1/u)/4`, again

.. math:: u' = 2su - \tfrac{1}{2} c d (u^2 - 1),

now with a coefficient that decays. :math:`u = 2y'/(cdy)` makes it linear; in
:math:`z = c(t) d/(4\lambda)` it is the modified Bessel equation of order
:math:`\nu = (s - \lambda)/(2\lambda)`, and

.. math:: u = \frac{\beta K_{\nu+1}(z) - \alpha I_{\nu+1}(z)}{\alpha I_\nu(z) + \beta K_\nu(z)},
   \quad \alpha = K_{\nu+1}(z_0) - u_0 K_\nu(z_0), \quad
   \beta = I_{\nu+1}(z_0) + u_0 I_\nu(z_0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.errors import NoClosedFormError
from symreln.laws import weight_decay as balanced
from symreln.laws.common import (
    AbstractMode,
    Direction,
    defect,
    unfit_for_two_layers,
)
from symreln.laws.two_layer import STRENGTH0, TIME, TIME_CONSTANT
from symreln.laws.unbalanced import IMBALANCE, first_ratio
from symreln.laws.weight_decay import WEIGHT_DECAY

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

NAME = "two-layer unbalanced, weight decay"

_S, _D, _C, _P0, _LAMBDA = sp.symbols("_s _d _c _p0 _lambda", positive=True)
_U0, _Z, _Z0 = sp.symbols("_u0 _z _z0", positive=True)
#: I and K of orders nu and nu + 1, at z and at z(0).
_NOW = sp.symbols("_i _i1 _k _k1", positive=True)
_THEN = sp.symbols("_i0 _i10 _k0 _k10", positive=True)

#: Relative local error of the float integration, and the share of the strength below which the
#: imbalance no longer counts: it enters as c²/(8 pi²) relative to the strength.
_TOLERANCE = 1e-12
_NEGLIGIBLE = 1e-9
#: Absolute errors of the angle: where its relative error is kept, and where it starts at 0.
_LEAST, _FROM_ZERO = 1e-250, 1e-30


def matches(
    *, layers: int, decoupled: bool, balanced: bool, weight_decay: bool
) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    if not weight_decay:
        return False, "no weight decay"
    unfit = unfit_for_two_layers(
        layers=layers, decoupled=decoupled, balanced=balanced, wants_balanced=False
    )
    if unfit:
        return False, unfit
    return True, "two layers of weights, the mode is decoupled, a² − b² = c₀ exp(−2λt/τ)"


@dataclass(frozen=True, kw_only=True)
class DecayingImbalanceMode(AbstractMode):
    r"""Trajectory of one decoupled, unbalanced mode under weight decay.

    Solves :math:`\tau \dot\pi = \sqrt{c(t)^2 + 4\pi^2}\,(s - d\pi) - 2\lambda\pi`,
    :math:`c(t) = c_0 e^{-2\lambda t/\tau}`, :math:`\pi(0) = \pi_0`.

    Source: derived in this module's docstring; contiguous relations of I and K: DLMF 10.29.
    Assumes: two layers, aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        s: Singular value of the pathway's Sigma^{yx}. Scalar, not negative.
        d: Matching eigenvalue of its Sigma^{x}. Scalar, positive.
        weight_decay: λ, positive.
        imbalance: c₀, positive.
        strength0: Initial strength ab. Scalar, not negative.
        t: Time in steps of full-batch gradient descent.
        tau: Time constant in steps.
    """

    s: sp.Expr
    d: sp.Expr
    weight_decay: sp.Expr = WEIGHT_DECAY
    imbalance: sp.Expr = IMBALANCE
    strength0: sp.Expr = STRENGTH0
    t: sp.Symbol = TIME
    tau: sp.Expr = TIME_CONSTANT

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = \sqrt{c_0^2 e^{-4 \lambda t/\tau} + 4 \pi^2} "
            r"\left(s - d\, \pi\right) - 2 \lambda \pi, \qquad \pi(0) = \pi_0, \quad "
            rf"\lambda = {sp.latex(self.weight_decay)}"
        )

    @property
    def order(self) -> sp.Expr:
        """The order nu of the Bessel functions."""
        return (self.s - self.weight_decay) / (2 * self.weight_decay)

    @property
    def imbalance_at(self) -> sp.Expr:
        """c(t), which shrinks to 0."""
        return self.imbalance * sp.exp(-2 * self.weight_decay * self.t / self.tau)

    @property
    def ratio(self) -> sp.Expr:
        """u(t) = (a + b)²/c."""
        start = self.imbalance * self.d / (4 * self.weight_decay)
        z = self.imbalance_at * self.d / (4 * self.weight_decay)
        values = {_U0: first_ratio(self.imbalance, self.strength0)}
        for names, at in ((_NOW, z), (_THEN, start)):
            found = [f(self.order + k, at) for f in (sp.besseli, sp.besselk) for k in (0, 1)]
            values.update(zip(names, found, strict=True))
        found: Any = _ratio().xreplace(values)
        return found

    @cached_property
    def expr(self) -> sp.Expr:
        """The trajectory."""
        return self.imbalance_at * (self.ratio - 1 / self.ratio) / 4

    @property
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity, that of the balanced mode: the imbalance dies out."""
        return sp.Max(0, (self.s - self.weight_decay) / self.d)

    def residual(self) -> sp.Expr:
        """Zero exactly when ``expr`` solves its equation from ``strength0``.

        Decided with every quantity a symbol, the Bessel functions included: they enter through
        their contiguous relations.
        """
        return _template_residual()

    def direction(self) -> Direction:
        """Return UNDECIDED: the strength may overshoot while the imbalance dies out."""
        return Direction.UNDECIDED

    def series(self, order: int) -> sp.Expr:
        """Refuse: the equation contains time itself, so no time belongs to a strength.

        Raises:
            NoClosedFormError: Always.
        """
        msg = f"{NAME}: the imbalance decays in time, so t is no function of the strength"
        raise NoClosedFormError(msg)

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """s, d, weight_decay, imbalance, strength0, t, tau."""
        parts = (self.s, self.d, self.weight_decay, self.imbalance, self.strength0)
        return (*parts, self.t, self.tau)

    @property
    def numeric(self) -> Callable[..., np.ndarray]:
        """:func:`strength_float`."""
        return strength_float

    def to_latex(self) -> str:
        """Return the LaTeX of the trajectory, with its parts named, without delimiters."""
        bessel = [rf"{name}_{{\nu{more}}}(z)" for name in "IK" for more in ("", "+1")]
        i, i1, k, k1 = bessel
        return (
            rf"\tfrac{{1}}{{4}} c(t) \left(u - \frac{{1}}{{u}}\right), \quad "
            rf"u = \frac{{\beta {k1} - \alpha {i1}}}{{\alpha {i} + \beta {k}}}, \quad "
            rf"z = \frac{{c(t)\, {sp.latex(self.d)}}}{{{sp.latex(4 * self.weight_decay)}}}, \quad "
            rf"\nu = {sp.latex(self.order)}, \quad c(t) = {sp.latex(self.imbalance_at)}"
        )


@lru_cache(maxsize=1)
def _ratio() -> sp.Expr:
    (i, i1, k, k1), (i0, i10, k0, k10) = _NOW, _THEN
    alpha, beta = k10 - _U0 * k0, i10 + _U0 * i0
    return (beta * k1 - alpha * i1) / (alpha * i + beta * k)


def _slope(expression: sp.Expr) -> sp.Expr:
    """Return tau d/dt of a rational expression in z, I and K."""
    i, i1, k, k1 = _NOW
    order = (_S - _LAMBDA) / (2 * _LAMBDA)
    rules = {
        _Z: sp.S.One,
        i: i1 + order / _Z * i,
        i1: i - (order + 1) / _Z * i1,
        k: -k1 + order / _Z * k,
        k1: -k - (order + 1) / _Z * k1,
    }
    along = sp.Add(*(expression.diff(name) * rule for name, rule in rules.items()))
    return -2 * _LAMBDA * _Z * along


@lru_cache(maxsize=1)
def _template_residual() -> sp.Expr:
    u = _ratio()
    riccati = _slope(u) - 2 * _S * u + 2 * _LAMBDA * _Z * (u**2 - 1)
    # From u to the strength, with c = 4 lambda z/d and u a function of time that solves it:
    v, c = sp.Symbol("_u", positive=True), 4 * _LAMBDA * _Z / _D
    strength, root = c * (v - 1 / v) / 4, c * (v + 1 / v) / 2
    rate = 2 * _S * v - 2 * _LAMBDA * _Z * (v**2 - 1)
    slope = strength.diff(v) * rate - 2 * _LAMBDA * _Z * strength.diff(_Z)
    equation = slope - root * (_S - _D * strength) + 2 * _LAMBDA * strength
    start = u.xreplace(dict(zip(_NOW, _THEN, strict=True))) - _U0
    r = sp.Symbol("_r", positive=True)
    first = (2 * _P0 + r) / _C
    value = sp.fraction(sp.cancel(_C * (first - 1 / first) / 4 - _P0))[0]
    return defect(
        sp.cancel(sp.together(riccati)),
        sp.cancel(equation),
        sp.cancel(root**2 - c**2 - 4 * strength**2),
        sp.cancel(start),
        sp.expand(sp.rem(value, r**2 - _C**2 - 4 * _P0**2, r)),
    )


def strength_float(
    s: np.ndarray,
    d: np.ndarray,
    weight_decay: np.ndarray,
    imbalance: np.ndarray,
    strength0: np.ndarray,
    t: np.ndarray,
    tau: float,
) -> np.ndarray:
    r"""Evaluate in float64, for s, d >= 0, λ, c₀ > 0 and strength0 >= 0.

    Bessel functions of large order overflow in floats, so θ = ln u is integrated:
    :math:`\theta' = 2s - d c(t) \sinh\theta`, implicitly and to 1e-12, until the imbalance is
    negligible beside the strength; from there the balanced form holds.
    """
    import numpy as np

    values = np.broadcast_arrays(s, d, weight_decay, imbalance, strength0, t)
    s, d, weight_decay, imbalance, strength0, t = (np.asarray(v, dtype=float) for v in values)
    result = np.empty(t.shape)
    rows = np.stack([part.ravel() for part in (s, d, weight_decay, imbalance, strength0)], axis=1)
    times, flat = t.ravel() / tau, result.reshape(-1)
    unique, place = np.unique(rows, axis=0, return_inverse=True)
    for index, row in enumerate(unique):
        chosen = np.flatnonzero(place.ravel() == index)
        flat[chosen] = _one_mode(row, times[chosen])
    return flat.reshape(t.shape)


def _one_mode(row: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the strengths of one mode (s, d, λ, c₀, π₀) at times in units of tau, any order."""
    import numpy as np
    from scipy.integrate import LSODA

    s, d, decay, c, strength0 = row.tolist()
    growth, slope = np.asarray(s - decay), np.asarray(d)
    grid, place = np.unique(times, return_inverse=True)
    found = np.empty(len(grid))
    # Rises from 0 where strength0 is tiny: sinh is then as good as its argument.
    theta = np.array([np.arcsinh(2 * strength0 / c)])
    if c == 0 or not grid[-1] > 0:
        return balanced.strength_float(growth, slope, np.asarray(strength0), times, 1.0)
    solver = LSODA(
        lambda t, y: 2 * s - d * c * np.exp(-2 * decay * t) * np.sinh(y),
        0.0,
        theta,
        float(grid[-1]),
        rtol=_TOLERANCE,
        atol=_LEAST if theta[0] else _FROM_ZERO,
        jac=lambda t, y: -d * c * np.exp(-2 * decay * t) * np.cosh([y]),
    )
    done = int(np.searchsorted(grid, 0.0, side="right"))
    found[:done] = strength0
    while done < len(grid) and solver.status == "running" and solver.y[0] < -np.log(_NEGLIGIBLE):
        solver.step()
        end = int(np.searchsorted(grid, solver.t, side="right"))
        if end > done:
            angle = solver.dense_output()(grid[done:end])[0]
            found[done:end] = _strength(angle, c, decay, grid[done:end])
            done = end
    if done < len(grid):
        now = _strength(solver.y, c, decay, np.array([solver.t]))
        rest = grid[done:] - solver.t
        found[done:] = balanced.strength_float(growth, slope, now, rest, 1.0)
    return found[place.ravel()]


def _strength(theta: np.ndarray, c: float, decay: float, t: np.ndarray) -> np.ndarray:
    """Return c exp(−2λt) sinh(θ)/2; as θ is bounded here nothing overflows."""
    import numpy as np

    return c * np.exp(-2 * decay * t) * np.sinh(theta) / 2
