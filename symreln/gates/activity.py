"""Gates of trained ReLU networks: which hidden unit is open on which sample, through training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.gates.remarks import exact_columns, unseparable
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights

if TYPE_CHECKING:
    from symreln.spec.model import Dataset, Spec
    from symreln.train.run import Progress


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedGates:
    """Networks of one spec, trained from known initial weights, and the gates of their units.

    Attributes:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        settings: How they were trained.
        initial: Their initial weights.
        steps: Updates after which gates were sampled, T of them, ascending.
        active: 1[w_h · x_μ > 0], truth values, shape (seeds, T, H, P).
        weights: What each unit contributes, ‖w1_h‖ ‖w2_h‖, shape (seeds, T, H).
        losses: Mean loss at every step, shape (seeds, steps).
        last: Weights at the end.
    """

    inputs: np.ndarray
    targets: np.ndarray
    settings: TrainingSettings
    initial: LayerWeights
    steps: tuple[int, ...]
    active: np.ndarray
    weights: np.ndarray
    losses: np.ndarray
    last: LayerWeights

    @property
    def seeds(self) -> int:
        """Number of networks."""
        return len(self.losses)

    def networks(self, start: int, stop: int) -> TrainedGates:
        """Return the networks start … stop − 1."""
        part = slice(start, stop)
        return TrainedGates(
            inputs=self.inputs,
            targets=self.targets,
            settings=self.settings,
            initial=self.initial.seed(start, stop),
            steps=self.steps,
            active=self.active[part],
            weights=self.weights[part],
            losses=self.losses[part],
            last=self.last.seed(start, stop),
        )


def train_and_sample(
    spec: Spec,
    *,
    seeds: int,
    steps: tuple[int, ...],
    rng: int = 0,
    progress: Progress | None = None,
) -> TrainedGates:
    """Train a spec's ReLU network from several seeds and sample its units' gates.

    Args:
        spec: Without free parameters, with a ReLU network of one hidden layer.
        seeds: Networks.
        steps: Updates after which gates are sampled.
        rng: Seed; network i is the one that every training of this spec from it starts with.
        progress: Called with seed-steps done and in all.

    Raises:
        InputError: The network has no gates of one hidden layer, no gate can tell the samples
            apart, or the training diverges.
        LimitReachedError: What is sampled would not fit into memory.
    """
    settings = relu_settings(spec)
    check_samples(spec.dataset)
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    # Before the first update.
    (initial,) = train_network(
        inputs, targets, replace(settings, steps=1), seeds=seeds, rng=rng
    ).weights
    run = train_network(
        inputs,
        targets,
        settings,
        initial=initial,
        record=Recording(quantities=("activity", "contribution"), steps=steps),
        progress=progress,
    )
    return TrainedGates(
        inputs=inputs,
        targets=targets,
        settings=settings,
        initial=initial,
        steps=run.snapshot_steps,
        active=run.snapshots["activity"],
        weights=run.snapshots["contribution"],
        losses=run.losses,
        last=run.weights[0],
    )


def relu_settings(spec: Spec) -> TrainingSettings:
    """Return how a spec's network is trained.

    Raises:
        InputError: It is not a ReLU network of one hidden layer.
    """
    from symreln.claims.integration import network_of
    from symreln.experiment.trained import training_settings

    network = network_of(spec)
    if network.activation != "relu":
        msg = (
            f"gates: network.activation is {network.activation!r}, and a linear network has no "
            "gates to find. Give --set network.activation=relu"
        )
        raise InputError(msg)
    if network.layers != 2 or spec.graph is not None:
        found = f"network.layers is {network.layers}" if spec.graph is None else "a graph"
        msg = (
            f"gates: found {found}; gates are sampled in a network of one hidden layer. Give a "
            "spec with pathways and --set network.layers=2"
        )
        raise InputError(msg)
    return training_settings(spec)


def check_samples(dataset: Dataset) -> None:
    """Refuse data on which gates have nothing to tell apart, or cannot tell what must be.

    Raises:
        InputError: All samples have the same inputs, or two with the same inputs have different
            targets: every gate is open on both or on none, so no network fits both.
    """
    if len(set(exact_columns(dataset.inputs))) == 1:
        msg = (
            f"dataset: all {dataset.samples} samples have the same inputs, so a gate is open on "
            "all of them or on none and there is nothing to find. Give samples that differ"
        )
        raise InputError(msg)
    pair = unseparable(dataset)
    if pair is not None:
        msg = (
            f"dataset: samples {pair[0]} and {pair[1]} (counted from 0) have the same inputs and "
            "different targets: no gate separates them and no network fits both. Remove one "
            "of them, give both the mean of their targets, or add an input that tells them "
            "apart"
        )
        raise InputError(msg)


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
