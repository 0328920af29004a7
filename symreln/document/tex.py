r"""The part of LaTeX's mathematics that this package writes, read into a tree.

Mathematics in a document is of our own making. Reading it when a document is built means that each
command is one whose print is tested, and that nothing which reads files or defines macros can
reach TeX, whoever assembled the string. MathML, Typst and printed widths are folds over the tree.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, NoReturn

from symreln.document.escape import GREEK, MATHEMATICS
from symreln.errors import InputError
from symreln.specs.finding import cut

_NAMES = (
    "arccos arcsin arctan cos cosh cot coth det exp gcd inf lim "
    "ln log max min sin sinh sup tan tanh"
)
FUNCTIONS = frozenset(_NAMES.split())
#: Those of them whose scripts stand below.
LIMITS = frozenset(["det", "gcd", "inf", "lim", "max", "min", "sup"])
_DELIMITERS = {r"\langle": "⟨", r"\rangle": "⟩", r"\|": "‖", r"\{": "{", r"\}": "}"}
_BIG = {r"\sum": "∑", r"\prod": "∏", r"\int": "∫", r"\bigoplus": "⨁"}
_BINARY = {
    "-": "−", "*": "*", "+": "+", r"\cdot": "⋅", r"\times": "×", r"\pm": "±", r"\mp": "∓",
    r"\div": "÷", r"\circ": "∘", r"\cup": "∪", r"\cap": "∩", r"\wedge": "∧", r"\vee": "∨",
    r"\oplus": "⊕", r"\otimes": "⊗", r"\odot": "⊙",
}  # fmt: skip
_RELATIONS = {
    "=": "=", "<": "<", ">": ">", r"\leq": "≤", r"\geq": "≥", r"\neq": "≠", r"\mid": "∣",
    r"\perp": "⟂", r"\succ": "≻", r"\prec": "≺", r"\succeq": "⪰", r"\preceq": "⪯", r"\to": "→",
    r"\ni": "∋", r"\implies": "⟹", r"\iff": "⟺", r"\longrightarrow": "⟶", r"\colon": ":",
    **{
        latex: letter
        for letter, latex in MATHEMATICS.items()
        if letter in "≤≥≠≈≡∼≃∝≪≫∈∉⊂⊆←→↔⇐⇒⇔↦∥"
    },
}  # fmt: skip
_ORDINARY = {
    **{"\\" + name: letter for letter, name in reversed(GREEK.items())},
    r"\epsilon": "ϵ", r"\phi": "ϕ", r"\varepsilon": "ε", r"\varphi": "φ", r"\infty": "∞",
    r"\partial": "∂", r"\nabla": "∇", r"\ell": "ℓ", r"\top": "⊤", r"\bot": "⊥", r"\neg": "¬",
    r"\emptyset": "∅", r"\forall": "∀", r"\exists": "∃", r"\dots": "…", r"\ldots": "…",
    r"\cdots": "⋯", r"\vdots": "⋮", r"\ddots": "⋱", "'": "′",
    **{"\\" + character: character for character in "_%&#$"},
}  # fmt: skip
RELATIONS, BINARY, BIG, ORDINARY = map(frozenset, (_RELATIONS, _BINARY, _BIG, _ORDINARY))
#: Commands and characters that are drawn by another character.
SYMBOLS = {**_ORDINARY, **_BINARY, **_RELATIONS, **_BIG, **_DELIMITERS}
#: Spaces, in em.
SPACES = {
    r"\,": 0.167, r"\:": 0.222, r"\;": 0.278, r"\!": -0.167, r"\ ": 0.25, r"\quad": 1.0,
    r"\qquad": 2.0,
}  # fmt: skip
ACCENTS = {r"\dot": "˙", r"\ddot": "¨", r"\hat": "ˆ", r"\bar": "¯", r"\tilde": "˜"}
#: How many arguments in braces a command takes.
ARITY: dict[str, int] = {
    **dict.fromkeys((r"\frac", r"\tfrac", r"\dfrac"), 2),
    **dict.fromkeys((r"\sqrt", r"\overline", r"\mathbf", r"\mathbb", r"\mathcal", *ACCENTS), 1),
}
#: The commands whose argument is words, not mathematics.
WORDS = (r"\text", r"\mathrm", r"\operatorname")
_ENVIRONMENTS = ("pmatrix", "smallmatrix", "aligned")
_PAIRS = {r"\left": r"\right", r"\bigl": r"\bigr", r"\Bigl": r"\Bigr"}
_TOKEN = re.compile(
    # What text_in_math() writes, and plain names.
    r"\\text\{(?:[^\\{}$&#%_^~\x00-\x1f\x7f]|\\[{}$&#%_]"
    r"|\\text(?:backslash|asciicircum|asciitilde)\{\})*\}"
    r"|\\(?:mathrm|operatorname)\{(?:[A-Za-z0-9 -]|\\,)+\}"
    r"|\\(?:begin|end)\{[^{}]*\}"
    r"|\\(?:left|right|[Bb]ig[lr])(?![A-Za-z])\s*(?:\\[A-Za-z]+|\\?[^\\\s])"
    r"|\\(?:[A-Za-z]+|.?)|\d+(?:\.\d+)?|\s+|.",
    re.DOTALL,
)


class Atom(NamedTuple):
    r"""A symbol or a number, or a command with what it holds; with the scripts on it.

    Attributes:
        name: The character, digits or command; ``{`` of a group; the name of an environment.
        inside: Arguments, of a root its degree behind what is below it; what brackets hold.
        text: The words of ``\text`` and its like; both brackets of ``\left`` or ``\bigl``.
        cells: Rows of an environment's cells.
        below: The lower script, or None.
        above: The upper script with its primes, or None.
    """

    name: str
    inside: tuple[tuple[Atom, ...], ...] = ()
    text: tuple[str, ...] = ()
    cells: tuple[tuple[tuple[Atom, ...], ...], ...] = ()
    below: tuple[Atom, ...] | None = None
    above: tuple[Atom, ...] | None = None


Row = tuple[Atom, ...]


def tokens(latex: str) -> list[str]:
    """Split LaTeX into commands, numbers and characters; words and brackets with their commands."""
    return _TOKEN.findall(latex)


@lru_cache(maxsize=4096)  # a document, its widths and every format read the same formulas
def parse(latex: str, *, aligned: bool = False) -> Row:
    r"""Return mathematics as a tree.

    Args:
        latex: Mathematics without delimiters.
        aligned: Whether ``&`` may stand at top level, as in one line of an aligned equation.

    Raises:
        InputError: What was found, where, and how to write it instead.
    """
    reader = _Reader(latex)
    found = reader.row()
    while reader.part == "&" and aligned:
        found += (Atom(reader.take()), *reader.row())
    if reader.part:
        reader.close("")
    return found


def cells_of(row: Row) -> list[Row]:
    """Return the parts of a line between its ``&``."""
    marks = [-1, *(place for place, atom in enumerate(row) if atom.name == "&"), len(row)]
    return [row[a + 1 : b] for a, b in pairwise(marks)]


def columns(name: str) -> str:
    """Return the alignment letters of an environment's columns, again and again."""
    return "rl" if name == "aligned" else "c"


class _Reader:
    """Reads tokens one after the other; ``part`` is the next one, empty at the end."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self._parts = [part for part in tokens(latex) if not part.isspace()]
        self._at = 0

    @property
    def part(self) -> str:
        return self._parts[self._at] if self._at < len(self._parts) else ""

    def take(self) -> str:
        part = self.part
        self._at += 1
        return part

    def close(self, opened: str, closing: str = "") -> None:
        """Take what closes something that was opened; anything else is refused."""
        part = self.take()
        if part == closing and part:
            return
        if not part:
            self.refuse(f"{opened!r} that is never closed", "close it")
        if part in ("&", r"\\"):
            self.refuse(f"{part!r} outside an environment", "put it in one")
        self.refuse(f"{part!r} that closes nothing", "balance braces and environments")

    def refuse(self, found: str, hint: str) -> NoReturn:
        """Say that something cannot be read."""
        msg = f"mathematics {cut(self.latex, 80)!r}: found {found}. To mend it, {hint}."
        raise InputError(msg)

    def row(self, end: str = "") -> Row:
        """Read up to what closes it."""
        atoms: list[Atom] = []
        while self.part and self.part != end and not _STOP.match(self.part):
            base = Atom("{", ((),)) if self.part in "^_'" else self._atom()
            atoms.append(self._scripts(base))
        return tuple(atoms)

    def _atom(self) -> Atom:
        part = self.take()
        if part == "{":
            return Atom(part, (self._group(),))
        if part in ARITY:
            return self._arguments(part)
        name, _, rest = part.partition("{")
        if name in WORDS and rest:
            return Atom(name, text=(rest.removesuffix("}"),))
        if name == r"\begin":
            return self._environment(rest.removesuffix("}"))
        fence = _FENCE.fullmatch(part)
        if fence:
            return self._fenced(fence[1], fence[2])
        if part == r"\displaystyle":  # of all that follows in its group
            return Atom(part, (self.row(),))
        if part in WORDS:
            found = f"{part} of words" if self.part == "{" else f"{part} without its braces"
            self.refuse(found, "escape it with text_in_math, in braces")
        if part[0] == "\\" and not (part in SYMBOLS or part in SPACES or part[1:] in FUNCTIONS):
            self.refuse(f"the command {part}", "use one listed in symreln.document.tex")
        if part in "$#%~" or not (part.isascii() and part.isprintable()):
            self.refuse(f"the character {part!r}", r"use a command, or \text for words")
        return Atom(part)

    def _group(self) -> Row:
        found = self.row()
        self.close("{", "}")
        return found

    def _arguments(self, command: str) -> Atom:
        degree: tuple[Row, ...] = ()
        if command == r"\sqrt" and self.part == "[":
            self.take()
            degree = (self.row("]"),)
            self.close("[", "]")
        found: list[Row] = []
        for _ in range(ARITY[command]):
            if self.take() != "{":
                self.refuse(f"{command} without braces", "write its arguments in braces")
            found.append(self._group())
        return Atom(command, (*found, *degree))

    def _environment(self, name: str) -> Atom:
        if name not in _ENVIRONMENTS:
            self.refuse(f"the environment {name!r}", f"use one of {_ENVIRONMENTS}")
        rows = [[self.row()]]
        while self.part in ("&", r"\\"):
            if self.take() == "&":
                rows[-1].append(self.row())
            else:
                rows.append([self.row()])
        self.close(rf"\begin{{{name}}}", rf"\end{{{name}}}")
        if rows[-1] == [()] and len(rows) > 1:
            rows.pop()
        return Atom(name, cells=tuple(map(tuple, rows)))

    def _fenced(self, command: str, mark: str) -> Atom:
        inside, closing = self.row(), _FENCE.fullmatch(self.part)
        if closing is None or closing[1] != _PAIRS.get(command):
            self.close(command)
        assert closing is not None
        self.take()
        return Atom(command, (inside,), (mark, closing[2]))

    def _scripts(self, base: Atom) -> Atom:
        found: dict[str, Row] = {}
        primes: Row = ()
        while self.part and self.part in "^_'":
            kind = self.take()
            if kind in found or (kind == "'" and "^" in found):
                self.refuse(f"a script {kind!r} that TeX would refuse", "group it in braces")
            if kind == "'":
                primes += (Atom(kind),)
            else:
                found[kind] = self._script(kind)
        above = primes + found.get("^", ()) if primes else found.get("^")
        return base._replace(below=found.get("_"), above=above) if found or primes else base

    def _script(self, kind: str) -> Row:
        part = self.take()
        if part == "{":
            return self._group()
        if not (part in SYMBOLS or (len(part) == 1 and part not in "^_&}")):
            self.refuse(f"a script {kind!r} that TeX would refuse", "group it in braces")
        return (Atom(part),)


_STOP = re.compile(r"\}$|&$|\\\\$|\\end\{|\\(?:right|[Bb]igr)(?![A-Za-z])")
_FENCE = re.compile(r"(\\(?:left|right|[Bb]ig[lr]))(?![A-Za-z])\s*(.+)", re.DOTALL)
