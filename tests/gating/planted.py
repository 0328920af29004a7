"""Networks whose gates are made up, and small real ones, for tests of what finds gates."""

from __future__ import annotations

import numpy as np

import symreln as sr
from symreln.gating.observed import ObservedNetworks, observe
from symreln.train.settings import TrainingSettings
from symreln.train.weights import LayerWeights
from tests.own_specs import own


def planted(active: np.ndarray, weights: np.ndarray) -> ObservedNetworks:
    """Networks that had these gates, shape (seeds, T, H, P), at updates 1, 2, …, T."""
    seeds, looks, hidden, samples = active.shape
    layer = LayerWeights(w1=np.ones((seeds, hidden, 2)), w2=np.ones((seeds, 1, hidden)))
    return ObservedNetworks(
        inputs=np.ones((2, samples)),
        targets=np.ones((1, samples)),
        settings=TrainingSettings(
            hidden=hidden, init_std=0.1, learning_rate=1e-4, loss="mean", steps=looks + 1
        ),
        initial=layer,
        steps=tuple(range(1, looks + 1)),
        seen={
            "activity": active.astype(bool),
            "contribution": np.broadcast_to(weights, active.shape[:3]).astype(float),
        },
        losses=np.ones((seeds, looks + 1)),
        last=layer,
    )


def trained_network(steps: int = 40) -> ObservedNetworks:
    """ReLU networks on data without structure, whose gates move, looked at before every update."""
    random = np.random.default_rng(5)
    inputs, targets = (random.standard_normal((rows, 9)).tolist() for rows in (3, 2))
    network = {"hidden": 12, "init_std": 0.4, "learning_rate": 0.3, "loss": "mean", "steps": steps}
    spec = sr.load(own(inputs, targets, network=network))
    return observe(spec, seeds=2, steps=range(steps))
