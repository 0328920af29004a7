"""A command within limits: a child does it, and ends with all that it started at one of them.

A child, because no signal that Python handles interrupts a long call of FLINT.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO

import psutil

from symreln.base import watched
from symreln.base.jsonio import written_by
from symreln.base.terminal import say
from symreln.base.units import shown_bytes, shown_seconds
from symreln.report.folder import without_empty

#: The exit code where a limit was reached.
REACHED = 4
#: Between two looks at the child. The shorter, the less a fast allocation gets beyond its limit.
_POLL_SECONDS = 0.1
_TRACKER = "ignore::UserWarning:multiprocessing.resource_tracker"


def limited(
    arguments: Sequence[str], out: Path | None, seconds: float | None, size: int | None
) -> int:
    """Do a command in a child; return its exit code, or 4 where a limit was reached.

    Args:
        arguments: What was typed after ``symreln``, the limits too.
        out: Folder for the results, where the command has one of its own.
        seconds: Limit of time, or None.
        size: Limit of memory in bytes, or None.
    """
    before = _files(out)
    # The child's own temporary files are there too, and go with the folder.
    folder = tempfile.TemporaryDirectory(prefix="symreln-", ignore_cleanup_errors=True)
    with folder, Path(folder.name, "status").open("w+b") as status, without_empty(out or Path()):
        child = _started(arguments, status.name)
        try:
            reached = _reached(child, seconds, size)
        finally:
            code = child.poll()
            killed = _end(child, status)
            new = _files(out) - before
            if code is None or code < 0:  # one that ended by itself has left nothing to clear
                _clear({path for path, _ in new} - {path for path, _ in before}, killed)
        ended = child.returncode or 0
        if not reached and ended >= 0:
            return ended
        text = f"{reached or f'signal {-ended} ended the work'} while {_said(status) or 'starting'}"
        if out is not None:
            left = sum(path.is_file() for path, _ in new)
            text += f"; {left or 'no'} finished files are new in {out}"
        say(f"symreln: {text}", err=True)
        return REACHED if reached else 128 - ended


def _started(arguments: Sequence[str], status: str) -> psutil.Popen:
    """Start the same command, which says in a file what it is doing."""
    # A session of its own: Ctrl-C reaches this process alone, which ends the child.
    return psutil.Popen(
        [sys.executable, "-P", "-m", "symreln", *arguments],
        env={
            **os.environ,
            watched.FILE: status,
            "TMPDIR": str(Path(status).parent),
            # Its resource tracker says so when it removes the semaphores of processes that were
            # killed.
            "PYTHONWARNINGS": ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), _TRACKER))),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        start_new_session=True,
    )


def _reached(child: psutil.Popen, seconds: float | None, size: int | None) -> str:
    """Wait for a limit and return which it was; "" where the child ends before."""
    start = time.monotonic()
    while child.poll() is None:
        if seconds is not None and time.monotonic() - start >= seconds:
            return f"time limit {shown_seconds(seconds)} reached"
        if size is not None and (used := _memory(child)) > size:
            return f"memory limit {shown_bytes(size)} reached: {shown_bytes(used)} were in use"
        time.sleep(_POLL_SECONDS)
    return ""


def _memory(child: psutil.Popen) -> int:
    """Return the resident bytes of a child and of all that it started."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):  # one has just ended
        for each in (child, *child.children(recursive=True)):
            total += each.memory_info().rss
    return total


def _end(child: psutil.Popen, status: IO[bytes]) -> set[int]:
    """End a child with all that it started, none amid :func:`watched.undisturbed`; return which.

    Python's resource tracker ends by itself, when it has removed what the others leave in memory.
    """
    fcntl.flock(status, fcntl.LOCK_EX)
    ended = {child.pid}
    with contextlib.suppress(psutil.NoSuchProcess):
        child.suspend()  # it starts no other meanwhile
        for each in child.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if "multiprocessing.resource_tracker import" not in " ".join(each.cmdline()):
                    each.kill()
                    ended.add(each.pid)
        child.kill()
    child.wait()
    return ended


def _said(status: IO[bytes]) -> str:
    """Return what the child says that it is doing."""
    status.seek(0)
    return status.read().decode(errors="ignore").strip()


def _files(folder: Path | None) -> set[tuple[Path, int]]:
    """Return what a folder holds, with the time of its last change."""
    found = set()
    for path in () if folder is None else folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # another program's, gone meanwhile
            found.add((path, path.lstat().st_mtime_ns))
    return found


def _clear(paths: Collection[Path], writers: Collection[int]) -> None:
    """Remove what some processes were writing, and folders that are empty, among new paths."""
    for path in sorted(paths, reverse=True):  # what lies in a folder, before the folder
        with contextlib.suppress(OSError):  # another program's, or it is gone
            if written_by(path) in writers:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            elif path.is_dir():
                path.rmdir()
