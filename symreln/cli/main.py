"""The command line: parse, call, print."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click

from symreln import __version__
from symreln.base import watched
from symreln.base.progress import shown
from symreln.base.terminal import say
from symreln.cli import options
from symreln.errors import NotSupportedError, SymrelnError, visible

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


class _Row(NamedTuple):
    """A command: a Python call, and what is printed of its answer.

    Attributes:
        call: What it calls; its parameters are the command's.
        example: One way to call it, without the program's name.
        out: The folder for the results if none is named; "" where it writes nothing.
        work: What calls it and prints. It is imported when the command is called, as the call is:
            most need a second for that.
        save: A method of the answer whose parameters are the command's, too.
        trains: Whether what it trains with is chosen.
    """

    call: str
    example: str
    out: str = ""
    work: str = "cli.answer:answer"
    save: str = ""
    trains: bool = False


_OUT, _CONFRONT, _SAVE = "symreln-out/NAME", "cli.confront:confront", "calls.derive:Answer.save"
_TELL = "cli.tell:tell"
#: The commands in groups, as `symreln --help` has them.
GROUPS = {
    "Derive and validate": {
        "run": _Row(
            "calls.validate:run",
            "run contextual-3 --set network.hidden=100 --out three",
            *(_OUT, _CONFRONT, _SAVE, True),
        ),
        "derive": _Row(
            "calls.derive:derive",
            "derive xor --set parameters.Delta.value=1/2 --format html",
            *(_OUT, "cli.derive:derive", _SAVE),
        ),
        "validate": _Row(
            "calls.validate:validate",
            "validate xor --seeds 20 --set validation.tolerance=2%",
            *(_OUT, _CONFRONT, "", True),
        ),
        "verify": _Row("calls.inform:verify", "verify symreln-out/xor", work=_TELL),
    },
    "Gates": {
        "gates": _Row("calls.gates:gates", "gates xor --method self-consistent", f"{_OUT}-gates"),
        "race": _Row("calls.gates:race", "race xor --seeds 20", f"{_OUT}-race"),
        "replay": _Row("calls.gates:replay", "replay contextual-3 --curve", f"{_OUT}-replay"),
    },
    "Many networks": {
        "sweep": _Row(
            "calls.sweep:sweep",
            "sweep contextual-3 --over network.hidden=100,200 --seeds 4",
            f"{_OUT}-sweep",
        ),
        "depth": _Row(
            "calls.depth:depth",
            "depth --set network.hidden=50 --seeds 10",
            f"{_OUT}-depth",
            trains=True,
        ),
        "reproduce": _Row(
            "calls.reproduce:reproduce", "reproduce xor --out paper", "symreln-out/paper"
        ),
    },
    "What there is": {
        "tasks": _Row("calls.inform:tasks", "tasks contextual-3", work=_TELL),
        "schema": _Row("calls.inform:schema", "schema > symreln.schema.json", work=_TELL),
        "info": _Row("calls.inform:info", "info", work=_TELL),
    },
}
_ROWS = {name: row for rows in GROUPS.values() for name, row in rows.items()}


class _Commands(click.Group):
    """The commands, each made when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return [*_ROWS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one, or None where there is none."""
        return _made(cmd_name, _ROWS[cmd_name]) if cmd_name in _ROWS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write them group by group, each with the first sentence of its help."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                made = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl(
                    [(name, each.get_short_help_str(90)) for name, each in made if each]
                )

    def main(self, args: Any = None, *_: Any, **__: Any) -> NoReturn:
        """Run the command line and end the process with the right exit code."""
        main(None if args is None else [*args])


def _made(name: str, row: _Row) -> click.Command:
    """Return a command: its options are the parameters of its call, and what all have."""
    text, parameters = options.read_call(row.call)
    saving = options.read_call(row.save)[1] if row.save else []
    first = [each for each in parameters if isinstance(each, options.Argument)]
    own = {each.name for each in [*first, *saving]}
    about_spec = any(each.text == options.SPEC for each in first)
    parts: dict[str, list[click.Parameter]] = {
        options.INPUT: [*first, *(options.SPEC_OPTIONS if about_spec else ())],
        options.WORK: [each for each in parameters if each.name not in own],
        options.OUTPUT: [
            *saving,
            *([options.out_option(row.out)] if row.out else ()),
            *options.PRINTING,
        ],
        options.MACHINE: [*(options.TRAINING if row.trains else ()), *options.LIMITS],
    }
    return options.Command(
        name,
        parts,
        callback=_callback(row, *(each.name or "" for each in first)),
        help=text,
        epilog=f"Example: symreln {row.example}",
    )


def _callback(row: _Row, *names: str) -> Callable[..., int]:
    """Return what a command does; ``names``: of its argument, where it has one."""

    def call(
        *, quiet: bool, time_limit: float | None, memory_limit: float | None, **asked: Any
    ) -> int:
        given = [asked.pop(name) for name in names]
        if row.out:
            asked["out"] = asked["out"] or Path(row.out.replace("NAME", Path(given[0]).stem))
        if (time_limit or memory_limit) and not watched.is_watched():
            if sys.platform == "win32":
                msg = "--time-limit and --memory-limit need Linux or macOS. Leave them out"
                raise NotSupportedError(msg)
            arguments = click.get_current_context().obj
            limited = options.imported("cli.limited:limited")
            return limited(arguments, asked.get("out"), time_limit, memory_limit)
        if row.trains:
            asked["machine"] = {str(each.name): asked.pop(each.name) for each in options.TRAINING}
        with shown(quiet=quiet):
            return options.imported(row.work)(row.call, *given, **asked)

    return call


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=_Commands, context_settings=CONTEXT, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="symreln")
def cli() -> None:
    """Derive the learning dynamics of gated networks, with proofs, and confront them with training.

    SPEC is a TOML file or the name of a ready-made spec (see `symreln tasks`).
    """


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
        result: Any = click.Group.main(cli, args=arguments, **named)
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
