r"""Tables in plain LaTeX: which columns wrap, how wide they are, and where a tall one is split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil

from symreln.document.model import Code, Content, Math, Strong, Table, inlines, plain_text
from symreln.document.widths import latex_width

# Of the line: a letter of words, generously; the gap between columns; the narrowest that wraps.
_LETTER, _GAP, _NARROWEST = 0.0117, 0.0275, 0.15
_BOLD, _CODE, _MATH = 1.2, 1.06, 1.1  # of a letter
_LONG_WORD = 24  # letters; longer ones may break anywhere
_TALL = 20  # lines; a table that is taller floats, and without a caption it comes in pieces
_PAGE = 38  # lines that surely fit on a page

Inline = Callable[[Content], str]


def table(block: Table, inline: Inline, label: str) -> str:
    r"""Return a table; what is too tall for a page goes on in another, without a number.

    Args:
        block: The table.
        inline: What sets a cell.
        label: The ``\label``; empty where there is none.
    """
    columns = _Columns(block, inline)
    if not block.caption:
        tabulars = columns.tabulars(_TALL)
        return "\n\n".join(f"\\begin{{center}}\\small\n{t}\n\\end{{center}}" for t in tabulars)
    # Elsewhere tables float as the class lets them; our preamble keeps small ones in place.
    begin = r"\begin{table}" + "[htbp]" * (sum(columns.heights) > _TALL)
    above = rf"\caption{{{inline(block.caption)}}}{label}"
    found: list[str] = []
    for tabular in columns.tabulars(_PAGE):
        found += [begin, r"\centering\small", above, r"\smallskip", tabular, r"\end{table}"]
        above = r"(continued)\par"
    return "\n".join(found)


class _Columns:
    """The columns of a table: letters, or shares of the line for those that wrap."""

    def __init__(self, block: Table, inline: Inline) -> None:
        self.block, self.inline = block, inline
        self.letters = list(block.alignment.replace("p", "l"))
        self.natural = [
            max(_width((Strong(inlines(head)),)), *(_width(row[place]) for row in block.rows), 0.0)
            for place, head in enumerate(block.header)
        ]
        self.shares: dict[int, float] = {}
        self.room = 1 - _GAP * (len(self.natural) - 1)
        if sum(self.natural) > self.room:
            self._wrap()

    def _wrap(self) -> None:
        """Let columns of words wrap, those that are made for it first, until the table fits."""
        block = self.block
        cells = list(zip(block.header, *block.rows, strict=True))
        words = [max(map(_longest_word, column)) for column in cells]
        made = [place for place, mark in enumerate(block.alignment) if mark == "p"]
        others = [place for place, mark in enumerate(block.alignment) if mark == "l"]
        others.sort(key=lambda place: words[place] - self.natural[place])
        chosen = list(made)
        for place in [None, *(p for p in others if p not in made)]:
            if place is not None:
                chosen.append(place)
            least = [max(words[p], min(_NARROWEST, self.natural[p])) for p in chosen]
            rest = self.room - sum(w for p, w in enumerate(self.natural) if p not in chosen)
            if chosen and sum(least) <= rest:
                wanted = [self.natural[p] for p in chosen]
                self.shares = dict(zip(chosen, _shares(wanted, least, rest), strict=True))
                return

    @property
    def heights(self) -> list[int]:
        """About how many lines every row takes."""
        return [
            max(1, *(ceil(1.1 * _width(row[p]) / share) for p, share in self.shares.items()), 1)
            for row in self.block.rows
        ]

    def tabulars(self, most: int) -> Iterator[str]:
        """Yield the rows in pieces of about ``most`` lines, each with the head above."""
        # Behind \raggedright the short form is another command.
        end = r" \tabularnewline" if self.shares else r" \\"
        rows = [self._row(row) for row in self.block.rows]
        high = [r"\frac" in row for row in rows]  # as high as rows are, and would touch
        pieces: list[list[str]] = [[]]
        used = 0
        for place, (row, height) in enumerate(zip(rows, self.heights, strict=True)):
            if pieces[-1] and used + height > most:
                pieces.append([])
                used = 0
            pieces[-1].append(row + end + "[0.7ex]" * any(high[place : place + 2]))
            used += height
        head = self._row(tuple(Strong(inlines(cell)) for cell in self.block.header)) + end
        for piece in pieces:
            lines = [r"\toprule", head, r"\midrule", *piece, r"\bottomrule", r"\end{tabular}"]
            found = "\n".join([self._begin(), *lines])
            fits = self.shares or sum(self.natural) <= self.room
            yield found if fits else f"\\resizebox{{\\linewidth}}{{!}}{{%\n{found}}}"

    def _begin(self) -> str:
        columns = "".join(
            rf"p{{{self.shares[place]:.3f}\linewidth}}" if place in self.shares else letter
            for place, letter in enumerate(self.letters)
        )
        return rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}"

    def _row(self, cells: tuple[Content, ...]) -> str:
        """Return the cells of a row."""
        row = " & ".join(
            _RAGGED[self.letters[place]] * (place in self.shares) + self.inline(cell)
            for place, cell in enumerate(cells)
        )
        # After the \\ of the row above, a bracket or star would be its argument.
        return "{}" + row if row.startswith(("[", "*")) else row


_RAGGED = {"l": r"\raggedright ", "c": r"\centering ", "r": r"\raggedleft "}


def _width(cell: Content) -> float:
    """Return about how wide a cell is on one line, as a share of the line."""
    return _LETTER * sum(map(_letters, inlines(cell)))


def _letters(part: object) -> float:
    match part:
        case Math(latex):
            return _MATH * latex_width(latex, text=True)
        case Strong(inner):
            return _BOLD * sum(map(_letters, inlines(inner)))
        case Code(value):
            return _CODE * len(value)
        case _:
            return len(plain_text((part,)))  # pyright: ignore[reportArgumentType]


def _longest_word(cell: Content) -> float:
    """Return how wide a column has to be for a cell, as a share of the line."""
    found = [0.0]
    for part in inlines(cell):
        if isinstance(part, Math):
            found.append(_letters(part))
        else:
            words = plain_text((part,)).replace("_", " ").split()
            limit = 12 if isinstance(part, Code) else _LONG_WORD
            found += [min(len(word), limit) * _BOLD for word in words]
    return _LETTER * max(found)


def _shares(wanted: list[float], least: list[float], room: float) -> list[float]:
    """Share room between columns in proportion to their words, so that none has the most lines."""
    given: dict[int, float] = {}
    while True:
        waiting = [place for place in range(len(wanted)) if place not in given]
        scale = (room - sum(given.values())) / (sum(wanted[p] for p in waiting) or 1.0)
        narrow = {p: least[p] for p in waiting if wanted[p] * scale < least[p]}
        if not narrow:
            return [given.get(p, scale * want) for p, want in enumerate(wanted)]
        given |= narrow
