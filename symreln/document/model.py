"""The document model: text, mathematics, tables and figures, knowing nothing of derivations.

A document is a tree of frozen values (:mod:`inlines`, :mod:`blocks`; all of them can be imported
from here) with the drawings and the bibliography that it refers to. Building one checks that every
reference leads somewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from symreln.document.blocks import (
    Block,
    Details,
    Equation,
    Figure,
    Items,
    Listing,
    Paragraph,
    Section,
    Table,
    Theorem,
    TheoremKind,
    contents,
    equation,
    label_of,
    prose,
    walk,
    with_drawn,
)
from symreln.document.inlines import (
    URL,
    Citation,
    Code,
    Content,
    Emphasis,
    Inline,
    Link,
    Math,
    Reference,
    Strong,
    Text,
    flat,
    inlines,
    plain_text,
    set_fields,
)
from symreln.errors import InputError

__all__ = [
    "Block",
    "Citation",
    "Code",
    "Content",
    "Details",
    "Document",
    "Drawing",
    "Emphasis",
    "Equation",
    "Figure",
    "Inline",
    "Items",
    "Link",
    "Listing",
    "Math",
    "Paragraph",
    "Reference",
    "Section",
    "Source",
    "Strong",
    "Table",
    "Text",
    "Theorem",
    "TheoremKind",
    "contents",
    "equation",
    "flat",
    "inlines",
    "label_of",
    "plain_text",
    "prose",
    "walk",
    "with_drawn",
]

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9:_.-]*")
MAX_DEPTH = 3  # article has three numbered levels


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A figure's files. Made by :mod:`symreln.report.drawing`.

    Attributes:
        name: File name without extension: letters, digits, ``_`` and ``-``.
        svg: What a page shows.
        pdf: What LaTeX includes; empty where no LaTeX is asked for.
        png: Optional raster copy.
    """

    name: str
    svg: str
    pdf: bytes = b""
    png: bytes = b""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", self.name):
            msg = f"figure name {self.name!r}: needs a letter, then letters, digits, _ and -."
            raise InputError(msg)


@dataclass(frozen=True, kw_only=True)
class Source:
    """One entry of a bibliography."""

    key: str
    content: Content
    url: str = ""

    def __post_init__(self) -> None:
        set_fields(self, content=inlines(self.content))
        if not _LABEL.fullmatch(self.key) or (self.url and not URL.fullmatch(self.url)):
            msg = (
                f"bibliography entry {self.key!r}, address {self.url!r}: "
                "needs a key of letters and digits, and an https address or none."
            )
            raise InputError(msg)


@dataclass(frozen=True, kw_only=True)
class Document:
    """A whole document; building one checks that every reference leads somewhere.

    Raises:
        InputError: A label used twice, a reference, citation or figure that leads nowhere, or
            sections nested more than three deep.
    """

    title: Content
    blocks: tuple[Block, ...]
    subtitle: Content = ()
    figures: tuple[Drawing, ...] = ()
    bibliography: tuple[Source, ...] = ()
    language: str = "en"

    def __post_init__(self) -> None:
        set_fields(self, title=inlines(self.title), subtitle=inlines(self.subtitle))
        _check_document(self)

    def drawing(self, name: str) -> Drawing:
        """Return the drawing called ``name``."""
        return next(drawing for drawing in self.figures if drawing.name == name)


def _check_document(document: Document) -> None:
    labels = _labels(document)
    keys = [source.key for source in document.bibliography]
    names = [drawing.name for drawing in document.figures]
    _unique(keys, "bibliography key")
    _unique(names, "figure name")
    everything = [document.title, document.subtitle, *(s.content for s in document.bibliography)]
    for block, depth in walk(document.blocks):
        everything.extend(contents(block))
        if isinstance(block, Section) and depth >= MAX_DEPTH:
            msg = f"section {plain_text(block.title)!r}: {depth + 1} deep; {MAX_DEPTH} is most."
            raise InputError(msg)
        if isinstance(block, Figure):
            _known(block.name, names, "figure")
    for part in (part for content in everything for part in flat(content)):
        match part:
            case Reference(label):
                _known(label, labels, "reference")
            case Citation(key, _):
                _known(key, keys, "citation")
            case Link(_, target) if target.startswith("#"):
                _known(target[1:], labels, "link")


def _labels(document: Document) -> list[str]:
    labels = [label_of(block) for block, _ in walk(document.blocks) if label_of(block)]
    _unique(labels, "label")
    for label in labels:
        if not _LABEL.fullmatch(label):
            msg = f"label {label!r}: needs a letter, then letters, digits and any of : _ . -"
            raise InputError(msg)
    return labels


def _unique(names: list[str], what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"document: {what} {twice[0]!r} is used twice. Give each its own."
        raise InputError(msg)


def _known(name: str, names: list[str], what: str) -> None:
    if name not in names:
        there = ", ".join(names) or "none"
        msg = f"document: {what} to {name!r}, which is not there. Known: {there}."
        raise InputError(msg)
