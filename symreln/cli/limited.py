"""A command within limits: a child does it, and ends with all that it started at one of them.

A child, because no signal that Python handles interrupts a long call of FLINT.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from symreln.base import watched
from symreln.base.console import say
from symreln.report.results_folder import without_empty

#: Between two looks at the child. The shorter, the less a fast allocation gets beyond its limit.
_POLL_SECONDS = 0.1
_PR_SET_PDEATHSIG = 1
#: It ends by itself, when it has removed what the others leave in memory, and says so.
_TRACKER = "multiprocessing.resource_tracker"


def limited(
    arguments: Sequence[str], out: Path | None, seconds: float | None, megabytes: float | None
) -> int:
    """Do a command in a child; return its exit code, or 4 where a limit was reached.

    Args:
        arguments: What was typed after ``symreln``, the limits too.
        out: Folder for the results, where the command has one of its own.
        seconds: Limit of time, or None.
        megabytes: Limit of memory, of 2^20 bytes, or None.
    """
    # The child's own temporary files are there too, and go with the folder.
    folder = TemporaryDirectory(prefix="symreln-", ignore_cleanup_errors=True)
    with folder, without_empty(out or Path()):
        status = Path(folder.name, "status")
        status.touch()
        child = _started(arguments, status)
        try:
            reached = _reached(child, seconds, megabytes)
        finally:
            ended = _end(child, status)
            if out is not None and child.returncode < 0:  # one that ended by itself left nothing
                _clear(out, ended)
        if not reached and child.returncode >= 0:
            return child.returncode
        doing = status.read_text("utf-8", errors="ignore").strip() or "starting"
        reached_text = reached or f"signal {-child.returncode} ended the work"
        say(f"symreln: {reached_text} while {doing}", err=True)
        return 4 if reached else 128 - child.returncode


def _started(arguments: Sequence[str], status: Path) -> psutil.Popen:
    """Start the same command, which says in a file what it is doing."""
    quiet = f"ignore::UserWarning:{_TRACKER}"
    # A session of its own: Ctrl-C reaches this process alone, which ends the child.
    return psutil.Popen(
        [sys.executable, "-P", "-m", "symreln", *arguments],
        env={
            **os.environ,
            watched.FILE: str(status),
            "TMPDIR": str(status.parent),
            "PYTHONWARNINGS": ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), quiet))),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        start_new_session=True,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _reached(child: psutil.Popen, seconds: float | None, megabytes: float | None) -> str:
    """Wait for a limit and return which it was; "" where the child ends before."""
    start = time.monotonic()
    while child.poll() is None:
        if seconds is not None and time.monotonic() - start >= seconds:
            return f"time limit {seconds:g} s reached"
        if megabytes is not None and (used := _memory(child)) > megabytes:
            return f"memory limit {megabytes:g} MB reached: {used:.0f} MB were in use"
        time.sleep(_POLL_SECONDS)
    return ""


def _memory(child: psutil.Popen) -> float:
    """Return the resident megabytes of a child and of all that it started."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):  # one has just ended
        for each in (child, *child.children(recursive=True)):
            total += each.memory_info().rss
    return total / 2**20


def _end(child: psutil.Popen, status: Path) -> set[int]:
    """End a child with all that it started, none amid :func:`watched.undisturbed`; return which."""
    ended = {child.pid}
    with status.open("rb") as file, contextlib.suppress(psutil.NoSuchProcess):
        fcntl.flock(file, fcntl.LOCK_EX)
        child.suspend()  # it starts no other meanwhile
        for each in child.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if f"{_TRACKER} import" not in " ".join(each.cmdline()):
                    each.kill()
                    ended.add(each.pid)
        child.kill()
    child.wait()
    return ended


def _clear(folder: Path, writers: Collection[int]) -> None:
    """Remove what some processes were writing."""
    for path in folder.rglob(".*.tmp"):
        if _written_by(path) in writers:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _written_by(draft: Path) -> int | None:
    """Return the process that a draft's name is of, None where it is no draft.

    Example:
        >>> from symreln.base.jsonio import draft_name
        >>> _written_by(draft_name(Path("derivation.json"))) == os.getpid()
        True
        >>> _written_by(Path("derivation.json"))
    """
    found = re.fullmatch(r"\..*\.(\d+)-[0-9a-f]{12}\.tmp", draft.name)
    return found and int(found[1])
