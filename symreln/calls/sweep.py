"""Many confrontations: what is done of them, and what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.base.jsonio import dumps
from symreln.base.processors import cores
from symreln.base.progress import phase
from symreln.base.summaries import short_repr
from symreln.base.tables import plain_table
from symreln.calls.answers import AbstractAnswer
from symreln.errors import InputError
from symreln.report.sweep import sweep_table, sweep_to_json
from symreln.specs.arrays import plain
from symreln.specs.model import Spec
from symreln.sweeps import executors
from symreln.sweeps.plan import Plan, read_axes
from symreln.sweeps.run import Missing, Shard
from symreln.sweeps.run import sweep as do_missing
from symreln.sweeps.summary import Summary, SummaryRow, summarise

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from symreln.sweeps.run import Failure


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SweepAnswer(AbstractAnswer):
    """What :func:`symreln.sweep` found.

    Attributes:
        found: One row a combination.
        failures: What could not be done.
    """

    found: Summary
    failures: tuple[Failure, ...] = ()

    @property
    def rows(self) -> tuple[SummaryRow, ...]:
        """One a combination."""
        return self.found.rows

    def to_json(self) -> dict[str, Any]:
        """Return what sweep.json says."""
        return sweep_to_json(self.found)

    def files(self) -> dict[str, str | bytes]:
        """Return the figures and sweep.json, by file name."""
        from symreln.report.sweep_figure import sweep_figures

        figures = {f"{each.name}.svg": each.svg for each in sweep_figures(self.found)}
        return {**figures, "sweep.json": dumps(self.to_json())}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        yield from plain_table(*sweep_table(self.found)).rstrip("\n").splitlines()


def sweep(
    source: str | os.PathLike[str],
    over: Mapping[str, Sequence[object]] | Sequence[str],
    *,
    directory: str | Path,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    seeds: int = 8,
    rng: int = 0,
    workers: int | None = None,
    allow_outside: bool = False,
) -> SweepAnswer:
    """Validate a spec for all combinations of some keys' values, one file a network.

    What is done is kept in the folder: the same call again does only what is missing.

    Args:
        source: A spec file or the name of a ready-made spec, which other processes can read.
        over: Keys of the spec and their values: ``{"network.hidden": [50, 100]}``.
        directory: For the results; a sweep that is there goes on.
        overrides: ``key=value`` texts or a mapping, for all of it.
        seeds: Networks of each kind, a combination.
        rng: Seed of the random streams.
        workers: Processes; one a core by default.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        InputError: The folder holds another sweep, or a key or value is wrong.

    Example:
        >>> import symreln as sr, tempfile
        >>> small = {"network.hidden": 20, "network.steps": 50}
        >>> asked = {"over": {"network.init_std": ["1/100", "1/200"]}, "seeds": 1, "workers": 1}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(sr.sweep("xor", directory=folder, overrides=small, **asked).rows)
        2
    """
    if isinstance(source, Spec):
        msg = "sweep: found a Spec; give a spec file or the name of a ready-made one, which "
        raise InputError(msg + "other processes can read")
    told, texts = _texts(overrides), _texts(over)
    plan = Plan(
        source=str(source),
        overrides=told,
        axes=read_axes(texts, told),
        seeds=seeds,
        rng=rng,
        allow_outside=allow_outside,
        folder=Path(directory),
    )
    plan.settle()
    count = workers or cores()
    left = Missing.of(plan, Shard().seeds(plan))
    return summary_of(plan, fill(plan, left, partial(executors.processes, count), count))


def fill(
    plan: Plan, left: Missing, start: Callable[[], AbstractContextManager[Executor]], workers: int
) -> list[Failure]:
    """Do what is missing of a sweep; return what could not be done.

    Args:
        plan: The sweep, settled in its folder.
        left: What is to be done.
        start: Starts what does the tasks.
        workers: How many at a time.
    """
    if not left.count:
        return []
    with phase("sweeping") as report:
        return do_missing(plan, left, start, workers, report)


def summary_of(plan: Plan, failures: Sequence[Failure]) -> SweepAnswer:
    """Return what is in the folder of a sweep."""
    with phase("summary"):
        return SweepAnswer(found=summarise(plan, failures), failures=tuple(failures))


def _texts(given: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """Return key=value texts, values as TOML writes them."""
    if not isinstance(given, Mapping):
        return tuple(given)
    return tuple(f"{key}={json.dumps(plain(value), default=str)}" for key, value in given.items())
