"""Tables that are put together here are those of Rich."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symreln.base import tables
from symreln.base.tables import MOST_COLUMNS, plain_table

letters = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
cells = letters | st.sampled_from(["[bold]x[/]", "a  b", "sqrt(2)*c/16 + 1", "x" * 60, ":smile:"])
hostile = (
    cells | st.text(max_size=6) | st.sampled_from(["Δ", "中", "e\u0301", "a\tb", "\x1b[1m", "é"])
)


@st.composite
def contents(draw, cell):
    columns = draw(st.integers(1, 5))
    row = st.lists(cell, min_size=columns, max_size=columns)
    return draw(cell), draw(row), draw(st.lists(row, max_size=5))


def rich_table(title, header, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_simple", lambda *_: False)
        return plain_table(title, header, rows)


@given(contents(cells) | contents(hostile))
def test_it_is_what_rich_prints(content):
    assert plain_table(*content) == rich_table(*content)


def test_ordinary_tables_need_no_rich(monkeypatch):
    monkeypatch.setattr(tables, "_render_table", lambda *_, **__: pytest.fail("Rich was used"))
    assert plain_table("modes", ["pathway", "s"], [["common", "2"], ["off", "10"]]) == (
        "modes           \n"
        "                \n"
        "  pathway    s  \n"
        " ────────────── \n"
        "  common     2  \n"
        "  off       10  \n"
        "                \n"
    )


@given(contents(cells))
def test_no_line_is_too_long(content):
    assume(len(content[0]) <= MOST_COLUMNS)
    assert max(map(len, plain_table(*content).splitlines())) <= MOST_COLUMNS
