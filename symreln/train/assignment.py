"""Which given gate a hidden unit is nearest to, in its own activity or in its outputs."""

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


def nearest_outputs(seen: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Index of the gate that reproduces each unit's outputs best.

    The squared distance of the unit's own outputs max(z, 0) to the outputs g z that it would have
    with the gate: a sample on which the unit is all but silent counts for as little as it does in
    the network, whichever side of zero it is on.

    Args:
        seen: What every unit sees of the samples, z = w·x_μ, shape (…, H, P).
        gates: Shape (G, P), 0 or 1.

    Returns:
        Index, int of shape (…, H). Equal distances go to the lower index.
    """
    squares, opened = seen**2, np.asarray(gates, dtype=float)
    active = np.where(seen > 0, squares, 0.0)
    return (active @ (1 - opened).T + (squares - active) @ opened.T).argmin(axis=-1)
