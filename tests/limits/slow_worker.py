"""A worker that misbehaves in the way that SLOW_WORKER names: mostly after the first spectrum."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from flint import fmpz_mat

from symreln.cli import child
from symreln.exact import spectrum
from symreln.experiment import confront
from symreln.pipeline.derive import derive
from symreln.report import write


def sleep() -> None:
    time.sleep(600)


def flint() -> None:
    """Compute for minutes within one call that holds the interpreter's lock."""
    size = 420
    entries = [(i * i * 7919 + 13 * i) % 10**6 for i in range(size * size)]
    fmpz_mat(size, size, entries).charpoly()


def allocate() -> None:
    kept = []
    while True:
        kept.append(b"x" * (16 << 20))


def refuse() -> None:
    raise MemoryError


def spawn() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    note("grandchild", child.pid)
    time.sleep(600)


def die() -> None:
    os.kill(os.getpid(), getattr(signal, os.environ["SLOW_WORKER"]))
    time.sleep(600)


def note(name: str, pid: int) -> None:
    folder = os.environ.get("SLOW_WORKER_NOTES")
    if folder:
        Path(folder, name).write_text(str(pid))


def slow(*arguments: object, found: list[object] = []):  # noqa: B006  calls are counted
    if found:
        note("worker", os.getpid())
        globals().get(os.environ["SLOW_WORKER"], die)()
    found.append(first(*arguments))  # pyright: ignore[reportArgumentType]
    return found[-1]


def train(*_: object, **__: object) -> None:
    note("training", os.getpid())
    time.sleep(600)


def draw(*_: object, **__: object) -> None:
    note("drawing", os.getpid())
    time.sleep(600)


if __name__ == "__main__":
    if os.environ["SLOW_WORKER"] == "train":
        confront.validate = train
    elif os.environ["SLOW_WORKER"] == "draw":
        write.write_derivation = draw  # pyright: ignore[reportAttributeAccessIssue]
    else:
        first, spectrum.joint_spectrum = spectrum.joint_spectrum, slow
        derive.__wrapped__.__kwdefaults__["spectrum"] = slow  # pyright: ignore[reportFunctionMemberAccess]
    child.main()
