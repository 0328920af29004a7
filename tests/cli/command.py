"""A command as a user types it, in this process."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import NamedTuple

from click.testing import CliRunner

from symreln.cli.main import cli


class Done(NamedTuple):
    """How a command ended: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def command(*typed: object) -> Done:
    """Run a command."""
    found = CliRunner().invoke(cli, [str(word) for word in typed])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return Done(found.exit_code, found.stdout, found.stderr)


class Here(Executor):
    """Does work in this process, at once, in the place of workers."""

    def __init__(self, workers: int) -> None:
        """As many as there would be."""

    def submit(self, work, /, *arguments, **named):
        """Return what is done already."""
        future = Future()
        future.set_result(work(*arguments, **named))
        return future
