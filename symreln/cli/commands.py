"""What the commands derive, run and validate do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from symreln.base.beside import helper
from symreln.base.progress import Progress
from symreln.cli.request import Request
from symreln.report.folder import require_folder
from symreln.report.formats import document_formats, require_formats

#: What figures are drawn with: half a second of imports.
_DRAWS = ("symreln.report.figures", "matplotlib.backends.backend_pdf")


def do(out: Path, **asked: Any) -> int:
    """Do what the command line says; take its options, return the exit code.

    Each kind of work is imported when it is asked for: what trains takes seconds.
    """
    command = click.get_current_context().info_name or ""
    request = Request(command=command, folder=out, **asked)
    require_folder(out)
    require_formats(request.formats)
    if command == "derive":
        with helper(
            *(_DRAWS if document_formats(request.formats) else ()), first="symreln.report.flat"
        ):
            from symreln.cli.derive import derive

            return derive(request)
    with Progress(quiet=request.quiet)("loading the program"):
        from symreln.cli.validate import validate
    return validate(request)
