"""A sweep from its plan to its files: what is missing is found and done.

A task is finished when its file is there, so that a sweep may be killed at any moment, started
again, or divided among machines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from symreln.base.pool import killed_is_a_limit
from symreln.base.processors import one_blas_thread
from symreln.base.records import record
from symreln.claims.derivation import Derivation
from symreln.claims.solve import at_values
from symreln.errors import InputError, SymrelnError
from symreln.experiment.predictions import predict_all
from symreln.experiment.training import train_pair
from symreln.experiment.uninformative import learnable_share
from symreln.pipeline.derive import derive
from symreln.specs.model import Spec
from symreln.sweeps.files import Result, read_result, write_result
from symreln.sweeps.plan import Plan, digest
from symreln.task_library.load import load
from symreln.train.record import Recording

Progress = Callable[[int, int], None]
# Exact arithmetic keeps its precision in a global: a cluster's worker may have several threads.
_ONE = threading.Lock()
#: Seeds that are trained together at most: all of them are lost where their worker is killed.
_MOST_TOGETHER = 16
_CONNECT_SECONDS = 15


@record
class Shard:
    """Part ``index`` of ``parts``, counted from 1.

    Attributes:
        index: Number of the part, from 1.
        parts: Number of parts.
    """

    index: int = 1
    parts: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """Return the shard that ``i/N`` says.

        Raises:
            InputError: It says none.
        """
        first, slash, last = text.partition("/")
        digits = slash and all(part.isascii() and part.isdigit() for part in (first, last))
        if not digits or not 1 <= int(first) <= int(last):
            msg = f"--shard {text[:40]}: expected i/N with 1 ≤ i ≤ N, such as 1/8"
            raise InputError(msg)
        return cls(index=int(first), parts=int(last))

    def networks(self, plan: Plan) -> list[tuple[int, int]]:
        """Return (row, seed) of this part's networks, neighbours together: they share a theory."""
        total = len(plan.rows) * plan.seeds
        share = range((self.index - 1) * total // self.parts, self.index * total // self.parts)
        return [divmod(number, plan.seeds) for number in share]


@record
class Missing:
    """What of a sweep, or of a part of it, is to be done.

    Attributes:
        theories: Numbers of the combinations whose theory is missing.
        networks: (row, seed) of the networks that are missing.
        there: Tasks whose files are there.
    """

    theories: tuple[int, ...]
    networks: tuple[tuple[int, int], ...]
    there: int

    @classmethod
    def of(cls, plan: Plan, shard: Shard) -> Missing:
        """Look for files."""
        wanted = shard.networks(plan)
        rows = dict.fromkeys(row for row, _ in wanted)
        theories = tuple(row for row in rows if not plan.theory(row).exists())
        networks = tuple(each for each in wanted if not plan.network(*each).exists())
        there = len(rows) + len(wanted) - len(theories) - len(networks)
        return cls(theories=theories, networks=networks, there=there)

    @property
    def count(self) -> int:
        """Tasks in all."""
        return len(self.theories) + len(self.networks)


@record
class Task:
    """The theory of a combination, or networks of it with consecutive seeds.

    Attributes:
        row: Number of the combination.
        source: The spec, a TOML file or the name of a ready-made one.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.
        digest: Of what the spec says.
        rng: Seed of the random streams.
        theory: File of the theory.
        first: First seed.
        networks: Files of the networks; none where the theory is to be found.
    """

    row: int
    source: str
    overrides: tuple[str, ...]
    allow_outside: bool
    digest: str
    rng: int
    theory: Path
    first: int = 0
    networks: tuple[Path, ...] = ()

    @classmethod
    def of(cls, plan: Plan, number: int, first: int = 0, count: int = 0) -> Task:
        """Return the task of a combination's theory, or of so many networks from the first on."""
        row = plan.rows[number]
        return cls(
            row=number,
            source=plan.source,
            overrides=row.overrides,
            allow_outside=plan.allow_outside,
            digest=row.digest,
            rng=plan.rng,
            theory=plan.theory(number),
            first=first,
            networks=tuple(plan.network(number, seed) for seed in range(first, first + count)),
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """What it makes."""
        return self.networks or (self.theory,)

    def one_by_one(self) -> list[Task]:
        """Return the same work in tasks of one seed."""
        return [
            replace(self, first=seed, networks=(file,))
            for seed, file in enumerate(self.networks, self.first)
        ]


@record
class Failure:
    """A task that could not be done.

    Attributes:
        row: Number of the combination.
        seed: Number of the network, or None for the theory.
        message: Why.
        exit_code: What the program ends with for it.
    """

    row: int
    seed: int | None
    message: str
    exit_code: int


def sweep(
    plan: Plan,
    left: Missing,
    executor: Executor,
    workers: int,
    progress: Progress | None = None,
) -> list[Failure]:
    """Do what is missing; theories come first, as the start of networks takes their κ.

    Args:
        plan: The sweep.
        left: What is to be done.
        executor: What does the tasks; it writes into the folder of the plan.
        workers: How many at a time, so that each gets its share.
        progress: Called with (tasks done, tasks in all).

    Returns:
        What could not be done.
    """
    plan.tasks.mkdir(parents=True, exist_ok=True)
    failures: list[Failure] = []
    done = 0
    for stage in (_theories, _trainings):
        tasks = stage(plan, left, workers)
        for task, failed in zip(tasks, executor.map(attempt, tasks), strict=True):
            failures += failed
            done += len(task.files)
            if progress is not None:
                progress(done, left.count)
    return failures


def _theories(plan: Plan, left: Missing, _workers: int) -> list[Task]:
    return [Task.of(plan, number) for number in left.theories]


def _trainings(plan: Plan, left: Missing, workers: int) -> list[Task]:
    """Return the trainings of combinations whose theory is there."""
    ready = [each for each in left.networks if plan.theory(each[0]).exists()]
    size = min(-(-len(ready) // workers), _MOST_TOGETHER)
    return [Task.of(plan, *run) for run in _runs(ready, size)]


def _runs(networks: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int, int]]:
    """Return (row, first, count) of runs of consecutive seeds, each of at most ``size``.

    Example:
        >>> _runs([(0, 0), (0, 1), (0, 2), (0, 5), (1, 6)], 2)
        [(0, 0, 2), (0, 2, 1), (0, 5, 1), (1, 6, 1)]
    """
    found: list[tuple[int, int, int]] = []
    for row, seed in networks:
        last, first, count = found[-1] if found else (-1, 0, 0)
        if (last, first + count) == (row, seed) and count < size:
            found[-1] = (row, first, count + 1)
        else:
            found.append((row, seed, 1))
    return found


def attempt(task: Task) -> list[Failure]:
    """Write the files of a task; return what of it could not be done.

    Raises:
        OSError: A file cannot be written.
        MemoryError: There is not enough.
    """
    if all(file.exists() for file in task.files):  # by another run of the same sweep
        return []
    try:
        perform(task)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        if len(task.networks) > 1:  # what seeds cannot do together, each tries by itself
            return [failure for each in task.one_by_one() for failure in attempt(each)]
        known = isinstance(error, SymrelnError)
        message = str(error) if known else f"a bug of symreln: {type(error).__name__}: {error}"
        code = error.exit_code if isinstance(error, SymrelnError) else 1
        seed = task.first if task.networks else None
        return [Failure(row=task.row, seed=seed, message=message, exit_code=code)]
    return []


def perform(task: Task) -> None:
    """Write the files of a task.

    Raises:
        SymrelnError: It cannot be done; training diverged, or the spec is another one by now.
    """
    # One thread: the order of summation, and so every bit, is then the same wherever it is done.
    with _ONE, one_blas_thread():
        spec = _spec(task)
        results = _networks(spec, task) if task.networks else [_theory(spec)]
    for file, result in zip(task.files, results, strict=True):
        if not file.exists():
            write_result(file, result)


def _spec(task: Task) -> Spec:
    spec = load(task.source, task.overrides, allow_outside=task.allow_outside)
    if task.digest != digest(task.source, task.overrides, allow_outside=task.allow_outside):
        msg = f"{task.source}: the spec, its data or symreln's version changed while the sweep ran"
        raise InputError(msg)
    return spec


def _theory(spec: Spec) -> Result:
    numbers = cast("Derivation", derive(spec)).ask(at_values)
    if numbers.initial_loss.is_zero:
        msg = "the targets are all zero, so there is nothing to learn and no loss to compare"
        raise InputError(msg)
    found = predict_all(numbers)
    values = {
        "level": numbers.verdict.level.value,
        "method": found.prediction.method,
        "free_constants": found.prediction.free_constants,
        "judged": found.prediction.judged,
        "error": found.error[0],
        "learnable": learnable_share(numbers),
        "tolerance": float(spec.validation.tolerance),
        "kappas": {name: float(kappa) for name, kappa in found.kappas.items()},
    }
    arrays = {"theory": found.prediction.loss, "reduced": found.prediction.reduced}
    if found.prediction.closed_loss is not None:
        arrays["closed"] = found.prediction.closed_loss
    if found.mean_field is not None:
        arrays["mean_field"] = found.mean_field.losses
    return Result(values=values, arrays=arrays)


def _networks(spec: Spec, task: Task) -> list[Result]:
    theory = read_result(task.theory)
    assert theory is not None  # it comes first
    network, gdln = train_pair(
        spec.at_values(),
        theory.values["kappas"],
        len(task.networks),
        task.rng,
        first=task.first,
        record=Recording(),
        workers=1,
    )
    both = {"gdln": gdln} if network is None else {"gdln": gdln, "network": network}
    return [
        Result(arrays={name: run.losses[place] for name, run in both.items()})
        for place in range(len(task.networks))
    ]


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Use a ``dask.distributed`` cluster: ``pip install 'symreln[dask]'``.

    Its workers need the same symreln, and the spec's files and the sweep's folder at the same path.

    Args:
        address: Of the scheduler, such as ``tcp://10.0.0.1:8786``.

    Yields:
        What does the tasks, and how many at a time.

    Raises:
        InputError: dask.distributed is not installed, or nobody answers there.
        LimitReachedError: A worker was killed.
    """
    try:
        from dask.distributed import Client, KilledWorker
    except ImportError as error:
        msg = "--dask needs dask.distributed: python -m pip install 'symreln[dask]'"
        raise InputError(msg) from error
    try:
        client: Any = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        msg = f"--dask {address}: no scheduler answers there ({type(error).__name__})"
        raise InputError(msg) from error
    with client, killed_is_a_limit(KilledWorker):  # pure: no task is taken for another
        yield client.get_executor(pure=False), max(1, sum(client.nthreads().values()))
