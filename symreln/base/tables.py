"""Tables of text on stdout."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TextIO

from symreln.base.terminal import say
from symreln.errors import visible

#: Columns of a table that goes to no terminal: as a rule, and for long formulas.
COLUMNS = 110
MOST_COLUMNS = 160


def show_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table: as wide as the terminal, or plainly where stdout is none."""
    if sys.stdout.isatty():
        _render_table(title, header, rows)
    else:
        say(plain_table(title, header, rows), nl=False)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown, without an end of its last line.

    Args:
        header: Names of the columns.
        rows: As many cells each.
    """
    lines = [[cell.replace("|", r"\|") for cell in cells] for cells in (header, *rows)]
    shown = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([shown[0], "|" + "---|" * len(header), *shown[1:]])


def plain_table(title: str, header: list[str], rows: list[list[str]]) -> str:
    """Return a table as it is printed where nobody's terminal has a width.

    Args:
        title: A line above it.
        header: Names of the columns; the first is set to the left, the others to the right.
        rows: As many cells each.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    full = sum(widths) + 3 * len(widths) + 1
    # Rich takes a millisecond a row; what needs no breaking is put together here just the same.
    if 0 < len(title) <= full <= MOST_COLUMNS and _simple(title, header, rows):
        return _together(title, full, [_line(cells, widths) for cells in (header, *rows)])
    text = io.StringIO()
    # Enough that no formula is broken, unless it is too long for any reader.
    fitting = max(COLUMNS, full + 2)
    _render_table(title, header, rows, file=text, width=min(MOST_COLUMNS, fitting))
    return text.getvalue()


def _simple(title: str, header: list[str], rows: list[list[str]]) -> bool:
    """Whether every letter is as wide as any other and no text has a space at its ends."""
    texts = {title, *header, *chain.from_iterable(rows)}
    return all(text.isascii() and text.isprintable() and text == text.strip() for text in texts)


def _together(title: str, full: int, lines: list[str]) -> str:
    shown = [title.ljust(full), " " * full, lines[0], f" {'─' * (full - 2)} ", *lines[1:]]
    return "\n".join([*shown, " " * full]) + "\n"


def _line(cells: list[str], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    texts = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"  {'   '.join(texts)}  "


def _render_table(
    title: str,
    header: list[str],
    rows: list[list[str]],
    *,
    file: TextIO | None = None,
    width: int | None = None,
) -> None:
    """Print a table on the terminal, as wide as that, or without colours into a file.

    Args:
        title: A line above it.
        header: Names of the columns.
        rows: As many cells each.
        file: A file, or None for the terminal.
        width: Columns in the file.
    """
    import rich.box
    import rich.console
    import rich.table
    import rich.text

    Console, Table = rich.console.Console, rich.table.Table

    def text(cell: str) -> rich.text.Text:
        # Not str: names come from the user and must not be read as markup.
        return rich.text.Text(visible(cell))

    table = Table(title=text(title), box=rich.box.SIMPLE, title_justify="left", title_style="bold")
    for index, name in enumerate(header):
        table.add_column(text(name), justify="left" if index == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(text, row))
    if file is None:
        console = Console()
    else:
        console = Console(file=file, width=width, force_terminal=False, color_system=None)
    console.print(table)
