"""Spans of columns in floats, and what counts as noise in them."""

from __future__ import annotations

import numpy as np

#: Directions below this share of the largest singular value are float64 noise, not data. Measured
#: on the features and targets of the ready-made tasks: noise at most 2e-16, data at least 1e-2.
#: A direction of that size has s of its square, 1e-22 of the largest: no stable training of fewer
#: than 1e20 steps would learn it.
_SPAN_TOLERANCE = 1e-11


#: Relative distance of two lengths that may be rounding: of such rows the first one leads. Between
#: the rounding of a basis, 1e-16 over _SPAN_TOLERANCE, and lengths that data tell apart.
_TIE = 1e-6


def orthonormal_span(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the column space, shape (rows, rank).

    Of all bases of the space one is taken that depends on the space alone: singular vectors of
    equal singular values differ from one linear algebra library to the next, and with them whatever
    is drawn in their coordinates.
    """
    if matrix.size == 0:
        return np.zeros((matrix.shape[0], 0))
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    u = u[:, s > _SPAN_TOLERANCE * max(s[0], np.finfo(float).tiny)]
    return u @ _turn(u)


def _turn(basis: np.ndarray) -> np.ndarray:
    """Return the turn of a basis in which each vector is along what is left of the longest row."""
    rows, turn = basis.copy(), np.empty((basis.shape[1], basis.shape[1]))
    for place in range(len(turn)):
        lengths = np.linalg.norm(rows, axis=1)
        longest = int(np.argmax(lengths >= (1 - _TIE) * lengths.max()))
        along = rows[longest] - turn[:, :place] @ (turn[:, :place].T @ rows[longest])
        turn[:, place] = along / np.linalg.norm(along)
        rows -= np.outer(rows @ turn[:, place], turn[:, place])
    return turn
