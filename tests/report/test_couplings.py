"""What is printed of K and G: exact, certified, or said to have no value."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np

import symreln as sr
from symreln.claims.couplings import _overlap_matrices
from tests.cases import matrix_spec

#: Two equal pathways whose smaller s is 2.5e-13: K = 1, and float64 knows u to 1e-4 only.
TINY = matrix_spec([[1, 0], [0, 1]], [[1, 1], [1, 1 + Fraction(1, 10**12)]], [[1, 1], [1, 1]])


def test_k_of_modes_of_tiny_s_is_certified() -> None:
    derivation = sr.derive(TINY)
    assert 2e-13 < derivation.pathways[0].modes[-1].s.to_float() < 3e-13
    k, g = _overlap_matrices(*derivation.at_values.pathways)
    np.testing.assert_allclose(k, np.eye(2), rtol=0, atol=1e-16)
    np.testing.assert_allclose(g, np.eye(2) / 2, rtol=0, atol=1e-16)
    entries = derivation.to_json()["couplings"]
    assert [entry["overlap"] for entry in entries] == [[[1.0, 0.0], [0.0, 1.0]]] * 2


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
