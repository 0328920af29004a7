"""Who does the tasks: processes of this machine, or a dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any

from symreln.base.processes import end_with_parent
from symreln.errors import InputError

_CONNECT_SECONDS = 15


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Start processes on this machine, which end with the block and with this process."""
    with ProcessPoolExecutor(
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
