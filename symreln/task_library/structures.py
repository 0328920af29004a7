"""Feature structures: which items have which property.  Source: [Saxe2019], [Jarvis2025]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from symreln.base.records import record
from symreln.specs.finding import Finding

Row = dict[int, int]
"""Item -> numerator of the feature's value, zeros left out."""


@record
class Structure:
    """Properties of n items, as sparse rows over one denominator.

    Attributes:
        rows: 2n - 1 rows, one a property.
        denominator: Divides every entry.
    """

    rows: tuple[Row, ...]
    denominator: int = 1

    def to_fractions(self, items: int) -> list[list[Fraction]]:
        """Return the rows in full, shape (2n - 1, n)."""
        return [
            [Fraction(row.get(i, 0), self.denominator) for i in range(items)] for row in self.rows
        ]

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (feature, item, numerator) of every entry that is not zero, as int64."""
        found = [
            (feature, item, value)
            for feature, row in enumerate(self.rows)
            for item, value in row.items()
        ]
        features, items, values = np.array(found, dtype=np.int64).T
        return features, items, values


def check_power_of_two(items: int) -> None:
    """Check that a binary tree has this many leaves, as the option ``items`` says.

    Raises:
        Finding: It is no power of two, or too small.
    """
    if items < 2 or items & (items - 1):
        lower = 1 << max(1, items.bit_length() - 1)
        hint = f"The hierarchy is a binary tree: {lower} and {2 * lower} are near."
        raise Finding(str(items), "a power of two, at least 2", hint, ".items")


def hierarchy(items: int) -> Structure:
    """Binary tree over n = 2**k items: n leaves, n/2 pairs, …, one root; root first.

    Block h = 1, 2, 4, …, n has h rows; row i of it is 1 on the i-th run of n/h items.
    """
    rows: list[Row] = []
    blocks = 1
    while blocks <= items:
        run = items // blocks
        rows += [dict.fromkeys(range(i * run, (i + 1) * run), 1) for i in range(blocks)]
        blocks *= 2
    return Structure(rows=tuple(rows))


_RING_WAVE = (0, 33, 66, 100, 100, 66, 33, 0)
"""Hundredths of the cyclic triangle wave 0, .33, .66, 1, 1, .66, .33, 0, as published."""


def _ring(items: int = 8) -> Structure:
    """Eight items on a ring: a row of ones, then 14 rows, each the one before shifted left by one.

    The wave has period 8, so the ninth of the fourteen is the first again.
    """
    wave = [{i: _RING_WAVE[(i + shift) % 8] for i in range(items)} for shift in range(14)]
    ones = dict.fromkeys(range(items), 100)
    rows = [{i: value for i, value in row.items() if value} for row in [ones, *wave]]
    return Structure(rows=tuple(rows), denominator=100)


CROSSING = ((0, 2), (1, 3), (4, 6), (5, 7))
"""Items {1,3}, {2,4}, {5,7}, {6,8}, counted from 0."""


def _cross(items: int = 8) -> Structure:
    """Hierarchy of eight items whose four pairs of neighbours are replaced by crossing pairs."""
    rows = list(hierarchy(items).rows)
    rows[3:7] = [dict.fromkeys(pair, 1) for pair in CROSSING]
    return Structure(rows=tuple(rows))


STRUCTURES: Mapping[str, Callable[[int], Structure]] = {
    "hierarchy": hierarchy,
    "ring": _ring,
    "cross": _cross,
}
EIGHT_ONLY = frozenset({"ring", "cross"})
"""Published for eight items; there is no one way to extend them."""
