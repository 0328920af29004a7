"""Initial weights: one independent stream a seed, whatever batch the seed is trained in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from symreln.errors import InputError
from symreln.train.network import EdgeWeights, LayerWeights, Weights

Seed = np.random.SeedSequence


class InitialWeights(Protocol):
    """Hands out the initial weights of seeds start … stop − 1, one entry a pathway or an edge."""

    def __call__(self, start: int, stop: int) -> Weights:
        """Weights with a leading axis of stop − start seeds."""
        ...


def seed_children(
    rng: np.random.Generator | Seed | int | Sequence[int] | None, count: int
) -> list[Seed]:
    """One SeedSequence a seed. Child i depends on ``rng`` and i, never on ``count``.

    A Generator or SeedSequence moves on with each call, as ``Generator.spawn`` does.
    """
    if isinstance(rng, np.random.Generator):
        return rng.bit_generator.seed_seq.spawn(count)  # type: ignore[attr-defined]
    sequence = rng if isinstance(rng, Seed) else Seed(rng)
    return sequence.spawn(count)


def gaussian_weights(
    children: list[Seed],
    shapes: list[tuple[int, int, int]],
    init_std: float | Sequence[float],
    spreads: Sequence[float] | None = None,
) -> InitialWeights:
    """Weights N(0, init_std²), drawn when they are asked for.

    Args:
        children: One a seed.
        shapes: (n_x, H, n_y), one a pathway. Each pathway has a stream of its own, so that the
            weights of one do not depend on which others there are after it.
        init_std: Standard deviation, or one for each of the two layers.
        spreads: What it is multiplied by, one a pathway; 1 by default.
    """
    stds = (init_std, init_std) if isinstance(init_std, (int, float)) else tuple(init_std)

    def draw(start: int, stop: int) -> tuple[LayerWeights, ...]:
        layers = [[(hidden, n_x), (n_y, hidden)] for n_x, hidden, n_y in shapes]
        own = [tuple(each * std for std in stds) for each in spreads or [1.0] * len(shapes)]
        seeds = [_draw_seed(child, layers, own) for child in children[start:stop]]
        return tuple(
            LayerWeights(
                w1=np.stack([seed[p][0] for seed in seeds]),
                w2=np.stack([seed[p][1] for seed in seeds]),
            )
            for p in range(len(shapes))
        )

    return draw


def gaussian_matrices(
    children: list[Seed],
    groups: Sequence[Sequence[tuple[int, int]]],
    stds: Sequence[Sequence[float]],
    *,
    biases: bool = False,
) -> InitialWeights:
    """Weights N(0, std²) of edges or layers, drawn when they are asked for.

    Args:
        children: One a seed.
        groups: (target, source) units of matrices; each group has a stream of its own, in which
            its matrices follow one another.
        stds: Standard deviations, alike.
        biases: Whether every matrix gets another column, which starts at 0.
    """
    space = ((0, 0), (0, 0), (0, int(biases)))

    def draw(start: int, stop: int) -> tuple[EdgeWeights, ...]:
        seeds = [_draw_seed(child, groups, stds) for child in children[start:stop]]
        flat = [[matrix for group in seed for matrix in group] for seed in seeds]
        stacked = [np.stack(one) for one in zip(*flat, strict=True)]
        return tuple(EdgeWeights(matrix=np.pad(one, space)) for one in stacked)

    return draw


def _draw_seed(
    child: Seed,
    groups: Sequence[Sequence[tuple[int, int]]],
    stds: Sequence[Sequence[float]],
) -> list[list[np.ndarray]]:
    # Grandchildren by key, not by spawn(): spawn() counts, so a second draw would differ.
    weights = []
    for position, (group, scales) in enumerate(zip(groups, stds, strict=True)):
        stream = Seed(child.entropy, spawn_key=(*child.spawn_key, position))
        generator = np.random.default_rng(stream)
        weights.append(
            [
                std * generator.standard_normal(shape)
                for shape, std in zip(group, scales, strict=True)
            ]
        )
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


def given_matrices(
    matrices: Sequence[np.ndarray], shapes: Sequence[tuple[int, int]]
) -> tuple[int, InitialWeights]:
    """Number of seeds and source of weights of edges or layers that the caller chose exactly.

    Args:
        matrices: Each of shape (seeds, target, source).
        shapes: (target, source) units of each.

    Raises:
        InputError: The shapes do not fit the network.
    """
    arrays = [np.array(matrix, dtype=float) for matrix in matrices]
    found = [array.shape for array in arrays]
    seeds = found[0][0] if found and len(found[0]) == 3 else 0
    needed = [(seeds, *shape) for shape in shapes]
    if found != needed or seeds < 1:
        wanted = ", ".join(f"(seeds, {target}, {source})" for target, source in shapes)
        msg = f"initial: shapes are {found}. Give one array an edge or layer, of shapes {wanted}."
        raise InputError(msg)

    def take(start: int, stop: int) -> tuple[EdgeWeights, ...]:
        return tuple(EdgeWeights(matrix=array[start:stop]) for array in arrays)

    return seeds, take
