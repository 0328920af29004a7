"""The networks and the GDLNs of one spec: the same seeds wherever they are trained."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.claims.integration import network_of
from symreln.experiment.closed import train_chains, train_layers
from symreln.experiment.switching import gated_phases, train_phases
from symreln.experiment.trained import (
    gained_pathways,
    gated_settings,
    map_recording,
    network_recording,
    shared_progress,
    sized_pathways,
    training_settings,
)
from symreln.laws.law import Regime
from symreln.train.record import Recording
from symreln.train.trainers import train_network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.experiment.trained import ProgressCallback
    from symreln.spec.model import Spec
    from symreln.train.run import TrainingRun


def pair_streams(rng: int, first: int = 0) -> tuple[np.random.SeedSequence, ...]:
    """Return the random streams of the networks and of the GDLNs.

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
    streams: Sequence[np.random.SeedSequence],
    progress: ProgressCallback | None = None,
    *,
    losses_only: bool = False,
    marks: tuple[int, ...] = (),
    workers: int | None = None,
) -> tuple[TrainingRun | None, TrainingRun]:
    """Train the networks and the GDLNs of a spec; no network where only a GDLN can be it.

    Args:
        spec: With a network and without free parameters.
        kappas: κ of pathways by name (:func:`symreln.claims.early.pathway_kappas`).
        seeds: How many of each kind.
        streams: :func:`pair_streams`; they move on by ``seeds``.
        progress: Called with (done, total) in seed-steps.
        losses_only: Whether to record nothing but the losses.
        marks: Steps that are recorded beside the usual ones, where there is room.
        workers: Processes; by default as many as pay.

    Raises:
        InputError: Training diverged.
    """
    possible = not gained_pathways(spec) and not sized_pathways(spec)
    report = shared_progress(progress, 1 + possible)
    network = None
    if possible:
        record = None if losses_only else network_recording(spec, seeds, marks)
        network = train_networks(
            spec, seeds, streams[0], record=record, progress=report(0), workers=workers
        )
    gdln = train_gdlns(
        spec,
        kappas,
        seeds,
        streams[1],
        record=Recording() if losses_only else map_recording(spec, seeds, marks),
        progress=report(int(possible)),
        workers=workers,
    )
    return network, gdln


def train_networks(
    spec: Spec, seeds: int, stream: np.random.SeedSequence, **options: Any
) -> TrainingRun:
    """Train the networks alone; arguments and errors as of :func:`train_pair`."""
    layers = network_of(spec).layers
    plain = train_network if layers == 2 else partial(train_layers, layers)
    data = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    return plain(*data, training_settings(spec), seeds=seeds, rng=stream, **options)


def train_gdlns(
    spec: Spec,
    kappas: Mapping[str, float],
    seeds: int,
    stream: np.random.SeedSequence,
    *,
    record: Recording,
    **options: Any,
) -> TrainingRun:
    """Train the GDLNs alone; arguments and errors as of :func:`train_pair`."""
    asked, phases = network_of(spec), gated_phases(spec, kappas)
    data = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    if Regime.of_network(asked).matrices.holds:
        gated = partial(train_phases, *data, phases)
    else:
        gated = partial(train_chains, asked.layers, *data, phases[0][1])
    return gated(
        gated_settings(spec, training_settings(spec)),
        training=asked.training,
        seeds=seeds,
        rng=stream,
        record=record,
        **options,
    )
