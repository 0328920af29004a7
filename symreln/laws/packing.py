"""Several matrices as one flat vector, which is what integrators take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


class Packing:
    """Where matrices of given shapes lie in a flat vector, one after another.

    Args:
        shapes: The shapes.

    Example:
        >>> packing = Packing([(2, 1), (1, 3)])
        >>> [part.tolist() for part in packing.unpack(np.arange(5.0))]
        [[[0.0], [1.0]], [[2.0, 3.0, 4.0]]]
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]]) -> None:
        self.shapes = tuple(shapes)
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)]).tolist()
        self._places = [slice(begin, end) for begin, end in pairwise(ends)]

    @classmethod
    def of(cls, parts: Sequence[np.ndarray]) -> Packing:
        """Return the packing of matrices like these."""
        return cls([part.shape for part in parts])

    def pack(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Return matrices as one vector."""
        return np.concatenate([part.ravel() for part in parts])

    def unpack(self, flat: np.ndarray) -> list[np.ndarray]:
        """Return the matrices of a vector, as views where it is contiguous."""
        return [
            flat[place].reshape(shape)
            for place, shape in zip(self._places, self.shapes, strict=True)
        ]
