r"""Two layers of weights that start apart.

Let a and b be the amplitudes, :math:`a' = b(s - dab)`, :math:`b' = a(s - dab)` in units of tau.
Then :math:`\delta = |a^2 - b^2|` is conserved, and so the sum of squares is
:math:`a^2 + b^2 = \sqrt{\delta^2 + 4\pi^2}` for :math:`\pi = ab`. With
:math:`u = (a + b)^2/\delta`, :math:`\pi = \delta(u - 1/u)/4` and u solves the Riccati equation
:math:`u' = 2su - \tfrac{1}{2} \delta d (u^2 - 1)`, whose solution is linear fractional in
:math:`E = e^{-kt}`, :math:`k = \sqrt{4s^2 + \delta^2d^2}`. The roles of a and b do not matter.

Weight decay lets the difference shrink, :math:`\delta(t) = \delta_0 e^{-2\lambda t}`: the equation
then has no solution in elementary functions, and such specs are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
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
from symreln.laws.ops import defect
from symreln.laws.two_layer import SOURCE, pair_steps

#: Conserved difference |a² − b²| of the two squared amplitudes.
IMBALANCE = sp.Symbol("imbalance", positive=True)
_S, _D, _C, _P0 = sp.symbols("_s _d _c _p0", positive=True)
# The rate k, u(0), and r = sqrt(δ² + 4 pi_0²): free symbols whose defining equations are used.
# E = exp(-k t/tau) is one too, with tau dE/dt = -k E.
_K, _U0, _R, _E = sp.symbols("_k _u0 _r _e", positive=True)


@record
class Unbalanced(Law):
    r"""One decoupled mode with amplitudes :math:`a^2 - b^2 = \pm \delta`.

    Solves :math:`\tau \dot\pi = \sqrt{\delta^2 + 4\pi^2}\,(s - d\pi)`, :math:`\pi(0) = \pi_0`.

    Source: [Saxe2014].
    Assumes: two layers, aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        imbalance: δ, positive.
    """

    name = "two-layer unbalanced"
    suits = "two layers of weights, the mode is decoupled, a² − b² is not 0 and conserved"
    starts_at_zero = True
    units_per_mode = 2
    start_origin = SOURCE
    imbalance: Any = IMBALANCE

    @classmethod
    def unfit(cls, regime: Regime) -> str:
        """Say why the law does not solve a mode, or ""."""
        decays = "weight decay shrinks the difference a² − b², which must be constant here"
        unfit = regime.unfit_for_two_layers(wants_balanced=False)
        return unfit or decays * bool(regime.weight_decay)

    @classmethod
    def start(cls, regime: Regime) -> Start | None:
        r"""Return where modes start: at 0 on average, with δ = units · (σ₁² + σ₂²).

        A mode's amplitudes are vectors a, b over the hidden units, with
        :math:`\dot a = b(s - d\pi)`, :math:`\dot b = a(s - d\pi)`, π = a·b. So a + b grows as a − b
        shrinks, :math:`|a + b||a - b|` is conserved, and
        :math:`(|a|^2 + |b|^2)^2 = 4\pi^2 + \delta^2` with δ that product: the unbalanced equation,
        whatever the two distributions. Fluctuations are of the relative order 1/sqrt(units).
        """
        if regime.units is None or regime.variances is None:
            return None
        return Start(strength0=Fraction(0), imbalance=regime.units * sum(regime.variances))

    @classmethod
    def weights(
        cls, regime: Regime, u: np.ndarray, v: np.ndarray, units: int, strength0: float
    ) -> list[np.ndarray]:
        """Return weights whose products start at 0, with the |a|² + |b|² that is expected.

        The first layer's amplitude is in one unit and the second one's in another.
        """
        assert regime.variances is not None  # of a network
        rank = u.shape[1]
        first, second = np.eye(units, rank), np.eye(units, 2 * rank)[:, rank:]
        a, b = (np.sqrt(float(variance)) * np.sqrt(units) for variance in regime.variances)
        return [a * first @ v.T, b * u @ second.T]

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = \sqrt{\delta^2 + 4 \pi^2} \left(s - d\, \pi\right), "
            r"\qquad \pi(0) = \pi_0"
        )

    def strength(self, t: Any) -> Any:
        r"""Return the strength, for strength0 >= 0.

        With p = a + b, m = |a − b| at t = 0, q = cd/2, κ = k/2, E = e^{-kt/τ} and F its integral,
        numerator N and denominator D of u/u(0) are

        .. math::
            N = (1 + E)/2 + (s + d m^2/2) F, \qquad D = E + (\kappa - s + d p^2/2) F,

        and :math:`\pi = (pN - mD)(pN + mD)/(4ND)` with
        :math:`pN - mD = (p - m)((\kappa - q)F + E) + (p + m) s F`: every term is positive,
        κ − s = q²/(κ + s) and κ − q = s²/(κ + q) included, so nothing cancels.
        """
        decay, span = self.ops.relaxed(2 * self._rate, t / self.clock)
        return self._fraction(decay, span)

    def _fraction(self, decay: Any, span: Any) -> Any:
        p, m, apart, above, below, first = self._constants
        numerator = (1 + decay) / 2 + above * span
        denominator = decay + below * span
        top = apart * decay + first * span
        return (top / denominator) * (p + m * (denominator / numerator)) / 4

    @cached_property
    def half_time(self) -> Any:
        r"""Time at which half the plateau h is reached, in steps; None of symbols.

        There :math:`p^2 R - m^2/R = 2h` for R = N/D, which is linear fractional in E.
        """
        if isinstance(self.s, sp.Basic):
            return None
        p, _, _, above, below, _ = self._constants
        h, k, half = self.plateau, 2 * self._rate, self.ops.number(1) / 2
        ratio = (h + self.ops.hypot(h, self.imbalance)) / (p * p)
        left = half + (above - ratio * below) / k
        left = left / (ratio * (1 - below / k) - half + above / k)
        return -self.clock / k * self.ops.log(left)

    @cached_property
    def _rate(self) -> Any:
        return self.ops.hypot(self.s, self.d * self.imbalance / 2)

    @cached_property
    def _amplitudes(self) -> tuple[Any, Any]:
        """P and m."""
        c, twice = self.imbalance, 2 * self.strength0
        p = self.ops.sqrt(self.ops.hypot(c, twice) + twice)
        return p, self.ops.over(c, p)

    @cached_property
    def _constants(self) -> tuple[Any, ...]:
        """p, m, p − m, and the factors of F in N, D and pN − mD."""
        s, d, over, (p, m) = self.s, self.d, self.ops.over, self._amplitudes
        q, rate = d * self.imbalance / 2, self._rate
        apart = 4 * over(self.strength0, p + m)
        first = apart * s * over(s, rate + q) + (p + m) * s
        return p, m, apart, s + d * m * m / 2, q * over(q, rate + s) + d * p * p / 2, first

    @property
    def ratio(self) -> sp.Expr:
        """u(t) = (a + b)²/δ, written with exp(-k t/tau), which is finite for any t >= 0."""
        top, bottom = _printed()
        found: Any = (top / bottom).xreplace(self._values())
        return found

    @cached_property
    def _expr(self) -> sp.Expr:
        """The trajectory."""
        return self.imbalance * (self.ratio - 1 / self.ratio) / 4

    @property
    def per_step(self) -> Any:
        """The growth s − λ of the amplitudes' sum."""
        return self.growth

    def angle(self, strength: Any, strength0: Any, t: Any) -> Any:
        """Return half of the growth of ln(2π + √(δ² + 4π²))."""
        sizes = [2 * x + self.ops.hypot(self.imbalance, 2 * x) for x in (strength, strength0)]
        return self.ops.log(sizes[0] / sizes[1]) / 2

    @property
    def relaxation(self) -> Any:
        """The rate sqrt(4h² + δ²) d."""
        return self.ops.hypot(2 * self.plateau, self.imbalance) * self.d

    def steps(self) -> Iterator[np.ndarray]:
        """Yield the strengths: |a ± b|²/4 is (|a|² + |b|² ± 2π)/4, (|a|² + |b|²)² = 4π² + δ²."""
        half = self.ops.hypot(self.strength0, self.imbalance / 2) / 2
        return pair_steps(self, half + self.strength0 / 2, half - self.strength0 / 2)

    def residual(self) -> sp.Expr:
        """Zero exactly when the solution holds.

        Decided once with every quantity a free symbol; k and u(0) stand for radicals and enter
        through their defining equations, which are checked too.
        """
        return _residual()

    @property
    def rate(self) -> sp.Expr:
        r"""The right-hand side :math:`\tau \dot\pi` of the equation."""
        return sp.sqrt(self.imbalance**2 + 4 * STRENGTH**2) * (self.s - self.d * STRENGTH)

    def lines(self) -> Iterator[Line]:
        """Yield the equation of the strength, its Riccati equation, solution and half-time."""
        yield from amplitude_lines(self.s, self.d)
        slopes = amplitude_slopes(self.s, self.d)
        squares, c = FIRST**2 + SECOND**2, FIRST**2 - SECOND**2
        # What is printed, with the root that it has in amplitudes.
        rate = self.rate.subs(sp.sqrt(self.imbalance**2 + 4 * STRENGTH**2), squares)
        yield Line(
            says="With $\\delta = |a^2 - b^2|$ the sum of squares is known from the strength, and "
            "one closed equation is left (the roles of $a$ and $b$ do not matter):",
            equation=(
                r"a^2 + b^2 &= \sqrt{\delta^2 + 4 \pi^2},",
                moves(r"\pi", self.rate) + r", \qquad \pi(0) = \pi_0",
            ),
            because=r"product rule for $\pi = a b$",
            check=f"squares subtracted, $(a^2 + b^2)^2 - (a^2 - b^2)^2 = 4 a^2 b^2$; {CANCELS}",
            holds=vanish(
                along(FIRST * SECOND, slopes) - rate.subs(STRENGTH, FIRST * SECOND),
                squares**2 - c**2 - 4 * (FIRST * SECOND) ** 2,
            ),
            main=True,
        )
        yield from self._riccati()
        yield from self._solved()

    def _riccati(self) -> Iterator[Line]:
        """Yield the equation of u, separated and integrated."""
        s, d, c = self.s, self.d, self.imbalance
        slopes = amplitude_slopes(s, d)
        u, own = (FIRST + SECOND) ** 2, FIRST**2 - SECOND**2
        ratio = u / own
        rate = 2 * s * X - c * d * (X**2 - 1) / 2
        yield Line(
            says="The square root goes with $u = (a + b)^2/\\delta$:",
            equation=(
                r"\pi &= \tfrac{1}{4} \delta \left(u - \frac{1}{u}\right),",
                moves("u", rate.subs(X, sp.Symbol("u"))),
            ),
            because=r"$\dot{u}/u$ is twice the growth of $a + b$: a Riccati equation",
            check=f"amplitudes put in; {CANCELS}",
            holds=vanish(
                own * (ratio - 1 / ratio) / 4 - FIRST * SECOND,
                along(ratio, slopes) - rate.subs({X: ratio, c: own}),
            ),
        )
        k = sp.Symbol("k", positive=True)
        square = 4 * s**2 + c**2 * d**2
        above, below = (2 * s + k) / (c * d), (2 * s - k) / (c * d)
        integrand, start = -2 / (c * d * (X - above) * (X - below)), sp.Symbol("u_0")
        found = sp.log((X - below) * (start - above) / ((X - above) * (start - below))) / k
        separated = 1 / rate
        yield Line(
            says=rf"Separate the variables; the roots are $u_\pm = (2 s \pm k)/(\delta d)$ with "
            f"$k = {to_latex(sp.sqrt(square))}$:",
            equation=(
                integral(separated, "u_0", "u(t)") + r" = \frac{t}{\tau}, \qquad "
                r"\frac{1}{k} \ln \frac{(u - u_-) (u_0 - u_+)}{(u - u_+) (u_0 - u_-)} = "
                r"\frac{t}{\tau}",
            ),
            because="partial fractions over the two roots",
            check=f"the roots put in; {DIFFERENTIATED}",
            holds=_modulo(integrand - separated, k, square) == 0
            and is_primitive(found, integrand, X, start),
        )

    def _solved(self) -> Iterator[Line]:
        """Yield the solution, the same in steps of gradient descent, and the half-time."""
        s, t, c, steps = self.s, self.t, self.imbalance, replace(self, stepwise=True)
        k = sp.Symbol("k", positive=True)
        square = 4 * s**2 + c**2 * self.d**2
        named: dict[sp.Basic, Any] = dict(self._values())
        rate, u_0 = named[_K], named[_U0]
        yield Line(
            says="Solved for $u$, a linear fraction of the exponential:",
            equation=replace(self, stepwise=False)._rows,
            because="exponential of both sides; $u_0$ from the strength at the start",
            check=SUBSTITUTED + ", with $k^2$ for what it stands for",
            holds=self.residual() == 0
            and vanish(rate**2 - square)
            and vanish(sp.radsimp(c * (u_0 - 1 / u_0) / 4 - self.strength0))
            and bool(u_0.is_positive),
            main=True,
        )
        step = X + X * self.growth / self.tau  # of a + b, while s − dπ is s
        yield steps_line(
            steps._rows,
            step,
            X,
            steps.per_step,
            holds=same(sp.exp(-k * t / steps.clock), steps.faded(k)),
        )
        h, start = sp.symbols("h u_0", positive=True)
        level = (h / 2 + sp.sqrt(h**2 / 4 + c**2 / 4)) * 2 / c
        above, below = (2 * s + k) / (c * self.d), (2 * s - k) / (c * self.d)
        top, bottom = _printed()
        names = {_S: s, _D: self.d, _C: c, _K: k, _U0: start}
        faded = (X - above) * (start - below) / ((X - below) * (start - above))
        solved = (top / bottom).xreplace(names).subs(_E, faded) - X
        yield Line(
            says=r"Half of the plateau $h = s/d$ is reached where $u$ is $u_{1/2}$:",
            equation=(
                rf"u_{{1/2}} &= {to_latex(sp.simplify(level))},",
                rf"t_{{1/2}} &= \frac{{{to_latex(steps.growth)}}}{{k \ln(1 + "
                rf"{to_latex(steps.growth)}/\tau)}} \ln "
                r"\frac{(u_{1/2} - u_-)(u_0 - u_+)}{(u_{1/2} - u_+)(u_0 - u_-)}",
            ),
            because="the line of the integral, at this $u$, with the clock of finite steps",
            check="$u_{1/2}$ gives half of the plateau, and the time put into the solution gives "
            "$u_{1/2}$; cancelled to 0",
            holds=vanish(
                c * (level - 1 / level) / 4 - h / 2,
                steps.clock - self.growth / sp.log(1 + self.growth / self.tau),
            )
            and bool(level.is_positive)
            and _modulo(solved, k, square) == 0,
            main=True,
        )

    @property
    def _rows(self) -> tuple[str, ...]:
        """The trajectory, u, k and u(0), a row each."""
        parts = rf"\pi(t) = {self.to_latex()}".split(r", \quad ")
        return tuple(part.replace(" = ", " &= ", 1) for part in parts)

    def to_latex(self) -> str:
        """Return the LaTeX of the trajectory, with u, k and u(0) named, without delimiters."""
        named = {_K: sp.Symbol("k"), _U0: sp.Symbol("u_0")}
        named_k, first = (self._values()[name] for name in named)
        values = {**self._values(), **named}
        values[_E] = self.faded(named[_K])
        top, bottom = (to_latex(part.xreplace(values)) for part in _printed())
        return (
            rf"\tfrac{{1}}{{4}} {to_latex(self.imbalance)} \left(u - \frac{{1}}{{u}}\right), \quad "
            rf"u = \frac{{{top}}}{{{bottom}}}, \quad k = {to_latex(named_k)}, \quad "
            rf"u_0 = {to_latex(first)}"
        )

    def _values(self) -> dict[sp.Basic, sp.Basic]:
        c, rate = self.imbalance, sp.sqrt(4 * self.s**2 + self.imbalance**2 * self.d**2)
        return {
            _S: self.s,
            _D: self.d,
            _C: c,
            _K: rate,
            _U0: (2 * self.strength0 + sp.sqrt(c**2 + 4 * self.strength0**2)) / c,
            _E: self.faded(rate),
        }


@lru_cache(maxsize=1)
def _printed() -> tuple[sp.Expr, sp.Expr]:
    """Return numerator and denominator of u."""
    top = _U0 * (_K + 2 * _S) + _C * _D + (_U0 * (_K - 2 * _S) - _C * _D) * _E
    bottom = _K - 2 * _S + _C * _D * _U0 + (_K + 2 * _S - _C * _D * _U0) * _E
    return top, bottom


@lru_cache(maxsize=1)
def _residual() -> sp.Expr:
    top, bottom = _printed()
    u = top / bottom
    strength = _C * (u - 1 / u) / 4
    root = _C * (u + 1 / u) / 2  # positive, and its square is δ² + 4 pi²
    slope = -_K * _E * strength.diff(_E)
    first = (2 * _P0 + _R) / _C
    k_squared = 4 * _S**2 + _C**2 * _D**2
    return defect(
        _modulo(root**2 - _C**2 - 4 * strength**2, _K, k_squared),
        _modulo(slope - root * (_S - _D * strength), _K, k_squared),
        sp.cancel(u.subs(_E, 1) - _U0),
        _modulo(_C * (first - 1 / first) / 4 - _P0, _R, _C**2 + 4 * _P0**2),
        _evaluation_defect(strength),
    )


_P, _M = sp.symbols("_p _m", positive=True)


def _evaluation_defect(printed: sp.Expr) -> sp.Expr:
    """Return 0 exactly when ``strength`` is what is printed: δ = pm, and u(0) = p/m."""
    c = _P * _M
    law = Unbalanced(s=_S, d=_D, imbalance=c, strength0=(_P**2 - _M**2) / 4)
    vars(law).update(_rate=_K / 2, _amplitudes=(_P, _M))  # radicals as symbols
    evaluated = law._fraction(_E, (1 - _E) / _K)
    difference = evaluated - printed.subs({_C: c, _U0: _P / _M})
    return _modulo(difference, _K, 4 * _S**2 + (c * _D) ** 2)


def _modulo(expression: sp.Expr, root: sp.Symbol, square: sp.Expr) -> sp.Expr:
    """Return the numerator of a rational expression, reduced by root² = square."""
    # In a field of fractions: SymPy's together and cancel take a hundred times as long (1.14).
    names = (expression.free_symbols | square.free_symbols) - {root}
    numerator = sp.QQ.frac_field(root, *sorted(names, key=str)).from_sympy(expression).numer
    return numerator.rem([numerator.ring.from_expr(root**2 - square)]).as_expr()
