"""A board's jobs on a ``dask.distributed`` cluster: ``pip install 'symreln[dask]'``.

A cluster's workers need the same symreln and the spec's files at the same path; they return the
bytes of results, and this process writes them. What a task asks and answers is text and bytes of
this program; what dask wraps around them is its own.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from symreln.errors import InputError, SymrelnError
from symreln.sweep.board import Board, Job
from symreln.sweep.files import decode
from symreln.sweep.tasks import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONNECT_SECONDS = 15
#: Jobs that wait at the cluster beside those under way, a thread of it.
AHEAD = 2
Task = tuple[Job, Request]


def run_on_cluster(board: Board, address: str) -> None:
    """Do all jobs of a board on the cluster of a scheduler.

    Args:
        board: What is to be done.
        address: Of the scheduler, such as ``tcp://10.0.0.1:8786``.

    Raises:
        InputError: dask.distributed is not installed, or nobody answers there.
    """
    client = _connect(address)
    from dask.distributed import as_completed

    try:
        under_way: dict[Any, Task] = {}
        arriving = as_completed()
        _submit(client, board, under_way, arriving)
        while under_way:
            future = next(arriving)
            _settle(board, under_way.pop(future), future)
            _submit(client, board, under_way, arriving)
    finally:
        client.close()


def _connect(address: str) -> Any:
    try:
        from dask.distributed import Client
    except ImportError as error:
        msg = "--dask needs dask.distributed: python -m pip install 'symreln[dask]'"
        raise InputError(msg) from error
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        msg = f"--dask {address}: no scheduler answers there ({type(error).__name__})"
        raise InputError(msg) from error


def _submit(client: Any, board: Board, under_way: dict[Any, Task], arriving: Any) -> None:
    """Send jobs while the cluster has room; each is a task of its own, never taken for another."""
    room = AHEAD * max(1, sum(client.nthreads().values()))
    while len(under_way) < room and (task := board.next(wait=False)) is not None:
        future = client.submit(answer, json.dumps(task[1]), pure=False)
        under_way[future] = task
        arriving.add(future)


def _settle(board: Board, task: Task, future: Any) -> None:
    from dask.distributed import KilledWorker

    job, request = task
    try:
        found = json.loads(future.result())
        files = None if "error" in found else _files(found["files"], request["names"])
    except KilledWorker:  # the cluster has tried several of its workers by then
        board.fail(job, "the workers of the cluster that did it died", 1)
        return
    except Exception as error:
        board.fail(job, f"the cluster: {type(error).__name__}: {error}", 1)
        return
    finally:
        future.release()
    if files is None:
        board.fail(job, found["error"], found["exit_code"])
        return
    for name, data in files.items():
        board.plan.results.write(name, data)
    board.finish(job)


def _files(encoded: Mapping[str, str], names: Sequence[str]) -> dict[str, bytes]:
    """Return the files of an answer: those that were asked for, and each what it says it is.

    Raises:
        ValueError: A worker, which may be anyone's, answered something else.
    """
    if set(encoded) != set(names):
        other = sorted(map(str, set(encoded) ^ set(names)))[0]
        msg = f"a worker's answer has other files than were asked for, such as {other[:80]!r}"
        raise ValueError(msg)
    files = {name: base64.b64decode(text, validate=True) for name, text in encoded.items()}
    for name, data in files.items():
        decode(name, data)
    return files


def answer(request: str) -> str:
    """Carry out a request, on a worker of the cluster: JSON in, JSON out."""
    from symreln.sweep.tasks import perform

    try:
        found = perform(json.loads(request))
    except SymrelnError as error:
        return json.dumps({"error": str(error), "exit_code": error.exit_code})
    files = {name: base64.b64encode(data).decode() for name, data in found.items()}
    return json.dumps({"files": files})


def cluster_size(address: str) -> int:
    """Return how many tasks the cluster of a scheduler does at a time, one at least.

    Raises:
        InputError: dask.distributed is not installed, or nobody answers there.
    """
    client = _connect(address)
    try:
        return max(1, sum(client.nthreads().values()))
    finally:
        client.close()
