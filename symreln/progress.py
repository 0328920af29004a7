"""Progress on stderr of work that takes long."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds of silence before progress is shown: what is quicker needs none.
PATIENCE = 2.0


class Progress:
    """Progress of named phases on stderr, shown once a phase takes longer than two seconds.

    Attributes:
        quiet: Whether to show nothing at all.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    @contextmanager
    def __call__(self, phase: str) -> Iterator[Callable[[int, int], None]]:
        """Time a phase; yields a callback (done, total)."""
        line = _ProgressLine(phase, quiet=self.quiet)
        try:
            yield line.update
        finally:
            line.close()


class _ProgressLine:
    """One line that is rewritten on a terminal, and printed every quarter elsewhere."""

    def __init__(self, phase: str, *, quiet: bool) -> None:
        self.phase = phase
        self.quiet = quiet
        self.start = time.monotonic()
        self.shown = ""
        self.terminal = sys.stderr.isatty()
        # Exact work cannot say how far it is: a timer says at least that it is under way.
        self.timer = threading.Timer(PATIENCE, self._under_way)
        self.timer.daemon = True
        if not quiet:
            self.timer.start()

    def _under_way(self) -> None:
        if not self.shown:
            self._show(f"\r{self.phase} … " if self.terminal else f"{self.phase} …\n")

    def update(self, done: int, total: int) -> None:
        elapsed = time.monotonic() - self.start
        if self.quiet or elapsed < PATIENCE or not total:
            return
        share = done / total
        left = elapsed * (1 - share) / share if share else float("inf")
        if self.terminal:
            self._show(f"\r{self.phase}: {share:4.0%}, about {left:.0f} s left ")
        else:
            quarter = f"{self.phase}: {int(share * 4) * 25} %\n"
            if quarter != self.shown:
                self._show(quarter)

    def _show(self, text: str) -> None:
        self.shown = text
        click.echo(text, err=True, nl=False)

    def close(self) -> None:
        self.timer.cancel()
        elapsed = time.monotonic() - self.start
        if self.quiet or (elapsed < PATIENCE and not self.shown):
            return
        lead = "\r" if self.terminal else ""
        click.echo(f"{lead}{self.phase}: {elapsed:.1f} s                    ", err=True)
