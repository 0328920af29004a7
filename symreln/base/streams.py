"""The process's own streams: results that cannot be printed are an error, messages never are."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from symreln.errors import SymrelnError


class PrintError(SymrelnError):
    """Results cannot be printed.

    Attributes:
        reader_left: Whether that is because nobody reads them any more (``symreln tasks | head``).
    """

    def __init__(self, error: OSError) -> None:
        self.reader_left = isinstance(error, BrokenPipeError)
        super().__init__(
            f"standard output: {error.strerror}: not everything could be printed; files that were "
            "written stay. Send it to a file with room or to /dev/null"
        )


class _Results(io.FileIO):
    """Stdout. Its errors are no OSError, which click would take for its own."""

    def write(self, data: bytes | bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Write, or raise a PrintError."""
        try:
            return super().write(data)
        except OSError as error:
            raise PrintError(error) from error


class _Messages(io.FileIO):
    """Stderr; work does not end because nobody can be told of it."""

    def write(self, data: bytes | bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Write, or let go."""
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare() -> None:
    """Give this process three streams, whatever it was started with (``2>&-``, a full disk).

    A closed stdin is empty and a closed stderr takes everything; a closed stdout takes nothing:
    writing to it raises a PrintError, as every failure to print does.
    """
    if os.name != "posix":
        return
    # A file that is opened later must not get one of their numbers and be written to by a print.
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            os.dup2(opened, number)  # inherited by child processes, unlike what open returns
            if opened != number:
                os.close(opened)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _text(_Results(1, "wb", closefd=False), sys.stdout, "strict")
    sys.stderr = _text(_Messages(2, "wb", closefd=False), sys.stderr, "backslashreplace")


def _text(raw: io.FileIO, old: TextIO | None, errors: str) -> TextIO:
    """Return a stream of text over ``raw``, encoded as the one that it replaces."""
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(old, "encoding", None) or "utf-8",
        errors=getattr(old, "errors", None) or errors,
        line_buffering=raw.isatty() or raw.fileno() == 2,
    )


def let_go_of_stdout() -> None:
    """Let what is left in stdout's buffer, and all that follows, go nowhere."""
    opened = os.open(os.devnull, os.O_WRONLY)
    os.dup2(opened, 1)
    os.close(opened)
