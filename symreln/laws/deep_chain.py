r"""Three and more balanced layers of weights: t as a function of the strength, and its inverse.

With :math:`\rho = (d\pi/s)^{1/L}`, the L-th root of the strength in units of its plateau,

.. math:: t(\pi) = \frac{\tau}{s} \left(\frac{d}{s}\right)^{1-2/L} [T(\rho) - T(\rho_0)], \qquad
   T'(\rho) = \frac{1}{\rho^{L-1}(1 - \rho^L)}, \quad
   T(\rho) = J_L(\rho) - \frac{\rho^{2-L}}{L-2}, \quad
   J_L(\rho) = \int_0^\rho \frac{r\, dr}{1 - r^L}.

Partial fractions over the roots of unity :math:`\omega_j = e^{i\varphi_j}`,
:math:`\varphi_j = 2\pi j/L`, give

.. math:: J_L(x) = -\frac{1}{L} \sum_{j=0}^{L-1} \omega_j^{-2} \ln(1 - \omega_j x),

and conjugate pairs of it are real. Of many layers the integral is printed as it is.

Numbers come from the *clock* E = L T in the logit of x = dπ/s, y = ln(x/(1 − x)): with
e = 1 − 2/L, :math:`E' = (1 + e^{-y})^e` and :math:`\dot E = L s (s/d)^e/\tau`. Neither y nor E
overflows, however long the time or near the plateau. With the logarithms of all roots of unity,
whose sum is :math:`\ln(1 - \rho^L)`, taken out,

.. math:: E = -\ln(1 - \rho^L) + \sum_{0 < j < L/2} \bigl[ 2 \sin^2\varphi_j
   \ln(1 - 2 \rho \cos\varphi_j + \rho^2) + 2 \sin 2\varphi_j
   \arctan\tfrac{\rho \sin\varphi_j}{1 - \rho \cos\varphi_j} \bigr] - \tfrac{1}{e} \rho^{2-L}.

E is concave: Newton's iteration converges from one side, and in balls it proves where the solution
lies. A mode that starts above its plateau is integrated, in float64.

*Finite steps.* A step of gradient descent adds f/τ to the weights w, f = −∇L. In one step's time
their flow gets to :math:`w + f/\tau + f'f/(2\tau^2) + \ldots`, further by the share
:math:`\kappa/(2\tau)`, where :math:`\kappa = f \cdot f'f/|f|^2` is the part along the curve. So in
a step the flow's time T moves by :math:`1 - \kappa/(2\tau)`. Along the flow
:math:`d \ln|f|/dT = \kappa/\tau`, and so gradient descent is at w(T) after

.. math:: n = T + \tfrac{1}{2} \ln\frac{|f(T)|}{|f(0)|}

steps, up to terms of the order of 1/τ: where the flow runs along a line, as that of balanced
strengths does, nothing else is left out. The edges of a chain that n_l pathways use follow a
gradient in the coordinates :math:`w_l/\sqrt{n_l}`, in which |f| is measured. Balanced they are one,
z, which moves with :math:`|f| \propto z^{L-1} (s - dz^L) = \pi^{1 - 1/L} (s - d\pi)`. So a mode
in steps goes by the clock :math:`E + \frac{c}{2} \ln[x^{1-1/L}(1 - x)]`, c = L s (s/d)^e/τ steps'
worth of E, of which :math:`E' + \frac{c}{2}[(1 - \frac{1}{L})(1 - x) - x]` is the derivative:
concave too, and rising for c < 2, where gradient descent settles. What is integrated goes by the
flow's, as do modes of which gradient descent diverges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, ctx

from symreln.base.records import record
from symreln.document.mathtext import slashed_latex, to_latex
from symreln.errors import LimitReachedError, NotSupportedError
from symreln.exact.cancelling import cancelled
from symreln.laws.integrate import integrate
from symreln.laws.law import COUPLED, STRENGTH, Law, Regime
from symreln.laws.line import CANCELS, FIRST, Line, X, moves, vanish
from symreln.laws.line import integral as integral_latex
from symreln.laws.ops import ARB, NUMPY, SYMPY, Ops, defect

#: Layers up to which the closed form is printed in logarithms; it has about L terms.
_MOST_PRINTED = 6
#: Steps of Newton's iteration, at the most.
_MOST_STEPS = 200
#: The iteration in float64 ends where y moves by less than this, relative to 1 + |y|.
_SETTLED = 4e-16
#: Units of the clock after which a mode from above is at its plateau to every digit.
_FALLEN = 800.0

_Q, _RHO, _TAU, _S, _D, _Z, _P0 = sp.symbols("_q _rho _tau _s _d _z _p0", positive=True)


@record
class Depth(Law):
    r"""One decoupled mode of L balanced layers, L >= 3, in implicit form.

    Solves :math:`\tau \dot\pi = L \pi^{2-2/L} (s - d\pi)`, :math:`\pi(0) = \pi_0`.

    Source: [Saxe2014].
    Assumes: L layers, balanced and aligned at t = 0; mutual diagonalisability PROVEN.

    Attributes:
        layers: L, an integer from 3.
    """

    name = "depth L balanced"
    suits = "{} layers of weights, the mode is decoupled, balanced"
    form = "an implicit solution"
    start_origin = ""
    layers: sp.Integer

    @classmethod
    def unfit(cls, regime: Regime) -> str:
        """Say why the law does not solve a mode, or ""."""
        if regime.layers < 3:
            return f"{regime.layers} layers of weights have an explicit solution of their own"
        if not regime.decoupled:
            return COUPLED
        if regime.apart:
            return "unbalanced modes of more than two layers have no closed form known here"
        decays = "weight decay of more than two layers has no closed form known here"
        return decays * bool(regime.weight_decay)

    @classmethod
    def start(cls, regime: Regime) -> None:
        """Return None: a product of three random matrices starts where no formula says."""
        return

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return (
            r"\tau \dot{\pi} = L \pi^{2 - 2/L} \left(s - d\, \pi\right), "
            r"\qquad \pi(0) = \pi_0, \quad "
            rf"L = {to_latex(self.layers)}"
        )

    # -- what is printed ---------------------------------------------------------------------------

    @cached_property
    def _expr(self) -> None:
        """None: there is no explicit one."""
        return

    @property
    def solved(self) -> sp.Expr:
        """The inverse of :attr:`time`."""
        given = (self.layers, sp.Integer(self.stepwise), self.s, self.d, self.strength0, self.tau)
        found: Any = sp.S.Zero if self.rests else _StrengthAt(*given, self.t)
        return found

    @property
    def printed(self) -> Any:
        """The equation t = t(pi), or 0."""
        return self.expr if self.rests else sp.Eq(self.t, self.time)

    @cached_property
    def half_time(self) -> Any:
        """Time at which half the plateau is reached, in steps."""
        if self.s == 0 or self.d == 0:
            return None
        if self.ops is not SYMPY:
            clock, unit = self._clock()
            share = self.strength0 / self.plateau
            return (clock.at(self.ops.number(0))[0] - clock.at(clock.logit(share))[0]) / unit
        found: Any = self.time.xreplace({STRENGTH: self.plateau / 2})
        return found

    @property
    def time(self) -> sp.Expr:
        """t(π): when the strength is :data:`STRENGTH`, between strength0 and the plateau."""
        now, begin = map(self._stage_at, (STRENGTH, self.strength0))
        return self.scale * (now - begin) + self.delay

    @property
    def delay(self) -> sp.Expr:
        """By how many steps gradient descent comes later to π than the flow."""
        if not self.stepwise:
            return sp.S.Zero
        return _delay(int(self.layers), self.s, self.d, STRENGTH, self.strength0)

    @property
    def scale(self) -> sp.Expr:
        """The factor of T(ρ) − T(ρ_0) in t(π)."""
        found: Any = self.tau / self.s * (self.d / self.s) ** (1 - 2 / self.layers)
        return found

    @property
    def root(self) -> sp.Symbol:
        """The variable ρ of :attr:`stage`."""
        return sp.Symbol("rho", positive=True)

    @property
    def root_power(self) -> sp.Expr:
        """The power of the strength, in units of its plateau, that :attr:`root` is."""
        return 1 / self.layers

    @property
    def integrand(self) -> sp.Expr:
        """T' as an expression in :attr:`root`."""
        return 1 / (self.root ** (self.layers - 1) * (1 - self.root**self.layers))

    @property
    def stage(self) -> sp.Expr:
        """T as an expression in :attr:`root`."""
        return self._stage(self.root)

    def _stage(self, root: sp.Expr) -> sp.Expr:
        layers = int(self.layers)
        return _integral(layers, root) - root ** (2 - layers) / (layers - 2)

    def residual(self) -> sp.Expr:
        r"""Zero exactly when dt/dπ · π' − 1 vanishes, of the flow, and its delay is that of steps.

        The derivative of J is proven once for each L; what is left is the chain rule, decided in
        powers of ρ and of the plateau.
        """
        if self.rests:
            return sp.S.Zero
        layers = int(self.layers)
        return defect(
            _integral_defect(layers),
            _chain(self.layers),
            _delay_residual(layers) if self.delay != 0 else sp.S.Zero,
        )

    def to_latex(self) -> str:
        """Return the LaTeX of t(π), without delimiters."""
        name, share = to_latex(self.root), to_latex(self.d / self.s)
        later = rf" + \tfrac{{1}}{{2}} {to_latex(2 * self.delay)}" if self.delay != 0 else ""
        return (
            rf"t = {to_latex(self.scale)} \left[T({name}) - T({name}_0)\right]{later}, \quad "
            rf"T({name}) = {to_latex(self.stage)}, \quad "
            rf"{name} = \left({share}\, \pi\right)^{{{slashed_latex(self.root_power)}}}"
        )

    @property
    def rate(self) -> sp.Expr:
        r"""The right-hand side :math:`\tau \dot\pi` of the equation."""
        power = 2 - sp.Integer(2) / self.layers
        return self.layers * STRENGTH**power * (self.s - self.d * STRENGTH)

    def lines(self) -> Iterator[Line]:
        """Yield the equation of the strength, separated, integrated, and its half-time."""
        layers = int(self.layers)
        letters = sp.symbols(f"a_1:{layers + 1}", positive=True)
        s, d = self.s, self.d
        strength = sp.Mul(*letters)
        slopes = [strength / a * (s - d * strength) for a in letters]
        loss = -s * strength + d * strength**2 / 2
        yield Line(
            says=rf"One mode has the amplitude $a_l$ in layer $l$, and $\pi = a_1 \cdots "
            rf"a_{{{layers}}}$ in their product; balanced layers start equal and stay equal, "
            rf"$a_l = \pi^{{1/{layers}}}$:",
            equation=(
                r"\tau \dot{a}_l = \Bigl( \prod_{m \neq l} a_m \Bigr) (s - d\, \pi), \qquad "
                r"\frac{d}{dt} (a_l^2 - a_m^2) = 0",
            ),
            because="the diagonal entries of the flow in the basis of the modes",
            check="the negative gradient of the mode's share of the loss, "
            rf"$\tfrac{{1}}{{2}} d\, \pi^2 - s \pi$; {CANCELS}",
            holds=vanish(
                *(v + loss.diff(a) for a, v in zip(letters, slopes, strict=True)),
                *(a * v - letters[0] * slopes[0] for a, v in zip(letters, slopes, strict=True)),
            ),
            main=True,
        )
        equal = dict.fromkeys(letters, FIRST)
        terms = (strength / a * v for a, v in zip(letters, slopes, strict=True))
        moved = sp.Add(*terms).subs(equal)
        yield Line(
            says="One closed equation is left:",
            equation=(moves(r"\pi", self.rate) + r", \qquad \pi(0) = \pi_0",),
            because="product rule, at equal amplitudes",
            check=CANCELS,
            holds=vanish(sp.powsimp(moved - self.rate.subs(STRENGTH, FIRST**layers))),
            main=True,
        )
        yield from self._integrated()

    def _integrated(self) -> Iterator[Line]:
        """Yield the separation of variables, its partial fractions, the integral, half-time."""
        layers, root, steps = int(self.layers), self.root, self.in_steps()
        scale, alone, rest = self.scale, root ** (1 - layers), root / (1 - root**layers)
        integrand = self.integrand
        yield Line(
            says=rf"Separate the variables, with $\rho = (d \pi/s)^{{1/{layers}}}$:",
            equation=(
                integral_latex(integrand.subs(root, X), r"\rho_0", r"\rho(t)")
                + rf" = {to_latex(self.t / scale)}",
            ),
            because=r"divided by the right-hand side, times $dt/\tau$, and the plateau taken out",
            check="chain rule: the derivative of the left-hand side by the strength, times the "
            "mode equation, is that of the right-hand side by time; cancelled",
            holds=_chain(self.layers) == 0,
        )
        yield Line(
            says="Partial fractions: one part is a power, and the other one falls apart over the "
            rf"roots of unity of order {layers},",
            equation=(
                rf"{to_latex(integrand)} &= {to_latex(alone)} + {to_latex(rest)}",
                rf"T(\rho) &= {to_latex(self.stage)}",
            ),
            because="each part of the second fraction is a logarithm; conjugate pairs are real",
            check="differentiated, the integrand comes out",
            holds=_integral_defect(layers) == 0
            and vanish(
                integrand - alone - rest,
                # The integral that is proven has the second part for its derivative.
                (self.stage - _integral(layers, root)).diff(root) - alone,
            ),
        )
        time = rf"{to_latex(scale)} \left[T(\rho) - T(\rho_0)\right]"
        flow = self.time - self.delay
        yield Line(
            says="The time of the flow is a function of the strength, without an explicit inverse:",
            equation=(f"t = {time}",),
            because=r"the integral between $\rho_0$ and $\rho$",
            check="substituted into the mode equation; the derivative of the time times the rate "
            "cancels to 1",
            holds=self.residual() == 0
            and sp.expand(
                flow - scale * self._stage_at(STRENGTH) + scale * self._stage_at(self.strength0)
            )
            == 0,
        )
        ratio = sp.exp(2 * steps.delay)
        yield Line(
            says="Training takes finite steps, and each goes along the speed that it begins with. "
            "Summed along the curve, gradient descent comes to a strength later by half the "
            "logarithm of how much faster the flow is there. Numbers come from a certified "
            "inversion of",
            equation=(
                rf"t(\pi) &= {time} + \tfrac{{1}}{{2}} {to_latex(sp.log(ratio))}",
                rf"\rho &= \left(\frac{{d \pi}}{{s}}\right)^{{1/{layers}}}",
            ),
            because=r"in a step the flow needs all but the share $f'/(2 \tau)$ of its time, $f$ "
            r"being the speed of an amplitude, and $d \ln f/dt = f'/\tau$; terms of the order of "
            r"$1/\tau$ are left out",
            check="the logarithm's derivative along the flow is half of that of the speed",
            holds=_delay_residual(layers) == 0
            and sp.expand(steps.time - flow - sp.log(ratio) / 2) == 0,
            main=True,
        )
        half = (self.d * self.plateau / 2 / self.s) ** self.root_power
        ratio = ratio.xreplace({STRENGTH: self.plateau / 2})
        yield Line(
            says="Half of the plateau is reached at the half-time",
            equation=(
                rf"t_{{1/2}} = {to_latex(scale)} \left[T\left({to_latex(half)}\right) - "
                rf"T(\rho_0)\right] + \tfrac{{1}}{{2}} {to_latex(sp.log(ratio))}",
            ),
            because=r"$\pi = s/(2 d)$ in the line before",
            check=CANCELS,
            holds=steps.half_time is not None
            and sp.expand(
                steps.half_time
                - scale * self._stage(half)
                + scale * self._stage_at(self.strength0)
                - sp.log(ratio) / 2
            )
            == 0,
            main=True,
        )

    def _stage_at(self, strength: Any) -> sp.Expr:
        """Return T at a strength."""
        return self._stage((self.d * strength / self.s) ** self.root_power)

    # -- numbers -----------------------------------------------------------------------------------

    def strength(self, t: Any) -> Any:
        """Return the strength, for s, d > 0, or s = 0 in balls; see :meth:`strengths`."""
        return self.strengths([t])[0] if self.ops is ARB else self.strengths(t)

    def strengths(self, times: Any) -> Any:
        """Return the strengths at several times: t(π) inverted.

        In float64 as exact as t and s are: a mode that starts small waits long, and a relative
        change of t by 1e-16 changes the strength by 1e-16 times the waiting time in units of the
        rise. In balls certified.

        Raises:
            LimitReachedError: The iteration did not settle, or the precision is too low.
        """
        return self._balls(times) if self.ops is ARB else self._floats(times)

    def _floats(self, times: np.ndarray) -> np.ndarray:
        layers, unit = int(self.layers), self._clock()[1]
        s, d, strength0, t = np.broadcast_arrays(self.s, self.d, self.strength0, times)
        plateau, share = s / d, strength0 * (d / s)
        unit = unit + 0 * t
        growth = unit * t
        result = np.array(strength0, dtype=float)
        mine = (share < 1) & (growth > 0)
        if mine.any():
            clock = _Clock(layers=layers, ops=NUMPY, late=self._late(unit[mine]))
            goal = clock.at(clock.logit(share[mine]))[0] + growth[mine]
            y = clock.settled(goal, clock.logit(share[mine]), growth[mine])
            result[mine] = plateau[mine] * clock.share(y)
        for start in np.unique(share[(share > 1) & (growth > 0)]):
            mine = (share == start) & (growth > 0)
            result[mine] = plateau[mine] * _fallen(float(start), layers, growth[mine])
        return result

    def _balls(self, times: Sequence[arb]) -> tuple[arb, ...]:
        if self.s.is_zero():
            layers, e = int(self.layers), 1 - arb(2) / int(self.layers)
            spread = layers * self.d * (1 + e) * self.strength0 ** (1 + e) / self.tau
            return tuple(self.strength0 * (1 + spread * t) ** (-1 / (1 + e)) for t in times)
        plateau, share = self.s / self.d, self.strength0 * self.d / self.s
        if share == 1:
            return (plateau,) * len(times)
        if share > 1:
            msg = (
                "depth L: a mode that starts above its plateau is integrated in float64, and has "
                "no certified balls. Take a smaller strength0"
            )
            raise NotSupportedError(msg)
        if not share < 1:
            msg = "depth L: at this precision the start cannot be distinguished from the plateau"
            raise LimitReachedError(msg)
        clock, unit = self._clock()
        start = clock.logit(share)
        begun = clock.at(start)[0]
        grown = [unit * t for t in times]
        near = clock.proposals(float(start), [float(g) for g in grown])
        return tuple(
            self.strength0 if t.is_zero() else plateau * clock.share(clock.enclosed(begun + g, y))
            for t, g, y in zip(times, grown, near, strict=True)
        )

    def _clock(self) -> tuple[_Clock, Any]:
        """Return the clock, and by how much it moves in a step."""
        layers = int(self.layers)
        unit = layers * self.s * self.plateau ** (1 - self.ops.number(2) / layers) / self.tau
        return _Clock(layers=layers, ops=self.ops, late=self._late(unit)), unit

    def _late(self, unit: Any) -> Any:
        """Return by how many units of the clock gradient descent is late, of one of ln|f|.

        By nothing where it diverges, of which a warning tells.

        Args:
            unit: By how many the clock moves in a step.
        """
        if not self.stepwise:
            return 0 * unit
        if self.ops is NUMPY:
            return np.where(unit < 2, unit / 2, 0.0)
        return unit / 2 if unit < 2 else 0 * unit

    @property
    def relaxation(self) -> Any:
        r"""The rate :math:`L h^{2 - 2/L} d`, h the plateau."""
        power = 2 - self.ops.number(2) / int(self.layers)
        return int(self.layers) * self.plateau**power * self.d

    def steps(self) -> Iterator[np.ndarray]:
        r"""Yield the strengths: the one amplitude moves by :math:`x^{L-1} (s - d x^L)/\tau`."""
        layers = int(self.layers)
        amplitude = (self.strength0 + 0.0 * self.s) ** (1 / layers)
        while True:
            strength = amplitude**layers
            yield strength
            pull = (self.s - self.d * strength) / self.tau
            amplitude = amplitude + amplitude ** (layers - 1) * pull


@record
class _Clock:
    """E(y) of one depth, and its inverse; floats or balls.

    Attributes:
        layers: L, from 3.
        ops: The number system; balls at the precision at which the clock was made.
        late: Factor of ln[x^(1 − 1/L) (1 − x)] of a mode in steps, from 0 to below 1.
    """

    layers: int
    ops: Ops
    late: Any = 0

    @cached_property
    def _exponent(self) -> Any:
        return 1 - self.ops.number(2) / self.layers

    @cached_property
    def _pairs(self) -> tuple[tuple[Any, Any, Any, Any], ...]:
        """Cos φ, sin φ, 2 sin² φ and 2 sin 2φ of every pair of roots of unity."""
        found = []
        for j in range(1, (self.layers + 1) // 2):
            sine, cosine = self.ops.turn(2 * j, self.layers)
            found.append((cosine, sine, 2 * sine * sine, 4 * sine * cosine))
        return tuple(found)

    def logit(self, share: Any) -> Any:
        """Return y of x."""
        return self.ops.log(share) - self.ops.log1p(-share)

    def share(self, y: Any) -> Any:
        """Return x of y."""
        return 1 / (1 + self.ops.exp(-y))

    def at(self, y: Any) -> tuple[Any, Any]:
        """Return E(y) and E'(y), with what steps add to them."""
        ops, bottom = self.ops, 1 + self.ops.exp(-y)
        logarithm = ops.log(bottom)
        r = ops.exp(-logarithm / self.layers)
        total = y + logarithm
        for cosine, sine, weight, turn in self._pairs:
            part = r * cosine
            total = total + weight * ops.log(1 - 2 * part + r * r)
            if self.layers != 4:  # where it is 0
                total = total + turn * ops.atan(r * sine / (1 - part))
        rate = 1 / r ** (self.layers - 2)
        total = total - rate / self._exponent
        power = 2 - ops.number(1) / self.layers
        later = self.late * (1 - power * (1 - 1 / bottom))
        return total - self.late * (y + power * logarithm), rate - later

    def settled(self, goal: np.ndarray, start: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """Return the y at which the clock shows ``goal``, ``growth`` later than at ``start``.

        Raises:
            LimitReachedError: The iteration did not settle.
        """
        y = np.maximum(self._first(start, growth), start)
        for _ in range(_MOST_STEPS):
            value, rate = self.at(y)
            step = (goal - value) / rate
            y = np.maximum(y + step, start)
            if np.all(np.abs(step) <= _SETTLED * (1 + np.abs(y)) + self._noise(y, goal) / rate):
                return y
        msg = "depth L: the inversion of t(strength) did not converge"
        raise LimitReachedError(msg)

    def _first(self, start: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """Return a y from which Newton's iteration converges."""
        from scipy.special import wrightomega

        e = self._exponent
        # G'/2 <= E' <= G' for G = y − e^(−ey)/e, whose inverse is Wright's omega function: where G
        # has moved by the growth, E has moved by less.
        with np.errstate(over="ignore"):
            level = start - np.exp(-e * start) / e + growth
        omega = wrightomega(-e * level)
        return np.where(level > 0, level + omega / e, -np.log(np.maximum(omega, 1e-300)) / e)

    def _noise(self, y: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Return by how much rounding moves E: of its largest term, and of L/2 more of order 1."""
        most = np.exp(-self._exponent * np.minimum(y, 0))
        size = np.abs(goal) + most / self._exponent + np.maximum(y, 0)
        return 1e-15 * (1 + self.layers / 10) * size

    def proposals(self, start: float, grown: list[float]) -> list[float]:
        """Return a logit for every growth, in floats; only speed depends on them."""
        growth = np.minimum(grown, 1e300)
        begin = np.full(len(growth), start)
        late = np.full(len(growth), float(self.late))
        floats = _Clock(layers=self.layers, ops=NUMPY, late=late)
        try:
            with np.errstate(all="ignore"):
                found = floats.settled(floats.at(begin)[0] + growth, begin, growth)
        except LimitReachedError:
            found = begin + growth
        return np.where(np.isfinite(found), found, begin + growth).tolist()

    def enclosed(self, goal: arb, near: float) -> arb:
        """Return a ball of the y at which the clock shows ``goal``, by Newton's interval method.

        Where y + (goal − E(y))/E'(Y) lies within Y, a ball around y, so does the solution. The
        logarithm of E' has a slope below 1 and e^-y; with what steps add to it, below
        (1 + 2c)/(1 − c) as much, c being :attr:`late`: that is at most c of E' ≥ 1, and its
        derivative 2c (1 − x).

        Args:
            goal: A ball of E.
            near: A logit to start from.

        Raises:
            LimitReachedError: The goal is too wide, or the iteration does not arrive.
        """
        y, rounding = arb(near), arb(2) ** (4 - ctx.prec)
        steeper = (1 + 2 * self.late) / (1 - self.late)
        for _ in range(_MOST_STEPS):
            value, rate = self.at(y)
            step = (goal - value) / rate
            reach = (2 * abs(step) + abs(y) * rounding).upper()
            least = y - reach
            slope = (-least).exp() if least > 0 else arb(1)
            off = step * arb(0, reach * slope * steeper).exp()
            # A step squares the error, until that of the goal and of rounding is reached.
            if abs(off) < reach and off.rad() <= 4 * step.rad():
                return y + off
            y = (y + step).mid()
        msg = "depth L: at this precision the inversion of t(strength) cannot be enclosed"
        raise LimitReachedError(msg)


def _fallen(share: float, layers: int, growth: np.ndarray) -> np.ndarray:
    """Return x = dπ/s from a start above 1: ln x is integrated, to 1e-12.

    Args:
        share: x at the start.
        layers: L.
        growth: Times in units of the clock, above 0.
    """
    times, place = np.unique([0.0, *np.minimum(growth, _FALLEN)], return_inverse=True)
    exponent = 1 - 2 / layers
    parts = integrate(
        lambda _, u: -np.exp(exponent * u) * np.expm1(u), np.log([share]), times, 1.0, logs=True
    )
    return np.exp(np.hstack([u for _, u in parts])[0])[place[1:]]


class _StrengthAt(sp.Function):
    """π(t) of :class:`Depth`, a function of L, whether in steps, s, d, π₀, τ and t."""

    nargs = 7

    @staticmethod
    def _imp_(layers: int, stepwise: int, *given: Any) -> Any:
        """Return it in float64: what lambdify calls."""
        *letters, times = (np.asarray(each, dtype=float) for each in given)
        numbers = dict(zip(("s", "d", "strength0", "tau"), letters, strict=True))
        law = Depth(layers=sp.Integer(layers), stepwise=bool(stepwise), ops=NUMPY, **numbers)
        return law.strengths(times)[()]


def _delay(layers: int, s: Any, d: Any, strength: Any, start: Any) -> sp.Expr:
    """Return n − T of one mode of L balanced layers, from its strength there and at the start."""
    power = 1 - sp.Rational(1, layers)
    speed, first = (p**power * (s - d * p) for p in (strength, start))
    return sp.log(speed / first) / 2


@lru_cache(maxsize=64)
def _delay_residual(layers: int) -> sp.Expr:
    """Zero exactly when the delay grows along the flow as a step's excess does.

    With τ dz/dt = f(z) and f = z^(L-1) (s - d z^L), which every layer follows: of a step's time
    the flow needs all but the share f'(z)/(2τ), so the delay grows by f'/2 per unit of time over τ.
    """
    speed = _Z ** (layers - 1) * (_S - _D * _Z**layers)
    moved = _delay(layers, _S, _D, _Z**layers, _P0).diff(_Z) * speed
    return sp.simplify(sp.powsimp(moved - speed.diff(_Z) / 2))


@lru_cache(maxsize=64)
def _chain(layers: sp.Integer) -> sp.Expr:
    """Return the speed of the integral up to the root of a strength, less that of time: 0.

    The chain rule, in powers of ρ and of q = (s/d)^(1/L), where roots are none.
    """
    law = Depth(s=_S, d=_D, tau=_TAU, layers=layers)
    root = (_D * STRENGTH / _S) ** law.root_power
    slope = law.integrand.subs(law.root, root) * root.diff(STRENGTH)
    left = slope * law.rate / _TAU - 1 / law.scale
    powers = {_S: _D * _Q**layers, STRENGTH: (_Q * _RHO) ** layers}
    return cancelled(sp.powsimp(sp.expand_power_base(left.subs(powers)), force=True))


def _integral(layers: int, x: sp.Expr) -> sp.Expr:
    """Return J as it is printed, real and continuous for 0 <= x < 1.

    In logarithms and arc tangents; of many layers as the integral that it is.

    Args:
        layers: L, from 3.
        x: Where.
    """
    if layers > _MOST_PRINTED:
        return sp.Integral(X / (1 - X**layers), (X, 0, x))
    terms: list[Any] = [sp.log(1 - x)]
    if layers % 2 == 0:
        terms.append(sp.log(1 + x))
    for j in range(1, (layers + 1) // 2):
        angle: Any = 2 * sp.pi * sp.Rational(j, layers)
        cosine, sine = sp.cos(angle), sp.sin(angle)
        logarithm = sp.log(1 - 2 * cosine * X + X**2)
        arc = sp.atan(sp.together(sine * X / (1 - cosine * X)))
        pair = sp.cos(2 * angle) * logarithm - 2 * sp.sin(2 * angle) * arc
        terms.append(pair.subs(X, x))
    return -sp.Add(*terms) / layers


@lru_cache(maxsize=64)
def _integral_defect(layers: int) -> sp.Expr:
    r"""Return 0 exactly when ``_integral`` is an antiderivative of x/(1 - x^L), 0 at x = 0.

    An integral with x as its upper limit is by the fundamental theorem. Of logarithms the numerator
    of the difference is a polynomial whose coefficients, sums of roots, vanish one by one.
    """
    found = _integral(layers, X)
    difference = found.diff(X) - X / (1 - X**layers)
    if layers > _MOST_PRINTED:
        return difference
    top = sp.fraction(sp.together(difference))[0]
    coefficients = sp.Poly(sp.expand(top), X).all_coeffs()
    return defect(found.subs(X, 0), *map(sp.simplify, coefficients))
