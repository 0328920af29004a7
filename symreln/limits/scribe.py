"""The child that writes the documents of a cut derivation: ``python -m symreln.limits.scribe``.

It is started before they are wanted, and then has imported what they need and cut the font.
"""

from __future__ import annotations

import json
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symreln.base.processes import first_message

if TYPE_CHECKING:
    from symreln.document.model import Document

#: What formulas of such documents consist of: a font for this is cut before they are known.
_USUAL = (
    " ".join((*string.ascii_letters, *string.digits)),
    r"\Delta \Sigma \alpha \beta \gamma \delta \epsilon \theta \lambda \mu \pi \sigma \tau \omega",
    r"\sqrt{\frac{1}{2}} + a_{1} - (2, 3) \times 10^{-4} \cdot / = < > \geq \leq . \mathrm{a}",
)


class Scribe:
    """Writes documents, quickly when asked.

    Args:
        formats: "tex", "html".
    """

    def __init__(self, formats: set[str]) -> None:
        self.formats = formats
        self._drawn: frozenset[str] = frozenset()
        self._font = b""
        if "html" in formats:
            from symreln.document.model import Document, Math, Section, prose

            blocks = tuple(prose(Math(formula)) for formula in _USUAL)
            section = Section(title="", label="sec:usual", blocks=blocks)
            self._cut(Document(title="", blocks=(section,)))

    def _cut(self, document: Document) -> str:
        """Return the page of a document; the font is cut where it lacks a character."""
        from symreln.report import font, html

        page = html.Page(document)
        if not page.characters <= self._drawn:
            self._drawn |= page.characters
            self._font = font.math_font(self._drawn)
        return page.text(self._font)

    def documents(self, partial: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield (name of the file, text), the quickest first.

        Args:
            partial: derivation.json of a derivation that was cut.
        """
        from symreln.report import latex
        from symreln.report.chapters.limits import limited_document

        document = limited_document(partial)
        if "tex" in self.formats:
            yield "derivation.tex", latex.render(document)
        if "html" in self.formats:
            yield "derivation.html", self._cut(document)


def main() -> None:
    """Make ready, then write what the second line of stdin names."""
    message = first_message()

    from symreln.limits.steps import StepWriter
    from symreln.report.chapters import limits  # noqa: F401  before it is needed in a hurry

    scribe = Scribe(set(message["request"]["formats"] or ("tex", "html")))
    line = sys.stdin.buffer.readline()
    if not line:
        return
    order = json.loads(line)
    tell = StepWriter(message["steps"])
    for name, text in scribe.documents(json.loads(Path(order["partial"]).read_bytes())):
        (Path(order["into"]) / name).write_bytes(text.encode())
        tell.say("document", {"name": name})
    tell.say("done", {})


if __name__ == "__main__":
    main()
