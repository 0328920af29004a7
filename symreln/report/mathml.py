r"""LaTeX mathematics as MathML Core, the part of MathML that browsers draw.

latex2mathml does the parsing. What it writes for MathML 3 and browsers dropped (``mathvariant``,
``columnalign``), and where its reading differs from TeX's, is mended here. Words and environments
are taken out before it runs, each leaving one private-use character in its place, and put back as
elements of our own: it splits ``\mathrm{rank}`` into letters.

What is put right in latex2mathml's elements, so that a browser draws what TeX prints.
"""

from __future__ import annotations

import html
import re
import unicodedata
from copy import deepcopy
from functools import lru_cache
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

from symreln.document.escape import text_from_math
from symreln.document.tex import (
    FUNCTIONS,
    WORDS,
    columns,
    environment,
    group,
    rows_and_cells,
    tokens,
)

_PRIVATE = 0xE000
# latex2mathml reads "2pt" as a length: an empty group keeps a coefficient from its letters.
_LENGTH = re.compile(r"(\d)(?=\s*(?:in|mm|cm|pt|em|ex|pc|bp|dd|cc|sp|mu))")


def to_mathml(latex: str, *, display: bool = False, wide: bool = False) -> Element:
    """Return the ``math`` element of ``latex``, with the LaTeX as its annotation.

    Args:
        latex: Mathematics that :func:`symreln.document.tex.check_math` accepts.
        display: Whether it stands on its own line.
        wide: Whether it is marked as one that a narrow screen may have to scroll.
    """
    math = _math(_row(latex, display), latex, display)
    if wide:
        math.set("class", "wide")
    return math


def lines_to_mathml(lines: tuple[str, ...]) -> Element:
    """Return a displayed ``math`` element of several lines, aligned at ``&``."""
    rows = [rows_and_cells(tokens(line))[0] for line in lines]
    if len(rows) == 1 and len(rows[0]) == 1:
        return to_mathml(lines[0], display=True)
    body = " \\\\\n".join(lines)
    annotation = rf"\begin{{aligned}}{body}\end{{aligned}}"
    return _math(_table(rows, "aligned"), annotation, True)


def _math(content: Element, annotation: str, display: bool) -> Element:
    math = Element("math", {"display": "block"} if display else {})
    semantics = SubElement(math, "semantics")
    semantics.append(content)
    SubElement(semantics, "annotation", encoding="application/x-tex").text = annotation
    return math


def _row(latex: str, display: bool) -> Element:
    held: dict[str, Element] = {}
    skeleton = _LENGTH.sub(r"\1{}", _hold(tokens(latex), held, display))
    if not skeleton.strip():
        return Element("mrow")
    row = deepcopy(_converted(skeleton, display))
    _mend(row, held)
    return row


@lru_cache(maxsize=1000)  # cells of matrices are few numbers, over and over
def _converted(skeleton: str, display: bool) -> Element:
    from latex2mathml.converter import convert_to_element

    math = convert_to_element(skeleton, display="block" if display else "inline")
    for element in math.iter():
        element.text = html.unescape(element.text) if element.text else None
    return math[0]


def _hold(parts: list[str], held: dict[str, Element], display: bool) -> str:
    """Return LaTeX with words and environments replaced by private characters, filling ``held``."""
    kept: list[str] = []
    index = 0
    while index < len(parts):
        if parts[index] in WORDS:
            words, after = group(parts, index + 1)
            kept.append(_place(held, _words(parts[index], words)))
        elif parts[index] == r"\begin":
            found, after = environment(parts, index)
            rows = rows_and_cells(found.contents)
            kept.append(_place(held, _fenced(_table(rows, found.name, display), found.name)))
        else:
            kept.append(parts[index])
            after = index + 1
        index = after
    return "".join(kept)


def _place(held: dict[str, Element], element: Element) -> str:
    character = chr(_PRIVATE + len(held))
    held[character] = element
    return character


def _words(command: str, words: str) -> Element:
    if command == r"\text":
        element = Element("mtext")
        element.text = text_from_math(words).replace(" ", "\N{NO-BREAK SPACE}")
        return element
    element = Element("mi", {"mathvariant": "normal"} if len(words) == 1 else {})
    if command == r"\operatorname":
        element.set("class", "operator")
    element.text = words.replace(r"\,", "\N{NO-BREAK SPACE}").replace(" ", "")
    return element


def _fenced(table: Element, name: str) -> Element:
    if name != "pmatrix":
        return table
    row = Element("mrow")
    SubElement(row, "mo", fence="true", form="prefix", stretchy="true").text = "("
    row.append(table)
    SubElement(row, "mo", fence="true", form="postfix", stretchy="true").text = ")"
    return row


def _table(rows: list[list[str]], name: str, display: bool = True) -> Element:
    table = Element("mtable", {"class": name})
    if name == "aligned":
        table.set("displaystyle", "true")
    letters = columns(name)
    for row in rows:
        element = SubElement(table, "mtr")
        for column, cell in enumerate(row):
            entry = SubElement(element, "mtd", {"class": letters[column % len(letters)]})
            entry.extend(_row(cell, display and name == "aligned"))
    return table


def to_markup(element: Element) -> str:
    """Return ``element`` as text for an HTML page (and well-formed XML)."""
    return tostring(element, encoding="unicode")


_CAPITAL_GREEK = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ")
_UPRIGHT = _CAPITAL_GREEK | frozenset("∇∞∅")
_RELATIONS = frozenset("⪰⪯≻≺∝∥⟂↦⟶⟹⟺⇔")
_FUNCTION_NAMES = frozenset(FUNCTIONS.split())
_LIMIT_NAMES = frozenset(["max", "min", "sup", "inf", "lim"])
_BIG = frozenset("∑∏⨁")
_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_VARIANTS = {
    "bold": "BOLD",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
}
# The glyphs that STIX (and the MathML operator dictionary) place as accents.
_ACCENTS = {"^": "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}", "~": "\N{SMALL TILDE}"}
_CLOSING = (")", "]", "}")
_PRIMES = frozenset("\N{PRIME}\N{DOUBLE PRIME}\N{TRIPLE PRIME}")
_BARS = frozenset("|\N{DOUBLE VERTICAL LINE}")
# Delimiters that latex2mathml leaves as commands after \Bigl and its like.
_DELIMITERS = {
    r"\|": "\N{DOUBLE VERTICAL LINE}",
    r"\{": "{",
    r"\}": "}",
    r"\langle": "\N{MATHEMATICAL LEFT ANGLE BRACKET}",
    r"\rangle": "\N{MATHEMATICAL RIGHT ANGLE BRACKET}",
}
# After these, and first in a row, a minus is a sign and not an operation.
_BEFORE_SIGNS = frozenset("=<>≤≥≈≠≡∝→∈,([{") | _RELATIONS


def _mend(element: Element, held: dict[str, Element]) -> None:
    """Mend ``element`` and everything in it, in place.

    Args:
        element: Output of latex2mathml with its entities decoded.
        held: The element that each private-use character stands for.
    """
    for index, child in enumerate(element):
        if child.text in held and len(child) == 0:
            element[index] = held[child.text]
        else:
            _mend(child, held)
            _mend_token(child)
            _mend_limits(child)
            _mend_accent(child)
    _mend_primes(element)
    _mend_scripts(element)
    _free_fences(element)
    _mend_fences(element)
    _mend_signs(element)
    _space_functions(element)


def _mend_token(element: Element) -> None:
    text = element.text or ""
    variant = element.attrib.pop("mathvariant", "")
    if variant in _VARIANTS:
        element.text = "".join(_in_variant(c, variant) for c in text)
    elif (element.tag == "mi" and text in _UPRIGHT) or (variant == "normal" and len(text) == 1):
        element.set("mathvariant", "normal")
    if element.tag == "mo" and text == "∂":
        element.tag = "mi"  # a letter to TeX, without space
    if element.tag == "mi" and text in _RELATIONS:
        element.tag = "mo"
        element.attrib.pop("mathvariant", None)
    if element.tag == "mo":
        _mend_operator(element)


def _in_variant(character: str, variant: str) -> str:
    """Return a letter in bold, double-struck or script, as a character of its own."""
    style = _VARIANTS[variant]
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("GREEK ", "")
    name = name.replace("LETTER ", "")
    for styled in (f"MATHEMATICAL {style} {name}", f"{style} {name}"):
        try:
            return unicodedata.lookup(styled)
        except KeyError:
            continue
    return character


def _mend_operator(element: Element) -> None:
    element.text = _DELIMITERS.get(element.text or "", element.text)
    if element.text in _BARS and element.get("fence") != "true":
        element.set("stretchy", "false")
        _set_space(element)
    if element.text == "/":
        _set_space(element)  # an ordinary symbol to TeX
    if element.text in _LIMIT_NAMES:
        element.set("movablelimits", "true")
        _set_space(element)
    elif element.text in _FUNCTION_NAMES:
        element.tag = "mi"


def _set_space(element: Element) -> None:
    element.set("lspace", "0")
    element.set("rspace", "0")


def _mend_limits(element: Element) -> None:
    """Put limits under and over sums; the browser moves them beside the sign in running text."""
    if element.tag in _LIMITS and len(element):
        base = element[0]
        if base.tag == "mo" and (base.text in _BIG or base.get("movablelimits") == "true"):
            element.tag = _LIMITS[element.tag]


def _mend_accent(element: Element) -> None:
    if element.tag != "mover" or len(element) != 2 or element[1].tag != "mo":
        return
    mark = element[1]
    text = mark.text or ""
    if text == "\N{HORIZONTAL BAR}":
        mark.text = "\N{OVERLINE}"  # the one that STIX stretches
        mark.set("stretchy", "true")
        element.set("accent", "false")
    elif text in _ACCENTS or (len(text) == 1 and unicodedata.category(text) == "Sk"):
        # Chromium 156 draws accents on top of their letter. As a plain script they clear it, and
        # one script level up gives them their size back.
        mark.text = _ACCENTS.get(text, text)
        mark.set("stretchy", "false")
        mark.set("scriptlevel", "-1")
        element.set("accent", "false")


def _mend_scripts(element: Element) -> None:
    """Make a lone operator in a script (a transpose, a plus) a symbol, so that it has no space."""
    if element.tag not in ("msub", "msup", "msubsup"):
        return
    for script in element[1:]:
        lone = script[0] if script.tag == "mrow" and len(script) == 1 else script
        if lone.tag == "mo":
            lone.tag = "mi"
            lone.attrib.clear()
            lone.set("mathvariant", "normal")


def _mend_primes(element: Element) -> None:
    """Put a prime beside its letter: as a script it would be small and high."""
    if element.tag not in ("msup", "msubsup"):
        return
    letter, *below, mark = element
    prime = mark[0] if mark.tag == "mrow" and len(mark) == 1 else mark
    if not prime.text or not set(prime.text) <= _PRIMES:
        return
    row = element
    if below:
        row = Element("mrow")
        element[:] = [row, *below]
        element.tag = "msub"
    row[:] = [letter, prime]
    if not below:
        row.tag = "mrow"


def _free_fences(row: Element) -> None:
    """Let sized brackets around a small matrix grow with it: TeX has just the size."""
    for before, matrix, after in zip(row, row[1:], row[2:], strict=False):
        if matrix.get("class") == "smallmatrix" and _is_sized(before) and _is_sized(after):
            for fence in (before, after):
                del fence.attrib["minsize"], fence.attrib["maxsize"]


def _mend_fences(row: Element) -> None:
    """Give a script after a sized bracket all that is in brackets: alone the last does not grow."""
    opened: list[int] = []
    for child in list(row):
        at = list(row).index(child)
        if _is_sized(child) and not opened:
            opened.append(at)
        elif _is_sized(child):
            opened.clear()
        elif opened and child.tag in ("msub", "msup", "msubsup") and _is_sized(child[0]):
            inside = Element("mrow")
            inside.extend([*list(row)[opened.pop() : at], child[0]])
            for part in list(inside)[:-1]:
                row.remove(part)
            child[0] = inside


def _is_sized(element: Element) -> bool:
    return element.tag == "mo" and "minsize" in element.attrib


def _mend_signs(element: Element) -> None:
    """Give a sign after a relation, a comma or an opening bracket the space of a sign."""
    for before, sign in pairwise(element):
        signs = sign.tag == "mo" and sign.text in ("−", "±", "∓")
        if signs and before.tag == "mo" and before.text in _BEFORE_SIGNS:
            sign.set("form", "prefix")


def _space_functions(row: Element) -> None:
    """Set function names off as TeX does: a thin space, except before a bracket."""
    children = list(row)
    if row.tag not in ("mrow", "mtd", "mstyle", "math") or not any(map(_is_function, children)):
        return
    for child in children:
        row.remove(child)
    for index, child in enumerate(children):
        before = children[index - 1] if index else None
        after = children[index + 1] if index + 1 < len(children) else None
        if _is_function(child) and before is not None and _is_ordinary(before):
            row.append(Element("mspace", width="0.167em"))
        row.append(child)
        if _is_function(child) and after is not None:
            application = Element("mo")
            application.text = "\N{FUNCTION APPLICATION}"
            row.append(application)
            if _is_ordinary(after):
                row.append(Element("mspace", width="0.167em"))


def _is_function(element: Element) -> bool:
    base = element[0] if element.tag in ("msub", "msup", "msubsup", "munder") else element
    named = base.tag in ("mi", "mo") and base.text in _FUNCTION_NAMES
    return named or base.get("class") == "operator"


def _is_ordinary(element: Element) -> bool:
    """Whether ``element`` is a symbol, number or closing bracket, not an operator or a space."""
    if element.tag == "mrow":
        return len(element) > 0 and _is_ordinary(element[0])
    if element.tag in ("msub", "msup", "msubsup"):
        return _is_ordinary(element[0])
    symbols = ("mi", "mn", "mfrac", "msqrt", "mroot", "mover", "munder", "mstyle")
    return element.tag in symbols or element.text in _CLOSING
