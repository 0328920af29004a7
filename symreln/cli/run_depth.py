"""The work of ``symreln depth``: train, compare, write, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symreln.base.jsonio import dumps
from symreln.base.progress import Progress
from symreln.base.tables import show_table
from symreln.base.terminal import put, say
from symreln.calls import depth as calls
from symreln.cli.hardware import training_machine
from symreln.cli.request import Request
from symreln.report.folder import require_folder
from symreln.task_library.load import load


def depth_for_user(
    *,
    spec: str,
    overrides: tuple[str, ...],
    seeds: int,
    rng: int,
    out: Path,
    as_json: bool,
    quiet: bool,
    allow_outside: bool,
    **machine: Any,
) -> int:
    """Do what the command is asked for; return the exit code.

    Takes the options of the command; ``machine`` are those of where networks are trained.
    """
    require_folder(out)
    given = load(spec, overrides, allow_outside=allow_outside)
    asked = Request(command="depth", spec=spec, quiet=quiet, **machine)

    def tell(widths: tuple[int, ...], units: dict[str, int]) -> None:
        if not quiet:
            hidden = ", ".join(f"{name} {size}" for name, size in units.items())
            layers = " and ".join(map(str, widths))
            text = f"hidden layers of {layers} units; gated network: {hidden}"
            say(f"symreln: {text}", err=True)

    with training_machine(asked), Progress(quiet=quiet)("training") as report:
        found = calls.depth(given, seeds, rng, report, ready=tell)
    with Progress(quiet=quiet)("writing the results"):
        written = found.save(out)
    if as_json:
        put(dumps(found.to_json()))
        return 0
    for table in found.tables():
        show_table(*table)
    for text in found.remarks():
        say(text)
    say(f"written to {out}: {', '.join(path.name for path in written)}")
    return 0
