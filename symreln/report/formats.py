"""The formats of documents: what ``--format`` knows beside json.

A format is a renderer, ``render(document)``, which returns text or bytes, and a line in
:data:`FORMATS`; its file is ``derivation.NAME``. Renderers are imported when they are asked for:
naming one costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from symreln.errors import NotSupportedError

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
        package: What it needs beside symreln's own requirements: the extra of symreln that has
            the format's name installs it, and the format is written where it is asked for alone.
    """

    name: str
    renderer: str
    comment: tuple[str, str]
    figures: bool = False
    package: str = ""

    @property
    def file(self) -> str:
        """The file of a derivation."""
        return f"derivation.{self.name}"

    def render(self, document: Document) -> bytes:
        """Return a document as the bytes of its file."""
        made = import_module(self.renderer).render(document)
        return made.encode() if isinstance(made, str) else made


FORMATS = (
    Format(name="tex", renderer="symreln.report.latex", comment=("% ", ""), figures=True),
    Format(name="html", renderer="symreln.report.html", comment=("<!-- ", " -->")),
    Format(name="pdf", renderer="symreln.report.typst", comment=("% ", ""), package="typst"),
)
NAMES = ("json", *(each.name for each in FORMATS))
#: Those that are written where none is named.
USUAL = ("json", *(each.name for each in FORMATS if not each.package))


def require_formats(names: Collection[str]) -> None:
    """Refuse formats whose package is not installed, before any work is done for them.

    Raises:
        NotSupportedError: One is not.
    """
    for each in FORMATS:
        if each.name in names and each.package and find_spec(each.package) is None:
            msg = (
                f"--format {each.name}: found no package {each.package!r}, which makes it. "
                f"Install it with: pip install 'symreln[{each.name}]'"
            )
            raise NotSupportedError(msg)
