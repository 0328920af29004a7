"""A document as PDF without TeX: Typst's source, compiled by the ``typst`` package.

Every word of a document becomes a string of Typst's, so that nothing in it is read as a command.
Fonts are those that come with the package, and the only files in reach are the source and the
figures: the same document gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from symreln.base.progress import phase
from symreln.document.escape import typographic
from symreln.document.model import (
    Block,
    Citation,
    Code,
    Content,
    Details,
    Document,
    Drawing,
    Equation,
    Figure,
    Items,
    Link,
    Math,
    Paragraph,
    Reference,
    Section,
    Strong,
    Table,
    Text,
    Theorem,
    plain_text,
)
from symreln.report.renderer import Anchor, Renderer, breakable, breakable_code
from symreln.report.shell import asset
from symreln.report.typst_math import string, to_typst

_ITALIC = frozenset(["Proposition", "Lemma", "Assumption"])
_BREAK = "#box();"  # without width; a line may break on both sides of a box
_APOSTROPHE = re.compile(r"(?<=\w)'")
_WIDTH = re.compile(r'<svg\b[^>]*?\bwidth="([0-9.]+)pt"')
_LINE = 442.0  # points: the width of the text on a page


@phase("PDF")
def render(document: Document) -> bytes:
    """Return ``document`` as a PDF file."""
    from typst import compile as compiled

    with TemporaryDirectory(prefix="symreln-") as name:
        folder = Path(name)
        main = folder / "main.typ"
        main.write_text(source(document), encoding="utf-8")
        for drawing in document.figures:
            (folder / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8")
        # Packages would be fetched from the network: none is there, and no other folder is seen.
        return compiled(
            main,
            root=folder,
            package_path=folder,
            package_cache_path=folder,
            ignore_system_fonts=True,
        )


def source(document: Document) -> str:
    """Return the Typst source of ``document``; its figures lie beside it as SVG."""
    return _TypstRenderer(document).document()


class _TypstRenderer(Renderer):
    def document(self) -> str:
        source = self.source
        title = string(plain_text(source.title))
        parts = [
            asset("page.typ"),
            f"#show: body => look({title}, body)",
            f"#title[{self.inline(source.title)}][{self.inline(source.subtitle)}]",
            *self.blocks(source.blocks, 0),
            self.bibliography(),
        ]
        return "\n\n".join(parts)

    def blocks(self, blocks: tuple[Block, ...], depth: int, head: str = "") -> list[str]:
        """Return blocks, the first paragraph after ``head``; those that announce keep with them."""
        shown = []
        for block, after in zip_longest(blocks, blocks[1:]):
            text = self.block(block, depth)
            if isinstance(block, Paragraph):
                text, head = head + text, ""
                if isinstance(after, Equation) or plain_text(block.content).endswith(":"):
                    text = f"#announcing[{text}]"
            shown.append(text)
        return shown

    def _equation(self, block: Equation, anchor: Anchor | None, depth: int) -> str:
        number = anchor.number if anchor else ""
        lines = "\\\n".join(map(to_typst, block.lines))
        return f"#formula({string(number)}, {string(block.label)})[$ {lines} $]"

    def _details(self, block: Details, anchor: Anchor | None, depth: int) -> str:
        stop = "" if plain_text(block.summary).endswith(".") else "."
        head = f"#strong[{self.inline(block.summary)}{stop}]"
        return "\n\n".join(self.headed(head, block.blocks, depth))

    def _items(self, block: Items, anchor: None, depth: int) -> str:
        return "#list" + "".join(f"[{self.inline(item)}]" for item in block.items)

    def _section(self, block: Section, anchor: Anchor | None, depth: int) -> str:
        number = string(anchor.number if anchor else "")
        head = f"#section({depth + 1}, {number}, {string(block.label)})[{self.inline(block.title)}]"
        return "\n\n".join([head, *self.blocks(block.blocks, depth + 1)])

    def _paragraph(self, block: Paragraph, anchor: None, depth: int) -> str:
        return self.inline(block.content)

    def _theorem(self, block: Theorem, anchor: Anchor | None, depth: int) -> str:
        name = string(anchor.text if anchor else block.kind)
        title = f" ({self.inline(block.title)})" if block.title else ""
        head = f"#strong[#{name};]{title}#strong[.]#anchor({string(block.label)})"
        shown = self.headed(head, block.blocks, depth)
        if anchor is None:  # a proof
            words = isinstance(block.blocks[-1], Paragraph)
            shown[-1] = f"{shown[-1]}#ended" if words else f"#announcing[{shown[-1]}]\n\n#ended"
        body = "\n\n".join(shown)
        return f'#[#set text(style: "italic")\n{body}]' if block.kind in _ITALIC else body

    def headed(self, head: str, blocks: tuple[Block, ...], depth: int) -> list[str]:
        """Return blocks after a head that stands in their first line, where that is of words."""
        if blocks and isinstance(blocks[0], Paragraph):
            return self.blocks(blocks, depth, f"{head}#h(0.6em)")
        return [f"#announcing[{head}]", *self.blocks(blocks, depth)]

    def _table(self, block: Table, anchor: Anchor | None, depth: int) -> str:
        above = self.caption(block.caption, block.label, anchor)
        header = self.cells(block.header)
        body = self.cells(cell for row in block.rows for cell in row)
        return f"#tabular({above}, {string(block.alignment)}.clusters(), {header}, {body})"

    def cells(self, cells: Iterable[Content]) -> str:
        return f"({''.join(f'[{self.inline(cell)}], ' for cell in cells)})"

    def _figure(self, block: Figure, anchor: Anchor | None, depth: int) -> str:
        drawing = self.source.drawing(block.name)
        wide = min(_width(drawing), _LINE)
        below = self.caption(block.caption, block.label, anchor)
        return f'#figure-of("{drawing.name}.svg", {wide}pt, {string(block.alt)}, {below})'

    def caption(self, content: Content, label: str, anchor: Anchor | None) -> str:
        if anchor is None:
            return "none"
        return f"caption({string(anchor.text)}, {string(label)})[{self.inline(content)}]"

    def bibliography(self) -> str:
        sources = self.source.bibliography
        items = []
        for entry in sources:
            url = f" #link({string(entry.url)})[{self._code(Code(entry.url))}]" if entry.url else ""
            place = f"#anchor({string(_cited(entry.key))})"
            items.append(f"[{place}{self.inline(entry.content)}{url}]")
        head = '#heading(level: 1)[References]\n\n#enum(numbering: "[1]")'
        return head + "".join(items) if items else ""

    def _text(self, part: Text) -> str:
        words = breakable(_APOSTROPHE.sub("’", typographic(part.value)))
        return _BREAK.join(f"#{string(each)};" for each in words)

    def _math(self, part: Math) -> str:
        return f"${to_typst(part.latex)}$"

    def _code(self, part: Code) -> str:
        return _BREAK.join(f"#raw({string(each)});" for each in breakable_code(part.value))

    def _strong(self, part: Strong) -> str:
        return f"#strong[{self.inline(part.content)}]"

    def _reference(self, part: Reference) -> str:
        return _leads(part.label, self.anchors[part.label].text)

    def _citation(self, part: Citation) -> str:
        return _leads(_cited(part.key), f"[{self.number_of(part)}]")

    def _link(self, part: Link) -> str:
        return f"#link({string(part.target)})[{self.inline(part.content)}]"


def _leads(name: str, words: str) -> str:
    words = words.replace(" ", "\N{NO-BREAK SPACE}", 1)
    return f"#link(label({string(name)}))[#{string(words)};]"


def _cited(key: str) -> str:
    """Return where a citation leads; no label of a block has a space in it."""
    return f"cite {key}"


def _width(drawing: Drawing) -> float:
    """Return the width of a drawing in points; that of the line where it does not say."""
    found = _WIDTH.search(drawing.svg)
    return float(found[1]) if found else _LINE
