"""Numbers of sections, equations, tables, figures and statements: the same ones LaTeX gives."""

from __future__ import annotations

from collections import Counter

from symreln.base.records import record
from symreln.document.model import (
    Block,
    Document,
    Equation,
    Figure,
    Section,
    Table,
    Theorem,
    label_of,
    walk,
)


@record
class Anchor:
    """What a reference to a numbered block says: ``Table`` and ``3``."""

    kind: str
    number: str

    @property
    def text(self) -> str:
        """Return the words of a reference: "Table 3", or "(3)" for an equation."""
        return f"({self.number})" if self.kind == "Equation" else f"{self.kind} {self.number}"


class Numberer:
    """Counts blocks as they are met in reading order, as LaTeX's counters do.

    Statements share one counter; equations count through the whole document.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._sections: list[int] = []

    def number(self, block: Block, depth: int) -> Anchor | None:
        """Return the anchor of ``block``, met ``depth`` sections deep; None where it has none."""
        match block:
            case Section():
                return Anchor(kind="Section", number=self._section(depth))
            case Equation() if block.label:
                return self._count("Equation", "Equation")
            case Table() if block.caption:
                return self._count("Table", "Table")
            case Figure() if block.caption:
                return self._count("Figure", "Figure")
            case Theorem() if block.kind != "Proof":
                return self._count("Theorem", block.kind)
        return None

    def _section(self, depth: int) -> str:
        before = self._sections[depth] if len(self._sections) > depth else 0
        self._sections = [*self._sections[:depth], before + 1]
        return ".".join(map(str, self._sections))

    def _count(self, counter: str, kind: str) -> Anchor:
        self._counts[counter] += 1
        return Anchor(kind=kind, number=str(self._counts[counter]))


def anchors(document: Document) -> dict[str, Anchor]:
    """Return the anchor of every label of ``document``."""
    numberer = Numberer()
    numbered = [(block, numberer.number(block, depth)) for block, depth in walk(document.blocks)]
    return {label_of(block): anchor for block, anchor in numbered if anchor and label_of(block)}


def letter(place: int) -> str:
    """Return what a figure and its table call the entry at a place, from 0: (a), (b) and so on."""
    return f"({chr(ord('a') + place)})"
