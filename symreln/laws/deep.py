r"""Depth-L family: balanced deep linear modes, t as a function of the strength.

With :math:`\rho = (d\pi/s)^{1/L}`, the L-th root of the strength in units of its plateau,

.. math:: t(\pi) = \frac{\tau}{s} \left(\frac{d}{s}\right)^{1-2/L} [T(\rho) - T(\rho_0)], \qquad
   T'(\rho) = \frac{1}{\rho^{L-1}(1 - \rho^L)}, \quad
   T(\rho) = J_{2,L}(\rho) - \frac{\rho^{2-L}}{L-2},

for a rising mode, and with :math:`\sigma = 1/\rho` for a falling one
:math:`T = J_{L-2,L}(\sigma) - \sigma^{L-2}/(L-2)`; J is that of
:mod:`symreln.laws.roots_of_unity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.errors import InputError
from symreln.laws import deep_numbers
from symreln.laws.common import (
    COUPLED,
    STRENGTH,
    AbstractMode,
    Direction,
    defect,
    direction_of,
    geometric_series,
)
from symreln.laws.roots_of_unity import (
    hypergeometric,
    hypergeometric_defect,
    integral,
    integral_defect,
)
from symreln.laws.two_layer import STRENGTH0, TIME, TIME_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

NAME = "depth L balanced"

#: Number of layers as a symbol.
LAYERS = sp.Symbol("L", integer=True, positive=True)
#: Layers up to which the closed form is printed in logarithms; it has about L terms.
MOST_PRINTED = 6

_Q, _RHO, _P0, _T, _TAU, _S, _D = sp.symbols("_q _rho _p0 _t _tau _s _d", positive=True)


def matches(
    *, layers: int, decoupled: bool, balanced: bool, weight_decay: bool = False
) -> tuple[bool, str]:
    """Say whether the family solves a mode, and why or why not."""
    if layers < 3:
        return False, f"{layers} layers of weights have an explicit solution of their own"
    if not decoupled:
        return False, COUPLED
    if not balanced:
        return False, "unbalanced modes of more than two layers have no closed form known here"
    if weight_decay:
        return False, "weight decay of more than two layers has no closed form known here"
    return True, f"{layers} layers of weights, the mode is decoupled, balanced"


@dataclass(frozen=True, kw_only=True)
class DeepMode(AbstractMode):
    r"""Trajectory of one decoupled mode of L balanced layers, L >= 3, in implicit form.

    Solves :math:`\tau \dot\pi = L \pi^{2-2/L} (s - d\pi)`, :math:`\pi(0) = \pi_0`. For
    :math:`L = \infty` time is rescaled: t counts steps times L, and
    :math:`\tau \dot\pi = \pi^2 (s - d\pi)`.

    Source: [Saxe2014].
    Assumes: L layers, balanced and aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        layers: L: an integer from 3, the symbol :data:`LAYERS`, or infinity.
        s: Singular value of the pathway's Sigma^{yx}. Scalar, not negative.
        d: Matching eigenvalue of its Sigma^{x}. Scalar, not negative.
        strength0: Initial strength. Scalar, positive.
        t: Time in steps of full-batch gradient descent.
        tau: Time constant in steps.
    """

    layers: sp.Expr
    s: sp.Expr
    d: sp.Expr
    strength0: sp.Expr = STRENGTH0
    t: sp.Symbol = TIME
    tau: sp.Expr = TIME_CONSTANT

    def __post_init__(self) -> None:
        if isinstance(self.layers, int):
            object.__setattr__(self, "layers", sp.Integer(self.layers))
        if self.layers.is_number and not (self.layers is sp.oo or _whole(self.layers)):
            msg = f"layers: found {self.layers}, expected a whole number from 3, a symbol or oo"
            raise InputError(msg)

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = L \pi^{2 - 2/L} \left(s - d\, \pi\right), "
            r"\qquad \pi(0) = \pi_0, \quad "
            rf"L = {sp.latex(self.layers)}"
        )

    @property
    def exponent(self) -> sp.Expr:
        """The exponent e = 1 − 2/L: the rate of relative growth goes as strength^e."""
        return sp.S.One if self.layers is sp.oo else 1 - 2 / self.layers

    @property
    def pace(self) -> sp.Expr:
        """L, or 1 in the rescaled limit."""
        return sp.S.One if self.layers is sp.oo else self.layers

    @property
    def falls(self) -> bool:
        """Whether the mode starts above its plateau; formulas of symbols are of a rising one."""
        return bool((self.s - self.d * self.strength0).is_negative)

    @cached_property
    def expr(self) -> sp.Expr | None:
        """The trajectory where it is explicit: L = ∞, s = 0 or d = 0; else None."""
        values = {_P0: self.strength0, _T: self.t, _TAU: self.tau, _S: self.s, _D: self.d}
        if self.s.is_zero and self.d.is_zero:
            return self.strength0
        if self.s.is_zero or self.d.is_zero:
            explicit: Any = _power_law(self.pace, self.exponent, bool(self.s.is_zero))
        elif self.layers is sp.oo:
            explicit = _lambert()
        else:
            return None
        return explicit.xreplace(values)

    @property
    def printed(self) -> Any:
        """The trajectory, or the equation t = t(pi)."""
        return sp.Eq(self.t, self.time) if self.expr is None else self.expr

    @cached_property
    def half_time(self) -> sp.Expr | None:
        """Time at which half the plateau is reached, in steps; None where s or d is 0."""
        if self.s.is_zero or self.d.is_zero or self.falls:
            return None
        found: Any = self.time.xreplace({STRENGTH: self.plateau / 2})
        return found

    @property
    def blow_up(self) -> sp.Expr | None:
        """Time at which the strength becomes infinite, in steps, for d = 0; else None."""
        if not self.d.is_zero or self.s.is_zero:
            return None
        return self.tau / (self.pace * self.s * self.exponent * self.strength0**self.exponent)

    @property
    def time(self) -> sp.Expr:
        """t(π): when the strength is :data:`STRENGTH`, between strength0 and the plateau.

        Raises:
            InputError: s or d is 0: ``expr`` is explicit.
        """
        if self.s.is_zero or self.d.is_zero:
            msg = "time: s or d is 0 and the trajectory explicit, see expr"
            raise InputError(msg)
        scale = self.tau / self.s * (self.d / self.s) ** self.exponent
        return scale * (self._stage(STRENGTH) - self._stage(self.strength0))

    @property
    def plateau(self) -> sp.Expr:
        """Limit for t to infinity; without inputs (d = 0) infinity, at the time ``blow_up``."""
        if self.d.is_zero:
            return self.strength0 if self.s.is_zero else sp.oo
        return self.s / self.d

    def residual(self) -> sp.Expr:
        r"""Zero exactly when dt/dπ · π' − 1 vanishes, and t(π0) = 0; or ``expr`` solves it.

        The derivative of J is proven once for each L, or for a symbol L at once; what is left is
        the chain rule, decided in powers of ρ and of the plateau.
        """
        if self.s.is_zero and self.d.is_zero:
            return sp.S.Zero
        if self.s.is_zero or self.d.is_zero:
            return _power_law_residual(self.pace, self.exponent, bool(self.s.is_zero))
        if self.layers is sp.oo:
            return defect(_limit_defect(), _lambert_defect())
        if self.layers.is_Integer:
            m = int(self.layers) - 2 if self.falls else 2
            return defect(integral_defect(m, int(self.layers)), _chain(self.layers, self.falls))
        return defect(hypergeometric_defect(), _chain(self.layers, self.falls))

    def direction(self) -> Direction:
        """Return the direction: dt/dπ has the sign of s − dπ and diverges at the plateau."""
        return direction_of(self.s - self.d * self.strength0)

    def series(self, order: int) -> sp.Expr:
        """Return the time to reach a strength, as a series in it; see the base class."""
        whole = geometric_series(self.s, self.d, -self.exponent, order)
        return self.tau / self.pace * (whole - whole.subs(STRENGTH, self.strength0))

    @property
    def numeric(self) -> Callable[..., np.ndarray]:
        """:func:`symreln.laws.deep_numbers.strength_float` of this depth.

        Raises:
            InputError: L is a symbol.
        """
        if self.layers is not sp.oo and not self.layers.is_Integer:
            msg = "layers: numbers need a number of layers, found the symbol"
            raise InputError(msg)
        layers = None if self.layers is sp.oo else int(self.layers)
        return partial(deep_numbers.strength_float, layers)

    def to_latex(self) -> str:
        """Return the LaTeX of the trajectory or of t(π), without delimiters."""
        if self.expr is not None:
            return sp.latex(self.expr)
        name, stage = sp.latex(self.root), sp.latex(self.stage)
        power, layers = f"{'-' * self.falls}1/{sp.latex(self.layers)}", sp.latex(self.layers)
        scale = sp.latex(self.tau / self.s) + rf"\left({sp.latex(self.d / self.s)}\right)"
        return (
            rf"t = {scale}^{{1 - 2/{layers}}} \left[T({name}) - T({name}_0)\right], \quad "
            rf"T({name}) = {stage}, \quad {name} = \left({sp.latex(self.d / self.s)}\, "
            rf"\pi\right)^{{{power}}}"
        )

    @property
    def scale(self) -> sp.Expr:
        """The factor of T(ρ) − T(ρ_0) in t(π)."""
        found: Any = self.tau / self.s * (self.d / self.s) ** self.exponent
        return found

    @property
    def root(self) -> sp.Symbol:
        r"""The variable of :attr:`stage`: ρ, or σ = 1/ρ for a falling mode."""
        return sp.Symbol("sigma" if self.falls else "rho", positive=True)

    @property
    def root_power(self) -> sp.Expr:
        """The power of the strength, in units of its height, that :attr:`root` is."""
        return (-1 if self.falls else 1) / self.layers

    @property
    def stage(self) -> sp.Expr:
        """T as an expression in :attr:`root`."""
        return self._of_root(self.root)

    def _stage(self, strength: sp.Expr) -> sp.Expr:
        """Return T at a strength."""
        share = self.d * strength / self.s
        if self.layers is sp.oo:
            return sp.log(share / (1 - share)) - 1 / share
        return self._of_root(share**self.root_power)

    def _of_root(self, root: sp.Expr) -> sp.Expr:
        m: Any = self.layers - 2 if self.falls else sp.Integer(2)
        power = root ** (self.layers - 2) if self.falls else root ** (2 - self.layers)
        printed = self.layers.is_Integer and self.layers <= MOST_PRINTED
        j = integral(int(m), int(self.layers), root) if printed else None
        found = hypergeometric(m, self.layers, root) if j is None else j
        return found - power / (self.layers - 2)


def _whole(layers: sp.Expr) -> bool:
    return bool(layers.is_Integer) and bool(layers >= 3)


@lru_cache(maxsize=64)
def _chain(layers: sp.Expr, falls: bool) -> sp.Expr:
    """Return dt/dπ · π' − 1, given the derivative of J, in ρ and q = (s/d)^(1/L)."""
    strength, plateau = (_Q * _RHO) ** layers, _Q**layers
    s = _D * plateau
    if falls:
        # T as a function of sigma = 1/rho.
        inverse = 1 / _RHO
        slope = inverse ** (layers - 3) / (1 - inverse**layers) - inverse ** (layers - 3)
        by_root = slope * inverse.diff(_RHO)
    else:
        by_root = _RHO / (1 - _RHO**layers) + _RHO ** (1 - layers)
    by_strength = _TAU / (s * _Q ** (layers - 2)) * by_root / strength.diff(_RHO)
    rate = layers * (_Q * _RHO) ** (2 * layers - 2) * (s - _D * strength) / _TAU
    return sp.simplify(sp.powsimp(sp.expand_power_base(by_strength * rate)) - 1)


def _power_law(pace: sp.Expr, e: sp.Expr, decays: bool) -> sp.Expr:
    """Return the solution of tau π' = pace π^(1+e) (s − dπ) without s, or without d."""
    if decays:
        spread = 1 + pace * _D * (1 + e) * _P0 ** (1 + e) * _T / _TAU
        return _P0 * spread ** (-1 / (1 + e))
    return _P0 * (1 - pace * _S * e * _P0**e * _T / _TAU) ** (-1 / e)


@lru_cache(maxsize=64)
def _power_law_residual(pace: sp.Expr, e: sp.Expr, decays: bool) -> sp.Expr:
    # π = π0 B^(−1/p) with a positive base B, so π^p = π0^p / B and (ln π)' = −B'/(p B).
    power = 1 + e if decays else e
    strength = _power_law(pace, e, decays)
    base = (strength / _P0).as_base_exp()[0]
    logarithmic = -_TAU * base.diff(_T) / (power * base)
    raised = _P0**power / base
    rate = -pace * _D * raised if decays else pace * _S * raised
    form = sp.simplify(sp.log(strength / _P0).diff(_T) * _TAU - logarithmic)
    return defect(form, sp.simplify(logarithmic - rate), strength.subs(_T, 0) - _P0)


def _lambert() -> sp.Expr:
    """Return the explicit solution for L = ∞, by the principal branch of Lambert's W."""
    first = _S / (_D * _P0) - 1
    return (_S / _D) / (1 + sp.LambertW(first * sp.exp(first - _S**2 * _T / (_D * _TAU))))


@lru_cache(maxsize=1)
def _lambert_defect() -> sp.Expr:
    """Return 0 when the explicit solution holds: W' = W/(w(1 + W)), and W(v e^v) = v, v > −1."""
    w = sp.Symbol("_w")
    strength = (_S / _D) / (1 + w)
    # d/dt W(a e^{−kt}) = −k W/(1 + W).
    slope = strength.diff(w) * (-(_S**2) / _D) * w / (1 + w)
    first = _S / (_D * _P0) - 1
    start = strength.subs(w, first) - _P0
    return defect(sp.cancel(slope - strength**2 * (_S - _D * strength)), sp.cancel(start))


@lru_cache(maxsize=1)
def _limit_defect() -> sp.Expr:
    share = _D * STRENGTH / _S
    time = _TAU / _S * (_D / _S) * (sp.log(share / (1 - share)) - 1 / share)
    rate = STRENGTH**2 * (_S - _D * STRENGTH) / _TAU
    return sp.cancel(time.diff(STRENGTH) * rate - 1)
