"""What the command line prints, stdout and stderr: one way for all."""

from __future__ import annotations

import click

from symreln.errors import visible


def say(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    """Print a text; nothing in it steers the terminal."""
    click.echo(visible(text, lines=True), nl=nl, err=err)  # noqa: TID251
