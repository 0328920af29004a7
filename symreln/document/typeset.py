"""Sentences of the program: templates with mathematics, and plain ones set as a paper would.

A template (:func:`say`) is what a document alone says. A plain sentence (:func:`typeset`) is said
everywhere: the terminal and derivation.json have ``d_eff`` and ``c >= 0``, a page mathematics.
"""

from __future__ import annotations

import re

from symreln.document.document_model import (
    Citation,
    Code,
    Content,
    Inline,
    Math,
    Paragraph,
    Reference,
    Strong,
    inlines,
)
from symreln.document.escape import GREEK
from symreln.document.symbols import symbol_latex

_NUMBER = r"-?\d+(?:/\d+)?"
_NAME = r"(?<![\w^])[^\W\d]\w*"
_RELATIONS = {">": ">", ">=": r"\geq", "<": "<", "<=": r"\leq"}
#: How sentences spell a formula, and the formula; longer spellings first.
_FORMULAS = {
    "E_1^T E_1 v = r² v": r"E_1^{\top} E_1 v = r^{2} v",
    "D^T Sigma^yx v = (gamma r s - s²) v": r"D^{\top} \Sigma^{yx} v = (\gamma r s - s^{2}) v",
    "Sigma^yx^T Sigma^yx": r"(\Sigma^{yx})^{\top} \Sigma^{yx}",
    "Sigma^yx": r"\Sigma^{yx}",
    "Sigma^x": r"\Sigma^{x}",
    "s²/(2 d_eff)": r"s^{2}/(2 d_{\mathrm{eff}})",
    "d_eff": r"d_{\mathrm{eff}}",
    "pi_0": r"\pi_{0}",
    "a² = b²": "a^{2} = b^{2}",
    "−2λπ": r"- 2 \lambda \pi",
    "s²/d": "s^{2}/d",
    "s/d": "s/d",
    "s²": "s^{2}",
}
_GREEK = "|".join(sorted(set(GREEK.values())))
# A correlation of one bundle or of two, or the overlap of two bundles' outputs.
_MAPS = {"Sigma^yx": r"\Sigma^{yx}(%s)", "Sigma^x": r"\Sigma^{x}(%s)", "O": "O_{%s}"}
# What stands in quotes is a name of the user's: nothing in it is read as mathematics.
_PARTS = re.compile(
    r"(?<!\w)'(?P<quoted>[^']*)'(?!\w)|‘(?P<set>[^’]*)’"
    rf"|(?P<inside>{_NAME}) >= (?P<low>{_NUMBER}) and (?P=inside) <= (?P<high>{_NUMBER})"
    rf"|(?P<name>{_NAME}) (?P<relation>[<>]=?) (?P<bound>{_NUMBER})"
    rf"|(?<!\w)(?P<map>{'|'.join(map(re.escape, _MAPS))})\((?P<of>\d+(?:,\d+)?)\)(?P<turned>\^T)?"
    rf"|(?<![\w'’‘])(?P<formula>{'|'.join(map(re.escape, _FORMULAS))}|pi_\d+_\d+)(?![\w'’])"
    rf"|(?<![\w'’])(?P<equal>[^\W\d_]|{_GREEK}) = (?P<value>{_NUMBER})(?!\w|[./]\d)"
    # Singular values, eigenvalues, and numbers that a task or a parameter calls by Greek names.
    rf"|(?<![\w'’.-])(?<!\d )(?P<letter>[sdr]|{_GREEK})(?![\w’-])"
)
# Marks of a template.
_MARKS = re.compile(
    r"\$(?P<math>[^$]+)\$|\{(?P<slot>\w+)\}|\[@(?P<cited>\w+)\]|\[#(?P<label>[\w:]+)\]"
    r"|`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*"
)


def say(template: str, **slots: Content) -> Paragraph:
    r"""Return a paragraph of a template: see :func:`phrase`."""
    return Paragraph(phrase(template, **slots))


def phrase(template: str, **slots: Content) -> tuple[Inline, ...]:
    r"""Return a template as content.

    Args:
        template: The program's own text, with ``$mathematics$``, ``{slot}``, ``[@citation]``,
            ``[#label]`` of a reference, ```program text``` and ``**important words**``.
        slots: What stands in them. Text of users comes in by a slot alone: it is not read.

    Example:
        >>> phrase("from $t = 0$ of {name}", name="a $ sign")
        ('from ', Math(latex='t = 0'), ' of ', 'a $ sign')
    """
    content: list[Inline] = []
    end = 0
    for match in _MARKS.finditer(template):
        content += inlines(template[end : match.start()])
        match match.lastgroup, match[match.lastgroup or 0]:
            case "slot", name:
                content += inlines(slots[name])
            case kind, text:
                content.append(_MARKED[kind or ""](text))
        end = match.end()
    return (*content, *inlines(template[end:]))


_MARKED = {"math": Math, "cited": Citation, "label": Reference, "code": Code, "strong": Strong}


def typeset(text: str) -> tuple[Inline, ...]:
    r"""Return a sentence of the program as content.

    Example:
        >>> typeset("the verdict of 'off_1' with g >= 0 and g <= 2")
        ('the verdict of ', '‘off_1’', ' with ', Math(latex='0 \\leq g \\leq 2'))
    """
    content: list[Inline] = []
    end = 0
    for match in _PARTS.finditer(text):
        content += [text[end : match.start()], _part(match)]
        end = match.end()
    return tuple(part for part in (*content, text[end:]) if part)


def _part(match: re.Match[str]) -> Inline:
    if match.lastgroup in ("quoted", "set"):
        return f"‘{match[match.lastgroup]}’"
    if match["equal"]:
        return Math(f"{symbol_latex(match['equal'])} = {match['value']}")
    if match["letter"]:
        return Math(symbol_latex(match["letter"]))
    if match["inside"]:
        return Math(rf"{match['low']} \leq {symbol_latex(match['inside'])} \leq {match['high']}")
    if match["name"]:
        relation = _RELATIONS[match["relation"]]
        return Math(f"{symbol_latex(match['name'])} {relation} {match['bound']}")
    if match["map"]:
        turned = r"^{\top}" if match["turned"] else ""
        return Math(_MAPS[match["map"]] % match["of"] + turned)
    formula = match["formula"]
    return Math(_FORMULAS.get(formula) or symbol_latex(formula))
