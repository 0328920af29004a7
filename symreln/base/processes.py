"""Child processes that end with this one, and what memory they have."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Seconds between two searches for the children's own children; in between only known processes
#: are asked.
_SEARCH_SECONDS = 0.25
#: Seconds between two looks for the parent, where the system does not tell of its end.
_PARENT_SECONDS = 0.5


class Child:
    """One Python module as a child in a process group of its own, told one line of JSON.

    Attributes:
        process: The process.
    """

    def __init__(self, module: str, request: dict[str, Any]) -> None:
        root = str(Path(__file__).resolve().parents[2])
        paths = filter(None, [root, os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            # A group of its own: it is ended with all that it started, and Ctrl-C reaches this
            # process only, which then ends it.
            start_new_session=os.name == "posix",
        )
        self._members: tuple[int, ...] = (self.process.pid,)
        self._searched = 0.0
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self.process.poll()

    def kill(self) -> None:
        """End it and everything that it started, now."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def memory(self) -> int:
        """Return the resident bytes of the process and all that it started."""
        now = time.monotonic()
        if now - self._searched > _SEARCH_SECONDS:
            self._members = tuple(session_members(self.process.pid))
            self._searched = now
        return sum(resident_bytes(pid) for pid in self._members)


def resident_bytes(pid: int) -> int:
    """Return the resident bytes of a process, 0 where it is gone."""
    if os.path.isdir("/proc/self"):
        try:
            with open(f"/proc/{pid}/statm", "rb") as stream:
                return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            return 0
    found = _ps("-o", "rss=", "-p", str(pid))
    return sum(int(word) for word in found.split()) * 1024


def session_members(leader: int) -> Iterator[int]:
    """Yield the processes of the session that ``leader`` started."""
    if not os.path.isdir("/proc/self"):
        for line in _ps("-axo", "pid=,sess=").splitlines():
            words = line.split()
            if len(words) == 2 and words[1] == str(leader):
                yield int(words[0])
        yield leader
        return
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                with open(f"/proc/{entry}/stat", "rb") as stream:
                    # After the name, which may hold anything but is closed by the last bracket:
                    # state, parent, group, session.
                    fields = stream.read().rpartition(b")")[2].split()
                if int(fields[3]) == leader:
                    yield int(entry)


def _ps(*arguments: str) -> str:
    try:
        return subprocess.run(
            ["ps", *arguments], capture_output=True, text=True, check=False
        ).stdout
    except OSError:
        return ""


def can_measure_memory() -> bool:
    """Whether the memory of other processes can be read here."""
    return os.name == "posix" and resident_bytes(os.getpid()) > 0


# -- within a child -------------------------------------------------------------------------------


def first_message() -> dict[str, Any]:
    """Return what the parent asks for; this process ends with it from now on.

    To be called before anything slow is imported: that takes long enough for the parent to die.
    """
    die_with_parent()
    line = sys.stdin.buffer.readline()
    if not line:  # the parent is gone already
        os._exit(1)
    message = json.loads(line)
    _end_if_orphaned(message["parent"])
    return message


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends, in whatever way, or now if it is gone.

    To be called before anything slow is imported: that takes long enough for the parent to die.
    Of an interrupt the parent tells the user.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    die_with_parent()
    _end_if_orphaned(parent)
    if os.name == "posix" and sys.platform != "linux":
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while True:
        _end_if_orphaned(parent)
        time.sleep(_PARENT_SECONDS)


def die_with_parent() -> None:
    """Have the system end this process when its parent dies, where the system can (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes

    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_if_orphaned(parent: int) -> None:
    """End this process at once if its parent died before :func:`die_with_parent` was called."""
    if os.name == "posix" and os.getppid() != parent:
        os._exit(1)


def bound_itself(time_limit: float | None, memory_limit: int | None) -> None:
    """Set the system's own limits well beyond the watched ones, as a second line of defence.

    They hold where nobody watches any more. Address space counts what is reserved and never used,
    of which every thread has some; processor time counts all threads.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    threads = os.cpu_count() or 1
    if memory_limit is not None:
        _lower(resource.RLIMIT_AS, memory_limit + (4 << 30) + threads * (128 << 20))
    if time_limit is not None:
        _lower(resource.RLIMIT_CPU, int(time_limit * threads) + 60)


def _lower(kind: int, value: int) -> None:
    import resource

    soft, hard = resource.getrlimit(kind)
    bounds = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (min([value, *bounds]), hard))
