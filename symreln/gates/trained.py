"""What trained networks show: which gates carry their weight, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.dynamics.moving_gates import look_steps
from symreln.train.record import Recording, contribution
from symreln.train.relu import train_network
from symreln.validation.trained import training_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.spec.model import Spec
    from symreln.train.network import TrainingRun
    from symreln.train.record import Observer


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedGates:
    """Gates and weights of trained ReLU networks.

    Attributes:
        steps: Steps at which they were looked at, shape (looks,).
        weights: ‖w1‖‖w2‖ of every unit, shape (seeds, looks, H).
        seen: Recorded quantities by name, each of shape (seeds, looks, …).
        loss: Mean loss over seeds at these steps, over the initial one, shape (looks,).
        left: The same at the last step, of every seed, shape (seeds,).
    """

    steps: np.ndarray
    weights: np.ndarray
    seen: dict[str, np.ndarray]
    loss: np.ndarray
    left: np.ndarray


def train_and_look(
    spec: Spec,
    seeds: int,
    rng: int,
    *,
    observers: Mapping[str, Observer] | None = None,
    activity: bool = False,
    steps: np.ndarray | None = None,
) -> TrainedGates:
    """Train a spec's ReLU network and record what its units do.

    Args:
        spec: Without free parameters, with a network.
        seeds: How many networks.
        rng: Seed of their weights.
        observers: Quantities to record.
        activity: Whether to record 1[W1 x > 0] as ``seen["activity"]``.
        steps: Where to look; evenly and by equal ratios if left out.
    """
    settings = training_settings(spec)
    looks = look_steps(settings.steps) if steps is None else steps
    run: TrainingRun = train_network(
        spec.dataset.inputs.to_numpy(),
        spec.dataset.targets.to_numpy(),
        settings,
        seeds=seeds,
        rng=rng,
        record=Recording(
            quantities=("activity",) if activity else (),
            observers={"weights": contribution, **(observers or {})},
            steps=tuple(int(step) for step in looks),
        ),
    )
    places = np.array(run.snapshot_steps)
    seen = {name: values for name, values in run.snapshots.items() if name != "weights"}
    mean = run.mean_loss
    return TrainedGates(
        steps=places,
        weights=run.snapshots["weights"],
        seen=seen,
        loss=mean[places] / mean[0],
        left=run.losses[:, -1] / run.losses[:, 0],
    )
