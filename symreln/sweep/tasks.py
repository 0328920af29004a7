"""What a task does: what it needs in, the bytes of result files out.

The same function wherever it is called, so that the bytes are the same everywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from threadpoolctl import threadpool_limits

from symreln.claims.derivation import Derivation
from symreln.claims.solve import at_values
from symreln.errors import InputError, SymrelnError
from symreln.experiment.foretold import foretell
from symreln.experiment.training import train_pair
from symreln.experiment.untested import learnable_share
from symreln.pipeline.derive import derive
from symreln.spec.model import Spec
from symreln.sweep.content import content_of, program
from symreln.sweep.files import Result, encode
from symreln.sweep.plan import Plan, Row
from symreln.tasks.load import load
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


def attempt(task: Task) -> dict[str, bytes] | Failed:
    """Return what :func:`perform` does, or why it cannot be done."""
    try:
        return perform(task)
    except SymrelnError as error:
        return Failed(message=str(error), exit_code=error.exit_code)
    except MemoryError:
        return Failed(message="out of memory", exit_code=4)


def perform(task: Task) -> dict[str, bytes]:
    """Return the bytes of each file that a task makes.

    Raises:
        SymrelnError: It cannot be done; training diverged, or the spec is another one by now.
    """
    # One thread: the order of summation, and so every bit, is then the same wherever it is done.
    with _ONE, threadpool_limits(limits=1, user_api="blas"):
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
    found = foretell(numbers)
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
    arrays = {"theory": found.prediction.theory, "reduced": found.prediction.loss}
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
