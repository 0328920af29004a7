"""What help() says, and what a type checker says of ordinary code."""

from __future__ import annotations

import inspect

import pytest

import symreln as sr
from symreln.calls.deep_networks import DepthAnswer
from symreln.calls.gates import FoundGates, GateAnswer
from symreln.calls.sweep import SweepAnswer
from symreln.report.mode_table import Modes

RESULTS = (
    *(sr.Derivation, sr.Validation, sr.Spec, Modes),
    *(FoundGates, GateAnswer, DepthAnswer, SweepAnswer),
)


@pytest.mark.parametrize("name", [name for name in sr.__all__ if name != "__version__"])
def test_every_public_name_says_what_it_is(name):
    text = inspect.getdoc(getattr(sr, name)) or ""
    assert len(text.split()) >= 5
    assert not text.startswith(f"{name}(")  # what a dataclass says by itself
    assert ">>>" in text


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.__name__)
def test_every_public_attribute_says_what_it_is(result):
    fields = "".join(each.__doc__ or "" for each in result.__mro__)
    bare = [
        name
        for name in dir(result)
        if not name.startswith("_")
        and not (inspect.getdoc(getattr(result, name)) or "").strip()
        and f"{name}:" not in fields
    ]
    assert not bare
