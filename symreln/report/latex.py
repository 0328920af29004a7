r"""A document as plain LaTeX: one ``.tex`` file and the PDF figures beside it.

The same document gives the same bytes: no dates, no versions. Text is escaped here and nowhere
else; mathematics was checked when the document was built.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil

from symreln.document.escape import clean, escape_latex, text_from_math, typographic
from symreln.document.model import (
    Block,
    Citation,
    Code,
    Content,
    Details,
    Document,
    Emphasis,
    Equation,
    Figure,
    Inline,
    Items,
    Link,
    Listing,
    Math,
    Paragraph,
    Reference,
    Section,
    Strong,
    Table,
    Text,
    Theorem,
    inlines,
    on_paper,
    plain_text,
)
from symreln.document.tex import group, rows_and_cells, tokens
from symreln.document.widths import latex_width
from symreln.report.numbering import Anchor, anchors

FIGURES = "figures"

_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=27mm]{geometry}
\usepackage{amsmath,mathtools,amssymb,amsthm}
\usepackage{booktabs,tabularx,longtable,array}
\usepackage{graphicx}
\usepackage[colorlinks,allcolors=black,unicode]{hyperref}

% Statements share one counter, so that they are found in order.
\newtheorem{Proposition}{Proposition}
\newtheorem{Lemma}[Proposition]{Lemma}
\newtheorem{Assumption}[Proposition]{Assumption}
\theoremstyle{definition}
\newtheorem{Definition}[Proposition]{Definition}
\newtheorem{Verdict}[Proposition]{Verdict}
\theoremstyle{remark}
\newtheorem{Remark}[Proposition]{Remark}

% A character that the fonts lack prints as its code point.
\newcommand{\codepoint}[1]{\texttt{[U+#1]}\allowbreak}
% Content wider than the page is scaled down to it; all else keeps its size.
\newcommand{\fitted}[2][1]{\resizebox{\ifdim\width>#1\linewidth #1\linewidth\else\width\fi}{!}{#2}}
% Tables stay where they are mentioned, with their caption.
\makeatletter
\newenvironment{tablehere}{\par\nopagebreak\medskip\noindent\begin{minipage}{\linewidth}\centering\small
  \def\@captype{table}\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{5pt}}
  {\end{minipage}\par\medskip}
% A heading has the first lines of its section below it, or goes to the next page with them.
\newcommand{\room}{\par\dimen@=\pagegoal\advance\dimen@-\pagetotal
  \ifdim\dimen@<7\baselineskip\ifdim\dimen@>0pt\vfil\fi\break\fi}
% A list stays with the words that announce it.
\@beginparpenalty=10000
\makeatother
% A table without a caption has no number: the one that longtable gives is taken back beforehand.
\newcommand{\unnumbered}{\addtocounter{table}{-1}%
  \renewcommand{\theHtable}{unnumbered.\arabic{LT@tables}}}
% A wrapped column, with its share of the room relative to an equal one.
\newcolumntype{Y}[1]{>{\hsize=#1\hsize\linewidth=\hsize\raggedright\arraybackslash}X}
\setcounter{secnumdepth}{3}
\setlength{\emergencystretch}{3em}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 2pt}
\setlength{\jot}{6pt}
\setlength{\LTcapwidth}{\linewidth}
\renewcommand{\arraystretch}{1.2}
\allowdisplaybreaks
\renewcommand{\topfraction}{0.9}
\renewcommand{\textfraction}{0.07}
"""

# A line of the page holds about 66 letters of mathematics beside an equation's number. From this
# estimate on, a display is measured by TeX and scaled down where it is too wide.
LINE = 50.0
_LONG_TABLE = 30  # rows; more than this may not fit on a page
_TALL_TABLE = 14  # lines; a table with wrapped cells that is taller may break
_LETTER, _GAP, _NARROWEST = 0.0112, 0.029, 0.15  # of a line: letter, gap between columns, column
_LONG_WORD = 24  # letters; TeX finds no hyphenation in file names and keys
_LEVELS = ("section", "subsection", "subsubsection")


def render(document: Document) -> str:
    """Return ``document`` as the text of a LaTeX file."""
    return _Renderer(document).document()


class _Renderer:
    def __init__(self, source: Document) -> None:
        self.source = source
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

    def blocks(self, blocks: tuple[Block, ...], depth: int) -> list[str]:
        """Return the lines of ``blocks``; a display belongs to the paragraph before it."""
        lines: list[str] = []
        blocks = on_paper(blocks)
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
                return _equation(block)
            case Theorem():
                return self.theorem(block, depth)
            case Table():
                return self.table(block)
            case Figure():
                return self.figure(block)
            case Details():
                summary = rf"\paragraph{{{self.inline(block.summary).rstrip('.')}.}}"
                if block.blocks and isinstance(block.blocks[0], Table):
                    # Or the heading would run into the table, which is as wide as the page.
                    summary += r"\leavevmode\par"
                return "\n".join([summary, *self.blocks(block.blocks, depth)]).rstrip()
            case Listing(text):
                return _listing(text)
            case Items():
                return self.items(block)

    def section(self, block: Section, depth: int) -> str:
        head = rf"\{_LEVELS[depth]}{{{self.heading(block.title)}}}{_label(block.label)}"
        return "\n".join([r"\room", head, "", *self.blocks(block.blocks, depth + 1)]).rstrip()

    def heading(self, title: Content) -> str:
        """Return a title that bookmarks can show: they hold words only, no mathematics."""
        shown, words = self.inline(title), escape_latex(plain_text(title))
        plain = all(isinstance(part, Text) for part in inlines(title))
        return shown if plain else rf"\texorpdfstring{{{shown}}}{{{words}}}"

    def theorem(self, block: Theorem, depth: int) -> str:
        name = "proof" if block.kind == "Proof" else block.kind
        title = rf"[{{{self.inline(block.title)}}}]" if block.title else ""
        begin = rf"\begin{{{name}}}{title}{_label(block.label)}"
        body = "\n".join(self.blocks(block.blocks, depth)).rstrip()
        if block.blocks and isinstance(block.blocks[0], Items | Listing | Table):
            body = "\\leavevmode\n" + body  # the name keeps a line of its own
        return "\n".join([begin, body, rf"\end{{{name}}}"])

    def table(self, block: Table) -> str:
        caption = ""
        if block.caption:
            caption = rf"\caption{{{self.inline(block.caption)}}}{_label(block.label)}"
        head = _ended(self.row(tuple(Strong(inlines(cell)) for cell in block.header)))
        cells = [self.row(row) for row in block.rows]
        # Fractions are as high as rows are: those of two rows would touch.
        high = [r"\frac" in row for row in cells]
        rows = [
            _ended(row, spread=any(pair))
            for row, *pair in zip(cells, high, [*high[1:], False][: len(cells)], strict=True)
        ]
        if not _wraps(block):
            block = replace(block, alignment=block.alignment.replace("p", "l"))
        if len(rows) > _LONG_TABLE or _lines(block) > _TALL_TABLE:
            return _long_table(block, caption, head, rows)
        body = "\n".join([r"\toprule", head, r"\midrule", *rows, r"\bottomrule"])
        if "p" in block.alignment:
            shares = _wrapped_shares(block)
            equal = sum(shares) / len(shares)
            columns = _columns(block, [f"Y{{{share / equal:.3f}}}" for share in shares])
            tabular = rf"\begin{{tabularx}}{{\linewidth}}{{@{{}}{columns}@{{}}}}"
            inner = "\n".join([tabular, body, r"\end{tabularx}"])
        else:
            tabular = rf"\begin{{tabular}}{{@{{}}{block.alignment}@{{}}}}"
            inner = "\n".join([r"\fitted{%", tabular, body, r"\end{tabular}}"])
        parts = [r"\begin{tablehere}", caption, inner, r"\end{tablehere}"]
        return "\n".join(part for part in parts if part)

    def row(self, cells: tuple[Content, ...]) -> str:
        row = " & ".join(map(self.inline, cells))
        # After the \\ of the row above, a bracket or star would be its argument.
        return "{}" + row if row.startswith(("[", "*")) else row

    def figure(self, block: Figure) -> str:
        caption = ""
        if block.caption:
            caption = rf"\caption{{{self.inline(block.caption)}}}{_label(block.label)}"
        lines = [
            r"\begin{figure}[htbp]",
            r"\centering",
            rf"\fitted{{\includegraphics{{{FIGURES}/{block.name}.pdf}}}}",
            caption,
            r"\end{figure}",
        ]
        return "\n".join(line for line in lines if line)

    def items(self, block: Items) -> str:
        name = "enumerate" if block.ordered else "itemize"
        # \relax: an item that begins with a bracket is not an option.
        items = [rf"\item\relax {self.inline(item)}" for item in block.items]
        return "\n".join([rf"\begin{{{name}}}", *items, rf"\end{{{name}}}"])

    def bibliography(self) -> list[str]:
        sources = self.source.bibliography
        if not sources:
            return []
        entries = []
        for entry in sources:
            url = rf" \url{{{_url(entry.url)}}}" if entry.url else ""
            entries.append(rf"\bibitem{{{entry.key}}} {self.inline(entry.content)}{url}")
        width = rf"\begin{{thebibliography}}{{{len(sources)}}}"
        return [width, r"\raggedright", *entries, r"\end{thebibliography}", ""]

    def inline(self, content: Content) -> str:
        return "".join(map(self.one, inlines(content)))

    def one(self, part: Inline) -> str:
        match part:
            case Text(value):
                return _breakable(typographic(value))
            case Math(latex):
                return f"${_spread_rows(_math_for_print(latex))}$"
            case Code(value):
                return rf"\texttt{{{_code(value)}}}"
            case Strong(inner):
                return rf"\textbf{{{self.inline(inner)}}}"
            case Emphasis(inner):
                return rf"\emph{{{self.inline(inner)}}}"
            case Reference(label):
                return self.reference(label)
            case Citation(key, note):
                return rf"\cite[{{{escape_latex(note)}}}]{{{key}}}" if note else rf"\cite{{{key}}}"
            case Link(inner, target) if target.startswith("#"):
                return rf"\hyperref[{target[1:]}]{{{self.inline(inner)}}}"
            case Link(inner, target):
                return rf"\href{{{_url(target)}}}{{{self.inline(inner)}}}"

    def reference(self, label: str) -> str:
        kind = self.anchors[label].kind
        return rf"\eqref{{{label}}}" if kind == "Equation" else rf"{kind}~\ref{{{label}}}"


def _ended(row: str, *, spread: bool = False) -> str:
    """Return a row of a table with its end, set off from the next where ``spread``."""
    return row + (r" \\[0.7ex]" if spread else r" \\")


def _math_for_print(latex: str) -> str:
    r"""Return mathematics with the words in ``\text`` escaped for pdfTeX."""
    if latex.isascii() and r"\text" not in latex:
        return latex
    parts, printed, index = tokens(latex), [], 0
    while index < len(parts):
        if parts[index] == r"\text":
            words, index = group(parts, index + 1)
            printed.append(rf"\text{{{escape_latex(text_from_math(words))}}}")
        else:
            printed.append(parts[index])
            index += 1
    return "".join(printed)


def _spread_rows(latex: str) -> str:
    r"""Return mathematics with the rows of matrices that hold fractions set apart, as in tables."""
    parts = tokens(latex)
    marks = [p for p, part in enumerate(parts) if part in (r"\begin", r"\\", r"\end")]
    for before, place, after in zip(marks, marks[1:], marks[2:], strict=False):
        if parts[place] == r"\\" and r"\frac" in parts[before:after]:
            parts[place] = r"\\[0.7ex]"
    return "".join(parts)


def _equation(block: Equation) -> str:
    lines = [_math_for_print(line) for line in block.lines]
    star = "" if block.label else "*"
    label = _label(block.label)
    if len(lines) == 1 and len(rows_and_cells(tokens(lines[0]))[0]) == 1:
        (line,) = lines
        wide, line = latex_width(line) > LINE, _spread_rows(line)
        if wide:
            line = rf"\fitted[0.92]{{$\displaystyle {line}$}}"
        return f"\\begin{{equation{star}}}{label}\n{line}\n\\end{{equation{star}}}"
    body = " \\\\\n".join(map(_spread_rows, lines))
    inner = f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"
    if max(latex_width(line.replace("&", "")) for line in lines) > LINE:
        inner = f"\\fitted[0.92]{{$\\displaystyle\n{inner}$}}"
    return f"\\begin{{equation{star}}}{label}\n{inner}\n\\end{{equation{star}}}"


def _letters(cell: Content) -> float:
    """Return about how many letters wide a cell is on one line."""
    return sum(
        latex_width(part.latex) if isinstance(part, Math) else len(plain_text((part,)))
        for part in inlines(cell)
    )


def _widths(block: Table) -> list[float]:
    """Return the share of the line of every column: words as long as they are, p the rest.

    A p column that needs less than its part of the rest leaves what it does not need to the others.
    """
    cells = [[_letters(cell) * _LETTER for cell in row] for row in (block.header, *block.rows)]
    natural = [max(column) for column in zip(*cells, strict=True)]
    marked = list(zip(natural, block.alignment, strict=True))
    rest = 1 - _GAP * len(natural) - sum(w for w, mark in marked if mark != "p")
    shares = iter(_fair([w for w, mark in marked if mark == "p"], rest))
    return [next(shares) if mark == "p" else w for w, mark in marked]


def _fair(wanted: list[float], room: float) -> list[float]:
    """Share room between columns: those that want less than an equal share get what they want."""
    given, left = dict[int, float](), room
    for place in sorted(range(len(wanted)), key=wanted.__getitem__):
        equal = left / (len(wanted) - len(given))
        given[place] = max(min(wanted[place], equal), _NARROWEST)
        left -= given[place]
    return [given[place] for place in range(len(wanted))]


def _wraps(block: Table) -> bool:
    """Whether a table is wider than the line unless its wrapped columns wrap."""
    cells = [[_letters(cell) * _LETTER for cell in row] for row in (block.header, *block.rows)]
    wide = sum(max(column) for column in zip(*cells, strict=True))
    return wide + _GAP * len(block.header) > 1


def _wrapped_shares(block: Table) -> list[float]:
    """Return the widths of the wrapped columns, as shares of the line."""
    pairs = zip(_widths(block), block.alignment, strict=True)
    return [width for width, mark in pairs if mark == "p"]


def _columns(block: Table, wrapped: list[str]) -> str:
    """Return the columns of a table: letters, and for every wrapped one what is given."""
    given = iter(wrapped)
    return "".join(next(given) if mark == "p" else mark for mark in block.alignment)


def _lines(block: Table) -> int:
    """Return about how many lines a table with wrapped cells is tall; 0 where none wrap."""
    if "p" not in block.alignment:
        return 0
    widths = _widths(block)
    return sum(
        max(
            ceil(_letters(cell) * _LETTER / width)
            for cell, width in zip(row, widths, strict=True)
            if width
        )
        for row in block.rows
    )


def _long_table(block: Table, caption: str, head: str, rows: list[str]) -> str:
    columns = _columns(
        block,
        [
            rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\linewidth}}"
            for share in _wrapped_shares(block)
        ],
    )
    return "\n".join(
        [
            r"{\small" + r"\unnumbered" * (not caption),
            rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
            *([caption + r"\\"] if caption else []),
            r"\toprule",
            head,
            r"\midrule",
            r"\endfirsthead",
            r"\toprule",
            head,
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *rows,
            r"\end{longtable}}",
        ]
    )


def _listing(text: str) -> str:
    """Return lines in a fixed width; spaces are kept, long lines wrap."""
    lines = [_code(line).replace(" ", "~") or "~" for line in text.splitlines() or [""]]
    body = "\\\\\n".join(rf"\texttt{{{line}}}" for line in lines)
    return f"\\begin{{flushleft}}\\footnotesize\n{body}\n\\end{{flushleft}}"


def _code(value: str) -> str:
    r"""Return escaped text that may break after punctuation, as keys and paths need."""
    # But not inside of numbers.
    pieces = re.split(r"(?<=[._/,:=+-])(?!\d)", clean(value))
    return r"\allowbreak{}".join(_chopped(piece) for piece in pieces if piece)


def _breakable(value: str) -> str:
    """Return escaped text in which words too long for TeX to hyphenate may break."""
    pieces = re.split(rf"(\S{{{_LONG_WORD + 1},}})", clean(value))
    return "".join(_chopped(p) if i % 2 else escape_latex(p) for i, p in enumerate(pieces))


def _chopped(word: str) -> str:
    if len(word) <= _LONG_WORD:
        return escape_latex(word)
    pieces = [word[i : i + 8] for i in range(0, len(word), 8)]
    return r"\allowbreak{}".join(map(escape_latex, pieces))


def _url(url: str) -> str:
    r"""Return an address for ``\href``: hyperref reads it verbatim but for these three."""
    return url.replace("\\", r"\\").replace("%", r"\%").replace("#", r"\#")


def _label(label: str) -> str:
    return rf"\label{{{label}}}" if label else ""
