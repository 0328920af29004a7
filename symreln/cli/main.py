"""The command line: parse, call, print."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click

from symreln import __version__
from symreln.base import watched
from symreln.base.console import say
from symreln.base.progress import shown
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
        module: Of ``symreln.calls``; the call there has the name of the command.
        example: What may be typed behind the name.
        out: The folder for the results if none is named; "" where it writes nothing.
        work: What calls it and prints, a module and its function. It is imported when the command
            is called, as the call is: most need a second for that.
        saves: Whether the parameters of ``Derivation.save`` are the command's, too.
        trains: Whether what it trains with is chosen.
    """

    module: str
    example: str
    out: str = ""
    work: str = "answer"
    saves: bool = False
    trains: bool = False


_OUT, _SAME = "symreln-out/NAME", "FOLDER"
#: The commands in groups, as `symreln --help` has them.
GROUPS = {
    "Derive and validate": {
        "run": _Row(
            "validate",
            "contextual-3 --set network.hidden=100 --out three",
            *(_OUT, "confront", True, True),
        ),
        "derive": _Row(
            "derive",
            "xor --set parameters.Delta.value=1/2 --format html",
            *(_OUT, "derive", True),
        ),
        "validate": _Row(
            "validate",
            "xor --seeds 20 --set validation.tolerance=2%",
            *(_OUT, "confront", False, True),
        ),
        "report": _Row("open", "symreln-out/xor --format pdf", _SAME),
        "verify": _Row("inform", "symreln-out/xor", work="tell"),
    },
    "Gates": {
        "gates": _Row("gates", "xor --method self-consistent", f"{_OUT}-gates"),
        "race": _Row("gates", "xor --seeds 20", f"{_OUT}-race"),
        "replay": _Row("gates", "contextual-3 --curve", f"{_OUT}-replay"),
        "explain": _Row("explain", "weights.npz spec.toml", f"{_OUT}-explained", work="explain"),
    },
    "Many networks": {
        "sweep": _Row(
            "sweep", "contextual-3 --over network.hidden=100,200 --seeds 4", f"{_OUT}-sweep"
        ),
        "depth": _Row(
            "deep_networks", "--set network.hidden=50 --seeds 10", f"{_OUT}-depth", trains=True
        ),
        "reproduce": _Row("reproduce", "xor --out paper", "symreln-out/paper"),
    },
    "What there is": {
        "tasks": _Row("inform", "contextual-3", work="tell"),
        "schema": _Row("inform", "> symreln.schema.json", work="tell"),
        "info": _Row("inform", "", work="tell"),
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
        return _made(cmd_name) if cmd_name in _ROWS else None

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


class _Command(click.Command):
    """A command whose help has its options under headings and an example at the end."""

    def __init__(self, name: str, parts: dict[str, list[click.Parameter]], **more: Any) -> None:
        super().__init__(name, params=[each for part in parts.values() for each in part], **more)
        self._parts = parts

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, heading by heading."""
        for title, parameters in self._parts.items():
            shown = (
                [*parameters, self.get_help_option(ctx)] if title == options.OUTPUT else parameters
            )
            rows = [row for each in shown if each and (row := each.get_help_record(ctx))]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _made(name: str) -> click.Command:
    """Return a command: its options are the parameters of its call, and what all have."""
    row, call = _ROWS[name], f"calls.{_ROWS[name].module}:{name}"
    text, parameters = options.read_call(call)
    saving = options.read_call("calls.derive:Derivation.save")[1] if row.saves else []
    training = options.read_call("cli.answer:training_machine")[1] if row.trains else []
    first = [each for each in parameters if isinstance(each, options.Argument)]
    own = _names([*first, *saving])
    about_spec = any(each.text == options.SPEC for each in first)
    parts: dict[str, list[click.Parameter]] = {
        options.INPUT: [*first, *(options.SPEC_OPTIONS if about_spec else ())],
        options.WORK: [each for each in parameters if each.name not in own],
        options.OUTPUT: [
            *saving,
            *([_out(row.out)] if row.out else ()),
            *options.PRINTING,
        ],
        options.MACHINE: [*training, *options.LIMITS],
    }
    return _Command(
        name,
        parts,
        callback=_callback(row, call, _names(first), _names(training)),
        help=text,
        epilog=f"Example: symreln {name} {row.example}",
    )


def _out(default: str) -> click.Option:
    """Return that of commands that write; in its default NAME stands for the spec's."""
    text = f"Folder for the results.  [default: {default}]"
    return click.Option(["--out"], help=text, type=click.Path(file_okay=False, path_type=Path))


def _names(parameters: Iterable[click.Parameter]) -> list[str]:
    return [str(each.name) for each in parameters]


def _callback(
    row: _Row, home: str, names: Sequence[str], training: Sequence[str]
) -> Callable[..., int]:
    """Return what a command does; ``names``: of its argument, where it has one."""

    def call(
        *, quiet: bool, time_limit: float | None, memory_limit: float | None, **asked: Any
    ) -> int:
        given = [asked.pop(name) for name in names]
        if row.out:
            asked["out"] = asked["out"] or Path(
                given[0] if row.out == _SAME else row.out.replace("NAME", Path(given[0]).stem)
            )
        if (time_limit or memory_limit) and not watched.is_watched():
            if sys.platform == "win32":
                msg = "--time-limit and --memory-limit need Linux or macOS. Leave them out"
                raise NotSupportedError(msg)
            arguments = click.get_current_context().obj
            limited = options.imported("cli.limited:limited")
            return limited(arguments, asked.get("out"), time_limit, memory_limit)
        if row.trains:
            asked["machine"] = {name: asked.pop(name) for name in training}
        with shown(quiet=quiet):
            return options.imported(f"cli.{row.work}:{row.work}")(home, *given, **asked)

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
        return _complain(found, 2)
    named = {"standalone_mode": False, "prog_name": "symreln", "obj": arguments}
    try:
        result: Any = click.Group.main(cli, args=arguments, **named)
    except SymrelnError as error:
        return _complain(str(error), error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted; what was written before stays", 130)
    except click.ClickException as error:
        vars(error)["message"] = visible(error.message, lines=True)  # final, says click
        error.show()
        return 2
    except MemoryError:
        return _complain("out of memory; a smaller problem or fewer --seeds may fit", 4)
    except OSError as error:
        return _not_written(error)
    except Exception as error:
        if os.environ.get("SYMRELN_DEBUG"):
            raise
        return _complain(
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
        return _complain(f"standard output: {why}; what was not printed is lost", 2)
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        why += "; it is not there or as it was before, other files are whole. Make room"
    return _complain(f"{error.filename}: {why}", 2)


def _complain(message: str, code: int) -> int:
    """Print a message on stderr; return the exit code."""
    say(f"symreln: {message}", err=True)
    return code
