"""From a model and initial weights to a training run: plan, train chunk by chunk, gather.

A seed's result does not depend on its chunk or process: every product is done seed by seed, in one
BLAS thread, on operands of one layout.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypedDict

import numpy as np

from symreln.errors import InputError
from symreln.train.batches import batch_keys
from symreln.train.chunk import Chunk, train_chunk
from symreln.train.machine import machine
from symreln.train.memory import MemoryEstimate, estimate_memory
from symreln.train.model import AbstractModel
from symreln.train.network import EdgeWeights, LayerWeights, TrainingRun, TrainingSettings
from symreln.train.randomness import InitialWeights, Seed, seed_children
from symreln.train.record import Recording

Progress = Callable[[int, int], None]
"""Called with seed-steps done and in all."""

# A worker takes 0.15 s to start (it imports numpy); it pays where that is a small part.
WORKER_PAYS_SECONDS = 1.0
MULTIPLICATIONS_PER_SECOND = 2e10  # measured in one thread on shapes of the contextual task
STEP_SECONDS = 3e-5  # the Python of one step


class Running(TypedDict, total=False):
    """How a training is run; what every trainer takes besides its network and its data.

    Attributes:
        seeds: How many networks to train, 1 by default; not used where initial weights are given.
        rng: Seed, SeedSequence or Generator; network i depends on ``rng`` and i alone.
            Where initial weights are given it is used for mini-batches only.
        record: What to keep besides the losses; default nothing.
        workers: Processes; default one a processor for long trainings, else this one alone.
            Results do not depend on it.
        memory_limit: Bytes that the training may take, by default what the machine says
            (:mod:`symreln.train.machine`); seeds are trained in chunks to keep to it.
        progress: Called now and then, in the caller's thread, with seed-steps done and in all.
    """

    seeds: int
    rng: Any
    record: Recording | None
    workers: int | None
    memory_limit: int | None
    progress: Progress | None


def run_training(
    model: AbstractModel,
    draw: Callable[[list[Seed]], InitialWeights],
    given: tuple[int, InitialWeights] | None,
    settings: TrainingSettings,
    *,
    seeds: int = 1,
    rng: Any = None,
    record: Recording | None = None,
    workers: int | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> TrainingRun:
    """Train the networks of one model; see :class:`Running` for how.

    Args:
        model: Network and data.
        draw: Initial weights from the streams of the seeds.
        given: Number of seeds and their initial weights, in place of ``draw``.
        settings: Hyper-parameters.
        seeds: As in :class:`Running`, like what follows.
        rng: Random streams.
        record: What to keep.
        workers: Processes.
        memory_limit: Bytes.
        progress: Callback.

    Raises:
        InputError: Fewer than one seed or worker, a quantity that the model does not have, or
            the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.
    """
    seeds = seeds if given is None else given[0]
    record = record or Recording()
    if seeds < 1 or (workers is not None and workers < 1):
        msg = f"training: {seeds} seeds, workers {workers}. Give at least 1 of each."
        raise InputError(msg)
    for quantity in record.quantities:
        model.observer(quantity, record)  # a quantity that the model lacks is told before training
    children = seed_children(rng, seeds)
    source = draw(children) if given is None else given[1]
    wanted = worker_count(model, settings.steps, seeds, record) if workers is None else workers
    usable = wanted if _can_share(model, record) else 1
    plan = estimate_memory(
        model,
        steps=settings.steps,
        seeds=seeds,
        record=record,
        workers=usable,
        memory_limit=machine().room if memory_limit is None else memory_limit,
    )
    if (tell := machine().tell) is not None:
        tell(plan)
    started = time.perf_counter()
    keys = None if settings.batch_size is None else batch_keys(children)
    chunks = _train_chunks(model, source, settings, seeds, record, plan, progress, keys)
    return _gather(chunks, settings, record, plan, time.perf_counter() - started)


def worker_count(model: AbstractModel, steps: int, seeds: int, record: Recording) -> int:
    """Processes worth using: all processors for long trainings, one for short ones."""
    per_step = model.multiplications / MULTIPLICATIONS_PER_SECOND + STEP_SECONDS
    long = seeds * steps * per_step > WORKER_PAYS_SECONDS
    return min(processors(), seeds) if long and _can_share(model, record) else 1


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _can_share(model: AbstractModel, record: Recording) -> bool:
    return model.arithmetic.on_host and not record.observers and bool(sys.executable)


def one_blas_thread(model: AbstractModel) -> AbstractContextManager[object]:
    """A context in which a model's products on this machine take one thread."""
    # The matrices are small: a threaded BLAS loses more in waiting than it gains. One thread also
    # fixes the order of summation.
    if not model.arithmetic.on_host:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")


def _train_chunks(
    model: AbstractModel,
    source: InitialWeights,
    settings: TrainingSettings,
    seeds: int,
    record: Recording,
    plan: MemoryEstimate,
    progress: Progress | None,
    keys: np.ndarray | None,
) -> list[Chunk]:
    size, total = plan.seeds_per_chunk, seeds * settings.steps
    bounds = [(start, min(start + size, seeds)) for start in range(0, seeds, size)]
    report = (lambda done: progress(done, total)) if progress else (lambda done: None)
    if plan.workers > 1:
        from symreln.train.workers import train_in_workers

        return train_in_workers(model, source, settings, record, bounds, plan.workers, report, keys)
    chunks = []
    with one_blas_thread(model):
        for start, stop in bounds:
            before = start * settings.steps

            def here(done: int, before: int = before) -> None:
                report(before + done)

            weights = source(start, stop)
            own = None if keys is None else keys[start:stop]
            chunks.append(train_chunk(model, weights, settings, record, start, here, own))
    return chunks


def _gather(
    chunks: list[Chunk],
    settings: TrainingSettings,
    record: Recording,
    plan: MemoryEstimate,
    seconds: float,
) -> TrainingRun:
    snapshots = {
        name: np.concatenate([chunk.snapshots[name] for chunk in chunks])
        for name in chunks[0].snapshots
    }
    places = list(zip(*(chunk.weights for chunk in chunks), strict=True))
    return TrainingRun(
        settings=settings,
        losses=np.concatenate([chunk.losses for chunk in chunks]),
        snapshot_steps=record.snapshot_steps(settings.steps),
        snapshots=snapshots,
        weights=tuple(
            LayerWeights(
                w1=np.concatenate([layer.w1 for layer in layers]),
                w2=np.concatenate([layer.w2 for layer in layers]),
            )
            for layers in places
            if isinstance(layers[0], LayerWeights)
        ),
        matrices=tuple(
            np.concatenate([edge.matrix for edge in edges])
            for edges in places
            if isinstance(edges[0], EdgeWeights)
        ),
        memory=plan,
        seconds=seconds,
    )
