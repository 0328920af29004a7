"""Work that a process beside this one does, whose imports take as long as the work itself.

What it cannot do is done here: by the same functions, and so with the same errors.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from importlib import import_module
from threading import Lock, Thread
from typing import ParamSpec, TypeVar

from symreln.base.processors import cores

P = ParamSpec("P")
R = TypeVar("R")
#: The process that runs beside this one.
_beside: ProcessPoolExecutor | None = None
#: How often work was begun.
_count = 0


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
    before, others = _beside, multiprocessing.active_children()
    _beside = ProcessPoolExecutor(1, initializer=_prepare, initargs=(modules,))
    begin(int)  # it starts with its first task
    started = [each for each in multiprocessing.active_children() if each not in others]
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
    global _count
    answer, _count = None, _count + 1
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


def offer(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have work done beside this, or here where what was begun before is not done by then.

    So it is asked for without waiting for others, and sent only where there is time for it and
    nothing was begun meanwhile.
    """
    taken, begun, count = Lock(), Future[Callable[[], R]](), _count

    def send(before: Future[int]) -> None:
        if before.exception() is None and count == _count and taken.acquire(blocking=False):
            begun.set_result(begin(work, *args, **named))

    @cache
    def found() -> R:
        return work(*args, **named) if taken.acquire(blocking=False) else begun.result()()

    if _beside is not None:
        with contextlib.suppress(Exception):  # it is dead
            _beside.submit(int).add_done_callback(send)
    return found


def _prepare(modules: tuple[str, ...]) -> None:
    """Make a process ready: it ends with its parent, says nothing, and has none beside itself."""
    global _beside
    import numpy as np  # here, because most that begin work have no arrays

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()
    _beside = None
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    np.seterr(over="raise")  # what overflows is done by those who asked, who say what comes of it
    for name in modules:
        import_module(name)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # of a process that was begun
    parent.join()
    os._exit(1)
