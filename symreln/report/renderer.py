"""One walk over a document for every format: numbers, references, and where lines may break."""

from __future__ import annotations

import re
from collections import Counter

from symreln.base.records import record
from symreln.document import document_model as model
from symreln.document.escape import clean

# Words that are longer, such as file names and keys, may break anywhere.
_LONG_WORD, _PIECE = re.compile(r"\S{25,}"), re.compile(".{1,8}")


@record
class Anchor:
    """What a reference to a numbered block says: ``Table`` and ``3``."""

    kind: str
    number: str

    @property
    def text(self) -> str:
        """The words of a reference: "Table 3", or "(3)" for an equation."""
        return f"({self.number})" if self.kind == "Equation" else f"{self.kind} {self.number}"


def _numbered(document: model.Document) -> list[tuple[model.Block, Anchor | None]]:
    """Return every block in reading order with its anchor, None where it has no number.

    Numbers are those that LaTeX gives: statements share one counter, and equations count through
    the whole document.
    """
    counts, sections = Counter[str](), list[int]()
    found: list[tuple[model.Block, Anchor | None]] = []
    for block, depth in model.walk(document.blocks):
        kind = _kind(block)
        if kind == "Section":
            sections = [*sections[:depth], [*sections, 0][depth] + 1]
            number = ".".join(map(str, sections))
        else:
            counter = "Theorem" if kind and isinstance(block, model.Theorem) else kind
            counts[counter] += 1
            number = str(counts[counter])
        found.append((block, Anchor(kind=kind, number=number) if kind else None))
    return found


def _kind(block: model.Block) -> str:
    """Return what a reference calls a block; empty where it has no number."""
    match block:
        case model.Section():
            return "Section"
        case model.Equation() if block.label:
            return "Equation"
        case model.Table() | model.Figure() if block.caption:
            return type(block).__name__
        case model.Theorem() if block.kind != "Proof":
            return block.kind
    return ""


class Renderer:
    """Renders blocks in reading order.

    A format has a method for each kind of block and of inline content, called after its class:
    ``_section``, ``_table``, ``_math``. Those of blocks take the block, its anchor, or None, and
    how many sections are around it.

    Attributes:
        source: What is rendered.
        anchors: Of its labels.
    """

    def __init__(self, source: model.Document) -> None:
        self.source, numbered = source, _numbered(source)
        labelled = ((model.label_of(block), anchor) for block, anchor in numbered)
        self.anchors = {label: anchor for label, anchor in labelled if label and anchor}
        self._coming = iter([anchor for _, anchor in numbered])

    def block(self, block: model.Block, depth: int) -> str:
        """Return a block that stands ``depth`` sections deep."""
        write = getattr(self, f"_{type(block).__name__.lower()}")
        return write(block, next(self._coming), depth)

    def _paragraph(self, block: model.Paragraph, anchor: None, depth: int) -> str:
        return self.inline(block.content)

    def inline(self, content: model.Content) -> str:
        """Return inline content."""
        return "".join(map(self.one, model.inlines(content)))

    def one(self, part: model.Inline) -> str:
        """Return one part of inline content."""
        kind = "text" if isinstance(part, str) else type(part).__name__.lower()
        return getattr(self, f"_{kind}")(part)

    def number_of(self, part: model.Citation) -> int:
        """Return the place of a source in the bibliography, from 1."""
        return [entry.key for entry in self.source.bibliography].index(part.key) + 1


def breakable(text: str) -> list[str]:
    """Return words in pieces between which a line may break: inside of those that are too long."""
    parted = _LONG_WORD.sub(lambda word: _PIECE.sub("\0\\g<0>\0", word[0]), clean(text))
    return [piece for piece in parted.split("\0") if piece]  # what is clean has no NUL


def breakable_code(text: str) -> list[str]:
    """Return text of a program in pieces: it may break after punctuation, as keys and paths need.

    But not inside of numbers, nor between the strokes of an address.
    """
    parts = re.split(r"(?<=[._/,:=+-])(?<!//)(?![\d/ ])", clean(text))
    return [piece for part in parts for piece in breakable(part)]
