r"""LaTeX mathematics as Typst mathematics.

Letters, digits and names are Typst's own; every other character is escaped or one of Unicode, so
that nothing is read as Typst's syntax: neither ``/`` as a fraction nor brackets as a pair that
grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import cycle

from symreln.document.escape import code_points, text_from_math
from symreln.document.tex import (
    FUNCTIONS,
    LIMITS,
    SPACES,
    SYMBOLS,
    WORDS,
    Atom,
    Row,
    columns,
    parse,
)

_NOTHING = "#box()"  # an ordinary symbol without width: what {} is to TeX
# Characters that Typst takes for fences, or for another kind of symbol than TeX does.
_CLASSES = {r"\mid": "relation", r"\parallel": "relation", r"\colon": "punctuation"}
_SPACES = {r"\,": "thin", r"\:": "med", r"\;": "thick", r"\quad": "quad", r"\qquad": "wide"}
_CALLS = {
    "{": 'class("normal",{})', r"\displaystyle": "display({})", r"\frac": "frac({},{})",
    r"\dfrac": "display(frac({},{}))", r"\tfrac": "inline(frac({},{}))", r"\dot": "dot({})",
    r"\ddot": "dot.double({})", r"\hat": "hat({})", r"\bar": "macron({})",
    r"\tilde": "tilde({})", r"\overline": "overline({})", r"\mathbf": "upright(bold({}))",
    r"\mathbb": "bb({})", r"\mathcal": "cal({})",
}  # fmt: skip
_CALL = re.compile(r"[a-z]{2,}[(]")
_SIZES = {r"\bigl": "1.2em", r"\Bigl": "1.8em"}


def to_typst(latex: str) -> str:
    """Return the source of Typst mathematics, without its dollar signs.

    Args:
        latex: Mathematics that :func:`symreln.document.tex.parse` accepts; it may be aligned.
    """
    return _row(parse(latex, aligned=True))


def string(text: str) -> str:
    """Return words as a string of Typst: nothing in them is read."""
    escaped = code_points(text).replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _row(row: Row) -> str:
    """Return atoms side by side, parted only where two would be read as one word.

    Beside words and bars a space would be seen: what begins a call is parted by nothing at all.
    """
    return _joined(map(_scripted, row))


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for each in parts:
        if text[-1:].isalnum() and each[:1].isalnum():
            text += "#[]" if _CALL.match(each) else " "
        text += each
    return text


def _scripted(atom: Atom) -> str:
    scripts = (("_", atom.below), ("^", atom.above))
    return _base(atom) + "".join(
        f"{kind}({_row(row) or _NOTHING})" for kind, row in scripts if row is not None
    )


def _base(atom: Atom) -> str:
    name = atom.name
    if name in WORDS:
        return _words(name, atom.text[0])
    if atom.text:
        return _fenced(atom)
    if atom.cells:
        return _environment(atom)
    inside = [_row(row) or _NOTHING for row in atom.inside]
    if name == "{" and inside == [_NOTHING]:
        return _NOTHING
    if name == r"\sqrt":
        radicand, *degree = inside
        return f"root({degree[0]},{radicand})" if degree else f"sqrt({radicand})"
    if inside:
        return _CALLS[name].format(*inside)
    if name[1:] in FUNCTIONS:
        return _operator(name[1:], limits=name[1:] in LIMITS)
    return _symbol(name)


def _words(command: str, words: str) -> str:
    if command == r"\text":
        shown = string(text_from_math(words).replace(" ", "\N{NO-BREAK SPACE}"))
        return f"upright({shown})" if len(words) == 1 else shown
    name = words.replace(r"\,", "\N{THIN SPACE}").replace(" ", "")
    if command == r"\mathrm":
        return f"upright({string(name)})"
    return _operator(name, limits=False)


def _operator(name: str, *, limits: bool) -> str:
    return f"op({string(name)}{',limits:#true' * limits})"


def _fenced(atom: Atom) -> str:
    inside = _row(atom.inside[0])
    # Typst lets the first and the last symbol grow: where there is no bracket, nothing does.
    left, right = (_NOTHING if mark == "." else _symbol(mark) for mark in atom.text)
    if atom.name == r"\left":
        return f"lr({left}{inside}{right})"
    size = _SIZES[atom.name]
    left, right = (
        f'class("{kind}",lr(size:#{size},{mark}))'
        for kind, mark in (("opening", left), ("closing", right))
    )
    return _joined([left, inside, right])


def _environment(atom: Atom) -> str:
    rows = [
        ",".join(
            _cell(cell, mark, atom.name)
            for cell, mark in zip(row, cycle(columns(atom.name)), strict=False)
        )
        for row in atom.cells
    ]
    options = "delim:#" + ('"("' if atom.name == "pmatrix" else "none")
    options += ",column-gap:#0pt" * (atom.name == "aligned")
    matrix = f"mat({options},{';'.join(rows)})"
    return f"script({matrix})" if atom.name == "smallmatrix" else matrix


def _cell(row: Row, letter: str, environment: str) -> str:
    """Return a cell of a matrix; an ``&`` in it pushes it to one side of its column."""
    cell = _row(row)
    if environment == "aligned":  # a relation that begins a cell has its space on both sides
        cell = f"display({_NOTHING * (letter == 'l')}{cell})"
    return {"l": f"&{cell}", "r": f"{cell}&"}.get(letter, cell)


def _symbol(name: str) -> str:
    """Return a letter, a digit, a sign, or a command that stands for one."""
    if name in SPACES:
        return _SPACES.get(name, f"#h({SPACES[name]}em)")
    shown = "∗" if name == "*" else SYMBOLS.get(name, name)
    if (shown.isascii() or shown in "⟨⟩") and not shown[0].isalnum() and name != "&":
        shown = f"\\{shown}"
    return f'class("{_CLASSES[name]}",{shown})' if name in _CLASSES else shown
