"""Chunks of seeds over worker processes.

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
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, cast

import numpy as np

from symreln.base.signals import interrupts_held
from symreln.errors import SymrelnError
from symreln.train.chunk import Chunk
from symreln.train.model import Model
from symreln.train.record import Recording
from symreln.train.weights import InitialWeights

POLL_SECONDS = 0.1  # between two calls of progress

_Process = subprocess.Popen[bytes]


def train_in_workers(
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
                finished, pending = wait(pending, POLL_SECONDS, FIRST_EXCEPTION)
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
