"""Which gate a unit has, where it may have none exactly."""

from __future__ import annotations

import numpy as np


def nearest_gates(seen: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Return the gate that reproduces each unit's outputs best; of equal ones the first.

    Best is the least squared distance of a unit's own outputs max(w·x, 0) to the outputs g w·x that
    it would have with the gate: a sample on which a unit is all but silent counts for as little as
    it does in the network, whichever side of zero it is on.

    Args:
        seen: w·x, shape (…, P).
        gates: 0 or 1, shape (gates, P).
    """
    squares = np.square(seen)
    active = np.where(seen > 0, squares, 0.0)
    return np.argmin(active @ (1 - gates).T + (squares - active) @ gates.T, axis=-1)
