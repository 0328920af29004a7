"""Which share of a trained ReLU network's weight has a gate of the spec, at the end of each stage.

The weight is Σ ‖w‖‖b‖ over the hidden units. A stage ends, by the theory, when every predicted
strength of its modes is within the tolerance of its plateau, or the predicted loss of the stage's
least where a strength has no known plateau. A stage before the last is looked at at the first such
step, the last one at the end of the training; one that has not ended by then is not looked at.

A sample on a unit's boundary is open in one step and closed in another and adds nothing, so that
it tells no gate from another; nor does a sample that is zero, nor one on the boundary of the
pathway itself, on which its units have a pre-activation of 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.records import record
from symreln.base.rounding import percent
from symreln.claims.integration import gate_floats
from symreln.networks.nearest_gates import share_with

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
    from symreln.train.run import TrainingRun


@record(eq=False)
class GatesHeld:
    """Shares of the weight.

    Attributes:
        stages: What ends, in words: "stage 1", or "phase 1" where gates switch.
        steps: At which step each was looked at.
        shares: Of every network, shape (seeds, stages).
        unended: Which stages have not ended in the training and why, or "".
    """

    stages: tuple[str, ...]
    steps: tuple[int, ...]
    shares: np.ndarray
    unended: str = ""


def stage_ends(
    numbers: Derivation, prediction: Prediction, tolerance: float
) -> tuple[tuple[str, int], ...]:
    """Return (name, last step) of every stage that ends, or of every phase where gates switch.

    Args:
        numbers: Without free parameters.
        prediction: At every step of the network.
        tolerance: Share of a plateau that a strength may lack.
    """
    last = len(prediction.times) - 1
    if numbers.later:
        ends = [step - 1 for step, _ in numbers.phases[1:]] + [last]
        return tuple((f"phase {k}", min(end, last)) for k, end in enumerate(ends, start=1))
    found = []
    for stage in numbers.stages:
        there = _learned(stage, prediction, tolerance)
        if stage is numbers.stages[-1]:
            there[:last] = False
        if there.any():
            found.append((f"stage {stage.stage}", int(np.argmax(there))))
    return tuple(found)


def _learned(stage: StageDerivation, prediction: Prediction, tolerance: float) -> np.ndarray:
    """Return whether a stage's modes are at their plateaus, at every step."""
    there = np.ones(len(prediction.times), dtype=bool)
    labels = {mode.label for pathway in stage.pathways for mode in pathway.modes}
    for curve in prediction.modes:
        strength = curve.of(prediction.judged)
        # With a plateau of 0, by weight decay, and where a narrow pathway has no unit for it, a
        # mode is not learned at all.
        if curve.label in labels and curve.plateau and strength.any():
            there &= np.abs(strength - curve.plateau) <= tolerance * curve.plateau
    if _has_plateaus(stage):
        return there
    first, least = (float(loss.to_fraction()) for loss in (stage.initial_loss, stage.final_loss))
    return there & (prediction.loss <= least + tolerance * (first - least))


def _has_plateaus(stage: StageDerivation) -> bool:
    modes = (mode for pathway in stage.pathways for mode in pathway.modes if not mode.is_null)
    return all(mode.d_eff is not None for mode in modes)


def _unended(numbers: Derivation, ends: tuple[tuple[str, int], ...], last: int) -> str:
    """Say which stages do not end in the training, and why; "" where all do."""
    ended, parts = {name for name, _ in ends}, []
    for stage in () if numbers.later else numbers.stages:
        if f"stage {stage.stage}" not in ended:
            share = percent(float(numbers.spec.validation.tolerance))
            what = "some modes are" if _has_plateaus(stage) else "the loss is"
            end = "their plateaus" if _has_plateaus(stage) else "its minimum"
            parts.append(
                f"stage {stage.stage}, which lasts beyond step {last} (predicted: {what} more than "
                f"{share} from {end} there)"
            )
    return "; ".join(parts)


def gates_held(
    numbers: Derivation, network: TrainingRun | None, ends: tuple[tuple[str, int], ...]
) -> GatesHeld | str:
    """Return the shares, or why gates are not tested.

    Args:
        numbers: Without free parameters.
        network: The trained networks, with their gates where they have any; None for none.
        ends: :func:`stage_ends`; a step that was not recorded is the next one that was.
    """
    if not numbers.known.gates.holds:
        return numbers.known.gates.why
    if network is None:
        return "no network without given gates was trained"
    if "activity" not in network.snapshots:
        return "the gates of the units were not recorded"
    recorded = np.array(network.snapshot_steps)
    unended = _unended(numbers, ends, network.losses.shape[1] - 1)
    if not ends:
        return unended
    places = [int(np.argmax(recorded >= end)) if end <= recorded[-1] else -1 for _, end in ends]
    shares = [_share(_phase(numbers, recorded[k]).pathways, network, k) for k in places]
    return GatesHeld(
        stages=tuple(name for name, _ in ends),
        steps=tuple(int(recorded[place]) for place in places),
        shares=np.stack(shares, axis=1),
        unended=unended,
    )


def pathway_shares(numbers: Derivation, network: TrainingRun | None) -> dict[str, np.ndarray]:
    """Return by pathways' names which share of the weight has their gates, shape (seeds, K) each.

    A unit with samples on its boundary may have the gates of several. None where the units' gates
    were not recorded, or are not the pathways'.

    Args:
        numbers: Without free parameters.
        network: The trained networks; None for none.
    """
    found: dict[str, np.ndarray] = {}
    if network is None or "activity" not in network.snapshots or not numbers.known.gates.holds:
        return found
    for place, step in enumerate(network.snapshot_steps):
        for pathway in _phase(numbers, step).pathways:
            none = np.zeros((network.seeds, len(network.snapshot_steps)))
            found.setdefault(pathway.name, none)[:, place] = _share((pathway,), network, place)
    return found


def _phase(numbers: Derivation, step: int) -> Derivation:
    return [derivation for first, derivation in numbers.phases if first <= step][-1]


def _share(pathways: Iterable[PathwayDerivation], network: TrainingRun, place: int) -> np.ndarray:
    """Return the share of every network at one of the recorded steps, shape (seeds,)."""
    active, either, weight = (
        network.snapshots[name][:, place] for name in ("activity", "boundary", "contribution")
    )
    given = [pathway.effective.pathway for pathway in pathways]
    samples = np.arange(active.shape[-1])
    gates = ((gate_floats(each) > 0, either | np.isin(samples, each.boundary)) for each in given)
    return share_with(active > 0, weight, gates)
