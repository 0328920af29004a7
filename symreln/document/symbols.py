"""How names of symbols and parameters are printed."""

from __future__ import annotations

import re

from symreln.document.escape import GREEK, text_in_math
from symreln.specs.letters import MARK, pieces

# The papers' notation for the quantities that every derivation has.
_NOTATION = {
    "strength": r"\pi_{\alpha}",
    "strength0": r"\pi_{0}",
    "pitilde_0": r"\tilde{\pi}_{0}",
    "imbalance": r"\delta",
    "infty": r"\infty",
}
_GREEK_NAMES = frozenset(GREEK.values()) | {"varepsilon", "varphi"}
# A strength, or the start of all, as sentences and keys spell it; names of users stand in quotes.
_STRENGTH = re.compile(r"(?<![\w'])pi_(\d+|p(?=_\d))(?:_(\d+))?(?![\w'])")
_SUBSCRIPTS = str.maketrans("0123456789p", "₀₁₂₃₄₅₆₇₈₉ₚ")


def symbol_latex(name: str) -> str:
    r"""Return the LaTeX of a symbol's name.

    Greek names become letters, other words of several letters stand upright, and what follows an
    underscore, or a number at the end, becomes the index. An underscore at the end is a bar: the
    letter is a parameter's (:mod:`symreln.specs.letters`).

    Example:
        >>> symbol_latex("Delta"), symbol_latex("context_scale"), symbol_latex("c1")
        ('\\Delta', '\\mathrm{context}_{\\mathrm{scale}}', 'c_{1}')
        >>> symbol_latex("pi_0_")
        '\\bar{\\pi}_{0}'
    """
    if name in _NOTATION:
        return _NOTATION[name]
    parts = [_piece(part) for part in pieces(name)]
    if not parts or not re.fullmatch(r"[^\W\d][\w]*", name):
        return text_in_math(name)
    head, *index = parts
    for _ in range(len(name) - len(name.rstrip(MARK))):
        head = rf"\bar{{{head}}}"
    return f"{head}_{{{','.join(index)}}}" if index else head


def strengths_in_text(sentence: str) -> str:
    """Return a sentence of the program with its strengths as a terminal shows them.

    Example:
        >>> strengths_in_text("half-time of pi_2_13, from pi_0")
        'half-time of π₂,₁₃, from π₀'
    """
    return _STRENGTH.sub(_subscripted, sentence)


def _subscripted(match: re.Match[str]) -> str:
    index = ",".join(part for part in match.groups() if part)
    return "π" + index.translate(_SUBSCRIPTS)


def _piece(word: str) -> str:
    if GREEK.get(word, word) in _GREEK_NAMES:
        return "\\" + GREEK.get(word, word)
    if not word.isascii():
        return text_in_math(word)
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"
