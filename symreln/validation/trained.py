"""What is trained for a spec: settings, pathways and what is recorded of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from symreln.dynamics.initial import pathway_units
from symreln.integration import network_of
from symreln.train.network import GatedPathway, TrainingSettings
from symreln.train.record import Recording

if TYPE_CHECKING:
    from symreln.spec.model import Gain, Spec

ProgressCallback = Callable[[int, int], None]

#: Bytes of recorded pathway maps above which alignment is measured on the last step only.
MAPS_LIMIT = 200_000_000


def training_settings(spec: Spec) -> TrainingSettings:
    """Return the spec's network in floats."""
    network = network_of(spec)
    return TrainingSettings(
        hidden=network.hidden,
        init_std=float(network.init_std),
        learning_rate=float(network.learning_rate),
        loss=network.loss,
        steps=network.steps,
        activation=network.activation,
    )


def gated_pathways(spec: Spec) -> tuple[GatedPathway, ...]:
    """Return the GDLN that a spec's theory describes.

    Every pathway has the hidden units that the initial strength counts on (half of the network's
    for ReLU, all of them for a linear network), drawn from the same law.
    """
    hidden = max(1, round(pathway_units(network_of(spec))))
    return tuple(
        GatedPathway(
            name=pathway.name,
            gate=tuple(gain_value(gain) for gain in pathway.gate),
            inputs=pathway.inputs,
            outputs=pathway.outputs,
            hidden=hidden,
            stage=pathway.stage,
        )
        for pathway in spec.pathways
    )


def gain_value(gain: Gain) -> float:
    """Return a gate's value on a sample; its parameters must have been replaced by values."""
    return float(gain) if isinstance(gain, int) else float(gain.to_fraction())


def gained_pathways(spec: Spec) -> tuple[str, ...]:
    """Return the pathways whose gates multiply samples by other factors than 0 and 1.

    No ReLU network realises them: a unit's output on a sample is its input or nothing.
    """
    return tuple(pathway.name for pathway in spec.pathways if pathway.has_gains)


def shared_progress(
    progress: ProgressCallback | None, parts: int
) -> Callable[[int], ProgressCallback | None]:
    """Count several trainings as one."""

    def part(place: int) -> ProgressCallback | None:
        if progress is None:
            return None
        call = progress
        return lambda done, total: call(place * total + done, parts * total)

    return part


def map_recording(spec: Spec, seeds: int) -> Recording:
    """Return what is recorded of a GDLN: the maps of its pathways, as often as memory allows."""
    size = 8 * seeds * len(spec.pathways) * spec.dataset.n_x * spec.dataset.n_y
    last = (network_of(spec).steps - 1,)
    default = Recording(quantities=("maps",))
    count = len(default.snapshot_steps(network_of(spec).steps))
    return default if size * count <= MAPS_LIMIT else Recording(quantities=("maps",), steps=last)
