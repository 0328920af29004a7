"""What a sweep consists of, and how a task of it is done.

A task is finished when its file is there, so that a sweep may be killed at any moment, started
again, or divided among machines.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np

from symreln.base.jsonio import write_bytes
from symreln.base.processors import one_blas_thread
from symreln.base.provenance import library_versions
from symreln.base.records import record
from symreln.claims.derivation import Derivation
from symreln.claims.relaxation import check_trainable
from symreln.claims.solve import at_values
from symreln.errors import InputError, SymrelnError
from symreln.experiment.predictions import predict_all
from symreln.experiment.training import train_pair
from symreln.experiment.uninformative import learnable_share
from symreln.pipeline.derive import derive
from symreln.specs.model import Spec
from symreln.specs.spec_text import spec_toml
from symreln.sweeps.axes import Axis
from symreln.task_library.load import load
from symreln.train.record import Recording

#: Seeds of one task: small networks train faster together.
_TOGETHER = 8
#: A folder with more files than this is no place for results.
_MOST_TASKS = 1_000_000
#: What NumPy and zipfile raise where a byte is not what was written.
_DAMAGE = (OSError, ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


@record
class Task:
    """The theory of a combination, or networks of it with consecutive seeds.

    Attributes:
        row: Number of the combination.
        spec: Its checked spec.
        rng: Seed of the random streams.
        theory: File of the theory.
        seeds: Numbers of the networks; none where the theory is to be found.
    """

    row: int
    spec: Spec
    rng: int
    theory: Path
    seeds: range = range(0)

    @property
    def file(self) -> Path:
        """What it makes."""
        if not self.seeds:
            return self.theory
        name = self.theory.stem.replace("theory", "networks")
        return self.theory.with_name(f"{name}-{self.rng}-{self.seeds[0]}-{self.seeds[-1]}.npz")

    @property
    def name(self) -> str:
        """What messages call it."""
        if len(self.seeds) > 1:
            return f"seeds {self.seeds[0]} to {self.seeds[-1]}"
        return f"seed {self.seeds[0]}" if self.seeds else "theory"


@record
class Failure:
    """A task that could not be done.

    Attributes:
        task: The task.
        message: Why.
        exit_code: What the program ends with for it.
    """

    task: Task
    message: str
    exit_code: int


@record
class Plan:
    """A whole sweep.

    Attributes:
        source: The spec, a TOML file or the name of a ready-made one.
        overrides: ``key=value`` texts that hold for all of it.
        axes: What is swept.
        seeds: Networks of each kind, a combination.
        rng: Seed of the random streams.
        folder: For the results.
        rows: The ``key=value`` texts of every combination, the last key's values changing first.
        theories: The task of each combination's theory.
    """

    source: str
    overrides: tuple[str, ...]
    axes: tuple[Axis, ...]
    seeds: int
    rng: int
    folder: Path
    rows: tuple[tuple[str, ...], ...]
    theories: tuple[Task, ...]

    def trainings(self, row: int) -> list[Task]:
        """Return the tasks of a combination's networks."""
        starts = range(0, self.seeds, _TOGETHER)
        blocks = [range(first, min(first + _TOGETHER, self.seeds)) for first in starts]
        return [replace(self.theories[row], seeds=block) for block in blocks]


def plan(
    source: str,
    axes: tuple[Axis, ...],
    folder: Path,
    *,
    overrides: tuple[str, ...] = (),
    seeds: int = 8,
    rng: int = 0,
    allow_outside: bool = False,
) -> Plan:
    """Check every combination and name every file, before any work.

    Args:
        source: As of :class:`Plan`, like what is not said here.
        axes: What is swept.
        folder: For the results.
        overrides: ``key=value`` texts.
        seeds: Networks of each kind.
        rng: Seed.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        InputError: A combination is wrong, or they are too many.
    """
    rows = tuple(product(*([f"{axis.key}={value}" for value in axis.values] for axis in axes)))
    if len(rows) * (seeds + 1) > _MOST_TASKS:
        msg = (
            f"sweep: {len(rows)} combinations of {seeds} seeds are more than {_MOST_TASKS} "
            "networks. Divide it into several sweeps."
        )
        raise InputError(msg)
    theories = []
    for row, over in enumerate(rows):
        spec = _checked(source, overrides, over, allow_outside=allow_outside)
        place = folder.resolve() / "tasks" / f"theory-{_digest(spec)}.npz"
        theories.append(Task(row=row, spec=spec, rng=rng, theory=place))
    asked = {"source": source, "overrides": overrides, "axes": axes, "seeds": seeds, "rng": rng}
    return Plan(**asked, folder=folder, rows=rows, theories=tuple(theories))


def _checked(
    source: str, overrides: tuple[str, ...], over: tuple[str, ...], *, allow_outside: bool
) -> Spec:
    """Return the spec of a combination.

    Raises:
        InputError: It is wrong, or cannot be swept.
    """
    try:
        spec = load(source, (*overrides, *over), allow_outside=allow_outside)
        check_trainable(spec)
    except SymrelnError as error:
        said = str(error)
        for text in over:
            said = said.replace(f"--set {text}: ", f"--over {text}: ")
        msg = f"--over, at {', '.join(over)}: {said}"
        raise InputError(msg) from error
    return spec


def _digest(spec: Spec) -> str:
    """Return a digest of what a spec says, and of the versions that work it out."""
    said = [spec_toml(replace(spec, title="", sizes=())), library_versions()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def sweep(
    asked: Plan,
    shard: str | None,
    executor: Executor,
    progress: Callable[[int, int], None] | None = None,
) -> list[Failure]:
    """Do what is missing; theories come first, as the start of networks takes their κ.

    Args:
        asked: The sweep.
        shard: "i/N" for part i of N, counted from 1; None for all of it.
        executor: What does the tasks.
        progress: Called with (tasks done, tasks in all) of each kind.

    Returns:
        What could not be done.

    Raises:
        InputError: The shard is none.
    """
    every = [task for row in range(len(asked.rows)) for task in asked.trainings(row)]
    trainings = _part(every, shard)
    theories = [asked.theories[row] for row in dict.fromkeys(task.row for task in trainings)]
    asked.theories[0].file.parent.mkdir(parents=True, exist_ok=True)
    failures: list[Failure] = []
    for tasks in (theories, trainings):
        # Networks of a theory that failed are left out.
        left = [t for t in tasks if not t.file.exists() and (not t.seeds or t.theory.exists())]
        for done, failure in enumerate(executor.map(perform, left), start=1):
            failures += [] if failure is None else [failure]
            if progress is not None:
                progress(done, len(left))
    return failures


def _part(tasks: list[Task], shard: str | None) -> list[Task]:
    """Return part ``i/N`` of tasks, neighbours together: they share a theory."""
    first, _, last = (shard or "1/1").partition("/")
    digits = all(part.isascii() and part.isdigit() for part in (first, last))
    if not digits or not 1 <= int(first) <= int(last):
        msg = f"--shard {str(shard)[:40]}: expected i/N with 1 ≤ i ≤ N, such as 1/8"
        raise InputError(msg)
    index, parts = int(first), int(last)
    return tasks[(index - 1) * len(tasks) // parts : index * len(tasks) // parts]


def perform(task: Task) -> Failure | None:
    """Write the file of a task; return why it cannot be done, or None.

    Raises:
        OSError: A file cannot be written.
        MemoryError: There is not enough.
    """
    try:
        # One thread: the order of summation, and so every bit, is the same wherever it is done.
        with one_blas_thread():
            values, arrays = _networks(task) if task.seeds else _theory(task.spec)
    except (OSError, MemoryError):
        raise
    except SymrelnError as error:
        return Failure(task=task, message=str(error), exit_code=error.exit_code)
    except Exception as error:
        message = f"a bug of symreln: {type(error).__name__}: {error}"
        return Failure(task=task, message=message, exit_code=1)
    buffer = io.BytesIO()
    np.savez(buffer, values=np.array(json.dumps([values, *arrays])), **cast("Any", arrays))
    write_bytes(task.file, buffer.getvalue())
    return None


def result_of(task: Task) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """Return the values and curves that a task left; None where it is not done.

    Raises:
        InputError: The file was changed or cut.
    """
    try:
        with np.load(io.BytesIO(task.file.read_bytes()), allow_pickle=False) as data:
            arrays = dict(data)
        values, *names = json.loads(str(arrays.pop("values")))
        return values, {name: arrays[name] for name in names}
    except FileNotFoundError:
        return None
    except _DAMAGE as error:
        msg = f"{task.file}: it is damaged. Remove it, and the same command makes it again"
        raise InputError(msg) from error


def _theory(spec: Spec) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
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
    curves = {
        "theory": found.prediction.loss,
        "reduced": found.prediction.reduced,
        "closed": found.prediction.closed_loss,
        "mean_field": None if found.mean_field is None else found.mean_field.losses,
    }
    return values, {name: curve for name, curve in curves.items() if curve is not None}


def _networks(task: Task) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    theory = result_of(replace(task, seeds=range(0)))
    assert theory is not None  # it comes first
    first, count = task.seeds[0], len(task.seeds)
    known = {"first": first, "record": Recording(), "workers": 1}
    numbers = task.spec.at_values()
    network, gdln = train_pair(numbers, theory[0]["kappas"], count, task.rng, **known)
    trained = {"gdln": gdln, "network": network}
    return {}, {name: run.losses for name, run in trained.items() if run is not None}
