r"""Text made safe for LaTeX and HTML: whatever it contains, it prints as itself.

pdfTeX stops at characters its fonts lack, so every character is either in the T1 encoding, mapped
to a command, or printed as its code point (``[U+4E2D]``): any label compiles.
"""

from __future__ import annotations

import html
import re
import unicodedata

from symreln.errors import JOINERS

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_WHITESPACE = frozenset("\t\n\r\x0b\x0c\x85\u2028\u2029")
_REFUSED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon",
    "ζ": "zeta", "η": "eta", "θ": "theta", "ϑ": "vartheta", "ι": "iota", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho",
    "σ": "sigma", "ς": "varsigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "ϕ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta",
    "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
# Greek capitals (and omicron) that TeX draws with the Latin letter of the same shape.
_GREEK_AS_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))

_SPECIALS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
_SPECIALS_BACK = {command: character for character, command in _SPECIALS.items()}
_SPECIAL_COMMAND = re.compile("|".join(re.escape(c) for c in sorted(_SPECIALS_BACK, key=len)[::-1]))

# In T1 these pairs would become a dash, a quotation mark or a guillemet.
_LIGATURE = re.compile(r"(?<=([-`',<>?!]))(?=[-`',<>])")

_SYMBOLS = {
    "\N{NO-BREAK SPACE}": "~", "\N{SOFT HYPHEN}": r"\-", "\N{THIN SPACE}": r"\,",
    "\N{NARROW NO-BREAK SPACE}": r"\,", "\N{ZERO WIDTH JOINER}": "",
    "\N{ZERO WIDTH NON-JOINER}": "",
    "–": r"\textendash{}", "—": r"\textemdash{}", "‐": "-", "\N{NON-BREAKING HYPHEN}": "-",
    "‘": "`", "’": "'", "Ĳ": "IJ", "ĳ": "ij",
    "“": "``", "”": "''", "„": r"\quotedblbase{}", "‚": r"\quotesinglbase{}",
    "«": r"\guillemotleft{}", "»": r"\guillemotright{}", "…": r"\dots{}",
    "•": r"\textbullet{}", "†": r"\dag{}", "‡": r"\ddag{}", "§": r"\S{}", "¶": r"\P{}",
    "©": r"\textcopyright{}", "®": r"\textregistered{}", "™": r"\texttrademark{}",
    "€": r"\texteuro{}", "£": r"\pounds{}", "¥": r"\textyen{}", "°": r"\textdegree{}",
    "¡": r"\textexclamdown{}", "¿": r"\textquestiondown{}", "\"": r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
}  # fmt: skip
MATHEMATICS = {
    "−": "-", "±": r"\pm", "∓": r"\mp", "×": r"\times", "÷": r"\div", "·": r"\cdot",
    "⋅": r"\cdot", "∘": r"\circ", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx",
    "≡": r"\equiv", "∼": r"\sim", "≃": r"\simeq", "∝": r"\propto", "≪": r"\ll", "≫": r"\gg",
    "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∏": r"\prod",
    "∫": r"\int", "√": r"\surd", "∈": r"\in", "∉": r"\notin", "⊂": r"\subset",
    "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap", "∅": r"\emptyset", "∀": r"\forall",
    "∃": r"\exists", "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee", "←": r"\leftarrow",
    "→": r"\rightarrow", "↑": r"\uparrow", "↓": r"\downarrow", "↔": r"\leftrightarrow",
    "⇐": r"\Leftarrow", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↦": r"\mapsto",
    "⟨": r"\langle", "⟩": r"\rangle", "∥": r"\parallel", "‖": r"\Vert", "⊤": r"\top", "⊥": r"\perp",
    "⊗": r"\otimes", "⊕": r"\oplus", "ℓ": r"\ell", "ℝ": r"\mathbf{R}", "ℚ": r"\mathbf{Q}",
    "ℤ": r"\mathbf{Z}", "ℕ": r"\mathbf{N}", "ℂ": r"\mathbf{C}", "′": r"'", "″": r"''",
    "¹": "^{1}", "²": "^{2}", "³": "^{3}", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}",
    "¾": r"\frac{3}{4}",
    "⁻": "^{-}", **{c: f"^{{{i}}}" for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{c: f"_{{{i}}}" for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}  # fmt: skip

# Letters of Latin-1 and Latin Extended-A that LaTeX's t1enc.dfu declares, written as themselves.
_T1 = frozenset(chr(code) for code in range(0xC0, 0x180)) - frozenset("×÷ĦħĲĳĸĿŀŉŦŧſ")
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u",
    "\u0307": ".", "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d",
    "\u0327": "c", "\u0328": "k", "\u0331": "b",
}  # fmt: skip


# Numbers as programs spell them, at the beginning of a word: 1.8e-08 and -1.
_POWER = re.compile(r"(?<![^\s\[(±])(-?\d+(?:\.\d+)?)e([+-])0*(\d+)(?!\w)")
_MINUS = re.compile(r"(?<![^\s\[(±])-(?=\d)")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# A number and its per cent sign stay on one line.
_PER_CENT = re.compile(r"(?<=\d) (?=%)")


def clean(text: str) -> str:
    """Return ``text`` without control, bidirectional, private and unassigned characters.

    Line ends and tabs become spaces; everything else refused becomes U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_clean_character, unicodedata.normalize("NFC", text)))


def _clean_character(character: str) -> str:
    if character in _WHITESPACE:
        return " "
    if character in JOINERS or unicodedata.category(character) not in _REFUSED:
        return character
    return _REPLACEMENT


def typographic(text: str) -> str:
    """Return words with their numbers as a page has them: a minus sign, and a power of ten.

    Example:
        >>> typographic("of 1.8e-08 [-3, -1]"), typographic("off-1 2e")
        ('of 1.8 × 10⁻⁸ [−3, −1]', 'off-1 2e')
    """
    return _MINUS.sub("−", _POWER.sub(_power, text))


def _power(match: re.Match[str]) -> str:
    digits, sign, power = match.groups()
    return f"{digits} × 10{(sign.strip('+') + power).translate(_SUPERSCRIPTS)}"


def escape_html(text: str) -> str:
    """Return ``text`` for HTML content or a double-quoted attribute."""
    return html.escape(_joined(clean(text)), quote=True)


def escape_latex(text: str) -> str:
    """Return ``text`` for LaTeX's text mode (T1 encoding)."""
    return "".join(_LIGATURE.sub("\0", _joined(clean(text))).translate(_TO_LATEX))


def code_points(text: str) -> str:
    """Return ``text`` as print has it: a character that TeX's fonts lack is its code point.

    Example:
        >>> code_points("off_1 of 中")
        'off_1 of [U+4E2D]'
    """
    return "".join(
        f"[U+{ord(c):04X}]" if _TO_LATEX[ord(c)].startswith(r"\texttt{[U+") else c
        for c in _joined(clean(text))
    )


def in_letters(latex: str) -> str:
    r"""Return mathematics in LaTeX as a line of text.

    Example:
        >>> in_letters(r"\Delta = \frac{\sqrt{6}}{3}, (\Sigma^{yx})^\top v_{1}")
        'Δ = √6/3, (Σ^yx)^⊤ v_1'
    """
    text, before = re.sub(r"\\(?:left|right|mathrm|mathbf)\b|\\[,;!]", "", latex), ""
    text = re.sub(r"\\dot\{+(\\\w+)\}+", "\\1\u0307", text)
    while text != before:  # the innermost braces first
        before = text
        text = re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", _divided, text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", lambda found: f"√{_one(found[1])}", text)
        text = re.sub(r"([_^])\{([^{}\\]*)\}", lambda found: found[1] + _one(found[2]), text)
    text = re.sub(r"(?<=\w)\\(?=ln|exp)", r" \\", text)
    text = re.sub(r"\\([A-Za-z]+|\|)", lambda found: _LETTERS.get(found[0], found[1]), text)
    return re.sub(r"[{}]", "", text)


def _divided(found: re.Match[str]) -> str:
    return f"{_one(found[1])}/{_one(found[2])}"


def _one(text: str) -> str:
    """Return a part of a formula as one factor, in brackets where it needs them."""
    return text if re.fullmatch(r"√?(\w+|\\\w+)", text) else f"({text})"


def _joined(text: str) -> str:
    return _PER_CENT.sub("\N{NO-BREAK SPACE}", text)


def _accented(character: str) -> str:
    """Spell a letter with one accent by TeX's accent command; any other by its code point."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return rf"\texttt{{[U+{ord(character):04X}]}}\allowbreak{{}}"


class _LatexTable(dict[int, str]):
    """``str.translate`` table that works out characters when they are first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        known = character.isascii() or character in _T1
        self[code] = character if known else _accented(character)
        return self[code]


_TO_LATEX = _LatexTable(
    str.maketrans(
        {letter: rf"\ensuremath{{{latex}}}" for letter, latex in MATHEMATICS.items()}
        | {letter: rf"\ensuremath{{\{name}}}" for letter, name in GREEK.items()}
        | _GREEK_AS_LATIN
        | _SPECIALS
        | _SYMBOLS
    )
)
_TO_LATEX[0] = "{}"  # written between two characters that would join; clean() admits no NUL


def text_in_math(text: str) -> str:
    r"""Return ``\text{…}`` holding ``text``: the one way that a user's words enter mathematics.

    Characters beyond ASCII stay as they are; the LaTeX renderer maps them when it prints.

    Example:
        >>> text_in_math("off_1")
        '\\text{off\\_1}'
    """
    escaped = "".join(_SPECIALS.get(character, character) for character in clean(text))
    return rf"\text{{{escaped}}}"


def text_from_math(argument: str) -> str:
    r"""Return the words in the argument of ``\text``: the inverse of :func:`text_in_math`."""
    return _SPECIAL_COMMAND.sub(lambda match: _SPECIALS_BACK[match[0]], argument)


_LETTERS = {
    **{latex: letter for letter, latex in MATHEMATICS.items()},
    **{f"\\{name}": letter for letter, name in GREEK.items()},
    **{r"\neq": "≠", r"\leq": "≤", r"\geq": "≥"},
}
