"""A deep ReLU network as a gated network whose gates switch, and its first drop.

**The early phase.** Until the loss moves, the residual is Y. In this frozen residual a ReLU network
of any depth follows a homogeneous flow from its initial weights, and its output a(t) = ⟨ŷ, Y⟩/‖Y‖²
says when the loss will have dropped: L/L(0) = 1 − 2a to leading order. The flow is followed by
training towards cY at the rate η/c, whose residual cY − ŷ is frozen to 1/c.

**Gates that switch.** In the early phase hidden units turn to the leading mode, whose inputs have
one sign: they come to be open on all samples or on none. So from the first drop on the network is a
gated one: a unit is open where the sum of its pre-activations over the samples is positive, and as
long as nothing else is said it is open there on all of them, which is a deep linear network of
fewer units. Modes that grow take units out of these gates. Whenever more than half of a hidden
layer's weight Σ ‖w_in‖‖w_out‖ has left its gates, those of the layer are read again, as ReLU has
them: a unit is open where its pre-activation is positive. Between two readings this is a gated deep
linear network. No trained network is looked at. With a smaller share than half gates are read more
often; read at every step they are those of the ReLU network, from the first drop on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.errors import InputError
from symreln.experiment.metrics import DROP
from symreln.train.record import Recording
from symreln.train.run import TrainingRun
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import replay_gates, train_deep_network

#: Updates between two looks at the units. Every 5 or 80, or gates from .8 or .95 of the loss on
#: instead of .9, move the step at which the loss is below .5 by .2 %, of .25 and .1 by up to 3 %
#: (47 units, 6 networks).
LOOK = 20
#: Share of a layer's weight beyond which most of it has left its gates; assumed, and counted. With
#: a quarter, a tenth, a fiftieth the loss falls below .1 by 23, 29, 37 % later, and by 45 % in ReLU
#: networks (420 units, 4 networks).
MOST = 0.5
#: c: residuals of the early phase are frozen to its inverse. Rounding, 1e-16 of the loss, is then
#: 1e-10 of what the output is measured by.
_FROZEN = 1e6
#: Updates of the early phase between two looks at which networks are done with it.
BLOCK = 500


@record(eq=False)
class FrozenPhase:
    """Networks in the frozen residual Y, up to where their loss would drop.

    Attributes:
        steps: Where that is, shape (seeds,); infinite where it is not reached.
        losses: L/L(0) = 1 − 2a until then and afterwards what it is at that step, shape
            (seeds, steps).
        weights: At that step, layer by layer, each of shape (seeds, units, units before).
    """

    steps: np.ndarray
    losses: np.ndarray
    weights: tuple[np.ndarray, ...]

    @classmethod
    def of(
        cls,
        data: tuple[np.ndarray, np.ndarray],
        widths: Sequence[int],
        settings: TrainingSettings,
        *,
        seeds: int,
        rng: np.random.SeedSequence,
    ) -> FrozenPhase:
        """Follow ReLU networks in the frozen residual until their loss would first drop.

        Args:
            data: X, shape (n_x, P), and Y, shape (n_y, P).
            widths: Units of the hidden layers.
            settings: Hyper-parameters of the network.
            seeds: Networks.
            rng: Random stream of their initial weights: that of trained networks gives theirs.
        """
        inputs, targets = data[0], _FROZEN * data[1]
        drawn = replace(settings, steps=1)  # before the first update
        weights = train_deep_network(*data, widths, drawn, seeds=seeds, rng=rng).matrices
        at_drop = [matrix.copy() for matrix in weights]
        found, left = np.full(seeds, np.inf), np.arange(seeds)
        losses = np.ones((seeds, settings.steps))
        early = replace(settings, learning_rate=settings.learning_rate / _FROZEN)

        def trained(initial: Sequence[np.ndarray], steps: int) -> TrainingRun:
            settings = replace(early, steps=steps)
            return train_deep_network(inputs, targets, widths, settings, initial=initial, workers=1)

        start, size = 0, BLOCK
        while start < settings.steps and len(left):
            count = min(size, settings.steps - start)
            try:
                run = trained(weights, count + 1)
            except (
                InputError
            ):  # soon after its drop a network diverges: what grows is not held back
                if size == 1:
                    raise
                size //= 2
                continue
            share = 1 - _FROZEN * (1 - run.losses[:, :count] / _zero_loss(targets))
            losses[left, start : start + count] = share
            below = share < DROP
            done = below.any(axis=1)
            for row in np.flatnonzero(done):
                step, seed = int(below[row].argmax()), left[row]
                found[seed] = start + step
                losses[seed, start + step :] = share[row, step]
                own = trained([matrix[row : row + 1] for matrix in weights], step + 1)
                for matrix, new in zip(at_drop, own.matrices, strict=True):
                    matrix[seed] = new[0]
            left, weights = left[~done], tuple(matrix[~done] for matrix in run.matrices)
            start, size = start + count, min(BLOCK, 2 * size)
        return cls(steps=found, losses=losses, weights=tuple(at_drop))


@record(eq=False)
class SwitchingRun:
    """Gated networks whose gates are read off their own units.

    Attributes:
        losses: L/L(0), shape (seeds, steps).
        units: How many units of every hidden layer are open from the first drop on, by seed.
        readings: Steps at which gates of a layer were read after that, by seed.
    """

    losses: np.ndarray
    units: tuple[tuple[int, ...], ...]
    readings: tuple[tuple[int, ...], ...]
    #: Numbers that were assumed: the share of the weight after which gates are read again.
    free_constants: ClassVar[int] = 1

    @classmethod
    def of(
        cls,
        data: tuple[np.ndarray, np.ndarray],
        settings: TrainingSettings,
        early: FrozenPhase,
        *,
        leaving: float = MOST,
    ) -> SwitchingRun:
        """Train gated networks from where the early phase ends.

        Args:
            data: X, shape (n_x, P), and Y, shape (n_y, P).
            settings: Hyper-parameters; ``activation`` is not used.
            early: The early phase; networks that do not come to its end stay there.
            leaving: Share of a layer's weight that leaves its gates before they are read again.
        """
        losses = early.losses.copy()
        units, readings = list[tuple[int, ...]](), list[tuple[int, ...]]()
        with phase("training gates that switch") as report:
            for seed, begins in enumerate(early.steps):
                kept, read = (), []
                if np.isfinite(begins):
                    weights = [matrix[seed : seed + 1] for matrix in early.weights]
                    weights, kept = _opened(data[0], weights)
                    one = replace(settings, steps=settings.steps - int(begins))
                    own, read = _one_switching(data, one, weights, leaving)
                    losses[seed, int(begins) :] = own / _zero_loss(data[1])
                units.append(kept)
                readings.append(tuple(int(begins) + step for step in read))
                report(seed + 1, len(early.steps))
        return cls(losses=losses, units=tuple(units), readings=tuple(readings))


def _opened(
    inputs: np.ndarray, weights: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Return a network's units that are open, without the others, and how many of each layer."""
    held, found, before = inputs, [], np.arange(inputs.shape[0])
    for matrix in weights[:-1]:
        received = matrix[0][:, before] @ held
        is_open = np.flatnonzero(received.sum(axis=1) > 0)
        found.append(matrix[:, is_open][:, :, before])
        held, before = np.maximum(received[is_open], 0), is_open
    return [*found, weights[-1][:, :, before]], tuple(each.shape[1] for each in found)


def _one_switching(
    data: tuple[np.ndarray, np.ndarray],
    settings: TrainingSettings,
    weights: Sequence[np.ndarray],
    leaving: float,
) -> tuple[np.ndarray, list[int]]:
    """Return the loss of one network whose units begin all open, and when gates were read."""
    inputs, targets = data
    widths = [matrix.shape[1] for matrix in weights[:-1]]
    held, readings = np.ones((sum(widths), inputs.shape[1])), []
    layers = np.split(held, np.cumsum(widths)[:-1])

    def read(step: int, present: Sequence[np.ndarray]) -> np.ndarray:
        """Write into ``held``, which is what every later step takes its gates from."""
        seen = _seen(inputs, [matrix[0] for matrix in present], layers)
        for gate, (new, weight) in zip(layers, seen, strict=True):
            left = weight[(new != gate).any(axis=1)]
            if left.sum() > leaving * weight.sum():
                gate[:] = new
                readings.append(step)
        return np.zeros(1)

    record = Recording(steps=tuple(range(0, settings.steps, LOOK)), observers={"read": read})
    given = np.broadcast_to(held, (1, settings.steps, *held.shape))
    chunk = replay_gates(inputs, targets, given, settings, weights, record=record)
    return chunk.losses[0], readings


def _zero_loss(targets: np.ndarray) -> float:
    """Return the mean loss of a network without output, to every digit that can be had."""
    return float((targets**2).sum() / (2 * targets.shape[1]))


def _seen(
    inputs: np.ndarray, weights: Sequence[np.ndarray], gates: Sequence[np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return of every hidden layer where its units receive more than 0, and their weights.

    Returns:
        Truth values, shape (H, P), and ‖w_in‖‖w_out‖, shape (H,).
    """
    held, found = inputs, []
    for before, after, gate in zip(weights, weights[1:], gates, strict=False):
        received = before @ held
        norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=0)
        found.append((received > 0, norms))
        held = gate * received
    return found
