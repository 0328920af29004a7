"""What the commands derive, run and validate do, in this process or in one that a limit can end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symreln.base.progress import Progress
from symreln.cli.request import Request
from symreln.report.folder import require_folder
from symreln.report.formats import require_formats

if TYPE_CHECKING:
    from symreln.report.steps import StepWriter


def do(out: Path, *, tolerance: str | None = None, estimate: bool = False, **asked: Any) -> int:
    """Do what the command line says; take its options, return the exit code."""
    context = click.get_current_context()
    if tolerance is not None:
        given = f'validation.tolerance="{tolerance}"'
        reason = 'validation.reason="given on the command line"'
        asked["overrides"] = (*asked["overrides"], given, reason)
    request = Request(command=context.info_name or "", out=str(out), **asked)
    if not estimate:
        return execute(request, began=context.obj)
    from symreln.cli.derive import show_estimate

    return show_estimate(request)


def execute(
    request: Request, *, began: float | None = None, steps: StepWriter | None = None
) -> int:
    """Carry out a command for the user; return its exit code.

    Each kind of work is imported when it is asked for: what trains takes seconds.

    Args:
        request: What was asked for.
        began: When the user's clock began, as :func:`time.monotonic` tells it; now by default.
        steps: Where finished steps are told to the process that watches this one; None where
            nobody does.
    """
    require_folder(request.folder)
    require_formats(request.formats)
    if request.limited and steps is None:
        from symreln.cli.limited import supervise

        return supervise(request, spent=0.0 if began is None else time.monotonic() - began)
    if request.command == "derive":
        from symreln.cli.derive import derive

        return derive(request, steps)
    with Progress(quiet=request.quiet)("loading the program"):
        from symreln.cli.validate import validate
    return validate(request, steps)
