"""What is being done now, once it takes longer than two seconds.

Work names itself, ``with phase("training") as report`` or ``@phase("figures")``, and phases lie
within each other; what shows them is decided once, where the outermost one begins:

* in a command (:class:`Progress`), on a terminal, one line on stderr that is rewritten: what is
  done, a bar, and how far it is; elsewhere a plain line a phase; nothing with ``--quiet``;
* in Python, that line on a terminal, and in a notebook below the cell; elsewhere nothing.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symreln.base import watched
from symreln.errors import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import rich.progress

#: Seconds of silence before progress is shown, and between two looks: what is quicker needs none.
PATIENCE = 2.0
LOOK = 0.5
#: Columns of the line, on a terminal at most.
COLUMNS = 78


@dataclass(kw_only=True)
class _Phase:
    """One thing that is being done.

    Attributes:
        name: What it is called.
        start: When it began, as :func:`time.monotonic` tells it.
        share: How much of it is done, from 0 to 1, or None where that is not known.
        told: Whether a plain line has named it.
    """

    name: str
    start: float = field(default_factory=time.monotonic)
    share: float | None = None
    told: bool = False

    def update(self, done: int, total: int) -> None:
        """Take note of how far it is."""
        self.share = done / total if total else None

    def __str__(self) -> str:
        elapsed = time.monotonic() - self.start
        if not self.share:
            return f"{elapsed:.0f} s"
        left = elapsed * (1 - self.share) / self.share
        return f"{self.share:.0%}, about {left:.0f} s left"


class _AbstractLine(ABC):
    """A line with a bar that is rewritten where it stands; each place shows it in its own way."""

    def __init__(self) -> None:
        self._bars: rich.progress.Progress | None = None

    def show(self, name: str, phase: _Phase) -> None:
        """Show a phase in the place of what was shown."""
        if self._bars is None:
            self._bars = _new_bars()
        # A fresh task: those of rich cannot go back to not knowing how far they are.
        for known in self._bars.task_ids:
            self._bars.remove_task(known)
        shown = self._bars.add_task(name, total=1.0 if phase.share else None, told=str(phase))
        self._bars.update(shown, completed=phase.share or 0.0)
        self._put(self._bars)

    @abstractmethod
    def _put(self, bars: rich.progress.Progress) -> None: ...

    @abstractmethod
    def end(self, name: str, seconds: float) -> None:
        """Leave a short line, or none."""


class _TerminalLine(_AbstractLine):
    """On stderr. The cursor stays in the first column: a message that comes is written over it."""

    def _put(self, bars: rich.progress.Progress) -> None:
        from rich.console import Console

        console = Console(file=sys.stderr)
        width = min(COLUMNS, console.width - 1)
        with console.capture() as taken:
            console.print(bars, width=width, end="")
        line = taken.get().rstrip("\n")
        _write(f"\r{line}\r")

    def end(self, name: str, seconds: float) -> None:
        """Leave how long it took."""
        _write(f"\r{f'{name}: {seconds:.1f} s':<{COLUMNS}}\r\n")


class _NotebookLine(_AbstractLine):
    """Below a cell, as HTML that IPython replaces; without widgets, which not everybody has."""

    def __init__(self) -> None:
        super().__init__()
        self._handle: Any = None

    def _put(self, bars: rich.progress.Progress) -> None:
        import io

        from rich.console import Console

        console = Console(
            file=io.StringIO(), width=COLUMNS, record=True, force_jupyter=False, force_terminal=True
        )
        console.print(bars)
        style = "margin: 0; line-height: normal"
        self._publish(
            console.export_html(
                code_format=f'<pre style="{style}">{{code}}</pre>', inline_styles=True, clear=False
            ),
            console.export_text().rstrip(),
        )

    def _publish(self, html: str, text: str) -> None:
        from IPython.display import display

        shown = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def end(self, name: str, seconds: float) -> None:
        """Leave nothing: a notebook that is run again should be the same."""
        self._publish("", "")


def _new_bars() -> rich.progress.Progress:
    # Here, because rich takes time to import, which work that is quick does not need.
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[told]}", markup=False),
        expand=True,
        auto_refresh=False,
    )


class _Display:
    """Shows the phases of one thread until the outermost one ends."""

    def __init__(self, *, line: _AbstractLine | None, silent_since: float) -> None:
        self.phases: list[_Phase] = []
        self.line = line
        self.silent_since = silent_since
        self.thread = threading.get_ident()
        self._shown = False
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def begin(self) -> None:
        # Exact work cannot say how far it is: a thread says at least that it is under way. In the
        # context of the caller, by which a notebook knows whose cell the line belongs to.
        watch = contextvars.copy_context().run
        threading.Thread(target=watch, args=(self._watch,), daemon=True).start()

    def _watch(self) -> None:
        while not self._ended.wait(min(LOOK, PATIENCE)):
            with self._lock:
                phases = list(self.phases)
                if phases and not self._ended.is_set():
                    self._show(phases)

    def _show(self, phases: list[_Phase]) -> None:
        now = time.monotonic()
        if self.line is not None:
            if now - self.silent_since >= PATIENCE:
                self._shown = True
                self.line.show(_named(phases), phases[-1])
            return
        for place, phase in enumerate(phases):
            if now - phase.start >= PATIENCE and not phase.told:
                phase.told = True
                _write(f"{_named(phases[: place + 1])} …\n")

    def end(self) -> None:
        self._ended.set()
        with self._lock:
            if self._shown and self.line is not None:
                self.silent_since = time.monotonic()
                whole = self.phases[0]
                self.line.end(whole.name, time.monotonic() - whole.start)


_display: _Display | None = None
#: When the last outermost phase ended, and since when nothing had been shown.
_last = (0.0, 0.0)


@contextmanager
def phase(name: str) -> Iterator[Callable[[int, int], None]]:
    """Name what is being done; yields a callback (done, total) for work that knows how far it is.

    Also a decorator of functions. It costs microseconds, and nothing in other threads than the one
    that began.
    """
    if _display is None and not _interactive():
        yield _nobody
        return
    if _display is None:
        with _outermost(name, quiet=False, silent_since=time.monotonic()) as report:
            yield report
        return
    known = _display.phases
    if _display.thread != threading.get_ident() or (known and known[-1].name == name):
        yield known[-1].update if known and known[-1].name == name else _nobody
        return
    mine = _Phase(name=visible(name))
    known.append(mine)
    watched.say(_named(known))
    try:
        yield mine.update
    finally:
        known.remove(mine)
        watched.say(_named(known))


@contextmanager
def _outermost(
    name: str, *, quiet: bool, silent_since: float
) -> Iterator[Callable[[int, int], None]]:
    """Begin a display with its first phase; ``quiet``: of nothing, this and all within."""
    global _display, _last
    display = _Display(line=_line(), silent_since=silent_since)
    mine = _Phase(name=visible(name))
    display.phases.append(mine)
    watched.say(name)
    _display = display
    if not quiet:
        display.begin()
    try:
        yield mine.update
    finally:
        _display = None
        display.end()
        _last = time.monotonic(), display.silent_since


class Progress:
    """Progress of a command's phases.

    Attributes:
        quiet: Whether to show nothing at all.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    @contextmanager
    def __call__(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Name a phase; yields a callback (done, total)."""
        if _display is not None:
            opened = phase(name)
        else:
            # Short phases one after the other are a long silence.
            now, (ended, since) = time.monotonic(), _last
            since = since if now - ended < LOOK else now
            opened = _outermost(name, quiet=self.quiet, silent_since=since)
        with opened as report:
            yield report


def both(*reports: Callable[[int, int], None] | None) -> Callable[[int, int], None]:
    """Return a callback that calls all of some, those that there are."""

    def report(done: int, total: int) -> None:
        for each in reports:
            if each is not None:
                each(done, total)

    return report


def _named(phases: list[_Phase]) -> str:
    """Return the outermost phase and what is done in it."""
    return ": ".join(dict.fromkeys((phases[0].name, phases[-1].name)))


def _nobody(done: int, total: int) -> None:
    """Tell nobody: another thread's progress is shown."""


def _line() -> _AbstractLine | None:
    """Return a line that can be rewritten where somebody watches; None where there is none."""
    if _notebook():
        return _NotebookLine()
    return _TerminalLine() if sys.stderr is not None and sys.stderr.isatty() else None


def _interactive() -> bool:
    """Whether somebody watches who works in Python: no command of symreln's and no child of one."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    started = main is not None and main.name.startswith("symreln.")
    processes = sys.modules.get("multiprocessing")
    child = processes is not None and processes.parent_process() is not None
    own = started or child or "symreln.cli.main" in sys.modules
    return not own and _line() is not None


def _notebook() -> bool:
    """Whether this process is a kernel; IPython in a terminal is none."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # closed, or there is none
        return
