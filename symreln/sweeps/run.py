"""A sweep from its plan to its files: what is missing is found and done.

What a task does: what it needs in, the bytes of result files out.

The same function wherever it is called, so that the bytes are the same everywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
)
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, cast

from symreln.base.processors import one_blas_thread
from symreln.base.signals import interrupts_held
from symreln.claims.derivation import Derivation
from symreln.claims.solve import at_values
from symreln.errors import InputError, SymrelnError
from symreln.experiment.predictions import predict_all
from symreln.experiment.training import train_pair
from symreln.experiment.uninformative import learnable_share
from symreln.pipeline.derive import derive
from symreln.specs.model import Spec
from symreln.sweeps.executors import processes
from symreln.sweeps.files import Result, TaskFolder, encode
from symreln.sweeps.plan import Plan, Row, content_of, program
from symreln.task_library.load import load
from symreln.train.record import Recording

# Exact arithmetic keeps its precision in a global: a cluster's worker may have several threads.
_ONE = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Task:
    """The theory of a combination, or networks of it with consecutive seeds.

    Attributes:
        row: Number of the combination.
        first: First seed; None for the theory.
        names: Files that it makes, one a seed.
        source: The spec, a TOML file or the name of a ready-made one.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.
        content: Digest of what the spec says.
        program: Digest of what computes.
        rng: Seed of the random streams.
        kappas: κ of pathways, by name; the theory finds them.
    """

    row: int
    first: int | None = None
    names: tuple[str, ...]
    source: str
    overrides: tuple[str, ...]
    allow_outside: bool
    content: str
    program: str
    rng: int
    kappas: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def theory(cls, plan: Plan, number: int) -> Task:
        """Return the task that finds the theory of a combination."""
        row = plan.rows[number]
        return cls(
            row=number,
            names=(row.theory,),
            source=plan.source,
            overrides=row.overrides,
            allow_outside=plan.allow_outside,
            content=row.content,
            program=program(),
            rng=plan.rng,
        )

    def training(self, row: Row, first: int, count: int, kappas: Mapping[str, float]) -> Task:
        """Return the task that trains networks, of the combination whose theory this one finds."""
        return replace(self, first=first, names=row.networks[first : first + count], kappas=kappas)

    def apart(self) -> list[Task]:
        """Return the same work in tasks of one seed."""
        if self.first is None:
            return [self]
        return [
            replace(self, first=self.first + place, names=(name,))
            for place, name in enumerate(self.names)
        ]


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Why a task could not be done.

    Attributes:
        message: What to tell the user.
        exit_code: What the program ends with for it.
    """

    message: str
    exit_code: int


Answer = dict[str, bytes] | Failed | OSError


def _attempt(task: Task, folder: TaskFolder | None = None) -> Answer:
    """Return what :func:`perform` does, or why it cannot be done.

    Args:
        task: What to do.
        folder: Where to write the files, of which none is handed back then.

    Returns:
        Files to write; why there are none; or the error of writing them.
    """
    try:
        made = perform(task)
    except SymrelnError as error:
        return Failed(message=str(error), exit_code=error.exit_code)
    except MemoryError:
        return Failed(message="out of memory", exit_code=4)
    if folder is None:
        return made
    try:
        for name, data in made.items():
            folder.write(name, data)
    except OSError as error:
        return error
    return {}


def perform(task: Task) -> dict[str, bytes]:
    """Return the bytes of each file that a task makes.

    Raises:
        SymrelnError: It cannot be done; training diverged, or the spec is another one by now.
    """
    # One thread: the order of summation, and so every bit, is then the same wherever it is done.
    with _ONE, one_blas_thread():
        spec = _spec(task)
        results = [_theory(spec)] if task.first is None else _networks(spec, task, task.first)
    own = {"overrides": list(task.overrides)}
    return {
        name: encode(name, Result(values={**own, **one.values}, arrays=one.arrays))
        for name, one in zip(task.names, results, strict=True)
    }


def _spec(task: Task) -> Spec:
    if task.program != program():
        msg = (
            "symreln or a library of it is another version than the one that the sweep began with: "
            "start the sweep again, in another folder"
        )
        raise InputError(msg)
    spec = load(task.source, task.overrides, allow_outside=task.allow_outside)
    now = content_of(task.source, task.overrides, allow_outside=task.allow_outside)
    if task.content != now:
        msg = f"{task.source}: the spec or its data changed while the sweep ran"
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


def _networks(spec: Spec, task: Task, first: int) -> list[Result]:
    network, gdln = train_pair(
        spec.at_values(),
        task.kappas,
        len(task.names),
        task.rng,
        first=first,
        record=Recording(),
        workers=1,
    )
    results = []
    for place in range(len(task.names)):
        arrays = {"gdln": gdln.losses[place]}
        if network is not None:
            arrays["network"] = network.losses[place]
        results.append(Result(values={"rng": task.rng, "seed": first + place}, arrays=arrays))
    return results


#: Seeds that are trained together at most: all of them are repeated where their worker is killed.
_MOST_TOGETHER = 16
Progress = Callable[[int, int], None]
Seeds = dict[int, tuple[int, ...]]
"""Seeds by number of the combination."""
Outcome = Answer | None
"""Of a task; None where the process that did it died."""
_DIED = "the process that did it died, again and again"


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Part ``index`` of ``parts``, counted from 1.

    Attributes:
        index: Which.
        parts: Of how many.
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

    def seeds(self, plan: Plan) -> Seeds:
        """Return this part's share of the networks, neighbours together: they share a theory."""
        total = len(plan.rows) * plan.seeds
        share = range((self.index - 1) * total // self.parts, self.index * total // self.parts)
        found: dict[int, list[int]] = {}
        for number in share:
            row, seed = divmod(number, plan.seeds)
            found.setdefault(row, []).append(seed)
        return {row: tuple(seeds) for row, seeds in found.items()}


@dataclass(frozen=True, kw_only=True)
class Missing:
    """What of a sweep, or of a part of it, is to be done.

    Attributes:
        theories: Numbers of the combinations whose theory is missing.
        seeds: Seeds of the networks that are missing.
        there: Tasks whose files are there.
    """

    theories: tuple[int, ...]
    seeds: Seeds
    there: int

    @classmethod
    def of(cls, plan: Plan, wanted: Seeds) -> Missing:
        """Look for files; damaged ones are removed."""
        read = plan.results.read
        theories = tuple(row for row in wanted if read(plan.rows[row].theory) is None)
        seeds = {
            row: tuple(seed for seed in all_ if read(plan.rows[row].networks[seed]) is None)
            for row, all_ in wanted.items()
        }
        every = len(wanted) + sum(map(len, wanted.values()))
        left = len(theories) + sum(map(len, seeds.values()))
        return cls(theories=theories, seeds=seeds, there=every - left)

    @property
    def count(self) -> int:
        """Tasks in all."""
        return len(self.theories) + sum(map(len, self.seeds.values()))


@dataclass(frozen=True, kw_only=True)
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
    start: Callable[[], AbstractContextManager[Executor]],
    workers: int,
    progress: Progress | None = None,
) -> list[Failure]:
    """Do what is missing; theories come first, as the start of networks takes their κ.

    Args:
        plan: The sweep, settled in its folder.
        left: What is to be done.
        start: Starts what does the tasks.
        workers: How many at a time, so that each gets its share.
        progress: Called with (tasks done, tasks in all).

    Returns:
        What could not be done.
    """
    failures: list[Failure] = []
    done = 0
    with _Crew(start, plan.results) as crew:
        for stage in (_theories, _trainings):
            for task, outcome in crew.outcomes(stage(plan, left, workers)):
                if isinstance(outcome, Failed):
                    failures.append(_failure(task, outcome))
                    continue
                for name, data in outcome.items():
                    plan.results.write(name, data)
                done += len(task.names)
                if progress is not None:
                    progress(done, left.count)
    return failures


def _theories(plan: Plan, left: Missing, _workers: int) -> list[Task]:
    return [Task.theory(plan, number) for number in left.theories]


def _trainings(plan: Plan, left: Missing, workers: int) -> list[Task]:
    """Return the trainings of combinations whose theory is there."""
    found = []
    for number, seeds in left.seeds.items():
        row = plan.rows[number]
        theory = plan.results.read(row.theory)
        if theory is not None:
            size = min(-(-len(seeds) // workers), _MOST_TOGETHER)
            found += [
                Task.theory(plan, number).training(row, first, count, theory.values["kappas"])
                for first, count in _runs(seeds, size)
            ]
    return found


def _runs(seeds: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return (first, count) of runs of consecutive seeds, each of at most ``size``.

    Example:
        >>> _runs([0, 1, 2, 5, 6], 2)
        [(0, 2), (2, 1), (5, 2)]
    """
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and sum(found[-1]) == seed and found[-1][1] < size:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found


class _Crew:
    """Does tasks, also those that cannot be done together and those that end their process.

    What several seeds cannot do together, each tries by itself. Where a process dies, all that was
    open is done once more; where that happens again, one task after the other, so that the one
    that ends its process is found.
    """

    def __init__(
        self, start: Callable[[], AbstractContextManager[Executor]], folder: TaskFolder
    ) -> None:
        self._start, self._folder, self._deaths = start, folder, 0
        self._pools = ExitStack()

    def __enter__(self) -> Self:
        """Start what does the tasks."""
        self._executor = self._pools.enter_context(self._start())
        return self

    def __exit__(self, *error: Any) -> bool | None:
        """Leave no process behind."""
        return self._pools.__exit__(*error)

    def outcomes(self, tasks: list[Task]) -> Iterator[tuple[Task, dict[str, bytes] | Failed]]:
        """Yield tasks with their outcomes as they end."""
        while tasks:
            lost: list[Task] = []
            apart: list[Task] = []
            alone = self._deaths > 1
            for task, outcome in self._one_by_one(tasks) if alone else self._together(tasks):
                if isinstance(outcome, OSError):
                    raise outcome
                if isinstance(outcome, dict):
                    yield task, outcome
                elif outcome is None and not alone:
                    lost.append(task)
                elif len(task.names) > 1:
                    apart += task.apart()
                else:
                    yield task, outcome or Failed(message=_DIED, exit_code=1)
            if lost:
                self._deaths += 1
                if self._deaths == 1:
                    self._executor = self._pools.enter_context(self._start())
            tasks = lost + apart

    def _one_by_one(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Yield tasks with their outcomes, from one process, or several where tasks end it."""
        waiting = iter(tasks)
        while (task := next(waiting, None)) is not None:
            with processes(1) as executor:
                while task is not None:
                    [(_, outcome)] = self._together([task], executor)
                    yield task, outcome
                    task = None if outcome is None else next(waiting, None)

    def _together(
        self, tasks: Iterable[Task], executor: Executor | None = None
    ) -> Iterator[tuple[Task, Outcome]]:
        """Yield tasks with their outcomes as they end."""
        executor = executor or self._executor
        # Processes of this machine write their files: one that is killed while it hands back more
        # than a pipe takes at once would leave its reader waiting for the rest.
        own = isinstance(executor, ProcessPoolExecutor)
        work = partial(_attempt, folder=self._folder) if own else _attempt
        with interrupts_held():  # the processes that are started here end with this one, silently
            pending = {_submitted(executor, work, task): task for task in tasks}
        for future in as_completed(pending):
            yield pending.pop(future), _outcome(future)


def _submitted(executor: Executor, work: Callable[[Task], Answer], task: Task) -> Future[Answer]:
    try:
        return executor.submit(work, task)
    except BrokenExecutor as error:
        future: Future[Answer] = Future()
        future.set_exception(error)
        return future


def _outcome(future: Future[Answer]) -> Outcome:
    try:
        return future.result()
    except BrokenExecutor:
        return None
    except Exception as error:
        # Whatever it is, the other tasks have their own chance.
        what = f"{type(error).__name__}: {error}"
        return Failed(message=f"a bug of symreln, or of the cluster: {what}", exit_code=1)


def _failure(task: Task, failed: Failed) -> Failure:
    return Failure(
        row=task.row, seed=task.first, message=failed.message, exit_code=failed.exit_code
    )
