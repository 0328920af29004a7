"""What sr.validate is asked for beyond the confrontation itself."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.errors import NotSupportedError

SMALL = {"network.hidden": 20, "network.steps": 60}


def test_representations_are_done_when_they_are_asked_for():
    spec = sr.load("xor", SMALL)
    for asked in (False, True):
        found = sr.validate(spec, seeds=2, representations=asked, diagnosis=False)
        assert (found.representations is not None) is asked
        assert (found.to_json().get("representations") is not None) is asked


def test_graphs_have_none():
    with pytest.raises(NotSupportedError, match="they are predicted of one hidden layer"):
        sr.validate("routing", seeds=1, representations=True)


def test_the_diagnosis_is_left_out_when_it_is_not_wanted():
    # Pathways open in one context alone are no ReLU network's.
    small = {"network.hidden": 60, "network.init_std": "1/12000", "network.steps": 1500}
    found = sr.validate(sr.load("contextual-3-modular", small), seeds=3, diagnosis=False)
    assert found.disagreements
    assert found.diagnosis == ()
    assert found.to_json()["diagnosis"] == []


def test_what_cannot_be_done_is_refused_before_training(monkeypatch):
    monkeypatch.setattr("symreln.experiment.confront.train_pair", lambda *_, **__: 1 / 0)
    deep = sr.load("linear-hierarchy", {**SMALL, "network.layers": 3})
    with pytest.raises(NotSupportedError):
        sr.validate(deep, seeds=1, representations=True)
