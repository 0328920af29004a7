r"""Matrices in print: ruled into blocks, and abbreviated where they are large."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.errors import InputError

Entry = str | sp.Expr | int
LARGEST = 10  # rows or columns in full; more do not fit on a line of print


def matrix_latex(
    rows: Sequence[Sequence[Entry]],
    *,
    row_blocks: Sequence[int] = (),
    column_blocks: Sequence[int] = (),
    largest: int = LARGEST,
) -> str:
    r"""Return the LaTeX of a matrix, with rules between its blocks.

    More than ``largest`` rows or columns are abbreviated: the first and the last are shown, with
    dots between (and no rules, which would say something untrue of what is left out).

    Args:
        rows: Entries: LaTeX of our own making, expressions, or integers. A matrix of blocks is the
            same thing with the blocks' names as entries.
        row_blocks: Sizes of the blocks of rows; they add up to the number of rows.
        column_blocks: Sizes of the blocks of columns.
        largest: Rows or columns that are shown in full.
    """
    cells = [[_cell(entry) for entry in row] for row in rows]
    if not cells or len({len(row) for row in cells}) != 1 or not cells[0]:
        msg = f"matrix: rows of {[len(row) for row in cells]} entries. Give rows of one length."
        raise InputError(msg)
    if max(len(cells), len(cells[0])) > largest:
        return _array(_abbreviated(cells, largest), set(), "")
    rules = _ends(row_blocks, len(cells), "rows")
    bars = _ends(column_blocks, len(cells[0]), "columns")
    letters = "".join("|" * (c in bars) + "c" for c in range(len(cells[0])))
    return _array(cells, rules, letters if rules or bars else "")


def _cell(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    return to_latex(sp.Integer(entry) if isinstance(entry, int) else entry)


def _ends(sizes: Sequence[int], total: int, what: str) -> set[int]:
    if sizes and sum(sizes) != total:
        msg = f"matrix: blocks of {list(sizes)} for {total} {what}. Give sizes that add up."
        raise InputError(msg)
    return {sum(sizes[:index]) for index in range(1, len(sizes))}


def _array(cells: list[list[str]], rules: set[int], letters: str) -> str:
    lines = [(r"\hline " if r in rules else "") + " & ".join(row) for r, row in enumerate(cells)]
    body = r" \\ ".join(lines)
    if not letters:
        return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
    return rf"\left(\begin{{array}}{{{letters}}} {body} \end{{array}}\right)"


def _abbreviated(cells: list[list[str]], largest: int) -> list[list[str]]:
    """Return the first few and the last rows and columns, dots in place of the others."""
    kept_rows = _kept(len(cells), largest)
    kept_columns = _kept(len(cells[0]), largest)
    return [[_entry(cells, r, c) for c in kept_columns] for r in kept_rows]


def _kept(count: int, largest: int) -> list[int | None]:
    return list(range(count)) if count <= largest else [0, 1, 2, None, count - 1]


def _entry(cells: list[list[str]], row: int | None, column: int | None) -> str:
    if row is None:
        return r"\ddots" if column is None else r"\vdots"
    return r"\cdots" if column is None else cells[row][column]
