r"""The higher orders of the law of gates: units that have left change what the others see.

The first order (:mod:`symreln.laws.gate_law`) is of units that never leave. At the second one,
isolated units follow their own gates in the residual that closed forms of the first stage leave,
or integrated matrices,

.. math:: \tau \dot w = \sum_\mu 1[w \cdot x_\mu > 0] (b \cdot e_\mu)\, x_\mu / P, \qquad
          \tau \dot b = \sum_\mu (w \cdot x_\mu)_+\, e_\mu / P,

e of the order before, so that none feels another; and the network of the gates that they have at
each step, gated and linear, descends the residual that it leaves itself, from the same initial
weights. That residual is what isolated units of the next order see. The orders end in the
mean-field simulation (:mod:`symreln.laws.mean_field`), the one order whose residual is its own.

Steps are gradient descent's. Float64, seeded; units are drawn as that simulation draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.records import record
from symreln.laws.mean_field import Particles, look_steps
from symreln.laws.spans import orthonormal_span

if TYPE_CHECKING:
    from symreln.laws.mean_field import Descent

#: Of units at one step their gates, shape (units, P), and weights ‖w‖‖b‖, shape (units,), what is
#: asked of them.
_Watch = Callable[[np.ndarray, np.ndarray], float]


@record(eq=False)
class GateOrders:
    """What the orders from the second on say.

    Attributes:
        losses: Of the networks with each order's gates, shape (orders, steps).
        steps: At which units were looked at.
        watched: What was asked of the isolated units of each order, shape (orders, looks).
    """

    losses: np.ndarray
    steps: np.ndarray
    watched: np.ndarray


@one_blas_thread()
def gate_orders(
    inputs: np.ndarray,
    targets: np.ndarray,
    descent: Descent,
    first: Iterable[np.ndarray],
    watch: _Watch,
    rng: int,
    orders: int = 1,
) -> GateOrders:
    """Follow the orders from the second on, all at once.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        descent: How networks are trained.
        first: The residual of the first order, shape (n_y, P), at every step from 0 on.
        watch: What is asked of isolated units at some steps.
        rng: Seed of the draw.
        orders: How many orders beyond the first.
    """
    span, samples = orthonormal_span(targets), inputs.shape[1]
    y, random = span.T @ targets, np.random.default_rng(rng)
    start = Particles.drawn(len(inputs), len(y), descent, random)
    pairs = [(start.copy(), start.copy()) for _ in range(orders)]
    steps, losses = look_steps(descent.steps), np.empty((orders, descent.steps))
    watched: list[list[float]] = [[] for _ in pairs]
    looks = set(steps.tolist())
    for step, left in zip(range(descent.steps), first, strict=False):
        residual = span.T @ left
        for order, (alone, network) in enumerate(pairs):
            seen = alone.first @ inputs
            gates = seen > 0
            if step in looks:
                watched[order].append(watch(gates, alone.sizes))
            alone.descend(descent, inputs, gates, seen * gates, residual)
            held = (network.first @ inputs) * gates
            residual = y - network.second @ held
            losses[order, step] = 0.5 * np.vdot(residual, residual) / samples
            network.descend(descent, inputs, gates, held, residual)
    return GateOrders(losses=losses, steps=steps, watched=np.array(watched))
