"""The watching process: starts the work in a child and ends it at a limit."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from symreln.base.processes import Child, can_measure_memory
from symreln.base.signals import ended_by_signals, signal_name
from symreln.base.units import shown_bytes, shown_seconds
from symreln.errors import NotSupportedError
from symreln.limits.limits import REFUSED, Limits
from symreln.report.partial_json import Finished, Reached, read_steps

#: Seconds between two looks. The shorter, the less a fast allocation gets beyond its limit.
_POLL = 0.02


class Watch:
    """Work in a child.

    Args:
        worker: The module that does it.
        request: What it is told of the work, JSON values.
        limits: Where it ends.
        steps: File to which the child writes its finished steps.
        spent: Seconds that the command has taken already.
    """

    def __init__(
        self, worker: str, request: dict[str, Any], limits: Limits, steps: Path, spent: float
    ) -> None:
        self._limits, self._steps = limits, steps
        self._start = time.monotonic() - spent
        told = {"request": request, "limits": asdict(limits), "steps": str(steps)}
        self._child = Child(worker, {**told, "parent": os.getpid()})

    @property
    def finished(self) -> Finished:
        """The steps that are finished."""
        return Finished(read_steps(self._steps))

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._start

    def wait(self) -> int | Reached:
        """Return the child's exit code, or the limit that was reached first."""
        while True:
            code = self._child.poll()
            if code is not None:
                return self._ended(code)
            reached = self._reached()
            if reached is not None:
                self.end()
                return reached
            time.sleep(_POLL)

    def end(self) -> None:
        """Leave no process behind."""
        self._child.kill()

    def _ended(self, code: int) -> int | Reached:
        """Tell an end for want of memory, or by a signal, from any other."""
        limit = self._limits.memory
        text = "this machine" if limit is None else shown_bytes(limit)
        if code == REFUSED:
            return self._memory(text, "an allocation was refused")
        if code >= 0:
            return code
        name = signal_name(-code)
        if name == "SIGABRT":  # how FLINT ends where it gets no memory
            return self._memory(text, "the work aborted; so it does where memory is refused")
        if name == "SIGXCPU":
            text = shown_seconds(self._limits.time or 0)
            return Reached(kind="time", limit=text, seconds=self.elapsed, how="processor time")
        if name == "SIGKILL":
            how = "the work was killed (SIGKILL): the system or someone ended the process"
            return Reached(kind="ended", seconds=self.elapsed, how=how)
        how = f"the process that did the work ended with {name}"
        return Reached(kind="crash", seconds=self.elapsed, how=how)

    def _memory(self, limit: str, how: str) -> Reached:
        return Reached(kind="memory", limit=limit, seconds=self.elapsed, how=how)

    def _reached(self) -> Reached | None:
        seconds, memory = self._limits.time, self._limits.memory
        if seconds is not None and self.elapsed >= seconds:
            return Reached(kind="time", limit=shown_seconds(seconds), seconds=self.elapsed)
        if memory is not None and (used := self._child.memory()) > memory:
            return self._memory(shown_bytes(memory), f"{shown_bytes(used)} were in use")
        return None


@contextmanager
def watched(
    worker: str, request: dict[str, Any], limits: Limits, *, spent: float = 0.0
) -> Iterator[Watch]:
    """Start work in a child, which has ended at the end of the block.

    Args:
        worker: The module that does it.
        request: What it is told of the work, JSON values.
        limits: Where it ends.
        spent: Seconds that the command has taken already.

    Raises:
        NotSupportedError: A memory limit where the memory of processes cannot be read.
    """
    if limits.memory is not None and not can_measure_memory():
        msg = "a memory limit: this system does not tell the memory of a process; use a time limit"
        raise NotSupportedError(msg)
    with tempfile.TemporaryDirectory(prefix="symreln-") as folder, ended_by_signals():
        watch = Watch(worker, request, limits, Path(folder, "steps"), spent)
        try:
            yield watch
        finally:
            watch.end()
