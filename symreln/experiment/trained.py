"""What is trained for a spec: settings, pathways and what is recorded of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

from symreln.claims.integration import network_of
from symreln.laws.law import Regime, pathway_units
from symreln.train.network import GatedEdge, GatedNetwork, GatedNode, GatedPathway
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings

if TYPE_CHECKING:
    from symreln.network.model import Network
    from symreln.network.parts import Gain
    from symreln.spec.model import Spec

ProgressCallback = Callable[[int, int], None]

#: Bytes of recorded pathway maps above which alignment is measured on the last step only.
MAPS_LIMIT = 200_000_000


def training_settings(spec: Spec) -> TrainingSettings:
    """Return the spec's network in floats."""
    network = network_of(spec)
    std, out = float(network.init_std), network.init_std_out
    return TrainingSettings(
        hidden=network.hidden,
        init_std=std if out is None else (std, float(out)),
        learning_rate=float(network.learning_rate),
        loss=network.loss,
        steps=network.steps,
        activation=network.activation,
        weight_decay=float(network.weight_decay),
    )


def gated_settings(spec: Spec, settings: TrainingSettings) -> TrainingSettings:
    """Return how the GDLN is trained where the network has the given settings.

    As the network, but where that is a ReLU network which is linear at half speed: what it is
    like is then the linear network of :mod:`symreln.laws.half_speed`.
    """
    slower = Regime.of(spec).slower
    return replace(
        settings,
        learning_rate=settings.learning_rate / slower,
        weight_decay=settings.weight_decay * slower,
    )


def gated_pathways(
    spec: Spec, kappas: Mapping[str, float] | None = None
) -> tuple[GatedPathway, ...]:
    """Return the GDLN that a spec's theory describes.

    Every pathway has the hidden units that the initial strength counts on, drawn from the same
    law: κ H, or without a κ half of the network's for ReLU and all of them for a linear network.
    A pathway with hidden units of its own draws these so much wider or narrower that the mean of
    its initial strengths is the same: what is derived of them holds for it too.

    Args:
        spec: With a network.
        kappas: κ of pathways by name (:func:`symreln.claims.early.pathway_kappas`).
    """
    network, given = network_of(spec), kappas or {}
    half = pathway_units(network)
    units = [
        float(given.get(pathway.name, half / network.hidden)) * network.hidden
        for pathway in spec.pathways
    ]
    return tuple(
        GatedPathway(
            name=pathway.name,
            gate=tuple(gain_value(gain) for gain in pathway.gate),
            inputs=pathway.inputs,
            outputs=pathway.outputs,
            hidden=pathway.hidden or max(1, round(law)),
            stage=pathway.stage,
            boundary=pathway.boundary,
            spread=1.0 if pathway.hidden is None else sqrt(law / pathway.hidden),
        )
        for pathway, law in zip(spec.pathways, units, strict=True)
    )


def gated_graph(graph: Network) -> GatedNetwork:
    """Return a spec's graph in floats; its gains must have no parameters left."""
    return GatedNetwork(
        nodes=tuple(
            GatedNode(
                name=node.name,
                size=node.size,
                gate=_floats(node.gate),
                inputs=node.inputs,
                outputs=node.outputs,
            )
            for node in graph.nodes
        ),
        edges=tuple(
            GatedEdge(
                name=edge.name, source=edge.source, target=edge.target, gate=_floats(edge.gate)
            )
            for edge in graph.edges
        ),
    )


def _floats(gate: tuple[Gain, ...] | None) -> tuple[float, ...] | None:
    return None if gate is None else tuple(gain_value(gain) for gain in gate)


def gain_value(gain: Gain) -> float:
    """Return a gate's value on a sample; its parameters must have been replaced by values."""
    return float(gain) if isinstance(gain, int) else float(gain.to_fraction())


def gained_pathways(spec: Spec) -> tuple[str, ...]:
    """Return the pathways whose gates multiply samples by other factors than 0 and 1.

    No ReLU network realises them: a unit's output on a sample is its input or nothing.
    """
    return tuple(pathway.name for pathway in spec.pathways if pathway.has_gains)


def sized_pathways(spec: Spec) -> tuple[str, ...]:
    """Return the pathways with hidden units of their own, which no network without gates has."""
    return tuple(pathway.name for pathway in spec.pathways if pathway.hidden is not None)


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


def map_recording(spec: Spec, seeds: int, marks: tuple[int, ...] = ()) -> Recording:
    """Return what is recorded of a GDLN: the maps of its pathways, as often as memory allows.

    Args:
        spec: With a network.
        seeds: How many GDLNs.
        marks: Steps that are looked at beside the usual ones, where there is room.
    """
    size = 8 * seeds * len(spec.pathways) * spec.dataset.n_x * spec.dataset.n_y
    return _recording(spec, Recording(quantities=("maps",)), size, marks)


def network_recording(spec: Spec, seeds: int, marks: tuple[int, ...] = ()) -> Recording | None:
    """Return what is recorded of the networks, or None for nothing.

    Of a ReLU network its gates and what its units contribute, and of one with a single hidden layer
    the maps of the units that each pathway's gate reproduces best; of a linear network that is the
    spec's only pathway its map.

    Args:
        spec: With a network.
        seeds: How many networks.
        marks: Steps that are looked at beside the usual ones, where there is room.
    """
    network, data = network_of(spec), spec.dataset
    matrices = Regime.of_network(network).matrices.holds
    maps = 8 * seeds * len(spec.pathways) * data.n_x * data.n_y
    if network.activation == "linear":
        one = matrices and is_one_map(spec)
        return _recording(spec, Recording(quantities=("maps",)), maps, marks) if one else None
    plain = Recording(quantities=("activity", "boundary", "contribution"))
    gates = telling_gates(spec) if matrices else ()
    size = 2 * seeds * network.hidden * data.samples
    steps = _marked(plain, network.steps, marks)
    if gates and maps * len(plain.snapshot_steps(network.steps)) <= MAPS_LIMIT:
        plain = replace(plain, quantities=(*plain.quantities, "gate_maps"), gates=gates)
        size += maps
    return plain if size * len(steps) > MAPS_LIMIT else replace(plain, steps=steps)


def telling_gates(spec: Spec) -> tuple[tuple[int, ...], ...]:
    """Return the gates by which a ReLU network's units are given to pathways.

    None where two pathways have the same gate, where gates have gains, and where they switch.

    Args:
        spec: Without free parameters.
    """
    if spec.switches or any(pathway.has_gains for pathway in spec.pathways):
        return ()
    gates = tuple(
        tuple(int(gain_value(gain)) for gain in pathway.gate) for pathway in spec.pathways
    )
    return gates if len(set(gates)) == len(gates) else ()


def is_one_map(spec: Spec) -> bool:
    """Whether a linear network is the spec's only pathway: then its map is the pathway's."""
    if len(spec.pathways) != 1 or spec.switches:
        return False
    (only,) = spec.pathways
    whole = (len(only.inputs), len(only.outputs)) == (spec.dataset.n_x, spec.dataset.n_y)
    return whole and all(gain_value(gain) == 1 for gain in only.gate)


def _recording(spec: Spec, wanted: Recording, size: int, marks: tuple[int, ...]) -> Recording:
    """Return a recording at as many steps as memory allows.

    Args:
        spec: With a network.
        wanted: What is recorded.
        size: Bytes of it at one step.
        marks: Steps beside the usual ones.
    """
    total = network_of(spec).steps
    steps = _marked(wanted, total, marks)
    if marks and size * len(steps) <= MAPS_LIMIT:
        return replace(wanted, steps=steps)
    if size * len(wanted.snapshot_steps(total)) <= MAPS_LIMIT:
        return wanted
    return replace(wanted, steps=(total - 1,))


def _marked(wanted: Recording, total: int, marks: tuple[int, ...]) -> tuple[int, ...]:
    """Return the usual steps and the marks among them, in order."""
    return tuple(sorted({*wanted.snapshot_steps(total), *marks}))
