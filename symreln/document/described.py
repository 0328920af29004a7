"""Matrices in print."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.errors import InputError

Entry = str | sp.Expr | int
#: A named run of rows or columns.
Group = tuple[str, tuple[int, ...]]
#: Rows or columns up to which a matrix is printed in full; where not said, and more do not fit on a
#: line of print.
SMALL, LARGEST = 7, 10


def matrix_latex(rows: Sequence[Sequence[Entry]]) -> str:
    r"""Return the LaTeX of a matrix.

    More than :data:`LARGEST` rows or columns are abbreviated: the first and the last are shown,
    with dots between.

    Args:
        rows: Entries: LaTeX of our own making, expressions, or integers. A matrix of blocks is the
            same thing with the blocks' names as entries.
        LARGEST: Rows or columns that are shown in full.
    """
    cells = [[_cell(entry) for entry in row] for row in rows]
    if not cells or len({len(row) for row in cells}) != 1 or not cells[0]:
        msg = f"matrix: rows of {[len(row) for row in cells]} entries. Give rows of one length."
        raise InputError(msg)
    if max(len(cells), len(cells[0])) > LARGEST:
        cells = _abbreviated(cells, LARGEST)
    body = r" \\ ".join(" & ".join(row) for row in cells)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _cell(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    return to_latex(sp.Integer(entry) if isinstance(entry, int) else entry)


def _abbreviated(cells: list[list[str]], LARGEST: int) -> list[list[str]]:
    """Return the first few and the last rows and columns, dots in place of the others."""
    kept_rows = _kept(len(cells), LARGEST)
    kept_columns = _kept(len(cells[0]), LARGEST)
    return [[_entry(cells, r, c) for c in kept_columns] for r in kept_rows]


def _kept(count: int, LARGEST: int) -> list[int | None]:
    return list(range(count)) if count <= LARGEST else [0, 1, 2, None, count - 1]


def _entry(cells: list[list[str]], row: int | None, column: int | None) -> str:
    if row is None:
        return r"\ddots" if column is None else r"\vdots"
    return r"\cdots" if column is None else cells[row][column]
