r"""Displayed equations in rows that fit on a line.

A line that is too wide is taken apart where a person would break it: between statements that a
space (``\qquad``) sets apart, then at signs and relations outside of all brackets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from symreln.document.letter_widths import aligned_width, latex_width
from symreln.document.tex import RELATIONS, parse, tokens

_SPACES = (r"\qquad", r"\quad")
_OPENING = ("{", "(", "[", r"\left", r"\begin", r"\bigl", r"\Bigl")
_CLOSING = ("}", ")", "]", r"\right", r"\end", r"\bigr", r"\Bigr")
_INDENT = r"\quad "


def display(lines: tuple[str, ...], width: float) -> tuple[tuple[str, ...], bool]:
    """Return rows of at most ``width`` letters where lines can be broken, and whether they align.

    Args:
        lines: LaTeX of each line, perhaps with ``&``.
        width: Letters of a line of print.

    Returns:
        LaTeX of the rows, and whether they are aligned at their ``&``; else each is in the middle.
    """
    alone = len(lines) == 1 and _without_mark(lines[0])
    if alone and latex_width(alone) <= width:
        return (alone,), False
    if alone or any(_is_marked(line) for line in lines):
        for most in (width, 0.9 * width, 0.8 * width):
            rows = tuple(row for line in lines for row in _broken(line, most, marked=True))
            if aligned_width(rows) <= width:
                return rows, True
    bare = tuple(row for line in lines for row in _broken(line, width, marked=False))
    return bare, False


def _broken(line: str, width: float, *, marked: bool) -> Iterator[str]:
    """Yield a line's rows, each with one ``&`` where ``marked``, else with none."""
    rows = [""]
    for statement in _statements(line if marked else _without_mark(line)):
        joined = f"{rows[-1]} {statement}".strip()
        if rows[-1] and latex_width(joined) > width:
            rows[-1] = _ended(rows[-1])
            rows.append(statement)
        else:
            rows[-1] = joined
    for row in rows:
        whole = _marked(row) if marked else row
        pieces = list(_terms(whole, width))
        # Where a piece is too wide all the same, nothing is gained by breaking.
        yield from pieces if max(map(latex_width, pieces)) <= width else [whole]


def _top_level(parts: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the tokens outside of all brackets and environments, each with its place."""
    depth = 0
    for place, part in enumerate(parts):
        opening = part.startswith(_OPENING) and part not in RELATIONS
        closing = part.startswith(_CLOSING) and part not in RELATIONS
        depth -= closing
        if depth == 0 and not (opening or closing):
            yield place, part
        depth += opening


def _statements(line: str) -> list[str]:
    """Split a line at its wide spaces; each part but the last ends with the space behind it."""
    parts = tokens(line)
    ends = [place + 1 for place, part in _top_level(parts) if part in _SPACES]
    return _pieces(parts, ends)


def _pieces(parts: list[str], places: list[int]) -> list[str]:
    bounds = pairwise([0, *places, len(parts)])
    pieces = ("".join(parts[a:b]).strip() for a, b in bounds)
    return [piece for piece in pieces if piece]


def _ended(row: str) -> str:
    """Return a row without the space at its end."""
    return next((row.removesuffix(s).rstrip() for s in _SPACES if row.endswith(s)), row)


def _is_marked(line: str) -> bool:
    return any(atom.name == "&" for atom in parse(line, aligned=True))


def _without_mark(line: str) -> str:
    parts = tokens(line)
    marks = {place for place, part in _top_level(parts) if part == "&"}
    return "".join(part for place, part in enumerate(parts) if place not in marks).strip()


def _marked(row: str) -> str:
    """Return a row with ``&`` before its first relation, unless it has one."""
    if _is_marked(row):
        return row
    parts = tokens(row)
    first = next((place for place, part in _top_level(parts) if part in RELATIONS), 0)
    return f"{''.join(parts[:first])}& {''.join(parts[first:])}".lstrip()


def _terms(row: str, width: float) -> Iterator[str]:
    """Yield a row, where it is wide in pieces that begin with signs, or relations without ``&``."""
    if latex_width(row) <= width:
        yield row
        return
    parts = tokens(row)
    mark = next((place for place, part in _top_level(parts) if part == "&"), -1)
    left = latex_width("".join(parts[: max(mark, 0)]))
    pieces = _pieces(parts, [p for p in _breaks(parts, mark) if p > mark + 1])
    current = pieces[0]
    for piece in pieces[1:]:
        begun = left if current.startswith("&") else 0.0
        if latex_width(current + piece) + begun <= width:
            current += f" {piece}"
            continue
        yield current
        # The empty group makes the leading sign a binary operator.
        current = f"{'& ' if mark >= 0 else ''}{_INDENT}{{}} {piece}"
    yield current


def _breaks(parts: list[str], mark: int) -> Iterator[int]:
    """Yield the places before which a row may be broken."""
    before = ""
    for place, part in _top_level(parts):
        sign = part in ("+", "-") and before not in ("", "&", "^", "_", *RELATIONS)
        if sign or (mark < 0 and part in RELATIONS and before):
            yield place
        before = before if part.isspace() else part
