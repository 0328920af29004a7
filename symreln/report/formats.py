"""The formats of documents: what ``--format`` knows beside json.

A format is a renderer, ``render(document)``, which returns text or bytes, and a line in
:data:`FORMATS`; its file is ``derivation.NAME`` unless it says otherwise. Renderers are imported
when they are asked for: naming one costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.errors import InputError, NotSupportedError
from symreln.specs.finding import nearest, shown

if TYPE_CHECKING:
    from symreln.document.document_model import Document
    from symreln.report.latex_style import Style


@record
class Format:
    """One way to write a document.

    Attributes:
        name: What ``--format`` says, and the ending of the file.
        renderer: Its module, with a function ``render``.
        comment: What begins and ends a comment of one line.
        latex: Whether it takes PDF figures from the folder ``figures`` beside it, and its function
            a :class:`symreln.report.latex_style.Style`.
        ending: Of the file, where it is not the name.
        function: Of the renderer.
        folds: Whether its reader can open what is folded.
        package: What it needs beside symreln's own requirements: the extra of symreln that has
            the format's name installs it.
        default: Whether it is written where no format is asked for.
    """

    name: str
    renderer: str
    comment: tuple[str, str] = ("% ", "")
    latex: bool = False
    ending: str = ""
    function: str = "render"
    folds: bool = False
    package: str = ""
    default: bool = True

    @property
    def file(self) -> str:
        """The file of a derivation."""
        return f"derivation.{self.ending or self.name}"

    def render(self, document: Document, style: Style | None = None) -> bytes:
        """Return a document as the bytes of its file, LaTeX in a style."""
        renderer = getattr(import_module(self.renderer), self.function)
        made = renderer(document, style) if self.latex else renderer(document)
        return made.encode() if isinstance(made, str) else made


_LATEX = "symreln.report.latex"
FORMATS = (
    Format(name="tex", renderer=_LATEX, latex=True),
    Format(name="html", renderer="symreln.report.html", comment=("<!-- ", " -->"), folds=True),
    Format(name="pdf", renderer="symreln.report.typst", package="typst", default=False),
    Format(
        name="fragment",
        renderer=_LATEX,
        latex=True,
        ending="fragment.tex",
        function="fragment",
        default=False,
    ),
)
#: Code: the closed forms as a module.
PROGRAM = "py"
NAMES = ("json", *(each.name for each in FORMATS), PROGRAM)
#: What is written where nothing is asked for.
DEFAULT = ("json", *(each.name for each in FORMATS if each.default))


def document_formats(names: Collection[str]) -> list[Format]:
    """Return those of some formats, the usual ones where none is given, that have figures."""
    return [each for each in FORMATS if each.name in (names or DEFAULT)]


def require_formats(names: Collection[str], known: Collection[str] = NAMES) -> set[str]:
    """Return formats by name; refuse, before any work, what there is not or lacks its package.

    Args:
        names: What is asked for.
        known: What there is.

    Raises:
        InputError: There is none of a name.
        NotSupportedError: One is not.
    """
    names = {names} if isinstance(names, str) else {*names}  # a text is one name
    for name in sorted(names - {*known}):
        msg = f"format: found {shown(name)}, which is none. {nearest(name, known)}"
        raise InputError(msg)
    for each in FORMATS:
        if each.name in names and each.package and find_spec(each.package) is None:
            msg = (
                f"--format {each.name}: found no package {each.package!r}, which makes it. "
                f"Install it with: pip install 'symreln[{each.name}]'"
            )
            raise NotSupportedError(msg)
    return names
