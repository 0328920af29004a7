"""Mini-batches: every seed goes through all samples in an order of its own, epoch after epoch.

A batch is told as a weight for every sample, P/|batch| inside and 0 outside, with which the
gradient of the full batch becomes that of the batch. Every step records the loss over all samples,
so their residuals are there in any case, and the step needs no other shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

#: Place of a seed's stream of batches among its children; pathways count from 0 and stay far below.
_STREAM = 2**32 - 1


def batch_keys(children: Sequence[np.random.SeedSequence]) -> np.ndarray:
    """Keys of the streams of batches, apart from those of the initial weights.

    Args:
        children: One a seed (:func:`symreln.train.weights.seed_children`).

    Returns:
        Unsigned integers of shape (seeds, 4): an array, so that it can be sent to a worker.
    """
    streams = [
        np.random.SeedSequence(child.entropy, spawn_key=(*child.spawn_key, _STREAM))
        for child in children
    ]
    return np.array([stream.generate_state(4, np.uint64) for stream in streams])


@final
class Batches:
    """The batches of some seeds, one after the other.

    Args:
        keys: One row a seed, see :func:`batch_keys`.
        samples: P.
        size: Samples a batch, from 1 to P. The last batch of an epoch holds what is left.
    """

    def __init__(self, keys: np.ndarray, samples: int, size: int) -> None:
        self._generators = [np.random.default_rng(key) for key in keys]
        self._samples, self._size = samples, size
        self._order = np.empty((len(keys), samples), dtype=np.intp)
        self._place = samples

    def next(self) -> np.ndarray:
        """Weight of every sample in the next step, shape (seeds, P, 1).

        Its expectation is 1 for every sample, also for a last batch that is smaller.
        """
        if self._place >= self._samples:
            for row, generator in enumerate(self._generators):
                self._order[row] = generator.permutation(self._samples)
            self._place = 0
        chosen = self._order[:, self._place : self._place + self._size]
        self._place += self._size
        weights = np.zeros(self._order.shape)
        np.put_along_axis(weights, chosen, self._samples / chosen.shape[1], axis=1)
        return weights[:, :, None]
