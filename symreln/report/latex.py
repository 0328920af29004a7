r"""A document as plain LaTeX: a ``.tex`` file, or a fragment of one, with PDF figures beside it.

What stands between ``\begin{document}`` and ``\end{document}`` uses amsmath, amsthm's usual names,
booktabs and graphicx, and no command of our own: it can be pasted into any paper. The same document
gives the same bytes: no dates, no versions. Text is escaped here and nowhere else; mathematics was
checked when the document was built.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil

from symreln.document import document_model as model
from symreln.document.equation_rows import display
from symreln.document.escape import escape_latex, text_from_math, typographic
from symreln.document.letter_widths import aligned_width, latex_width
from symreln.document.tex import tokens
from symreln.report.latex_style import LEVELS, Style
from symreln.report.renderer import Anchor, Renderer, breakable, breakable_code
from symreln.report.shell import asset

_FRAGMENT = r"""% To \input into a paper with amsmath, amsthm, booktabs and graphicx; letters beyond
% ASCII need the encoding T1, and statements, where there are any, theorems named proposition,
% lemma, assumption, definition and remark. Lines and tables are laid out for a text 156 mm wide at
% 11 pt; in a narrower one the widest stick out.
"""

# Letters of mathematics (see latex_width) that fit on a line of the page beside a number.
_LINE = 64.0
_BREAK = r"\allowbreak{}"


def render(document: model.Document, style: Style | None = None) -> str:
    """Return ``document`` as the text of a LaTeX file."""
    return _LatexRenderer(document, style or Style()).document()


def fragment(document: model.Document, style: Style | None = None) -> str:
    r"""Return ``document`` as text for ``\input``: its sections, without preamble and title."""
    return _LatexRenderer(document, style or Style()).fragment()


class _LatexRenderer(Renderer):
    def __init__(self, source: model.Document, style: Style) -> None:
        super().__init__(source)
        self.style = style

    def document(self) -> str:
        source = self.source
        parts = [
            asset("preamble.tex"),
            rf"\hypersetup{{pdftitle={{{escape_latex(model.plain_text(source.title))}}}}}",
            rf"\title{{\vspace{{-12mm}}{self.inline(source.title)}}}",
            rf"\author{{{self.inline(source.subtitle)}}}",
            r"\date{}",
            "",
            r"\begin{document}",
            r"\maketitle",
            "",
            *self.blocks(source.blocks, 0),
            *self.bibliography(),
            r"\end{document}",
        ]
        return "\n".join(parts) + "\n"

    def fragment(self) -> str:
        sources = [f"% {line}" for line in self.bibliography() if line.startswith(r"\bibitem")]
        heading = ["% Sources that it cites:", *sources] if sources else []
        return _FRAGMENT + "\n".join([*heading, "", *self.blocks(self.source.blocks, 0)]) + "\n"

    def blocks(self, blocks: tuple[model.Block, ...], depth: int) -> list[str]:
        """Return the lines of ``blocks``; a display belongs to the paragraph before it."""
        lines: list[str] = []
        for block, after in zip(blocks, (*blocks[1:], None), strict=False):
            lines.append(self.block(block, depth))
            if not (isinstance(block, model.Paragraph) and isinstance(after, model.Equation)):
                lines.append("")
        return lines

    def titled(self, title: str, blocks: tuple[model.Block, ...], depth: int) -> str:
        """Return blocks below a title that text would run into; what is no text begins a line."""
        if blocks and not isinstance(blocks[0], model.Paragraph):
            title += r"\leavevmode"
        return "\n".join([title, *self.blocks(blocks, depth)]).rstrip()

    def _section(self, block: model.Section, anchor: Anchor | None, depth: int) -> str:
        level = LEVELS[self.style.level - 1 + depth]
        head = rf"\{level}{self.heading(block.title)}{self.label(block.label)}"
        return "\n".join([head, "", *self.blocks(block.blocks, depth + 1)]).rstrip()

    def heading(self, title: model.Content) -> str:
        """Return a title; bookmarks take words without mathematics, as contents do."""
        shown, words = self.inline(title), escape_latex(model.plain_text(title))
        plain = all(isinstance(part, str) for part in model.inlines(title))
        return f"{{{shown}}}" if plain else f"[{{{words}}}]{{{shown}}}"

    def _theorem(self, block: model.Theorem, anchor: Anchor | None, depth: int) -> str:
        name = block.kind.lower()
        title = rf"[{{{self.inline(block.title)}}}]" if block.title else ""
        begin = rf"\begin{{{name}}}{title}{self.label(block.label)}"
        return "\n".join([self.titled(begin, block.blocks, depth), rf"\end{{{name}}}"])

    def _table(self, block: model.Table, anchor: Anchor | None, depth: int) -> str:
        """Return a table; what is too tall for a page goes on in another, without a number."""
        shares, fits = _shares(block)
        end = r" \tabularnewline" if shares else r" \\"  # \raggedright has another short form
        rows = [self.row(block, row, shares) for row in block.rows]
        high = [r"\frac" in row for row in rows]  # as high as rows are, and would touch
        rows = [row + end + "[0.7ex]" * any(high[k : k + 2]) for k, row in enumerate(rows)]
        bold = tuple(map(model.Strong, block.header))
        head = [r"\toprule", self.row(block, bold, shares) + end, r"\midrule"]
        columns = "".join(
            rf"p{{{shares[place]:.3f}\linewidth}}" if place in shares else mark
            for place, mark in enumerate(block.alignment.replace("p", "l"))
        )
        heights = [
            max([ceil(1.1 * _width(row[p]) / share) for p, share in shares.items()], default=1)
            for row in block.rows
        ]
        pieces = []
        for start, stop in pairwise(_breaks(heights, _PAGE if block.caption else _TALL)):
            lines = [*head, *rows[start:stop], r"\bottomrule", r"\end{tabular}"]
            tabular = "\n".join([rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", *lines])
            pieces.append(tabular if fits else f"\\resizebox{{\\linewidth}}{{!}}{{%\n{tabular}}}")
        if not block.caption:
            return "\n\n".join(f"\\begin{{center}}\\small\n{p}\n\\end{{center}}" for p in pieces)
        # Elsewhere tables float as the class lets them; our preamble keeps small ones in place.
        begin = r"\begin{table}" + "[htbp]" * (sum(heights) > _TALL)
        above = rf"\caption{{{self.inline(block.caption)}}}{self.label(block.label)}"
        found: list[str] = []
        for tabular in pieces:
            found += [begin, r"\centering\small", above, r"\smallskip", tabular, r"\end{table}"]
            above = r"(continued)\par"
        return "\n".join(found)

    def row(
        self, block: model.Table, cells: tuple[model.Content, ...], shares: dict[int, float]
    ) -> str:
        """Return the cells of a row."""
        ragged = [_RAGGED[mark] * (k in shares) for k, mark in enumerate(block.alignment)]
        row = " & ".join(
            begin + self.inline(cell) for begin, cell in zip(ragged, cells, strict=True)
        )
        # After the \\ of the row above, a bracket or star would be its argument.
        return "{}" + row if row.startswith(("[", "*")) else row

    def _figure(self, block: model.Figure, anchor: Anchor | None, depth: int) -> str:
        shown = rf"\includegraphics[width=\linewidth]{{{self.style.figures}/{block.name}.pdf}}"
        if not block.caption:
            return "\n".join([r"\begin{center}", shown, r"\end{center}"])
        caption = rf"\caption{{{self.inline(block.caption)}}}{self.label(block.label)}"
        return "\n".join([r"\begin{figure}", r"\centering", shown, caption, r"\end{figure}"])

    def _details(self, block: model.Details, anchor: Anchor | None, depth: int) -> str:
        summary = rf"\paragraph{{{self.inline(block.summary).rstrip('.')}.}}"
        return self.titled(summary, block.blocks, depth)

    def _items(self, block: model.Items, anchor: None, depth: int) -> str:
        # An item's bracket would be its option.
        items = map(self.inline, block.items)
        lines = [r"\item " + "{}" * item.startswith("[") + item for item in items]
        return "\n".join([r"\begin{itemize}", *lines, r"\end{itemize}"])

    def bibliography(self) -> list[str]:
        sources = self.source.bibliography
        if not sources:
            return []
        entries = []
        for entry in sources:
            url = " " + self._code(model.Code(entry.url)) if entry.url else ""
            entries.append(rf"\bibitem{{{entry.key}}} {self.inline(entry.content)}{url}")
        width = rf"\begin{{thebibliography}}{{{len(sources)}}}"
        return [width, r"\raggedright\samepage", *entries, r"\end{thebibliography}", ""]

    def _text(self, part: str) -> str:
        return _BREAK.join(map(escape_latex, breakable(typographic(part))))

    def _math(self, part: model.Math) -> str:
        return f"${_printed(part.latex)}$"

    def _code(self, part: model.Code) -> str:
        return rf"\texttt{{{_BREAK.join(map(escape_latex, breakable_code(part.value)))}}}"

    def _strong(self, part: model.Strong) -> str:
        return rf"\textbf{{{self.inline(part.content)}}}"

    def _reference(self, part: model.Reference) -> str:
        anchor, name = self.anchors[part.label], self.style.prefix + part.label
        equation = anchor.kind == "Equation"
        return rf"\eqref{{{name}}}" if equation else rf"{anchor.kind}~\ref{{{name}}}"

    def _citation(self, part: model.Citation) -> str:
        return rf"\cite{{{part.key}}}"

    def _link(self, part: model.Link) -> str:
        return f"{self.inline(part.content)} ({self._code(model.Code(part.target))})"

    def label(self, label: str) -> str:
        return rf"\label{{{self.style.prefix}{label}}}" if label else ""

    def _equation(self, block: model.Equation, anchor: Anchor | None, depth: int) -> str:
        """Return a display; its number, where it has one, is that of the whole."""
        found, aligned = display(block.lines, _LINE)
        star, tag = self.number(anchor)
        kind = "align" if aligned else "gather" * (len(found) > 1)
        # Without a number its environment is one of several lines.
        name, inner = "equation", kind and f"{kind}ed"
        if kind and star and not tag:
            name, inner = kind, ""
        rows = [
            _printed(row) if aligned or latex_width(row) <= _LINE else _shrunk(_printed(row))
            for row in found
        ]
        body = _rows(rows, inner)
        if aligned and aligned_width(found) > _LINE:
            body = _shrunk(_rows(rows, "aligned"))
        begin = f"\\begin{{{name}{star}}}{tag}{self.label(block.label)}"
        return f"{begin}\n{body}\n\\end{{{name}{star}}}"

    def number(self, anchor: Anchor | None) -> tuple[str, str]:
        """Return the star of an equation without a number of the paper, and its own tag."""
        numbering = self.style.numbering
        if numbering == "all" or (anchor and numbering == "labelled"):
            return "", ""
        return "*", rf"\tag{{{numbering}{anchor.number}}}" if anchor else ""


def _rows(rows: list[str], name: str) -> str:
    body = " \\\\\n".join(rows)
    return f"\\begin{{{name}}}\n{body}\n\\end{{{name}}}" if name else body


def _printed(latex: str) -> str:
    r"""Return mathematics for pdfTeX; rows of matrices that hold fractions are set apart."""
    parts = [_for_print(part) for part in tokens(latex)]
    marks = [p for p, part in enumerate(parts) if part.startswith((r"\begin", r"\\", r"\end"))]
    for before, place, after in zip(marks, marks[1:], marks[2:], strict=False):
        if parts[place] == r"\\" and r"\frac" in parts[before:after]:
            parts[place] = r"\\[0.7ex]"
    return "".join(parts)


def _for_print(part: str) -> str:
    r"""Return a token of mathematics: words in ``\text`` are escaped for pdfTeX."""
    if part.startswith(r"\text{"):
        return rf"\text{{{escape_latex(text_from_math(part[6:-1]))}}}"
    # The other needs a package beyond amsmath.
    return r"\mathbf" if part == r"\mathbb" else part


def _shrunk(body: str) -> str:
    """Return mathematics that cannot be broken, such as a fraction of numbers, as wide as a line.

    Beside a number of the equation.
    """
    return rf"\resizebox{{0.92\linewidth}}{{!}}{{$\displaystyle {body}$}}"


# Of the line: a letter of words; the gap between columns; the narrowest column that wraps.
_LETTER, _GAP, _NARROWEST = 0.0113, 0.0275, 0.18
_BOLD, _CODE, _MATH = 1.2, 1.1, 1.14  # of a letter
_TALL = 20  # lines; a table that has more floats, and without a caption it comes in pieces
_PAGE = 38  # lines that surely fit on a page

_LEFT = r"\raggedright "
_RAGGED = {"l": _LEFT, "p": _LEFT, "c": r"\centering ", "r": r"\raggedleft "}


def _breaks(heights: Sequence[int], most: int) -> Iterator[int]:
    """Yield where pieces of about ``most`` lines begin, and the end."""
    yield 0
    used = 0
    for place, height in enumerate(heights):
        if used and used + height > most:
            yield place
            used = 0
        used += height
    yield len(heights)


def _shares(block: model.Table) -> tuple[dict[int, float], bool]:
    """Return the width of each column that wraps, as a share of the line; and whether all fit.

    Columns of words wrap, those that are made for it first, then the widest, until the table fits.
    """
    cells = zip(map(model.Strong, block.header), *block.rows, strict=True)
    natural = [max(map(_width, column)) for column in cells]
    room = 1 - _GAP * (len(natural) - 1)
    if sum(natural) <= room:
        return {}, True
    order = [place for place, mark in enumerate(block.alignment) if mark in "lp"]
    order.sort(key=lambda place: (block.alignment[place] != "p", -natural[place]))
    made = max(block.alignment.count("p"), 1)
    for chosen in (order[:count] for count in range(made, len(order) + 1)):
        rest = room - sum(wide for place, wide in enumerate(natural) if place not in chosen)
        least = {place: min(natural[place], _NARROWEST) for place in chosen}
        spare = rest - sum(least.values())
        if spare >= 0:
            whole = sum(natural[place] for place in chosen)
            return {p: least[p] + spare * natural[p] / whole for p in chosen}, True
    return {}, False


def _width(cell: model.Content) -> float:
    """Return about how wide a cell is on one line, as a share of the line."""
    return _LETTER * sum(map(_letters, model.inlines(cell)))


def _letters(part: object) -> float:
    match part:
        case model.Math(latex):
            return _MATH * latex_width(latex, text=True)
        case model.Strong(inner):
            return _BOLD * sum(map(_letters, model.inlines(inner)))
        case model.Code(value):
            return _CODE * len(value)
        case _:
            return len(model.plain_text((part,)))  # pyright: ignore[reportArgumentType]
