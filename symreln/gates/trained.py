"""What trained networks show: which gates carry their weight, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.dynamics.gate_classes import GateClass, gate_names
from symreln.dynamics.mean_field import look_steps
from symreln.errors import InputError
from symreln.experiment.trained import training_settings
from symreln.train.record import Recording, contribution
from symreln.train.trainers import train_network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.spec.model import Spec
    from symreln.train.record import Observer
    from symreln.train.run import TrainingRun


#: Part of a unit's largest (w·x)² below which a sample counts as on its boundary.
NEAR = 1e-4
#: Loss over the initial one at which outputs are half of their targets.
QUARTER = 0.25


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedGates:
    """Gates and weights of trained ReLU networks.

    Attributes:
        steps: Steps at which they were looked at, shape (looks,).
        weights: ‖w1‖‖w2‖ of every unit, shape (seeds, looks, H).
        seen: Recorded quantities by name, each of shape (seeds, looks, …).
        curve: Mean loss over seeds at every step, over the initial one, shape (all steps,).
        left: The same at the last step, of every seed, shape (seeds,).
    """

    steps: np.ndarray
    weights: np.ndarray
    seen: dict[str, np.ndarray]
    curve: np.ndarray
    left: np.ndarray

    @property
    def loss(self) -> np.ndarray:
        """The curve at the steps of the looks, shape (looks,)."""
        return self.curve[self.steps]

    @property
    def quarter(self) -> int | None:
        """First step at which the mean loss is a quarter of the initial one, or None."""
        below = self.curve <= QUARTER
        return int(below.argmax()) if below.any() else None


def nearest_observer(inputs: np.ndarray, classes: Sequence[Sequence[Sequence[int]]]) -> Observer:
    """Return an observer of the class of gates that each unit is nearest to, and how near.

    Samples count by (w·x)²: near an edge of its gate a unit's sign means nothing. Where a class has
    samples on its boundary, they tell it from others: a unit with (w·x)² below ``NEAR`` of its
    largest counts as being there.

    Args:
        inputs: X, shape (n_x, P).
        classes: Gates of each class: 1 open, -1 closed, 0 on the boundary, one a sample.

    Returns:
        Observer with values of shape (seeds, H, 2): number of the class, and the share of the
        unit's (w·x)² on samples where its gate is not that class's nearest one.
    """
    signs = np.array([gate for alike in classes for gate in alike])
    opens, shut, on = ((signs == sign).astype(float).T for sign in (1, -1, 0))
    owner = np.array([k for k, alike in enumerate(classes) for _ in alike])

    def observe(step: int, weights: tuple) -> np.ndarray:
        seen = np.matmul(weights[0], inputs)
        squares = seen**2
        opened = squares * (seen > 0)
        # |1[w·x > 0] − g| by sample: what is open but should not be, and the other way.
        missed = opened @ shut + (squares - opened) @ opens
        if on.any():
            edge = NEAR * squares.max(axis=-1, keepdims=True)
            there = squares < edge
            missed = missed + np.where(there, 0.0, squares) @ on + (there * edge) @ (opens + shut)
        place = missed.argmin(axis=-1)
        least = np.take_along_axis(missed, place[..., None], axis=-1)[..., 0]
        total = squares.sum(axis=-1)
        share = np.divide(least, total, out=np.zeros_like(least), where=total > 0)
        return np.stack([owner[place], share], axis=-1)

    return observe


def require_gates(spec: Spec) -> None:
    """Refuse a network whose units have no gates.

    Raises:
        InputError: The network is linear, or there is none.
    """
    network = network_of(spec)
    if network.activation != "relu":
        msg = f"gates: network.activation is {network.activation}, and only a ReLU unit has a gate"
        raise InputError(msg)


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

    Raises:
        InputError: The network is linear, or there is none.
    """
    require_gates(spec)
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
        curve=mean / mean[0],
        left=run.losses[:, -1] / run.losses[:, 0],
    )


def classes_by_name(classes: Sequence[GateClass], relations: np.ndarray) -> dict[int, GateClass]:
    """Return classes of gates by a number that no symmetry of the samples changes.

    Args:
        classes: As they are listed.
        relations: Of every two samples, see
            :func:`symreln.dynamics.gate_classes.sample_relations`.
    """
    if not classes:
        return {}
    names = gate_names(np.array([each.gate for each in classes], dtype=bool), relations)
    return dict(zip(names.tolist(), classes, strict=True))
