"""What a sweep consists of: every combination checked, every file named, before any work.

``--over KEY=v1,v2``: which values of which keys a sweep goes through.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import product
from pathlib import Path

from symreln.base.provenance import library_versions
from symreln.base.records import record
from symreln.base.summaries import short_repr
from symreln.claims.divergence import check_before_deriving
from symreln.errors import InputError, NotSupportedError, SymrelnError, visible
from symreln.specs.files import Folder
from symreln.specs.finding import Finding, cut
from symreln.specs.model import Spec
from symreln.specs.overrides import apply_overrides, parse_override
from symreln.specs.tomlfile import read_toml
from symreln.task_library.load import load
from symreln.task_library.registry import SPECS, spec_path

TASKS = "tasks"
#: A folder with more files than this is no place for results.
_MOST_TASKS = 1_000_000


@short_repr
class Row:
    """One combination of a sweep.

    Attributes:
        over: Its ``key=value`` texts.
        overrides: Those, after the ones that hold for the whole sweep.
        digest: Of what its spec says (:func:`digest`).
        spec: Its checked spec.
    """

    over: Combination
    overrides: tuple[str, ...]
    digest: str
    spec: Spec

    @property
    def name(self) -> str:
        """What messages call it."""
        return ", ".join(self.over)


@short_repr
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
        rows: One a combination.
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
        object.__setattr__(self, "rows", tuple(map(self._row, over)))

    def _row(self, over: Combination) -> Row:
        overrides = (*self.overrides, *over)
        try:
            spec = load(self.source, overrides, allow_outside=self.allow_outside)
            if spec.graph is not None:
                msg = "a network of nodes and edges: sweeps are over pathways"
                raise NotSupportedError(msg)
            check_before_deriving(spec)
        except SymrelnError as error:
            said = str(error)
            for text in over:
                said = said.replace(f"--set {text}: ", f"--over {text}: ")
            msg = f"--over, at {', '.join(over)}: {said}"
            raise InputError(msg) from error
        said = digest(self.source, overrides, allow_outside=self.allow_outside)
        return Row(over=over, overrides=overrides, digest=said, spec=spec)

    @property
    def tasks(self) -> Path:
        """The folder of the tasks' files."""
        return self.folder.resolve() / TASKS

    def theory(self, row: int) -> Path:
        """Return the file of a combination's theory."""
        return self.tasks / f"theory-{self.rows[row].digest}.npz"

    def network(self, row: int, seed: int) -> Path:
        """Return the file of a network and its GDLN."""
        return self.tasks / f"network-{self.rows[row].digest}-{self.rng}-{seed}.npz"


def digest(source: str, overrides: Sequence[str], *, allow_outside: bool) -> str:
    """Return a digest of what a spec says after its overrides, data files and versions included.

    Args:
        source: A TOML file or the name of a ready-made spec, which can be loaded.
        overrides: ``key=value`` texts.
        allow_outside: Whether data files may lie outside the spec's folder.
    """
    path = spec_path(source) if source in SPECS else Path(source)
    tables, _ = apply_overrides(read_toml(path)[0], overrides)
    folder, data = Folder(path=path.parent, allow_outside=allow_outside), tables["dataset"]
    names = [data[key] for key in ("inputs", "targets", "data") if isinstance(data.get(key), str)]
    files = [hashlib.sha256(folder.read(name)).hexdigest() for name in names]
    said = json.dumps([tables, files, library_versions()], default=repr)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


_OPEN, _CLOSE = "([{", ")]}"
_EXAMPLE = "For example: --over network.hidden=50,100,200"


@record
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
