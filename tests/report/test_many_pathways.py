"""Documents and JSON of pathways that a symmetry maps to each other, and of large ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symreln as sr
from symreln.claims import couplings
from symreln.claims.couplings import _overlap_matrices
from symreln.claims.derivation import Derivation
from symreln.report import html
from symreln.report.derivation_json import derivation_to_json
from tests.own_specs import SCALE, path, task

DATA = {"task": "contextual", "items": 4, "contexts": 4, "context_scale": "c"}
OFF = path("off_{context}", "context != {context}", each="context", stage=2)
FOUR = task(
    DATA | {"structures": "hierarchy"}, path("common", inputs="items"), OFF, parameters=SCALE
)
del FOUR["network"]


@pytest.fixture(scope="module")
def four() -> Derivation:
    """Later pathways that see the contexts: couplings with and without common directions."""
    return sr.derive(sr.load(FOUR))


def test_couplings_of_large_pathways_are_exact_numbers_by_modes(four, monkeypatch):
    """K and G of many modes are not printed; their numbers are those of the small matrices."""
    monkeypatch.setattr(couplings, "MOST_ENTRIES", 10)
    found = derivation_to_json(four)["couplings"]
    assert len(found) == 12
    assert all(entry["overlap"] is None for entry in found)
    for entry in found:
        numbers = [mode for mode in entry["modes"] if mode["overlap"] is not None]
        assert 0 < len(numbers) < len(entry["modes"])
    target, source = four.at_values.stages[1].pathways[:2]
    k, g = _overlap_matrices(target, source)
    rows = np.cumsum([0] + [m.multiplicity for m in target.modes if not m.is_null])
    entry = next(e for e in found if (e["to"], e["from"]) == (target.name, source.name))
    for mode in entry["modes"]:
        if mode["overlap"] is None:
            continue
        (to,), (start,) = mode["to"], mode["from"]
        block = k[rows[to - 1] : rows[to], rows[start - 1] : rows[start]]
        gains = g[rows[start - 1] : rows[start], rows[to - 1] : rows[to]]
        # In orthonormal bases of one space, k I and g I become k Q and g Qᵀ, Q orthogonal.
        identity = np.eye(len(block))
        np.testing.assert_allclose(
            block @ block.T, float(mode["overlap"]["decimal"]) ** 2 * identity, atol=1e-12
        )
        expected = float(mode["overlap"]["decimal"]) * float(mode["input_overlap"]["decimal"])
        np.testing.assert_allclose(block @ gains, expected * identity, atol=1e-12)


def test_options_are_shown_as_they_are_written(four):
    text = html.render(four.to_document())
    assert re.search(r"structures</td>\s*<td[^>]*>hierarchy</td>", text)
