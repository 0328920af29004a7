"""Paragraphs and tables of the gates' commands as Markdown, for files and the terminal."""

from __future__ import annotations

from symreln.gating.serialise import Page, Rows


def markdown(page: Page) -> str:
    """Return a page as Markdown."""
    return "".join(f"{each if isinstance(each, str) else _table(each)}\n" for each in page)


def _table(found: Rows) -> str:
    rows = [[cell.replace("|", r"\|") for cell in cells] for cells in (found.header, *found.cells)]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([lines[0], "|" + "---|" * len(found.header), *lines[1:]])
