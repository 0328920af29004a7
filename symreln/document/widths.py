"""Printed widths of mathematics, estimated: enough to decide where a line is broken."""

from __future__ import annotations

from symreln.document.tex import (
    FUNCTIONS,
    RELATIONS,
    WORDS,
    environment,
    group,
    group_end,
    rows_and_cells,
    tokens,
)

# Widths in units of one ordinary letter; commands that print one glyph count 1.
_WIDE = {r"\quad": 2.0, r"\qquad": 4.0, r"\,": 0.4, r"\;": 0.6, r"\:": 0.5, r"\ ": 0.5}
_NARROW = frozenset(
    "\\" + name
    for name in [
        "left",
        "right",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "displaystyle",
        "textstyle",
        "limits",
    ]
)
_SCRIPT = 0.72  # size of scripts relative to the line, as in TeX's default fonts


def latex_width(latex: str) -> float:
    r"""Estimate the printed width of ``latex`` in letters: for breaking lines, not for layout.

    A fraction is as wide as the wider of its parts, scripts are smaller, a matrix adds up the
    widest entry of each column.

    Example:
        >>> latex_width(r"\frac{abc}{d}") < latex_width("abcd")
        True
    """
    return _width(tokens(latex))


def _width(parts: list[str]) -> float:
    total, index = 0.0, 0
    while index < len(parts):
        advance, index = _advance(parts, index)
        total += advance
    return total


def _advance(parts: list[str], index: int) -> tuple[float, int]:
    part = parts[index]
    if part == "{":
        end = group_end(parts, index)
        return _width(parts[index + 1 : end]), end + 1
    if part in ("_", "^") and index + 1 < len(parts):
        width, after = _advance(parts, index + 1)
        return _SCRIPT * width, after
    if part in (r"\frac", r"\dfrac", r"\tfrac", r"\binom") and index + 1 < len(parts):
        top, after = _advance(parts, index + 1)
        bottom, after = _advance(parts, after) if after < len(parts) else (0.0, after)
        return max(top, bottom) + 0.5, after
    if part in WORDS:
        words, after = group(parts, index + 1)
        return float(len(words)), after
    if part == r"\begin":
        return _environment_width(parts, index)
    if part == r"\sqrt":
        return 1.0, index + 1
    if part.isspace() or part in _NARROW or part in "&}":
        return 0.0, index + 1
    if part.startswith("\\") and part[1:] in FUNCTIONS.split():
        return len(part) - 0.5, index + 1
    if part in "=+-<>" or (part.startswith("\\") and part[1:] in RELATIONS.split()):
        return 1.8, index + 1
    return _WIDE.get(part, 1.0), index + 1


def _environment_width(parts: list[str], index: int) -> tuple[float, int]:
    body, after = environment(parts, index)
    rows = rows_and_cells(body.contents)
    columns = max(len(row) for row in rows)
    widths = [
        max(latex_width(row[c]) if c < len(row) else 0.0 for row in rows) for c in range(columns)
    ]
    return sum(widths) + 1.5 * (columns - 1) + 2.0, after
