r"""LaTeX mathematics as MathML Core, the part of MathML that browsers draw.

latex2mathml does the parsing. What it writes for MathML 3 and browsers dropped (``mathvariant``,
``columnalign``), and where its reading differs from TeX's, is mended here. Words and environments
are taken out before it runs, each leaving one private-use character in its place, and put back as
elements of our own: it splits ``\mathrm{rank}`` into letters and misplaces the rules of an array.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from symreln.document.escape import text_from_math
from symreln.document.tex import (
    WORDS,
    Environment,
    environment,
    group,
    rows_and_cells,
    tokens,
)
from symreln.report.mathml_mend import mend

_PRIVATE = 0xE000
# latex2mathml reads "2pt" as a length: an empty group keeps a coefficient from its letters.
_LENGTH = re.compile(r"(\d)(?=\s*(?:in|mm|cm|pt|em|ex|pc|bp|dd|cc|sp|mu))")
_FENCES = {
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "vmatrix": ("|", "|"),
    "cases": ("{", ""),
}


def to_mathml(latex: str, *, display: bool = False) -> Element:
    """Return the ``math`` element of ``latex``, with the LaTeX as its annotation.

    Args:
        latex: Mathematics that :func:`symreln.document.tex.check_math` accepts.
        display: Whether it stands on its own line.
    """
    return _math(_row(latex, display), latex, display)


def lines_to_mathml(lines: tuple[str, ...]) -> Element:
    """Return a displayed ``math`` element of several lines, aligned at ``&``."""
    rows = [rows_and_cells(tokens(line))[0] for line in lines]
    if len(rows) == 1 and len(rows[0]) == 1:
        return to_mathml(lines[0], display=True)
    body = " \\\\\n".join(lines)
    annotation = rf"\begin{{aligned}}{body}\end{{aligned}}"
    return _math(_table(rows, Environment("aligned", "", [])), annotation, True)


def _math(content: Element, annotation: str, display: bool) -> Element:
    math = Element("math", {"display": "block"} if display else {})
    semantics = SubElement(math, "semantics")
    semantics.append(content)
    SubElement(semantics, "annotation", encoding="application/x-tex").text = annotation
    return math


def _row(latex: str, display: bool) -> Element:
    from latex2mathml.converter import convert_to_element

    held: dict[str, Element] = {}
    skeleton = _LENGTH.sub(r"\1{}", _hold(tokens(latex), held, display))
    if not skeleton.strip():
        return Element("mrow")
    math = convert_to_element(skeleton, display="block" if display else "inline")
    for element in math.iter():
        element.text = html.unescape(element.text) if element.text else None
    row = math[0]
    mend(row, held)
    return row


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
            kept.append(_place(held, _fenced(_table(rows, found, display), found.name)))
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
    if command == r"\operatorname*":
        element = Element("mo", movablelimits="true", lspace="0", rspace="0.167em")
    else:
        element = Element("mi", {"mathvariant": "normal"} if len(words) == 1 else {})
        if command == r"\operatorname":
            element.set("class", "operator")
    element.text = words.replace(r"\,", "\N{NO-BREAK SPACE}").replace(" ", "")
    return element


def _fenced(table: Element, name: str) -> Element:
    if name not in _FENCES:
        return table
    opening, closing = _FENCES[name]
    row = Element("mrow")
    for character, form in ((opening, "prefix"), (closing, "postfix")):
        if character:
            fence = SubElement(row, "mo", fence="true", form=form, stretchy="true")
            fence.text = character
        if form == "prefix":
            row.append(table)
    return row


def _table(rows: list[list[str]], found: Environment, display: bool = True) -> Element:
    table = Element("mtable", {"class": found.name})
    if found.name == "aligned":
        table.set("displaystyle", "true")
    if found.name == "smallmatrix":
        table.set("scriptlevel", "1")
    rows, ruled = _rules(rows)
    letters, bars = _columns(found)
    for number, row in enumerate(rows):
        element = SubElement(table, "mtr")
        for column, cell in enumerate(row):
            marks = [letters[column % len(letters)]]
            marks += ["rule-above"] * (number in ruled) + ["rule-left"] * (column in bars)
            entry = SubElement(element, "mtd", {"class": " ".join(marks)})
            entry.extend(_row(cell, display and found.name == "aligned"))
    return table


def _rules(rows: list[list[str]]) -> tuple[list[list[str]], set[int]]:
    r"""Take ``\hline`` out of the rows; return them and the numbers of the rows below a rule."""
    ruled = {n for n, row in enumerate(rows) if row[0].startswith(r"\hline")}
    return [[row[0].replace(r"\hline", "").strip(), *row[1:]] for row in rows], ruled


def _columns(found: Environment) -> tuple[str, set[int]]:
    """Return the alignment letters of an environment and the columns with a rule to their left."""
    if found.name == "array":
        letters = found.columns.replace("|", "")
        before = found.columns.split("|")[:-1]
        bars = {sum(map(len, before[: n + 1])) for n in range(len(before))} - {0, len(letters)}
        return letters, bars
    return {"cases": "l", "aligned": "rl"}.get(found.name, "c"), set()


def to_markup(element: Element) -> str:
    """Return ``element`` as text for an HTML page (and well-formed XML)."""
    return tostring(element, encoding="unicode")


def drawn_characters(element: Element) -> Iterator[str]:
    """Yield every character a browser draws for ``element``, italic letters as what they become.

    A one-letter ``mi`` is drawn with the mathematical italic of its letter (MathML Core 2.1.5.1).
    """
    for part in element.iter():
        if part.tag == "annotation" or not part.text:
            continue
        yield from part.text
        if part.tag == "mi" and len(part.text) == 1 and part.get("mathvariant") != "normal":
            yield italic(part.text)


def italic(character: str) -> str:
    """Return the mathematical italic of a letter, or the character itself where there is none."""
    if character == "h":
        return "\N{PLANCK CONSTANT}"
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("GREEK ", "")
    name = name.replace("LETTER ", "").replace("LUNATE EPSILON", "EPSILON")
    try:
        return unicodedata.lookup(f"MATHEMATICAL ITALIC {name}")
    except KeyError:
        return character
