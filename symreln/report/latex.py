r"""A document as plain LaTeX: a ``.tex`` file, or a fragment of one, with PDF figures beside it.

What stands between ``\begin{document}`` and ``\end{document}`` uses amsmath, amsthm's usual names,
booktabs and graphicx, and no command of our own: it can be pasted into any paper. The same document
gives the same bytes: no dates, no versions. Text is escaped here and nowhere else; mathematics was
checked when the document was built.
"""

from __future__ import annotations

import re

from symreln.document.escape import clean, escape_latex, text_from_math, typographic
from symreln.document.model import (
    Block,
    Citation,
    Code,
    Content,
    Details,
    Document,
    Equation,
    Figure,
    Inline,
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
    inlines,
    plain_text,
)
from symreln.document.rows import display
from symreln.document.tex import tokens
from symreln.document.widths import aligned_width, latex_width
from symreln.report.latex_style import LEVELS, Style
from symreln.report.latex_tables import table
from symreln.report.numbering import Anchor, anchors

_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=27mm]{geometry}
\usepackage{amsmath,amsthm}
\usepackage{booktabs,graphicx}
\usepackage{caption,float}
\usepackage[colorlinks,allcolors=black,unicode]{hyperref}

% Statements share one counter, so that they are found in order.
\newtheorem{proposition}{Proposition}
\newtheorem{lemma}[proposition]{Lemma}
\newtheorem{assumption}[proposition]{Assumption}
\theoremstyle{definition}
\newtheorem{definition}[proposition]{Definition}
\theoremstyle{remark}
\newtheorem{remark}[proposition]{Remark}

% Tables and figures stay where they are mentioned.
\floatplacement{table}{H}
\floatplacement{figure}{H}
\renewcommand{\topfraction}{0.9}
\renewcommand{\textfraction}{0.07}
\renewcommand{\floatpagefraction}{0.9}
\captionsetup[table]{position=above,skip=3pt}
\setcounter{secnumdepth}{3}
\setlength{\emergencystretch}{3em}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 2pt}
\setlength{\jot}{6pt}
\renewcommand{\arraystretch}{1.2}
\raggedbottom
\allowdisplaybreaks
"""
_FRAGMENT = r"""% To \input into a paper with amsmath, amsthm, booktabs and graphicx; letters beyond
% ASCII need the encoding T1, and statements, where there are any, theorems named proposition,
% lemma, assumption, definition and remark. Lines and tables are laid out for a text 156 mm wide at
% 11 pt; in a narrower one the widest stick out.
"""

# Letters of mathematics (see latex_width) that fit on a line of the page beside a number.
LINE = 64.0
_LONG_WORD = 24  # letters; TeX finds no hyphenation in file names and keys


def render(document: Document, style: Style | None = None) -> str:
    """Return ``document`` as the text of a LaTeX file."""
    return _Renderer(document, style or Style()).document()


def fragment(document: Document, style: Style | None = None) -> str:
    r"""Return ``document`` as text for ``\input``: its sections, without preamble and title."""
    return _Renderer(document, style or Style()).fragment()


class _Renderer:
    def __init__(self, source: Document, style: Style) -> None:
        self.source, self.style = source, style
        self.anchors: dict[str, Anchor] = anchors(source)

    def document(self) -> str:
        source = self.source
        parts = [
            _PREAMBLE,
            rf"\hypersetup{{pdftitle={{{escape_latex(plain_text(source.title))}}}}}",
            rf"\title{{{self.inline(source.title)}}}",
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

    def blocks(self, blocks: tuple[Block, ...], depth: int) -> list[str]:
        """Return the lines of ``blocks``; a display belongs to the paragraph before it."""
        lines: list[str] = []
        for block, after in zip(blocks, (*blocks[1:], None), strict=True):
            lines.append(self.block(block, depth))
            if not (isinstance(block, Paragraph) and isinstance(after, Equation)):
                lines.append("")
        return lines

    def block(self, block: Block, depth: int) -> str:
        match block:
            case Section():
                return self.section(block, depth)
            case Paragraph(content):
                return self.inline(content)
            case Equation():
                return self.equation(block)
            case Theorem():
                return self.theorem(block, depth)
            case Table():
                return table(block, self.inline, self.label(block.label))
            case Figure():
                return self.figure(block)
            case Details():
                summary = rf"\paragraph{{{self.inline(block.summary).rstrip('.')}.}}"
                return self.titled(summary, block.blocks, depth)
            case Items():
                return self.items(block)

    def titled(self, title: str, blocks: tuple[Block, ...], depth: int) -> str:
        """Return blocks below a title that text would run into; what is no text begins a line."""
        if blocks and not isinstance(blocks[0], Paragraph):
            title += r"\leavevmode"
        return "\n".join([title, *self.blocks(blocks, depth)]).rstrip()

    def section(self, block: Section, depth: int) -> str:
        level = LEVELS[self.style.level - 1 + depth]
        head = rf"\{level}{self.heading(block.title)}{self.label(block.label)}"
        return "\n".join([head, "", *self.blocks(block.blocks, depth + 1)]).rstrip()

    def heading(self, title: Content) -> str:
        """Return a title; bookmarks take words without mathematics, as contents do."""
        shown, words = self.inline(title), escape_latex(plain_text(title))
        plain = all(isinstance(part, Text) for part in inlines(title))
        return f"{{{shown}}}" if plain else f"[{{{words}}}]{{{shown}}}"

    def theorem(self, block: Theorem, depth: int) -> str:
        name = block.kind.lower()
        title = rf"[{{{self.inline(block.title)}}}]" if block.title else ""
        begin = rf"\begin{{{name}}}{title}{self.label(block.label)}"
        return "\n".join([self.titled(begin, block.blocks, depth), rf"\end{{{name}}}"])

    def figure(self, block: Figure) -> str:
        shown = rf"\includegraphics[width=\linewidth]{{{self.style.figures}/{block.name}.pdf}}"
        if not block.caption:
            return "\n".join([r"\begin{center}", shown, r"\end{center}"])
        caption = rf"\caption{{{self.inline(block.caption)}}}{self.label(block.label)}"
        return "\n".join([r"\begin{figure}", r"\centering", shown, caption, r"\end{figure}"])

    def items(self, block: Items) -> str:
        items = [rf"\item {_guarded(self.inline(item))}" for item in block.items]
        return "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])

    def bibliography(self) -> list[str]:
        sources = self.source.bibliography
        if not sources:
            return []
        entries = []
        for entry in sources:
            url = rf" \texttt{{{_code(entry.url)}}}" if entry.url else ""
            entries.append(rf"\bibitem{{{entry.key}}} {self.inline(entry.content)}{url}")
        width = rf"\begin{{thebibliography}}{{{len(sources)}}}"
        return [width, r"\raggedright\samepage", *entries, r"\end{thebibliography}", ""]

    def inline(self, content: Content) -> str:
        return "".join(map(self.one, inlines(content)))

    def one(self, part: Inline) -> str:
        match part:
            case Text(value):
                return _breakable(typographic(value))
            case Math(latex):
                return f"${self.math(latex)}$"
            case Code(value):
                return rf"\texttt{{{_code(value)}}}"
            case Strong(inner):
                return rf"\textbf{{{self.inline(inner)}}}"
            case Reference(label):
                return self.reference(label)
            case Citation(key):
                return rf"\cite{{{key}}}"
            case Link(inner, target):
                return rf"{self.inline(inner)} (\texttt{{{_code(target)}}})"

    def math(self, latex: str) -> str:
        """Return mathematics set for print."""
        parts = [_for_print(part) for part in tokens(latex)]
        _spread_rows(parts)
        return "".join(parts)

    def reference(self, label: str) -> str:
        kind, name = self.anchors[label].kind, self.style.prefix + label
        return rf"\eqref{{{name}}}" if kind == "Equation" else rf"{kind}~\ref{{{name}}}"

    def label(self, label: str) -> str:
        return rf"\label{{{self.style.prefix}{label}}}" if label else ""

    def equation(self, block: Equation) -> str:
        """Return a display; its number, where it has one, is that of the whole."""
        found, aligned = display(block.lines, LINE)
        star, tag = self.number(block)
        rows, name = [self.math(row) for row in found], "equation"
        if aligned:
            alone = star and not tag
            name = "align" if alone else name
            body = self.rows(rows, "" if alone else "aligned")
            if aligned_width(found) > LINE:
                body = _shrunk(self.rows(rows, "aligned"))
        else:
            wide = [latex_width(row) > LINE for row in found]
            rows = [_shrunk(row) if w else row for row, w in zip(rows, wide, strict=True)]
            inner = "gathered" if len(rows) > 1 and (not star or tag) else ""
            name = "gather" if len(rows) > 1 and not inner else name
            body = self.rows(rows, inner)
        begin = f"\\begin{{{name}{star}}}{tag}{self.label(block.label)}"
        return f"{begin}\n{body}\n\\end{{{name}{star}}}"

    def rows(self, rows: list[str], name: str) -> str:
        body = " \\\\\n".join(rows)
        return f"\\begin{{{name}}}\n{body}\n\\end{{{name}}}" if name else body

    def number(self, block: Equation) -> tuple[str, str]:
        """Return the star of an equation without a number of the paper, and its own tag."""
        numbering = self.style.numbering
        if numbering == "all" or (block.label and numbering == "labelled"):
            return "", ""
        if not block.label or numbering == "labelled":
            return "*", ""
        return "*", rf"\tag{{{numbering}{self.anchors[block.label].number}}}"


def _for_print(part: str) -> str:
    r"""Return a token of mathematics: words in ``\text`` are escaped for pdfTeX."""
    if part.startswith(r"\text{"):
        return rf"\text{{{escape_latex(text_from_math(part[6:-1]))}}}"
    # The other needs a package beyond amsmath.
    return r"\mathbf" if part == r"\mathbb" else part


def _spread_rows(parts: list[str]) -> None:
    r"""Set the rows of matrices that hold fractions apart, as in tables."""
    marks = [p for p, part in enumerate(parts) if part.startswith((r"\begin", r"\\", r"\end"))]
    for before, place, after in zip(marks, marks[1:], marks[2:], strict=False):
        if parts[place] == r"\\" and r"\frac" in parts[before:after]:
            parts[place] = r"\\[0.7ex]"


def _shrunk(body: str) -> str:
    """Return mathematics that cannot be broken, such as a fraction of numbers, as wide as a line.

    Beside a number of the equation.
    """
    return rf"\resizebox{{0.92\linewidth}}{{!}}{{$\displaystyle {body}$}}"


def _guarded(text: str) -> str:
    """Return what follows a command that would take a bracket as its option."""
    return "{}" + text if text.startswith("[") else text


def _code(value: str) -> str:
    r"""Return escaped text that may break after punctuation, as keys and paths need."""
    # But not inside of numbers, nor of https://.
    words = (re.split(r"(?<=[._/,:=+-])(?<!//)(?![\d/])", word) for word in clean(value).split(" "))
    return " ".join(r"\allowbreak{}".join(_chopped(p) for p in word if p) for word in words)


def _breakable(value: str) -> str:
    """Return escaped text in which words too long for TeX to hyphenate may break."""
    pieces = re.split(rf"(\S{{{_LONG_WORD + 1},}})", clean(value))
    return "".join(_chopped(p) if i % 2 else escape_latex(p) for i, p in enumerate(pieces))


def _chopped(word: str) -> str:
    if len(word) <= _LONG_WORD:
        return escape_latex(word)
    pieces = [word[i : i + 8] for i in range(0, len(word), 8)]
    return r"\allowbreak{}".join(map(escape_latex, pieces))
