"""Inline content: words, mathematics, references. A plain string means :class:`Text`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symreln.base.records import record
from symreln.document.tex import parse
from symreln.errors import InputError

URL = re.compile(r"https://[!-~]+")
#: A file beside the document, or in a folder there.
FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[/.][A-Za-z0-9_-]+)*\.[a-z]+")


@record(kw_only=False)
class Text:
    """Words of a user or of the program; every renderer escapes them."""

    value: str


@record(kw_only=False)
class Math:
    """Inline mathematics: LaTeX without delimiters, in the subset of :mod:`.tex`."""

    latex: str

    def __post_init__(self) -> None:
        parse(self.latex)


@record(kw_only=False)
class Code:
    """A name or value as a program spells it, set in a fixed width."""

    value: str


@record(kw_only=False)
class Strong:
    """Important words."""

    content: Content

    def __post_init__(self) -> None:
        set_fields(self, content=inlines(self.content))


@record(kw_only=False)
class Reference:
    """A numbered thing of this document by its label: "Proposition 2", "(7)"."""

    label: str


@record(kw_only=False)
class Citation:
    """An entry of the document's bibliography, by its key."""

    key: str


@record(kw_only=False)
class Link:
    """Words that lead to an https address or to a file beside the document."""

    content: Content
    target: str

    def __post_init__(self) -> None:
        set_fields(self, content=inlines(self.content))
        if not (URL.fullmatch(self.target) or FILE.fullmatch(self.target)):
            msg = (
                f"link to {self.target!r}: found none of what can be linked. Give an https:// "
                "address or a file beside the document, such as 'loss/page.html'."
            )
            raise InputError(msg)


Inline = Text | Math | Code | Strong | Reference | Citation | Link
Content = str | Inline | tuple["str | Inline", ...]


def inlines(content: Content) -> tuple[Inline, ...]:
    """Return ``content`` as a tuple of inlines; strings become :class:`Text`."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, tuple):
        return (content,)
    return tuple(Text(part) if isinstance(part, str) else part for part in content)


def plain_text(content: Content) -> str:
    """Return the words of ``content`` without structure: for titles of windows and bookmarks."""
    words = []
    for part in inlines(content):
        match part:
            case Text(value) | Code(value) | Math(value):
                words.append(value)
            case Strong(inner) | Link(inner, _):
                words.append(plain_text(inner))
            case Reference(name) | Citation(name):
                words.append(name)
    return "".join(words)


def flat(content: Content) -> Iterator[Inline]:
    """Yield every inline of ``content``, those inside others included."""
    for part in inlines(content):
        yield part
        if isinstance(part, Strong | Link):
            yield from flat(part.content)


def set_fields(target: object, **fields: object) -> None:
    """Set normalised fields while a frozen dataclass is being built."""
    for name, value in fields.items():
        object.__setattr__(target, name, value)
