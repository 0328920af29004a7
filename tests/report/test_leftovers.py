"""What readers of documents stumbled over."""

from __future__ import annotations

import numpy as np

import symreln as sr
from symreln.report.chapters.data import data_chapter
from symreln.report.content import derivation_document
from symreln.report.latex import render
from symreln.report.plots import _coinciding, _twins
from tests.cases import contexts_spec
from tests.pathways.examples import RATIONAL


def test_sizes_that_are_symbols_are_among_the_declared_parameters():
    spec = sr.load(
        "contextual-C",
        ["dataset.items=n", "parameters.n.integer=true", "parameters.n.value=4"],
    )
    derivation = sr.derive(spec)
    text = render(derivation_document(derivation))
    assert r"$C$ & number of contexts, $2 \leq C$ & \texttt{3}" in text
    assert r"$n$ & number of items, $2 \leq n$ & \texttt{4}" in text
    assert "{context}" not in text.replace(r"\{", "{").replace(r"\}", "}")
    assert "one for each context" in text


def test_without_parameters_there_is_no_table_of_them():
    chapter = data_chapter(sr.derive(contexts_spec(RATIONAL, 3)), figures=False)
    captions = [str(getattr(block, "caption", "")) for block in chapter.blocks]
    assert not any("Declared" in caption for caption in captions)
    assert any("Pathways" in caption for caption in captions)


def test_pathways_with_equal_modes_that_scatter_alone_sets_apart_are_one_curve():
    derivation = sr.derive(contexts_spec(RATIONAL, 3))
    twins = _twins(derivation)
    assert set(twins.values()) == {0}
    curve = np.tanh(np.linspace(0, 3, 50))[None]
    strengths = {"p1": curve, "p2": curve * 1.02, "p3": curve * 1.1}
    assert _coinciding(list(strengths), strengths, twins) == [["p1", "p2"], ["p3"]]
    apart = {name: place for place, name in enumerate(twins)}
    assert len(_coinciding(list(strengths), strengths, apart)) == 3
