"""The child of a command within limits says what it does (:mod:`symreln.cli.limited`)."""

from __future__ import annotations

import os
import signal
import sys

#: Names in the environment the file in which a child says what it does.
FILE = "SYMRELN_WATCHED"
_LENGTH = 400
_PR_SET_PDEATHSIG = 1
_file: int | None = None


def begin() -> bool:
    """Return whether this process is such a child; it then ends with its parent."""
    global _file
    path = os.environ.pop(FILE, None)  # what this process starts is none
    if path is not None:
        _file = os.open(path, os.O_WRONLY)
        if sys.platform == "linux":
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return _file is not None


def say(doing: str) -> None:
    """Say what is being done, in one write: its reader finds the old text or the new one."""
    if _file is not None:
        os.pwrite(_file, doing.encode()[:_LENGTH].ljust(_LENGTH), 0)
