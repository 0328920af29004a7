"""What is being done now, once it takes longer than two seconds.

Work names itself, ``with phase("training") as report`` or ``@phase("figures")``, and phases lie
within each other. They are shown on a terminal's stderr, in one line that is rewritten: what is
done, a bar, and how far it is; in a notebook below the cell; elsewhere a command has a plain line a
phase, nothing with ``--quiet``, and Python shows nothing.
"""

from __future__ import annotations

import contextvars
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from symreln.base import watched
from symreln.errors import visible

#: Seconds of silence before progress is shown, and between two looks: what is quicker needs none.
PATIENCE = 2.0
LOOK = 0.5
#: Columns of the line and of its bar, on a terminal at most.
COLUMNS = 78
_BAR = 20


@dataclass(kw_only=True, eq=False)
class _Phase:
    """One thing that is being done.

    Attributes:
        name: What it is called.
        start: When it began, as :func:`time.monotonic` tells it.
        share: How much of it is done, from 0 to 1; 0 where that is not known.
        told: Whether a plain line has named it.
    """

    name: str
    start: float = field(default_factory=time.monotonic)
    share: float = 0.0
    told: bool = False

    def update(self, done: int, total: int) -> None:
        """Take note of how far it is."""
        self.share = done / total if total else 0.0

    def __str__(self) -> str:
        elapsed = time.monotonic() - self.start
        if not self.share:
            return f"{elapsed:.0f} s"
        left = elapsed * (1 - self.share) / self.share
        bar = "━" * round(self.share * _BAR)
        return f"{bar:┄<{_BAR}} {self.share:.0%}, about {left:.0f} s left"


class _Display:
    """Shows the phases of the thread that began.

    Attributes:
        phases: What is being done, the outermost first.
        thread: Which thread began.
        ended: Set when nothing is shown any more.
    """

    def __init__(self, line: Callable[[str], None] | None) -> None:
        self.phases: list[_Phase] = []
        self.thread = threading.get_ident()
        self._line, self._shown, self._start = line, False, time.monotonic()
        self.ended, self._lock = threading.Event(), threading.Lock()

    def begin(self) -> None:
        """Look at the phases now and then: exact work cannot say that it is under way.

        In the context of the caller, by which a notebook knows whose cell the line belongs to.
        """
        watch = contextvars.copy_context().run
        threading.Thread(target=watch, args=(self._watch,), daemon=True).start()

    def _watch(self) -> None:
        while not self.ended.wait(min(LOOK, PATIENCE)):
            with self._lock:
                if self.phases and not self.ended.is_set():
                    self._show()

    def _show(self) -> None:
        now = time.monotonic()
        if self._line is None:
            for place, each in enumerate(self.phases):
                if now - each.start >= PATIENCE and not each.told:
                    each.told = True
                    _write(f"{self.said(place)} …\n")
        elif now - self._start >= PATIENCE:
            self._shown = True
            self._line(f"{self.said()} {self.phases[-1]}")

    def said(self, place: int = -1) -> str:
        """Return the outermost phase and what is done in it."""
        return ": ".join(dict.fromkeys(each.name for each in (self.phases[0], self.phases[place])))

    def remove(self, ended: _Phase) -> None:
        """End a phase; without any the line is empty."""
        with self._lock:
            self.phases.remove(ended)
            if self.phases:
                watched.say(self.said())
            elif self._shown and self._line is not None:
                self._shown = False
                self._line("")


_display: _Display | None = None


@contextmanager
def phase(name: str) -> Iterator[Callable[[int, int], None]]:
    """Name what is being done; yields a callback (done, total) for work that knows how far it is.

    Also a decorator of functions. It costs microseconds, and nothing in other threads than the one
    that began.
    """
    display = _display
    if display is None and _interactive():
        with shown(), phase(name) as report:
            yield report
        return
    if display is None or display.thread != threading.get_ident():
        yield _nobody
        return
    if display.phases and display.phases[-1].name == name:
        yield display.phases[-1].update
        return
    mine = _Phase(name=visible(name))
    display.phases.append(mine)
    watched.say(display.said())
    try:
        yield mine.update
    finally:
        display.remove(mine)


@contextmanager
def shown(*, quiet: bool = False) -> Iterator[None]:
    """Show the phases within; ``quiet``: none of them."""
    global _display
    _display = display = _Display(_line())
    if not quiet:
        display.begin()
    try:
        yield
    finally:
        _display = None
        display.ended.set()


def _nobody(done: int, total: int) -> None:
    """Tell nobody: another thread's progress is shown."""


class _NotebookLine:
    """A line below a cell, which IPython replaces."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, line: str) -> None:
        if self._handle is None:
            display = import_module("IPython.display").display
            self._handle = display({"text/plain": line}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": line}, raw=True)


def _terminal_line(line: str) -> None:
    """Write a line; the cursor stays in the first column: a message is written over it."""
    width = min(COLUMNS, shutil.get_terminal_size().columns - 1)
    _write(f"\r{line[:width]:<{width}}\r")


def _line() -> Callable[[str], None] | None:
    """Return what rewrites a line where somebody watches; None where nobody does."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:  # IPython in a terminal has none
        return _NotebookLine()
    return _terminal_line if sys.stderr is not None and sys.stderr.isatty() else None


def _interactive() -> bool:
    """Whether somebody watches, and this is no process that another one has started."""
    processes = sys.modules.get("multiprocessing")
    child = processes is not None and processes.parent_process() is not None
    return not child and _line() is not None


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # closed, or there is none
        return
