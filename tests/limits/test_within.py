"""Limits from Python."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.errors import InputError, SymrelnError
from symreln.limits import within


def test_within_its_limits_the_derivation_is_the_ordinary_one():
    found = sr.derive_within("xor", time_limit="5min", overrides=["parameters.Delta.value=2"])
    assert isinstance(found, sr.Derivation)
    assert found.certificate == sr.derive(sr.load("xor")).certificate
    assert found.spec.values["Delta"] == 2


def test_at_a_limit_the_answer_says_what_is_known(tmp_path):
    found = sr.derive_within("contextual-3", time_limit=0.2)
    assert isinstance(found, sr.PartialDerivation)
    assert found.level is sr.Level.NUMERIC_ONLY
    assert "time limit" in repr(found)
    assert not any(pathway["modes"] for pathway in found.pathways)


def test_wrong_specs_and_limits_are_refused():
    with pytest.raises(InputError, match="neither"):
        sr.derive_within("no-such-spec", time_limit=100)
    with pytest.raises(InputError, match="a time above 0"):
        sr.derive_within("xor", time_limit="soon")


def test_a_child_that_fails_is_said_so(monkeypatch):
    monkeypatch.setattr(within, "Watch", _Failed)
    with pytest.raises(SymrelnError, match="exit code 1"):
        sr.derive_within("xor")


class _Failed(within.Watch):
    def wait(self) -> int:
        return 1
