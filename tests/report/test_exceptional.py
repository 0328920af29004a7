"""Exceptional sets in the document, the JSON and the terminal."""

from __future__ import annotations

import json
from functools import lru_cache

import pytest

from symreln.document.model import Document
from symreln.exact.scalar import Scalar
from symreln.report.chapters.exceptional import chapter
from symreln.report.exceptional_json import exceptional_to_json
from symreln.report.exceptional_words import (
    SHORT,
    consequences_text,
    polynomial_text,
    sentence,
    short_text,
)
from symreln.report.html import render as html
from symreln.report.latex import render as latex
from symreln.spec.expression import parse_formula
from symreln.spec.reader import load, read_spec
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
    return derive_unchecked(read_spec(TABLES[name]) if name in TABLES else load(name))


@pytest.mark.parametrize("name", [*TABLES, "contextual-3", "xor"])
def test_the_chapter_renders_and_names_every_breaking_set(name):
    derivation = derived(name)
    document = Document(title=name, blocks=(chapter(derivation),))
    page, paper = html(document), latex(document)
    assert "Exceptional values of the parameters" in page
    assert "Exceptional values of the parameters" in paper
    for item in derivation.exceptional.sets:
        if len(polynomial_text(item)) > SHORT:
            assert short_text(item) in paper
            assert polynomial_text(item) not in page


@pytest.mark.parametrize("name", [*TABLES, "contextual-3"])
def test_json_holds_polynomials_that_can_be_read_back(name):
    derivation = derived(name)
    found = exceptional_to_json(derivation)
    assert json.loads(json.dumps(found)) == found
    sets = derivation.exceptional
    both = [*sets.sets, *sets.outside]
    for entry, item in zip([*found["sets"], *found["outside"]], both, strict=True):
        read = parse_formula(entry["polynomial"], sets.parameters)
        assert read == Scalar(sets.parameters, item.polynomial)
        assert bool(entry["excluded"]) == bool(item.excluded)
        assert entry["breaking"] == (not item.harmless)
        for consequence in entry["consequences"]:
            labels = [m.label for p in derivation.pathways for m in p.modes]
            assert {label for group in consequence["modes"] for label in group} <= set(labels)


def test_a_derivation_without_parameters_has_none():
    assert exceptional_to_json(derived("linear-hierarchy")) is None


def test_the_line_for_the_terminal():
    assert sentence(derived("contextual-3").exceptional) == (
        "generic in c; exceptional: c = 0 (excluded by c > 0)"
    )
    assert sentence(derived("points").exceptional) == (
        "generic in a; exceptional: a = 0 (modes coincide on: a = 1, a = -1)"
    )
    assert sentence(derived("xor").exceptional) == "generic in Delta; exceptional: nothing"
    assert "a = 1, " in sentence(derived("poles and ranges").exceptional)
    assert "a polynomial of degree" in sentence(derived("long").exceptional)


def test_a_statement_on_conjugate_modes_names_no_mode_that_it_may_not_hold_of():
    tables = {
        "dataset": {
            "X": [["1", "a", "0"], ["b", "1", "0"], ["0", "0", "a*b"]],
            "Y": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        },
        "parameters": {"a": {}, "b": {}},
        "pathway": [{"name": "p1", "gate": [1, 1, 0]}],
    }
    derivation = derive_unchecked(read_spec(tables))
    texts = {
        polynomial_text(item): consequences_text(derivation, item)
        for item in derivation.exceptional.sets
    }
    lost = "modes lose their strength: s = 0 (at least one of modes 1, 2 of 'p1')"
    assert texts["a*b - 1"].startswith(lost)
    assert "the verdict may differ (modes 1, 2 of 'p1')" in texts["a + b"]
