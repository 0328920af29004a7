"""The document model: text, mathematics, tables and figures, knowing nothing of derivations.

A document is a tree of frozen values with the drawings and the bibliography that it refers to.
Building one checks that every reference leads somewhere.

Blocks of a document: paragraphs, equations, statements, tables, figures, sections.

What is wrong with a block (mathematics that a renderer would not print, a row too short) is refused
when it is built, so that a renderer never has to decide what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Literal

from symreln.base.records import record
from symreln.document.tex import parse
from symreln.errors import InputError

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9:_.-]*")
_MAX_DEPTH = 3  # article has three numbered levels


_URL = re.compile(r"https://[!-~]+")
#: A file beside the document, or in a folder there.
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[/.][A-Za-z0-9_-]+)*\.[a-z]+")


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
        _check(
            _URL.fullmatch(self.target) or _FILE.fullmatch(self.target),
            f"link to {self.target!r}: found none of what can be linked. Give an https:// address "
            "or a file beside the document, such as 'loss/page.html'.",
        )


#: A text is words of a user or of the program; every renderer escapes them.
Inline = str | Math | Code | Strong | Reference | Citation | Link
Content = Inline | tuple[Inline, ...]


def inlines(content: Content) -> tuple[Inline, ...]:
    """Return ``content`` as a tuple of inlines, empty of an empty text."""
    if isinstance(content, tuple):
        return content
    return (content,) if content else ()


def plain_text(content: Content) -> str:
    """Return the words of ``content`` without structure: for titles of windows and bookmarks."""
    words = []
    for part in flat(content):
        match part:
            case str(text) | Math(text) | Code(text) | Reference(text) | Citation(text):
                words.append(text)
    return "".join(words)


def flat(content: Content) -> Iterator[Inline]:
    """Yield every inline of ``content``, those inside others included."""
    for part in inlines(content):
        yield part
        if isinstance(part, Strong | Link):
            yield from flat(part.content)


def _set_fields(target: object, **fields: object) -> None:
    """Set normalised fields while a frozen dataclass is being built."""
    for name, value in fields.items():
        object.__setattr__(target, name, value)


@record
class Drawing:
    """A figure's files. Made by :mod:`symreln.report.drawing`.

    Attributes:
        name: File name without extension: letters, digits, ``_`` and ``-``.
        svg: What a page shows.
        pdf: What LaTeX includes; empty where no LaTeX is asked for.
    """

    name: str
    svg: str
    pdf: bytes = b""

    def __post_init__(self) -> None:
        fits = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", self.name)
        _check(fits, f"figure name {self.name!r}: needs a letter, then letters, digits, _ and -.")


class ComingDrawing(Drawing):
    """A drawing that may still be with whoever draws it: who asks for its files waits.

    Args:
        name: Its name.
        drawn: Returns all drawings.
    """

    def __init__(self, name: str, drawn: Callable[[], Iterable[Drawing]]) -> None:
        _set_fields(self, name=name, _drawn=drawn)

    @cached_property
    def _found(self) -> Drawing:
        return next(each for each in self.__dict__["_drawn"]() if each.name == self.name)

    svg = property(lambda self: self._found.svg)  # pyright: ignore[reportAssignmentType]
    pdf = property(lambda self: self._found.pdf)  # pyright: ignore[reportAssignmentType]


@record
class Source:
    """One entry of a bibliography."""

    key: str
    content: Content
    url: str = ""

    def __post_init__(self) -> None:
        _check(
            _LABEL.fullmatch(self.key) and (not self.url or _URL.fullmatch(self.url)),
            f"bibliography entry {self.key!r}, address {self.url!r}: "
            "needs a key of letters and digits, and an https address or none.",
        )


@record
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

    def __post_init__(self) -> None:
        labels = [label_of(block) for block, _ in walk(self.blocks) if label_of(block)]
        keys = [source.key for source in self.bibliography]
        drawn = [drawing.name for drawing in self.figures]
        for what, names in (("label", labels), ("bibliography key", keys), ("figure name", drawn)):
            twice = min((name for name in names if names.count(name) > 1), default="")
            _check(not twice, f"document: {what} {twice!r} is used twice. Give each its own.")
        for label in labels:
            says = "needs a letter, then letters, digits and any of : _ . -"
            _check(_LABEL.fullmatch(label), f"label {label!r}: {says}")
        everything = [self.title, self.subtitle, *(s.content for s in self.bibliography)]
        for block, depth in walk(self.blocks):
            everything.extend(contents(block))
            if isinstance(block, Section):
                title = plain_text(block.title)
                says = f"section {title!r}: {depth + 1} deep; {_MAX_DEPTH} is most."
                _check(depth < _MAX_DEPTH, says)
            if isinstance(block, Figure):
                _known(block.name, drawn, "figure")
        for part in (part for content in everything for part in flat(content)):
            match part:
                case Reference(label):
                    _known(label, labels, "reference")
                case Citation(key):
                    _known(key, keys, "citation")

    def drawing(self, name: str) -> Drawing:
        """Return the drawing called ``name``."""
        return next(drawing for drawing in self.figures if drawing.name == name)


def _known(name: str, names: list[str], what: str) -> None:
    there = ", ".join(names) or "none"
    _check(name in names, f"document: {what} to {name!r}, which is not there. Known: {there}.")


def _check(holds: object, message: str) -> None:
    """Refuse what no renderer prints."""
    if not holds:
        raise InputError(message)


@record(kw_only=False)
class Paragraph:
    """Running text."""

    content: Content


def prose(*content: Inline) -> Paragraph:
    """Return a paragraph of the inlines given, one after the other."""
    return Paragraph(content)


@record
class Equation:
    r"""Displayed mathematics: one line, or several aligned at ``&``.

    Attributes:
        lines: LaTeX of each line; long ones are broken (:mod:`.rows`).
        label: What :class:`Reference` calls it. An equation has a number exactly when it has one.
    """

    lines: tuple[str, ...]
    label: str = ""

    def __post_init__(self) -> None:
        _check(self.lines, "equation: found no lines. Give at least one.")
        for line in self.lines:
            parse(line, aligned=True)


def equation(*lines: str, label: str = "") -> Equation:
    """Return a displayed equation of the lines given."""
    return Equation(lines=lines, label=label)


_TheoremKind = Literal["Proposition", "Lemma", "Assumption", "Definition", "Remark", "Proof"]


@record
class Theorem:
    """A statement with a name and a number, or the proof that follows it (which has none)."""

    kind: _TheoremKind
    blocks: tuple[Block, ...]
    title: Content = ()
    label: str = ""

    def __post_init__(self) -> None:
        says = f"proof labelled {self.label!r}: proofs have no number. Label what it proves."
        _check(self.kind != "Proof" or not self.label, says)


@record
class Table:
    """Rows under a header.

    Attributes:
        header: Cells of the first row.
        rows: Each as long as the header.
        caption: Printed above, with the number.
        alignment: One letter a column: l, c, r, or p, which wraps, for words whose length is not
            ours to choose. Default: all l.
        label: What :class:`Reference` calls it; needs a caption.
        most: Rows that are kept, where there are more; the caption says where the rest is.
    """

    header: tuple[Content, ...]
    rows: tuple[tuple[Content, ...], ...]
    caption: Content = ()
    alignment: str = ""
    label: str = ""
    most: int | None = None

    def __post_init__(self) -> None:
        columns = len(self.header)
        left = 0 if self.most is None else len(self.rows) - self.most
        if left > 0:
            caption = (*inlines(self.caption), f" {left} more are in derivation.json.")
            _set_fields(self, rows=self.rows[: self.most], caption=caption)
        _set_fields(self, alignment=self.alignment or "l" * columns)
        where = f"table {self.label or plain_text(self.caption) or '(without caption)'!r}"
        for index, row in enumerate(self.rows):
            says = f"{where}, row {index}: {len(row)} cells, {columns} headers. Give one each."
            _check(len(row) == columns, says)
        fits = len(self.alignment) == columns > 0 and set(self.alignment) <= set("lcrp")
        says = f"{where}: alignment {self.alignment!r}, {columns} columns. Give l, c, r or p."
        _check(fits, says)
        _labelled_needs_caption(where, self.label, self.caption)


@record
class Figure:
    """A drawing of the document, with its caption below.

    Attributes:
        name: Name of a :class:`Drawing` that the document carries.
        caption: Printed below, with the number.
        alt: What the drawing shows, for those who cannot see it. Never empty.
        label: What :class:`Reference` calls it; needs a caption.
    """

    name: str
    alt: str
    caption: Content = ()
    label: str = ""

    def __post_init__(self) -> None:
        says = f"figure {self.name!r}: found no description. Say in alt what it shows."
        _check(self.alt.strip(), says)
        _labelled_needs_caption(f"figure {self.name!r}", self.label, self.caption)


@record
class Details:
    """Blocks that a page folds under their summary, and that paper has in its full form alone.

    Nothing in them has a number or a label, so that numbers are the same on a page and on paper:
    captions of their tables and figures are paragraphs above.

    Attributes:
        summary: What stands on the fold.
        blocks: What is in it.
    """

    summary: Content
    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        bare = tuple(part for block in self.blocks for part in _uncaptioned(block))
        _set_fields(self, blocks=bare)
        inside = [block for block, _ in walk(self.blocks)]
        _check(
            not any(isinstance(b, Section | Theorem) or label_of(b) for b in inside),
            f"fold {plain_text(self.summary)!r}: found a block with a number, and paper leaves the "
            "fold out. Take the block out of it.",
        )


def _uncaptioned(block: Block) -> tuple[Block, ...]:
    """Return a table or a figure below its caption; other blocks as they are."""
    if not isinstance(block, Table | Figure) or not block.caption or block.label:
        return (block,)
    return (Paragraph(block.caption), replace(block, caption=()))


@record(kw_only=False)
class Items:
    """A list; each item is inline content."""

    items: tuple[Content, ...]


@record
class Section:
    """A titled part. Its level is how deep it is nested, so that the two cannot disagree."""

    title: Content
    blocks: tuple[Block, ...]
    label: str = ""


_Nested = Section | Theorem | Details
Block = Paragraph | Equation | Theorem | Table | Figure | Details | Items | Section


def with_drawn(blocks: Iterable[Block], drawn: Collection[str]) -> tuple[Block, ...]:
    """Return blocks without the figures whose drawings are not there.

    Args:
        blocks: With sections and the figures in them.
        drawn: Names of drawings.
    """
    return _kept(blocks, lambda block: not isinstance(block, Figure) or block.name in drawn)


def on_paper(document: Document) -> Document:
    """Return the document in its short form: without what a page folds."""
    kept = _kept(document.blocks, lambda block: not isinstance(block, Details))
    shown = {block.name for block, _ in walk(kept) if isinstance(block, Figure)}
    figures = tuple(drawing for drawing in document.figures if drawing.name in shown)
    return replace(document, blocks=kept, figures=figures)


def _kept(blocks: Iterable[Block], keep: Callable[[Block], bool]) -> tuple[Block, ...]:
    """Return the blocks that are to be kept, those inside others too."""
    return tuple(
        replace(block, blocks=_kept(block.blocks, keep)) if isinstance(block, _Nested) else block
        for block in blocks
        if keep(block)
    )


def walk(blocks: tuple[Block, ...], depth: int = 0) -> Iterator[tuple[Block, int]]:
    """Yield every block in reading order, each with the number of sections around it."""
    for block in blocks:
        yield block, depth
        if isinstance(block, _Nested):
            yield from walk(block.blocks, depth + isinstance(block, Section))


def contents(block: Block) -> Iterator[Content]:
    """Yield the inline content of ``block`` itself, not of blocks inside it, in reading order."""
    match block:
        case Table():
            yield from (block.caption, *block.header, *chain(*block.rows))
        case Items():
            yield from block.items
        case _:
            names = ("content", "title", "caption", "summary")
            yield from (getattr(block, name) for name in names if hasattr(block, name))


def label_of(block: Block) -> str:
    """Return the label of ``block``; empty where it has none."""
    return getattr(block, "label", "")


def _labelled_needs_caption(where: str, label: str, caption: Content) -> None:
    says = f"{where}: labelled {label!r} without a caption to carry the number. Give one."
    _check(caption or not label, says)
