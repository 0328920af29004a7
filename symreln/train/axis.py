"""Parts of an axis: the samples, inputs or outputs that a pathway, an edge or a node takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from symreln.train.arrays import AbstractArithmetic, Array


@final
class Axis:
    """The part of one axis that a pathway takes: all of it, or the entries at some indices."""

    def __init__(
        self, do: AbstractArithmetic, indices: Sequence[int], size: int, axis: int
    ) -> None:
        self.do, self.axis, self.count = do, axis, len(indices)
        self.whole = tuple(indices) == tuple(range(size))
        self.index = do.index(indices)
        inverse = np.full(size, len(indices))
        inverse[list(indices)] = np.arange(len(indices))
        self.inverse = do.index(inverse)

    def cut(self, values: Array, out: Array | None) -> Array:
        """Return the part."""
        return values if self.whole else self.do.take(values, self.index, self.axis, out=out)

    def spread(self, part: Array, out: Array | None) -> Array:
        """Return the whole with zeros outside the part."""
        if self.whole:
            return part
        return self.do.spread(part, self.index, self.inverse, self.axis, out=out)
