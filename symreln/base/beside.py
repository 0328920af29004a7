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
from enum import IntEnum
from functools import cache, partial
from importlib import import_module
from itertools import count
from queue import PriorityQueue
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from symreln.base.pool import end_with_parent
from symreln.base.processors import cores

P = ParamSpec("P")
R = TypeVar("R")


class _Rank(IntEnum):
    """In which order work that waits is done."""

    SOON, THERE, LATE, END = range(4)


_Waiting = PriorityQueue[tuple[_Rank, int, tuple[Future[Any], Callable[[], Any]] | None]]
#: What waits for the process beside this one, where there is one.
_beside: _Waiting | None = None
_counts = count()


@contextlib.contextmanager
def helper(*modules: str, first: str = "") -> Iterator[None]:
    """Have work that is begun done by a process of its own, which ends with the block.

    It is started where there is a core for it, and this process has not imported yet what the work
    needs.

    Args:
        modules: What it imports at once.
        first: What it imports before these, and only there.
    """
    global _beside
    if sys.modules.keys() >= {*modules} or cores() == 1:
        yield
        return
    before, others = _beside, multiprocessing.active_children()
    pool = ProcessPoolExecutor(1, initializer=_prepare, initargs=((first, *modules),))
    pool.submit(int)  # it starts with its first task
    started = [each for each in multiprocessing.active_children() if each not in others]
    _beside = PriorityQueue()
    sender = Thread(target=_send, args=(pool, _beside), daemon=True)
    sender.start()
    try:
        yield
    finally:
        for process in started:
            process.kill()
        pool.shutdown()
        _beside.put((_Rank.END, next(_counts), None))
        sender.join()
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
    return _ask(_Rank.SOON, work, *args, **named)


def hand_over(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have work done beside this after what was begun, even where that takes waiting for it.

    So it is for work whose modules are imported there, and not here.
    """
    return _ask(_Rank.THERE, work, *args, **named)


def offer(work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    """Have work done beside this, after all else that is there to do, or here; as :func:`begin`."""
    return _ask(_Rank.LATE, work, *args, **named)


def _ask(rank: _Rank, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> Callable[[], R]:
    answer, beside = Future[R](), _beside
    if beside is not None:
        beside.put((rank, next(_counts), (answer, partial(work, *args, **named))))

    @cache
    def found() -> R:
        if beside is not None and (rank is _Rank.THERE or not answer.cancel()):
            with contextlib.suppress(Exception):  # it failed there, or could not be sent
                return answer.result()
        return work(*args, **named)

    return found


def _send(pool: ProcessPoolExecutor, waiting: _Waiting) -> None:
    """Have done what waits, one after the other by rank, until the end is what is left.

    In a thread of its own: what an executor calls when work is done may not give it more.
    """
    while (task := waiting.get()[-1]) is not None:
        answer, work = task
        if answer.set_running_or_notify_cancel():
            try:
                answer.set_result(pool.submit(work).result())
            except BaseException as failed:  # whatever it is, who asks is waiting
                answer.set_exception(failed)


def _prepare(modules: tuple[str, ...]) -> None:
    """Make a process ready: it ends with its parent, says nothing, and has none beside itself."""
    global _beside
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    _beside = None
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    # What overflows is done by those who asked, who say what comes of it.
    import_module("numpy").seterr(over="raise")
    for name in filter(None, modules):
        import_module(name)
