r"""LaTeX mathematics as Typst mathematics.

Letters, digits and names are Typst's own; every other character is escaped or one of Unicode, so
that nothing is read as Typst's syntax: neither ``/`` as a fraction nor brackets as a pair that
grows.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import cycle

from symreln.document.escape import code_points, text_from_math
from symreln.document.tex import (
    FUNCTIONS,
    WORDS,
    Environment,
    columns,
    environment,
    group,
    rows_and_cells,
    tokens,
)
from symreln.errors import NotSupportedError

_NOTHING = "#box()"  # an ordinary symbol without width: what {} is to TeX
_LIMITS = frozenset(["det", "gcd", "inf", "lim", "max", "min", "sup"])
# What latex2mathml writes for MathML, which has them by another character.
_SYMBOLS = {r"\cdot": "⋅", r"\ast": "∗", r"\sim": "∼", r"\setminus": "∖", "*": "∗", "-": "−"}
# Characters that Typst takes for fences, or for another kind of symbol than TeX does.
_CLASSES = {r"\mid": "relation", r"\parallel": "relation", r"\colon": "punctuation"}
_SINGLE = {
    r"\,": "thin", r"\:": "med", r"\;": "thick", r"\!": "#h(-0.167em)", r"\ ": "#h(0.25em)",
    r"\quad": "quad", r"\qquad": "wide", r"\|": "‖", "&": "&",
}  # fmt: skip
_CALLS = {
    r"\frac": "frac({},{})", r"\dfrac": "display(frac({},{}))", r"\tfrac": "inline(frac({},{}))",
    r"\dot": "dot({})", r"\ddot": "dot.double({})", r"\hat": "hat({})",
    r"\bar": "macron({})", r"\tilde": "tilde({})", r"\vec": "arrow({})",
    r"\overline": "overline({})", r"\underline": "underline({})",
    r"\mathbf": "upright(bold({}))", r"\mathbb": "bb({})",
    r"\mathcal": "cal({})",
}  # fmt: skip
_CALL = re.compile(r"[a-z]{2,}[(]")
_SCRIPTS = ("_", "^", "'")
_SIZED = {
    r"\bigl": ("opening", "1.2em"), r"\bigr": ("closing", "1.2em"),
    r"\Bigl": ("opening", "1.8em"), r"\Bigr": ("closing", "1.8em"),
}  # fmt: skip


def to_typst(latex: str) -> str:
    """Return the source of Typst mathematics, without its dollar signs.

    Args:
        latex: Mathematics that :func:`symreln.document.tex.check_math` accepts; it may be aligned.

    Raises:
        NotSupportedError: A command that is not known here.
    """
    return _content(tokens(latex))


def string(text: str) -> str:
    """Return words as a string of Typst: nothing in them is read."""
    escaped = code_points(text).replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _content(parts: list[str]) -> str:
    atoms: list[str] = []
    index = _after_spaces(parts, 0)
    while index < len(parts):
        part = parts[index]
        if part == r"\displaystyle":  # of all that follows in its group
            atoms.append(f"display({_content(parts[index + 1 :])})")
            break
        base, index = (_NOTHING, index) if part in _SCRIPTS else _atom(parts, index)
        index = _after_spaces(parts, index)
        if parts[index : index + 1] == [r"\limits"]:
            base, index = f"limits({base})", index + 1
        scripts, index = _scripts(parts, index)
        atoms.append(base + scripts)
    return _joined(atoms)


def _joined(atoms: list[str]) -> str:
    """Return atoms side by side, parted only where two would be read as one word.

    Beside words and bars a space would be seen: what begins a call is parted by nothing at all.
    """
    text = ""
    for atom in atoms:
        if text[-1:].isalnum() and atom[:1].isalnum():
            text += "#[]" if _CALL.match(atom) else " "
        text += atom
    return text


def _after_spaces(parts: list[str], index: int) -> int:
    while index < len(parts) and parts[index].isspace():
        index += 1
    return index


def _scripts(parts: list[str], index: int) -> tuple[str, int]:
    """Return the scripts and primes at ``index`` in Typst's order, and the index after them."""
    found = {"_": [], "^": []}
    while index < len(parts) and parts[index] in _SCRIPTS:
        if parts[index] == "'":
            found["^"].append("′")
            index += 1
        else:
            source, after = _argument(parts, index + 1)
            found[parts[index]].append(source)
            index = after
        index = _after_spaces(parts, index)
    return "".join(f"{kind}({_joined(atoms)})" for kind, atoms in found.items() if atoms), index


def _argument(parts: list[str], index: int) -> tuple[str, int]:
    """Return a braced group or the one atom at ``index``, and the index after it."""
    index = _after_spaces(parts, index)
    if parts[index] != "{":
        return _atom(parts, index)
    inside, after = group(parts, index)
    return _content(tokens(inside)) or _NOTHING, after


def _atom(parts: list[str], index: int) -> tuple[str, int]:
    """Return what stands at ``index`` without its scripts, and the index after it."""
    part, after = parts[index], index + 1
    if part == "{":
        inside, after = _argument(parts, index)
        return inside if inside == _NOTHING else f'class("normal",{inside})', after
    if part in WORDS:
        words, after = group(parts, after)
        return _words(part, words), after
    if part == r"\begin":
        found, after = environment(parts, index)
        return _environment(found), after
    if part == r"\left":
        return _fenced(parts, index)
    if part in _SIZED:
        kind, size = _SIZED[part]
        after = _after_spaces(parts, after)
        return f'class("{kind}",lr(size:#{size},{_symbol(parts[after])}))', after + 1
    if part == r"\sqrt":
        return _root(parts, after)
    if part in _CALLS:
        return _call(part, parts, after)
    if part.isdigit():
        return _number(parts, index)
    if part[1:] in FUNCTIONS.split():
        return _operator(part[1:], limits=part[1:] in _LIMITS), after
    return _symbol(part), after


def _call(command: str, parts: list[str], index: int) -> tuple[str, int]:
    arguments = []
    for _ in range(_CALLS[command].count("{}")):
        source, index = _argument(parts, index)
        arguments.append(source)
    return _CALLS[command].format(*arguments), index


def _root(parts: list[str], index: int) -> tuple[str, int]:
    degree = ""
    if parts[index] == "[":
        end = parts.index("]", index)
        degree, index = _content(parts[index + 1 : end]), end + 1
    radicand, after = _argument(parts, index)
    return (f"root({degree},{radicand})" if degree else f"sqrt({radicand})"), after


def _number(parts: list[str], index: int) -> tuple[str, int]:
    """Return the digits that begin at ``index``, and a decimal point between two of them."""
    end = index + 1
    while end < len(parts):
        if parts[end].isdigit():
            end += 1
        elif parts[end] == "." and end + 1 < len(parts) and parts[end + 1].isdigit():
            end += 2
        else:
            break
    return "".join(parts[index:end]), end


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


def _fenced(parts: list[str], index: int) -> tuple[str, int]:
    r"""Return all from the ``\left`` at ``index`` to its ``\right``, and the index after it."""
    start = _after_spaces(parts, index + 1)
    depth, end = 1, start + 1
    while depth:
        depth += (parts[end] == r"\left") - (parts[end] == r"\right")
        end += 1
    close = _after_spaces(parts, end)
    inside = _content(parts[start + 1 : end - 1])
    # Typst lets the first and the last symbol grow: where there is no bracket, nothing does.
    sides = [_NOTHING if mark == "." else _symbol(mark) for mark in (parts[start], parts[close])]
    return f"lr({sides[0]}{inside}{sides[1]})", close + 1


def _environment(found: Environment) -> str:
    letters = columns(found.name)
    cells = [
        ",".join(_cell(cell, mark, found) for cell, mark in zip(row, cycle(letters), strict=False))
        for row in rows_and_cells(found.contents)
    ]
    options = "delim:#" + ('"("' if found.name == "pmatrix" else "none")
    options += ",column-gap:#0pt" * (found.name == "aligned")
    matrix = f"mat({options},{';'.join(cells)})"
    return f"script({matrix})" if found.name == "smallmatrix" else matrix


def _cell(latex: str, letter: str, found: Environment) -> str:
    """Return a cell of a matrix; an ``&`` in it pushes it to one side of its column."""
    cell = _content(tokens(latex))
    if found.name == "aligned":  # a relation that begins a cell has its space on both sides
        cell = f"display({_NOTHING * (letter == 'l')}{cell})"
    return {"l": f"&{cell}", "r": f"{cell}&"}.get(letter, cell)


@cache
def _symbol(part: str) -> str:
    """Return a letter, a sign, or a command that stands for one."""
    from latex2mathml.symbols_parser import convert_symbol

    if part in _SINGLE:
        return _SINGLE[part]
    shown = _SYMBOLS.get(part, part)
    if len(shown) > 1:
        code = convert_symbol(shown)
        shown = chr(int(code, 16)) if code else shown.removeprefix("\\")
    if len(shown) > 1:
        msg = f"Typst: found the mathematics {part!r}. Add it to symreln.report.typst_math."
        raise NotSupportedError(msg)
    shown = f"\\{shown}" if shown.isascii() and not shown.isalnum() else shown
    return f'class("{_CLASSES[part]}",{shown})' if part in _CLASSES else shown
