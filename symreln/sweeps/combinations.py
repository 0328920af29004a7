"""What a sweep consists of, and how a combination of it is done.

A combination is finished when its file is there, so that a sweep may be killed at any moment,
started again, or divided among machines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

from symreln.base.jsonio import write_text
from symreln.base.processors import one_blas_thread
from symreln.base.progress import phase
from symreln.base.provenance import library_versions
from symreln.base.records import record
from symreln.errors import InputError, SymrelnError, visible
from symreln.experiment.confront import compare_losses
from symreln.experiment.metrics import Distance, Interval, SeedFloor
from symreln.experiment.training import check_trainable
from symreln.experiment.verdicts import Verdict
from symreln.pipeline.derive import derive
from symreln.report.written_spec import spec_toml
from symreln.specs.finding import Finding, cut
from symreln.specs.overrides import parse_override
from symreln.specs.spec import Spec
from symreln.task_library.load import load

#: A folder with more files than this is no place for results.
_MOST = 1_000_000
_EXAMPLE = "For example: --over network.hidden=50,100,200"


@record
class _Combination:
    """One combination of values.

    Attributes:
        over: Its ``key=value`` texts.
        spec: Its checked spec.
        seeds: Networks of each kind.
        rng: Seed of the random streams.
        file: What it makes.
    """

    over: tuple[str, ...]
    spec: Spec
    seeds: int
    rng: int
    file: Path


@record
class SweepRow:
    """What a combination came to.

    Attributes:
        over: Its ``key=value`` texts.
        seeds: Networks of each kind that are compared; 0 where it failed or is not done.
        level: The verdict of its derivation; "" where there are no networks, like what follows.
        method: How the theory is evaluated.
        free_constants: Of the theory.
        judged: Which curve "theory" is: "closed" or "reduced".
        verdict: Of the loss; of modes and gates a sweep records nothing.
        metrics: By pair of curves.
        floor: What networks of different seeds differ by; None for one seed or no network.
        failure: Why it could not be done, or "".
        exit_code: What the program ends with for it.
    """

    over: tuple[str, ...]
    seeds: int = 0
    level: str = ""
    method: str = ""
    free_constants: int | None = None
    judged: str = ""
    verdict: Verdict | None = None
    metrics: Mapping[str, Distance[Interval]]
    floor: SeedFloor | None = None
    failure: str = ""
    exit_code: int = 0


@record
class Sweep:
    """A whole sweep.

    Attributes:
        source: The spec, a TOML file or the name of a ready-made one.
        overrides: ``key=value`` texts that hold for all of it.
        axes: Values by key, as written.
        combinations: All of them, the last key's values changing first.
        rows: What they came to.
    """

    source: str
    overrides: tuple[str, ...]
    axes: Mapping[str, tuple[str, ...]]
    combinations: tuple[_Combination, ...]
    rows: tuple[SweepRow, ...] = ()

    def done(self, shard: str | None, executor: Executor) -> Sweep:
        """Do what is missing, and return it with its rows.

        Args:
            shard: "i/N" for part i of N, counted from 1; None for all of it.
            executor: What does it.

        Raises:
            InputError: The shard is none.
        """
        asked = _part(self.combinations, shard)
        left = [each for each in asked if not each.file.exists()]
        self.combinations[0].file.parent.mkdir(parents=True, exist_ok=True)
        failed: dict[Path, SweepRow] = {}
        with phase("sweeping") as report:
            for count, found in enumerate(executor.map(_perform, left), start=1):
                if found is not None:
                    failed[left[count - 1].file] = found
                report(count, len(left))
        rows = (failed.get(each.file) or _row_of(each) for each in self.combinations)
        return replace(self, rows=tuple(rows))

    @classmethod
    def of(
        cls,
        source: str,
        texts: Sequence[str],
        folder: Path,
        *,
        overrides: tuple[str, ...] = (),
        seeds: int = 8,
        rng: int = 0,
        allow_outside: bool = False,
    ) -> Sweep:
        """Check every combination and name every file, before any work.

        Args:
            source: As of :class:`Sweep`, like what is not said here.
            texts: What is swept, ``key=value,value``.
            folder: For the results.
            overrides: ``key=value`` texts; none may speak of a key that is swept.
            seeds: Networks of each kind.
            rng: Seed.
            allow_outside: Whether data files may lie outside the spec's folder.

        Raises:
            InputError: A combination is wrong, or they are too many.
        """
        axes = _axes(texts, overrides)
        rows = list(product(*([f"{key}={value}" for value in axes[key]] for key in axes)))
        if len(rows) * (seeds + 1) > _MOST:
            msg = (
                f"sweep: {len(rows)} combinations of {seeds} seeds are more than {_MOST} "
                "networks. Divide it into several sweeps."
            )
            raise InputError(msg)
        found = []
        for over in rows:
            spec = _checked(source, overrides, over, allow_outside=allow_outside)
            file = folder.resolve() / "tasks" / f"{_digest(spec)}-{rng}-{seeds}.json"
            found.append(_Combination(over=over, spec=spec, seeds=seeds, rng=rng, file=file))
        return cls(source=source, overrides=overrides, axes=axes, combinations=tuple(found))


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


def _part(every: tuple[_Combination, ...], shard: str | None) -> tuple[_Combination, ...]:
    """Return part ``i/N`` of the combinations."""
    first, _, last = (shard or "1/1").partition("/")
    digits = all(part.isascii() and part.isdigit() for part in (first, last))
    if not digits or not 1 <= int(first) <= int(last):
        msg = f"--shard {str(shard)[:40]}: expected i/N with 1 ≤ i ≤ N, such as 1/8"
        raise InputError(msg)
    index, parts = int(first), int(last)
    return every[(index - 1) * len(every) // parts : index * len(every) // parts]


# -- a combination ---------------------------------------------------------------------------------


def _perform(asked: _Combination) -> SweepRow | None:
    """Write the file of a combination; return a row that says why it cannot be done, or None.

    Raises:
        OSError: A file cannot be written.
        MemoryError: There is not enough.
    """
    try:
        # One thread: the order of summation, and so every bit, is the same wherever it is done.
        with one_blas_thread():
            found = compare_losses(derive(asked.spec), asked.seeds, asked.rng)
            row = SweepRow(
                over=(),
                seeds=found.seeds,
                level=found.numbers.verdict.level.value,
                method=found.prediction.method,
                free_constants=found.prediction.free_constants,
                judged=found.judged,
                verdict=found.loss_verdict,
                metrics=found.intervals,
                floor=None if found.network is None else found.floor,
            )
    except (OSError, MemoryError):
        raise
    except SymrelnError as error:
        failed = str(error), error.exit_code
    except Exception as error:
        failed = f"a bug of symreln: {type(error).__name__}: {error}", 1
    else:
        write_text(asked.file, json.dumps(asdict(row)))
        return None
    return SweepRow(over=asked.over, metrics={}, failure=failed[0], exit_code=failed[1])


def _row_of(asked: _Combination) -> SweepRow:
    """Return what a combination's file says, an empty row where it is not done.

    Raises:
        InputError: The file was changed or cut.
    """
    try:
        held = json.loads(asked.file.read_text("utf-8"))
        verdict = held["verdict"]
        if verdict["interval"] is not None:
            verdict["interval"] = tuple(verdict["interval"])
        metrics = {
            pair: Distance(**{name: Interval(**ends) for name, ends in found.items()})
            for pair, found in held["metrics"].items()
        }
        if held["floor"] is not None:
            each = {name: Distance(**numbers) for name, numbers in held["floor"].items()}
            held["floor"] = SeedFloor(**each)
        known = {"over": asked.over, "verdict": Verdict(**verdict), "metrics": metrics}
        return SweepRow(**{**held, **known})
    except FileNotFoundError:
        return SweepRow(over=asked.over, metrics={})
    except (OSError, ValueError, LookupError, TypeError) as error:
        msg = f"{asked.file}: it is damaged. Remove it, and the same command makes it again"
        raise InputError(msg) from error


# -- values of keys --------------------------------------------------------------------------------


def _axes(texts: Sequence[str], overrides: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of each key that ``--over`` texts name.

    Raises:
        InputError: There is none, or one is malformed, empty, given twice, or repeats a value.
    """
    if not texts:
        msg = f"sweep: no --over is given, so there is nothing to sweep over. {_EXAMPLE}"
        raise InputError(msg)
    axes = {}
    taken = {_path(text, "--set"): "--set" for text in overrides}
    for text in texts:
        key, values = _axis(text)
        path = _path(f"{key}={values[0]}", "--over")
        if path in taken:
            msg = f"--over {_shown(text)}: {taken[path]} gives this key too. Give it once."
            raise InputError(msg)
        axes[key], taken[path] = values, "another --over"
    return axes


def _axis(text: str) -> tuple[str, tuple[str, ...]]:
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
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        msg = f"--over {_shown(text)}: {twice} stands there twice. Give every value once."
        raise InputError(msg)
    for value in values:
        _path(f"{key}={value}", "--over")
    return key.strip(), tuple(values)


def _divided(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no bracket and no quotes."""
    depth, quote, begin = 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "," and not depth:
            yield text[begin:place].strip()
            begin = place + 1
        else:
            depth += (letter in "([{") - (letter in ")]}")
    yield text[begin:].strip()


def _path(text: str, option: str) -> tuple[str | int, ...]:
    try:
        return parse_override(text)[0]
    except Finding as finding:
        problem = replace(finding.problems[0], path=f"{option} {_shown(text)}")
        raise InputError(str(problem)) from finding


def _shown(text: str) -> str:
    return visible(cut(text, 100))
