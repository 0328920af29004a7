"""Tables of text: every line as wide as a terminal, no number broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.base.tables import markdown_table, plain_table, unmarked
from symreln.base.terminal import MOST_COLUMNS

letters = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
cells = letters | st.sampled_from(["[bold]x[/]", "a  b", "sqrt(2)*c/16 + 1", "x" * 200, ":smile:"])
hostile = cells | st.text(max_size=6) | st.sampled_from(["Δ", "中", "e\u0301", "a\tb", "\x1b[1m"])


@st.composite
def contents(draw, cell):
    columns = draw(st.integers(1, 5))
    row = st.lists(cell, min_size=columns, max_size=columns)
    return draw(cell), draw(row), draw(st.lists(row, max_size=5))


def test_ordinary_tables_stand_in_columns():
    assert plain_table("modes", ["pathway", "s"], [["common", "2"], ["off", "10"]]) == (
        "modes           \n"
        "                \n"
        "  pathway    s  \n"
        " ────────────── \n"
        "  common     2  \n"
        "  off       10  \n"
        "                \n"
    )


@given(contents(cells) | contents(hostile))
def test_no_line_is_too_long_and_none_steers_the_terminal(content):
    shown = plain_table(*content)
    assert max(map(len, shown.split("\n"))) <= MOST_COLUMNS
    assert shown.replace("\n", "").isprintable() or any(c.isspace() for c in shown)
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [80, 130])
def test_columns_that_have_no_room_follow_below(width: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", str(width))
    numbers = [f"0.{k}2345678901234567890 [0.1, 0.2]" for k in range(1, 8)]
    shown = plain_table("", ["name", *"abcdefg"], [["first", *numbers]])
    assert max(map(len, shown.splitlines())) <= width
    assert all(shown.count(number) == 1 for number in numbers)
    assert shown.count("first") == shown.count("name") > 1


def test_markdown_is_a_table_again():
    text = markdown_table(["a", "b"], [["|x|", "1"]])
    assert list(unmarked(f"Over\ntwo lines:\n\n{text}\n\n- one\n- two")) == [
        "Over two lines:",
        "",
        plain_table("", ["a", "b"], [["|x|", "1"]]).rstrip(),
        "",
        "- one",
        "- two",
    ]
