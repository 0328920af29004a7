"""Which share of a trained ReLU network's weight has a gate of the spec, at the end of each stage.

The weight is Σ ‖w‖‖b‖ over the hidden units. The last stage ends with the training; one before it,
by the theory, at the first step at which every predicted strength of its modes is within the
tolerance of its plateau. A sample on a unit's boundary is open in one step and closed in another
and adds nothing, so that it tells no gate from another; nor does a sample that is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symreln.integration import gate_floats, network_of
from symreln.prediction import learning_modes

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.prediction import Prediction
    from symreln.train.network import TrainingRun


@dataclass(frozen=True, kw_only=True, eq=False)
class GatesHeld:
    """Shares of the weight.

    Attributes:
        stages: What ends, in words: "stage 1", or "phase 1" where gates switch.
        steps: At which step each was looked at.
        shares: Of every network, shape (seeds, stages).
    """

    stages: tuple[str, ...]
    steps: tuple[int, ...]
    shares: np.ndarray


def stage_ends(
    numbers: Derivation, prediction: Prediction, tolerance: float
) -> tuple[tuple[str, int], ...]:
    """Return (name, last step) of every stage, or of every phase where gates switch.

    Args:
        numbers: Without free parameters.
        prediction: At every step of the network.
        tolerance: Share of a plateau that a strength may lack.
    """
    last = len(prediction.times) - 1
    if numbers.later:
        ends = [step - 1 for step, _ in numbers.phases[1:]] + [last]
        return tuple((f"phase {k}", min(end, last)) for k, end in enumerate(ends, start=1))
    curves = {curve.label: curve for curve in prediction.modes}
    found = []
    for stage in numbers.stages[:-1]:
        there = np.ones(last + 1, dtype=bool)
        for pathway, mode in learning_modes(numbers):
            if pathway.stage == stage.stage and mode.label in curves:
                strength = curves[mode.label].of(prediction.judged)
                plateau = curves[mode.label].plateau or float(strength[-1])
                there &= np.abs(strength - plateau) <= tolerance * abs(plateau)
        found.append((f"stage {stage.stage}", int(np.argmax(there)) if there.any() else last))
    return (*found, (f"stage {numbers.stages[-1].stage}", last))


def gates_held(
    numbers: Derivation, network: TrainingRun | None, ends: tuple[tuple[str, int], ...]
) -> GatesHeld | str:
    """Return the shares, or why gates are not tested.

    Args:
        numbers: Without free parameters.
        network: The trained networks, with their gates where they have any; None for none.
        ends: :func:`stage_ends`; a step that was not recorded is the next one that was.
    """
    asked = network_of(numbers.spec)
    if asked.activation == "linear":
        return "a linear network has no gates"
    if network is None:
        return "no network without given gates was trained"
    if numbers.effective_network != asked:
        return "the ReLU network is linear at half speed: no unit has the pathway's gate"
    if any(pathway.has_gains for pathway in numbers.spec.pathways):
        return "gates have gains, which no ReLU unit has"
    if "activity" not in network.snapshots:
        return "the gates of the units were not recorded"
    recorded = np.array(network.snapshot_steps)
    places = [int(np.argmax(recorded >= end)) if end <= recorded[-1] else -1 for _, end in ends]
    shares = [_share(numbers, network, place, int(recorded[place])) for place in places]
    return GatesHeld(
        stages=tuple(name for name, _ in ends),
        steps=tuple(int(recorded[place]) for place in places),
        shares=np.stack(shares, axis=1),
    )


def _share(numbers: Derivation, network: TrainingRun, place: int, step: int) -> np.ndarray:
    """Return the share of every network at one of the recorded steps, shape (seeds,)."""
    phase = [derivation for first, derivation in numbers.phases if first <= step][-1]
    gates = {tuple(gate_floats(p.effective.pathway) > 0) for p in phase.pathways}
    activity = network.snapshots["activity"][:, place] > 0
    either = network.snapshots["boundary"][:, place]
    weight = network.snapshots["contribution"][:, place]
    ours = np.zeros(weight.shape, dtype=bool)
    for gate in gates:
        ours |= ((activity == np.array(gate)) | either).all(axis=2)
    total = weight.sum(axis=1)
    return (weight * ours).sum(axis=1) / np.where(total > 0, total, 1.0)
