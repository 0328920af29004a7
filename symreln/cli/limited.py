"""A command within limits: a child does it; at a limit what is known is written and printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from symreln.base.jsonio import dumps
from symreln.cli.request import Request
from symreln.limits.supervise import watched
from symreln.report.folder import BESIDE, results_in
from symreln.report.partial import partial_lines, write_partial
from symreln.report.partial_json import Finished, Reached, partial_derivation

WORKER = "symreln.cli.child"


def supervise(request: Request, worker: str = WORKER, *, spent: float = 0.0) -> int:
    """Carry out a command within its limits; return its exit code, 4 where one was reached.

    Args:
        request: What was asked for.
        worker: The module that does it.
        spent: Seconds that the command has taken already.

    Raises:
        NotSupportedError: A memory limit where the memory of processes cannot be read.
    """
    with watched(worker, asdict(request), request.limits, spent=spent) as watch:
        outcome = watch.wait()
        if isinstance(outcome, int):
            return outcome
        return _cut(request, watch.finished, outcome)


def _cut(request: Request, finished: Finished, reached: Reached) -> int:
    """Write what is known where the work did not end by itself."""
    folder = request.folder
    if finished.written:
        _complain(
            f"{reached.sentence()} after the derivation was finished and written to {folder}; "
            "training or the report was cut short"
        )
    elif finished.files:
        _complain(
            f"{reached.sentence()} after the derivation was finished and proven, while its "
            f"documents were made; written to {folder}: {', '.join(finished.files)}"
        )
        if request.as_json and "derivation.json" in finished.files:
            click.echo((folder / "derivation.json").read_text("utf-8"), nl=False)
    else:
        _complain(f"{reached.sentence()} in {finished.place}")
        _write_partial(request, finished, partial_derivation(finished, reached))
    return reached.code


def _write_partial(request: Request, finished: Finished, partial: dict[str, Any]) -> None:
    """Write and print a derivation that was cut short.

    One that proves nothing replaces no earlier results.
    """
    folder, written = request.folder, []
    earlier = results_in(folder)
    if earlier and not finished.proves:
        _complain(f"nothing was proven; {folder} keeps the results of an earlier command")
    else:
        written = write_partial(partial, folder, request.formats)
        if old := [name for name in BESIDE if name in earlier]:
            _complain(f"{folder} holds {', '.join(old)} of an earlier command, not of this one")
    if request.as_json:
        click.echo(dumps(partial), nl=False)
        return
    for line in partial_lines(partial):
        click.echo(line)
    if written:
        click.echo(f"written to {folder}: {', '.join(written)}")


def _complain(message: str) -> None:
    click.echo(f"symreln: {message}", err=True)
