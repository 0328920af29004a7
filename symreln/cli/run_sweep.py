"""The work of ``symreln sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symreln.base.progress import Progress
from symreln.base.terminal import say
from symreln.calls.sweep import sweep
from symreln.cli.answered import show_answer
from symreln.report.folder import require_folder


def sweep_for_user(
    *,
    spec: str,
    over: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Do a sweep or a part of it; takes the options of the command, returns the exit code."""
    require_folder(out)
    with Progress(quiet=quiet)("sweeping"):
        found = sweep(spec, over, directory=out, **asked)
    for text in found.failed():
        say(f"symreln: sweep: {text}", err=True)
    show_answer(found, out, as_json=as_json, quiet=quiet)
    codes = {failure.exit_code for failure in found.failures}
    return 1 if 1 in codes else max(codes, default=0)
