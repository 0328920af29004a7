"""The watching process: starts the work in a child, ends it at a limit, writes what is known."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symreln.base.processes import Child, can_measure_memory
from symreln.base.signals import ended_by_signals, signal_name
from symreln.base.units import shown_bytes, shown_seconds
from symreln.errors import NotSupportedError
from symreln.limits.partial import REFUSED, Finished, Reached, partial_derivation, read_steps
from symreln.report.folder import BESIDE, DERIVED
from symreln.report.jsonio import dumps, write_text

if TYPE_CHECKING:
    from symreln.cli.request import Request

#: Seconds between two looks. The shorter, the less a fast allocation gets beyond its limit.
POLL = 0.02
WORKER = "symreln.limits.worker"


class Watch:
    """One command in a child.

    Args:
        request: What was asked for.
        steps: File to which the child writes its finished steps.
        worker: The module that does the work.
        spent: Seconds that the command has taken already.
    """

    def __init__(self, request: Request, steps: Path, worker: str, spent: float) -> None:
        self._request, self._steps = request, steps
        self._start = time.monotonic() - spent
        told = {"request": request.to_json(), "steps": str(steps), "parent": os.getpid()}
        self._child = Child(worker, told)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps that are finished."""
        return read_steps(self._steps)

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
            time.sleep(POLL)

    def end(self) -> None:
        """Leave no process behind."""
        self._child.kill()

    def _ended(self, code: int) -> int | Reached:
        """Tell an end for want of memory, or by a signal, from any other."""
        limit = self._request.memory_limit
        text = "this machine" if limit is None else shown_bytes(limit)
        if code == REFUSED:
            return self._memory(text, "an allocation was refused")
        if code >= 0:
            return code
        name = signal_name(-code)
        if name == "SIGABRT":  # how FLINT ends where it gets no memory
            return self._memory(text, "the work aborted; so it does where memory is refused")
        if name == "SIGXCPU":
            text = shown_seconds(self._request.time_limit or 0)
            return Reached(kind="time", limit=text, seconds=self.elapsed, how="processor time")
        if name == "SIGKILL":
            how = "the work was killed (SIGKILL): the system or someone ended the process"
            return Reached(kind="ended", seconds=self.elapsed, how=how)
        how = f"the process that did the work ended with {name}"
        return Reached(kind="crash", seconds=self.elapsed, how=how)

    def _memory(self, limit: str, how: str) -> Reached:
        return Reached(kind="memory", limit=limit, seconds=self.elapsed, how=how)

    def _reached(self) -> Reached | None:
        seconds, memory = self._request.time_limit, self._request.memory_limit
        if seconds is not None and self.elapsed >= seconds:
            return Reached(kind="time", limit=shown_seconds(seconds), seconds=self.elapsed)
        if memory is not None and (used := self._child.memory()) > memory:
            return self._memory(shown_bytes(memory), f"{shown_bytes(used)} were in use")
        return None


@contextmanager
def watched(request: Request, worker: str = WORKER, *, spent: float = 0.0) -> Iterator[Watch]:
    """Start a command in a child, which has ended at the end of the block.

    Args:
        request: What was asked for.
        worker: The module that does it.
        spent: Seconds that the command has taken already.

    Raises:
        NotSupportedError: A memory limit where the memory of processes cannot be read.
    """
    if request.memory_limit is not None and not can_measure_memory():
        msg = "a memory limit: this system does not tell the memory of a process; use a time limit"
        raise NotSupportedError(msg)
    with tempfile.TemporaryDirectory(prefix="symreln-") as folder, ended_by_signals():
        watch = Watch(request, Path(folder, "steps"), worker, spent)
        try:
            yield watch
        finally:
            watch.end()


def supervise(request: Request, worker: str = WORKER, *, spent: float = 0.0) -> int:
    """Carry out a command within its limits; return its exit code, 4 where one was reached.

    Takes and raises what :func:`watched` does.
    """
    with watched(request, worker, spent=spent) as watch:
        outcome = watch.wait()
        if isinstance(outcome, int):
            return outcome
        return _cut(request, Finished(watch.steps), outcome)


def _cut(request: Request, finished: Finished, reached: Reached) -> int:
    """Write what is known where the work did not end by itself."""
    folder = request.folder
    if finished.written:
        _complain(
            f"{reached.sentence()} after the derivation was finished and written to {folder}; "
            "training or the report was cut short"
        )
    elif finished.files:
        _complain(
            f"{reached.sentence()} after the derivation was finished and proven, while its "
            f"documents were made; written to {folder}: {', '.join(finished.files)}"
        )
        if request.as_json and "derivation.json" in finished.files:
            click.echo((folder / "derivation.json").read_text("utf-8"), nl=False)
    else:
        _complain(f"{reached.sentence()} in {finished.place}")
        _write_partial(request, finished, partial_derivation(finished, reached))
    return reached.code


def _write_partial(request: Request, finished: Finished, partial: dict[str, Any]) -> None:
    """Write and print a derivation that was cut short.

    One that proves nothing replaces no earlier results.
    """
    folder, text, written = request.folder, dumps(partial), []
    earlier = [name for name in ("derivation.json", *DERIVED, *BESIDE) if (folder / name).exists()]
    if earlier and not finished.proves:
        _complain(f"nothing was proven; {folder} keeps the results of an earlier command")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        for name in DERIVED:
            (folder / name).unlink(missing_ok=True)
        write_text(folder / "derivation.json", text)
        written = ["derivation.json", *_documents(request, partial)]
        if old := [name for name in BESIDE if name in earlier]:
            _complain(f"{folder} holds {', '.join(old)} of an earlier command, not of this one")
    if request.as_json:
        click.echo(text, nl=False)
    else:
        _show(partial, folder, written)


def _documents(request: Request, partial: dict[str, Any]) -> list[str]:
    """Write the documents that are wanted, the quickest first; return their names."""
    # Here, because fonts and formulas take time to import that most commands never need.
    from symreln.report import html, latex
    from symreln.report.chapters.limits import limited_document

    document, wanted = limited_document(partial), request.formats or ("tex", "html")
    written = []
    for name, renderer in {"tex": latex, "html": html}.items():
        if name in wanted:
            written.append(f"derivation.{name}")
            write_text(request.folder / written[-1], renderer.render(document))
    return written


def _complain(message: str) -> None:
    click.echo(f"symreln: {message}", err=True)


def _show(partial: dict[str, Any], folder: Path, written: list[str]) -> None:
    click.echo(partial["title"] or "derivation cut short")
    click.echo(f"verdict: {partial['verdict']['level']}")
    for line in (*partial["limits"]["proven"], *partial["limits"]["undecided"]):
        click.echo(f"  - {line}")
    if written:
        click.echo(f"written to {folder}: {', '.join(written)}")
