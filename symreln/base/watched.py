"""The child of a command within limits says what it does (:mod:`symreln.cli.limited`).

Its worker processes are no children of that kind, but they too are not ended amid files that take
their places together.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Names in the environment the file in which a child says what it does.
FILE = "SYMRELN_WATCHED"
_LENGTH = 400
_PR_SET_PDEATHSIG = 1
_file: int | None = None
_path: str | None = None


def begin() -> bool:
    """Return whether this process is such a child; on Linux it then ends with its parent."""
    path = os.environ.pop(FILE, None)  # what this process starts is none
    if path is not None:
        join(path)
        if sys.platform == "linux":
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return _file is not None


def path() -> str | None:
    """Return the file in which this process says what it does, for its workers to join."""
    return _path


def join(path: str | None) -> None:
    """Take part in what the process is watched for that has started this one."""
    global _file, _path
    if path is not None:
        _file, _path = os.open(path, os.O_WRONLY), path


@contextmanager
def undisturbed() -> Iterator[None]:
    """No limit ends this process within."""
    if _file is None:
        yield
        return
    import fcntl

    # Shared: the parent alone, which is about to end all, locks the file for itself.
    fcntl.flock(_file, fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(_file, fcntl.LOCK_UN)


def say(doing: str) -> None:
    """Say what is being done, in one write: its reader finds the old text or the new one."""
    if _file is not None:
        os.pwrite(_file, doing.encode()[:_LENGTH].ljust(_LENGTH), 0)
