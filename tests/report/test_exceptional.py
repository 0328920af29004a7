"""Exceptional sets in the document, the JSON and the terminal."""

from __future__ import annotations

import json
from functools import lru_cache

import pytest

from symreln.claims.claim import said_of
from symreln.claims.exceptional import exceptional_sets
from symreln.claims.exceptional.claim import SHORT
from symreln.document.model import Document
from symreln.exact.scalar import Scalar
from symreln.report.encode import Encoder
from symreln.report.html import render as html
from symreln.report.latex import render as latex
from symreln.specs.expression import Declared
from symreln.task_library.load import load
from tests.unchecked import derive_unchecked

TABLES = {
    "poles and ranges": {
        "dataset": {"X": [["1/(a-1)", 0], [0, "b"]], "Y": [["a", 1], [0, "b"]]},
        "parameters": {"a": {"minimum": "-1/2"}, "b": {"positive": True}},
        "pathway": [{"name": "<one> & 100 % $x$", "gate": [1, 1]}, {"name": "two", "gate": [1, 0]}],
    },
    "points": {
        "dataset": {"X": [["a", 0], [0, 1]], "Y": [["1", 0], [0, 1]]},
        "parameters": {"a": {}},
        "pathway": [{"name": "only"}],
    },
    "long": {
        "dataset": {
            "X": [[1, "a", 0, 1], [0, 1, "b", 0], ["b", 0, 1, 1]],
            "Y": [[1, 2, 0, 1], [0, 1, 1, 0]],
        },
        "parameters": {"a": {}, "b": {}},
        "pathway": [{"name": "only"}],
    },
}


@lru_cache
def derived(name: str):
    return derive_unchecked(load(TABLES[name]) if name in TABLES else load(name))


@pytest.mark.parametrize("name", [*TABLES, "contextual-3", "xor"])
def test_the_chapter_renders_and_names_every_breaking_set(name):
    derivation = derived(name)
    document = Document(title=name, blocks=tuple(said_of(derivation, exceptional_sets)))
    page, paper = html(document), latex(document)
    assert "Exceptional values of the parameters" in page
    assert "Exceptional values of the parameters" in paper
    for item in derivation.exceptional.sets:
        if len(item.text) > SHORT:
            assert item.short_text.split(" in ")[0] in paper
            assert item.text not in page


@pytest.mark.parametrize("name", [*TABLES, "contextual-3"])
def test_json_holds_polynomials_that_can_be_read_back(name):
    derivation = derived(name)
    found = Encoder.of(derivation.spec)(derivation.exceptional)
    assert json.loads(json.dumps(found)) == found
    sets = derivation.exceptional
    both = [*sets.sets, *sets.outside]
    for entry, item in zip([*found["sets"], *found["outside"]], both, strict=True):
        read = Declared(names=sets.parameters).parse(entry["polynomial"])
        assert read == Scalar(sets.parameters, item.polynomial)
        assert bool(entry["excluded"]) == bool(item.excluded)
        assert entry["breaking"] == (not item.harmless)
        for consequence in entry["consequences"]:
            labels = [m.label for p in derivation.pathways for m in p.modes]
            assert {label for group in consequence["modes"] for label in group} <= set(labels)


def test_a_derivation_without_parameters_has_none():
    assert derived("linear-hierarchy").exceptional is None


def line_of(derivation) -> str:
    """Return what the terminal says."""
    (line,) = derivation.exceptional.lines()
    return line


def test_the_line_for_the_terminal():
    assert line_of(derived("contextual-3")) == (
        "these formulas hold for all values of c, except at c = 0 (excluded by c > 0)"
    )
    assert line_of(derived("points")) == (
        "these formulas hold for all values of a_, except at a_ = 0; modes coincide where a_ = 1, "
        "a_ = -1"
    )
    assert line_of(derived("xor")) == "these formulas hold for all values of Delta"
    assert "a_ = 1, " in line_of(derived("poles and ranges"))
    assert "a polynomial of degree" in line_of(derived("long"))


def test_a_statement_on_conjugate_modes_names_no_mode_that_it_may_not_hold_of():
    tables = {
        "dataset": {
            "X": [["1", "a", "0"], ["b", "1", "0"], ["0", "0", "a*b"]],
            "Y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        },
        "parameters": {"a": {}, "b": {}},
        "pathway": [{"name": "p1", "gate": [1, 1, 0]}],
    }
    derivation = derive_unchecked(load(tables))
    texts = {item.text: item.happens for item in derivation.exceptional.sets}
    lost = "modes lose their strength: s = 0 (at least one of modes 1, 2 of 'p1')"
    assert texts["a_*b_ - 1"].startswith(lost)
    assert "the verdict may differ (modes 1, 2 of 'p1')" in texts["a_ + b_"]
