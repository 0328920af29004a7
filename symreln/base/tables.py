"""Tables of text on stdout."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

from symreln.base.console import MOST_COLUMNS, columns
from symreln.errors import visible


def plain_table(title: str, header: list[str], rows: list[list[str]]) -> str:
    """Return a table as wide as the terminal, or as readers of a file bear.

    Columns for which there is no room follow below, the first column with them.

    Args:
        title: A line above it.
        header: Names of the columns; the first is set to the left, the others to the right.
        rows: As many cells each.
    """
    room = (columns() or MOST_COLUMNS) - 4
    shown = [[visible(cell) for cell in cells] for cells in zip(header, *rows, strict=True)]
    first = [_cut(cell, room if len(shown) == 1 else room // 2) for cell in shown[0]]
    others = [[_cut(cell, room - _width(first) - 3) for cell in cells] for cells in shown[1:]]
    blocks = [[first]]
    for column in others:
        taken = sum(_width(each) + 3 for each in blocks[-1]) + _width(column)
        if len(blocks[-1]) > 1 and taken > room:
            blocks.append([first])
        blocks[-1].append(column)
    found = [_block(block) for block in blocks]
    said = textwrap.wrap(visible(title), room + 4)
    full = max(map(_cells, (*said, found[0][0])))
    return (
        "\n".join(
            [*(_padded(line, full) for line in said), *(" " * full for _ in said[:1])]
            + [line for lines in found for line in (*lines, " " * _cells(lines[0]))]
        )
        + "\n"
    )


def _block(block: list[list[list[str]]]) -> list[str]:
    """Return the lines of columns that stand side by side: the header, a line below, the rows."""
    widths = [_width(column) for column in block]
    rule = f" {'─' * (sum(widths) + 3 * len(widths) - 1)} "
    lines = [
        [_line(cells, widths) for cells in zip_longest(*row, fillvalue="")]
        for row in zip(*block, strict=True)
    ]
    return [*lines[0], rule, *(line for row in lines[1:] for line in row)]


def _line(cells: Sequence[str], widths: list[int]) -> str:
    left, *right = zip(cells, widths, strict=True)
    texts = [_padded(*left), *(" " * (width - _cells(cell)) + cell for cell, width in right)]
    return f"  {'   '.join(texts)}  "


def _cut(cell: str, room: int) -> list[str]:
    """Return a cell's lines: broken at spaces, so that no number is, if it is not that long."""
    return textwrap.wrap(cell, room, break_on_hyphens=False) if _cells(cell) > room else [cell]


def _width(column: list[list[str]]) -> int:
    return max(_cells(line) for cell in column for line in cell)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _cells(text))


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
