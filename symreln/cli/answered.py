"""A command that is a call and what is printed of its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.base.terminal import put, say
from symreln.calls.answers import AbstractAnswer
from symreln.report.folder import require_folder, write_together
from symreln.task_library.load import load


def answered(
    doing: str,
    call: Callable[..., AbstractAnswer],
    *,
    spec: str,
    overrides: tuple[str, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
    **asked: Any,
) -> int:
    """Ask a call about a spec, write its files, and print the JSON or what the terminal shows.

    Args:
        doing: What is said while it works.
        call: The call of the command's name.
        spec: A TOML file or the name of a ready-made spec.
        overrides: ``key=value`` texts.
        out: Folder for the results.
        as_json: Whether to print the JSON.
        quiet: Whether to show no progress.
        allow_outside: Whether data files may lie outside the spec's folder.
        **asked: What the call takes beside the spec.

    Returns:
        The exit code.
    """
    given = load(spec, overrides, allow_outside=allow_outside)
    require_folder(out)
    with Progress(quiet=quiet)(doing):
        found = call(given, **asked)
    with Progress(quiet=quiet)("writing the results"):
        files = found.files()
        write_together(out, files)
    if as_json:
        put(dumps(found.to_json()))
        return 0
    for text in found.lines():
        say(text)
    say(f"written to {out}: {', '.join(files)}")
    return 0
