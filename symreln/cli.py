"""The command line: parse, call, print."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from symreln import __version__
from symreln.errors import SymrelnError

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.console import Progress
    from symreln.derivation import Derivation
    from symreln.spec.model import Spec
    from symreln.validation.confront import Validation

EXIT_CODES = """
\b
Exit codes:
  0    done
  1    a bug of symreln
  2    wrong usage or an invalid spec or certificate
  3    theory and training disagree
  4    a limit was hit; what is proven so far is written
  130  interrupted
"""

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(context_settings=CONTEXT, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="symreln")
def cli() -> None:
    """Derive the learning dynamics of gated networks, with proofs, and confront them with training.

    SPEC is a TOML file or the name of a ready-made task (see `symreln tasks`).
    """


def _spec_options(command: Callable) -> Callable:
    """Add what every command that reads a spec takes."""
    options = [
        click.argument("spec", metavar="SPEC"),
        click.option(
            "--set",
            "overrides",
            multiple=True,
            metavar="KEY=VALUE",
            help="Override a key of the spec, e.g. network.hidden=100. May be repeated.",
        ),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            help="Folder for the results.  [default: symreln-out/NAME]",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout."),
        click.option("--quiet", "-q", is_flag=True, help="No progress on stderr."),
        click.option(
            "--allow-outside-data",
            is_flag=True,
            help="Let the spec name data files outside its own folder.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _training_options(command: Callable) -> Callable:
    options = [
        click.option(
            "--seeds",
            type=click.IntRange(min=1, max=100_000),
            default=8,
            show_default=True,
            help="Networks to train, of each kind.",
        ),
        click.option(
            "--rng",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of the random streams.",
        ),
        click.option(
            "--tolerance",
            type=str,
            help="Largest allowed max |ΔL|/L(0); overrides the spec's.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _load(spec: str, overrides: tuple[str, ...], allow_outside: bool) -> Spec:
    from symreln.spec.reader import load

    return load(spec, overrides=overrides, allow_outside=allow_outside)


def _folder(out: Path | None, spec: str) -> Path:
    return out if out is not None else Path("symreln-out") / Path(spec).stem


@cli.command()
@_spec_options
@_training_options
def run(
    spec: str,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    allow_outside_data: bool,
    seeds: int,
    rng: int,
    tolerance: str | None,
) -> int:
    """Derive, train, compare and report: the main job."""
    from symreln import console
    from symreln.report.write import write_derivation, write_validation

    progress = console.Progress(quiet=quiet)
    checked = _load(spec, _with_tolerance(overrides, tolerance), allow_outside_data)
    folder = _folder(out, spec)
    # Written before training starts: an interrupted run keeps its derivation.
    derivation, validation = _confronted(
        checked, seeds, rng, progress, keep=lambda derived: write_derivation(derived, folder)
    )
    with progress("writing the report"):
        written = write_validation(validation, folder)
        written += write_derivation(derivation, folder, validation=validation)
    console.show_run(derivation, validation, folder, written, as_json=as_json)
    return 0 if validation.agrees else 3


@cli.command()
@_spec_options
@click.option(
    "--format",
    "formats",
    type=click.Choice(["json", "tex", "html"]),
    multiple=True,
    help="What to write beside the certificate; may be repeated.  [default: all]",
)
def derive(
    spec: str,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    allow_outside_data: bool,
    formats: tuple[str, ...],
) -> int:
    """Derive the dynamics exactly and write the derivation with its certificate."""
    from symreln import console
    from symreln.pipeline import derive as derive_spec
    from symreln.report.write import write_derivation

    checked = _load(spec, overrides, allow_outside_data)
    folder = _folder(out, spec)
    with console.Progress(quiet=quiet)("deriving"):
        derivation = derive_spec(checked)
        written = write_derivation(derivation, folder, formats=formats or None)
    console.note_earlier_run(folder)
    console.show_derivation(derivation, folder, written, as_json=as_json)
    return 0


@cli.command()
@_spec_options
@_training_options
def validate(
    spec: str,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    quiet: bool,
    allow_outside_data: bool,
    seeds: int,
    rng: int,
    tolerance: str | None,
) -> int:
    """Train the network and the GDLN and compare them with the prediction."""
    from symreln import console
    from symreln.report.write import write_validation

    progress = console.Progress(quiet=quiet)
    checked = _load(spec, _with_tolerance(overrides, tolerance), allow_outside_data)
    folder = _folder(out, spec)
    _, validation = _confronted(checked, seeds, rng, progress)
    written = write_validation(validation, folder)
    console.show_validation(validation, folder, written, as_json=as_json)
    return 0 if validation.agrees else 3


def _confronted(
    spec: Spec,
    seeds: int,
    rng: int,
    progress: Progress,
    keep: Callable[[Derivation], object] = lambda _: None,
) -> tuple[Derivation, Validation]:
    """Derive, hand the derivation to ``keep``, train and compare."""
    from symreln.pipeline import derive as derive_spec
    from symreln.validation.confront import validate as confront

    with progress("deriving"):
        derivation = derive_spec(spec)
        keep(derivation)
    with progress("training") as report:
        validation = confront(derivation, seeds=seeds, rng=rng, progress=report)
    return derivation, validation


def _with_tolerance(overrides: tuple[str, ...], tolerance: str | None) -> tuple[str, ...]:
    if tolerance is None:
        return overrides
    return (
        *overrides,
        f'validation.tolerance="{tolerance}"',
        'validation.reason="given on the command line"',
    )


@cli.command()
@click.argument("certificate", metavar="CERTIFICATE.JSON", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def verify(certificate: Path, as_json: bool) -> int:
    """Check a certificate, or the one in a folder, with rational arithmetic alone."""
    from symreln import console
    from symreln import verify as verifier

    if certificate.is_dir():
        certificate /= "certificate.json"
    checks = verifier.verify_file(certificate)
    console.show_verified(certificate, checks, as_json=as_json)
    return 0


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def tasks(name: str | None, as_json: bool) -> int:
    """List the ready-made specs, or print the TOML of one, to start your own from."""
    from symreln import console

    console.show_tasks(name, as_json=as_json)
    return 0


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on stdout.")
def info(as_json: bool) -> int:
    """Show versions and the machine, for a bug report."""
    from symreln import console

    console.show_info(as_json=as_json)
    return 0


@cli.command()
def schema() -> int:
    """Print the JSON Schema of a spec, for editors."""
    from symreln.report.jsonio import dumps
    from symreln.spec.schema import json_schema

    click.echo(dumps(json_schema()), nl=False)
    return 0


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with the right exit code."""
    # A command makes millions of small objects that live until it ends: collecting among them
    # again and again costs a tenth of a short command's time and frees nothing.
    gc.set_threshold(200_000, 50, 50)
    sys.exit(_guarded(arguments))


def _guarded(arguments: list[str] | None) -> int:
    try:
        result: Any = cli.main(args=arguments, standalone_mode=False, prog_name="symreln")
    except SymrelnError as error:
        return _complain(str(error), error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted; what was written before stays", 130)
    except click.ClickException as error:
        error.show()
        return 2
    except BrokenPipeError:
        # The reader of stdout went away (`symreln tasks | head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return _complain("out of memory; a smaller problem or fewer --seeds may fit", 4)
    except OSError as error:
        return _complain(f"{error.filename or 'file'}: {error.strerror or error}", 2)
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


def _complain(message: str, code: int) -> int:
    click.echo(f"symreln: {message}", err=True)
    return code
