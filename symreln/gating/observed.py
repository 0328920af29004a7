"""Trained ReLU networks as they are looked at: the gate of each unit, and its weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from symreln.base.records import record
from symreln.claims.integration import network_of
from symreln.effective.network import WHOLE, descent_of, effective_network, takes_minutes
from symreln.errors import InputError
from symreln.experiment.training import training_settings
from symreln.specs.spec import Spec
from symreln.train.record import Observer, Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights

#: Part of a unit's largest (w·x)² below which a sample counts as on its boundary.
_NEAR = 1e-4


@record(eq=False)
class ObservedNetworks:
    """Networks of one spec, trained from known initial weights.

    Attributes:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        settings: How they were trained.
        initial: Their initial weights.
        steps: Updates after which they were looked at, T of them, ascending.
        seen: What was recorded at each look, by name, each of shape (seeds, T, …).
        losses: Mean loss at every step, shape (seeds, steps).
        last: Weights at the end.
    """

    inputs: np.ndarray
    targets: np.ndarray
    settings: TrainingSettings
    initial: LayerWeights
    steps: tuple[int, ...]
    seen: Mapping[str, np.ndarray]
    losses: np.ndarray
    last: LayerWeights

    @property
    def active(self) -> np.ndarray:
        """1[w_h · x_μ > 0], truth values, shape (seeds, T, H, P)."""
        return self.seen["activity"]

    @property
    def weights(self) -> np.ndarray:
        """What each unit contributes, ‖w1_h‖ ‖w2_h‖, shape (seeds, T, H)."""
        return self.seen["contribution"]

    @property
    def seeds(self) -> int:
        """Number of networks."""
        return len(self.losses)

    def networks(self, start: int, stop: int) -> ObservedNetworks:
        """Return the networks start … stop − 1."""
        part = slice(start, stop)
        return replace(
            self,
            initial=self.initial.seed(start, stop),
            seen={name: values[part] for name, values in self.seen.items()},
            losses=self.losses[part],
            last=self.last.seed(start, stop),
        )


def predicted_shares(
    spec: Spec, observer: Observer, count: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return shares of the weight at the end, of the units that the effective network is made of.

    Args:
        spec: Without free parameters, with a ReLU network of one hidden layer.
        observer: Which of ``count`` classes a unit is in; see :func:`nearest_observer`.
        count: How many classes there are.

    Returns:
        Means over draws and their standard errors, each of shape (count,); None where that takes
        minutes, units decay, or none grows.
    """
    inputs, targets = spec.dataset.arrays
    if takes_minutes(spec) or network_of(spec).weight_decay or not targets.any():
        return None
    found = effective_network(inputs, targets, descent_of(spec), way=WHOLE)
    if found is None:
        return None
    last = found.looks[-1]
    which = observer(0, (last.units[:, :, : len(inputs)].astype(float),))
    draws = class_shares(which, last.sizes(inputs).reshape(which.shape), count)
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / len(draws) ** 0.5


def class_shares(which: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Return the share of units' weight by class, shape (…, count); all 0 where none has weight.

    Args:
        which: Class of each unit, as of :func:`nearest_observer`, shape (…, units).
        weights: Shape (…, units).
        count: How many classes there are.
    """
    parts = np.stack([(weights * (which == k)).sum(axis=-1) for k in range(count)], axis=-1)
    total = parts.sum(axis=-1, keepdims=True)
    return parts / np.where(total > 0, total, 1.0)


def observe(
    spec: Spec,
    *,
    seeds: int,
    steps: Sequence[int] | np.ndarray,
    rng: int = 0,
    observers: Mapping[str, Observer] | None = None,
) -> ObservedNetworks:
    """Train a spec's ReLU network from several seeds and look at its units.

    Args:
        spec: Without free parameters, with a ReLU network of one hidden layer.
        seeds: Networks.
        steps: Updates after which they are looked at.
        rng: Seed; network i is the one that every training of this spec from it starts with.
        observers: What is recorded beside each unit's weight; left out, its gates.

    Raises:
        InputError: The network has no gates of one hidden layer, or the training diverges.
        LimitReachedError: A worker process was killed.
    """
    settings = _settings(spec)
    inputs, targets = spec.dataset.arrays
    # Before the first update.
    (initial,) = train_network(
        inputs, targets, replace(settings, steps=1), seeds=seeds, rng=rng
    ).weights
    run = train_network(
        inputs,
        targets,
        settings,
        initial=initial,
        record=Recording(
            quantities=("contribution",) if observers else ("activity", "contribution"),
            observers=observers or {},
            steps=tuple(int(step) for step in steps),
        ),
    )
    return ObservedNetworks(
        inputs=inputs,
        targets=targets,
        settings=settings,
        initial=initial,
        steps=run.snapshot_steps,
        seen=run.snapshots,
        losses=run.losses,
        last=run.weights[0],
    )


def _settings(spec: Spec) -> TrainingSettings:
    """Return how a spec's network is trained.

    Raises:
        InputError: It is not a ReLU network of one hidden layer that is trained by full batches.
    """
    network = network_of(spec)
    if network.activation != "relu":
        msg = (
            f"gates: network.activation is {network.activation!r}, and a linear network has no "
            "gates to find. Give a spec with pathways and --set network.activation=relu"
        )
        raise InputError(msg)
    if network.batch_size is not None:
        msg = (
            f"gates: found network.batch_size = {network.batch_size}; networks are looked at and "
            "replayed by full batches. Leave it out"
        )
        raise InputError(msg)
    return training_settings(spec)


def sample_steps(total: int, every: int) -> tuple[int, ...]:
    """Return the updates after which Algorithm 1 samples: the first, and every so many later.

    Raises:
        InputError: There is no update, or fewer than one is skipped.
    """
    if every < 1 or total < 2:
        msg = (
            f"gates: sampling every {every} of {total - 1} updates. Give at least 1, and a "
            "network with network.steps of at least 2"
        )
        raise InputError(msg)
    return tuple(range(1, total, every))


def nearest_observer(inputs: np.ndarray, classes: Sequence[Sequence[Sequence[int]]]) -> Observer:
    """Return an observer of the class of gates that each unit is nearest to, by number.

    Samples count by (w·x)²: near an edge of its gate a unit's sign means nothing. Where a class has
    samples on its boundary, they tell it from others: a unit with (w·x)² below ``_NEAR`` of its
    largest counts as being there.

    Args:
        inputs: X, shape (n_x, P).
        classes: Gates of each class: 1 open, -1 closed, 0 on the boundary, one a sample.

    Returns:
        Observer with values of shape (seeds, H).
    """
    signs = np.array([gate for alike in classes for gate in alike])
    owner = np.array([k for k, alike in enumerate(classes) for _ in alike])
    on, closed, opened = ((signs == each).astype(float).T for each in (0, -1, 1))

    def observed(step: int, weights: tuple) -> np.ndarray:
        seen = np.matmul(weights[0], inputs)
        squares = seen**2
        passed = squares * (seen > 0)
        missed = passed @ closed + (squares - passed) @ opened
        if on.any():
            edge = _NEAR * squares.max(axis=-1, keepdims=True)
            there = squares < edge
            missed = missed + np.where(there, 0.0, squares) @ on + (there * edge) @ (1 - on)
        return owner[missed.argmin(axis=-1)]

    return observed
