"""Which given gate a hidden unit is nearest to, in its own activity or in its outputs."""

from __future__ import annotations

import numpy as np


def nearest_gates(patterns: np.ndarray, gates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of the nearest gate of each pattern, and how many samples differ.

    Args:
        patterns: Shape (…, H, P), truth values.
        gates: Shape (G, P), 0 or 1; NaN on a sample that is not compared, such as one on the
            boundary of the gate's pathway.

    Returns:
        Index and Hamming distance, both int of shape (…, H). Equal distances go to the lower index.
    """
    # |a − b| summed over samples is a·(1 − b) + (1 − a)·b: two products instead of H·G·P truths.
    # Counts up to 2^53 are exact in float64.
    active, (opened, closed) = patterns.astype(float), _sides(gates)
    distances = active @ closed.T + (1 - active) @ opened.T
    index = distances.argmin(axis=-1)
    return index, np.take_along_axis(distances, index[..., None], axis=-1)[..., 0].astype(int)


def nearest_outputs(seen: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Index of the gate that reproduces each unit's outputs best.

    The squared distance of the unit's own outputs max(z, 0) to the outputs g z that it would have
    with the gate: a sample on which the unit is all but silent counts for as little as it does in
    the network, whichever side of zero it is on.

    Args:
        seen: What every unit sees of the samples, z = w·x_μ, shape (…, H, P).
        gates: Shape (G, P), as of :func:`nearest_gates`.

    Returns:
        Index, int of shape (…, H). Equal distances go to the lower index.
    """
    squares, (opened, closed) = seen**2, _sides(gates)
    active = np.where(seen > 0, squares, 0.0)
    return (active @ closed.T + (squares - active) @ opened.T).argmin(axis=-1)


def _sides(gates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where gates are open and where they are closed, 0 in both where they are not compared."""
    opened = np.asarray(gates, dtype=float)
    return np.nan_to_num(opened), np.nan_to_num(1 - opened)
