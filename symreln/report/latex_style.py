r"""How LaTeX fits the paper that it goes into: labels, levels, numbers and letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from symreln.document.escape import GREEK
from symreln.document.symbols import symbol_latex
from symreln.document.tex import ARITY, WORDS, group_end
from symreln.errors import InputError

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9:._-]*|")
_FOLDER = re.compile(r"[A-Za-z0-9._/-]+")
_GREEK = frozenset("\\" + name for name in GREEK.values())
_LETTER = re.compile(r"(?!e$)[A-Za-z]")  # e is the number
_STYLED = re.compile(r"\\(?:mathcal|mathbf|mathrm|tilde|hat|bar)\{([A-Za-z]|\\[A-Za-z]+)\}")
_FONTS = frozenset([r"\mathcal", r"\mathbf", r"\mathbb"])
_TAKING = frozenset(["}", "]", "^", "_", *ARITY])  # what a group is the argument of
LEVELS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph")


@dataclass(frozen=True, kw_only=True)
class Style:
    """How LaTeX is written.

    Attributes:
        prefix: What every label begins with, so that those of two derivations differ.
        level: What the outermost sections are: 1 sections, 2 subsections, 3 subsubsections.
        numbering: "labelled": equations that the text refers to have numbers of the paper; "all":
            every one has; a letter such as "S": none has, and the former have tags (S1), (S2).
        figures: The folder of the figures, as the paper names it.
        notation: Letter -> what is printed for it: ``{"pi": "a", "tau": "T"}``.
    """

    prefix: str = ""
    level: int = 1
    numbering: str = "labelled"
    figures: str = "figures"
    notation: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wrong = next(self._wrong(), None)
        if wrong:
            name, found, expected = wrong
            msg = f"LaTeX's {name}: found {found!r}; expected {expected}."
            raise InputError(msg)

    def _wrong(self) -> Iterator[tuple[str, object, str]]:
        if not _PREFIX.fullmatch(self.prefix):
            yield "prefix", self.prefix, "a letter, then letters, digits and any of : . _ -"
        if self.level not in (1, 2, 3):
            yield "level", self.level, "1, 2 or 3"
        if self.numbering not in ("labelled", "all") and not re.fullmatch("[A-Z]", self.numbering):
            yield "numbering", self.numbering, "labelled, all, or a capital letter"
        if not _FOLDER.fullmatch(self.figures):
            yield "figures", self.figures, "a folder of letters, digits and any of . _ / -"
        for name, shown in self.notation.items():
            if _letter(name) is None:
                yield (
                    "setting",
                    name,
                    "prefix, level, numbering, figures, or a letter of the formulas other than e",
                )
            if _symbol(shown) is None:
                yield f"notation {name}", shown, r"a letter, a Greek name, or such as \mathcal{A}"

    @property
    def symbols(self) -> dict[str, str]:
        """LaTeX of a letter -> LaTeX of what is printed for it."""
        return {_letter(a) or "": _symbol(b) or "" for a, b in self.notation.items()}

    @classmethod
    def of(cls, settings: Iterable[str]) -> Style:
        """Return the style of texts ``key=value``; a key that is not a setting is a letter.

        Example:
            >>> Style.of(["prefix=ctx:", "pi=omega"]).notation
            {'pi': 'omega'}

        Raises:
            InputError: One has no "=", or a value that its key does not take.
        """
        given: dict[str, str] = {}
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                msg = f"{setting!r} has no '='. Give KEY=VALUE, such as prefix=ctx: or pi=omega."
                raise InputError(msg)
            given[key.strip()] = value.strip()
        level = given.pop("level", "1")
        known = {key: given.pop(key) for key in ("prefix", "numbering", "figures") if key in given}
        return cls(level=int(level) if level.isdecimal() else 0, notation=given, **known)


def _letter(name: str) -> str | None:
    """Return the LaTeX of a letter that has a name; None of other names."""
    latex = symbol_latex(name)
    return latex if latex in _GREEK or _LETTER.fullmatch(latex) else None


def _symbol(name: str) -> str | None:
    """Return the LaTeX of a letter, perhaps styled; None of what is not one symbol."""
    found = _STYLED.fullmatch(name)
    if found:
        return name if _letter(found[1].removeprefix("\\")) else None
    return _letter(name.removeprefix("\\"))


def letters(parts: list[str]) -> Iterator[int]:
    r"""Yield the places of the letters that stand for quantities.

    Those of words, fonts, differentials, and the names of correlations (the yx of
    :math:`\Sigma^{yx}`) do not; nor does the number π, which stands in braces of its own.
    """
    index = 0
    while index < len(parts):
        part, after = parts[index], parts[index + 1 : index + 2]
        if part in WORDS or part in (r"\begin", r"\end") or part in _FONTS:
            index = group_end(parts, index + 1) + 1
        elif part == r"\Sigma" and after == ["^"] and parts[index + 2] == "{":
            yield index
            index = group_end(parts, index + 2) + 1
        else:
            if (part in _GREEK or _LETTER.fullmatch(part)) and not _is_other(parts, index):
                yield index
            index += 1


def _is_other(parts: list[str], index: int) -> bool:
    """Whether a letter is a differential or the number π."""
    before, brace, part, after, following, begun, of = ["", "", *parts, "", "", "", ""][
        index : index + 7
    ]
    inside = brace == "{" and after == "}"
    if part == "d":
        alone = inside and (following, begun) == ("{", "d") and of.isalpha()
        return alone or (after.isalpha() and after.isascii())
    return part == r"\pi" and inside and before not in _TAKING


def renamed(parts: list[str], symbols: Mapping[str, str]) -> list[str]:
    """Return tokens with letters replaced by the symbols that are chosen for them."""
    found = list(parts)
    for place in letters(parts) if symbols else ():
        symbol = symbols.get(parts[place], parts[place])
        joins = symbol[-1].isalpha() and symbol.startswith("\\")
        space = " " if joins and parts[place + 1 : place + 2] and parts[place + 1].isalpha() else ""
        found[place] = symbol + space
    return found
