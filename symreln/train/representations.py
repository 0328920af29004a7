"""How alike samples are to a hidden layer: the products of what it holds of them.

The matrix Hᵀ H of what a hidden layer holds, H of shape (units, P), is what is compared between
networks: units have no names, and a rotation of a layer that the next one undoes changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symreln.train.network import LayerWeights
from symreln.train.record import Observer

Held = Callable[[Any], Sequence[np.ndarray]]
"""Weights → what each hidden layer holds, each of shape (seeds, units, P)."""


def similarity_observer(held: Held) -> Observer:
    """Observer of Hᵀ H of every hidden layer, shape (seeds, hidden layers, P, P)."""

    def observe(step: int, weights: Any) -> np.ndarray:
        return np.stack([layer.swapaxes(-1, -2) @ layer for layer in held(weights)], axis=1)

    return observe


def rectified_layer(inputs: np.ndarray) -> Held:
    """What a hidden layer of ReLU holds of inputs (n_x, P)."""

    def held(weights: tuple[LayerWeights, ...]) -> list[np.ndarray]:
        return [np.maximum(weights[0].w1 @ inputs, 0.0)]

    return held


def gated_layer(inputs: Sequence[np.ndarray]) -> Held:
    """What all pathways hold together, as one layer; ``inputs`` are what each of them sees."""

    def held(weights: tuple[LayerWeights, ...]) -> list[np.ndarray]:
        parts = [layer.w1 @ own for layer, own in zip(weights, inputs, strict=True)]
        return [np.concatenate(parts, axis=1)]

    return held
