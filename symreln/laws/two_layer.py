r"""Two layers of weights that start balanced, with weight decay and without.

The loss with weight decay is :math:`L + \tfrac{1}{2} \lambda (\|W_1\|^2 + \|W_2\|^2)`, L the mean
loss; it takes λ off s, and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, cmp_to_key, lru_cache
from typing import Any, Literal, Self

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.exact.cancelling import cancelled
from symreln.laws.law import STRENGTH, Law, Regime, Start
from symreln.laws.line import (
    CANCELS,
    DIFFERENTIATED,
    FIRST,
    SECOND,
    SUBSTITUTED,
    Line,
    X,
    along,
    amplitude_lines,
    amplitude_slopes,
    integral,
    is_primitive,
    moves,
    same,
    steps_line,
    vanish,
)
from symreln.laws.ops import Ops, defect, power

#: Where initial strengths are argued, in one line.
SOURCE = "law of large numbers over hidden units of the growing combination of a mode's amplitudes"
#: Factor of the squared weights.
WEIGHT_DECAY = sp.Symbol("lambda", positive=True)

_S, _D, _P0, _T, _TAU = sp.symbols("_s _d _p0 _t _tau", positive=True)


@record
class TwoLayer(Law):
    r"""One decoupled mode: :math:`\tau \dot\pi = 2\pi (s - d\pi)`, :math:`\pi(0) = \pi_0`.

    Source: [Saxe2014], [Saxe2019].
    Assumes: two layers, balanced and aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        asymptote: s/d in a shorter form, or None; it enters the proof like everything else.
    """

    name = "two-layer balanced"
    suits = "two layers of weights, the mode is decoupled, balanced small initial weights"
    start_origin = SOURCE
    asymptote: Any = None

    @classmethod
    def unfit(cls, regime: Regime) -> str:
        """Say why the law does not solve a mode, or ""."""
        decays = "weight decay adds −2λπ to the equation" if regime.weight_decay else ""
        return regime.unfit_for_two_layers(wants_balanced=True) or decays

    @classmethod
    def start(cls, regime: Regime) -> Start | None:
        r"""Return the expected effective start, units · σ² / 2.

        Of a mode's two amplitudes (a, b) of a hidden unit only the growing combination
        (a+b)/sqrt(2) survives; the product that it grows into starts, in effect, from ((a+b)/2)²,
        whose mean is σ²/2. For a linear network this is Hσ²/2, for a ReLU network Hσ²/4.
        """
        if regime.units is None or regime.variances is None:
            return None
        return Start(strength0=regime.units * regime.variances[0] / 2 * regime.start_share)

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return r"\tau \dot{\pi} = 2 \pi \left(s - d\, \pi\right), \qquad \pi(0) = \pi_0"

    @property
    def case(self) -> Literal["sigmoid", "decay"]:
        """Which of the printed formulas holds."""
        # By structure: is_zero may isolate roots of long polynomials, for minutes (SymPy 1.14).
        return "decay" if self.growth == 0 else "sigmoid"

    def strength(self, t: Any) -> Any:
        r"""Return the strength, :math:`\pi_0 / (e^{-x} + 2 d \pi_0 \int_0^{t/\tau} e^{-2gu} du)`.

        With g = s − λ of any sign and x = 2gt/τ; all terms are positive: nothing cancels.
        """
        decay, span = self.ops.relaxed(2 * self.growth, t / self.clock)
        return self.strength0 / (decay + 2 * self.d * self.strength0 * span)

    @cached_property
    def _expr(self) -> sp.Expr:
        """The trajectory, in the form that stays finite for any t >= 0."""
        return _formula(self, self.case)

    @property
    def plateau(self) -> Any:
        """Limit for t to infinity."""
        return super().plateau if self.asymptote is None else self.asymptote

    @cached_property
    def half_time(self) -> Any:
        """Time at which half the plateau is reached, in steps; None where it is not above 0."""
        if self.case != "sigmoid":
            return None
        return self.clock / (2 * self.s) * self.ops.log(self.plateau / self.strength0 - 1)

    @property
    def per_step(self) -> Any:
        """The growth s − λ of both amplitudes."""
        return self.growth

    def angle(self, strength: Any, strength0: Any, t: Any) -> Any:
        """Return ½ ln(π/π₀) + λt/τ; in steps −t ln(1 − λ/τ) stands for the latter."""
        return self.ops.log(strength / strength0) / 2 + self.fades * t

    @property
    def relaxation(self) -> Any:
        """The rate 2s; of a mode that decays, 2(s − λ), or λ − s of the amplitudes that die out."""
        return 2 * self.growth if self.growth > 0 else -self.growth

    def steps(self) -> Iterator[np.ndarray]:
        """Yield the strengths: both amplitudes are one."""
        return pair_steps(self, self.strength0, 0 * self.strength0)

    @property
    def _decay(self) -> Any:
        """The weight decay of both amplitudes."""
        return sp.S.Zero

    @property
    def rate(self) -> sp.Expr:
        r"""The right-hand side :math:`\tau \dot\pi` of the equation."""
        return 2 * STRENGTH * (self.growth - self.d * STRENGTH)

    def lines(self) -> Iterator[Line]:
        """Yield the equation of the strength, its solution by separation, steps and half-time."""
        yield from amplitude_lines(self.s, self.d, self._decay)
        slopes = amplitude_slopes(self.s, self.d, self._decay)
        equal = dict.fromkeys((FIRST, SECOND), sp.sqrt(STRENGTH))
        moved = along(FIRST * SECOND, slopes).subs(equal)
        yield Line(
            says=r"Balanced layers start with $a = b$, and so $a = b = \sqrt{\pi}$ for all time: "
            "one closed equation is left,",
            equation=(moves(r"\pi", self.rate) + r", \qquad \pi(0) = \pi_0",),
            because=r"product rule for $\pi = a b$, at $a = b$",
            check=CANCELS,
            holds=vanish(moved - self.rate),
            main=True,
        )
        yield from self._separated()
        yield from self._solved()

    def _separated(self) -> Iterator[Line]:
        """Yield the separation of variables and the integral."""
        g, d, start = self.growth, self.d, self.strength0
        integrand = 1 / (X * (g - d * X))
        time = r" = \frac{2 t}{\tau}"
        yield Line(
            says="Separate the variables, and integrate from the start to $t$:",
            equation=(integral(integrand, r"\pi_0", r"\pi(t)") + time,),
            because=r"divided by the right-hand side, times $2\, dt/\tau$",
            check="integrand times right-hand side is 2",
            holds=vanish(integrand.subs(X, STRENGTH) * self.rate - 2),
        )
        parts = 1 / (g * X) + d / (g * (g - d * X))
        yield Line(
            says="Partial fractions:",
            equation=(f"{to_latex(integrand)} = {to_latex(parts)}",),
            because=r"over the roots $0$ and the plateau of the right-hand side",
            check=CANCELS,
            holds=vanish(integrand - parts),
        )
        found = sp.log(X * (g - d * start) / (start * (g - d * X))) / g
        yield Line(
            says="The integral is a logarithm:",
            equation=(to_latex(found.subs(X, STRENGTH)) + time,),
            because="each part is one of $1/x$",
            check=DIFFERENTIATED,
            holds=is_primitive(found, integrand, X, start),
        )

    def _solved(self) -> Iterator[Line]:
        """Yield the solution, the same in steps of gradient descent, and the half-time."""
        g, d, start, t, tau = self.growth, self.d, self.strength0, self.t, self.tau
        steps = replace(self, stepwise=True)
        flow = _formula(replace(self, stepwise=False), "sigmoid")
        ratio = flow * (g - d * start) / (start * (g - d * flow))
        yield Line(
            says=r"Solved for $\pi$:",
            equation=(rf"\pi(t) = {to_latex(flow)}",),
            because="exponential of both sides, a linear equation for the strength",
            check=SUBSTITUTED,
            holds=vanish(
                tau * flow.diff(t) - self.rate.subs(STRENGTH, flow),
                flow.subs(t, 0) - start,
                ratio - sp.exp(2 * g * t / tau),
            ),
            main=True,
        )
        slope = amplitude_slopes(self.s, d, self._decay)[FIRST]
        step = FIRST + slope.subs(SECOND, FIRST) / tau
        yield steps_line(
            (rf"\pi(t) = {to_latex(steps.printed)}",),
            step,
            FIRST,
            steps.per_step,
            holds=same(steps.printed, flow.subs(tau, steps.clock)),
        )
        asymptote = g / d
        half = sp.log(asymptote / start - 1) / (2 * sp.log(1 + g / tau))
        faded = 1 / (asymptote / start - 1)  # e^{-2gt/clock} at the half-time
        yield Line(
            says="Half of the plateau is reached at the half-time"
            + (r", for $s > \lambda$," if self.s != g else ","),
            equation=(rf"t_{{1/2}} = {to_latex(half)}",),
            because="the sigmoid is half of its plateau where the second term of its denominator "
            "is 1",
            check="the rate is 0 at the plateau; put into the solution: half of it is left",
            holds=vanish(
                self.rate.subs(STRENGTH, asymptote),
                half - steps.clock * sp.log(asymptote / start - 1) / (2 * g),
                _formula(self, "sigmoid", faded) - asymptote / 2,
            )
            and (steps.half_time is None or vanish(steps.half_time - half)),
            main=True,
        )

    def residual(self) -> sp.Expr:
        r"""Zero exactly when the solution holds.

        The template is substituted into :math:`\tau\dot\pi - 2\pi(s - d\pi)` with every quantity
        a free symbol, where ``cancel`` decides, and specialised afterwards: a rational identity
        in s, d, pi_0 and exp survives any specialisation that keeps s and d from vanishing, and
        uses no sign of s − λ.
        """
        defects = list(_residuals(self.case))
        if self.case == "sigmoid" and self.asymptote is not None:
            # Both are non-negative roots of rational functions: equal if their squares are.
            defects.append(sp.cancel((self.asymptote * self.d) ** 2 - self.growth**2))
            if self.asymptote.is_negative:
                defects.append(self.asymptote)
        return defect(*defects)


@record
class TwoLayerDecay(TwoLayer):
    r"""The same with weight decay: :math:`\tau \dot\pi = 2\pi (s - \lambda - d\pi)`.

    The mode is learned exactly if s > λ, and dies out otherwise.

    Source: the balanced solution of [Saxe2014]; amplitudes a = b obey
    :math:`\tau \dot a = a(s - \lambda - d a^2)`.

    Attributes:
        weight_decay: λ, not negative.
    """

    name = "two-layer balanced, weight decay"
    suits = "two layers of weights, the mode is decoupled, balanced, with weight decay"
    weight_decay: Any = WEIGHT_DECAY

    @classmethod
    def unfit(cls, regime: Regime) -> str:
        """Say why the law does not solve a mode, or ""."""
        unfit = "" if regime.weight_decay else "no weight decay"
        return unfit or regime.unfit_for_two_layers(wants_balanced=True)

    @classmethod
    def of(cls, regime: Regime, ops: Ops, s: Any, d: Any, **more: Any) -> Self:
        """Return the law of a mode, whose plateau is not s/d."""
        return super().of(regime, ops, s, d, **{**more, "asymptote": None})

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = 2 \pi \left(s - \lambda - d\, \pi\right), "
            r"\qquad \pi(0) = \pi_0"
        )

    @property
    def _decay(self) -> Any:
        return self.weight_decay

    @property
    def growth(self) -> Any:
        """The growth s − λ: half the rate of the early growth; negative for a decline."""
        return self.s - self.weight_decay

    @property
    def plateau(self) -> Any:
        """Limit for t to infinity: (s − λ)/d where that is positive, else 0."""
        return self.ops.positive(self.ops.over(self.growth, self.d))

    @cached_property
    def half_time(self) -> Any:
        """Time at which half the plateau is reached, in steps; None of symbols: s − λ has a sign.

        The mode is the sigmoid of s − λ in the place of s.
        """
        if isinstance(self.growth, sp.Basic):
            return None
        return self.clock / (2 * self.growth) * self.ops.log(self.plateau / self.strength0 - 1)


def pair_steps(law: Law, growing: np.ndarray, shrinking: np.ndarray) -> Iterator[np.ndarray]:
    r"""Yield the strengths of a mode of two layers at steps 0, 1, …, without end, in float64.

    A step of gradient descent with rate η = 1/τ and weight decay λ moves the amplitudes (a, b) by

    .. math:: a' = k a + e b, \qquad b' = k b + e a, \qquad e = \eta (s - d \pi), \quad
       k = 1 - \eta \lambda, \quad \pi = a \cdot b,

    whatever the units that they are vectors over. So the sum and the difference stay apart:
    :math:`\pi = p - m`, :math:`p' = (k + e)^2 p`, :math:`m' = (k - e)^2 m`.

    Args:
        law: In float64.
        growing: p = |a + b|²/4 at the start.
        shrinking: m = |a − b|²/4 at the start.
    """
    keep = 1 - (law.s - law.growth) / law.tau
    sums, differences = growing + 0.0 * law.s, shrinking + 0.0 * law.s
    while True:
        strength = sums - differences
        yield strength
        pull = (law.s - law.d * strength) / law.tau
        sums = (keep + pull) ** 2 * sums
        differences = (keep - pull) ** 2 * differences


def _formula(law: TwoLayer, case: str, faded: Any = None) -> sp.Expr:
    if case == "decay":
        return law.strength0 / (1 + 2 * law.d * law.strength0 * law.t / law.clock)
    asymptote = law.growth / law.d if law.asymptote is None else law.asymptote
    faded = law.faded(2 * law.growth, 2) if faded is None else faded
    left = _product(asymptote / law.strength0 - 1, faded)
    return _product(asymptote, power(1 + left, -1))


def _product(number: Any, factor: Any) -> Any:
    """Return a product with a power that the number has no factor of, as SymPy would in the end."""
    if number == 0 or factor.is_number:
        return number * factor
    factors = [each for each in sp.Mul.make_args(number) if each is not sp.S.One]
    return sp.Mul._from_args(sorted([*factors, factor], key=cmp_to_key(sp.Basic.compare)))


@lru_cache(maxsize=2)
def _residuals(case: str) -> tuple[sp.Expr, ...]:
    """Return what must vanish: equation, initial value, and the strength as it is evaluated."""
    s = _S if case == "sigmoid" else sp.S.Zero
    law = TwoLayer(s=s, d=_D, strength0=_P0, t=_T, tau=_TAU)
    printed = _formula(law, case)
    return (
        cancelled(_TAU * printed.diff(_T) - 2 * printed * (s - _D * printed)),
        cancelled(printed.subs(_T, 0) - _P0),
        cancelled(law.strength(_T) - printed),
    )
