"""The formats of documents: what ``--format`` knows beside json.

A format is a renderer, ``render(document) -> str``, and a line in :data:`FORMATS`; its file is
``derivation.NAME`` unless it says otherwise. Renderers are imported when they are asked for: naming
one costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symreln.document.model import Document
    from symreln.report.latex_style import Style


@dataclass(frozen=True, kw_only=True)
class Format:
    """One way to write a document.

    Attributes:
        name: What ``--format`` says, and the ending of the file.
        renderer: Its module, with a function ``render``.
        comment: What begins and ends a comment of one line.
        figures: Whether it takes PDF figures from the folder ``figures`` beside it.
        ending: Of the file, where it is not the name.
        function: Of the renderer.
        styled: Whether the function takes a :class:`symreln.report.latex_style.Style` too.
        usual: Whether it is written where no format is asked for.
    """

    name: str
    renderer: str
    comment: tuple[str, str]
    figures: bool = False
    ending: str = ""
    function: str = "render"
    styled: bool = False
    usual: bool = True

    @property
    def file(self) -> str:
        """The file of a derivation."""
        return f"derivation.{self.ending or self.name}"

    def render(self, document: Document, style: Style | None = None) -> str:
        """Return a document as text, LaTeX in a style."""
        renderer = getattr(import_module(self.renderer), self.function)
        return renderer(document, style) if self.styled else renderer(document)


_LATEX = "symreln.report.latex"
FORMATS = (
    Format(name="tex", renderer=_LATEX, comment=("% ", ""), figures=True, styled=True),
    Format(name="html", renderer="symreln.report.html", comment=("<!-- ", " -->")),
    Format(
        name="fragment",
        renderer=_LATEX,
        comment=("% ", ""),
        figures=True,
        ending="fragment.tex",
        function="fragment",
        styled=True,
        usual=False,
    ),
)
#: Code: the closed forms as a module, written where it is asked for.
PROGRAM = "py"
#: What is written where nothing is asked for, and all that can be.
USUAL = ("json", *(each.name for each in FORMATS if each.usual))
NAMES = ("json", *(each.name for each in FORMATS), PROGRAM)
