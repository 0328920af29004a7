"""One layer of weights: a mode relaxes exponentially."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.document.mathtext import to_latex
from symreln.exact.cancelling import cancelled
from symreln.laws.law import COUPLED, STRENGTH, Law, Regime, Start
from symreln.laws.line import (
    DIFFERENTIATED,
    SUBSTITUTED,
    Line,
    X,
    integral,
    is_primitive,
    moves,
    same,
    steps_line,
    vanish,
)
from symreln.laws.ops import defect

_S, _D, _P0, _T, _TAU, _E = sp.symbols("_s _d _p0 _t _tau _e", positive=True)


@record
class OneLayer(Law):
    r"""One decoupled mode of a single layer: :math:`\tau \dot\pi = s - d\pi`. Source: [Saxe2014].

    The strength may start anywhere. Attributes: see :class:`symreln.laws.law.Law`.

    Attributes:
        jumps: Whether a step jumps to the plateau or over it, d ≥ τ, at the values of the law's
            letters: a strength holds up to the next step, and what is left changes its sign.
    """

    name = "shallow"
    suits = "one layer of weights, the mode is decoupled"
    starts_at_zero = True
    units_per_mode = 0
    start_origin = "mean of a single random layer"
    jumps: bool = False

    @classmethod
    def unfit(cls, regime: Regime) -> str:
        """Say why the law does not solve a mode, or ""."""
        if regime.layers != 1:
            return f"the family is for one layer of weights, the pathway has {regime.layers}"
        if not regime.decoupled:
            return COUPLED
        return "weight decay of a single layer is not written yet" if regime.weight_decay else ""

    @classmethod
    def start(cls, regime: Regime) -> Start:
        """Return 0, the mean of a single random layer."""
        return Start(strength0=Fraction(0))

    @classmethod
    def weights(
        cls, regime: Regime, u: np.ndarray, v: np.ndarray, units: int, strength0: float
    ) -> list[np.ndarray]:
        """Return the one matrix with these strengths."""
        return [strength0 * u @ v.T]

    @property
    def equation(self) -> str:
        """LaTeX of the equation, without delimiters."""
        return r"\tau \dot{\pi} = s - d\, \pi, \qquad \pi(0) = \pi_0"

    def strength(self, t: Any) -> Any:
        """Return the strength; no term cancels another where strength0 >= 0 and d < τ."""
        if self.jumps:
            left = (1 - self.d / self.tau) ** self.ops.floor(t)
            return self.strength0 * left + self.s / self.d * (1 - left)
        decay, span = self.ops.relaxed(self.d, t / self.clock)
        return self.strength0 * decay + self.s * span

    @cached_property
    def _expr(self) -> sp.Expr:
        """The trajectory."""
        values = {_S: self.s, _D: self.d, _P0: self.strength0, _E: self.faded(self.d, -1)}
        found: Any = _template().xreplace(values)
        return found

    @property
    def per_step(self) -> Any:
        """−d, by which the distance from the plateau changes: exact."""
        return -self.d

    def in_steps(self) -> Self:
        """Return the law in steps; of a number it is known whether these jump."""
        known = not isinstance(self.d, sp.Basic) and not getattr(self.d, "shape", ())
        return replace(self, stepwise=True, jumps=known and not self.d < self.tau)

    @property
    def relaxation(self) -> Any:
        """The rate d."""
        return self.d

    def steps(self) -> Iterator[np.ndarray]:
        """Yield the strengths of π + (s − dπ)/τ."""
        strength = self.strength0 + 0.0 * self.s
        while True:
            yield strength
            strength = strength + (self.s - self.d * strength) / self.tau

    @property
    def rate(self) -> sp.Expr:
        r"""The right-hand side :math:`\tau \dot\pi` of the equation."""
        return self.s - self.d * STRENGTH

    def lines(self) -> Iterator[Line]:
        """Yield the equation, separated, integrated, solved, and in steps of gradient descent."""
        s, d, start, t, tau = self.s, self.d, self.strength0, self.t, self.tau
        loss = -s * STRENGTH + d * STRENGTH**2 / 2
        yield Line(
            says=r"One mode has the strength $\pi$ in the only layer:",
            equation=(moves(r"\pi", self.rate) + r", \qquad \pi(0) = \pi_0",),
            because="the diagonal entries of the flow in the basis of the modes",
            check=f"the negative gradient of the mode's share of the loss, ${to_latex(loss)}$",
            holds=vanish(self.rate + loss.diff(STRENGTH)),
            main=True,
        )
        integrand = 1 / (s - d * X)
        yield Line(
            says="Separate the variables, and integrate from the start to $t$:",
            equation=(integral(integrand, r"\pi_0", r"\pi(t)") + r" = \frac{t}{\tau}",),
            because=r"divided by the right-hand side, times $dt/\tau$",
            check="integrand times right-hand side is 1",
            holds=vanish(integrand.subs(X, STRENGTH) * self.rate - 1),
        )
        found = -sp.log((s - d * X) / (s - d * start)) / d
        yield Line(
            says="The integral is a logarithm:",
            equation=(to_latex(found.subs(X, STRENGTH)) + r" = \frac{t}{\tau}",),
            because="integral of $1/x$",
            check=DIFFERENTIATED,
            holds=is_primitive(found, integrand, X, start),
        )
        flow: Any = replace(self, stepwise=False).expr
        yield Line(
            says=r"Solved for $\pi$:",
            equation=(rf"\pi(t) = {to_latex(flow)}",),
            because=r"exponential of both sides, times $-d$ before",
            check=SUBSTITUTED,
            holds=vanish(tau * flow.diff(t) - self.rate.subs(STRENGTH, flow))
            and vanish(flow.subs(t, 0) - start),
            main=True,
        )
        step, steps = STRENGTH + self.rate / tau, replace(self, stepwise=True)
        yield steps_line(
            (rf"\pi(t) = {to_latex(steps.printed)}",),
            step,
            STRENGTH,
            steps.per_step,
            holds=same(steps.printed, flow.subs(tau, steps.clock)),
            exact=True,
        )
        half = -sp.log(2) / sp.log(1 - d / tau)
        yield Line(
            says=r"From $\pi_0 = 0$ half of the plateau $s/d$ is reached at",
            equation=(rf"t_{{1/2}} = {to_latex(half)}",),
            because="the exponential is one half",
            check="put into the solution: half of the plateau is left",
            holds=vanish(d * half / steps.clock - sp.log(2))
            and vanish(_template().subs({_P0: 0, _E: sp.Rational(1, 2)}) - _S / _D / 2),
            main=True,
        )

    def residual(self) -> sp.Expr:
        """Zero exactly when the solution holds; decided with every quantity a symbol."""
        return _residual()


def _template() -> sp.Expr:
    return _S / _D + (_P0 - _S / _D) * _E


@lru_cache(maxsize=1)
def _residual() -> sp.Expr:
    printed: Any = _template().subs(_E, sp.exp(-_D * _T / _TAU))
    law = OneLayer(s=_S, d=_D, strength0=_P0, t=_T, tau=_TAU)
    return defect(
        cancelled(_TAU * printed.diff(_T) - (_S - _D * printed)),
        cancelled(printed.subs(_T, 0) - _P0),
        cancelled(law.strength(_T) - printed),
    )
