r"""The part of LaTeX's mathematics that this package writes and every renderer understands.

Mathematics in a document is of our own making. Checking it against a list when a document is
built means that each command is one whose MathML is tested, and that nothing which reads files
or defines macros can reach TeX, whoever assembled the string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from symreln.document.escape import GREEK
from symreln.errors import InputError

FUNCTIONS = (
    "arccos arcsin arctan cos cosh cot coth deg det dim exp gcd ker lim ln log max min "
    "sec sin sinh sup inf tan tanh"
)
_OPERATORS = (
    "cdot times pm mp div circ ast cup cap wedge vee oplus otimes odot setminus "
    "sum prod int bigoplus"
)
RELATIONS = (
    "le leq ge geq ne neq equiv approx sim simeq propto ll gg in notin ni subset subseteq "
    "supset supseteq perp parallel mid succeq preceq succ prec to gets rightarrow leftarrow "
    "Rightarrow Leftarrow Leftrightarrow leftrightarrow mapsto longrightarrow implies iff colon"
)
_LETTERS = "infty partial nabla ell top bot emptyset forall exists neg hbar aleph"
_DOTS = "dots ldots cdots vdots ddots"
_SPACES = "quad qquad"
_DELIMITERS = "left right bigl bigr Bigl Bigr langle rangle"
_ACCENTS = "dot ddot hat bar tilde vec overline underline"
_STRUCTURES = (
    "frac tfrac dfrac sqrt text mathrm mathbf mathbb mathcal operatorname limits displaystyle "
    "begin end"
)
_SINGLE = frozenset("\\" + character for character in ",;:!{}|\\_%&#$ ")

COMMANDS = frozenset(
    "\\" + name
    for group in (FUNCTIONS, _OPERATORS, RELATIONS, _LETTERS, _DOTS, _SPACES, _DELIMITERS)
    for name in group.split()
)
COMMANDS |= frozenset("\\" + name for name in (_ACCENTS + " " + _STRUCTURES).split())
COMMANDS |= frozenset("\\" + name for name in GREEK.values()) | {r"\varepsilon", r"\varphi"}
_ENVIRONMENTS = frozenset(["pmatrix", "smallmatrix", "aligned"])

# The commands whose argument is words, not mathematics.
WORDS = frozenset({r"\text", r"\mathrm", r"\operatorname"})

# By whether it is \text: plain names elsewhere, there what text_in_math() writes.
_ARGUMENT = {
    False: re.compile(r"(?:[A-Za-z0-9 -]|\\,)+"),
    True: re.compile(
        r"(?:[^\\{}$&#%_^~\x00-\x1f\x7f]|\\[{}$&#%_]|\\text(?:backslash|asciicircum|asciitilde)\{\})*"
    ),
}
# How many arguments in braces a command takes.
ARITY: dict[str, int] = dict.fromkeys((r"\frac", r"\tfrac", r"\dfrac"), 2)
ARITY |= dict.fromkeys([r"\sqrt", *("\\" + name for name in _ACCENTS.split())], 1)
ARITY |= dict.fromkeys((r"\mathbf", r"\mathbb", r"\mathcal"), 1)
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|.", re.DOTALL)


def tokens(latex: str) -> list[str]:
    """Split LaTeX into commands and single characters."""
    return _TOKEN.findall(latex)


def group_end(parts: list[str], start: int) -> int:
    """Return the index of the brace that closes the one at ``start``.

    Raises:
        InputError: It is never closed.
    """
    depth = 0
    for index in range(start, len(parts)):
        depth += (parts[index] == "{") - (parts[index] == "}")
        if depth == 0:
            return index
    raise _error("".join(parts), "an opening brace that is never closed", "balance the braces")


def group(parts: list[str], start: int) -> tuple[str, int]:
    """Return the contents of the braced group at ``start`` and the index after it."""
    if start >= len(parts) or parts[start] != "{":
        raise _error("".join(parts), "a command without its braces", "write its argument in braces")
    end = group_end(parts, start)
    return "".join(parts[start + 1 : end]), end + 1


def check_math(latex: str, *, aligned: bool = False) -> None:
    r"""Raise unless ``latex`` is mathematics that every renderer prints correctly.

    Args:
        latex: Mathematics without delimiters.
        aligned: Whether ``&`` may stand at top level, as in one line of an aligned equation.

    Raises:
        InputError: What was found, where, and how to write it instead.
    """
    parts = tokens(latex)
    opened: list[str] = []
    for index, part in _outside_words(parts, latex):
        if part == "{":
            opened.append(part)
        elif part in (r"\begin", r"\left"):
            opened.append(_opening(parts, index, latex))
        elif part in ("}", r"\end", r"\right"):
            _close(opened, part, parts, index, latex)
        elif part in ("&", r"\\") and not any(o in _ENVIRONMENTS for o in opened):
            if not (aligned and part == "&"):
                raise _error(latex, f"{part!r} outside an environment", "put it in one")
        elif part in ("^", "_"):
            _check_scripts(parts, index, latex)
        elif part in ARITY:
            _check_arguments(parts, index, latex)
        elif part.startswith("\\"):
            if part not in COMMANDS and part not in _SINGLE:
                raise _error(latex, f"the command {part}", "use one listed in symreln.document.tex")
        elif part in "$#%~" or not (part.isascii() and part.isprintable()):
            raise _error(latex, f"the character {part!r}", r"use a command, or \text for words")
    if opened:
        raise _error(latex, f"{opened[-1]!r} that is never closed", "close it")


def _check_arguments(parts: list[str], index: int, latex: str) -> None:
    """Raise unless the command at ``index`` is followed by its arguments, each in braces."""
    after = index + 1
    if parts[index] == r"\sqrt" and parts[after : after + 1] == ["["]:
        after = parts.index("]", after) + 1 if "]" in parts[after:] else after
    for _ in range(ARITY[parts[index]]):
        if parts[after : after + 1] != ["{"]:
            raise _error(latex, f"{parts[index]} without braces", "write its arguments in braces")
        _, after = group(parts, after)


def _check_scripts(parts: list[str], index: int, latex: str) -> None:
    """Raise if a script at ``index`` is empty or followed by another of its kind."""
    seen: set[str] = set()
    while index < len(parts) and parts[index] in ("^", "_"):
        kind, argument = parts[index], parts[index + 1 : index + 2]
        if (
            kind in seen
            or not argument
            or argument[0] in ("^", "_", "&", "}")
            or argument[0] in WORDS
        ):
            raise _error(latex, f"a script {kind!r} that TeX would refuse", "group it in braces")
        seen.add(kind)
        index = group_end(parts, index + 1) + 1 if argument == ["{"] else index + 2


def _outside_words(parts: list[str], latex: str) -> Iterator[tuple[int, str]]:
    """Yield tokens, leaving out the arguments that are words or an environment's name."""
    index = 0
    while index < len(parts):
        yield index, parts[index]
        if parts[index] in WORDS:
            words, after = group(parts, index + 1)
            if not _ARGUMENT[parts[index] == r"\text"].fullmatch(words):
                raise _error(latex, f"{parts[index]} of {words!r}", "escape it with text_in_math")
            index = after
        elif parts[index] in (r"\begin", r"\end"):
            _, index = group(parts, index + 1)
        else:
            index += 1


def _opening(parts: list[str], index: int, latex: str) -> str:
    if parts[index] == r"\left":
        return r"\left"
    name, _ = group(parts, index + 1)
    if name not in _ENVIRONMENTS:
        raise _error(latex, f"the environment {name!r}", f"use one of {sorted(_ENVIRONMENTS)}")
    return name


def _close(opened: list[str], part: str, parts: list[str], index: int, latex: str) -> None:
    expected = {"}": "{", r"\right": r"\left"}.get(part)
    if expected is None:
        expected, _ = group(parts, index + 1)
    if not opened or opened.pop() != expected:
        raise _error(latex, f"{part!r} that closes nothing", "balance braces and environments")


def _error(latex: str, found: str, hint: str) -> InputError:
    shown = latex if len(latex) <= 80 else latex[:77] + "…"
    return InputError(f"mathematics {shown!r}: found {found}. To mend it, {hint}.")


class Environment(NamedTuple):
    """An environment met in mathematics: its name and contents."""

    name: str
    contents: list[str]


def environment(parts: list[str], index: int) -> tuple[Environment, int]:
    r"""Read the environment whose ``\begin`` is at ``index``; return it and the index after it."""
    name, start = group(parts, index + 1)
    depth, end = 1, start
    while depth:
        if end >= len(parts):
            raise _error("".join(parts), f"{name!r} that is never closed", "close it")
        depth += (parts[end] == r"\begin") - (parts[end] == r"\end")
        end += 1
    _, after = group(parts, end)
    return Environment(name, parts[start : end - 1]), after


def rows_and_cells(parts: list[str]) -> list[list[str]]:
    r"""Split an environment's contents at its own ``\\`` and ``&``; a last ``\\`` adds no row."""
    rows: list[list[list[str]]] = [[[]]]
    depth = 0
    for part in parts:
        depth += (part in ("{", r"\begin", r"\left")) - (part in ("}", r"\end", r"\right"))
        if depth == 0 and part == r"\\":
            rows.append([[]])
        elif depth == 0 and part == "&":
            rows[-1].append([])
        else:
            rows[-1][-1].append(part)
    cells = [["".join(cell).strip() for cell in row] for row in rows]
    return cells[:-1] if cells[-1] == [""] and len(cells) > 1 else cells


def columns(name: str) -> str:
    """Return the alignment letters of an environment's columns, again and again."""
    return "rl" if name == "aligned" else "c"
