"""Who does the tasks: processes of this machine, or a dask cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from types import ModuleType
from typing import Any

from symreln.base.processes import end_with_parent
from symreln.errors import InputError

_CONNECT_SECONDS = 15


class _Processes(ProcessPoolExecutor):
    """Processes that do not run the caller's script: what they do is in symreln.

    Else a script without ``if __name__ == "__main__"`` would start its sweep again in each of them.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a task over; starts a process where one is missing."""
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            sys.modules["__main__"] = script


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Start processes on this machine, which end with the block and with this process."""
    with _Processes(
        workers,
        # A process that has threads must not be copied.
        mp_context=get_context("spawn"),
        initializer=end_with_parent,
        initargs=(os.getpid(),),
    ) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for child in active_children():  # in the middle of what nobody waits for any more
                child.kill()
            raise


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Use a ``dask.distributed`` cluster: ``pip install 'symreln[dask]'``.

    Its workers need the same symreln and the spec's files at the same path.

    Args:
        address: Of the scheduler, such as ``tcp://10.0.0.1:8786``.

    Raises:
        InputError: dask.distributed is not installed, or nobody answers there.
    """
    with _connect(address) as client:
        yield client.get_executor(pure=False)  # no task is taken for another


def cluster_size(address: str) -> int:
    """Return how many tasks a cluster does at a time, one at least.

    Raises:
        InputError: dask.distributed is not installed, or nobody answers there.
    """
    with _connect(address) as client:
        return max(1, sum(client.nthreads().values()))


def _connect(address: str) -> Any:
    try:
        from dask.distributed import Client
    except ImportError as error:
        msg = "--dask needs dask.distributed: python -m pip install 'symreln[dask]'"
        raise InputError(msg) from error
    try:
        return Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        msg = f"--dask {address}: no scheduler answers there ({type(error).__name__})"
        raise InputError(msg) from error
