"""One training, and its variations: the networks and the GDLNs of a spec.

Every experiment is a variation of the training that a spec describes: the data, the gates and the
random streams stay, and what differs is said by a :class:`Variation`. So what differs between two
curves is the variation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.claims.integration import network_of
from symreln.experiment.trained import (
    ProgressCallback,
    gained_pathways,
    gated_graph,
    gated_pathways,
    gated_settings,
    map_recording,
    network_recording,
    shared_progress,
    sized_pathways,
    training_settings,
)
from symreln.laws.law import Regime
from symreln.train.network import GatedPathway, pathway_network
from symreln.train.record import Recording
from symreln.train.trainers import train_deep_network, train_gdln, train_graph, train_network

if TYPE_CHECKING:
    from symreln.spec.model import Spec
    from symreln.train.run import TrainingRun
    from symreln.train.settings import TrainingSettings

RELU, GDLN = "relu", "gdln"
"""The interface's names of the network (also a linear one) and of the gated one."""

Phase = tuple[int, tuple[GatedPathway, ...]]
"""First step, and the pathways with the gates from there on."""


@dataclass(frozen=True, kw_only=True)
class Variation:
    """How a training differs from that of its spec; data, gates and draws are the same.

    Attributes:
        std: Factor of the initial standard deviation (of both where there are two).
        rate: Factor of the learning rate; steps are divided by it, so that the time stays.
        width: Factor of all hidden units.
        weight_decay: In place of the spec's.
        batch_size: Samples a step, drawn without replacement in every epoch; None for all.
        biases: Whether all layers have biases, which start at 0.
    """

    std: Fraction = Fraction(1)
    rate: Fraction = Fraction(1)
    width: int = 1
    weight_decay: Fraction | None = None
    batch_size: int | None = None
    biases: bool = False

    def of(self, spec: Spec, steps: int | None = None) -> Spec:
        """Return the spec of the varied training.

        Args:
            spec: With a network.
            steps: Recorded steps; by default those that cover the same time.
        """
        network = network_of(spec)
        out, decay = network.init_std_out, self.weight_decay
        altered = replace(
            network,
            hidden=network.hidden * self.width,
            init_std=network.init_std * self.std,
            init_std_out=None if out is None else out * self.std,
            learning_rate=network.learning_rate * self.rate,
            steps=ceil((network.steps - 1) / self.rate) + 1 if steps is None else steps,
            weight_decay=network.weight_decay if decay is None else decay,
        )
        pathways = tuple(
            replace(p, hidden=None if p.hidden is None else p.hidden * self.width)
            for p in spec.pathways
        )
        graph = spec.graph
        if graph is not None:
            nodes = [
                replace(n, size=n.size * (self.width if n.is_hidden else 1)) for n in graph.nodes
            ]
            graph = replace(graph, nodes=tuple(nodes))
        return replace(spec, network=altered, pathways=pathways, graph=graph)

    def settings(self, spec: Spec) -> TrainingSettings:
        """Return how a spec's network is trained with it; the spec is varied already."""
        return replace(training_settings(spec), batch_size=self.batch_size)


SAME = Variation()
"""The spec's own training."""


def kinds(spec: Spec) -> tuple[str, ...]:
    """Return what is trained for a spec: no network where only a gated one can be it."""
    only = spec.graph is not None or gained_pathways(spec) or sized_pathways(spec)
    return (GDLN,) if only else (RELU, GDLN)


def pair_streams(rng: int, first: int = 0) -> tuple[np.random.SeedSequence, ...]:
    """Return the random streams of the networks and of the GDLNs, each made anew.

    Args:
        rng: Seed of them all.
        first: Number of the first network that will be drawn from each; it is the same network
            whether those before it are drawn or not.
    """
    return tuple(
        np.random.SeedSequence(
            entropy=one.entropy, spawn_key=one.spawn_key, n_children_spawned=first
        )
        for one in np.random.SeedSequence(rng).spawn(2)
    )


def train_pair(
    spec: Spec,
    kappas: Mapping[str, float],
    seeds: int,
    rng: int,
    progress: ProgressCallback | None = None,
    *,
    first: int = 0,
    record: Recording | None = None,
    marks: tuple[int, ...] = (),
    workers: int | None = None,
) -> tuple[TrainingRun | None, TrainingRun]:
    """Train the networks and the GDLNs of a spec; no network where only a GDLN can be it.

    Args:
        spec: With a network and without free parameters.
        kappas: κ of pathways by name (:func:`symreln.claims.early.pathway_kappas`).
        seeds: How many of each kind.
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.
        first: Number of the first network of each kind.
        record: What is recorded beside the losses; by default what a confrontation looks at.
        marks: Steps that are recorded beside the usual ones, where there is room.
        workers: Processes; by default as many as pay.

    Raises:
        InputError: Training diverged.
    """
    asked = kinds(spec)
    report = shared_progress(progress, len(asked))
    found: dict[str, TrainingRun] = {}
    for place, kind in enumerate(asked):
        usual = network_recording if kind == RELU else map_recording
        found[kind] = train(
            kind,
            spec,
            kappas,
            seeds,
            rng,
            first=first,
            record=usual(spec, seeds, marks) if record is None else record,
            progress=report(place),
            workers=workers,
        )
    return found.get(RELU), found[GDLN]


def train(
    kind: str,
    spec: Spec,
    kappas: Mapping[str, float],
    seeds: int,
    rng: int,
    variation: Variation = SAME,
    *,
    first: int = 0,
    **options: Any,
) -> TrainingRun:
    """Train the networks of one kind: those of :func:`train_pair`, varied.

    Args:
        kind: "relu" or "gdln".
        spec: With a network and without free parameters.
        kappas: κ of pathways by name; a network has none.
        seeds: How many.
        rng: Seed of the random streams.
        variation: What differs from the spec's training.
        first: Number of the first network.
        **options: As of the trainers.

    Raises:
        InputError: Training diverged.
    """
    network, gated = pair_streams(rng, first)
    if kind == RELU:
        return train_networks(spec, variation, seeds=seeds, rng=network, **options)
    return train_gated(spec, kappas, variation, seeds=seeds, rng=gated, **options)


def train_networks(spec: Spec, variation: Variation = SAME, **options: Any) -> TrainingRun:
    """Train the network of a spec; options as of :func:`symreln.train.trainers.train_network`."""
    spec = variation.of(spec)
    network, settings = network_of(spec), variation.settings(spec)
    one = partial(train_network, *spec.dataset.arrays)
    if not Regime.of_network(network).matrices.holds:
        widths = [network.hidden] * (network.layers - 1)
        one = partial(train_deep_network, *spec.dataset.arrays, widths)
    return one(settings, biases=variation.biases, **options)


def train_gated(
    spec: Spec, kappas: Mapping[str, float], variation: Variation = SAME, **options: Any
) -> TrainingRun:
    """Train the gated network of a spec: its nodes and edges, or its pathways.

    Of two layers each pathway's ``initial`` weights are
    :class:`symreln.train.weights.LayerWeights` by its name, else arrays by the edge's.

    Args:
        spec: With a network and without free parameters.
        kappas: κ of pathways by name; without one a pathway has the units of the closed forms.
        variation: What differs from the spec's training.
        **options: As of :func:`symreln.train.trainers.train_gdln`.
    """
    spec = variation.of(spec)
    data, settings = spec.dataset.arrays, variation.settings(spec)
    if spec.graph is not None:
        return train_graph(*data, gated_graph(spec.graph), settings, **options)
    settings, network = gated_settings(spec, settings), network_of(spec)
    phases = [*gated_phases(spec, kappas)]
    options |= {"training": network.training}
    if len(phases) > 1:
        return train_phases(*data, phases, settings, **options)
    pathways = phases[0][1]
    if Regime.of_network(network).matrices.holds:
        return train_gdln(*data, pathways, settings, biases=variation.biases, **options)
    return train_graph(*data, pathway_network(pathways, network.layers), settings, **options)


# -- gates that switch -----------------------------------------------------------------------------


def gated_phases(spec: Spec, kappas: Mapping[str, float] | None = None) -> tuple[Phase, ...]:
    """Return the GDLN of every phase of a spec; one phase where no gate switches."""
    return tuple((step, gated_pathways(spec.during(step), kappas)) for step in (0, *spec.switches))


def train_phases(
    inputs: np.ndarray,
    targets: np.ndarray,
    phases: Sequence[Phase],
    settings: TrainingSettings,
    *,
    record: Recording,
    progress: ProgressCallback | None = None,
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
        progress: Called with (done, total) in seed-steps.
        **options: As of the trainer.
    """
    one: Callable[..., TrainingRun] = partial(train_gdln, inputs, targets, **options)
    report = shared_progress(progress, len(phases))
    edges = [*(step for step, _ in phases), settings.steps]
    losses, initial, run = [], None, None
    for place, ((begin, end), (_, pathways)) in enumerate(
        zip(pairwise(edges), phases, strict=True)
    ):
        last = end == settings.steps
        # The state after the phase's last update is the next phase's start: one more is recorded.
        steps = end - begin + (not last)
        run = one(
            pathways,
            replace(settings, steps=steps),
            initial=initial,
            record=Recording(quantities=record.quantities, steps=(steps - 1,)) if last else None,
            progress=report(place),
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
