r"""Exact matrices in print: small ones in full or in decimals, large ones by blocks.

A block is 0, a multiple of the identity or of the all-ones matrix, or a sum of those two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_rows
from symreln.document.words import Notation, is_long
from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix

if TYPE_CHECKING:
    from symreln.exact.scalar import Scalar

Entry = str | sp.Expr | int
#: A named run of rows or columns.
Group = tuple[str, tuple[int, ...]]
#: Rows or columns up to which a matrix is printed in full; where not said, and more do not fit on a
#: line of print.
SMALL, LARGEST = 7, 10


def groups_of(indices: Sequence[int], groups: Mapping[str, tuple[int, ...]]) -> list[Group]:
    """Return the groups as runs of positions in ``indices``, if they partition it in order.

    Without such a partition there is one group with no name.
    """
    place = {index: position for position, index in enumerate(indices)}
    found = [
        (name, tuple(place[i] for i in members if i in place)) for name, members in groups.items()
    ]
    found = sorted((g for g in found if g[1]), key=lambda group: group[1])
    if [position for _, run in found for position in run] == list(range(len(indices))):
        return found
    return [("", tuple(range(len(indices))))]


def describe(
    matrix: ExactMatrix, rows: Sequence[Group], columns: Sequence[Group], notation: Notation
) -> str | None:
    """Return the LaTeX of a matrix, in full or by blocks; None where blocks do not say it."""
    if max(matrix.shape) <= SMALL:
        return matrix_latex(notation.entries(matrix))
    cells = [[_block(matrix, row, column, notation) for _, column in columns] for _, row in rows]
    if any(cell is None for row in cells for cell in row):
        return None
    known = [[cell or "" for cell in row] for row in cells]
    return known[0][0] if len(known) == len(known[0]) == 1 else matrix_latex(known)


def _block(
    matrix: ExactMatrix, rows: tuple[int, ...], columns: tuple[int, ...], notation: Notation
) -> str | None:
    """Return a block in terms of I and of ones; None where it is neither."""
    ones = r"\mathbf{1}\mathbf{1}^{\top}" * (len(rows) * len(columns) > 1)
    block = matrix.select(rows=rows, columns=columns)
    if block.is_zero:
        return "0"
    square = len(rows) == len(columns) > 1
    on, off = block.entry(0, 0), block.entry(0, len(columns) - 1)
    height, width = block.shape
    down = [row for row in range(height) for _ in range(width)]
    along = [column for _ in range(height) for column in range(width)]
    full = ExactMatrix.from_entries(block.shape, down, along, [1] * len(down), 1, matrix.parameters)
    plain = full.scale(off)
    if (block - plain).is_zero:
        return _times(off, notation, ones)
    identity = ExactMatrix.identity(len(rows), matrix.parameters)
    if not square or not (block - plain - identity.scale(on - off)).is_zero:
        return None
    parts = [(on - off, "I"), *([(off, ones)] if off != 0 else [])]
    return " + ".join(_times(each, notation, shape) for each, shape in parts).replace("+ -", "- ")


def _times(factor: Scalar, notation: Notation, shape: str) -> str:
    if factor == 1 and shape:
        return shape
    if factor == -1 and shape:
        return f"-{shape}"
    expr = factor.to_sympy(notation.symbols)
    printed = notation.latex(expr)
    if expr.is_Add and shape:
        printed = rf"\left({printed}\right)"
    return rf"{printed}\,{shape}" if shape else printed


def in_decimals(matrix: ExactMatrix) -> tuple[str, str] | None:
    """Return the LaTeX of a matrix of long fractions in decimals, and of a line on their error.

    None of a matrix whose entries can be printed as they are.
    """
    rows = matrix.to_fractions() if matrix.is_constant and not matrix.is_zero else []
    if not any(is_long(entry) for row in rows for entry in row):
        return None
    front, shown, error = decimal_rows(rows)
    power = rf"10^{{{front}}} " * bool(front)
    said = rf"\text{{(entries to }} \pm {error} \text{{; the certificate has them exactly)}}"
    return power + matrix_latex(shown), said


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
