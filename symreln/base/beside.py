"""Work that a process beside this one does, whose imports take as long as the work itself.

What it cannot do is done here: by the same functions, and so with the same errors.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from threading import Thread
from typing import ParamSpec, TypeVar

from symreln.base.processors import cores

P = ParamSpec("P")
R = TypeVar("R")
#: The process that runs beside this one.
_beside: ProcessPoolExecutor | None = None


@contextlib.contextmanager
def helper(*modules: str) -> Iterator[None]:
    """Have work that is begun done by a process of its own, which ends with the block.

    It is started where there is a core for it, and this process has not imported yet what the work
    needs.

    Args:
        modules: What it imports at once.
    """
    global _beside
    if sys.modules.keys() >= {*modules} or cores() == 1:
        yield
        return
    before = _beside
    _beside = ProcessPoolExecutor(1, initializer=_prepare, initargs=(os.getpid(), modules))
    begin(int)  # it starts with its first task
    started = multiprocessing.active_children()
    try:
        yield
    finally:
        for process in started:
            process.kill()
        _beside.shutdown()
        _beside = before


def begin(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have some work done beside this; return what returns its result when it is there.

    Args:
        work: A function of a module, which changes nothing.
        args: Its arguments.
        named: Likewise.
    """
    answer = None
    if _beside is not None:
        with contextlib.suppress(Exception):  # it is dead
            answer = _beside.submit(work, *args, **named)

    @cache
    def found() -> R:
        if answer is not None:
            with contextlib.suppress(Exception):  # it failed there, or could not be sent
                return answer.result()
        return work(*args, **named)

    return found


def _prepare(parent: int, modules: tuple[str, ...]) -> None:
    """Make a process ready: it ends with its parent, and says nothing."""
    import numpy as np  # here, because most that begin work have no arrays

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    np.seterr(over="raise")  # what overflows is done by those who asked, who say what comes of it
    for name in modules:
        import_module(name)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
