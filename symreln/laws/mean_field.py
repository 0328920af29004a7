r"""The mean-field simulation: a wide ReLU network, trained, for the limit of infinite width.

Every particle (w, b) moves in the residual that all particles leave,

.. math:: \tau \dot w = \sum_\mu 1[w \cdot x_\mu > 0] (b \cdot e_\mu)\, x_\mu / P, \qquad
          \tau \dot b = \sum_\mu (w \cdot x_\mu)_+\, e_\mu / P, \qquad
          e_\mu = y_\mu - H\, E[b\, (w \cdot x_\mu)_+],

with the mean over the initialisation distribution. With N particles this *is* gradient descent on
a ReLU network of N units whose initial weights are balanced: useful as the limit of width, with a
Monte Carlo error, and not a prediction of the theory.

Particles are drawn in pairs of opposite signs and turned until their second moments are those of
the distribution exactly: linear modes then start exactly as expected. The Monte Carlo error is
measured by a second, independent draw.

*Higher orders of the law of gates.* The first order (:mod:`symreln.laws.gate_shares`) is of units
that never leave. At the second one isolated units follow their own gates in the residual that
closed forms of the first stage leave, or integrated matrices: the equations above with e of the
order before, so that none feels another; and the network of the gates that they have at each step,
gated and linear, descends the residual that it leaves itself, from the same initial weights. That
residual is what isolated units of the next order see. The orders end in the simulation, the one
order whose residual is its own.

Float64, seeded. Sources: the mean-field limit of two-layer networks (Mei, Montanari, Nguyen 2018;
Chizat, Bach 2018); Jarvis et al. 2025 for gates as pathways.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import Any

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.records import record
from symreln.errors import InputError
from symreln.laws.spans import orthonormal_span

#: Draws whose mean is the result, and particles of each: the Monte Carlo error is then about 0.1 %
#: of L(0) on the contextual tasks.
DRAWS, UNITS = 2, 1000
#: Of w, shape (units, n_x), and ‖w‖‖b‖, shape (units,), what is asked of units at a step.
_Watch = Callable[[np.ndarray, np.ndarray], Any]
#: Times at which gates are looked at: as many evenly spaced ones, and as many by equal ratios.
_LOOKS = 60


@record
class Descent:
    """How the units are trained.

    Attributes:
        hidden: H of the network whose limit is taken.
        init_std: Standard deviations of the two layers' weights.
        step: A step of gradient descent in units of τ: 1/τ with τ in steps.
        steps: Recorded steps, the initial state included.
        weight_decay: λ of λ/2 times all squared weights, added to the mean loss.
    """

    hidden: int
    init_std: tuple[float, float]
    step: float
    steps: int
    weight_decay: float = 0.0


@record(eq=False)
class MeanField:
    """What a mean-field simulation gives.

    Attributes:
        losses: Mean loss 1/(2P) Σ‖y − ŷ‖² at steps 0, 1, …
        error: Its Monte Carlo error: the largest distance between a draw and the mean of all,
            over L(0), divided by the root of one less than their number.
        particles: N, in all draws together.
        steps: Steps at which particles were looked at.
        watched: What was asked of the particles of each draw, shape (draws, looks, …).
    """

    losses: np.ndarray
    error: float
    particles: int
    steps: np.ndarray
    watched: np.ndarray


def multiplications(inputs: tuple[int, int], targets: tuple[int, int], steps: int) -> int:
    """Return about how many multiplications the simulation takes, from the data's shapes."""
    (n_x, samples), n_y = inputs, min(targets)
    return DRAWS * steps * _units(n_x + n_y) * samples * (2 * n_x + 3 * n_y)


@one_blas_thread()
def simulate_mean_field(
    inputs: np.ndarray,
    targets: np.ndarray,
    descent: Descent,
    rng: int,
    watch: _Watch | None = None,
) -> MeanField:
    """Simulate the particles from the initialisation distribution.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P), not all zero.
        descent: How they are trained.
        rng: Seed of the draws.
        watch: What is asked of the particles at every look; nothing by default.

    Raises:
        InputError: The particles diverge.
    """
    ensembles = [
        _Ensemble(inputs, targets, descent, np.random.default_rng(seed), watch)
        for seed in np.random.SeedSequence(rng).spawn(DRAWS)
    ]
    ended = threading.Event()
    # Matrix products leave the interpreter to other threads.
    with ThreadPoolExecutor(DRAWS) as pool:
        try:
            curves = np.array(list(pool.map(lambda each: each.follow(ended), ensembles)))
        finally:  # also after an interrupt: the pool waits for its threads
            ended.set()
    if not np.isfinite(curves).all():
        msg = (
            f"mean-field simulation: the particles diverge with steps of {descent.step:.3g} tau. "
            "Lower network.learning_rate"
        )
        raise InputError(msg)
    losses = curves.mean(axis=0)
    apart = np.abs(curves - losses).max() / losses[0]
    return MeanField(
        losses=losses,
        error=float(apart / sqrt(DRAWS - 1)),
        particles=sum(e.units for e in ensembles),
        steps=_look_steps(descent.steps),
        watched=np.array([each.watched for each in ensembles]),
    )


def _look_steps(steps: int) -> np.ndarray:
    """Return the steps at which gates are looked at, the first and the last among them."""
    evenly = np.linspace(0, steps - 1, _LOOKS)
    by_ratio = np.geomspace(1, max(1, steps - 1), _LOOKS)
    return np.unique(np.concatenate([evenly, by_ratio]).round().astype(int).clip(max=steps - 1))


@record(kw_only=False, eq=False)
class _Particles:
    """Weights of particles, each standing for so many units of the network; changed in place.

    Attributes:
        first: w of each, shape (units, n_x).
        second: b of each, in a basis of the targets' span, shape (rank, units).
    """

    first: np.ndarray
    second: np.ndarray

    @classmethod
    def drawn(
        cls, n_x: int, rank: int, descent: Descent, random: np.random.Generator
    ) -> _Particles:
        """Draw them from the initialisation distribution."""
        size = n_x + rank
        drawn = _balanced(random.standard_normal((_units(size) // 2, size)))
        share = sqrt(descent.hidden / len(drawn))
        first, second = descent.init_std
        return cls(share * first * drawn[:, :n_x], share * second * drawn[:, n_x:].T)

    def copy(self) -> _Particles:
        """Return as many with the same weights."""
        return _Particles(self.first.copy(), self.second.copy())

    @property
    def sizes(self) -> np.ndarray:
        """‖w‖‖b‖ of each."""
        return np.linalg.norm(self.first, axis=1) * np.linalg.norm(self.second, axis=0)

    def descend(
        self,
        descent: Descent,
        x: np.ndarray,
        gates: np.ndarray,
        held: np.ndarray,
        residual: np.ndarray,
    ) -> None:
        """Take a step, with some gates, in some residual.

        Args:
            descent: How.
            x: Inputs.
            gates: Open ones, shape (units, P).
            held: What units hold, 0 where the gate is closed.
            residual: In the basis of the targets' span, shape (rank, P).
        """
        rate, keep = descent.step / x.shape[1], 1 - descent.step * descent.weight_decay
        drive = self.second.T @ residual
        drive *= gates
        pull = rate * (residual @ held.T)
        np.multiply(self.first, keep, out=self.first)
        np.multiply(self.second, keep, out=self.second)
        np.add(self.first, rate * (drive @ x.T), out=self.first)
        np.add(self.second, pull, out=self.second)


class _Ensemble:
    """Particles of one draw."""

    def __init__(
        self,
        inputs: np.ndarray,
        targets: np.ndarray,
        descent: Descent,
        random: np.random.Generator,
        watch: _Watch | None = None,
    ) -> None:
        # Outputs outside the span of the targets get no drive: they stay as small as they start.
        self._x, self._y = inputs, orthonormal_span(targets).T @ targets
        self._descent, self._watch = descent, watch
        self._particles = _Particles.drawn(len(inputs), len(self._y), descent, random)
        self.units = len(self._particles.first)
        self.watched: list[np.ndarray] = []

    def follow(self, ended: threading.Event) -> np.ndarray:
        """Descend, and return the loss at every step; of no use once nobody waits for it."""
        samples, particles = self._x.shape[1], self._particles
        losses = np.empty(self._descent.steps)
        looks = set(_look_steps(self._descent.steps).tolist())
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(self._descent.steps):
                if ended.is_set():
                    break
                seen = particles.first @ self._x
                gates = seen > 0
                seen *= gates
                error = self._y - particles.second @ seen
                losses[step] = 0.5 * np.vdot(error, error) / samples
                if step in looks and self._watch is not None:
                    self.watched.append(self._watch(particles.first, particles.sizes))
                particles.descend(self._descent, self._x, gates, seen, error)
        return losses


def _units(size: int) -> int:
    """Return how many units a draw has: more than enough to turn their second moments."""
    return max(UNITS, 4 * size)


def _balanced(half: np.ndarray) -> np.ndarray:
    """Return the draws and their opposites, turned so that their second moments are one exactly."""
    drawn = np.concatenate([half, -half])
    values, vectors = np.linalg.eigh(drawn.T @ drawn / len(drawn))
    return drawn @ ((vectors / np.sqrt(values)) @ vectors.T)


@one_blas_thread()
def gate_orders(
    inputs: np.ndarray,
    targets: np.ndarray,
    descent: Descent,
    first: Iterable[np.ndarray],
    watch: _Watch,
    rng: int,
    orders: int = 1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Follow the orders from the second on, all at once.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        descent: How networks are trained.
        first: The residual of the first order, shape (n_y, P), at every step from 0 on.
        watch: What is asked of isolated units at some steps.
        rng: Seed of the draw.
        orders: How many orders beyond the first.

    Returns:
        Losses of the networks with each order's gates, shape (orders, steps), at which steps units
        were looked at, and what was asked of each order's isolated units, shape (orders, looks).
    """
    span, samples = orthonormal_span(targets), inputs.shape[1]
    y, random = span.T @ targets, np.random.default_rng(rng)
    start = _Particles.drawn(len(inputs), len(y), descent, random)
    pairs = [(start.copy(), start.copy()) for _ in range(orders)]
    steps, losses = _look_steps(descent.steps), np.empty((orders, descent.steps))
    watched: list[list[float]] = [[] for _ in pairs]
    looks = set(steps.tolist())
    for step, left in zip(range(descent.steps), first, strict=False):
        residual = span.T @ left
        for order, (alone, network) in enumerate(pairs):
            seen = alone.first @ inputs
            gates = seen > 0
            if step in looks:
                watched[order].append(watch(alone.first, alone.sizes))
            alone.descend(descent, inputs, gates, seen * gates, residual)
            held = (network.first @ inputs) * gates
            residual = y - network.second @ held
            losses[order, step] = 0.5 * np.vdot(residual, residual) / samples
            network.descend(descent, inputs, gates, held, residual)
    return losses, steps, np.array(watched)
