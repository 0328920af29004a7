"""Replay: the gated linear network of given gates, from a ReLU network's own initial weights.

Every hidden unit keeps its initial weights and takes a gate that is given, constant or constant
piece by piece in time. With the gates that the ReLU network itself had at every step the replay is
that network (the existence statement of [Jarvis2025]); how far other gates are from it says how
well they imitate it: the quality of a rectified linear network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.experiment.metrics import compare
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import replay_gates
from symreln.train.weights import LayerWeights


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class GateSchedule:
    """Gates of every hidden unit, constant from one switch to the next.

    Attributes:
        starts: First update that is made with the gates of each window, ascending from 0.
        gates: Truth values, shape (windows, seeds, H, P).
    """

    starts: tuple[int, ...]
    gates: np.ndarray

    def __post_init__(self) -> None:
        ascending = all(a < b for a, b in pairwise(self.starts))
        if not self.starts or self.starts[0] != 0 or not ascending:
            msg = f"replay: windows start at {self.starts}. Give ascending steps from 0."
            raise InputError(msg)
        if self.gates.ndim != 4 or len(self.gates) != len(self.starts):
            msg = (
                f"replay: gates have shape {self.gates.shape} for {len(self.starts)} windows. "
                "Give (windows, seeds, H, P)."
            )
            raise InputError(msg)


def replay_schedule(
    inputs: np.ndarray,
    targets: np.ndarray,
    settings: TrainingSettings,
    initial: LayerWeights,
    schedule: GateSchedule,
) -> np.ndarray:
    """Return the losses of the gated linear network, shape (seeds, steps).

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        settings: Those of the ReLU network.
        initial: Its initial weights.
        schedule: Gates of its hidden units.

    Raises:
        InputError: Shapes do not fit, a window starts after the training, or it diverges.
    """
    if schedule.starts[-1] >= settings.steps:
        msg = (
            f"replay: a window starts at step {schedule.starts[-1]}, the training has "
            f"{settings.steps} recorded steps. Give starts below that."
        )
        raise InputError(msg)
    weights, losses = [initial.w1, initial.w2], []
    ends = (*schedule.starts[1:], settings.steps)
    for start, end, gates in zip(schedule.starts, ends, schedule.gates, strict=True):
        last = end == settings.steps
        # One recorded step more makes the window's last update; its loss has the next gates.
        steps = end - start + (not last)
        constant = np.broadcast_to(
            gates[:, None].astype(float), (len(gates), steps, *gates.shape[1:])
        )
        chunk = replay_gates(inputs, targets, constant, replace(settings, steps=steps), weights)
        losses.append(chunk.losses[:, : end - start])
        weights = list(chunk.matrices)
    return np.concatenate(losses, axis=1)


def replay_errors(losses: np.ndarray, network: np.ndarray) -> np.ndarray:
    """Return max |ΔL|/L(0) of each seed's replay against its network, shape (seeds,)."""
    pairs: Sequence[tuple[np.ndarray, np.ndarray]] = list(zip(losses, network, strict=True))
    return np.array([compare(one, other).max_abs_over_initial for one, other in pairs])
