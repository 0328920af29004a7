"""What grows of a random start: all that silent alignment leaves of it.

Source: the assumption is 2.1.2 of [Jarvis2025]; of a mode's two amplitudes only the combination
(W1 v + W2ᵀ u)/√2 grows while weights are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.probes import probe_bases
from symreln.experiment.trained import gated_pathways
from symreln.experiment.training import GDLN, SAME, train, train_gated
from symreln.train.weights import LayerWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun


def why_no_growing_part(numbers: Derivation) -> str:
    """Return why the growing part of a start is not known, or ""."""
    plain = numbers.known.plain
    if not plain.holds:
        return f"it is known of {plain.why}"
    if len(numbers.stages) > 1:
        return "a later stage grows first by what the earlier ones have not learned yet"
    if not numbers.closed:
        return "modes that lose, or directions that turn, grow from what does not grow at first"
    return ""


def train_growing(
    numbers: Derivation, kappas: Mapping[str, float], seeds: int, rng: int
) -> TrainingRun:
    """Train the confrontation's first GDLNs from the growing part of their starts alone.

    Of every pathway's start are kept (W1 v + W2ᵀ u)/√2 for all modes (u, v) that learn something:
    the layers are then balanced and aligned.

    Args:
        numbers: Of one stage, with a network of two layers that start alike.
        kappas: κ of pathways by name.
        seeds: Networks.
        rng: Seed of the confrontation.
    """
    spec = numbers.spec
    drawn = train(GDLN, SAME.of(spec, steps=1), kappas, seeds, rng)
    gated = gated_pathways(spec, kappas)
    initial = {}
    for pathway, one, weights in zip(numbers.pathways, gated, drawn.weights, strict=True):
        u, v, _ = probe_bases(pathway)
        initial[one.name] = growing_part(u[list(one.outputs)], v, weights)
    return train_gated(spec, kappas, initial=initial)


def growing_part(u: np.ndarray, v: np.ndarray, weights: LayerWeights) -> LayerWeights:
    """Return what grows of a pathway's weights: the projection on (v, u)/√2 of every mode.

    Args:
        u: Output vectors, orthonormal columns, (n_y, R).
        v: Input vectors, orthonormal columns, (n_x, R).
        weights: Of all seeds.
    """
    amplitudes = (weights.w1 @ v + np.swapaxes(weights.w2, 1, 2) @ u) / 2
    return LayerWeights(w1=amplitudes @ v.T, w2=u @ np.swapaxes(amplitudes, 1, 2))
