"""Spans of columns in floats, and what counts as noise in them."""

from __future__ import annotations

import numpy as np

#: Directions below this share of the largest singular value are float64 noise, not data. Measured
#: on the features and targets of the ready-made tasks: noise at most 2e-16, data at least 1e-2.
#: A direction of that size has s of its square, 1e-22 of the largest: no stable training of fewer
#: than 1e20 steps would learn it.
_SPAN_TOLERANCE = 1e-11


def orthonormal_span(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the column space, shape (rows, rank)."""
    if matrix.size == 0:
        return np.zeros((matrix.shape[0], 0))
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    return u[:, s > _SPAN_TOLERANCE * max(s[0], np.finfo(float).tiny)]
