"""Reprs of everything that a result holds: a screen at most, and the essential is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

import symreln as sr
from symreln.sweeps.combinations import Sweep
from tests.cases import derived

LINES, CHARACTERS = 30, 3000
SMALL = ("network.hidden=24", "network.steps=60")


def held(roots: list[object]) -> Iterator[object]:
    """Yield every value of symreln that can be reached from some, each once."""
    seen: dict[int, object] = {}
    stack = list(roots)
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, str | bytes | np.ndarray | type | ModuleType):
            continue
        seen[id(value)] = value
        if isinstance(value, Mapping):
            if type(value).__module__.startswith("symreln."):
                yield value
            stack += value.values()
        elif isinstance(value, tuple | list | set | frozenset):
            stack += value
        elif type(value).__module__.startswith("symreln."):
            yield value
            stack += vars(value).values() if hasattr(value, "__dict__") else ()


@pytest.fixture(scope="module")
def derivation():
    """Three contexts, four pathways, two stages."""
    return sr.derive(sr.load("contextual-3", overrides=SMALL))


@pytest.fixture(scope="module")
def validation(derivation):
    """It with tiny networks."""
    return sr.validate(derivation, seeds=2)


@pytest.fixture(scope="module")
def roots(derivation, validation, tmp_path_factory):
    """What the calls of ``symreln`` return."""
    xor = derived("xor")
    routing = sr.derive(sr.load("routing", overrides=SMALL))
    data = {"dataset": {"X": [[1, 1], [1, -1]], "Y": [[3, 1]]}, "pathway": [{"name": "whole"}]}
    weights = sr.from_weights(sr.derive(sr.load(data)), [[1, 0]], [[Fraction(1, 2)]])
    asked = Sweep.of("xor", ["network.hidden=4,8"], tmp_path_factory.mktemp("sweep"))
    return [
        *(validation, derivation.evaluate(), validation.intervals),
        *(xor, xor.exceptional, sr.derive(sr.load("contextual-C"))),
        *(routing, sr.validate(routing, 2, 0), weights),
        asked,
    ]


def test_no_repr_is_longer_than_a_screen(roots):
    long, kinds = [], set()
    for value in held(roots):
        text = repr(value)
        kinds.add(type(value).__name__)
        if len(text) > CHARACTERS or len(text.splitlines()) > LINES:
            long.append(f"{type(value)}: {len(text)} characters, {len(text.splitlines())} lines")
    assert not long, "\n".join(sorted(set(long)))
    assert {"Validation", "TrainingRun", "Spec", "Dataset", "Sweep"} <= kinds
    assert len(kinds) > 80


def test_a_derivation_says_its_verdict_its_modes_and_its_checks(derivation):
    text = repr(derivation)
    assert len(text.splitlines()) <= 10
    assert text.startswith("Three contexts, equal structures\nverdict: closed by symmetry\n")
    mode = derivation.pathways[0].modes[0]
    assert f"{mode.label} of 'common': s = sqrt(" in text
    assert "two-layer balanced" in text
    proven = len(derivation.steps)
    assert f"checks: {proven} of {proven} proven" in text


def test_a_validation_says_its_verdict_and_its_distances(validation):
    text = repr(validation)
    assert len(text.splitlines()) <= 10
    assert validation.derivation.spec.title in text
    assert "2 seeds" in text
    assert validation.sentence()[:60] in " ".join(text.split())
    pair = next(iter(validation.metric_rows()))
    assert f"{pair[0]}: max |ΔL|/L(0) {pair[1]}" in text
