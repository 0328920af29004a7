"""Which gate a unit has, where it may have none exactly."""

from __future__ import annotations

from collections.abc import Iterable

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


def share_with(
    active: np.ndarray, weight: np.ndarray, gates: Iterable[tuple[np.ndarray, np.ndarray | bool]]
) -> np.ndarray:
    """Return the share of the weight of units that have one of some gates; 0 where there is none.

    Args:
        active: On which samples units are open, truth values, shape (…, H, P).
        weight: Of the units, shape (…, H).
        gates: Each with the samples on which a unit may be open or not: truth values, shapes (P,)
            or those of ``active``.

    Returns:
        Shape (…).
    """
    held = np.any([((active == gate) | free).all(axis=-1) for gate, free in gates], axis=0)
    total = weight.sum(axis=-1)
    return (weight * held).sum(axis=-1) / np.where(total > 0, total, 1.0)
