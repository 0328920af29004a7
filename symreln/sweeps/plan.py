"""What a sweep consists of: every combination checked, every task named, before any work.

``--over KEY=v1,v2``: which values of which keys a sweep goes through.

Digests of all that a task's result depends on: what computes, and what its spec says.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from symreln.base.jsonio import write_json
from symreln.base.provenance import library_versions
from symreln.base.summaries import short_repr
from symreln.claims.divergence import check_before_deriving
from symreln.errors import InputError, NotSupportedError, SpecError, SymrelnError
from symreln.specs.files import Folder
from symreln.specs.finding import Finding, cut, visible
from symreln.specs.model import Spec
from symreln.specs.number import DecimalText
from symreln.specs.overrides import apply_overrides, parse_override
from symreln.specs.tomlfile import read_toml
from symreln.sweeps.files import TaskFolder
from symreln.task_library.load import load
from symreln.task_library.registry import SPECS, spec_path

FORMAT = "symreln-sweep-plan/1"
PLAN, TASKS = "plan.json", "tasks"
#: A folder with more files than this is no place for results.
_MOST_TASKS = 1_000_000


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
        if len(over) * (self.seeds + 1) > _MOST_TASKS:
            msg = (
                f"sweep: {len(over)} combinations of {self.seeds} seeds are more than "
                f"{_MOST_TASKS} tasks. Divide it into several sweeps."
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

    @property
    def file_bytes(self) -> int:
        """Of all its files, at most."""
        steps = (row.spec.network.steps for row in self.rows if row.spec.network is not None)
        return sum(2 * (self.seeds + 1) * 8 * each for each in steps)

    @property
    def identity(self) -> dict[str, Any]:
        """What tells this sweep from others, as its folder keeps it."""
        return {
            "format": FORMAT,
            "spec": self.rows[0].spec.source,
            "set": list(self.overrides),
            "over": {axis.key: list(axis.values) for axis in self.axes},
            "seeds": self.seeds,
            "rng": self.rng,
            "content": _digest(*(row.content for row in self.rows)),
            "program": program(),
        }

    def settle(self) -> None:
        """Make the folder this sweep's, or extend the one that is there by more seeds.

        A seed is the same network however many there are, so its file stays as it is.

        Raises:
            InputError: It is another one's, or one of more seeds.
        """
        path, mine = self.folder / PLAN, self.identity
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
    if spec.graph is not None:
        msg = "a network of nodes and edges: sweeps are over pathways"
        raise NotSupportedError(msg)
    check_before_deriving(spec)


def _name(kind: str, *parts: str | int) -> str:
    return f"{kind}-{_digest(kind, program(), *parts)}.npz"


_OPEN, _CLOSE = "([{", ")]}"
_EXAMPLE = "For example: --over network.hidden=50,100,200"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One key and its values.

    Attributes:
        key: As in ``--set``.
        values: As written, one or more.
    """

    key: str
    values: tuple[str, ...]


Combination = tuple[str, ...]
"""One ``key=value`` text an axis."""


def combinations(axes: Sequence[Axis]) -> list[Combination]:
    """Return every combination of values, the last key's values changing first."""
    texts = [[f"{axis.key}={value}" for value in axis.values] for axis in axes]
    return list(product(*texts))


def read_axes(texts: Sequence[str], overrides: Sequence[str] = ()) -> tuple[Axis, ...]:
    """Return the axes that ``--over`` texts name.

    Args:
        texts: One or more.
        overrides: Of ``--set``; none may speak of a key that is swept.

    Raises:
        InputError: There is none, or one is malformed, empty, given twice, or repeats a value.

    Example:
        >>> read_axes(["network.hidden=[50, 100]"])
        (Axis(key='network.hidden', values=('50', '100')),)
    """
    if not texts:
        msg = f"sweep: no --over is given, so there is nothing to sweep over. {_EXAMPLE}"
        raise InputError(msg)
    axes = tuple(_axis(text) for text in texts)
    taken = {_path(text, "--set"): "--set" for text in overrides}
    for axis, text in zip(axes, texts, strict=True):
        path = _path(f"{axis.key}={axis.values[0]}", "--over")
        if path in taken:
            msg = f"--over {_shown(text)}: {taken[path]} gives this key too. Give it once."
            raise InputError(msg)
        taken[path] = "another --over"
    return axes


def _axis(text: str) -> Axis:
    key, equals, listed = text.partition("=")
    if not equals:
        msg = f"--over {_shown(text)}: expected KEY=VALUE,VALUE,…. {_EXAMPLE}"
        raise InputError(msg)
    listed = listed.strip()
    values = list(_divided(listed))
    if len(values) == 1 and listed.startswith("[") and listed.endswith("]"):
        values = list(_divided(listed[1:-1].strip().removesuffix(",")))
    if not all(values):
        msg = f"--over {_shown(text)}: found no value where one is needed. {_EXAMPLE}"
        raise InputError(msg)
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        msg = f"--over {_shown(text)}: {twice[0]} stands there twice. Give every value once."
        raise InputError(msg)
    for value in values:
        _path(f"{key}={value}", "--over")
    return Axis(key=key.strip(), values=tuple(values))


def _divided(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no bracket and no quotes."""
    depth, quote, begin = 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif letter == "," and not depth:
            yield text[begin:place].strip()
            begin = place + 1
    yield text[begin:].strip()


def _path(text: str, option: str) -> tuple[str | int, ...]:
    try:
        return parse_override(text)[0]
    except Finding as finding:
        problem = replace(finding.problems[0], path=f"{option} {_shown(text)}")
        raise InputError(str(problem)) from finding


def _shown(text: str) -> str:
    return visible(cut(text, 100))


_PACKAGE = Path(__file__).resolve().parents[1]
_DATA_FILES = ("inputs", "targets", "data")


def _digest(*parts: Any) -> str:
    """Return the SHA-256, in hexadecimal, of values that JSON holds."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def program() -> str:
    """Return the digest of what computes: source, libraries that decide results, processor.

    The source, not only its version: in a working tree the version stays while the program changes.
    """
    files = {
        path.relative_to(_PACKAGE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(_PACKAGE.rglob("*"))
        if path.is_file() and path.suffix not in (".pyc", ".pyo")
    }
    return _digest(files, library_versions(), sys.version, platform.machine())


def content_of(source: str, overrides: Sequence[str], *, allow_outside: bool) -> str:
    """Return the digest of what a spec says after its overrides, data files included.

    Comments make no difference; the spec's name does, because it stands in the results.

    Args:
        source: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        InputError: It cannot be read (any more).
    """
    ready_made = source in SPECS
    path = spec_path(source) if ready_made else Path(source)
    try:
        tables, _ = apply_overrides(read_toml(path)[0], tuple(overrides))
        folder = Folder(path=path.parent, allow_outside=allow_outside)
        files = _digests(tables.get("dataset"), folder)
    except (SpecError, Finding) as error:
        msg = f"{source}: it cannot be read any more: {error}"
        raise InputError(msg) from error
    name = source if ready_made else path.name
    return _digest(name, ready_made, json.dumps(tables, default=_tagged), files)


def _digests(dataset: Any, folder: Folder) -> dict[str, str]:
    if not isinstance(dataset, Mapping):
        return {}
    return {
        key: hashlib.sha256(folder.read(dataset[key])).hexdigest()
        for key in _DATA_FILES
        if isinstance(dataset.get(key), str)
    }


def _tagged(value: object) -> dict[str, str]:
    """Return what TOML has and JSON has not, so that 1, 1.0, "1" and true differ."""
    kind = "decimal" if isinstance(value, DecimalText) else type(value).__name__
    return {f"\0{kind}": str(value)}  # no key of TOML text holds this character
