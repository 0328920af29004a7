"""A command as a user types it, in this process."""

from __future__ import annotations

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
