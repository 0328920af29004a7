"""What a sweep consists of: every combination checked, every task named, before any work."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from symreln.base.summaries import short_repr
from symreln.claims.divergence import check_before_deriving
from symreln.claims.integration import network_of
from symreln.errors import InputError, NotSupportedError, SymrelnError
from symreln.report.jsonio import write_json
from symreln.spec.model import Spec
from symreln.sweep.axes import Axis, Combination, combinations
from symreln.sweep.content import content_of, digest, program
from symreln.sweep.files import TaskFolder
from symreln.tasks.load import load

FORMAT = "symreln-sweep-plan/1"
PLAN, TASKS = "plan.json", "tasks"
#: A folder with more files than this is no place for results.
MOST_TASKS = 1_000_000


@short_repr
@dataclass(frozen=True, kw_only=True)
class Row:
    """One combination of a sweep.

    Attributes:
        over: Its ``key=value`` texts.
        overrides: Those, after the ones that hold for the whole sweep.
        content: Digest of what its spec says.
        spec: Its checked spec.
        theory: File of its theory.
        networks: Files of its networks, one a seed.
    """

    over: Combination
    overrides: tuple[str, ...]
    content: str
    spec: Spec
    theory: str
    networks: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Of all its tasks."""
        return (self.theory, *self.networks)

    @property
    def name(self) -> str:
        """What messages call it."""
        return ", ".join(self.over)


@short_repr
@dataclass(frozen=True, kw_only=True)
class Plan:
    """A whole sweep.

    Attributes:
        source: The spec, a TOML file or the name of a ready-made one.
        overrides: ``key=value`` texts that hold for all of it.
        axes: What is swept.
        seeds: Networks of each kind, a combination.
        rng: Seed of the random streams.
        allow_outside: Whether data files may lie outside the spec's folder.
        folder: For the results.
    """

    source: str
    overrides: tuple[str, ...] = ()
    axes: tuple[Axis, ...]
    seeds: int
    rng: int = 0
    allow_outside: bool = False
    folder: Path
    rows: tuple[Row, ...] = field(init=False)

    def __post_init__(self) -> None:
        over = combinations(self.axes)
        if len(over) * (self.seeds + 1) > MOST_TASKS:
            msg = (
                f"sweep: {len(over)} combinations of {self.seeds} seeds are more than {MOST_TASKS} "
                "tasks. Divide it into several sweeps."
            )
            raise InputError(msg)
        object.__setattr__(self, "rows", tuple(self._row(each) for each in over))

    def _row(self, over: Combination) -> Row:
        overrides = (*self.overrides, *over)
        try:
            spec = load(self.source, overrides, allow_outside=self.allow_outside)
            _check(spec)
        except SymrelnError as error:
            msg = f"--over, at {', '.join(over)}: {error}"
            raise InputError(msg) from error
        content = content_of(self.source, overrides, allow_outside=self.allow_outside)
        names = [_name("network", content, self.rng, seed) for seed in range(self.seeds)]
        return Row(
            over=over,
            overrides=overrides,
            content=content,
            spec=spec,
            theory=_name("theory", content),
            networks=tuple(names),
        )

    @property
    def results(self) -> TaskFolder:
        """Where the tasks' files are."""
        return TaskFolder(path=self.folder / TASKS)

    @cached_property
    def names(self) -> frozenset[str]:
        """Of all files."""
        return frozenset(name for row in self.rows for name in row.files)

    def to_json(self) -> dict[str, Any]:
        """Return what tells this sweep from others."""
        return {
            "format": FORMAT,
            "spec": self.rows[0].spec.source,
            "set": list(self.overrides),
            "over": {axis.key: list(axis.values) for axis in self.axes},
            "seeds": self.seeds,
            "rng": self.rng,
            "content": digest(*(row.content for row in self.rows)),
            "program": program(),
        }

    def settle(self) -> None:
        """Make the folder this sweep's, or extend the one that is there by more seeds.

        A seed is the same network however many there are, so its file stays as it is.

        Raises:
            InputError: It is another one's, or one of more seeds.
        """
        path, mine = self.folder / PLAN, self.to_json()
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError:
            self.results.path.mkdir(parents=True, exist_ok=True)
            write_json(path, mine)
            return
        except ValueError:
            found = {}
        if found == mine or _extended(found, mine):
            self.results.path.mkdir(exist_ok=True)
            if found != mine:
                write_json(path, mine)
            return
        other = next(what for key, what in _WORDS.items() if _get(found, key) != mine[key])
        msg = (
            f"--out {self.folder}: it holds a sweep with {other}. "
            "Give another folder, or remove this one"
        )
        raise InputError(msg)


#: What a user calls the parts of a plan, those first that the others follow from.
_WORDS = {
    "format": "a plan that this version does not read",
    "spec": "another spec",
    "set": "other --set",
    "over": "other --over",
    "rng": "another --rng",
    "content": "a spec or data that were changed since",
    "program": "another version of symreln or of its libraries",
    "seeds": "more --seeds",
}


def _extended(found: object, mine: dict[str, Any]) -> bool:
    """Whether a plan differs from an earlier one by more seeds alone."""
    before = _get(found, "seeds")
    if not isinstance(before, int) or not isinstance(found, dict):
        return False
    return found | {"seeds": mine["seeds"]} == mine and before < mine["seeds"]


def _get(found: object, key: str) -> object:
    return found.get(key) if isinstance(found, dict) else None


def _check(spec: Spec) -> None:
    """Refuse what could not be confronted, before anything is trained."""
    network_of(spec)
    if spec.graph is not None:
        msg = "a network of nodes and edges: sweeps are over pathways"
        raise NotSupportedError(msg)
    missing = [parameter.name for parameter in spec.parameters if parameter.value is None]
    if missing:
        msg = f"parameters.{missing[0]}: it has no value to train with. Give it one"
        raise InputError(msg)
    check_before_deriving(spec)


def _name(kind: str, *parts: str | int) -> str:
    return f"{kind}-{digest(kind, program(), *parts)}.npz"
