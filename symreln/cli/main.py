"""The command line: parse, call, print."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

#: When a command that the system started began: before this program's imports, by as much as the
#: interpreter has worked. Not when the process did: a shell that waits and then becomes this
#: program would have used the user's time up.
_STARTED = time.monotonic() - time.process_time()

import click  # noqa: E402

from symreln import __version__  # noqa: E402
from symreln.base.guard import complain, guarded  # noqa: E402
from symreln.base.signals import (  # noqa: E402
    INTERRUPTED,
    end_silently,
    interrupt,
    set_interrupt,
)
from symreln.cli.depth import depth  # noqa: E402
from symreln.cli.gates import gates, race, replay  # noqa: E402
from symreln.cli.options import spec_options, training_options  # noqa: E402
from symreln.cli.request import Request  # noqa: E402
from symreln.cli.sweep import sweep  # noqa: E402

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
    request = _request("derive", out, **asked)
    if not estimate:
        return _execute(request)
    from symreln.cli.derive import show_estimate

    return show_estimate(request)


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
    from symreln.cli import inform

    return inform.verify(certificate, as_json=as_json)


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def tasks(name: str | None, as_json: bool) -> int:
    """List the ready-made specs, or print the TOML of one, to start your own from."""
    from symreln.cli import inform

    return inform.show_tasks(name, as_json=as_json)


cli.add_command(sweep)
cli.add_command(depth)
cli.add_command(gates)
cli.add_command(race)
cli.add_command(replay)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def info(as_json: bool) -> int:
    """Show versions and the machine, for a bug report."""
    from symreln.cli import inform

    return inform.show_info(as_json=as_json)


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
        return complain(found, 2)
    named = {"standalone_mode": False, "prog_name": "symreln", "obj": began}
    return guarded(lambda: cli.main(args=arguments, **named))
