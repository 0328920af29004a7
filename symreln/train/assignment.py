"""Which given gate a hidden unit's own activity pattern is nearest to."""

from __future__ import annotations

import numpy as np


def nearest_gates(patterns: np.ndarray, gates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of the nearest gate of each pattern, and how many samples differ.

    Args:
        patterns: Shape (…, H, P), truth values.
        gates: Shape (G, P), 0 or 1.

    Returns:
        Index and Hamming distance, both int of shape (…, H). Equal distances go to the lower index.
    """
    # |a − b| summed over samples is a·(1 − b) + (1 − a)·b: two products instead of H·G·P truths.
    # Counts up to 2^53 are exact in float64.
    active, opened = patterns.astype(float), np.asarray(gates, dtype=float)
    distances = active @ (1 - opened).T + (1 - active) @ opened.T
    index = distances.argmin(axis=-1)
    return index, np.take_along_axis(distances, index[..., None], axis=-1)[..., 0].astype(int)
