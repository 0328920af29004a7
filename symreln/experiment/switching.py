"""Training of gated deep linear networks whose gates switch: phase after phase, weights kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from symreln.experiment.trained import gated_pathways, shared_progress
from symreln.train.record import Recording
from symreln.train.trainers import train_gdln

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from symreln.experiment.trained import ProgressCallback
    from symreln.spec.model import Spec
    from symreln.train.network import GatedPathway
    from symreln.train.run import TrainingRun
    from symreln.train.settings import TrainingSettings

Phase = tuple[int, tuple["GatedPathway", ...]]
"""First step, and the pathways with the gates from there on."""


def gated_phases(spec: Spec, kappas: Mapping[str, float] | None = None) -> tuple[Phase, ...]:
    """Return the GDLN of every phase of a spec; one phase where no gate switches."""
    return tuple((step, gated_pathways(spec.during(step), kappas)) for step in (0, *spec.switches))


def train_phases(
    inputs: np.ndarray,
    targets: np.ndarray,
    phases: Sequence[Phase],
    settings: TrainingSettings,
    *,
    training: Literal["joint", "staged"],
    seeds: int,
    rng: Any,
    record: Recording,
    progress: ProgressCallback | None = None,
    workers: int | None = None,
) -> TrainingRun:
    """Train as :func:`symreln.train.trainers.train_gdln` does, with other gates from step to step.

    The update at a phase's first step is the first with its gates, and the loss recorded there is
    with them. Where there are several phases only the last step's quantities are kept.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        phases: By ascending first step, from 0; pathways differ in gates alone.
        settings: Of the whole training.
        training: "joint" or "staged".
        seeds: Networks.
        rng: Seed of the initial weights.
        record: What is kept.
        progress: Called with (done, total) in seed-steps.
        workers: Processes; by default as many as pay.
    """
    common = {"training": training, "seeds": seeds, "rng": rng, "workers": workers}
    if len(phases) == 1:
        pathways = phases[0][1]
        return train_gdln(
            inputs, targets, pathways, settings, **common, record=record, progress=progress
        )
    train = partial(train_gdln, inputs, targets, **common)
    return _train_each(train, phases, settings, record, shared_progress(progress, len(phases)))


def _train_each(
    train: Callable[..., TrainingRun],
    phases: Sequence[Phase],
    settings: TrainingSettings,
    record: Recording,
    report: Callable[[int], ProgressCallback | None],
) -> TrainingRun:
    """Train phase after phase, each from the weights that the one before it ends with."""
    edges = [*(step for step, _ in phases), settings.steps]
    losses, initial, run = [], None, None
    for place, ((begin, end), (_, pathways)) in enumerate(
        zip(pairwise(edges), phases, strict=True)
    ):
        last = end == settings.steps
        # The state after the phase's last update is the next phase's start: one more is recorded.
        steps = end - begin + (not last)
        run = train(
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
