"""Feature structures: which items have which property.  Source: [Saxe2019], [Jarvis2025]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.specs.finding import need


def exact(array: np.ndarray, denominator: int = 1, names: tuple[str, ...] = ()) -> ExactMatrix:
    """Return an array of integers over one denominator as a matrix over the parameters given."""
    rows, columns = np.nonzero(array)
    values, shape = array[rows, columns], (len(array), array.shape[1])
    return ExactMatrix.from_entries(shape, rows, columns, values, denominator, names)


def check_power_of_two(items: int) -> None:
    """Check that a binary tree has this many leaves, as the option ``items`` says.

    Raises:
        Finding: It is no power of two, or too small.
    """
    lower = 1 << max(1, items.bit_length() - 1)
    hint = f"The hierarchy is a binary tree: {lower} and {2 * lower} are near."
    fits = items >= 2 and not items & (items - 1)
    need(fits, str(items), "a power of two, at least 2", hint, ".items")


def check_entries(entries: int, most: int, what: str, path: str) -> None:
    """Check that inputs and targets together are not too many numbers.

    Raises:
        Finding: They are, by the option at ``path``.
    """
    expected = f"at most {most} numbers in X and Y together"
    hint = "Use smaller numbers in [dataset]."
    need(entries <= most, f"{what}, {entries} numbers", expected, hint, path)


def runs(names: Iterable[str], width: int) -> dict[str, tuple[int, ...]]:
    """Return groups of as many indices each, one after the other."""
    return {name: tuple(range(k * width, (k + 1) * width)) for k, name in enumerate(names)}


def hierarchy(items: int) -> np.ndarray:
    """Return the binary tree over n = 2**k items, shape (2n - 1, n), int64; root first.

    Block h = 1, 2, 4, …, n has h rows; row i of it is 1 on the i-th run of n/h items.
    """
    blocks = (1 << level for level in range(items.bit_length()))
    return np.vstack([np.repeat(np.eye(h, dtype=np.int64), items // h, axis=1) for h in blocks])


_RING_WAVE = (0, 33, 66, 100, 100, 66, 33, 0)
"""Hundredths of the cyclic triangle wave 0, .33, .66, 1, 1, .66, .33, 0, as published."""


def _ring(items: int = 8) -> np.ndarray:
    """Return eight items on a ring: ones, then 14 rows, each the one before shifted left by one.

    The wave has period 8, so the ninth of the fourteen is the first again.
    """
    return np.array([[100] * items, *(np.roll(_RING_WAVE, -shift) for shift in range(14))])


_CROSSING = ((0, 2), (1, 3), (4, 6), (5, 7))
"""Items {1,3}, {2,4}, {5,7}, {6,8}, counted from 0."""


def _cross(items: int = 8) -> np.ndarray:
    """Hierarchy of eight items whose four pairs of neighbours are replaced by crossing pairs."""
    rows = hierarchy(items)
    rows[3:7] = [[int(item in pair) for item in range(items)] for pair in _CROSSING]
    return rows


STRUCTURES: Mapping[str, tuple[Callable[[int], np.ndarray], int]] = {
    "hierarchy": (hierarchy, 1),
    "ring": (_ring, 100),
    "cross": (_cross, 1),
}
"""Properties of n items, shape (2n - 1, n), int64, and what divides every entry."""
EIGHT_ONLY = frozenset({"ring", "cross"})
"""Published for eight items; there is no one way to extend them."""
