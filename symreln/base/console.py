"""What the command line prints, stdout and stderr: one way for all."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import Any

import click

from symreln.errors import visible

#: Columns of lines that go to no terminal: of formulas, and of tables at most.
COLUMNS = 110
MOST_COLUMNS = 160


def columns() -> int | None:
    """Return how wide the terminal is, or COLUMNS says; None where stdout is none."""
    if not os.environ.get("COLUMNS", "").isdecimal() and not sys.stdout.isatty():
        return None
    return min(shutil.get_terminal_size().columns, MOST_COLUMNS)


def put(text: Any) -> None:
    """Print a text as it is; nothing in it steers the terminal."""
    click.echo(visible(text, lines=True), nl=False)  # noqa: TID251


def say(text: str = "", *, err: bool = False) -> None:
    """Print lines, broken at spaces where the terminal is narrower."""
    width = columns()
    lines = text.split("\n")
    shown = lines if width is None else [wrapped(line, width) for line in lines]
    click.echo(visible("\n".join(shown), lines=True), err=err)  # noqa: TID251


def wrapped(line: str, width: int) -> str:
    """Return a line broken at spaces, its later lines indented.

    Args:
        line: The line.
        width: Columns; a formula without a space that is longer stays whole.
    """
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
