"""The watching process: starts the work in a child, ends it at a limit, writes what is known."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.errors import NotSupportedError
from symreln.limits.partial import Reached, Told, partial_derivation
from symreln.limits.processes import Child, can_measure_memory
from symreln.limits.steps import read_steps
from symreln.limits.units import shown_bytes, shown_seconds

if TYPE_CHECKING:
    from symreln.commands import Request

#: Seconds between two looks. The shorter, the less a fast allocation gets beyond its limit.
POLL = 0.02
#: Seconds after a limit in which the witness may finish its enclosures, and then the document:
#: together well below the two seconds that the command has.
BOXES_GRACE = 0.3
DOCUMENT_GRACE = 1.1
#: The witness starts after this many seconds, or this share of the limit: most work ends first.
WITNESS_DELAY = 1.0
WITNESS_SHARE = 0.1
#: What of an earlier derivation would contradict a derivation that was cut short.
OLD_FILES = ("certificate.json", "certificate-family.json", "derivation.html", "derivation.tex")

WORKER = "symreln.limits.worker"
WITNESS = "symreln.limits.witness"

_KILLED = -9
_ABORTED = -6


class Watch:
    """One command in a child, and the witness beside it.

    Attributes:
        request: What was asked for.
        start: When the time that counts began: ``spent`` seconds before the work.
        steps: Where the worker tells its steps.
        boxes: Where the witness tells its enclosures.
    """

    def __init__(
        self, request: Request, folder: Path, worker: str = WORKER, *, spent: float = 0.0
    ) -> None:
        self.request = request
        self.start = time.monotonic() - spent
        self.steps, self.boxes = folder / "steps", folder / "boxes"
        self.worker = Child(worker, self._message(self.steps))
        self.witness: Child | None = None
        self.bare = ""

    def _message(self, steps: Path) -> dict[str, Any]:
        return {"request": self.request.to_json(), "steps": str(steps)}

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def wait(self) -> int | Reached:
        """Return the worker's exit code, or the limit that was reached first."""
        while True:
            code = self.worker.poll()
            if code is not None:
                return self._ended(code)
            reached = self._reached()
            if reached is not None:
                self.worker.kill()
                return reached
            self._start_witness()
            time.sleep(POLL)

    def _ended(self, code: int) -> int | Reached:
        """Tell an end for want of memory from any other."""
        limit = self.request.memory_limit
        text = "this machine" if limit is None else shown_bytes(limit)
        if code == _KILLED:
            return self._memory(text, "the system ended the process")
        if limit is not None and code in (4, _ABORTED):
            return self._memory(text, "an allocation was refused")
        return code

    def _memory(self, limit: str, how: str) -> Reached:
        return Reached(kind="memory", limit=limit, seconds=self.elapsed, how=how)

    def _reached(self) -> Reached | None:
        seconds, memory = self.request.time_limit, self.request.memory_limit
        if seconds is not None and self.elapsed >= seconds:
            return Reached(kind="time", limit=shown_seconds(seconds), seconds=self.elapsed)
        if memory is None:
            return None
        used = self.worker.memory()
        if used > memory:
            return self._memory(shown_bytes(memory), f"{shown_bytes(used)} were in use")
        if self.witness is not None and used + self.witness.memory() > memory:
            self.witness.kill()  # the work goes first
            self.bare = "the memory limit had no room for enclosures beside the work"
        return None

    def _start_witness(self) -> None:
        limit = self.request.time_limit
        delay = WITNESS_DELAY if limit is None else min(WITNESS_DELAY, WITNESS_SHARE * limit)
        if self.witness is None and self.elapsed >= delay:
            self.witness = Child(WITNESS, self._message(self.boxes))

    def await_boxes(self, deadline: float) -> None:
        """Wait until the witness has enclosed everything, or for the deadline."""
        while self._witness_runs() and time.monotonic() < deadline:
            if any(line["step"] == "done" for line in read_steps(self.boxes)):
                return
            time.sleep(POLL)

    def ask_document(self, partial: Path, deadline: float) -> bool:
        """Have the witness write the document; return whether it did so in time."""
        if not self._witness_runs():
            return False
        assert self.witness is not None
        self.witness.tell({"partial": str(partial)})
        while self._witness_runs() and time.monotonic() < deadline:
            if any(line["step"] == "document" for line in read_steps(self.boxes)):
                return True
            time.sleep(POLL)
        return any(line["step"] == "document" for line in read_steps(self.boxes))

    def _witness_runs(self) -> bool:
        return self.witness is not None and self.witness.poll() is None

    def end(self) -> None:
        """Leave no child behind."""
        self.worker.kill()
        if self.witness is not None:
            self.witness.kill()


def supervise(request: Request, worker: str = WORKER, *, spent: float = 0.0) -> int:
    """Carry out a command within its limits; return its exit code, 4 where one was reached.

    Args:
        request: What was asked for.
        worker: The module that does it.
        spent: Seconds that the command has taken already.

    Raises:
        NotSupportedError: A memory limit where the memory of processes cannot be read.
    """
    if request.memory_limit is not None and not can_measure_memory():
        msg = "--memory-limit: this system does not tell the memory of a process; use --time-limit"
        raise NotSupportedError(msg)
    with tempfile.TemporaryDirectory(prefix="symreln-") as folder, ended_by_signals():
        watch = Watch(request, Path(folder), worker, spent=spent)
        try:
            outcome = watch.wait()
            return outcome if isinstance(outcome, int) else _cut(watch, outcome)
        finally:
            watch.end()


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turn signals that would end this process at once into an exception, so that children end."""
    names = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    found = [number for number in names if number is not None]

    def stop(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    try:
        old = {number: signal.signal(number, stop) for number in found}
    except ValueError:  # not the main thread: nobody sends it signals
        yield
        return
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _cut(watch: Watch, reached: Reached) -> int:
    """Write what is known after a limit."""
    import click

    from symreln.report.jsonio import dumps, write_text

    limit = time.monotonic()
    request, folder = watch.request, watch.request.folder
    if Told(read_steps(watch.steps), []).written:
        click.echo(
            f"symreln: {reached.sentence()} after the derivation was finished and written to "
            f"{folder}; training or the report was cut short",
            err=True,
        )
        return 4
    watch.await_boxes(limit + BOXES_GRACE)
    told = Told(read_steps(watch.steps), read_steps(watch.boxes))
    partial = partial_derivation(told, replace(reached, bare=watch.bare))
    folder.mkdir(parents=True, exist_ok=True)
    for name in OLD_FILES:
        (folder / name).unlink(missing_ok=True)
    text = dumps(partial)
    path = folder / "derivation.json"
    write_text(path, text)
    written = ["derivation.json"]
    if watch.ask_document(path, limit + DOCUMENT_GRACE):
        written += [name for name in OLD_FILES if (folder / name).exists()]
    click.echo(f"symreln: {reached.sentence()} in {told.place}", err=True)
    if request.as_json:
        click.echo(text, nl=False)
    else:
        _show(partial, folder, written)
    return 4


def _show(partial: dict[str, Any], folder: Path, written: list[str]) -> None:
    import click

    click.echo(partial.get("title") or "derivation cut short")
    click.echo(f"verdict: {partial['verdict']['level']}")
    for line in (*partial["limits"]["proven"], *partial["limits"]["undecided"]):
        click.echo(f"  - {line}")
    click.echo(f"written to {folder}: {', '.join(written)}")
