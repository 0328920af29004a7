"""Printed widths of mathematics, from the metrics of TeX's fonts: where a line has to be broken."""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest

from symreln.document.tex import (
    BINARY,
    FUNCTIONS,
    LIMITS,
    RELATIONS,
    SPACES,
    WORDS,
    Atom,
    Row,
    cells_of,
    parse,
)

# Widths in em, as in Computer Modern. Characters and commands that are not here are _COMMON.
_EM = 0.55  # one letter, the unit of what is returned
_COMMON, _WORD, _DIGIT = 0.58, 0.5, 0.5
_GLYPHS = {
    **dict.fromkeys("ijlt", 0.37),
    **dict.fromkeys("bceqrsz", 0.47),
    **dict.fromkeys("ACPUZSTJ", 0.76),
    **dict.fromkeys("BDEGHKNOQRVXYLF", 0.85),
    **dict.fromkeys("mMW", 1.0),
    **dict.fromkeys(".:;!'|[]", 0.28),
    **dict.fromkeys("()", 0.39),
    "/": _DIGIT,
    ",": 0.45,  # with the space behind it
    **dict.fromkeys([r"\Sigma", r"\Phi", r"\Delta", r"\Omega", r"\infty", r"\top"], 0.8),
    **dict.fromkeys([r"\sum", r"\prod", r"\bigoplus"], 1.6),
    r"\int": 1.1,
    **dict.fromkeys([r"\dots", r"\ldots", r"\cdots", r"\ddots"], 1.35),
    r"\iff": 2.9,
    r"\implies": 2.7,
    r"\longrightarrow": 2.2,
    "&": 0.0,
    **SPACES,
}
_RELATION, _OPERATOR, _SIGN = 1.34, 1.23, 0.78  # with their spaces; a sign without
_ROOT, _DELIMITER = 0.9, 0.68
_BRACKETS, _COLUMN = 1.6, 0.92  # of a matrix, and between its columns
# Of display, text, scripts and scripts of scripts, relative to the line.
_SCALE = (1.0, 1.0, 0.73, 0.55)


@lru_cache(maxsize=4096)
def latex_width(latex: str, *, text: bool = False) -> float:
    r"""Return about how wide ``latex`` is printed, in letters; 6 points each of an 11 point font.

    Args:
        latex: Mathematics without delimiters, perhaps with ``&``.
        text: Whether it stands in a line of text, where fractions are small.

    Example:
        >>> latex_width(r"\frac{abc}{d}") < latex_width("abcd")
        True
    """
    return _width(parse(latex, aligned=True), int(text)) / _EM


def aligned_width(lines: tuple[str, ...]) -> float:
    """Return how wide lines are that are aligned at their ``&``, in letters."""
    return _columns([cells_of(parse(line, aligned=True)) for line in lines], 0) / _EM


def _columns(rows: list[list[Row]], style: int, between: float = 0.0) -> float:
    widths = [[_width(cell, style) for cell in row] for row in rows]
    widest = list(map(max, zip_longest(*widths, fillvalue=0.0)))
    return sum(widest) + between * (len(widest) - 1)


def _width(row: Row, style: int) -> float:
    total, joins = 0.0, False
    for atom in row:
        if atom.name in BINARY and not joins:
            total += _SIGN * _SCALE[style]
        else:
            total += _scripted(atom, style)
        # After these a sign is not an operator.
        joins = not (atom.name in RELATIONS or atom.name in BINARY or atom.name in "([,&")
    return total


def _scripted(atom: Atom, style: int) -> float:
    width = _nucleus(atom, style)
    small = min(style + 2, 3) if style < 2 else 3
    scripts = max((_width(row, small) for row in (atom.below, atom.above) if row), default=0.0)
    stacked = style == 0 and (_GLYPHS.get(atom.name) == 1.6 or atom.name[1:] in LIMITS)
    return max(width, scripts) if stacked else width + scripts


def _nucleus(atom: Atom, style: int) -> float:
    name, scale = atom.name, _SCALE[style]
    if name in (r"\frac", r"\dfrac", r"\tfrac"):
        inner = min({r"\dfrac": 1, r"\tfrac": 2}.get(name, style + 1), 3)
        return max(_width(part, inner) for part in atom.inside) + 0.22
    if name in WORDS:
        return _WORD * sum(map(_letters, atom.text[0])) * scale
    if atom.text:
        marks = sum(mark != "." for mark in atom.text)
        return marks * _DELIMITER * scale + _width(atom.inside[0], style)
    if atom.cells:
        cells = [list(row) for row in atom.cells]
        if name == "aligned":
            return _columns(cells, 0)
        return _columns(cells, max(style, 1), _COLUMN) + _BRACKETS
    if atom.inside:
        return _ROOT * scale * (name == r"\sqrt") + sum(_width(part, style) for part in atom.inside)
    return _symbol(name, style) * scale


def _letters(character: str) -> int:
    """Return how many letters a character of a text takes; TeX prints some as [U+4E2D]."""
    latin_or_symbol = character < "\u0530" or "\u2000" <= character < "\u2300"
    return 1 if latin_or_symbol else 9


def _symbol(name: str, style: int) -> float:
    if name[0].isdigit():
        return _DIGIT * sum(map(str.isdigit, name)) + _GLYPHS["."] * name.count(".")
    if name[1:] in FUNCTIONS:
        return _WORD * (len(name) - 1) + 0.17
    if name in _GLYPHS:
        return _GLYPHS[name]
    if name in RELATIONS:
        return _RELATION if style < 2 else _SIGN
    if name in BINARY:
        return _OPERATOR if style < 2 else _SIGN
    return _COMMON
