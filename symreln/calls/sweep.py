"""Many confrontations: what is done of them, and what is missing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from symreln.base import pool
from symreln.base.jsonio import dumps
from symreln.base.processors import cores
from symreln.base.provenance import library_versions
from symreln.base.records import record
from symreln.base.rounding import percent, positional
from symreln.base.tables import plain_table
from symreln.calls.answers import AbstractAnswer
from symreln.errors import InputError
from symreln.experiment.metrics import METHOD, Interval, interval_text, share_text
from symreln.report.results_folder import write_files
from symreln.report.written_spec import spec_toml
from symreln.specs.arguments import check_counts
from symreln.specs.build import plain
from symreln.specs.spec import Spec
from symreln.sweeps.combinations import Sweep, SweepRow
from symreln.task_library.load import spec_of
from symreln.task_library.registry import SPECS

_FORMAT = "symreln-sweep/2"
#: As in validation.json: the ReLU network's place is a linear network's where that is trained.
_PAIRS = (
    "theory_vs_gdln",
    "theory_vs_relu",
    "gdln_vs_relu",
    "closed_vs_gdln",
    "closed_vs_relu",
    "reduced_vs_gdln",
    "reduced_vs_relu",
    "effective_vs_relu",
    "mean_field_vs_relu",
)
#: Where a spec that is no file is kept, in the folder of its sweep.
_SPEC = "spec.toml"
#: Pairs of curves that the table shows, and their titles.
_SHOWN = {
    "theory_vs_relu": "theory – network",
    "theory_vs_gdln": "theory – GDLN",
    "gdln_vs_relu": "GDLN – network",
}


@record(eq=False)
class SweepAnswer(AbstractAnswer):
    """What :func:`symreln.sweep` found.

    Attributes:
        found: One row a combination.
        shard: The part that was done, "i/N"; None for all.
    """

    found: Sweep
    shard: str | None = None

    @property
    def rows(self) -> tuple[SweepRow, ...]:
        """One a combination."""
        return self.found.rows

    def to_json(self) -> dict[str, Any]:
        """Return what sweep.json says."""
        found, first = self.found, self.found.combinations[0]
        return {
            "format": _FORMAT,
            "title": first.spec.title,
            "spec": first.spec.source,
            "set": list(found.overrides),
            "over": {key: list(values) for key, values in found.axes.items()},
            "seeds": first.seeds,
            "rng": first.rng,
            "intervals": METHOD,
            "rows": [_json_row(row) for row in found.rows],
            "versions": library_versions(),
        }

    def files(self) -> dict[str, str | bytes]:
        """Return sweep.json, by its name; a part of a sweep has none."""
        return {} if self.shard is not None else {"sweep.json": dumps(self.to_json())}

    def lines(self) -> Iterator[str]:
        """Yield what the terminal shows."""
        title = f"sweep, {self.found.combinations[0].seeds} seeds: max |ΔL|/L(0)"
        rows = [_cells(row) for row in self.rows]
        table = plain_table(title, [*rows[0]], [[*row.values()] for row in rows])
        yield from table.rstrip("\n").splitlines()
        yield f"in brackets 95 % intervals: {METHOD}"

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0, or the code of a failure."""
        codes = {row.exit_code for row in self.rows}
        return 1 if 1 in codes else max(codes, default=0)

    def errors(self) -> Iterator[str]:
        """Yield what could not be done, and why."""
        for row in self.rows:
            if row.failure:
                yield f"sweep: {', '.join(row.over)}: {row.failure}"

    def _summary(self) -> list[str]:
        # The table is wider than a repr.
        return [f"sweep of {len(self.rows)} combinations", *map(_said, self.rows)]


def _cells(row: SweepRow) -> dict[str, str]:
    """Return what the table says of a combination, by header."""
    relu = row.metrics.get("theory_vs_relu")
    distances = {
        title: share_text(row.metrics[pair].max_abs_over_initial) if pair in row.metrics else "–"
        for pair, title in _SHOWN.items()
    }
    return {
        **dict(text.split("=", 1) for text in row.over),
        "seeds": f"{row.seeds}{' *' if row.failure else ''}",
        **distances,
        "drop time error": "–" if relu is None else _steps(relu.drop_time_error_steps),
        "seed floor": "–" if row.floor is None else percent(row.floor.mean.max_abs_over_initial),
        "judged": row.judged or "–",
        "loss": "–" if row.verdict is None else row.verdict.outcome,
    }


def _steps(found: Interval) -> str:
    if found.value is None:
        return "never drops"
    return interval_text(found, lambda steps: positional(steps, 3))


def _said(row: SweepRow) -> str:
    """Return a combination in a line."""
    over = ", ".join(row.over)
    if row.verdict is None:
        return f"{over}: {row.failure or 'not done yet'}"
    loss = f"loss {row.verdict.outcome}"
    if row.verdict.value is not None:
        loss += f", max |ΔL|/L(0) {row.verdict.value:.2%}"
    return f"{over}: {row.level}; {loss}; seeds {row.seeds}"


def sweep(
    source: Spec | str | os.PathLike[str],
    over: Mapping[str, Sequence[object]] | Sequence[str],
    *,
    directory: str | Path,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    seeds: int = 8,
    rng: int = 0,
    workers: int | None = None,
    shard: str | None = None,
    allow_outside: bool = False,
) -> SweepAnswer:
    """Validate a spec for all combinations of some keys' values.

    What is done is kept in the folder: the same again, after whatever end, does only what is
    missing.

    Args:
        source: A spec, which is written into the folder as spec.toml; or a spec file, or the name
            of a ready-made spec, whose task's options are keys too.
        over: Keys of the spec and their values, network.hidden=50,100 or
            {"network.hidden": [50, 100]}: all combinations are done.
        directory: For the results; a sweep that is there goes on, with more values or seeds too.
        overrides: ``key=value`` texts or a mapping, for all of it.
        seeds: Networks to train of each kind, a combination.
        rng: Seed of the random streams.
        workers: Processes; one a core by default.
        shard: Do part i of N, written i/N, and write no summary; parts are independent.
        allow_outside: Whether data files may lie outside the spec's folder.

    Raises:
        InputError: A key or value is wrong, or the folder has another spec.toml than a given Spec.
        LimitReachedError: A process was killed; the same call goes on.
        NotSupportedError: A spec of nodes and edges; one whose sizes are symbols, given as a Spec.

    Example:
        >>> import symreln as sr, tempfile
        >>> small = {"network.hidden": 20, "network.steps": 50}
        >>> asked = {"over": {"network.init_std": ["1/100", "1/200"]}, "seeds": 1, "workers": 1}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(sr.sweep("xor", directory=folder, overrides=small, **asked).rows)
        2
    """
    told, texts, folder = _texts(overrides), _texts(over), Path(directory)
    check_counts(seeds, rng, "sweep")
    if not isinstance(source, str | os.PathLike):
        source = _written(spec_of(source, "sweep"), [*told, *texts], folder)
    asked = {"overrides": told, "seeds": seeds, "rng": rng, "allow_outside": allow_outside}
    asked_of = Sweep.of(str(source), texts, folder, **asked)
    with pool.processes(workers or cores()) as executor:
        return SweepAnswer(found=asked_of.done(shard, executor), shard=shard)


def _written(spec: Spec, keys: Sequence[str], folder: Path) -> Path:
    """Write a spec into the folder of its sweep, from where other processes read it.

    Raises:
        InputError: The folder has another spec.toml, or a key is an option of a task.
        NotSupportedError: The spec cannot be written.
    """
    option = next((key for key in keys if key.startswith("dataset.")), "")
    if option and spec.dataset.task:
        name = spec.source if spec.source in SPECS else "spec.toml"
        msg = (
            f"sweep: {option.partition('=')[0]} is an option of a task, and a Spec holds the data "
            f"that came of it. Give the name or the file: sr.sweep({name!r}, …)"
        )
        raise InputError(msg)
    text, path = spec_toml(spec), folder / _SPEC
    if not path.exists():
        write_files(folder, {_SPEC: text})
    elif path.read_text("utf-8") != text:
        msg = f"sweep: {folder} holds a sweep with another spec. Give another folder"
        raise InputError(msg)
    return path


def _texts(given: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """Return key=value texts, values as TOML writes them."""
    if not isinstance(given, Mapping):
        return tuple(given)
    return tuple(f"{key}={json.dumps(plain(value), default=str)}" for key, value in given.items())


def _json_row(row: SweepRow) -> dict[str, Any]:
    return {
        "over": list(row.over),
        "seeds": row.seeds,
        "level": row.level or None,
        "method": row.method or None,
        "free_constants": row.free_constants,
        "judged": row.judged or None,
        "verdict": None if row.verdict is None else row.verdict.outcome,
        "verdicts": None if row.verdict is None else {"loss": asdict(row.verdict)},
        "metrics": dict.fromkeys(_PAIRS)
        | {pair: asdict(found) for pair, found in row.metrics.items()},
        "seed_floor": None if row.floor is None else asdict(row.floor),
        "failure": row.failure or None,
    }
