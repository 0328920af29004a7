"""The whole derivation against known answers."""

from __future__ import annotations

import pytest

from tests.cases import CASES, derived, found_modes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_known_answers(case):
    derivation = derived(case.name)
    assert derivation.verdict.level is case.level
    assert [p.name for p in derivation.pathways] == list(case.modes)
    for pathway in derivation.pathways:
        found = found_modes(pathway, derivation.spec.symbols)
        assert sorted(found, key=str) == sorted((m.key for m in case.modes[pathway.name]), key=str)
