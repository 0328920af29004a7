r"""Exact matrices in words: small ones in full, large ones by blocks with names.

A block is printed as 0, a multiple of the identity or of the all-ones matrix, a sum of those two,
or a scalar times a named integer matrix. Equal patterns share one name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import TYPE_CHECKING

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_rows
from symreln.document.words import Notation, is_long
from symreln.errors import InputError
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from flint import fmpz

    from symreln.exact.matrix import ExactMatrix

Entry = str | sp.Expr | int
#: Rows or columns up to which a matrix is printed in full; where not said, and more do not fit on a
#: line of print.
SMALL, LARGEST = 7, 10
Pattern = tuple[tuple[int, ...], ...]
#: A named run of rows or columns.
Group = tuple[str, tuple[int, ...]]


@dataclass
class NamedMatrices:
    """Integer matrices that got a name while a document was written.

    Attributes:
        letter: LaTeX of the letter that the names are made of.
        patterns: Pattern -> number, in the order of their first use.
    """

    letter: str = "N"
    patterns: dict[Pattern, int] = field(default_factory=dict)

    def name(self, pattern: Pattern) -> str:
        """Return the LaTeX name of a pattern, a new one where it has none."""
        number = self.patterns.setdefault(pattern, len(self.patterns) + 1)
        return f"{self.letter}_{{{number}}}"


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
    matrix: ExactMatrix,
    rows: Sequence[Group],
    columns: Sequence[Group],
    notation: Notation,
    named: NamedMatrices,
) -> str:
    """Return the LaTeX of a matrix, in full or by blocks."""
    if max(matrix.shape) <= SMALL:
        return matrix_latex(notation.entries(matrix))
    tables = [(key, part.flint.tolist()) for key, part in matrix.terms.items()]
    cells = [
        [_block(matrix, tables, row, column, notation, named) for _, column in columns]
        for _, row in rows
    ]
    return cells[0][0] if len(cells) == len(cells[0]) == 1 else matrix_latex(cells)


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


def _block(
    matrix: ExactMatrix,
    tables: Sequence[tuple[tuple[int, ...], list[list[fmpz]]]],
    rows: tuple[int, ...],
    columns: tuple[int, ...],
    notation: Notation,
    named: NamedMatrices,
) -> str:
    parts: dict[Pattern, dict[tuple[int, ...], int]] = {}
    for key, table in tables:
        found = [[int(table[i][j]) for j in columns] for i in rows]
        content = gcd(*(entry for row in found for entry in row))
        if content:
            first = next(entry for row in found for entry in row if entry)
            content = content if first > 0 else -content
            pattern = tuple(tuple(entry // content for entry in row) for row in found)
            parts.setdefault(pattern, {})[key] = content
    if not parts:
        return "0"
    ring = polynomial_ring(matrix.parameters)
    terms = []
    for pattern, polynomial in parts.items():
        factor = Scalar(matrix.parameters, ring.from_dict(polynomial), matrix.denominator)
        terms += [
            _times(factor * multiple, notation, shape)
            for multiple, shape in _shapes(pattern, named)
        ]
    return " + ".join(terms).replace("+ -", "- ")


def _shapes(pattern: Pattern, named: NamedMatrices) -> list[tuple[int, str]]:
    """Return the pattern as a sum of (integer, LaTeX of a simple matrix)."""
    ones = r"\mathbf{1}\mathbf{1}^{\top}"
    entries = {entry for row in pattern for entry in row}
    if len(entries) == 1:
        return [(entries.pop(), ones if len(pattern) * len(pattern[0]) > 1 else "")]
    if len(pattern) == len(pattern[0]):
        diagonal = {pattern[i][i] for i in range(len(pattern))}
        others = {entry for i, row in enumerate(pattern) for j, entry in enumerate(row) if i != j}
        if len(diagonal) == len(others) == 1:
            on, off = diagonal.pop(), others.pop()
            return [(on - off, "I"), *([(off, ones)] if off else [])]
    return [(1, named.name(pattern))]


def outer_factors(pattern: Pattern) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return (column, row) with pattern = column · rowᵀ, or None where its rank is above 1."""
    first = next(line for line in pattern if any(line))
    content = gcd(*first)
    row = tuple(entry // content for entry in first)
    pivot = next(place for place, entry in enumerate(row) if entry)
    column = tuple(line[pivot] // row[pivot] for line in pattern)
    product = tuple(tuple(c * r for r in row) for c in column)
    return (column, row) if product == pattern else None


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


def matrix_latex(
    rows: Sequence[Sequence[Entry]],
    *,
    largest: int = LARGEST,
) -> str:
    r"""Return the LaTeX of a matrix.

    More than ``largest`` rows or columns are abbreviated: the first and the last are shown, with
    dots between.

    Args:
        rows: Entries: LaTeX of our own making, expressions, or integers. A matrix of blocks is the
            same thing with the blocks' names as entries.
        largest: Rows or columns that are shown in full.
    """
    cells = [[_cell(entry) for entry in row] for row in rows]
    if not cells or len({len(row) for row in cells}) != 1 or not cells[0]:
        msg = f"matrix: rows of {[len(row) for row in cells]} entries. Give rows of one length."
        raise InputError(msg)
    if max(len(cells), len(cells[0])) > largest:
        cells = _abbreviated(cells, largest)
    body = r" \\ ".join(" & ".join(row) for row in cells)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _cell(entry: Entry) -> str:
    if isinstance(entry, str):
        return entry
    return to_latex(sp.Integer(entry) if isinstance(entry, int) else entry)


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
