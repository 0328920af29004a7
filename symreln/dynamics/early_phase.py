r"""Initial strengths of a ReLU network from its early phase, by averaging over single neurons.

While all outputs are small the residual is Y itself, and a hidden unit (w, b) moves alone:

.. math:: \tau \dot w = \sum_\mu 1[w \cdot x_\mu > 0] (b \cdot y_\mu)\, x_\mu / P, \qquad
          \tau \dot b = \sum_\mu (w \cdot x_\mu)_+\, y_\mu / P.

Its equation is homogeneous, so what it does is a property of the data, not of the width or of
init_std. A mode (u, s, v) of a pathway grows along (v, u)/√2; once the units' gates have settled on
the pathway's, the square of that amplitude grows as e^{2 s t/τ}, and

.. math:: \kappa = \lim_T E\bigl[ \tfrac12 (v \cdot w + u \cdot b)^2 \bigr]\, e^{-2 s T/\tau}

for units drawn from N(0, 1) says how many of them, in effect, the mode starts from: its initial
strength is κ H init_std²/2. Layers that start apart are drawn in units of the root of their mean
variance, which then stands for init_std². A linear network has κ = 1, whatever the mode; counting
half of the units of a ReLU network is κ = 1/2. A unit counts for the pathway whose gate is nearest
to its own, samples weighted by (w·x)²: near an edge of its gate a unit's sign means nothing.

Float64, seeded, with the standard error of the mean. Nothing is fitted, no network is looked at.
Source: theory.md 5; the alignment of single neurons is that of Maennel et al. 2018.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from symreln.dynamics.coupled_matrices import orthonormal_span
from symreln.errors import InputError
from symreln.summaries import short_repr

#: Units that are followed. The standard error of κ is then about 2 %, of a drop time a few
#: thousandths of a growth time.
UNITS = 4000
#: Growth times of the mode between two looks at its units.
LOOK = 1.0
#: Change of κ between looks, in standard errors, that ends the search.
SETTLED = 0.25
#: Looks after which the search ends anyhow: e^-2·40 of what does not grow is left.
MOST_LOOKS = 40


@short_repr
@dataclass(frozen=True, kw_only=True)
class EarlyStrength:
    """What the early phase says of one mode.

    Attributes:
        kappa: κ, mean over the equal modes.
        error: Its standard error, from the spread over units.
        spread: Standard deviation of the mode's initial strength between networks, relative to its
            mean, times √H.
        settled: Whether κ has stopped changing, within its error.
        share: Share of the units that count for the pathway.
        units: What every unit adds to the mode's strength over the mean of all, shape (units,): a
            network's strength is the mean over H units drawn from them. None where it is not known.
    """

    kappa: float
    error: float
    spread: float
    settled: bool
    share: float
    units: np.ndarray | None = field(default=None, repr=False, compare=False)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class EarlyMode:
    """Equal modes that are asked for.

    Attributes:
        pathway: Which of the pathways.
        inputs: Inputs of the pathway, indices.
        s: Singular value of Sigma^{yx} (of the whole targets), positive.
        u: Left singular vectors, shape (n_y, multiplicity).
        v: Right singular vectors among the pathway's inputs, shape (inputs, multiplicity).
    """

    pathway: int
    inputs: tuple[int, ...]
    s: float
    u: np.ndarray
    v: np.ndarray


class EarlyPhase:
    """Single ReLU units in the field of the targets.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        gates: 0 or 1, shape (pathways, P): those that learn at once.
        step: A step of gradient descent in units of τ: 1/τ with τ in steps.
        rng: Seed of the units.
        units: How many.
        scales: Standard deviations of w and b at the start, their squares of mean one.
    """

    def __init__(
        self,
        inputs: np.ndarray,
        targets: np.ndarray,
        gates: np.ndarray,
        step: float,
        rng: np.random.Generator,
        units: int = UNITS,
        scales: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        # Outputs outside the span of the targets never move, and no mode points there.
        self._basis = orthonormal_span(targets)
        self._x, self._step = inputs, step
        self._y = self._basis.T @ targets / inputs.shape[1]
        self._gates = gates > 0
        self._first = scales[0] * rng.standard_normal((units, inputs.shape[0]))
        self._second = scales[1] * rng.standard_normal((units, len(self._y)))
        self._logs = np.zeros(units)
        self._done = 0

    def strengths(self, modes: list[EarlyMode]) -> list[EarlyStrength]:
        """Return κ of every mode; the units move on until each has settled."""
        found: list[EarlyStrength | None] = [None] * len(modes)
        before = [np.nan] * len(modes)
        fastest = max((mode.s for mode in modes), default=0.0)
        if not modes:
            return []
        if not fastest > 0:
            msg = "early phase: a mode with s = 0 does not grow. Ask for modes with s > 0."
            raise InputError(msg)
        look = max(1, round(LOOK / (self._step * fastest)))
        for _ in range(MOST_LOOKS):
            self._advance(look)
            nearest = self._nearest()
            for place, mode in enumerate(modes):
                now = self._strength(mode, nearest == mode.pathway, before[place])
                found[place], before[place] = now, now.kappa
            if all(each is not None and each.settled for each in found):
                break
        return [each for each in found if each is not None]

    def _advance(self, steps: int) -> None:
        for _ in range(steps):
            seen = self._first @ self._x
            drive = (self._second @ self._y) * (seen > 0)
            moved = np.maximum(seen, 0) @ self._y.T
            self._first += self._step * (drive @ self._x.T)
            self._second += self._step * moved
        self._done += steps
        # Homogeneous: units are kept at length one, their growth in logarithms.
        size = np.sqrt(np.sum(self._first**2, axis=1) + np.sum(self._second**2, axis=1))
        self._first /= size[:, None]
        self._second /= size[:, None]
        self._logs += np.log(size)

    def _nearest(self) -> np.ndarray:
        """Return the pathway with the nearest gate, shape (units,)."""
        seen = self._first @ self._x
        squares = seen * seen
        missed = [(squares * ((seen > 0) != gate)).sum(axis=1) for gate in self._gates]
        return np.argmin(missed, axis=0)

    def _strength(self, mode: EarlyMode, own: np.ndarray, before: float) -> EarlyStrength:
        along = self._first[:, list(mode.inputs)] @ mode.v + self._second @ (self._basis.T @ mode.u)
        growth = self._logs - self._done * np.log1p(self._step * mode.s)
        squares = 0.5 * along**2 * np.exp(2 * growth)[:, None] * own[:, None]
        each = squares.mean(axis=1)
        kappa, error = float(each.mean()), float(each.std() / np.sqrt(len(each)))
        spread = float(np.sqrt(squares.var(axis=0).mean())) / kappa if kappa > 0 else np.inf
        return EarlyStrength(
            kappa=kappa,
            error=error,
            spread=spread,
            settled=bool(abs(kappa - before) <= SETTLED * error),
            share=float(own.mean()),
            units=each / kappa if kappa > 0 else None,
        )
