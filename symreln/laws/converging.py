r"""What it costs to take an earlier stage as converged, bounded.

Units of tau; g is that of :attr:`symreln.laws.law.Regime.gram_scale`, the start is Q Qᵀ = g I in
every pathway, and pi the closed form from pi_0 = g/2.

*The earlier stage.* A closed mode has W = g sinh 2 eta with eta' = s − d g sinh 2 eta, eta(0) = 0,
and pi = (g/2) e^{2 zeta} with zeta' = s − d pi, zeta(0) = 0. At eta = zeta the first rate is the
larger, so eta >= zeta; and (eta − zeta)' <= (dg/2) e^{−2 eta} <= d g²/(4 pi). With delta the
integral of that, and height h = s/d,

.. math:: \pi - \frac{g^2}{4\pi} \le W \le \pi e^{2\delta}, \qquad W < h, \qquad \epsilon = h - W.

*What it leaves.* At the plateaus the normal equations hold, so what is still missing of the
outputs is orthogonal to the converged residual R, and its square over 2P is the loss that the stage
has still to lose: :math:`\frac12 \sum m\, d\, \epsilon^2`.

*A later mode.* Let it see, in mutually orthogonal output directions, its own drive s and the drives
r_i = c_i eps_i of earlier modes, which fall to 0, and let it be damped by D_0, D_i >= 0 in these
directions. Then W = 2 g a b_i (:mod:`symreln.laws.block_flow`) with

.. math:: \dot a = \sum_i e_i b_i, \quad \dot b_i = e_i a, \quad e_i = r_i - 2 g D_i a b_i,
   \quad r_0 = s, \quad a(0) = 1,\ b(0) = 0, \quad a^2 - |b|^2 = 1.

Let rho² = s² + Σ r_i² and I its integral's root, I(t) = ∫ rho.

1. Upper bound. With |b| = sinh eta, eta' = e·b/|b| <= rho, so |W| <= g sinh 2I.
2. Lower bound, late. With b = b_0 and w = 2gab, b' = s a − 2 g D_0 a² b grows with a as long as
   w < h/2, and a² >= 1 + b². So b stays above the flow without other drives from the same b, whose
   P = (g/2) e^{2 arsinh b} has P' >= 2P(s − D_0 P): w >= P − g²/(4P) with a sigmoid P.
3. Lower bound, early. Until t1 let w_ = g sinh 2I(t1), so that e_i >= r_i − D_i w_ =: q_i, and let
   q_i(t1) >= 0. All q_i fall, and a system with coefficients e_i stays above the one with q_i. With
   sigma² = Σ q_i², K = ∫ sigma, the vector :math:`e^K (\sigma, q_0, q_i)/\sigma(0)` is a
   subsolution of it: its slope misses by :math:`e^K (\sigma', 0, q_i')/\sigma(0) \le 0`. From
   (1, 0, 0), half of that start plus half of (1, −q_i(0)/sigma(0)), whose b_0 never falls,
   b_0(t1) >= (q_0/(2 sigma(0))) (e^K − 1). And K >= I(t1) − |D| w_ t1.

Together: half of the height is reached between the t with g sinh 2I(t) = h/2 and what 2 gives from
3's b at the best t1. I is elementary (:func:`gained`): with x = h − pi, dt = −dx/(2 d x (h − x)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flint import arb

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sympy as sp


@dataclass(frozen=True, kw_only=True, eq=False)
class Earlier:
    """A closed mode of the earlier stage, in units of tau.

    Attributes:
        s, d: Its singular value and effective input eigenvalue; positive balls.
        g: Scale of the initial Gram matrix; half of it is below s/d.
    """

    s: arb
    d: arb
    g: arb

    @property
    def height(self) -> arb:
        """s/d."""
        return self.s / self.d

    def strength(self, t: arb) -> arb:
        """Return pi(t), the closed form from g/2."""
        decay = (-2 * self.s * t).exp()
        return 1 / (decay * 2 / self.g + (1 - decay) / self.height)

    def missing(self, t: arb) -> arb:
        """Return an upper bound of h − W(t); it falls with t."""
        decay = (-2 * self.s * t).exp()
        pi = self.strength(t)
        # h − pi = pi (h/pi_0 − 1) e^{−2st}: no cancellation near the plateau.
        return pi * (2 * self.height / self.g - 1) * decay + self.g**2 / (4 * pi)

    def _delta(self, t: arb) -> arb:
        """Return d g²/4 times the integral of 1/pi."""
        rise = (1 - (-2 * self.s * t).exp()) / (2 * self.s)
        whole = t / self.height + (2 / self.g - 1 / self.height) * rise
        return self.d * self.g**2 / 4 * whole

    def deviation(self, t: arb) -> arb:
        """Return a bound of the integral of |W − pi| up to t."""
        delta = self._delta(t)
        return delta / self.d + ((2 * delta).exp() - 1) * self.height * t


@dataclass(frozen=True, kw_only=True, eq=False)
class Push:
    """How an earlier mode drives a later one.

    Attributes:
        mode: The earlier mode.
        gain: c > 0 in the drive c eps.
        damping: D of the direction it drives, not negative.
    """

    mode: Earlier
    gain: arb
    damping: arb


@dataclass(frozen=True, kw_only=True, eq=False)
class Later:
    """A mode of a later stage and all that drives it, in units of tau.

    Attributes:
        s: Its own drive, exactly 0 or positive.
        d: Effective input eigenvalue, not negative; positive where s is.
        g: Scale of the initial Gram matrix.
        pushes: The earlier modes that drive it.
    """

    s: arb
    d: arb
    g: arb
    pushes: tuple[Push, ...]

    def exponent(self, t: arb) -> tuple[arb, arb]:
        """Return bounds (lower, upper) of I(t).

        A square root of s² + x, less s, is concave in x: of a sum it is at most the sum's, and at
        least the largest.
        """
        own = self.s * t
        low, high = own, own
        for push in self.pushes:
            e, far = push.mode, push.mode.strength(t)
            part = gained(self.s, push.gain, e.height, e.g / 2, far) / (2 * e.d)
            wrong = push.gain * e.deviation(t)
            low, high = _larger(low, own + part - wrong), high + part + wrong
        return low, high

    def most(self, t: arb) -> arb:
        """Return an upper bound of |W(t)|."""
        return self.g * (2 * self.exponent(t)[1]).sinh()

    def latest(self, t1: arb) -> arb | None:
        """Return a time by which half of the height is reached, or None where t1 gives none.

        Args:
            t1: When the bound of the early phase is handed on; 0 hands on nothing.
        """
        height = self.s / self.d
        begun = self.g / 2 if t1.is_zero() else self._begun(t1)
        end = height / 2 + self.g**2 / (2 * height)
        if begun is None or not begun < end < height:
            return None
        return t1 + ((height / begun - 1) / (height / end - 1)).log() / (2 * self.s)

    def _begun(self, t1: arb) -> arb | None:
        """Return a lower bound of P(t1), item 3 of the module's docstring."""
        most = self.most(t1)
        own = self.s - self.d * most
        lost, square = self.d**2, self.s**2
        for push in self.pushes:
            # W <= pi e^{2 delta}: what is missing is at least this.
            e = push.mode
            least = e.height - e.strength(t1) * (2 * e._delta(t1)).exp()
            if not push.gain * least >= push.damping * most:
                return None
            lost, square = lost + push.damping**2, square + (push.gain * e.height) ** 2
        exponent = self.exponent(t1)[0] - lost.sqrt() * most * t1
        if not (own > 0 and exponent > 0):
            return None
        return self.g / 2 * (own**2 / square) * (exponent.exp() - 1) ** 2


def _larger(a: arb, b: arb) -> arb:
    return b if b > a else a


def gained(s: arb, c: arb, h: arb, start: arb, end: arb) -> arb:
    r"""Return :math:`\int (\sqrt{s^2 + c^2 x^2} - s)/(x (h - x))\,dx` from h − end to h − start.

    Args:
        s: Exactly 0 or positive.
        c: Positive.
        h: Positive.
        start: A strength, positive.
        end: A strength, not below the first and below h.
    """
    if s.is_zero():
        return c * (end / start).log()
    top, bottom = h - start, h - end
    # The logarithm of h − x by itself: of x = h − start nothing would be left of it.
    return (_smooth(s, c, h, top) - _smooth(s, c, h, bottom) + s / h * (start / end).log()) + (
        s**2 + (c * h) ** 2
    ).sqrt() / h * (
        ((s**2 + c**2 * h * top) / (c * s * start)).asinh()
        - ((s**2 + c**2 * h * bottom) / (c * s * end)).asinh()
    )


def _smooth(s: arb, c: arb, h: arb, x: arb) -> arb:
    # A product: flint's power of a ball that touches 0 is no number.
    root = (s * s + (c * x) * (c * x)).sqrt()
    return -(s * (root + s).log() + c * h * (c * x / s).asinh()) / h


def antiderivative(
    s: sp.Symbol, c: sp.Symbol, h: sp.Symbol, x: sp.Symbol
) -> tuple[sp.Expr, tuple[sp.Expr, sp.Expr]]:
    """Return (the antiderivative that :func:`gained` evaluates, R(x) and R(h)); s is not 0."""
    import sympy as sp

    root, whole = (sp.sqrt(s**2 + c**2 * y**2) for y in (x, h))
    angle = (s**2 + c**2 * h * x) / (c * s * (h - x))
    found = whole * sp.asinh(angle) - s * sp.log((root + s) / (h - x))
    return (found - c * h * sp.asinh(c * x / s)) / h, (root, whole)


@lru_cache(maxsize=1)
def residuals() -> Sequence[sp.Expr]:
    """Return what must be exactly 0 for the bounds to hold.

    The slope of :func:`antiderivative` less its integrand; the slope of item 3's subsolution less
    its right-hand side and what it is stated to miss; the slope of delta's integral less 1/pi; the
    slope of x = h − pi plus 2 d x (h − x).
    """
    return (*_slope(), *_subsolution(), *_earlier())


def _slope() -> list[sp.Expr]:
    import sympy as sp

    s, c, h, x = sp.symbols("s c h x", positive=True)
    found, roots = antiderivative(s, c, h, x)
    root: Any = roots[0]
    whole: Any = roots[1]
    r, far = sp.symbols("R R_h", positive=True)
    angle = (s**2 + c**2 * h * x) / (c * s * (h - x))
    # The square of what stands under asinh's slope is this one's; both are positive.
    under = far * r / (c * s * (h - x))
    square = sp.cancel(1 + angle**2 - (under**2).subs(r, root).subs(far, whole))
    slope = found.diff(x).subs(sp.sqrt(angle**2 + 1), under)
    slope = slope.subs(sp.sqrt(c**2 * x**2 / s**2 + 1), r / s).subs(root, r).subs(whole, far)
    top = sp.expand(sp.numer(sp.together(slope - (r - s) / (x * (h - x)))))
    rest: Any = sp.rem(top, r**2 - s**2 - c**2 * x**2, r)
    return [square, rest]


def _subsolution() -> list[sp.Expr]:
    import sympy as sp

    t = sp.Symbol("t")
    own, other = sp.Symbol("q_0", positive=True), sp.Function("q")(t)
    sigma, k = sp.Function("sigma")(t), sp.Function("K")(t)
    vector = [sp.exp(k) * part for part in (sigma, own, other)]
    right = [own * vector[1] + other * vector[2], own * vector[0], other * vector[0]]
    missed = [sigma.diff(t), sp.S.Zero, other.diff(t)]
    return [
        sp.expand((v.diff(t).subs(k.diff(t), sigma) - f) / sp.exp(k) - m).subs(
            sigma**2, own**2 + other**2
        )
        for v, f, m in zip(vector, right, missed, strict=True)
    ]


def _earlier() -> list[sp.Expr]:
    import sympy as sp

    s, d, g, t, decay = sp.symbols("s d g t e", positive=True)

    def slope(expression: sp.Expr) -> sp.Expr:
        return expression.diff(t) - 2 * s * decay * expression.diff(decay)

    inverse = 2 * decay / g + (1 - decay) * d / s
    whole = t * d / s + (2 / g - d / s) * (1 - decay) / (2 * s)
    missing = s / d - 1 / inverse
    return [
        sp.cancel(slope(whole) - inverse),
        sp.cancel(slope(missing) + 2 * d * missing / inverse),
    ]
