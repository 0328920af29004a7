"""A board's jobs in worker processes on this machine.

Not ``multiprocessing``: it copies a process that has threads, or runs the caller's script again,
and it sends pickles.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from symreln.base.signals import interrupts_held
from symreln.sweep.board import Board, Job
from symreln.sweep.tasks import Request

PROCESS = "symreln.sweep.worker"
POLL_SECONDS = 0.1
#: Workers that may end before they are ready, one after the other, until it is no accident.
MOST_STILLBORN = 5


def run_local(board: Board, workers: int) -> None:
    """Do all jobs of a board.

    A worker that dies is replaced, and what it did is done once more.

    Args:
        board: What is to be done; its files are written into its plan's folder.
        workers: Processes.

    Raises:
        RuntimeError: No worker starts.
    """
    crew = _Crew(board)
    with ThreadPoolExecutor(workers) as pool:
        try:
            pending = {pool.submit(crew.drive) for _ in range(workers)}
            while pending:
                finished, pending = wait(pending, POLL_SECONDS, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
        finally:  # also after an interrupt: the threads see their pipes close
            crew.dismiss()


class _Crew:
    """The worker processes of one run."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._folder = str(board.plan.results.path.absolute())
        self._lock = threading.Lock()
        self._alive = set[subprocess.Popen[str]]()
        self._stillborn, self._dismissed = 0, False

    def drive(self) -> None:
        """Feed one worker, and those that replace it, until the board is empty."""
        worker: subprocess.Popen[str] | None = None
        try:
            while (task := self._board.next()) is not None:
                job, request = task
                worker = worker or self._start()
                if worker is None:
                    return
                answer = self._ask(worker, request)
                if answer is None:
                    self._end(worker)
                    worker = None
                self._tell(job, answer)
        finally:
            if worker is not None:
                self._end(worker)

    def dismiss(self) -> None:
        """Leave no process behind."""
        self._board.stop()
        with self._lock:
            self._dismissed = True
            for worker in self._alive:
                worker.kill()

    def _tell(self, job: Job, answer: dict[str, Any] | None) -> None:
        if answer is None:
            self._board.die(job)
        elif "error" in answer:
            self._board.fail(job, answer["error"], answer["exit_code"])
        else:
            self._board.finish(job)

    def _start(self) -> subprocess.Popen[str] | None:
        """Return a worker that is ready, or None where the run ends.

        Raises:
            RuntimeError: Several ended before they were ready.
        """
        while True:
            with self._lock:
                if self._dismissed:
                    return None
                worker = _spawn()
                self._alive.add(worker)
            ready = _hear(worker) is not None
            with self._lock:
                self._stillborn = 0 if ready else self._stillborn + 1
            if ready:
                return worker
            code = self._end(worker)
            if self._stillborn >= MOST_STILLBORN and not self._dismissed:
                msg = f"sweep: workers end before they begin, with exit code {code}"
                raise RuntimeError(msg)

    def _ask(self, worker: subprocess.Popen[str], request: Request) -> dict[str, Any] | None:
        assert worker.stdin is not None
        try:
            worker.stdin.write(json.dumps({"folder": self._folder, "request": request}) + "\n")
            worker.stdin.flush()
        except OSError:
            return None
        return _hear(worker)

    def _end(self, worker: subprocess.Popen[str]) -> int:
        worker.kill()
        code = worker.wait()
        with self._lock:
            self._alive.discard(worker)
        for stream in (worker.stdin, worker.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):  # what was buffered for it cannot be written
                stream.close()
        return code


def _spawn() -> subprocess.Popen[str]:
    root = str(Path(__file__).resolve().parents[2])
    paths = filter(None, [root, os.environ.get("PYTHONPATH", "")])
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with interrupts_held():
        return subprocess.Popen(
            # -P: what lies in the working folder is not imported.
            [sys.executable, "-P", "-m", PROCESS, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(paths)},
        )


def _hear(worker: subprocess.Popen[str]) -> dict[str, Any] | None:
    """Return a worker's answer; None where it died, within a line or before."""
    assert worker.stdout is not None
    try:
        line = worker.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None
    except (OSError, ValueError):
        return None
