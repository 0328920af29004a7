"""From a model and initial weights to a training run: chunk by chunk, here or in processes.

A seed's result does not depend on its chunk or process: every product is done seed by seed, in one
BLAS thread, on operands of one layout.

Processes, not threads: a training step is a dozen numpy calls of a few microseconds, and two
threads that trade the interpreter lock that often ran slower than one (benchmarks/train.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from functools import partial
from operator import setitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from symreln.base import pool
from symreln.base.processors import cores
from symreln.base.progress import phase
from symreln.base.records import record
from symreln.train.chunk import Chunk, train_chunk
from symreln.train.program import Program
from symreln.train.record import Recording
from symreln.train.settings import TrainingSettings
from symreln.train.steps import program_of
from symreln.train.trained_model import Model
from symreln.train.weights import (
    LayerWeights,
    Weights,
    gaussian_weights,
    given_weights,
    seed_children,
)

# Half of the level-2 cache of a present server core: a chunk that stays in it trains faster than
# a larger one (benchmarks/train.py measures it); a smaller one pays more Python a step.
_CACHE_BYTES = 1 << 20
_DEVICE_BYTES = 1 << 30  # a device likes large chunks, and small ones have a few of these
# A worker takes 0.15 s to start (it imports numpy); it pays where that is a small part.
_WORKER_PAYS_SECONDS = 1.0
_MULTIPLICATIONS_PER_SECOND = 2e10  # measured in one thread on shapes of the contextual task
_STEP_SECONDS = 3e-5  # the Python of one step


@record(eq=False)
class TrainingRun:
    """Recorded training of many seeds.

    Attributes:
        settings: As handed in.
        losses: Shape (seeds, steps), float64. Always the MEAN loss L = 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖²,
            whichever loss was descended; ``losses[:, k]`` is taken after k updates.
        snapshot_steps: The K steps at which quantities were recorded, on the scale of ``losses``.
        snapshots: Recorded quantities by name, each of shape (seeds, K, …); see ``record``.
        weights: Final weights (after steps − 1 updates), one entry a pathway, or one in all; empty
            for a graph or a deep network.
        seconds: Wall time of the training.
        matrices: Final weights of a graph's edges or of a deep network's layers, each of shape
            (seeds, target, source); else empty.
    """

    settings: TrainingSettings
    losses: np.ndarray
    snapshot_steps: tuple[int, ...]
    snapshots: dict[str, np.ndarray]
    weights: tuple[LayerWeights, ...] = ()
    seconds: float
    matrices: tuple[np.ndarray, ...] = ()

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return self.losses.shape[0]

    @property
    def mean_loss(self) -> np.ndarray:
        """Mean over seeds of the recorded loss. Shape (steps,)."""
        return self.losses.mean(axis=0)


def run_training(
    model: Model,
    initial: Sequence[np.ndarray] | None,
    stds: Sequence[float],
    streams: Sequence[int],
    *,
    seeds: int = 1,
    rng: Any = None,
    record: Recording | None = None,
    workers: int | None = None,
) -> TrainingRun:
    """Train the networks of one model.

    Args:
        model: Network, data and hyper-parameters.
        initial: Initial weights, one array (seeds, target, source) an edge; None to draw them.
        stds: Where they are drawn, of each edge (:func:`.weights.gaussian_weights`).
        streams: Likewise.
        seeds: How many networks to train.
        rng: Random streams.
        record: What to keep.
        workers: Processes; None to choose.

    Raises:
        InputError: The training diverged.
        LimitReachedError: A worker process was killed.
    """
    record, steps = record or Recording(), model.settings.steps
    given = None if initial is None else given_weights(initial)
    seeds = seeds if given is None else len(given[0])
    children, program = seed_children(rng, seeds), program_of(model)
    workers = _worker_count(model, program, seeds, record, workers)
    size = _seeds_per_chunk(model, program, seeds, workers)
    parts: list[_Part] = []
    for first in range(0, seeds, size):
        own = slice(first, first + size)
        start = None if given is None else tuple(weights[own] for weights in given)
        parts.append(partial(_train, model, record, stds, streams, first, children[own], start))
    started = time.perf_counter()
    with phase("training") as update:
        asked = (lambda done: update(done, seeds * steps),)
        chunks = _in_processes(parts, workers, *asked) if workers > 1 else _here(parts, *asked)
    return TrainingRun(
        settings=model.settings,
        losses=np.concatenate([chunk.losses for chunk in chunks]),
        snapshot_steps=record.snapshot_steps(steps),
        snapshots={
            name: np.concatenate([chunk.snapshots[name] for chunk in chunks])
            for name in chunks[0].snapshots
        },
        matrices=tuple(
            np.concatenate(parts) for parts in zip(*(c.matrices for c in chunks), strict=True)
        ),
        seconds=time.perf_counter() - started,
    )


def _worker_count(
    model: Model, program: Program, seeds: int, record: Recording, asked: int | None
) -> int:
    """Processes that are asked for, else worth using: all processors for long trainings."""
    if not model.arithmetic.on_host or record.observers or not sys.executable:
        return 1
    if asked is not None:
        return min(asked, seeds)
    per_step = program.multiplications / _MULTIPLICATIONS_PER_SECOND + _STEP_SECONDS
    long = seeds * model.settings.steps * per_step > _WORKER_PAYS_SECONDS
    return min(cores(), seeds) if long else 1


def _seeds_per_chunk(model: Model, program: Program, seeds: int, workers: int) -> int:
    order = 0 if model.settings.batch_size is None else model.samples
    own = model.arithmetic.item_bytes * (program.numbers + order)
    room = _CACHE_BYTES if model.arithmetic.on_host else _DEVICE_BYTES
    return max(1, min(-(-seeds // workers), room // own))


_Part = Callable[[Callable[[int], None]], Chunk]
"""Trains some seeds, and calls with their seed-steps done; plain arrays, for another process."""


def _train(
    model: Model,
    record: Recording,
    stds: Sequence[float],
    streams: Sequence[int],
    first: int,
    children: Sequence[np.random.SeedSequence],
    given: Weights | None,
    report: Callable[[int], None],
) -> Chunk:
    weights = given or gaussian_weights(model.network, children, stds, streams)
    return train_chunk(model, weights, record, first, report, children)


def _here(parts: Sequence[_Part], report: Callable[[int], None]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for part in parts:
        before = sum(chunk.losses.size for chunk in chunks)
        chunks.append(part(lambda done, before=before: report(before + done)))
    return chunks


_POLL_SECONDS = 0.1  # between two reports
_SNAPSHOT = "snapshot "


def _in_processes(
    parts: Sequence[_Part], workers: int, report: Callable[[int], None]
) -> list[Chunk]:
    """Train each part in the first process that is free."""
    done = pool.CONTEXT.RawArray("q", len(parts))
    with TemporaryDirectory() as folder, pool.processes(workers, done) as executor:
        futures = [
            executor.submit(_there, part, place, Path(folder, f"{place}.npz"))
            for place, part in enumerate(parts)
        ]
        pending = set(futures)
        while pending:
            finished, pending = wait(pending, _POLL_SECONDS, FIRST_EXCEPTION)
            for future in finished:
                future.result()
            report(sum(done))
        return [_read(future.result()) for future in futures]


def _there(part: _Part, place: int, file: Path) -> Path:
    """Train a part and write it; whoever reads a pipe waits for ever if its writer is killed."""
    chunk = part(partial(setitem, pool.shared_memory(), place))
    kept: dict[str, Any] = {_SNAPSHOT + name: held for name, held in chunk.snapshots.items()}
    np.savez(file, *chunk.matrices, losses=chunk.losses, **kept)
    return file


def _read(file: Path) -> Chunk:
    with np.load(file, allow_pickle=False) as data:
        held = dict(data)
    losses, names = held.pop("losses"), [name for name in held if name.startswith(_SNAPSHOT)]
    snapshots = {name.removeprefix(_SNAPSHOT): held.pop(name) for name in names}
    return Chunk(losses=losses, snapshots=snapshots, matrices=tuple(held.values()))
