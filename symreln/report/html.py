"""A document as one HTML file that loads nothing: formulas as MathML, font and figures inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import repeat

from symreln.base.progress import phase
from symreln.document import document_model as model
from symreln.document.escape import escape_html, typographic
from symreln.document.letter_widths import latex_width
from symreln.errors import InputError
from symreln.report.looks import INK_SHARES, LIT
from symreln.report.mathml import lines_to_mathml, to_mathml
from symreln.report.renderer import Anchor, Renderer
from symreln.report.shell import whole_page

_LEADS_AWAY = (model.Link, model.Reference, model.Citation)
_COLUMN = 45.0  # letters of mathematics across the text on a wide screen
_PHONE = 14.0  # and across a fold on a narrow one


def render(document: model.Document) -> str:
    """Return ``document`` as the text of an HTML page."""
    renderer = _HtmlRenderer(document)
    body = renderer.body()
    title = model.plain_text(document.title)
    return whole_page(title, renderer.illustrated(body))


def framed(document: model.Document, summary: str) -> str:
    """Return ``document`` as a folded frame that can stand inside another page.

    The frame keeps the two pages' styles apart. It runs the page's own script, out of reach of the
    page around it, and may load nothing.
    """
    # The page is clean already; only its quotes and brackets are in the way of an attribute.
    page = escape(render(document), quote=True)
    return (
        f"<details><summary>{escape_html(summary)}</summary>"
        f'<iframe sandbox="allow-scripts" srcdoc="{page}" title="{escape_html(summary)}" '
        'style="width: 100%; height: 40em; border: 1px solid #8886"></iframe></details>'
    )


class _HtmlRenderer(Renderer):
    def __init__(self, source: model.Document) -> None:
        super().__init__(source)
        self.contents: list[tuple[int, str, str, str]] = []
        self.figures: dict[str, model.Figure] = {}

    def body(self) -> str:
        source = self.source
        title = self.inline(source.title)
        subtitle = self.inline(source.subtitle)
        main = self.blocks(source.blocks, 0) + self.bibliography()
        parts = [
            '<a class="skip" href="#content">Skip to the content</a>',
            f"<header>\n<h1>{title}</h1>",
            *([f'<p class="subtitle">{subtitle}</p>'] if subtitle else []),
            "</header>",
            *_contents(self.contents),
            f'<main id="content">\n{main}</main>',
        ]
        return "\n".join(parts)

    def blocks(self, blocks: tuple[model.Block, ...], depth: int) -> str:
        return "".join(self.block(block, depth) + "\n" for block in blocks)

    def _paragraph(self, block: model.Paragraph, anchor: None, depth: int) -> str:
        return f"<p>{self.inline(block.content)}</p>"

    def _details(self, block: model.Details, anchor: Anchor | None, depth: int) -> str:
        summary = f"<summary>{self.inline(block.summary)}</summary>"
        return f"<details>\n{summary}\n{self.blocks(block.blocks, depth)}</details>"

    def _items(self, block: model.Items, anchor: None, depth: int) -> str:
        return (
            "<ul>\n" + "".join(f"<li>{self.inline(item)}</li>\n" for item in block.items) + "</ul>"
        )

    def _section(self, block: model.Section, anchor: Anchor | None, depth: int) -> str:
        number = anchor.number if anchor else ""
        name = block.label or f"section-{number}"
        title = self.inline(block.title)
        self.contents.append((depth, number, name, self.inline(_without_links(block.title))))
        tag = f"h{depth + 2}"
        head = f'<{tag}><span class="number">{number}</span>{title}</{tag}>'
        return f'<section id="{name}">\n{head}\n{self.blocks(block.blocks, depth + 1)}</section>'

    def _equation(self, block: model.Equation, anchor: Anchor | None, depth: int) -> str:
        number = f'<span class="number">{anchor.text}</span>' if anchor else ""
        # Only what may need scrolling is a stop for the keyboard.
        stop = ' tabindex="0"' if max(map(latex_width, block.lines)) > _COLUMN else ""
        return (
            f'<div class="equation"{_id(block.label)}>'
            f'<div class="scroll"{stop}>{lines_to_mathml(block.lines)}</div>{number}</div>'
        )

    def _theorem(self, block: model.Theorem, anchor: Anchor | None, depth: int) -> str:
        name = f"{anchor.text}" if anchor else block.kind
        title = f" ({self.inline(block.title)})" if block.title else ""
        kind = "statement" if anchor else "proof"
        body = self.blocks(block.blocks, depth)
        return (
            f'<div class="theorem {kind}"{_id(block.label)}>'
            f'<span class="head">{name}{title}.</span>\n'
            f"{body if anchor else _ended(body)}</div>"
        )

    def _table(self, block: model.Table, anchor: Anchor | None, depth: int) -> str:
        head = self.row(block, block.header, repeat('th scope="col"'))
        tags = ['th scope="row"', *["td"] * (len(block.header) - 1)]  # the first says of what
        rows = "".join(f"<tr>{self.row(block, row, tags)}</tr>\n" for row in block.rows)
        named = f' aria-label="{anchor.text}"' if anchor else ""
        table = f"<table{named}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
        # A caption in the table would be scrolled away with it.
        return (
            f"<figure{_id(block.label)}>\n{self.caption(block.caption, anchor)}"
            f"{_scrolled(table, anchor)}\n</figure>"
        )

    def row(self, block: model.Table, cells: tuple[model.Content, ...], tags: Iterable[str]) -> str:
        """Return the cells of a row in their tags."""
        return "".join(
            f'<{tag} class="{mark}">{self.inline(cell)}</{tag[:2]}>'
            for tag, mark, cell in zip(tags, block.alignment, cells, strict=False)
        )

    def _figure(self, block: model.Figure, anchor: Anchor | None, depth: int) -> str:
        drawing = f"\0{len(self.figures)}\0"  # no text has a null character
        self.figures[drawing] = block
        return (
            f"<figure{_id(block.label)}>\n{_scrolled(drawing, anchor, 'drawing ')}\n"
            f"{self.caption(block.caption, anchor)}</figure>"
        )

    @phase("figures")
    def illustrated(self, body: str) -> str:
        """Return the body with its drawings, which may still be with whoever draws them."""
        for place, block in self.figures.items():
            drawing = _inline_svg(self.source.drawing(block.name), block.alt)
            body = body.replace(place, drawing)
        return body

    def caption(self, content: model.Content, anchor: Anchor | None) -> str:
        if not anchor:
            return ""
        number = f'<span class="number">{anchor.text}.</span>'
        return f"<figcaption>{number}{self.inline(content)}</figcaption>\n"

    def bibliography(self) -> str:
        sources = self.source.bibliography
        if not sources:
            return ""
        items = []
        for entry in sources:
            link = _address(entry.url, escape_html(entry.url)) if entry.url else ""
            items.append(f'<li id="cite-{entry.key}">{self.inline(entry.content)} {link}</li>\n')
        self.contents.append((0, "", "bibliography", "References"))
        return (
            '<section id="bibliography">\n<h2>References</h2>\n'
            f'<ol class="bibliography">\n{"".join(items)}</ol>\n</section>\n'
        )

    def inline(self, content: model.Content) -> str:
        """Return content, with the stop that follows a formula on the formula's line."""
        shown: list[str] = []
        formula = False
        for part in model.inlines(content):
            if not (words := self.one(part)):
                continue
            stop = _STOP.match(words) if formula and isinstance(part, str) else None
            if stop:
                shown[-1] = f'<span class="kept">{shown[-1]}{stop[0]}</span>'
                words = words[stop.end() :]
            shown.append(words)
            formula = isinstance(part, model.Math)
        return "".join(shown)

    def _text(self, part: str) -> str:
        return escape_html(typographic(part))

    def _math(self, part: model.Math) -> str:
        return to_mathml(part.latex, wide=latex_width(part.latex) > _PHONE)

    def _code(self, part: model.Code) -> str:
        return f"<code>{escape_html(part.value)}</code>"

    def _strong(self, part: model.Strong) -> str:
        return f"<strong>{self.inline(part.content)}</strong>"

    def _reference(self, part: model.Reference) -> str:
        return f'<a href="#{part.label}">{self.anchors[part.label].text}</a>'

    def _citation(self, part: model.Citation) -> str:
        return f'<a href="#cite-{part.key}">[{self.number_of(part)}]</a>'

    def _link(self, part: model.Link) -> str:
        return _address(part.target, self.inline(part.content))


def _scrolled(inside: str, anchor: Anchor | None, kind: str = "") -> str:
    """Return what may be wider than a phone in a box of its own, which the keyboard can scroll."""
    named = f' role="group" aria-label="{anchor.text}"' if anchor else ""
    return f'<div class="{kind}scroll" tabindex="0"{named}>{inside}</div>'


def _contents(entries: list[tuple[int, str, str, str]]) -> list[str]:
    """Return the table of contents: two levels, left out where there is nothing to choose."""
    shown = [entry for entry in entries if entry[0] < 2]
    if len(shown) < 3:
        return []
    lines, level = ['<nav aria-label="Contents">', "<details>", _CONTENTS, "<ol>"], 0
    for depth, number, name, title in shown:
        if depth > level:
            lines.append("<ol>")
        elif lines[-1] != "<ol>":
            lines.append("</li>" if depth == level else "</li></ol></li>")
        level = depth
        shown = f'<span class="number">{number}</span>{title}' if number else title
        lines.append(f'<li><a href="#{name}">{shown}</a>')
    lines.append("</li></ol>" * (level + 1))
    return [*lines, "</details>", "</nav>"]


def _without_links(content: model.Content) -> model.Content:
    """Return ``content`` fit to stand inside a link: a link cannot hold another."""
    parts = model.inlines(content)
    return tuple(model.plain_text(p) if isinstance(p, _LEADS_AWAY) else p for p in parts)


def _address(url: str, words: str) -> str:
    return f'<a href="{escape_html(url)}" rel="noopener noreferrer">{words}</a>'


def _ended(body: str) -> str:
    """Return a proof with its end marked: on its last line, where that is one of words."""
    mark = '<span class="end" aria-hidden="true">□</span>'
    if body.endswith("</p>\n"):
        return body.removesuffix("</p>\n") + f"{mark}</p>\n"
    return f"{body}<p>{mark}</p>\n"


def _id(label: str) -> str:
    return f' id="{label}"' if label else ""


_CONTENTS = "<summary>Contents</summary>"
_STOP = re.compile(r"[.,;:)\]]+")


_ROOT = re.compile(r"<svg\b[^>]*>")
# Comments repeat the labels; the style sheet would apply to the whole page, so it becomes two
# attributes of the drawing.
_LEFT_OUT = re.compile(r"<!--.*?-->|<metadata>.*?</metadata>|<style\b.*?</style>", re.DOTALL)
_STYLE = 'fill="currentColor" stroke-linejoin="round" stroke-linecap="butt"'
_IDENTIFIER = re.compile(r'(\bid="|\bxlink:href="#|\bhref="#|url\(#)')
_SIZE = re.compile(r'\b(width|height|viewBox)="([^"]*)"')
# Figures are drawn for 8.5 pt words on paper; beside a page's larger words they are larger too.
_SCALE = 1.2
# A drawing is words, paths and data: images. Whatever else an SVG can hold, it is not ours.
_FOREIGN = re.compile(
    r"<\s*(?:script|foreignObject|iframe)|\bon[a-z]+\s*=|(?:xlink:)?href=\"(?!#|data:image/)",
    re.IGNORECASE,
)


def _inline_svg(drawing: model.Drawing, description: str) -> str:
    """Return the ``svg`` element of ``drawing``: identifiers its own, described, nothing fetched.

    Raises:
        InputError: The drawing holds a script or loads something.
    """
    svg = _LEFT_OUT.sub("", drawing.svg)
    found = _FOREIGN.search(svg)
    root = _ROOT.search(svg)
    if found or not root:
        what = repr(found[0]) if found else "no svg element"
        msg = f"figure {drawing.name!r}: found {what}. Draw it with symreln.report."
        raise InputError(msg)
    body = _IDENTIFIER.sub(rf"\g<1>{drawing.name}-", svg[root.end() :])
    body = _COLOUR.sub(lambda found: f"{found[1]}{_followed(found[2])}", body)
    size = " ".join(_sized(root[0]))
    return (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" {size} {_STYLE} role="img" '
        f'aria-label="{escape_html(description)}">{body.strip()}'
    )


def _sized(root: str) -> Iterator[str]:
    """Yield the size attributes of the root element, scaled to the page's words."""
    for name, value in _SIZE.findall(root):
        scaled = value if name == "viewBox" else f"{float(value.removesuffix('pt')) * _SCALE:.1f}pt"
        yield f'{name}="{scaled}"'


_COLOUR = re.compile(r"\b((?:fill|stroke|stop-color): )(#[0-9a-f]{6})\b")


def _followed(colour: str) -> str:
    """Return a colour of a drawing on white so that it follows the page from light to dark."""
    if colour in INK_SHARES:
        return f"color-mix(in srgb, var(--ink) {INK_SHARES[colour]}%, var(--paper))"
    return f"light-dark({colour}, {LIT[colour]})" if colour in LIT else colour
