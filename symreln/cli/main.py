"""The command line: parse, call, print."""

from __future__ import annotations

import errno
import gc
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

#: When a command that the system started began: before this program's imports, by as much as the
#: interpreter has worked. Not when the process did: a shell that waits and then becomes this
#: program would have used the user's time up.
_STARTED = time.monotonic() - time.process_time()

import click  # noqa: E402

from symreln import __version__  # noqa: E402
from symreln.base.signals import (  # noqa: E402
    INTERRUPTED,
    SIGNALLED,
    end_silently,
    interrupt,
    set_interrupt,
    signal_name,
    signals_noted,
)
from symreln.base.streams import PrintError, let_go_of_stdout  # noqa: E402
from symreln.cli.depth import depth  # noqa: E402
from symreln.cli.gates import gates, race, replay  # noqa: E402
from symreln.cli.options import spec_options, training_options  # noqa: E402
from symreln.errors import SymrelnError  # noqa: E402
from symreln.sweep.command import sweep  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.cli.request import Request

EXIT_CODES = """
\b
Exit codes:
  0    done
  1    a bug of symreln
  2    wrong usage, an invalid spec or certificate, or a file or stream that cannot be written
  3    the loss does not agree: it disagrees, is undecided or not tested
  4    a limit was hit; what is proven so far is written
  130  interrupted (SIGINT)
  143  ended by SIGTERM (129 by SIGHUP)
"""

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=CONTEXT, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="symreln")
def cli() -> None:
    """Derive the learning dynamics of gated networks, with proofs, and confront them with training.

    SPEC is a TOML file or the name of a ready-made task (see `symreln tasks`).
    """


def _request(command: str, out: Path | None, **more: Any) -> Request:
    from symreln.cli.request import Request

    tolerance = more.pop("tolerance", None)
    if tolerance is not None:
        given = f'validation.tolerance="{tolerance}"'
        reason = 'validation.reason="given on the command line"'
        more["overrides"] = (*more["overrides"], given, reason)
    folder = None if out is None else str(out)
    return Request(command=command, out=folder, **more)


def _execute(request: Request) -> int:
    from symreln.cli.commands import execute

    return execute(request, began=click.get_current_context().obj)


@cli.command()
@spec_options
@training_options
def run(out: Path | None, **asked: Any) -> int:
    """Derive, train, compare and report: the main job."""
    return _execute(_request("run", out, **asked))


@cli.command()
@spec_options
@click.option(
    "--format",
    "formats",
    type=click.Choice(["json", "tex", "html"]),
    multiple=True,
    help="What to write beside the certificate; may be repeated.  [default: all]",
)
@click.option(
    "--estimate", is_flag=True, help="Only print roughly what time and memory it may take."
)
def derive(out: Path | None, estimate: bool, **asked: Any) -> int:
    """Derive the dynamics exactly and write the derivation with its certificate."""
    from symreln.cli.commands import show_estimate

    request = _request("derive", out, **asked)
    return show_estimate(request) if estimate else _execute(request)


@cli.command()
@spec_options
@training_options
def validate(out: Path | None, **asked: Any) -> int:
    """Train the network and the GDLN and compare them with the prediction."""
    return _execute(_request("validate", out, **asked))


@cli.command()
@click.argument("certificate", metavar="CERTIFICATE.JSON", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def verify(certificate: Path, as_json: bool) -> int:
    """Check a certificate, or the one in a folder, with rational arithmetic alone."""
    from symreln.base.progress import Progress
    from symreln.report.terminal import show_verified
    from symreln.verify import verify_file
    from symreln.verify.folder import CERTIFICATE

    with Progress(quiet=False)("verifying"):
        checks = verify_file(certificate)
    path = certificate / CERTIFICATE if certificate.is_dir() else certificate
    show_verified(path, checks, as_json=as_json)
    return 0


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def tasks(name: str | None, as_json: bool) -> int:
    """List the ready-made specs, or print the TOML of one, to start your own from."""
    from symreln.report import terminal as console

    console.show_tasks(name, as_json=as_json)
    return 0


cli.add_command(sweep)
cli.add_command(depth)
cli.add_command(gates)
cli.add_command(race)
cli.add_command(replay)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def info(as_json: bool) -> int:
    """Show versions and the machine, for a bug report."""
    from symreln.report import terminal as console

    console.show_info(as_json=as_json)
    return 0


@cli.command()
def schema() -> int:
    """Print the JSON Schema of a spec, for editors."""
    from symreln.report.jsonio import dumps
    from symreln.spec.schema import json_schema
    from symreln.tasks.registry import TASKS

    click.echo(dumps(json_schema(TASKS)), nl=False)
    return 0


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    sys.exit(_run(arguments, began=_STARTED if arguments is None else time.monotonic()))


def run_process() -> int:
    """Run the command line of a process of its own; return its exit code.

    Ctrl-C is an exception while there is work that it interrupts, and silent before and after.
    """
    set_interrupt(interrupt)
    try:
        return _run(None, began=_STARTED)
    except KeyboardInterrupt:  # between the work and here
        return INTERRUPTED
    finally:
        set_interrupt(end_silently)


def _run(arguments: list[str] | None, *, began: float) -> int:
    # A command makes millions of small objects that live until it ends: collecting among them
    # again and again costs a tenth of a short command's time and frees nothing.
    gc.set_threshold(200_000, 50, 50)
    return _guarded(arguments, began=began)


def _guarded(arguments: list[str] | None, *, began: float | None = None) -> int:
    if any("\0" in argument for argument in arguments or ()):
        found = "found a null character in an argument; neither a path nor a text has one"
        return _complain(found, 2)
    named = {"standalone_mode": False, "prog_name": "symreln", "obj": began}
    return guarded(lambda: cli.main(args=arguments, **named))


def guarded(work: Callable[[], Any]) -> int:
    """Return the exit code of some work; every error becomes a message and its code."""
    try:
        with signals_noted():
            result = work()
            click.echo(nl=False)  # what is still in the buffer
    except PrintError as error:
        let_go_of_stdout()
        return 0 if error.reader_left else _complain(str(error), error.exit_code)
    except SymrelnError as error:
        return _complain(str(error), error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted; what was written before stays", INTERRUPTED)
    except SystemExit as ended:
        return _ended(ended)
    except click.ClickException as error:
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


def _ended(ended: SystemExit) -> int:
    """Return the code of :func:`.ended_by_signals`, or of what click ended for."""
    code = ended.code if isinstance(ended.code, int) else 1
    if code > SIGNALLED:
        name = signal_name(code - SIGNALLED)
        return _complain(f"ended by {name}; what was written before stays", code)
    if isinstance(ended.__context__, OSError):  # a pipe, but not that of stdout
        return _not_written(ended.__context__)
    return code


def _not_written(error: OSError) -> int:
    """Say which file failed, and what is there all the same."""
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        why += "; it is not there or as it was before, other files are whole. Make room"
    return _complain(f"{error.filename or type(error).__name__}: {why}", 2)


def _complain(message: str, code: int) -> int:
    click.echo(f"symreln: {message}", err=True)
    return code
