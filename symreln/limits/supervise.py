"""The watching process: starts the work in a child, ends it at a limit, writes what is known."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symreln.base.processes import Child, can_measure_memory
from symreln.base.signals import ended_by_signals, signal_name
from symreln.base.units import shown_bytes, shown_seconds
from symreln.errors import NotSupportedError
from symreln.limits.partial import Reached, Told, partial_derivation
from symreln.limits.steps import read_steps
from symreln.limits.worker import REFUSED
from symreln.report.folder import BESIDE, DERIVED
from symreln.report.jsonio import dumps, write_text

if TYPE_CHECKING:
    from symreln.cli.request import Request

#: Seconds between two looks. The shorter, the less a fast allocation gets beyond its limit.
POLL = 0.02
#: Seconds after a limit, of the two that the command has: in which finer enclosures are waited for
#: where rough ones are there, then rough ones where there are none, then the documents.
FINE_GRACE = 0.3
BOXES_GRACE = 1.25
DOCUMENT_GRACE = 1.6
#: How many times as long that is where memory alone is limited: then no clock is running, and the
#: enclosures had to make room for the work, so that they only begin.
MEMORY_PATIENCE = 4.0
#: The process that writes the documents starts so many seconds before a time limit, or that share
#: of it; it needs less, and would take them from the work where the time is short.
SCRIBE_LEAD = 1.0
SCRIBE_SHARE = 0.25
#: The witness starts after this many seconds, or this share of the limit: most work ends first.
#: Under a memory limit it starts at once, while there is room for it.
WITNESS_DELAY = 1.0
WITNESS_SHARE = 0.1
NO_ROOM = "the memory limit had no room for them"

WORKER = "symreln.limits.worker"
WITNESS = "symreln.limits.witness"
SCRIBE = "symreln.limits.scribe"


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
        self.pages = folder / "pages"
        self.witness: Child | None = None
        self.scribe: Child | None = None
        self.bare = ""
        self._heard_before = 0

    def _message(self, steps: Path, only: list[int] | None = None) -> dict[str, Any]:
        told = {"request": self.request.to_json(), "steps": str(steps), "parent": os.getpid()}
        return {**told, "only": only}

    def told(self) -> Told:
        """Return what the children have told."""
        return Told(read_steps(self.steps), read_steps(self.boxes))

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    @property
    def patience(self) -> float:
        """By how much to lengthen what is waited for after a limit."""
        return MEMORY_PATIENCE if self.request.time_limit is None else 1.0

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
            self._start_others()
            time.sleep(POLL)

    def _ended(self, code: int) -> int | Reached:
        """Tell an end for want of memory, or by a signal, from any other."""
        limit = self.request.memory_limit
        text = "this machine" if limit is None else shown_bytes(limit)
        if code == REFUSED:
            return self._memory(text, "an allocation was refused")
        if code >= 0:
            return code
        name = signal_name(-code)
        if name == "SIGABRT":  # how FLINT ends where it gets no memory
            return self._memory(text, "the work aborted; so it does where memory is refused")
        if name == "SIGXCPU":
            text = shown_seconds(self.request.time_limit or 0)
            return Reached(kind="time", limit=text, seconds=self.elapsed, how="processor time")
        if name == "SIGKILL":
            how = "the work was killed (SIGKILL): the system or someone ended the process"
            return Reached(kind="ended", seconds=self.elapsed, how=how)
        how = f"the process that did the work ended with {name}"
        return Reached(kind="crash", seconds=self.elapsed, how=how)

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
        return None

    def _start_others(self) -> None:
        limit = self.request.time_limit
        delay = WITNESS_DELAY if limit is None else min(WITNESS_DELAY, WITNESS_SHARE * limit)
        if self.request.memory_limit is not None:
            delay = 0.0
        if self.witness is None and self.elapsed >= delay:
            self.witness = Child(WITNESS, self._message(self.boxes))
        alone = self.request.memory_limit is None and self.request.command != "steps"
        if limit is not None and alone:
            lead = min(SCRIBE_LEAD, SCRIBE_SHARE * limit)
            if self.elapsed >= limit - lead:
                self.start_scribe()

    def enclose(self) -> Told:
        """Have what is not finished enclosed, in the time for that; return what is known.

        The worker is gone by now, and all that it had is free.
        """
        start = time.monotonic()
        told = self.told()
        if told.pathways and not told.missing:
            self._await("done", start + FINE_GRACE * self.patience)
            return self.told()
        if not self._witness_runs() and not self._heard("done"):
            numbers = [pathway["number"] for pathway in told.missing]
            self._restart(numbers if told.pathways else None)
        deadline = start + BOXES_GRACE * self.patience
        while time.monotonic() < deadline and self._fits():
            told = self.told()
            if (told.pathways and not told.missing) or self._heard("done"):
                break
            time.sleep(POLL)
        return self.told()

    def start_scribe(self) -> None:
        """Start the process that will write the documents: the witness may be deep in its work."""
        if self.scribe is None:
            self.scribe = Child(SCRIBE, self._message(self.pages))

    def documents(self, partial: Path, limit: float) -> list[Path]:
        """Have the documents written; return those that were in time.

        They lie where nothing is left of one that was not finished.

        Args:
            partial: The file of what is known.
            limit: When the limit was reached, as :func:`time.monotonic` tells it.
        """
        self.start_scribe()
        assert self.scribe is not None
        self.scribe.tell({"partial": str(partial), "into": str(self.pages.parent)})
        deadline = limit + DOCUMENT_GRACE * self.patience
        while time.monotonic() < deadline and self.scribe.poll() is None:
            if any(line["step"] == "done" for line in read_steps(self.pages)):
                break
            time.sleep(POLL)
        told = [line for line in read_steps(self.pages) if line["step"] == "document"]
        return [self.pages.parent / line["name"] for line in told]

    def _restart(self, only: list[int] | None) -> None:
        """Start another witness, in a hurry, for some pathways."""
        if self.witness is not None:
            self.witness.kill()
        self._heard_before = len(read_steps(self.boxes))
        self.witness = Child(WITNESS, self._message(self.boxes, only))

    def _heard(self, step: str) -> bool:
        """Whether the present witness has told a step."""
        return any(line["step"] == step for line in read_steps(self.boxes)[self._heard_before :])

    def _await(self, step: str, deadline: float) -> bool:
        while not self._heard(step):
            if time.monotonic() >= deadline or not self._fits():
                return self._heard(step)
            time.sleep(POLL)
        return True

    def _fits(self) -> bool:
        """Whether the witness runs, within the memory limit."""
        if not self._witness_runs():
            return False
        assert self.witness is not None
        limit = self.request.memory_limit
        if limit is not None and self.witness.memory() > limit:
            self.witness.kill()
            self.bare = NO_ROOM
            return False
        return True

    def _witness_runs(self) -> bool:
        return self.witness is not None and self.witness.poll() is None

    def end(self) -> None:
        """Leave no child behind."""
        for child in (self.worker, self.witness, self.scribe):
            if child is not None:
                child.kill()


def supervise(request: Request, worker: str = WORKER, *, spent: float = 0.0) -> int:
    """Carry out a command within its limits; return its exit code, 4 where one was reached.

    Args:
        request: What was asked for.
        worker: The module that does it.
        spent: Seconds that the command has taken already.

    Raises:
        NotSupportedError: A memory limit where the memory of processes cannot be read.
    """
    require_measurable(request)
    with tempfile.TemporaryDirectory(prefix="symreln-") as folder, ended_by_signals():
        watch = Watch(request, Path(folder), worker, spent=spent)
        try:
            outcome = watch.wait()
            return outcome if isinstance(outcome, int) else _cut(watch, outcome)
        finally:
            watch.end()


def _cut(watch: Watch, reached: Reached) -> int:
    """Write what is known where the work did not end by itself."""
    limit = time.monotonic()
    request, folder = watch.request, watch.request.folder
    if watch.told().written:
        _complain(
            f"{reached.sentence()} after the derivation was finished and written to {folder}; "
            "training or the report was cut short"
        )
        return reached.code
    if files := watch.told().files:
        _complain(
            f"{reached.sentence()} after the derivation was finished and proven, while its "
            f"documents were made; written to {folder}: {', '.join(files)}"
        )
        if request.as_json and "derivation.json" in files:
            click.echo((folder / "derivation.json").read_text("utf-8"), nl=False)
        return reached.code
    watch.start_scribe()
    told = watch.enclose()
    partial = partial_derivation(told, reached, watch.bare)
    text = dumps(partial)
    _complain(f"{reached.sentence()} in {told.place}")
    earlier = [name for name in ("derivation.json", *DERIVED, *BESIDE) if (folder / name).exists()]
    if earlier and not told.proves:
        _complain(f"nothing was proven; {folder} keeps the results of an earlier command")
        written = []
    else:
        folder.mkdir(parents=True, exist_ok=True)
        for name in DERIVED:
            (folder / name).unlink(missing_ok=True)
        path = folder / "derivation.json"
        write_text(path, text)
        written = ["derivation.json"]
        for page in watch.documents(path, limit):
            write_text(folder / page.name, page.read_text("utf-8"))
            written.append(page.name)
        if old := [name for name in BESIDE if name in earlier]:
            _complain(f"{folder} holds {', '.join(old)} of an earlier command, not of this one")
    if request.as_json:
        click.echo(text, nl=False)
    else:
        _show(partial, folder, written)
    return reached.code


def _complain(message: str) -> None:
    click.echo(f"symreln: {message}", err=True)


def _show(partial: dict[str, Any], folder: Path, written: list[str]) -> None:
    click.echo(partial["title"] or "derivation cut short")
    click.echo(f"verdict: {partial['verdict']['level']}")
    for line in (*partial["limits"]["proven"], *partial["limits"]["undecided"]):
        click.echo(f"  - {line}")
    if written:
        click.echo(f"written to {folder}: {', '.join(written)}")


def require_measurable(request: Request) -> None:
    """Refuse a memory limit that could not be watched.

    Raises:
        NotSupportedError: The memory of processes cannot be read here.
    """
    if request.memory_limit is not None and not can_measure_memory():
        msg = "a memory limit: this system does not tell the memory of a process; use a time limit"
        raise NotSupportedError(msg)
