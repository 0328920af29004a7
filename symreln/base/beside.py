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
from functools import cache, partial
from importlib import import_module
from itertools import count
from queue import PriorityQueue
from threading import Lock, Thread
from typing import ParamSpec, TypeVar

from symreln.base.processors import cores

P = ParamSpec("P")
R = TypeVar("R")
#: The rank of what is done beside this whatever comes.
_HANDED_OVER = 1
#: The process that runs beside this one.
_beside: _Beside | None = None
_counts = count()


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
    beside = _beside = _Beside(modules)
    begin(int)  # it starts with its first task
    started = [each for each in multiprocessing.active_children() if each not in others]
    try:
        yield
    finally:
        for process in started:
            process.kill()
        beside.pool.shutdown()
        _beside = before


def begin(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have some work done beside this, or here where it is asked for before that is begun.

    Args:
        work: A function of a module, which changes nothing.
        args: Its arguments.
        named: Likewise.

    Returns:
        What returns its result when it is there.
    """
    return _ask(0, work, *args, **named)


def hand_over(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have work done beside this after what was begun, even where that takes waiting for it.

    So it is for work whose modules are imported there, and not here.
    """
    return _ask(_HANDED_OVER, work, *args, **named)


def offer(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have work done beside this, after all else that is there to do, or here; as :func:`begin`."""
    return _ask(2, work, *args, **named)


def _ask(rank: int, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    answer, beside = Future[R](), _beside
    if beside is not None:
        beside.waiting.put((rank, next(_counts), answer, partial(work, *args, **named)))
        beside.send()

    @cache
    def found() -> R:
        if beside is not None and (rank == _HANDED_OVER or not answer.cancel()):
            with contextlib.suppress(Exception):  # it failed there, or could not be sent
                return answer.result()
        return work(*args, **named)

    return found


class _Beside:
    """A process, and what it is to do: it takes the first of what waits when it is free."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.pool = ProcessPoolExecutor(1, initializer=_prepare, initargs=(modules,))
        self.waiting = PriorityQueue[tuple[int, int, Future, Callable]]()
        self.free = Lock()

    def send(self) -> None:
        """Send the first of what waits, where the process is free."""
        while not self.waiting.empty() and self.free.acquire(blocking=False):
            *_, answer, work = self.waiting.get()
            if answer.set_running_or_notify_cancel():
                try:
                    self.pool.submit(work).add_done_callback(partial(self._done, answer))
                    return
                except Exception as dead:
                    answer.set_exception(dead)
            self.free.release()

    def _done(self, answer: Future, found: Future) -> None:
        self.free.release()
        self.send()
        if found.exception() is None:
            answer.set_result(found.result())
        else:
            answer.set_exception(found.exception())


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
