"""Sentences that the program states in plain characters, set with mathematics and quotes.

The terminal and derivation.json say ``d_eff`` and ``c >= 0``; a page says it as a paper would.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symreln.document.model import Math
from symreln.document.symbols import symbol_latex

if TYPE_CHECKING:
    from symreln.document.inlines import Inline

_NUMBER = r"-?\d+(?:/\d+)?"
_NAME = r"(?<![\w^])[^\W\d]\w*"
_RELATIONS = {">": ">", ">=": r"\geq", "<": "<", "<=": r"\leq"}
#: How sentences spell a formula, and the formula; longer spellings first.
_FORMULAS = {
    "Sigma^yx^T Sigma^yx": r"(\Sigma^{yx})^{\top} \Sigma^{yx}",
    "Sigma^yx": r"\Sigma^{yx}",
    "Sigma^x": r"\Sigma^{x}",
    "s²/(2 d_eff)": r"s^{2}/(2 d_{\mathrm{eff}})",
    "d_eff": r"d_{\mathrm{eff}}",
    "pi_0": r"\pi_{0}",
    "t = 0": "t = 0",
    "s²": "s^{2}",
}
# What stands in quotes is a name of the user's: nothing in it is read as mathematics.
_PARTS = re.compile(
    r"(?<!\w)'(?P<quoted>[^']*)'(?!\w)"
    rf"|(?P<inside>{_NAME}) >= (?P<low>{_NUMBER}) and (?P=inside) <= (?P<high>{_NUMBER})"
    rf"|(?P<name>{_NAME}) (?P<relation>[<>]=?) (?P<bound>{_NUMBER})"
    rf"|(?<!\w)(?P<formula>{'|'.join(map(re.escape, _FORMULAS))})(?!\w)"
)


def typeset(text: str) -> tuple[Inline | str, ...]:
    r"""Return a sentence of the program as content.

    Example:
        >>> typeset("the verdict of 'off_1' with g >= 0 and g <= 2")
        ('the verdict of ', '‘off_1’', ' with ', Math(latex='0 \\leq g \\leq 2'))
    """
    content: list[Inline | str] = []
    end = 0
    for match in _PARTS.finditer(text):
        content += [text[end : match.start()], _part(match)]
        end = match.end()
    return tuple(part for part in (*content, text[end:]) if part)


def _part(match: re.Match[str]) -> Inline | str:
    if match["quoted"] is not None:
        return f"‘{match['quoted']}’"
    if match["inside"]:
        return Math(rf"{match['low']} \leq {symbol_latex(match['inside'])} \leq {match['high']}")
    if match["name"]:
        relation = _RELATIONS[match["relation"]]
        return Math(f"{symbol_latex(match['name'])} {relation} {match['bound']}")
    return Math(_FORMULAS[match["formula"]])
