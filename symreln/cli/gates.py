"""``symreln gates``, ``symreln race`` and ``symreln replay``: parse, call, write, print.

What each of them needs is imported when it is called: ``symreln --help`` names them all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from symreln.cli.options import IntegerRange
from symreln.gates.finders import ALIASES, FINDERS


def _option(
    name: str, text: str, least: int | None = None, most: int | None = None, **more: Any
) -> Callable:
    """Return an option; one of whole numbers where the least of them is given."""
    if least is not None:
        more["type"] = IntegerRange(min=least, max=most)
    return click.option(*name.split(), help=text, **more)


def _command(*options: Callable) -> Callable[[Callable], click.Command]:
    """Return a decorator: a command with a spec, these options, and those that all have."""
    common = (
        _option("--set overrides", "Override a key.", multiple=True, metavar="KEY=VALUE"),
        _option("--out", "Folder for results.", type=click.Path(file_okay=False, path_type=Path)),
        _option("--json as_json", "Print the JSON on stdout.", is_flag=True),
    )

    def decorate(work: Callable) -> click.Command:
        for option in reversed((*options, *common)):
            work = option(work)
        return click.command()(click.argument("spec", metavar="SPEC")(work))

    return decorate


QUIET = _option("--quiet -q", "No progress on stderr.", is_flag=True)


@_command(
    _option(
        "--method",
        "All gates that the data allow; those that early training selects; or those of networks "
        "that are trained: by K-means (Algorithm 1 of the paper), or in time windows by weight.",
        type=click.Choice([*(each.name for each in FINDERS), *ALIASES]),
        required=True,
    ),
    _option("--samples", "Draw so many directions instead of all gates.", 1, 10_000_000),
    _option("--rng", "Seed of everything random.", 0, default=0),
    _option("--stages", "Stages to follow at most.", 1, default=8),
    _option(
        "--against",
        "Networks to compare self-consistent gates with: a confusion table over the steps.",
        1,
    ),
    _option("--clusters", "K.  [default: the number with the largest mean silhouette]", 1),
    _option("--windows", "Time windows at most, with --method windows.  [default: by replay]", 1),
    _option(
        "--every",
        "Updates between two looks at a network; windows look five times as often.",
        1,
        default=100,
        show_default=True,
    ),
    _option("--trainings", "Networks of one run.", 1, default=1, show_default=True),
    _option("--runs", "Runs from other initial weights.  [default: 20, with windows 5]", 1),
    _option(
        "--replays",
        "Further networks on which the gates are replayed.",
        0,
        default=2,
        show_default=True,
    ),
    QUIET,
    _option("--limit", "Gates above which to stop.", 1),
)
def gates(**asked: Any) -> int:
    """Find the gates of a dataset, at the declared values of its parameters.

    Exactly, from the data; or as trained networks show them. Writes gates.json and gates.toml, a
    spec that `symreln derive` takes.
    """
    from symreln.cli import run_gates  # this takes a second to import

    return run_gates.find_gates(**asked)


@_command(
    _option("--over", "The parameter.  [default: the only one]", metavar="PARAMETER"),
    _option(
        "--by label",
        "Race gates that are open on subsets of a label's values instead; with --over for all "
        "values of the parameter.",
        metavar="LABEL",
    ),
    _option(
        "--rivals modules",
        "Race one pathway a value of a label against mixed-selective ones, and both together.",
        metavar="LABEL",
    ),
    _option("--stage", "Whose residual is learned.", 1, default=1),
    _option("--limit", "Gates above which to stop.", 1),
    _option("--seeds", "Networks to train at every point.", 0, default=0),
    _option("--points", "Points in every interval.", 1, default=3),
    _option("--rng", "Seed of the networks.", 0, default=0),
)
def race(**asked: Any) -> int:
    """Say which self-consistent gate is fastest, for all values of a parameter at once.

    Writes race.json and race.svg. With --seeds it trains ReLU networks in every interval between
    boundaries, and says which gates they take: finding 1 of the paper as a table, race.md.
    With --by context it says how fast gates open in m of the contexts are, stage by stage, at the
    declared values, and which m trained networks take: subsets.json, subsets.md and subsets.svg.
    With --by context --over c it does so for all c at once, with boundaries: race.json and race.md.
    With --rivals context it derives and trains strictly modular, mixed-selective and both kinds of
    pathways together: findings 2 and 3 as a table, rivals.md.
    """
    from symreln.cli import run_gates  # this takes a second to import

    return run_gates.race_gates(**asked)


@_command(
    _option(
        "--curve",
        "Also cluster the units: error by pathways and time windows.",
        is_flag=True,
    ),
    _option(
        "--seeds",
        "Networks that are replayed, and as many more that are clustered.",
        1,
        default=2,
        show_default=True,
    ),
    _option("--every", "Updates between two looks at a network.", 1),
    _option("--rng", "Seed of the networks.", 0, default=0),
    QUIET,
)
def replay(**asked: Any) -> int:
    """Train ReLU networks, then train them again with the spec's gates in place of their own.

    From the same initial weights; each unit takes the nearest gate. Masks on inputs and outputs
    and stages are not used: a network has none. Writes replay.json, with --curve also replay.svg.
    """
    from symreln.cli import run_gates  # this takes a second to import

    return run_gates.replay_gates(**asked)
