"""The command line: parse, call, print."""

from __future__ import annotations

import errno
import gc
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from symreln import __version__
from symreln.base import watched
from symreln.base.terminal import say
from symreln.cli.options import (
    DERIVING,
    FULL,
    INPUT,
    JSON,
    LATEX,
    LIMITS,
    MACHINE,
    MACHINE_PART,
    OUTPUT,
    OUTSIDE,
    OVERRIDES,
    QUIET,
    RNG,
    SPEC,
    SPEC_TEXT,
    TRAINING,
    Argument,
    Command,
    flag,
    option,
    out,
    seeds,
)
from symreln.errors import NotSupportedError, SymrelnError, visible
from symreln.gating.finders import FINDERS
from symreln.report.formats import NAMES

EXIT_CODES = """
\b
Exit codes:
  0    done
  1    a bug of symreln, or nobody reads on what it prints (`| head`)
  2    wrong usage, an invalid spec or certificate, or a file or stream that cannot be written
  3    run, validate: the loss does not agree: it disagrees, is undecided or not tested
  4    a limit was hit
  130  interrupted (SIGINT)
  143  ended (SIGTERM)
"""

#: The commands as `symreln --help` has them.
GROUPS = {
    "Derive and validate": ("run", "derive", "validate", "verify"),
    "Gates": ("gates", "race", "replay"),
    "Many networks": ("sweep", "depth", "reproduce"),
    "What there is": ("tasks", "schema", "info"),
}

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Commands(click.Group):
    """The commands, in groups."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write them group by group, each with the first sentence of its help."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(90)) for name in names]
                )


@click.group(cls=_Commands, context_settings=CONTEXT, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="symreln")
def cli() -> None:
    """Derive the learning dynamics of gated networks, with proofs, and confront them with training.

    SPEC is a TOML file or the name of a ready-made spec (see `symreln tasks`).
    """


def _command(
    work: str,
    *parameters: click.Parameter,
    example: str,
    limits: Sequence[click.Parameter] = LIMITS,
) -> Callable[[Callable], click.Command]:
    """Return a decorator: a command with a function's name and text.

    Args:
        work: The function that does it, given the options and returning the exit code. It is
            imported when the command is called: most need a second for that.
        parameters: Its arguments and options.
        example: One way to call it, without the program's name.
        limits: Those of time and memory, where it may take long.
    """

    def call(time_limit: float | None = None, memory_limit: int | None = None, **asked: Any) -> int:
        if (time_limit or memory_limit) and not watched.begin():
            if sys.platform == "win32":
                msg = "--time-limit and --memory-limit need Linux or macOS. Leave them out"
                raise NotSupportedError(msg)
            from symreln.cli.limited import limited

            # The parts of a sweep may share a folder: what is new there is not of this one alone.
            out = None if asked.get("shard") else asked.get("out")
            arguments = click.get_current_context().obj
            return limited(arguments, out, time_limit, memory_limit)
        module, _, name = work.rpartition(".")
        return getattr(import_module(module), name)(**asked)

    def decorate(named: Callable) -> click.Command:
        text = inspect.cleandoc(named.__doc__ or "")
        made = Command(
            named.__name__,
            callback=call,
            params=[*parameters, *limits],
            help=text,
            epilog=f"Example: symreln {example}",
        )
        cli.add_command(made)
        return made

    return decorate


#: How what is derived is written.
DOCUMENTS = (
    option(
        "--format formats",
        "What to write beside the certificate; may be repeated; pdf needs the extra symreln[pdf].  "
        "[default: json, tex, html]",
        type=click.Choice(NAMES),
        part=OUTPUT,
        multiple=True,
    ),
    LATEX,
    FULL,
)


@_command(
    "symreln.cli.commands.do",
    *DERIVING,
    *DOCUMENTS,
    *TRAINING,
    example="run contextual-3 --set network.hidden=100 --out three",
)
def run() -> None:
    """Derive, train, compare and report: the main job."""


@_command(
    "symreln.cli.commands.do",
    *DERIVING,
    *DOCUMENTS,
    example="derive xor --set parameters.Delta.value=1/2 --format html",
)
def derive() -> None:
    """Derive the dynamics exactly and write the derivation with its certificate."""


@_command(
    "symreln.cli.commands.do",
    *DERIVING,
    *TRAINING,
    example="validate xor --seeds 20 --set validation.tolerance=2%",
)
def validate() -> None:
    """Train the network and the GDLN and compare them with the prediction."""


@_command(
    "symreln.cli.inform.verify",
    Argument(
        "certificate",
        "A certificate, or a folder that holds one.",
        metavar="CERTIFICATE.JSON",
        type=click.Path(path_type=Path),
    ),
    JSON,
    example="verify symreln-out/xor",
)
def verify() -> None:
    """Check a certificate, or the one in a folder, with rational arithmetic alone."""


@_command(
    "symreln.cli.inform.show_tasks",
    Argument("name", "A ready-made spec.", required=False),
    JSON,
    example="tasks contextual-3",
    limits=(),
)
def tasks() -> None:
    """List the ready-made specs, or print the TOML of one, to start your own from."""


@_command(
    "symreln.cli.run_sweep.sweep_for_user",
    SPEC,
    option(
        "--over",
        "A key of the spec and its values, e.g. network.hidden=50,100. May be repeated: all "
        "combinations are done.",
        part=INPUT,
        multiple=True,
        metavar="KEY=V1,V2,…",
    ),
    OVERRIDES,
    seeds(8),
    RNG,
    out("symreln-out/NAME-sweep", "; a sweep that is there goes on"),
    option("--workers", "Processes.  [default: one a core]", 1, 1024, part=MACHINE_PART),
    option(
        "--shard",
        "Do part i of N and write no summary; parts are independent.",
        part=MACHINE_PART,
        metavar="i/N",
    ),
    JSON,
    QUIET,
    OUTSIDE,
    example="sweep contextual-3 --over network.hidden=100,200 --seeds 4",
)
def sweep() -> None:
    """Validate a spec for all combinations of some keys' values.

    What is done is kept: the same command again, after whatever end, does only what is missing.
    """


@_command(
    "symreln.cli.answered.depth_for_user",
    Argument("spec", SPEC_TEXT, metavar="[SPEC]", default="depth"),
    OVERRIDES,
    seeds(50, least=2),
    RNG,
    out("symreln-out/NAME-depth"),
    JSON,
    QUIET,
    *MACHINE,
    OUTSIDE,
    example="depth --set network.hidden=50 --seeds 10",
)
def depth() -> None:
    """Train deep ReLU networks and a gated network of the same depth, and compare distributions.

    SPEC is a network of nodes and edges, by default the paper's two hidden layers; the ReLU
    network has as many hidden layers of network.hidden units. Writes depth.json, depth.html,
    depth.svg and curves.npz. That they differ is a result, not a failure.
    """


@_command(
    "symreln.cli.run_reproduce.reproduce_for_user",
    Argument(
        "name",
        "A page, such as xor or depth, or all; a name that is none lists them.",
        metavar="[NAME|all]",
        default="all",
    ),
    flag("--full", "Train 20 networks of each kind for a loss curve, which takes about an hour."),
    RNG,
    out("symreln-out/paper", "; pages that are there with the same settings stay"),
    JSON,
    QUIET,
    example="reproduce xor --out paper",
)
def reproduce() -> None:
    """Reproduce the paper: derive every result and confront it with trained networks.

    A page a result, with its figures and derivations, and index.html: the five findings, and a
    table of all predictions beside trained networks, the published ones with them (table.md). What
    was done stays: the same command again makes only the pages that are missing.
    """


@_command(
    "symreln.cli.answered.find_gates",
    SPEC,
    option(
        "--method",
        "enumerate: all gates that the data allow. self-consistent: those that early training "
        "selects. kmeans: those of trained networks (Algorithm 1 of the paper). windows: those of "
        "trained networks in time windows, units counted by their weight.",
        metavar="METHOD",
        type=click.Choice([each.name for each in FINDERS]),
        required=True,
    ),
    option("--samples", "Draw so many directions instead of all gates.", 1, 10_000_000),
    RNG,
    option("--stages", "Stages to follow at most.", 1, default=8),
    option(
        "--seeds",
        "Networks to train and cluster.  [default: kmeans 20, windows 5]",
        1,
    ),
    option(
        "--clusters",
        "Number of clusters.  [default: the number with the largest mean silhouette]",
        1,
    ),
    option("--windows", "Time windows at most, with --method windows.  [default: by replay]", 1),
    option("--every", "Updates between two looks.  [default: kmeans 100, windows 20]", 1),
    QUIET,
    option("--limit", "Gates above which to stop.", 1),
    OVERRIDES,
    out("symreln-out/NAME-gates"),
    JSON,
    OUTSIDE,
    example="gates xor --method self-consistent",
)
def gates() -> None:
    """Find the gates of a dataset, at the declared values of its parameters.

    Exactly, from the data; or as trained networks show them. Writes gates.json and gates.toml, a
    spec that `symreln derive` takes.
    """


@_command(
    "symreln.cli.answered.race_gates",
    SPEC,
    option("--over", "Parameter of the race.  [default: the only one]", metavar="PARAMETER"),
    option(
        "--by label",
        "Race gates that are open on subsets of a label's values instead; with --over for all "
        "values of the parameter.",
        metavar="LABEL",
    ),
    option("--stage", "Stage whose residual is learned.", 1, default=1),
    option("--limit", "Gates above which to stop.", 1),
    option("--seeds", "Networks to train at every point.", 0, default=0),
    option(
        "--points",
        "Values of the parameter in each interval, where networks are trained.",
        1,
        default=3,
    ),
    RNG,
    OVERRIDES,
    out("symreln-out/NAME-race"),
    JSON,
    QUIET,
    OUTSIDE,
    example="race xor --seeds 20",
)
def race() -> None:
    """Say which self-consistent gate is fastest, for all values of a parameter at once.

    Writes race.json and race.svg. With --seeds it trains ReLU networks in every
    interval between boundaries, and says which gates they take: finding 1 of the paper as a table,
    race.md.
    With --by context gates open in m of the contexts race, on what --stage learns, at the declared
    values; with --by context --over c for all c at once, with boundaries.
    """


@_command(
    "symreln.cli.answered.replay_gates",
    SPEC,
    flag("--curve", "Also cluster the units: error by pathways and time windows."),
    option(
        "--seeds", "Networks that are replayed, and as many more that are clustered.", 1, default=2
    ),
    option("--every", "Updates between two looks at a network.", 1),
    RNG,
    QUIET,
    OVERRIDES,
    out("symreln-out/NAME-replay"),
    JSON,
    OUTSIDE,
    example="replay contextual-3 --curve",
)
def replay() -> None:
    """Train ReLU networks, then train them again with the spec's gates in place of their own.

    From the same initial weights; each unit takes the nearest gate. Masks on inputs and outputs
    and stages are not used: a network has none. Writes replay.json, with --curve also replay.svg.
    """


@_command("symreln.cli.inform.show_info", JSON, example="info", limits=())
def info() -> None:
    """Show versions and the machine, for a bug report."""


@_command("symreln.cli.inform.show_schema", example="schema > symreln.schema.json", limits=())
def schema() -> None:
    """Print the JSON Schema of a spec, for editors."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    # A command makes millions of small objects that live until it ends: collecting among them
    # again and again costs a tenth of a short command's time and frees nothing.
    gc.set_threshold(500_000, 20, 50)
    sys.exit(_guarded(sys.argv[1:] if arguments is None else arguments))


def _guarded(arguments: list[str]) -> int:
    """Return the exit code of a command line; every error becomes a message and its code."""
    if any("\0" in argument for argument in arguments):
        found = "found a null character in an argument; neither a path nor a text has one"
        return complain(found, 2)
    named = {"standalone_mode": False, "prog_name": "symreln", "obj": arguments}
    try:
        result: Any = cli.main(args=arguments, **named)
    except SymrelnError as error:
        return complain(str(error), error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return complain("interrupted; what was written before stays", 130)
    except click.ClickException as error:
        vars(error)["message"] = visible(error.message, lines=True)  # final, says click
        error.show()
        return 2
    except MemoryError:
        return complain("out of memory; a smaller problem or fewer --seeds may fit", 4)
    except OSError as error:
        return _not_written(error)
    except Exception as error:
        if os.environ.get("SYMRELN_DEBUG"):
            raise
        return complain(
            f"a bug of symreln: {type(error).__name__}: {error}\n"
            "  Please report it with the spec and the output of `symreln info`; "
            "SYMRELN_DEBUG=1 shows where it happened.",
            1,
        )
    return result if isinstance(result, int) else 0


def _not_written(error: OSError) -> int:
    """Say which file failed, and what is there all the same."""
    why = error.strerror or str(error)
    if error.filename is None:
        return complain(f"standard output: {why}; what was not printed is lost", 2)
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        why += "; it is not there or as it was before, other files are whole. Make room"
    return complain(f"{error.filename}: {why}", 2)


def complain(message: str, code: int) -> int:
    """Print a message on stderr; return the exit code."""
    say(f"symreln: {message}", err=True)
    return code
