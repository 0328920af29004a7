"""Printed widths of mathematics, from the metrics of TeX's fonts: where a line has to be broken."""

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
    **dict.fromkeys("0123456789/", _DIGIT),
    ",": 0.45,  # with the space behind it
    **dict.fromkeys([r"\Sigma", r"\Phi", r"\Delta", r"\Omega", r"\infty", r"\top"], 0.8),
    **dict.fromkeys([r"\sum", r"\prod", r"\bigoplus"], 1.6),
    r"\int": 1.1,
    r"\sqrt": 0.9,
    **dict.fromkeys([r"\dots", r"\ldots", r"\cdots", r"\ddots"], 1.35),
    **{r"\quad": 1.0, r"\qquad": 2.0, r"\,": 0.17, r"\;": 0.28, r"\:": 0.22, r"\ ": 0.33},
}
_RELATIONS = frozenset("\\" + name for name in RELATIONS.split()) | frozenset("=<>")
_LONG_RELATIONS = {r"\iff": 2.9, r"\implies": 2.7, r"\longrightarrow": 2.2}
_BINARY = frozenset([*"+-*", r"\cdot", r"\times", r"\pm", r"\mp", r"\cap", r"\cup", r"\odot"])
_RELATION, _OPERATOR, _SIGN = 1.34, 1.23, 0.78  # with their spaces; a sign without
_FUNCTIONS = frozenset("\\" + name for name in FUNCTIONS.split())
_STACKED = frozenset([r"\sum", r"\prod", r"\bigoplus", r"\lim", r"\min", r"\max"])
_FRACTIONS = frozenset([r"\frac", r"\dfrac", r"\tfrac"])
_UNPRINTED = frozenset(
    [*"&}", r"\displaystyle", r"\limits"]
    + [
        "\\" + name
        for name in ["dot", "ddot", "hat", "bar", "tilde", "vec", "overline", "underline"]
    ]
    + ["\\" + name for name in ["mathbf", "mathbb", "mathcal"]]
)
_DELIMITERS = frozenset([r"\left", r"\right", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr"])
_DELIMITER = 0.68
_BRACKETS, _COLUMN = 1.6, 0.92  # of a matrix, and between its columns
# Of display, text, scripts and scripts of scripts, relative to the line.
_SCALE = (1.0, 1.0, 0.73, 0.55)


def latex_width(latex: str, *, text: bool = False) -> float:
    r"""Return about how wide ``latex`` is printed, in letters; 6 points each of an 11 point font.

    Args:
        latex: Mathematics without delimiters.
        text: Whether it stands in a line of text, where fractions are small.

    Example:
        >>> latex_width(r"\frac{abc}{d}") < latex_width("abcd")
        True
    """
    return _width(tokens(latex), int(text)) / _EM


def _width(parts: list[str], style: int) -> float:
    total, index, joins = 0.0, 0, False
    while index < len(parts):
        part = parts[index]
        if part in _BINARY and not joins:
            advance, index = _SIGN * _SCALE[style], index + 1
        else:
            advance, index = _advance(parts, index, style)
        total += advance
        if not part.isspace():  # after these a sign is not an operator
            joins = part not in _RELATIONS and part not in _BINARY and part not in "([,&"
    return total


def _advance(parts: list[str], index: int, style: int) -> tuple[float, int]:
    """Return the width of what begins at ``index``, its scripts included, and what comes after."""
    part = parts[index]
    width, after = _nucleus(parts, index, style)
    scripts = [0.0]
    while after < len(parts) and parts[after] in ("_", "^"):
        script, after = _argument(parts, after + 1, min(style + 2, 3) if style < 2 else 3)
        scripts.append(script)
    stacked = part in _STACKED and style == 0
    return (max(width, *scripts) if stacked else width + max(scripts)), after


def _argument(parts: list[str], index: int, style: int) -> tuple[float, int]:
    """Return the width of the group or token at ``index``."""
    if index >= len(parts):
        return 0.0, index
    return _nucleus(parts, index, style)


def _nucleus(parts: list[str], index: int, style: int) -> tuple[float, int]:
    part, scale = parts[index], _SCALE[style]
    if part == "{":
        end = group_end(parts, index)
        return _width(parts[index + 1 : end], style), end + 1
    if part in _FRACTIONS:
        inner = {r"\dfrac": 1, r"\tfrac": 2}.get(part, style + 1)
        top, after = _argument(parts, index + 1, min(inner, 3))
        bottom, after = _argument(parts, after, min(inner, 3))
        return max(top, bottom) + 0.22, after
    if part in WORDS:
        words, after = group(parts, index + 1)
        return _WORD * sum(map(_letters, words)) * scale, after
    if part == r"\begin":
        return _environment_width(parts, index, style)
    if part in _DELIMITERS:
        size = 0.0 if parts[index + 1 : index + 2] == ["."] else _DELIMITER
        return size * scale, index + 2
    return _token_width(part, style) * scale, index + 1


def _letters(character: str) -> int:
    """Return how many letters a character of a text takes; TeX prints some as [U+4E2D]."""
    latin_or_symbol = character < "\u0530" or "\u2000" <= character < "\u2300"
    return 1 if latin_or_symbol else 9


def _token_width(part: str, style: int) -> float:
    if part.isspace() or part in _UNPRINTED:
        return 0.0
    if part in _FUNCTIONS:
        return _WORD * (len(part) - 1) + 0.17
    if part in _LONG_RELATIONS:
        return _LONG_RELATIONS[part]
    if part in _RELATIONS:
        return _RELATION if style < 2 else _SIGN
    if part in _BINARY:
        return _OPERATOR if style < 2 else _SIGN
    return _GLYPHS.get(part, _COMMON)


def _environment_width(parts: list[str], index: int, style: int) -> tuple[float, int]:
    body, after = environment(parts, index)
    rows = rows_and_cells(body.contents)
    columns = max(len(row) for row in rows)
    inner = 0 if body.name == "aligned" else max(style, 1)
    widths = [
        max(_width(tokens(row[c]), inner) if c < len(row) else 0.0 for row in rows)
        for c in range(columns)
    ]
    if body.name == "aligned":
        return sum(widths), after
    return sum(widths) + _COLUMN * (columns - 1) + _BRACKETS, after
