"""``symreln sweep``: the same confrontation for many values and seeds, resumed where it ended."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symreln.cli.options import IntegerRange

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from symreln.sweep.board import Board, Failure
    from symreln.sweep.plan import Plan
    from symreln.sweep.summary import Summary

RESULT = "sweep.json"


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--over",
    multiple=True,
    metavar="KEY=V1,V2,…",
    help="A key of the spec and its values, e.g. network.hidden=50,100. May be repeated: all "
    "combinations are done.",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a key of the spec for the whole sweep. May be repeated.",
)
@click.option(
    "--seeds",
    type=IntegerRange(min=1, max=100_000),
    default=8,
    show_default=True,
    help="Networks to train of each kind, a combination.",
)
@click.option(
    "--rng",
    type=IntegerRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random streams.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results; a sweep that is there goes on.  "
    "[default: symreln-out/NAME-sweep]",
)
@click.option(
    "--workers", type=IntegerRange(min=1, max=1024), help="Processes.  [default: one a core]"
)
@click.option("--dask", metavar="ADDRESS", help="Let a dask.distributed cluster do it.")
@click.option(
    "--shard", metavar="i/N", help="Do part i of N and no summary; parts need not know of another."
)
@click.option("--collect", is_flag=True, help="Only make the summary of what is done.")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on stderr.")
@click.option(
    "--allow-outside-data",
    "allow_outside",
    is_flag=True,
    help="Let the spec name data files outside its own folder.",
)
def sweep(
    spec: str,
    over: tuple[str, ...],
    overrides: tuple[str, ...],
    seeds: int,
    rng: int,
    out: Path | None,
    workers: int | None,
    dask: str | None,
    shard: str | None,
    collect: bool,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
) -> int:
    """Validate a spec for all combinations of some keys' values, one file a network.

    What is done is kept: the same command again, after whatever end, does only what is missing.
    """
    from symreln.base.processors import cores
    from symreln.errors import InputError
    from symreln.report.folder import require_folder
    from symreln.sweep.axes import read_axes
    from symreln.sweep.plan import Plan
    from symreln.sweep.run import Shard

    chosen = {"--workers": workers, "--dask": dask, "--collect": collect or None}
    given = [name for name, value in chosen.items() if value is not None]
    clash = given[:2] if len(given) > 1 else ["--shard", "--collect"] if shard and collect else []
    if clash:
        msg = f"{clash[0]} and {clash[1]}: they exclude each other. Give one of them"
        raise InputError(msg)
    part = None if shard is None else Shard.read(shard)
    axes = read_axes(over, overrides)
    folder = out or Path("symreln-out") / f"{Path(spec).stem}-sweep"
    require_folder(folder)
    plan = Plan(
        source=spec,
        overrides=overrides,
        axes=axes,
        seeds=seeds,
        rng=rng,
        allow_outside=allow_outside,
        folder=folder,
    )
    plan.settle()
    work, count = _back_end(dask, workers or cores())
    failures = _run(plan, part, None if collect else work, count, quiet=quiet)
    return _conclude(plan, part, failures, as_json=as_json, quiet=quiet)


def _back_end(dask: str | None, workers: int) -> tuple[Callable[[Board], None], int]:
    """Return what does a board's jobs, and among how many they are divided."""
    if dask is not None:
        from symreln.sweep.cluster import cluster_size, run_on_cluster

        return partial(run_on_cluster, address=dask), cluster_size(dask)
    from symreln.sweep.local import run_local

    return partial(run_local, workers=workers), workers


def _run(
    plan: Plan, part: object, work: Callable[[Board], None] | None, workers: int, *, quiet: bool
) -> list[Failure]:
    """Do what is missing of a sweep or a part of it; say before what that is.

    Raises:
        InputError: Nothing is to be done and something is missing.
    """
    from symreln.base.progress import Progress
    from symreln.errors import InputError
    from symreln.sweep.run import Shard, estimate, missing, sweep

    whole = Shard(index=1, parts=1)
    with Progress(quiet=quiet)("looking for what is done"):
        wanted = (part if isinstance(part, Shard) else whole).seeds(plan)
        left = missing(plan, wanted)
        found = estimate(plan, wanted, left)
    if work is None:
        if left:
            msg = (
                f"--collect: {found.theories + found.networks} tasks are missing in "
                f"{plan.folder}. Leave --collect out to do them"
            )
            raise InputError(msg)
        return []
    if not quiet:
        click.echo(f"symreln: sweep: {found.sentence(workers)}", err=True)
    if not left:
        return []
    with Progress(quiet=quiet)("sweeping") as report:
        return sweep(plan, wanted, left, work, workers, report)


def _conclude(
    plan: Plan, part: object, failures: Sequence[Failure], *, as_json: bool, quiet: bool
) -> int:
    """Write and print the summary, or how much a part has done; return the exit code."""
    from symreln.base.progress import Progress
    from symreln.report.jsonio import dumps, write_text

    for failure in failures:
        of = "theory" if failure.seed is None else f"seed {failure.seed}"
        where = plan.rows[failure.row].name
        click.echo(f"symreln: sweep: {where}: {of}: {failure.message}", err=True)
    code = max((failure.exit_code for failure in failures), default=0)
    code = 1 if any(failure.exit_code == 1 for failure in failures) else code
    if part is not None:
        _show_part(plan, as_json=as_json)
        return code
    from symreln.sweep.figure import sweep_figures
    from symreln.sweep.summary import summarise

    with Progress(quiet=quiet)("summary"):
        summary = summarise(plan, failures)
        written = []
        for drawing in sweep_figures(summary):
            written.append(f"{drawing.name}.svg")
            write_text(plan.folder / written[-1], drawing.svg)
        text = dumps(summary.to_json())
        write_text(plan.folder / RESULT, text)
    if as_json:
        click.echo(text, nl=False)
        return code
    _show(summary)
    click.echo(f"written to {plan.folder}: {', '.join([RESULT, *written])}")
    return code


def _show_part(plan: Plan, *, as_json: bool) -> None:
    from symreln.report.jsonio import dumps

    done = sum(plan.results.has(name) for name in plan.names)
    if as_json:
        click.echo(dumps({"tasks": len(plan.names), "done": done}), nl=False)
    else:
        click.echo(f"{done} of the sweep's {len(plan.names)} tasks are done, in {plan.folder}")


def _show(summary: Summary) -> None:
    """Print a row a combination."""
    import sys

    from symreln.base.tables import plain_table, render_table
    from symreln.experiment.intervals import METHOD
    from symreln.sweep.table import header, rows

    table = f"sweep, {summary.plan.seeds} seeds: max |ΔL|/L(0)", header(summary), rows(summary)
    if sys.stdout.isatty():
        render_table(*table)
    else:
        click.echo(plain_table(*table), nl=False)
    click.echo(f"in brackets 95 % intervals: {METHOD}")
