"""A document as PDF without TeX: Typst's source, compiled by the ``typst`` package.

Every word of a document becomes a string of Typst's, so that nothing in it is read as a command.
Fonts are those that come with the package, and the only files in reach are the source and the
figures: the same document gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import cycle, zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from symreln.base.progress import phase
from symreln.document import document_model as model
from symreln.document.escape import code_points, text_from_math, typographic
from symreln.document.tex import (
    FUNCTIONS,
    LIMITS,
    SPACES,
    SYMBOLS,
    WORDS,
    Atom,
    Row,
    columns,
    parse,
)
from symreln.report.renderer import Anchor, Renderer, breakable, breakable_code
from symreln.report.shell import asset

_ITALIC = frozenset(["Proposition", "Lemma", "Assumption"])
_BREAK = "#box();"  # without width; a line may break on both sides of a box
_APOSTROPHE = re.compile(r"(?<=\w)'")
_WIDTH = re.compile(r'<svg\b[^>]*?\bwidth="([0-9.]+)pt"')
_LINE = 442.0  # points: the width of the text on a page


@phase("PDF")
def render(document: model.Document) -> bytes:
    """Return ``document`` as a PDF file."""
    from typst import compile as compiled

    with TemporaryDirectory(prefix="symreln-") as name:
        folder = Path(name)
        main = folder / "main.typ"
        main.write_text(_source(document), encoding="utf-8")
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


def _source(document: model.Document) -> str:
    """Return the Typst source of ``document``; its figures lie beside it as SVG."""
    return _TypstRenderer(document).document()


class _TypstRenderer(Renderer):
    def document(self) -> str:
        source = self.source
        title = _str(model.plain_text(source.title))
        parts = [
            asset("page.typ"),
            f"#show: body => look({title}, body)",
            f"#title[{self.inline(source.title)}][{self.inline(source.subtitle)}]",
            *self.blocks(source.blocks, 0),
            self.bibliography(),
        ]
        return "\n\n".join(parts)

    def blocks(self, blocks: tuple[model.Block, ...], depth: int, head: str = "") -> list[str]:
        """Return blocks, the first paragraph after ``head``; those that announce keep with them."""
        shown = []
        for block, after in zip_longest(blocks, blocks[1:]):
            text = self.block(block, depth)
            if isinstance(block, model.Paragraph):
                text, head = head + text, ""
                words = model.plain_text(block.content)
                if isinstance(after, model.Equation) or words.endswith(":"):
                    text = f"#announcing[{text}]"
            shown.append(text)
        return shown

    def _equation(self, block: model.Equation, anchor: Anchor | None, depth: int) -> str:
        number = anchor.number if anchor else ""
        lines = "\\\n".join(map(_to_typst, block.lines))
        return f"#formula({_str(number)}, {_str(block.label)})[$ {lines} $]"

    def _details(self, block: model.Details, anchor: Anchor | None, depth: int) -> str:
        stop = "" if model.plain_text(block.summary).endswith(".") else "."
        head = f"#strong[{self.inline(block.summary)}{stop}]"
        return "\n\n".join(self.headed(head, block.blocks, depth))

    def _items(self, block: model.Items, anchor: None, depth: int) -> str:
        return "#list" + "".join(f"[{self.inline(item)}]" for item in block.items)

    def _section(self, block: model.Section, anchor: Anchor | None, depth: int) -> str:
        number = _str(anchor.number if anchor else "")
        head = f"#section({depth + 1}, {number}, {_str(block.label)})[{self.inline(block.title)}]"
        return "\n\n".join([head, *self.blocks(block.blocks, depth + 1)])

    def _theorem(self, block: model.Theorem, anchor: Anchor | None, depth: int) -> str:
        name = _str(anchor.text if anchor else block.kind)
        title = f" ({self.inline(block.title)})" if block.title else ""
        head = f"#strong[#{name};]{title}#strong[.]#anchor({_str(block.label)})"
        shown = self.headed(head, block.blocks, depth)
        if anchor is None:  # a proof
            words = isinstance(block.blocks[-1], model.Paragraph)
            shown[-1] = f"{shown[-1]}#ended" if words else f"#announcing[{shown[-1]}]\n\n#ended"
        body = "\n\n".join(shown)
        return f'#[#set text(style: "italic")\n{body}]' if block.kind in _ITALIC else body

    def headed(self, head: str, blocks: tuple[model.Block, ...], depth: int) -> list[str]:
        """Return blocks after a head that stands in their first line, where that is of words."""
        if blocks and isinstance(blocks[0], model.Paragraph):
            return self.blocks(blocks, depth, f"{head}#h(0.6em)")
        return [f"#announcing[{head}]", *self.blocks(blocks, depth)]

    def _table(self, block: model.Table, anchor: Anchor | None, depth: int) -> str:
        above = self.caption(block.caption, block.label, anchor)
        header = self.cells(block.header)
        body = self.cells(cell for row in block.rows for cell in row)
        return f"#tabular({above}, {_str(block.alignment)}.clusters(), {header}, {body})"

    def cells(self, cells: Iterable[model.Content]) -> str:
        return f"({''.join(f'[{self.inline(cell)}], ' for cell in cells)})"

    def _figure(self, block: model.Figure, anchor: Anchor | None, depth: int) -> str:
        drawing = self.source.drawing(block.name)
        wide = min(_width(drawing), _LINE)
        below = self.caption(block.caption, block.label, anchor)
        return f'#figure-of("{drawing.name}.svg", {wide}pt, {_str(block.alt)}, {below})'

    def caption(self, content: model.Content, label: str, anchor: Anchor | None) -> str:
        if anchor is None:
            return "none"
        return f"caption({_str(anchor.text)}, {_str(label)})[{self.inline(content)}]"

    def bibliography(self) -> str:
        sources = self.source.bibliography
        items = []
        for entry in sources:
            link = self._link(model.Link(model.Code(entry.url), entry.url)) if entry.url else ""
            place = f"#anchor({_str(_cited(entry.key))})"
            items.append(f"[{place}{self.inline(entry.content)}{' ' * bool(link)}{link}]")
        head = '#heading(level: 1)[References]\n\n#enum(numbering: "[1]")'
        return head + "".join(items) if items else ""

    def _text(self, part: str) -> str:
        words = breakable(_APOSTROPHE.sub("’", typographic(part)))
        return _BREAK.join(f"#{_str(each)};" for each in words)

    def _math(self, part: model.Math) -> str:
        return f"${_to_typst(part.latex)}$"

    def _code(self, part: model.Code) -> str:
        return _BREAK.join(f"#raw({_str(each)});" for each in breakable_code(part.value))

    def _strong(self, part: model.Strong) -> str:
        return f"#strong[{self.inline(part.content)}]"

    def _reference(self, part: model.Reference) -> str:
        return _leads(part.label, self.anchors[part.label].text)

    def _citation(self, part: model.Citation) -> str:
        return _leads(_cited(part.key), f"[{self.number_of(part)}]")

    def _link(self, part: model.Link) -> str:
        return f"#link({_str(part.target)})[{self.inline(part.content)}]"


def _leads(name: str, words: str) -> str:
    words = words.replace(" ", "\N{NO-BREAK SPACE}", 1)
    return f"#link(label({_str(name)}))[#{_str(words)};]"


def _cited(key: str) -> str:
    """Return where a citation leads; no label of a block has a space in it."""
    return f"cite {key}"


def _width(drawing: model.Drawing) -> float:
    """Return the width of a drawing in points; that of the line where it does not say."""
    found = _WIDTH.search(drawing.svg)
    return float(found[1]) if found else _LINE


_NOTHING = "#box()"  # an ordinary symbol without width: what {} is to TeX
# Characters that Typst takes for fences, or for another kind of symbol than TeX does.
_CLASSES = {r"\mid": "relation", r"\parallel": "relation", r"\colon": "punctuation"}
_SPACES = {r"\,": "thin", r"\:": "med", r"\;": "thick", r"\quad": "quad", r"\qquad": "wide"}
_CALLS = {
    "{": 'class("normal",{})', r"\displaystyle": "display({})", r"\frac": "frac({},{})",
    r"\dfrac": "display(frac({},{}))", r"\tfrac": "inline(frac({},{}))", r"\dot": "dot({})",
    r"\ddot": "dot.double({})", r"\hat": "hat({})", r"\bar": "macron({})",
    r"\tilde": "tilde({})", r"\overline": "overline({})", r"\mathbf": "upright(bold({}))",
    r"\mathbb": "bb({})", r"\mathcal": "cal({})",
}  # fmt: skip
_CALL = re.compile(r"[a-z]{2,}[(]")
_SIZES = {r"\bigl": "1.2em", r"\Bigl": "1.8em"}


def _to_typst(latex: str) -> str:
    """Return the source of Typst mathematics, without its dollar signs.

    Args:
        latex: Mathematics that :func:`symreln.document.tex.parse` accepts; it may be aligned.
    """
    return _row(parse(latex, aligned=True))


def _str(text: str) -> str:
    """Return words as a string of Typst: nothing in them is read."""
    escaped = code_points(text).replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _row(row: Row) -> str:
    """Return atoms side by side, parted only where two would be read as one word.

    Beside words and bars a space would be seen: what begins a call is parted by nothing at all.
    """
    return _joined(map(_scripted, row))


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for each in parts:
        if text[-1:].isalnum() and each[:1].isalnum():
            text += "#[]" if _CALL.match(each) else " "
        text += each
    return text


def _scripted(atom: Atom) -> str:
    scripts = (("_", atom.below), ("^", atom.above))
    return _base(atom) + "".join(
        f"{kind}({_row(row) or _NOTHING})" for kind, row in scripts if row is not None
    )


def _base(atom: Atom) -> str:
    name = atom.name
    if name in WORDS:
        return _words(name, atom.text[0])
    if atom.text:
        return _fenced(atom)
    if atom.cells:
        return _environment(atom)
    inside = [_row(row) or _NOTHING for row in atom.inside]
    if name == "{" and inside == [_NOTHING]:
        return _NOTHING
    if name == r"\sqrt":
        radicand, *degree = inside
        return f"root({degree[0]},{radicand})" if degree else f"sqrt({radicand})"
    if inside:
        return _CALLS[name].format(*inside)
    if name[1:] in FUNCTIONS:
        return _operator(name[1:], limits=name[1:] in LIMITS)
    return _symbol(name)


def _words(command: str, words: str) -> str:
    if command == r"\text":
        shown = _str(text_from_math(words).replace(" ", "\N{NO-BREAK SPACE}"))
        return f"upright({shown})" if len(words) == 1 else shown
    name = words.replace(r"\,", "\N{THIN SPACE}").replace(" ", "")
    if command == r"\mathrm":
        return f"upright({_str(name)})"
    return _operator(name, limits=False)


def _operator(name: str, *, limits: bool) -> str:
    return f"op({_str(name)}{',limits:#true' * limits})"


def _fenced(atom: Atom) -> str:
    inside = _row(atom.inside[0])
    # Typst lets the first and the last symbol grow: where there is no bracket, nothing does.
    left, right = (_NOTHING if mark == "." else _symbol(mark) for mark in atom.text)
    if atom.name == r"\left":
        return f"lr({left}{inside}{right})"
    size = _SIZES[atom.name]
    left, right = (
        f'class("{kind}",lr(size:#{size},{mark}))'
        for kind, mark in (("opening", left), ("closing", right))
    )
    return _joined([left, inside, right])


def _environment(atom: Atom) -> str:
    rows = []
    for row in atom.cells:
        cells = zip(row, cycle(columns(atom.name)), strict=False)
        rows.append(",".join(_cell(cell, mark, atom.name) for cell, mark in cells))
    options = "delim:#" + ('"("' if atom.name == "pmatrix" else "none")
    options += ",column-gap:#0pt" * (atom.name == "aligned")
    matrix = f"mat({options},{';'.join(rows)})"
    return f"script({matrix})" if atom.name == "smallmatrix" else matrix


def _cell(row: Row, letter: str, environment: str) -> str:
    """Return a cell of a matrix; an ``&`` in it pushes it to one side of its column."""
    cell = _row(row)
    if environment == "aligned":  # a relation that begins a cell has its space on both sides
        cell = f"display({_NOTHING * (letter == 'l')}{cell})"
    return {"l": f"&{cell}", "r": f"{cell}&"}.get(letter, cell)


def _symbol(name: str) -> str:
    """Return a letter, a digit, a sign, or a command that stands for one."""
    if name in SPACES:
        return _SPACES.get(name, f"#h({SPACES[name]}em)")
    shown = "∗" if name == "*" else SYMBOLS.get(name, name)
    if (shown.isascii() or shown in "⟨⟩") and not shown[0].isalnum() and name != "&":
        shown = f"\\{shown}"
    return f'class("{_CLASSES[name]}",{shown})' if name in _CLASSES else shown
