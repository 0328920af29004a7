"""LaTeX mathematics as MathML Core, the part of MathML that browsers draw."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from itertools import cycle

from symreln.document.escape import text_from_math
from symreln.document.tex import (
    ACCENTS,
    BIG,
    FUNCTIONS,
    LIMITS,
    ORDINARY,
    RELATIONS,
    SPACES,
    SYMBOLS,
    WORDS,
    Atom,
    Row,
    cells_of,
    columns,
    parse,
)

_VARIANTS = {r"\mathbf": "BOLD", r"\mathbb": "DOUBLE-STRUCK", r"\mathcal": "SCRIPT"}
#: Characters that TeX has upright.
_UPRIGHT = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ∇∞∅")
# By heights in em: as \bigl and \Bigl are in TeX.
_SIZES = {r"\bigl": "1.2em", r"\Bigl": "1.623em"}
_NORMAL = ' mathvariant="normal"'
_TIGHT = ' lspace="0" rspace="0"'
#: What operators need to be drawn as TeX does.
_OPERATORS = {
    "/": _TIGHT,
    "|": f' stretchy="false"{_TIGHT}',
    r"\|": f' stretchy="false"{_TIGHT}',
    **dict.fromkeys(("(", ")", "[", "]", r"\{", r"\}"), ' stretchy="false"'),
}
#: After these, and first in a row, a minus is a sign and not an operation.
_BEFORE_SIGNS = RELATIONS | frozenset([",", "(", "[", r"\{", "&"])
_SIGNS = ("-", r"\pm", r"\mp")
#: What commands with arguments become.
_ELEMENTS = {
    "{": "<mrow>{}</mrow>",
    r"\frac": "<mfrac>{}{}</mfrac>",
    r"\tfrac": '<mstyle displaystyle="false" scriptlevel="0"><mfrac>{}{}</mfrac></mstyle>',
    r"\dfrac": '<mstyle displaystyle="true" scriptlevel="0"><mfrac>{}{}</mfrac></mstyle>',
    r"\displaystyle": '<mstyle displaystyle="true" scriptlevel="0">{}</mstyle>',
    r"\overline": '<mover accent="false">{}<mo accent="true" stretchy="true">'
    "\N{OVERLINE}</mo></mover>",  # by the character that STIX stretches
    # Chromium 156 draws accents on top of their letter. As a plain script they clear it, and
    # one script level up gives them their size back.
    **{
        name: f'<mover accent="false">{{}}<mo stretchy="false" scriptlevel="-1">{mark}</mo></mover>'
        for name, mark in ACCENTS.items()
    },
}
_THIN = '<mspace width="0.167em"/>'
_TAGS = {  # by whether there is a lower and an upper script, and whether they are limits
    (True, False, False): "msub", (False, True, False): "msup", (True, True, False): "msubsup",
    (True, False, True): "munder", (False, True, True): "mover", (True, True, True): "munderover",
}  # fmt: skip


def to_mathml(latex: str, *, display: bool = False, wide: bool = False) -> str:
    """Return the ``math`` element of ``latex``, with the LaTeX as its annotation.

    Args:
        latex: Mathematics that :func:`symreln.document.tex.parse` accepts.
        display: Whether it stands on its own line.
        wide: Whether it is marked as one that a narrow screen may have to scroll.
    """
    return _math(_row(parse(latex)), latex, ' display="block"' * display + ' class="wide"' * wide)


def lines_to_mathml(lines: tuple[str, ...]) -> str:
    """Return a displayed ``math`` element of several lines, aligned at ``&``."""
    rows = [cells_of(parse(line, aligned=True)) for line in lines]
    if len(rows) == 1 and len(rows[0]) == 1:
        return to_mathml(lines[0], display=True)
    body = " \\\\\n".join(lines)
    annotation = rf"\begin{{aligned}}{body}\end{{aligned}}"
    return _math(_table(rows, "aligned"), annotation, ' display="block"')


def _math(content: str, latex: str, attributes: str) -> str:
    annotation = f'<annotation encoding="application/x-tex">{escape(latex, quote=False)}'
    return f"<math{attributes}><semantics>{content}{annotation}</annotation></semantics></math>"


@lru_cache(maxsize=4096)  # cells of matrices are few numbers, over and over
def _row(row: Row) -> str:
    """Return a row as one element."""
    drawn = [_scripted(atom, before) for before, atom in zip((None, *row), row, strict=False)]
    for place in reversed(range(len(row))):
        if row[place].name == r"\operatorname" or row[place].name[1:] in FUNCTIONS:
            _set_off(drawn, row, place)
    return drawn[0] if len(drawn) == len(row) == 1 else f"<mrow>{''.join(drawn)}</mrow>"


def _set_off(drawn: list[str], row: Row, place: int) -> None:
    """Set the name of a function off as TeX does: a thin space, except before a bracket."""
    if place + 1 < len(row):
        drawn[place] += "<mo>\N{FUNCTION APPLICATION}</mo>" + _THIN * _is_ordinary(row[place + 1])
    if place and _is_ordinary(row[place - 1], closing=True):
        drawn[place] = _THIN + drawn[place]


def _is_ordinary(atom: Atom, *, closing: bool = False) -> bool:
    """Whether an atom is a symbol, number or fraction, or a closing bracket; no operator."""
    if atom.name == "{":
        return bool(atom.inside[0]) and _is_ordinary(atom.inside[0][0])
    if atom.name in (")", "]", r"\}"):
        return closing
    return atom.name.isalnum() or atom.name in ORDINARY or bool(atom.inside and not atom.text)


def _scripted(atom: Atom, before: Atom | None) -> str:
    """Return an atom with its scripts: limits under and over sums, a prime beside its letter."""
    above, base = atom.above, _base(atom, before)
    if above and above[0].name == "'":
        primes = [part for part in above if part.name == "'"]
        mark = {1: "′", 2: "″", 3: "‴"}[len(primes)]
        base = f"<mrow>{base}<mi>{mark}</mi></mrow>"
        above = above[len(primes) :] or None
    if atom.below is None and above is None:
        return base
    limits = (atom.name in BIG and atom.name != r"\int") or atom.name[1:] in LIMITS
    tag = _TAGS[atom.below is not None, above is not None, limits]
    scripts = "".join(_script(row) for row in (atom.below, above) if row is not None)
    return f"<{tag}>{base}{scripts}</{tag}>"


def _script(row: Row) -> str:
    """Return a script; a lone operator in it (a transpose, a plus) is a symbol without space."""
    shown = _row(row)
    if len(row) == 1 and shown.startswith("<mo"):
        return f'<mi mathvariant="normal">{SYMBOLS.get(row[0].name, row[0].name)}</mi>'
    return shown


def _base(atom: Atom, before: Atom | None) -> str:
    name = atom.name
    if name in _ELEMENTS:
        return _ELEMENTS[name].format(*map(_row, atom.inside))
    if name == r"\sqrt":
        tag = "msqrt" if len(atom.inside) == 1 else "mroot"
        return f"<{tag}>{''.join(map(_row, atom.inside))}</{tag}>"
    if name in _VARIANTS:
        return "".join(_symbol(each.name, variant=name) for each in atom.inside[0])
    if name in WORDS:
        return _words(name, atom.text[0])
    if atom.text:
        return _fenced(atom)
    if atom.cells:
        table = _table(atom.cells, name)
        return _bracketed("(", table, ")") if name == "pmatrix" else table
    return _symbol(name, sign=before is not None and before.name in _BEFORE_SIGNS)


def _words(command: str, words: str) -> str:
    if command == r"\text":
        shown = escape(text_from_math(words), quote=False).replace(" ", "\N{NO-BREAK SPACE}")
        return f"<mtext>{shown}</mtext>"
    name = words.replace(r"\,", "\N{NO-BREAK SPACE}").replace(" ", "")
    return f"<mi{_NORMAL * (len(words) == 1)}>{name}</mi>"


def _fenced(atom: Atom) -> str:
    """Return what stands between brackets; those around a small matrix grow with it."""
    (inside,), size = atom.inside, _SIZES.get(atom.name)
    small = [each.name for each in inside] == ["smallmatrix"]
    fixed = f' minsize="{size}" maxsize="{size}"' if size and not small else ""
    before, after = ("" if mark == "." else SYMBOLS.get(mark, mark) for mark in atom.text)
    return _bracketed(before, _row(inside), after, fixed)


def _bracketed(before: str, inside: str, after: str, fixed: str = "") -> str:
    marks = ((before, "prefix"), (after, "postfix"))
    left, right = (
        f'<mo fence="true" form="{form}" stretchy="true"{fixed}>{escape(mark)}</mo>'
        for mark, form in marks
    )
    return f"<mrow>{left}{inside}{right}</mrow>"


def _table(rows: Sequence[Sequence[Row]], name: str) -> str:
    style = ' displaystyle="true"' if name == "aligned" else ""
    body = ""
    for row in rows:
        cells = zip(cycle(columns(name)), row, strict=False)
        drawn = (f'<mtd class="{letter}">{_row(cell)}</mtd>' for letter, cell in cells)
        body += f"<mtr>{''.join(drawn)}</mtr>"
    return f'<mtable class="{name}"{style}>{body}</mtable>'


def _symbol(name: str, *, sign: bool = False, variant: str = "") -> str:
    """Return a letter, digit or operator; ``sign``: where a minus is no operation."""
    shown = SYMBOLS.get(name, name)
    if name in SPACES:
        return f'<mspace width="{SPACES[name]:g}em"/>'
    if name[1:] in FUNCTIONS:
        limits = f' movablelimits="true"{_TIGHT}'
        return f"<mo{limits}>{name[1:]}</mo>" if name[1:] in LIMITS else f"<mi>{name[1:]}</mi>"
    if variant:
        shown = "".join(_in_variant(character, _VARIANTS[variant]) for character in shown)
    if name[0].isdigit():
        return f"<mn>{shown}</mn>"
    if name.isalpha() or name in ORDINARY:
        return f"<mi{_NORMAL * (shown in _UPRIGHT)}>{escape(shown)}</mi>"
    attributes = _OPERATORS.get(name, "") + ' form="prefix"' * (sign and name in _SIGNS)
    return f"<mo{attributes}>{escape(shown)}</mo>"


def _in_variant(character: str, style: str) -> str:
    """Return a letter in bold, double-struck or script, as a character of its own."""
    name = re.sub("LATIN |GREEK |LETTER ", "", unicodedata.name(character, ""))
    for styled in (f"MATHEMATICAL {style} {name}", f"{style} {name}"):
        with suppress(KeyError):
            return unicodedata.lookup(styled)
    return character
