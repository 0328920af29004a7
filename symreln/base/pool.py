"""Worker processes on this machine, which end with what started them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from types import ModuleType
from typing import Any

from symreln.errors import LimitReachedError

#: A process that has threads must not be copied, so workers are started anew.
CONTEXT = get_context("spawn")
_STARTING = threading.Lock()


@contextmanager
def processes(workers: int, shared: Any = None) -> Iterator[Executor]:
    """Start worker processes, which end with the block and with this process.

    Args:
        workers: How many at most.
        shared: What :func:`shared_memory` returns in them, such as an array of :data:`CONTEXT`.

    Raises:
        LimitReachedError: A worker was killed.
    """
    before = active_children()
    executor = _Processes(workers, mp_context=CONTEXT, initializer=_begin, initargs=(shared,))
    try:
        with executor:
            try:
                yield executor
            except BaseException:
                for child in active_children():
                    if child not in before:
                        child.kill()  # amid work that nobody waits for any more
                executor.shutdown(cancel_futures=True)
                raise
    except BrokenExecutor as error:
        msg = (
            "a worker process was killed, as systems do that are short of memory. What is "
            "written stays; start the same command again"
        )
        raise LimitReachedError(msg) from error


class _Processes(ProcessPoolExecutor):
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a task over; starts a process where one is missing."""
        with _without_script():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def _without_script() -> Iterator[None]:
    """Start processes that run no script and that no Ctrl-C reaches: their parent ends them.

    A script without ``if __name__ == "__main__"`` would start its work again in each of them.
    """
    masks = hasattr(signal, "pthread_sigmask")  # not on Windows
    with _STARTING:
        held = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if masks else None
        script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script
            if held is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)


_shared: Any = None


def shared_memory() -> Any:
    """Return what the process that started this worker shares with it."""
    return _shared


def _begin(shared: Any) -> None:
    global _shared
    _shared = shared
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end as soon as the one does that has started it."""
    threading.Thread(target=_end_after, args=(parent_process(),), daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)
