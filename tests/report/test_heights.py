"""Heights: what a strength grows to, in tables, sentences, captions and figures alike."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.document.document_model import (
    Section,
    Table,
    inlines,
    plain_text,
    walk,
)
from symreln.report.chapters.printed_formulas import first_modes
from symreln.report.content import _modes_figure

TWO = {
    "title": "Two parameters",
    "dataset": {
        "X": [["1", "a", "0"], ["b", "1", "0"], ["0", "0", "a*b"]],
        "Y": [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]],
        "labels": {"k": [1, 1, 2]},
    },
    "parameters": {"a": {"value": "1/3"}, "b": {"positive": True, "value": "2"}},
    "pathway": [{"name": "p1", "gate": "k == 1"}, {"name": "p2", "gate": "k == 2"}],
}


@pytest.fixture(scope="module")
def two() -> sr.Derivation:
    return sr.derive(sr.load(TWO))


def tables(section: Section) -> list[Table]:
    return [block for block, _ in walk(section.blocks) if isinstance(block, Table)]


def header(table: Table) -> list[str]:
    return [plain_text(inlines(cell)) for cell in table.header]


def test_a_height_without_one_root_keeps_its_symbols(two):
    """No decimal at the declared values stands between formulas that hold for all values."""
    page = two.to_document().blocks[0]
    assert isinstance(page, Section)
    first = tables(page)[0]
    place = header(first).index("plateau")
    own = len(first_modes(two)[0].modes)
    heights = [plain_text(inlines(row[place])) for row in first.rows[:own]]
    assert heights
    assert not any("." in height for height in heights)


@pytest.mark.parametrize("method", [None, ""])
def test_the_caption_says_that_the_closed_forms_are_the_prediction(three, method):
    found = plain_text(_modes_figure(three, method).caption)
    assert found.startswith("Predicted strengths: closed forms, later stages from their effective")
    assert r"s/d_{\mathrm{eff}}" in found
