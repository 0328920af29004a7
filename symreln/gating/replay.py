"""Replay: the gated linear network of given gates, from a ReLU network's own initial weights.

Every hidden unit keeps its initial weights and takes gates that are given, each from some step on.
With the gates that the ReLU network itself had at every step the replay is that network (the
existence statement of [Jarvis2025]); how far other gates are from it says how well they imitate it:
the quality of a rectified linear network.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symreln.base.records import record
from symreln.experiment.metrics import SeedFloor, compare
from symreln.gating.observed import ObservedNetworks
from symreln.gating.serialise import Result
from symreln.networks.nearest_gates import nearest_gates
from symreln.train.record import Recording
from symreln.train.trainers import replay_gates

METRIC = "max |dL|/L(0) against the same network"


@record
class ReplayErrors(Result):
    """How far replays are from their networks.

    Attributes:
        each: max |ΔL|/L(0) of each network that was replayed.
    """

    JSON = ("mean", "*")
    each: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over networks."""
        return float(np.mean(self.each))


def seed_distance(losses: np.ndarray) -> float:
    """Return max |ΔL|/L(0) of networks to the mean of the others, in the mean.

    Args:
        losses: Of at least two networks, shape (seeds, steps).
    """
    floor = SeedFloor.of(losses)
    assert floor is not None
    return floor.mean.max_abs_over_initial


def replay_errors(trained: ObservedNetworks, gates: Mapping[int, np.ndarray]) -> ReplayErrors:
    """Train networks anew with given gates, and compare them with what they were.

    Args:
        trained: ReLU networks, whose data, settings and initial weights are taken.
        gates: Of the hidden units, shape (seeds, H, P), by the first step that has them, from 0 on.

    Raises:
        InputError: A replay diverges.
    """
    settings, initial = trained.settings, trained.initial
    held = np.zeros(next(iter(gates.values())).shape)

    def turn(step: int, weights: object) -> np.ndarray:
        held[:] = gates[step]  # what every later step takes its gates from
        return np.zeros(len(held))

    chunk = replay_gates(
        trained.inputs,
        trained.targets,
        np.broadcast_to(held[:, None], (len(held), settings.steps, *held.shape[1:])),
        settings,
        [initial.w1, initial.w2],
        record=Recording(steps=tuple(gates), observers={"turn": turn}),
    )
    pairs = zip(chunk.losses, trained.losses, strict=True)
    return ReplayErrors(each=tuple(compare(a, b).max_abs_over_initial for a, b in pairs))


def taken_gates(seen: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Return for each unit the gate that it is nearest to, of some and of one closed everywhere.

    Of equally near ones it is the one that is open on the fewest samples: on those that units end
    orthogonal to, gates are equally near.

    Args:
        seen: w·x, shape (…, P).
        gates: 0 or 1, shape (G, P).

    Returns:
        Of the shape of ``seen``.
    """
    known = np.vstack([np.zeros(seen.shape[-1]), gates])
    known = known[np.argsort(known.sum(axis=1), kind="stable")]
    return known[nearest_gates(seen, known)]
