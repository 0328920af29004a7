"""A command within limits: a child does it, and ends with all that it started at one of them.

A child, because no signal that Python handles interrupts a long call of FLINT.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

import click
import psutil

from symreln.base import watched
from symreln.base.units import shown_bytes, shown_seconds
from symreln.report.folder import MOVING, without_empty

#: The exit code where a limit was reached.
REACHED = 4
#: Seconds between two looks. The shorter, the less a fast allocation gets beyond its limit.
_LOOK = 0.1


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
    with tempfile.NamedTemporaryFile(prefix="symreln-") as told, without_empty(out or Path()):
        child = _started(arguments, told.name)
        try:
            reached = _reached(child, seconds, size)
        finally:
            code = child.poll()
            _end(child, told)
            # A child that ended by itself has left no draft: any there is another program's.
            new = _files(out) - before if code is None or code < 0 else set()
            _clear(path for path, _ in new)
        ended = child.returncode or 0
        if not reached and ended >= 0:
            return ended
        text = f"{reached or f'signal {-ended} ended the work'} while {_said(told) or 'starting'}"
        if out is not None:
            left = sum(path.is_file() for path, _ in new)
            text += f"; {left or 'no'} finished files are new in {out}"
        click.echo(f"symreln: {text}", err=True)
        return REACHED if reached else 128 - ended


def _started(arguments: Sequence[str], told: str) -> psutil.Popen:
    """Start the same command, which says in a file what it is doing."""
    # A session of its own: Ctrl-C reaches this process alone, which ends the child.
    return psutil.Popen(
        [sys.executable, "-P", "-m", "symreln", *arguments],
        env={
            **os.environ,
            watched.FILE: told,
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
        time.sleep(_LOOK)
    return ""


def _memory(child: psutil.Popen) -> int:
    """Return the resident bytes of a child and of all that it started."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):  # one has just ended
        for each in (child, *child.children(recursive=True)):
            total += each.memory_info().rss
    return total


def _end(child: psutil.Popen, told: IO[bytes]) -> None:
    """End a child with all that it started, but not while files take their places together."""
    while child.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.suspend()
            time.sleep(0.01)
            if _said(told).endswith(MOVING):
                child.resume()
                time.sleep(0.01)
                continue
            for each in child.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()
            child.kill()
        child.wait()


def _said(told: IO[bytes]) -> str:
    """Return what the child says that it is doing."""
    told.seek(0)
    return told.read().decode(errors="ignore").strip()


def _files(folder: Path | None) -> set[tuple[Path, int]]:
    """Return what a folder holds, with the time of its last change."""
    found = set()
    for path in () if folder is None else folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # another program's, gone meanwhile
            found.add((path, path.lstat().st_mtime_ns))
    return found


def _clear(paths: Iterable[Path]) -> None:
    """Remove what was being written."""
    for path in paths:
        if path.name.startswith(".") and path.suffix == ".tmp":
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
