"""``symreln sweep``: the same confrontation for many values and seeds, resumed where it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from symreln.cli.options import IntegerRange


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
def sweep(**asked: Any) -> int:
    """Validate a spec for all combinations of some keys' values, one file a network.

    What is done is kept: the same command again, after whatever end, does only what is missing.
    """
    from symreln.sweep.session import sweep_for_user  # this takes a second to import

    return sweep_for_user(**asked)
