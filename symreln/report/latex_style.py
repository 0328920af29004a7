r"""How LaTeX fits the paper that it goes into: labels, levels and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from symreln.base.records import record
from symreln.errors import InputError
from symreln.specs.finding import nearest

LEVELS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph")
#: What each setting may be, and how that is said.
_SETTINGS = {
    "prefix": (r"[A-Za-z][A-Za-z0-9:._-]*|", "a letter, then letters, digits and any of : . _ -"),
    "level": ("[123]", "1, 2 or 3"),
    "numbering": ("labelled|all|[A-Z]", "labelled, all, or a capital letter"),
    "figures": (r"[A-Za-z0-9._/-]+", "a folder of letters, digits and any of . _ / -"),
}


@record
class Style:
    """How LaTeX is written.

    Attributes:
        prefix: What every label begins with, so that those of two derivations differ.
        level: What the outermost sections are: 1 sections, 2 subsections, 3 subsubsections.
        numbering: "labelled": equations that the text refers to have numbers of the paper; "all":
            every one has; a letter such as "S": none has, and the former have tags (S1), (S2).
        figures: The folder of the figures, as the paper names it.
    """

    prefix: str = ""
    level: int = 1
    numbering: str = "labelled"
    figures: str = "figures"

    def __post_init__(self) -> None:
        for name, (pattern, expected) in _SETTINGS.items():
            found = getattr(self, name)
            if not re.fullmatch(pattern, str(found)):
                msg = f"LaTeX's {name}: found {found!r}; expected {expected}."
                raise InputError(msg)

    @classmethod
    def of(cls, settings: Iterable[str]) -> Style:
        """Return the style of texts ``key=value``.

        Example:
            >>> Style.of(["prefix=ctx:", "level=2"]).level
            2

        Raises:
            InputError: One has no "=", is no setting, or has a value that its key does not take.
        """
        given: dict[str, str] = {}
        for setting in settings:
            key, equals, value = setting.partition("=")
            if not equals:
                msg = f"{setting!r} has no '='. Give KEY=VALUE, such as prefix=ctx:."
                raise InputError(msg)
            if key.strip() not in _SETTINGS:
                msg = f"LaTeX's settings: found {key.strip()!r}. {nearest(key, _SETTINGS)}"
                raise InputError(msg)
            given[key.strip()] = value.strip()
        level = given.pop("level", "1")
        return cls(level=int(level) if level.isdecimal() else 0, **given)
