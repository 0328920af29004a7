"""``symreln sweep``: the same confrontation for many values and seeds, resumed where it ended."""

from __future__ import annotations

from typing import Any

import click

from symreln.cli.options import (
    IntegerRange,
    json_option,
    out_option,
    outside_option,
    overrides_option,
    quiet_option,
    rng_option,
    seeds_option,
    spec_argument,
)


@click.command()
@spec_argument
@click.option(
    "--over",
    multiple=True,
    metavar="KEY=V1,V2,…",
    help="A key of the spec and its values, e.g. network.hidden=50,100. May be repeated: all "
    "combinations are done.",
)
@overrides_option
@seeds_option(8)
@rng_option
@out_option("symreln-out/NAME-sweep", "; a sweep that is there goes on")
@click.option(
    "--workers", type=IntegerRange(min=1, max=1024), help="Processes.  [default: one a core]"
)
@click.option("--dask", metavar="ADDRESS", help="Let a dask.distributed cluster do it.")
@click.option(
    "--shard", metavar="i/N", help="Do part i of N and no summary; parts need not know of another."
)
@click.option("--collect", is_flag=True, help="Only make the summary of what is done.")
@json_option
@quiet_option
@outside_option
def sweep(**asked: Any) -> int:
    """Validate a spec for all combinations of some keys' values, one file a network.

    What is done is kept: the same command again, after whatever end, does only what is missing.
    """
    from symreln.cli.run_sweep import sweep_for_user  # this takes a second to import

    return sweep_for_user(**asked)
