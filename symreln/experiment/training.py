"""The networks and the GDLNs that a spec describes, and what is recorded of them.

Random streams follow from the seed alone, so that what differs between the curves of two specs is
the specs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from symreln.claims.integration import gate_floats, network_of, sparse_floats
from symreln.claims.relaxation import check_step_size, largest_singular_value
from symreln.claims.solve import check_values
from symreln.laws.law import Regime, pathway_units
from symreln.networks.gdln import Network
from symreln.networks.parts import Gain
from symreln.specs.spec import Spec
from symreln.train.network import (
    GatedEdge,
    GatedNetwork,
    GatedNode,
    GatedPathway,
    pathway_network,
)
from symreln.train.record import Recording
from symreln.train.run import TrainingRun
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import (
    train_deep_network,
    train_gated_network,
    train_gdln,
    train_network,
)

RELU, GDLN = "relu", "gdln"
"""Names in validation.json of the network (also a linear one) and of the gated one."""

Phase = tuple[int, tuple[GatedPathway, ...]]
"""First step, and the pathways with the gates from there on."""


def train_pair(
    spec: Spec,
    kappas: Mapping[str, float],
    seeds: int,
    rng: int,
    *,
    record: Recording | None = None,
    marks: tuple[int, ...] = (),
    workers: int | None = None,
) -> tuple[TrainingRun | None, TrainingRun]:
    """Train the networks and the GDLNs of a spec; no network where only a GDLN can be it.

    Args:
        spec: With a network and without free parameters.
        kappas: κ of pathways by name (:func:`symreln.claims.starts.start_factors`).
        seeds: How many of each kind.
        rng: Seed of the random streams.
        record: What is recorded beside the losses; by default what a confrontation looks at.
        marks: Steps that are recorded beside the usual ones, where there is room.
        workers: Processes; by default as many as pay.

    Raises:
        InputError: Training diverged.
    """
    found = {
        kind: train(
            kind,
            spec,
            kappas,
            seeds,
            rng,
            record=recorded(kind, spec, seeds, marks) if record is None else record,
            workers=workers,
        )
        for kind in ((GDLN,) if spec.gated_only else (RELU, GDLN))
    }
    return found.get(RELU), found[GDLN]


def train(
    kind: str,
    spec: Spec,
    kappas: Mapping[str, float],
    seeds: int,
    rng: int,
    **options: Any,
) -> TrainingRun:
    """Train the networks of one kind, from the same random streams whatever else differs.

    Args:
        kind: "relu" or "gdln".
        spec: With a network and without free parameters.
        kappas: κ of pathways by name; a network has none.
        seeds: How many.
        rng: Seed of the random streams.
        **options: As of the trainers.

    Raises:
        InputError: Training diverged.
    """
    network, gated = np.random.SeedSequence(rng).spawn(2)
    if kind == RELU:
        return train_networks(spec, seeds=seeds, rng=network, **options)
    return train_gated(spec, kappas, seeds=seeds, rng=gated, **options)


def train_networks(spec: Spec, **options: Any) -> TrainingRun:
    """Train the network of a spec; options as of :func:`symreln.train.trainers.train_network`."""
    network, settings = network_of(spec), training_settings(spec)
    one = partial(train_network, *spec.dataset.arrays)
    if not Regime.of_network(network).matrices.holds:
        widths = [network.hidden] * (network.layers - 1)
        one = partial(train_deep_network, *spec.dataset.arrays, widths)
    return one(settings, **options)


def train_gated(spec: Spec, kappas: Mapping[str, float], **options: Any) -> TrainingRun:
    """Train the gated network of a spec: its nodes and edges, or its pathways.

    Of two layers each pathway's ``initial`` weights are
    :class:`symreln.train.weights.LayerWeights` by its name, else arrays by the edge's.

    Args:
        spec: With a network and without free parameters.
        kappas: κ of pathways by name; without one a pathway has the units of the closed forms.
        **options: As of :func:`symreln.train.trainers.train_gdln`.
    """
    data, settings = spec.dataset.arrays, training_settings(spec)
    if spec.graph is not None:
        return train_gated_network(*data, gated_network(spec.graph), settings, **options)
    network, slower = network_of(spec), Regime.of(spec).slower
    # A ReLU network that is linear at half speed is like the linear network of
    # :mod:`symreln.laws.half_speed`.
    rate, decay = settings.learning_rate / slower, settings.weight_decay * slower
    settings = replace(settings, learning_rate=rate, weight_decay=decay)
    phases = [(step, gated_pathways(spec.during(step), kappas)) for step in (0, *spec.switches)]
    options |= {"training": network.training}
    if len(phases) > 1:
        return _train_phases(*data, phases, settings, **options)
    pathways = phases[0][1]
    if Regime.of_network(network).matrices.holds:
        return train_gdln(*data, pathways, settings, **options)
    return train_gated_network(
        *data, pathway_network(pathways, network.layers), settings, **options
    )


# -- gates that switch -----------------------------------------------------------------------------


def _train_phases(
    inputs: np.ndarray,
    targets: np.ndarray,
    phases: Sequence[Phase],
    settings: TrainingSettings,
    *,
    record: Recording,
    **options: Any,
) -> TrainingRun:
    """Train as :func:`symreln.train.trainers.train_gdln` does, with other gates from step to step.

    The update at a phase's first step is the first with its gates, and the loss recorded there is
    with them. Only the last step's quantities are kept.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        phases: By ascending first step, from 0; pathways differ in gates alone.
        settings: Of the whole training.
        record: What is kept.
        **options: As of the trainer.
    """
    one: Callable[..., TrainingRun] = partial(train_gdln, inputs, targets, **options)
    edges = [*(step for step, _ in phases), settings.steps]
    losses, initial, run = [], None, None
    for (begin, end), (_, pathways) in zip(pairwise(edges), phases, strict=True):
        last = end == settings.steps
        # The state after the phase's last update is the next phase's start: one more is recorded.
        steps = end - begin + (not last)
        run = one(
            pathways,
            replace(settings, steps=steps),
            initial=initial,
            record=Recording(quantities=record.quantities, steps=(steps - 1,)) if last else None,
        )
        losses.append(run.losses[:, : end - begin])
        initial = {p.name: w for p, w in zip(pathways, run.weights, strict=True)}
    assert run is not None
    return replace(
        run,
        settings=settings,
        losses=np.concatenate(losses, axis=1),
        snapshot_steps=(settings.steps - 1,),
    )


#: Bytes of recorded pathway maps above which alignment is measured on the last step only.
_MAPS_LIMIT = 200_000_000
_UNITS = ("activity", "boundary", "contribution")


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
        batch_size=network.batch_size,
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
        kappas: κ of pathways by name (:func:`symreln.claims.starts.start_factors`).
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
            gate=tuple(gate_floats(pathway).tolist()),
            inputs=pathway.inputs,
            outputs=pathway.outputs,
            hidden=pathway.hidden or max(1, round(law)),
            stage=pathway.stage,
            boundary=pathway.boundary,
            spread=1.0 if pathway.hidden is None else sqrt(law / pathway.hidden),
        )
        for pathway, law in zip(spec.pathways, units, strict=True)
    )


def gated_network(graph: Network) -> GatedNetwork:
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
    """Return a gate's values on the samples; its parameters must have been replaced by values."""
    if gate is None:
        return None
    return tuple(float(x if isinstance(x, int) else x.to_fraction()) for x in gate)


def recorded(kind: str, spec: Spec, seeds: int, marks: tuple[int, ...] = ()) -> Recording | None:
    """Return what is recorded of trained networks, as often as memory allows; None for nothing.

    Of a GDLN the maps of its pathways, and of a linear network that is the spec's only pathway its
    map. Of a ReLU network its gates and what its units contribute, and of one with a single hidden
    layer the maps of the units that each pathway's gate reproduces best.

    Args:
        kind: "relu" or "gdln".
        spec: With a network.
        seeds: How many networks.
        marks: Steps that are looked at beside the usual ones, where there is room.
    """
    network, data = network_of(spec), spec.dataset
    total, one_layer = network.steps, Regime.of_network(network).matrices.holds
    maps = 8 * seeds * len(spec.pathways) * data.n_x * data.n_y
    if kind == GDLN or network.activation == "linear":
        if kind == RELU and not (one_layer and spec.is_one_map):
            return None
        found = _marked(Recording(quantities=("maps",)), maps, total, marks)
        if maps * len(found.snapshot_steps(total)) <= _MAPS_LIMIT:
            return found
        return replace(found, steps=(total - 1,))
    plain, size = Recording(quantities=_UNITS), 2 * seeds * network.hidden * data.samples
    gates = _telling_gates(spec) if one_layer else ()
    if gates and maps * len(plain.snapshot_steps(total)) <= _MAPS_LIMIT:
        plain = replace(plain, quantities=(*_UNITS, "gate_maps"), gates=gates)
        size += maps
    return _marked(plain, size, total, marks)


def _marked(wanted: Recording, size: int, total: int, marks: tuple[int, ...]) -> Recording:
    """Return a recording, of so many bytes a step, with the marks where there is room."""
    steps = tuple(sorted({*wanted.snapshot_steps(total), *marks}))
    return replace(wanted, steps=steps) if marks and size * len(steps) <= _MAPS_LIMIT else wanted


def _telling_gates(spec: Spec) -> tuple[tuple[int, ...], ...]:
    """Return the gates by which a ReLU network's units are given to pathways.

    None where two pathways have the same gate, where gates have gains, and where they switch.

    Args:
        spec: Without free parameters.
    """
    if spec.switches or any(pathway.has_gains for pathway in spec.pathways):
        return ()
    gates = tuple(tuple(int(gain) for gain in gate_floats(pathway)) for pathway in spec.pathways)
    return gates if len(set(gates)) == len(gates) else ()


def check_trainable(spec: Spec) -> None:
    """Refuse what no network can be trained on, before anything is derived.

    Raises:
        InputError: There is no network, a parameter has no value, a number is too large or too
            small for float64, or the learning rate is too large for the whole targets.
    """
    network = network_of(spec)
    check_values(spec)
    exact = spec.at_values()
    inputs = sparse_floats(exact.dataset.inputs, "dataset.X")
    targets = sparse_floats(exact.dataset.targets, "dataset.Y")
    if not Regime.of(spec).plain.holds:
        return
    samples, largest = exact.dataset.samples, 0.0
    for pathway in exact.pathways:
        if not pathway.boundary:  # it sees less than its gate lets through
            features = inputs[list(pathway.inputs)] * gate_floats(pathway)[None, :]
            seen = targets[list(pathway.outputs)] @ features.tocsr().T / samples
            largest = max(largest, largest_singular_value(seen.toarray()))
    check_step_size(network, 2 * largest / float(network.tau(samples)))
