"""What is put right in latex2mathml's elements, so that a browser draws what TeX prints."""

from __future__ import annotations

import unicodedata
from xml.etree.ElementTree import Element

from symreln.document.tex import FUNCTIONS

_CAPITAL_GREEK = frozenset("ΓΔΘΛΞΠΣΥΦΨΩ")
_UPRIGHT = _CAPITAL_GREEK | frozenset("∇∞∅")
_RELATIONS = frozenset("⪰⪯≻≺∝∥⟂↦⟶⟹⟺⇔")
_FUNCTION_NAMES = frozenset(FUNCTIONS.split())
_LIMIT_NAMES = frozenset(["max", "min", "sup", "inf", "lim"])
_BIG = frozenset("∑∏⨁")
_LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
_VARIANTS = {
    "bold": "BOLD",
    "bold-italic": "BOLD ITALIC",
    "double-struck": "DOUBLE-STRUCK",
    "script": "SCRIPT",
}
# The glyphs that STIX (and the MathML operator dictionary) place as accents.
_ACCENTS = {"^": "\N{MODIFIER LETTER CIRCUMFLEX ACCENT}", "~": "\N{SMALL TILDE}"}
_CLOSING = (")", "]", "}")
_BARS = frozenset("|\N{DOUBLE VERTICAL LINE}")


def mend(element: Element, held: dict[str, Element]) -> None:
    """Mend ``element`` and everything in it, in place.

    Args:
        element: Output of latex2mathml with its entities decoded.
        held: The element that each private-use character stands for.
    """
    for index, child in enumerate(element):
        if child.text in held and len(child) == 0:
            element[index] = held[child.text]
        else:
            mend(child, held)
            _mend_token(child)
            _mend_limits(child)
            _mend_accent(child)
    _mend_scripts(element)
    _space_functions(element)


def _mend_token(element: Element) -> None:
    text = element.text or ""
    variant = element.attrib.pop("mathvariant", "")
    if variant in _VARIANTS:
        element.text = "".join(_in_variant(c, variant) for c in text)
    elif (element.tag == "mi" and text in _UPRIGHT) or (variant == "normal" and len(text) == 1):
        element.set("mathvariant", "normal")
    if element.tag == "mi" and text in _RELATIONS:
        element.tag = "mo"
        element.attrib.pop("mathvariant", None)
    if element.tag == "mo":
        _mend_operator(element)


def _in_variant(character: str, variant: str) -> str:
    r"""Return a letter in bold, bold italic, double-struck or script, as a character of its own.

    TeX's ``\boldsymbol`` leaves capital Greek upright.
    """
    style = "BOLD" if character in _CAPITAL_GREEK else _VARIANTS[variant]
    name = unicodedata.name(character, "").replace("LATIN ", "").replace("GREEK ", "")
    name = name.replace("LETTER ", "")
    for styled in (f"MATHEMATICAL {style} {name}", f"{style} {name}"):
        try:
            return unicodedata.lookup(styled)
        except KeyError:
            continue
    return character if style != "BOLD ITALIC" else _in_variant(character, "bold")


def _mend_operator(element: Element) -> None:
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
