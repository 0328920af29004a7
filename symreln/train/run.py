"""From a model and initial weights to a training run: plan, train chunk by chunk, gather.

A seed's result does not depend on its chunk or process: every product is done seed by seed, in one
BLAS thread, on operands of one layout.

Chunks of seeds over worker processes.

Processes, not threads: a training step is a dozen numpy calls of a few microseconds, and two
threads that trade the interpreter lock that often ran slower than one (benchmarks/train.py). Not
``multiprocessing``: its start methods either copy a process that has threads or run the caller's
script again. What goes through the pipes of these children is pickled; files never are.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, TypedDict, cast

import numpy as np

from symreln.base.processors import cores, one_blas_thread
from symreln.base.signals import interrupts_held
from symreln.base.summaries import short_repr
from symreln.errors import InputError, SymrelnError
from symreln.train.chunk import Chunk, batch_keys, train_chunk
from symreln.train.machine import machine
from symreln.train.memory import MemoryEstimate, estimate_memory
from symreln.train.model import Model
from symreln.train.record import Recording, observer_of
from symreln.train.settings import TrainingSettings
from symreln.train.steps import program_of
from symreln.train.weights import (
    InitialWeights,
    LayerWeights,
    gaussian_weights,
    given_weights,
    seed_children,
)

Progress = Callable[[int, int], None]
"""Called with seed-steps done and in all."""

# A worker takes 0.15 s to start (it imports numpy); it pays where that is a small part.
_WORKER_PAYS_SECONDS = 1.0
_MULTIPLICATIONS_PER_SECOND = 2e10  # measured in one thread on shapes of the contextual task
_STEP_SECONDS = 3e-5  # the Python of one step


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


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
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
        memory: What was predicted before the training began.
        seconds: Wall time of the training.
        matrices: Final weights of a graph's edges or of a deep network's layers, each of shape
            (seeds, target, source); else empty.
    """

    settings: TrainingSettings
    losses: np.ndarray
    snapshot_steps: tuple[int, ...]
    snapshots: dict[str, np.ndarray]
    weights: tuple[LayerWeights, ...] = ()
    memory: MemoryEstimate
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
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> TrainingRun:
    """Train the networks of one model.

    Args:
        model: Network, data and hyper-parameters.
        initial: Initial weights, one array (seeds, target, source) an edge; None to draw them.
        stds: Where they are drawn, of each edge (:func:`.weights.gaussian_weights`).
        streams: Likewise.
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
    source, record, steps = None, record or Recording(), model.settings.steps
    if initial is not None:
        seeds, source = given_weights(model.network, initial)
    if seeds < 1 or (workers is not None and workers < 1):
        msg = f"training: {seeds} seeds, workers {workers}. Give at least 1 of each."
        raise InputError(msg)
    for quantity in record.quantities:
        observer_of(model, quantity, record)  # what is missing is told before training
    children = seed_children(rng, seeds)
    if source is None:
        source = gaussian_weights(model.network, children, stds, streams)
    plan = estimate_memory(
        model,
        seeds=seeds,
        record=record,
        memory_limit=machine().room if memory_limit is None else memory_limit,
        workers=_worker_count(model, seeds, record, workers),
    )
    if (tell := machine().tell) is not None:
        tell(plan)
    started = time.perf_counter()
    keys = None if model.settings.batch_size is None else batch_keys(children)
    chunks = _train_chunks(model, source, record, plan, progress, keys)
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
        memory=plan,
        seconds=time.perf_counter() - started,
    )


def _worker_count(model: Model, seeds: int, record: Recording, asked: int | None) -> int:
    """Processes that are asked for, else worth using: all processors for long trainings."""
    if not model.arithmetic.on_host or record.observers or not sys.executable:
        return 1
    if asked is not None:
        return asked
    per_step = program_of(model).multiplications / _MULTIPLICATIONS_PER_SECOND + _STEP_SECONDS
    long = seeds * model.settings.steps * per_step > _WORKER_PAYS_SECONDS
    return min(cores(), seeds) if long else 1


def one_host_thread(model: Model) -> AbstractContextManager[object]:
    """A context in which a model's products on this machine take one thread."""
    return one_blas_thread() if model.arithmetic.on_host else nullcontext()


def _train_chunks(
    model: Model,
    source: InitialWeights,
    record: Recording,
    plan: MemoryEstimate,
    progress: Progress | None,
    keys: np.ndarray | None,
) -> list[Chunk]:
    seeds, size, steps = plan.seeds, plan.seeds_per_chunk, model.settings.steps
    bounds = [(start, min(start + size, seeds)) for start in range(0, seeds, size)]

    def report(done: int) -> None:
        if progress is not None:
            progress(done, seeds * steps)

    if plan.workers > 1:
        return _train_in_workers(model, source, record, bounds, plan.workers, report, keys)
    chunks = []
    with one_host_thread(model):
        for start, stop in bounds:

            def here(done: int, before: int = start * steps) -> None:
                report(before + done)

            own = None if keys is None else keys[start:stop]
            chunks.append(train_chunk(model, source(start, stop), record, start, here, own))
    return chunks


_POLL_SECONDS = 0.1  # between two calls of progress

_Process = subprocess.Popen[bytes]


def _train_in_workers(
    model: Model,
    source: InitialWeights,
    record: Recording,
    bounds: list[tuple[int, int]],
    workers: int,
    report: Callable[[int], None],
    keys: np.ndarray | None = None,
) -> list[Chunk]:
    """Train the chunks of seeds at ``bounds``, each in the first worker that is free.

    ``report`` is called in this thread with the seed-steps done. ``keys`` are those of the streams
    of mini-batches, one row a seed.
    """
    processes = [_start() for _ in range(min(workers, len(bounds)))]
    free: SimpleQueue[_Process] = SimpleQueue()
    done = dict.fromkeys(bounds, 0)

    def train(place: tuple[int, int]) -> Chunk:
        process = free.get()  # there is one a thread
        try:
            _send(
                process, (source(*place), place[0], None if keys is None else keys[slice(*place)])
            )
            while isinstance(reply := _receive(process), int):
                done[place] = reply
        finally:
            free.put(process)
        if isinstance(reply, SymrelnError):
            raise reply
        done[place] = reply.losses.size
        return reply

    with ThreadPoolExecutor(len(processes)) as pool:
        try:
            for process in processes:
                _send(process, (model, record))
                free.put(process)
            chunks = [pool.submit(train, place) for place in bounds]
            pending = set(chunks)
            while pending:
                finished, pending = wait(pending, _POLL_SECONDS, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                report(sum(done.values()))
            return [future.result() for future in chunks]
        finally:  # also at an interrupt: the waiting threads see the pipes close
            pool.shutdown(wait=False, cancel_futures=True)
            _end(processes)


def _start() -> _Process:
    package_root = str(Path(__file__).resolve().parents[2])
    paths = [package_root, os.environ.get("PYTHONPATH", "")]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with interrupts_held():
        return subprocess.Popen(
            [sys.executable, "-m", "symreln.train.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )


def _end(processes: list[_Process]) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # what was buffered for a killed worker cannot be written
                cast("BinaryIO", stream).close()


def _send(process: _Process, message: object) -> None:
    stream = cast("BinaryIO", process.stdin)
    try:
        pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
        stream.flush()
    except BrokenPipeError as error:
        raise _ended(process) from error


def _receive(process: _Process) -> int | Chunk | SymrelnError:
    try:
        return pickle.load(cast("BinaryIO", process.stdout))
    except (EOFError, pickle.UnpicklingError) as error:
        raise _ended(process) from error


def _ended(process: _Process) -> RuntimeError:
    return RuntimeError(f"a training worker ended early with exit code {process.poll()}")
