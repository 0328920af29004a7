"""A confrontation whose pathways no unit of the network keeps: said, and gone on with."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.report.content import derivation_document
from symreln.report.latex import render
from symreln.report.terminal import summary_of


@pytest.fixture(scope="module")
def confronted():
    spec = sr.load("xor", overrides=("parameters.Delta.value=2", "network.steps=400"))
    return sr.validate(sr.derive(spec), seeds=2)


def test_the_confrontation_goes_on(confronted):
    """It once ended with 'curve_a has NaN': κ = 0 counted as settled."""
    assert confronted.verdict == "disagrees"
    assert np.isfinite(confronted.prediction.reduced).all()
    assert dict(confronted.kappas) == {}


def test_json_document_and_terminal_say_why(confronted):
    found = confronted.to_json()["initial_strengths"]
    assert set(found["unsupported"]) == {"sample_1", "sample_2", "sample_3", "sample_4"}
    derivation = confronted.derivation
    assert derivation.to_json()["unsupported"] == found["unsupported"]
    said = [line for line in summary_of(derivation)["tail"] if "unsupported" in line]
    assert len(said) == 1
    assert "opens sample 4 too" in said[0]
    for document in (derivation_document(derivation), derivation_document(derivation, confronted)):
        assert r"Unsupported pathways at $\Delta = 2$" in render(document)
