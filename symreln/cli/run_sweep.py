"""The work of ``symreln sweep``: from its options to its summary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls import sweep as calls
from symreln.errors import InputError
from symreln.report.folder import require_folder, write_together
from symreln.report.sweep import failure_sentence, missing_sentence, part_said, show_sweep
from symreln.sweeps.plan import Plan, read_axes
from symreln.sweeps.run import Failure, Missing, Shard

_RESULT = "sweep.json"


def sweep_for_user(
    *,
    spec: str,
    over: tuple[str, ...],
    overrides: tuple[str, ...],
    seeds: int,
    rng: int,
    out: Path,
    workers: int | None,
    dask: str | None,
    shard: str | None,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
) -> int:
    """Do a sweep or a part of it, write and print the summary; return the exit code.

    Takes the options of the command.

    Raises:
        InputError: Options exclude each other, or are wrong.
    """
    if workers is not None and dask is not None:
        msg = "--workers and --dask: they exclude each other. Give one of them"
        raise InputError(msg)
    part = Shard() if shard is None else Shard.read(shard)
    axes = read_axes(over, overrides)
    require_folder(out)
    plan = Plan(
        source=spec,
        overrides=overrides,
        axes=axes,
        seeds=seeds,
        rng=rng,
        allow_outside=allow_outside,
        folder=out,
    )
    left = Missing.of(plan, part)
    if not quiet:
        say(f"symreln: sweep: {missing_sentence(left)}", err=True)
    with Progress(quiet=quiet)("sweeping"):
        failures = calls.fill(plan, left, workers, dask)
    code = _tell(plan, failures)
    if shard is None:
        _conclude(plan, failures, as_json=as_json, quiet=quiet)
    else:
        put(part_said(plan, as_json=as_json))
    return code


def _tell(plan: Plan, failures: Sequence[Failure]) -> int:
    """Say what could not be done; return the exit code for it."""
    for failure in failures:
        say(f"symreln: sweep: {failure_sentence(plan, failure)}", err=True)
    codes = {failure.exit_code for failure in failures}
    return 1 if 1 in codes else max(codes, default=0)


def _conclude(plan: Plan, failures: Sequence[Failure], *, as_json: bool, quiet: bool) -> None:
    """Write and print the summary."""
    with Progress(quiet=quiet)("summary"):
        found = calls.summary_of(plan, failures)
        files = found.files()
        write_together(plan.folder, files)
    if as_json:
        put(files[_RESULT])
        return
    show_sweep(found.found)
    say(f"written to {plan.folder}: {', '.join([_RESULT, *(x for x in files if x != _RESULT)])}")
