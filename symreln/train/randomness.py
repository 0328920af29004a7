"""Initial weights: one independent stream a seed, whatever batch the seed is trained in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from symreln.errors import InputError
from symreln.train.network import LayerWeights

Seed = np.random.SeedSequence


class InitialWeights(Protocol):
    """Hands out the initial weights of seeds start … stop − 1, one entry a pathway."""

    def __call__(self, start: int, stop: int) -> tuple[LayerWeights, ...]:
        """Weights with a leading axis of stop − start seeds."""
        ...


def seed_children(
    rng: np.random.Generator | Seed | int | Sequence[int] | None, count: int
) -> list[Seed]:
    """One SeedSequence a seed (SPEC 7). Child i depends on ``rng`` and i, never on ``count``.

    A Generator or SeedSequence moves on with each call, as ``Generator.spawn`` does.
    """
    if isinstance(rng, np.random.Generator):
        return rng.bit_generator.seed_seq.spawn(count)  # type: ignore[attr-defined]
    sequence = rng if isinstance(rng, Seed) else Seed(rng)
    return sequence.spawn(count)


def gaussian_weights(
    children: list[Seed], shapes: list[tuple[int, int, int]], init_std: float
) -> InitialWeights:
    """Weights N(0, init_std²), drawn when they are asked for.

    Args:
        children: One a seed.
        shapes: (n_x, H, n_y), one a pathway. Each pathway has a stream of its own, so that the
            weights of one do not depend on which others there are after it.
        init_std: Standard deviation.
    """

    def draw(start: int, stop: int) -> tuple[LayerWeights, ...]:
        seeds = [_draw_seed(child, shapes, init_std) for child in children[start:stop]]
        return tuple(
            LayerWeights(
                w1=np.stack([seed[p][0] for seed in seeds]),
                w2=np.stack([seed[p][1] for seed in seeds]),
            )
            for p in range(len(shapes))
        )

    return draw


def _draw_seed(
    child: Seed, shapes: list[tuple[int, int, int]], init_std: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    # Grandchildren by key, not by spawn(): spawn() counts, so a second draw would differ.
    weights = []
    for position, (n_x, hidden, n_y) in enumerate(shapes):
        stream = Seed(child.entropy, spawn_key=(*child.spawn_key, position))
        generator = np.random.default_rng(stream)
        w1 = init_std * generator.standard_normal((hidden, n_x))
        w2 = init_std * generator.standard_normal((n_y, hidden))
        weights.append((w1, w2))
    return weights


def given_weights(
    weights: Sequence[LayerWeights], shapes: list[tuple[int, int, int]]
) -> tuple[int, InitialWeights]:
    """Number of seeds and source of weights that the caller chose exactly.

    Raises:
        InputError: The shapes do not fit the network.
    """
    if len(weights) != len(shapes):
        msg = f"initial: weights for {len(weights)} pathways, {len(shapes)} needed. Give one each."
        raise InputError(msg)
    arrays = [
        LayerWeights(w1=np.asarray(w.w1, dtype=float), w2=np.asarray(w.w2, dtype=float))
        for w in weights
    ]
    seeds = arrays[0].w1.shape[0]
    for position, (w, (n_x, hidden, n_y)) in enumerate(zip(arrays, shapes, strict=True)):
        needed = (seeds, hidden, n_x), (seeds, n_y, hidden)
        if (w.w1.shape, w.w2.shape) != needed or seeds < 1:
            msg = (
                f"initial[{position}]: w1 has shape {w.w1.shape} and w2 {w.w2.shape}. Give "
                f"{needed[0]} and {needed[1]}: an entry a seed, then (H, n_x) and (n_y, H)."
            )
            raise InputError(msg)

    def take(start: int, stop: int) -> tuple[LayerWeights, ...]:
        return tuple(w.seed(start, stop) for w in arrays)

    return seeds, take
