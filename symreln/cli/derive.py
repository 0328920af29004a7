"""The work of ``symreln derive``: derive, write, print."""

from __future__ import annotations

from pathlib import Path

from symreln.base.progress import Progress
from symreln.claims.derivation import Derived
from symreln.cli.request import Request
from symreln.pipeline.derive import derive as derive_spec
from symreln.report.drawings import begin_documents
from symreln.report.latex_style import Style
from symreln.specs.model import Spec
from symreln.task_library.load import load


def loaded(request: Request) -> Spec:
    """Return the checked spec that is asked for."""
    with Progress(quiet=request.quiet)("reading the spec"):
        return load(request.spec, request.overrides, allow_outside=request.allow_outside)


def written(request: Request, derivation: Derived) -> list[Path]:
    """Write a derivation as it is asked for; return the files."""
    # Here, because what is begun beside it should not wait for these.
    from symreln.report.write import write_derivation

    style = Style.of(request.latex)
    return write_derivation(derivation, request.folder, formats=request.formats, style=style)


def derive(request: Request) -> int:
    """Derive, write the derivation and print what it says; return the exit code."""
    spec = loaded(request)
    with Progress(quiet=request.quiet)("deriving"):
        derivation = derive_spec(spec, lambda found: begin_documents(found, request.formats))
        files = written(request, derivation)
    from symreln.report import terminal as console

    console.note_earlier_run(request.folder)
    with Progress(quiet=request.quiet)("summary"):
        said = console.derivation_said(derivation, files, as_json=request.as_json)
    console.show_derivation(said, request.folder, files)
    return 0
