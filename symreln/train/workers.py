"""Chunks of seeds over worker processes.

Processes, not threads: a training step is a dozen numpy calls of a few microseconds, and two
threads that trade the interpreter lock that often ran slower than one (benchmarks/train.py). Not
``multiprocessing``: its start methods either copy a process that has threads or run the caller's
script again, and it sends pickles.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from symreln.base.signals import interrupts_held
from symreln.errors import InputError
from symreln.train.chunk import Chunk
from symreln.train.model import AbstractModel
from symreln.train.network import TrainingSettings
from symreln.train.randomness import InitialWeights
from symreln.train.record import Recording
from symreln.train.wire import receive, send
from symreln.train.worker import pack_weights, unpack_weights

POLL_SECONDS = 0.1  # between two calls of progress
Bounds = tuple[int, int]


@dataclasses.dataclass(kw_only=True)
class _Shared:
    """What the threads that wait for workers share."""

    queue: Iterator[Bounds]
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    done: dict[Bounds, int] = dataclasses.field(default_factory=dict)
    chunks: dict[Bounds, Chunk] = dataclasses.field(default_factory=dict)

    def next(self) -> Bounds | None:
        with self.lock:
            return next(self.queue, None)


def train_in_workers(
    model: AbstractModel,
    source: InitialWeights,
    settings: TrainingSettings,
    record: Recording,
    bounds: list[Bounds],
    workers: int,
    report: Callable[[int], None],
    keys: np.ndarray | None = None,
) -> list[Chunk]:
    """Train the chunks of seeds at ``bounds``, each in the first worker that is free.

    ``report`` is called in this thread with the seed-steps done. ``keys`` are those of the streams
    of mini-batches, one row a seed.
    """
    shared = _Shared(queue=iter(bounds))
    processes = [_start() for _ in range(min(workers, len(bounds)))]
    try:
        with ThreadPoolExecutor(len(processes)) as pool:
            try:
                pending = {
                    pool.submit(_drive, process, shared, model, source, settings, record, keys)
                    for process in processes
                }
                while pending:
                    finished, pending = wait(pending, POLL_SECONDS, FIRST_EXCEPTION)
                    for future in finished:
                        future.result()
                    report(sum(list(shared.done.values())))
            except BaseException:  # also an interrupt: the waiting threads see the pipes close
                _end(processes)
                raise
    finally:
        _end(processes)
    return [shared.chunks[each] for each in bounds]


def _start() -> subprocess.Popen[bytes]:
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


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was buffered for a killed worker cannot be written
                    continue


def _drive(
    process: subprocess.Popen[bytes],
    shared: _Shared,
    model: AbstractModel,
    source: InitialWeights,
    settings: TrainingSettings,
    record: Recording,
    keys: np.ndarray | None,
) -> None:
    """Feed one worker until the queue is empty."""
    requests, replies = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
    header = {
        "model": model.description,
        "settings": dataclasses.asdict(settings),
        "quantities": record.quantities,
        "gates": record.gates,
        "steps": record.steps,
    }
    try:
        send(requests, header, {"inputs": model.inputs, "targets": model.targets})
        while (bounds := shared.next()) is not None:
            arrays = pack_weights(source(*bounds))
            if keys is not None:
                arrays["keys"] = keys[slice(*bounds)]
            send(requests, {"first_seed": bounds[0]}, arrays)
            seed_steps = (bounds[1] - bounds[0]) * settings.steps
            shared.chunks[bounds] = _await_result(replies, bounds, shared)
            shared.done[bounds] = seed_steps
    except (BrokenPipeError, EOFError) as error:
        msg = f"a training worker ended early with exit code {process.poll()}"
        raise RuntimeError(msg) from error


def _await_result(replies: BinaryIO, bounds: Bounds, shared: _Shared) -> Chunk:
    while (reply := receive(replies)) is not None:
        header, arrays = reply
        if "error" in header:
            raise InputError(header["error"])
        if "done" in header:
            shared.done[bounds] = header["done"]
            continue
        snapshots = {
            name.removeprefix("snapshot "): values
            for name, values in arrays.items()
            if name.startswith("snapshot ")
        }
        return Chunk(losses=arrays["losses"], snapshots=snapshots, weights=unpack_weights(arrays))
    raise EOFError
