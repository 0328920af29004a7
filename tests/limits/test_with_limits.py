"""Limits from Python."""

from __future__ import annotations

import signal

import pytest

import symreln as sr
from symreln.errors import InputError, NotSupportedError, SymrelnError
from symreln.limits import supervise
from symreln.limits.limits import REFUSED


def test_within_its_limits_the_derivation_is_the_ordinary_one():
    overrides = ["parameters.Delta.value=2"]
    found = sr.derive_within("xor", time_limit="5min", overrides=overrides)
    assert isinstance(found, sr.Derivation)
    assert found.certificate == sr.derive(sr.load("xor", overrides=overrides)).certificate
    assert found.spec.values["Delta"] == 2


def test_spectra_are_found_by_the_child_alone(monkeypatch):
    """Otherwise the caller would do the slow work again, without a limit."""
    from symreln.exact import spectrum

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(spectrum, "_classes", refuse)
    found = sr.derive_within("linear-hierarchy", time_limit=300)
    assert isinstance(found, sr.Derivation)


@pytest.mark.parametrize(
    "limits",
    [
        {"time_limit": -1},
        {"time_limit": 0},
        {"time_limit": True},
        {"time_limit": float("nan")},
        {"time_limit": float("inf")},
        {"time_limit": [3]},
        {"memory_limit": 0},
        {"memory_limit": -5},
        {"memory_limit": False},
        {"memory_limit": "0"},
    ],
)
def test_a_limit_that_is_none_is_refused_at_the_door(limits):
    with pytest.raises(InputError, match="above 0"):
        sr.derive_within("xor", **limits)


def test_memory_that_cannot_be_measured_is_not_promised(monkeypatch):
    monkeypatch.setattr(supervise, "can_measure_memory", lambda: False)
    with pytest.raises(NotSupportedError):
        sr.derive_within("xor", memory_limit="2GB")


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (-signal.SIGKILL, "ended", "the system or someone ended the process"),
        (-signal.SIGABRT, "memory", "memory limit of 2 GB was reached"),
        (REFUSED, "memory", "an allocation was refused"),
        (-signal.SIGSEGV, "crash", "ended with SIGSEGV"),
    ],
)
def test_however_the_child_ends_the_answer_says_so(monkeypatch, code, kind, said):
    monkeypatch.setattr(supervise.Child, "poll", lambda _: code)
    found = sr.derive_within("xor", memory_limit="2GB")
    assert isinstance(found, sr.PartialDerivation)
    assert said in repr(found)
    assert found.content["limits"]["kind"] == kind


def test_at_a_limit_the_answer_says_what_is_known(tmp_path):
    found = sr.derive_within("contextual-3", time_limit=0.2)
    assert isinstance(found, sr.PartialDerivation)
    assert found.level is sr.Level.NUMERIC_ONLY
    assert "time limit" in repr(found)
    assert not any(pathway["modes"] for pathway in found.pathways)


def test_wrong_specs_and_limits_are_refused():
    with pytest.raises(InputError, match="no file and no ready-made spec"):
        sr.derive_within("no-such-spec", time_limit=100)
    with pytest.raises(InputError, match="a time above 0"):
        sr.derive_within("xor", time_limit="soon")


def test_a_child_that_fails_is_said_so(monkeypatch):
    monkeypatch.setattr(supervise.Child, "poll", lambda _: 1)
    with pytest.raises(SymrelnError, match="exit code 1"):
        sr.derive_within("xor")
