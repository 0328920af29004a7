"""What sr.validate is asked for beyond the confrontation itself."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.errors import NotSupportedError

SMALL = {"network.hidden": 20, "network.steps": 60}


@pytest.mark.parametrize("name", ["rules", "representations"])
def test_each_is_done_when_it_is_asked_for(name):
    found = sr.validate(sr.load("xor", SMALL), seeds=2, **{name: True})
    for each in ("rules", "representations"):
        assert (getattr(found, each) is not None) is (each == name)
    assert found.to_json()[name] is not None


@pytest.mark.parametrize("name", ["rules", "representations"])
def test_graphs_have_none_of_them(name):
    with pytest.raises(NotSupportedError, match=f"{name}: it is of pathways"):
        sr.validate("routing", seeds=1, **{name: True})


def test_the_diagnosis_is_left_out_when_it_is_not_wanted():
    # Pathways open in one context alone are no ReLU network's.
    small = {"network.hidden": 60, "network.init_std": "1/12000", "network.steps": 1500}
    found = sr.validate(sr.load("contextual-3-modular", small), seeds=3, diagnosis=False)
    assert found.disagreements
    assert found.diagnosis == ()
    assert found.to_json()["diagnosis"] == []


def test_what_cannot_be_done_is_refused_before_training():
    deep = sr.load("linear-hierarchy", {**SMALL, "network.layers": 3})
    with pytest.raises(NotSupportedError):
        sr.validate(deep, seeds=1, rules=True, progress=lambda done, total: pytest.fail("trained"))
