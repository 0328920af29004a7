"""What is printed of K and G: exact, in float64 of exact columns, or said to have no value."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from tests.cases import matrix_spec
from tests.own_specs import OWN

#: Two equal pathways whose smaller s is 2.5e-13: K = 1, and float64 knows u to 1e-4 only.
TINY = matrix_spec([[1, 0], [0, 1]], [[1, 1], [1, 1 + Fraction(1, 10**12)]], [[1, 1], [1, 1]])


def test_k_of_modes_of_tiny_s_is_exact_to_float64() -> None:
    derivation = sr.derive(TINY)
    assert 2e-13 < derivation.pathways[0].modes[-1].s.to_float() < 3e-13
    entries = derivation.to_json()["couplings"]
    assert [entry["overlap"] for entry in entries] == [[[1.0, 0.0], [0.0, 1.0]]] * 2
    assert [entry["input_overlap"] for entry in entries] == [[[0.5, 0.0], [0.0, 0.5]]] * 2


def test_a_null_mode_has_no_k() -> None:
    """The data do not determine the u of a mode with s = 0; what drives it goes through g."""
    spec = matrix_spec([[1, 1, 0], [0, 0, 1]], [[1, -1, 0], [0, 0, 1]], [[1, 1, 1], [1, 0, 0]])
    derivation = sr.derive(spec)
    written = derivation.to_json()["couplings"]
    (mode,) = written[0]["modes"]
    assert mode["overlap"] is None
    assert "do not determine its output direction u" in mode["why"]
    assert mode["input_overlap"]["expr"] == "1/3"
    assert "NaN" not in json.dumps(written)


#: K and G are matrices: modes that differ, equal ones, inputs and outputs of pathways' own.
MATRICES = {
    "coupled matrices": sr.load(OWN["coupled-matrices"]),
    "contexts": "contextual-different",
    "equal modes": matrix_spec(
        [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 0]],
        [[2, 0, 0, 1], [0, 2, 0, 0], [0, 0, 1, 3]],
        [[1, 1, 1, 0], [0, 1, 1, 1]],
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_k_and_g_are_in_the_bases_that_are_printed(name: str) -> None:
    """What derivation.json has as K and G, from its own u and v, the data and the gates."""
    derivation = sr.derive(MATRICES[name]).at_values
    written, spec = derivation.to_json(), derivation.spec
    inputs, samples = spec.dataset.inputs.to_numpy(), spec.dataset.samples
    places = {each["name"]: place for place, each in enumerate(written["pathways"])}

    def columns(place: int, side: str) -> np.ndarray:
        modes = written["pathways"][place]["modes"]
        rows = [row for mode in modes if side in mode for row in mode[side]]
        return np.array([[_number(entry) for entry in row] for row in rows]).T

    def seen(place: int) -> np.ndarray:
        pathway = spec.pathways[place]
        return inputs[list(pathway.inputs)] * np.array(pathway.gate, dtype=float)

    found = 0
    for entry in written["couplings"]:
        if not isinstance(entry["overlap"], list):
            continue
        p, j = places[entry["to"]], places[entry["from"]]
        sigma = seen(j) @ seen(p).T / samples
        k, g = columns(p, "u").T @ columns(j, "u"), columns(j, "v").T @ sigma @ columns(p, "v")
        np.testing.assert_allclose(entry["overlap"], k, atol=1e-11)
        np.testing.assert_allclose(entry["input_overlap"], g, atol=1e-11)
        found += 1
    assert found


def _number(entry: Any) -> float:
    return float(entry if isinstance(entry, float) else sp.sympify(entry))
