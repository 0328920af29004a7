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
from tests.own_specs import UNIT, own, path


def tables(section: Section) -> list[Table]:
    return [block for block, _ in walk(section.blocks) if isinstance(block, Table)]


def header(table: Table) -> list[str]:
    return [plain_text(inlines(cell)) for cell in table.header]


def test_a_height_without_one_root_keeps_its_symbols():
    """No decimal at the declared values stands between formulas that hold for all values."""
    x = [[1, "a", 0], ["b", 1, 0], [0, 0, "a*b"]]
    parameters = {"a": {"value": "1/3"}, "b": {"positive": True, "value": "2"}}
    gated = path("p1", [1, 1, 0]), path("p2", [0, 0, 1])
    two = sr.derive(sr.load(own(x, UNIT, *gated, parameters=parameters)))
    page = two.to_document().blocks[0]
    assert isinstance(page, Section)
    first = tables(page)[0]
    place = header(first).index("plateau")
    count = len(first_modes(two)[0].modes)
    heights = [plain_text(inlines(row[place])) for row in first.rows[:count]]
    assert heights
    assert not any("." in height for height in heights)


@pytest.mark.parametrize("method", [None, ""])
def test_the_caption_says_that_the_closed_forms_are_the_prediction(three, method):
    found = plain_text(_modes_figure(three, method).caption)
    assert found.startswith("Predicted strengths: closed forms, later stages from their effective")
    assert r"s/d_{\mathrm{eff}}" in found
