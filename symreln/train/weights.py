"""Initial weights: one independent stream a seed, whatever batch the seed is trained in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symreln.base.records import record
from symreln.train.network import GatedNetwork

Weights = tuple[np.ndarray, ...]
"""One matrix an edge, each of shape (seeds, units of the target, units of the source)."""


@record(eq=False)
class LayerWeights:
    """Weights of one hidden layer's two sides, for all seeds; ŷ = W2 σ(W1 x).

    Attributes:
        w1: Shape (seeds, H, n_x); for a pathway n_x counts the inputs that it sees.
        w2: Shape (seeds, n_y, H); for a pathway n_y counts the outputs that it writes to.
    """

    w1: np.ndarray
    w2: np.ndarray

    def seed(self, start: int, stop: int) -> LayerWeights:
        """The weights of seeds start … stop − 1."""
        return LayerWeights(w1=self.w1[start:stop], w2=self.w2[start:stop])


def seed_children(rng: Any, count: int) -> list[np.random.SeedSequence]:
    """One SeedSequence a seed. Child i depends on ``rng`` and i, never on ``count``.

    Args:
        rng: A Generator or SeedSequence, which moves on with each call as ``Generator.spawn``
            does; or what a SeedSequence is made of, None for fresh entropy.
        count: Number of seeds.
    """
    if isinstance(rng, np.random.Generator):
        return rng.bit_generator.seed_seq.spawn(count)  # type: ignore[attr-defined]
    sequence = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    return sequence.spawn(count)


def gaussian_weights(
    network: GatedNetwork,
    children: Sequence[np.random.SeedSequence],
    stds: Sequence[float],
    streams: Sequence[int],
) -> Weights:
    """Weights N(0, std²).

    Args:
        network: Edges and their shapes.
        children: One a seed.
        stds: Standard deviation of each edge's weights.
        streams: Number of the stream that each edge is drawn from, ascending; edges of one stream
            follow one another in it. What has a stream of its own does not depend on which others
            there are after it.
    """

    def seed(child: np.random.SeedSequence) -> list[np.ndarray]:
        # Grandchildren by key, not by spawn(): spawn() counts, so a second draw would differ.
        generators = {
            stream: np.random.default_rng(
                np.random.SeedSequence(child.entropy, spawn_key=(*child.spawn_key, stream))
            )
            for stream in streams
        }
        return [
            std * generators[stream].standard_normal(shape)
            for shape, std, stream in zip(network.shapes, stds, streams, strict=True)
        ]

    return tuple(np.stack(edge) for edge in zip(*map(seed, children), strict=True))


def given_weights(matrices: Sequence[np.ndarray]) -> Weights:
    """Weights that the caller chose exactly, copied.

    Args:
        matrices: One an edge, each of shape (seeds, target, source).
    """
    return tuple(np.array(matrix, dtype=float) for matrix in matrices)
