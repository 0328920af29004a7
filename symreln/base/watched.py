"""The child of a command within limits, and its workers (:mod:`symreln.cli.limited`).

They say what they do in a file, and are not ended amid files that take their places together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

#: Names in the environment the file in which a child says what it does.
FILE = "SYMRELN_WATCHED"
_LENGTH = 400


def is_watched() -> bool:
    """Return whether this process is such a child, or a worker of one."""
    return FILE in os.environ


@contextmanager
def undisturbed() -> Iterator[None]:
    """No limit ends this process within."""
    if not is_watched():
        yield
        return
    import fcntl  # here, because Windows has none, and no limits

    with open(os.environ[FILE], "rb") as file:
        # Shared: the parent alone, which is about to end all, locks the file for itself.
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def say(doing: str) -> None:
    """Say what is being done, in one write: its reader finds the old text or the new one."""
    if is_watched():
        with open(os.environ[FILE], "r+b", buffering=0) as file:
            file.write(doing.encode()[:_LENGTH].ljust(_LENGTH))
