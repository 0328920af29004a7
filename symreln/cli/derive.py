"""The work of ``symreln derive``: derive, write, print."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from symreln.base.progress import Progress
from symreln.claims.derivation import Derivation, Derived
from symreln.claims.early import begin_early_strengths
from symreln.cli.request import Request
from symreln.errors import InputError
from symreln.pipeline.derive import derive as derive_spec
from symreln.report.formats import document_formats
from symreln.report.latex_style import Style
from symreln.specs.model import Spec
from symreln.task_library.load import load


def loaded(request: Request) -> Spec:
    """Return the checked spec that is asked for."""
    with Progress(quiet=request.quiet)("reading the spec"):
        return load(request.spec, request.overrides, allow_outside=request.allow_outside)


def written(request: Request, derivation: Derived) -> list[Path]:
    """Write a derivation as it is asked for; return the files."""
    # Here, because work beside this begins before it: what writes is imported meanwhile.
    from symreln.report.write import write_derivation

    style = Style.of(request.latex)
    return write_derivation(
        derivation, request.folder, formats=request.formats, style=style, full=request.full
    )


def derive(request: Request) -> int:
    """Derive, write the derivation and print what it says; return the exit code."""
    spec = loaded(request)
    with Progress(quiet=request.quiet)("deriving"):
        derivation = derive_spec(spec, lambda found: _begin(request, found))
        files = written(request, derivation)
    # Here, as what writes.
    from symreln.report import terminal as console

    console.note_earlier_run(request.folder)
    with Progress(quiet=request.quiet)("summary"):
        said = console.derivation_said(derivation, files, as_json=request.as_json)
    console.show_derivation(said, request.folder, files)
    return 0


def _begin(request: Request, derivation: Derivation) -> None:
    """Have done beside the checks what documents of a derivation need, and no check changes."""
    formats = document_formats(request.formats)
    if formats:
        with suppress(InputError, OverflowError):  # which those say who ask for it
            begin_early_strengths(derivation)
            # Here, because without documents there are no figures.
            from symreln.report.drawings import STILL

            derivation.ask(STILL[any(each.latex for each in formats)])
