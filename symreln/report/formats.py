"""The formats of documents: what ``--format`` knows beside json.

A format is a renderer, ``render(document) -> str``, and a line in :data:`FORMATS`; its file is
``derivation.NAME``. Renderers are imported when they are asked for: naming one costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.document.model import Document


@dataclass(frozen=True, kw_only=True)
class Format:
    """One way to write a document.

    Attributes:
        name: What ``--format`` says, and the ending of the file.
        renderer: Its module, with a function ``render``.
        comment: What begins and ends a comment of one line.
        figures: Whether it takes PDF figures from the folder ``figures`` beside it.
    """

    name: str
    renderer: str
    comment: tuple[str, str]
    figures: bool = False

    @property
    def file(self) -> str:
        """The file of a derivation."""
        return f"derivation.{self.name}"

    def render(self, document: Document) -> str:
        """Return a document as text."""
        return import_module(self.renderer).render(document)


FORMATS = (
    Format(name="tex", renderer="symreln.report.latex", comment=("% ", ""), figures=True),
    Format(name="html", renderer="symreln.report.html", comment=("<!-- ", " -->")),
)
#: Code: the closed forms as a module, written where it is asked for.
PROGRAM = "py"
#: What is written where nothing is asked for, and all that can be.
USUAL = ("json", *(each.name for each in FORMATS))
NAMES = (*USUAL, PROGRAM)
