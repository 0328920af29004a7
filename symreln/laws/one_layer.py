"""One layer of weights: a mode relaxes exponentially."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.laws.law import COUPLED, Law, Match, Regime, Start
from symreln.laws.ops import defect

if TYPE_CHECKING:
    import numpy as np

_S, _D, _P0, _T, _TAU, _E = sp.symbols("_s _d _p0 _t _tau _e", positive=True)


@dataclass(frozen=True, kw_only=True)
class OneLayer(Law):
    r"""One decoupled mode of a single layer: :math:`\tau \dot\pi = s - d\pi`. Source: [Saxe2014].

    The strength may start anywhere. Attributes: see :class:`symreln.laws.law.Law`.
    """

    name = "shallow"
    starts_at_zero = True
    units_per_mode = 0
    start_origin = "mean of a single random layer"
    start_source = "0, the mean of a single random layer"

    @classmethod
    def matches(cls, regime: Regime) -> Match:
        """Say whether the law solves a mode, and why or why not."""
        if regime.layers != 1:
            why = f"the family is for one layer of weights, the pathway has {regime.layers}"
        elif not regime.decoupled:
            why = COUPLED
        elif regime.weight_decay:
            why = "weight decay of a single layer is not written yet"
        else:
            return Match(holds=True, why="one layer of weights, the mode is decoupled")
        return Match(holds=False, why=why)

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
        """Return the strength; no term cancels another where strength0 >= 0."""
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
        sp.cancel(_TAU * printed.diff(_T) - (_S - _D * printed)),
        sp.cancel(printed.subs(_T, 0) - _P0),
        sp.cancel(law.strength(_T) - printed),
    )
