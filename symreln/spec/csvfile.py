"""CSV files of exact numbers: one row a sample, decimals read as written."""

from __future__ import annotations

import csv
import io
import re
from fractions import Fraction

from symreln.exact.matrix import ExactMatrix
from symreln.spec.files import MAX_NUMBERS
from symreln.spec.finding import Finding, counted, quoted, read_all
from symreln.spec.matrices import matrix_of_fractions
from symreln.spec.number import exact_fraction

DELIMITERS = (";", "\t", ",")
"""In the order of detection: a comma next to a semicolon or a tab is a decimal comma."""
_NUMBER_LIKE = re.compile(
    r"\s*[-+.\d]|\s*$|\s*(nan|inf|infinity|na|n/a|null|none)\s*$", re.IGNORECASE
)

Line = tuple[int, list[str]]


def matrix_from_csv(data: bytes, file: str, delimiter: str | None = None) -> ExactMatrix:
    """Return the numbers of a CSV file, one column a sample.

    Cells are integers, decimals or fractions a/b; 0.1 is 1/10. A first row in which no cell looks
    like a number is a header and is skipped; one that mixes the two is an error, so that a typing
    mistake in the first sample does not make it vanish. Blank lines are skipped; a byte-order
    mark, which spreadsheets write, is too.

    Args:
        data: Contents of the file, UTF-8.
        file: Its name, for messages.
        delimiter: Comma, semicolon or tab; by default the one in the first line.

    Raises:
        SpecError: It is no such file; the first MAX_LISTED wrong cells are listed by row and
            column, both from 1.
    """
    try:
        lines = _lines(data, delimiter)
        header = _header(lines)
        if header:
            lines = lines[1:]
        if not lines:
            found = "a header and no numbers" if header else "no numbers"
            raise Finding(found, "at least one sample, one row each")
        _check_widths(lines)
        width = len(lines[0][1])
        if len(lines) * width > MAX_NUMBERS:
            raise Finding("too many numbers", f"at most {MAX_NUMBERS}", "Use fewer samples.")
        names = [f" ({name[:40]})" for name in header]
        names += [""] * (width - len(names))

        def number(cell: tuple[int, int, str]) -> Fraction:
            row, column, text = cell
            try:
                return exact_fraction(text.strip())
            except Finding as finding:
                place = f"row {row}, column {column + 1}{names[column]}"
                raise finding.reworded(f"{finding.found} in {quoted(file)}, {place}") from None

        cells = (("", (row, n, cell)) for row, cells in lines for n, cell in enumerate(cells))
        flat = read_all(cells, number)
        return matrix_of_fractions([flat[column::width] for column in range(width)])
    except Finding as finding:
        raise finding.reworded(f"{finding.found} in {quoted(file)}") from None


def _lines(data: bytes, delimiter: str | None) -> list[Line]:
    """Return the cells of every line that is not blank, with its number in the file."""
    text = _decoded(data)
    separator = delimiter or _detected(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if "".join(row).strip() or len(row) > 1]
    except csv.Error as error:
        raise Finding(f"{error} in row {reader.line_num}", "CSV") from None


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Finding("text in UTF-16", "UTF-8", 'Save it as "CSV UTF-8".')
    if b"\x00" in data:
        raise Finding("binary data", "text", "An NPZ file is named with data = …")
    if not data.strip():
        raise Finding("an empty file", "at least one sample, one row each")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise Finding(
            f"a byte that is not UTF-8 in row {row}", "UTF-8", 'Save it as "CSV UTF-8".'
        ) from None


def _detected(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return next((delimiter for delimiter in DELIMITERS if delimiter in first), ",")


def _header(lines: list[Line]) -> list[str]:
    """Return the names of the columns, or an empty list where the first row is a sample."""
    cells = lines[0][1] if lines else []
    if any(_NUMBER_LIKE.match(cell) for cell in cells):
        return []  # a text among numbers is left for _numbers to report
    return [cell.strip() for cell in cells]


def _check_widths(lines: list[Line]) -> None:
    first, width = lines[0][0], len(lines[0][1])
    for row, cells in lines:
        if len(cells) != width:
            found = f"row {row} with {counted(len(cells), 'cell')}, where row {first} has {width},"
            raise Finding(found, "the same number of cells in every row")
