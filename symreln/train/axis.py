"""Parts of an axis: the samples, inputs or outputs that a pathway, an edge or a node takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from symreln.train.arrays import Arithmetic, Array


@final
class Axis:
    """The part of one axis that is taken: all of it, or the entries at some indices."""

    def __init__(self, do: Arithmetic, indices: Sequence[int], size: int, axis: int) -> None:
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


@final
class Block:
    """The samples and outputs that are written, of all: a block of (seeds, P, n_y)."""

    def __init__(
        self,
        do: Arithmetic,
        seeds: int,
        shape: tuple[int, int],
        samples: Sequence[int],
        outputs: Sequence[int],
    ) -> None:
        self.rows, self.columns = Axis(do, samples, shape[0], -2), Axis(do, outputs, shape[1], -1)
        across, part = (seeds, len(samples), shape[1]), (seeds, len(samples), len(outputs))
        self._wide = None if self.columns.whole else do.buffer(*across)
        self._cut = None if self.columns.whole else do.buffer(*part)
        self._spread = None if self.rows.whole else do.buffer(seeds, *shape)
        self._cut_rows = None if self.rows.whole else do.buffer(*across)

    def spread(self, part: Array) -> Array:
        """Return the whole with zeros outside the block."""
        self._wide = self.columns.spread(part, self._wide)
        self._spread = self.rows.spread(self._wide, self._spread)
        return self._spread

    def cut(self, whole: Array) -> Array:
        """Return the block."""
        self._cut_rows = self.rows.cut(whole, self._cut_rows)
        self._cut = self.columns.cut(self._cut_rows, self._cut)
        return self._cut
