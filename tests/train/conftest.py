"""Small problems that the trainers are tested on, and losses written out sample by sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symreln.train.network import GatedPathway
from symreln.train.settings import TrainingSettings
from symreln.train.weights import LayerWeights


@pytest.fixture
def make_settings() -> Callable[..., TrainingSettings]:
    def make(**changes) -> TrainingSettings:
        values = {
            "hidden": 5,
            "init_std": 0.5,
            "learning_rate": 0.02,
            "loss": "mean",
            "steps": 20,
        }
        return TrainingSettings(**{**values, **changes})

    return make


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    """Inputs (4, 7) and targets (3, 7) without any structure."""
    rng = np.random.default_rng(11)
    return rng.standard_normal((4, 7)), rng.standard_normal((3, 7))


@pytest.fixture
def pathways() -> tuple[GatedPathway, ...]:
    """Masked and overlapping in samples, inputs and outputs; two stages."""
    return (
        GatedPathway(
            name="shared", gate=[1] * 7, inputs=range(4), outputs=range(3), hidden=4, stage=1
        ),
        GatedPathway(
            name="early", gate=[1, 1, 1, 0, 0, 0, 0], inputs=(3, 1), outputs=(0, 2), hidden=3
        ),
        GatedPathway(
            name="late", gate=[0, 1, 0, 1, 0, 1, 1], inputs=(0, 2), outputs=(2,), hidden=2, stage=2
        ),
        GatedPathway(
            name="last", gate=[0, 0, 0, 0, 1, 1, 0], inputs=(1,), outputs=(2, 1), hidden=2, stage=3
        ),
    )


@pytest.fixture
def start_weights() -> Callable[..., LayerWeights]:
    def draw(n_x: int, hidden: int, n_y: int, seeds: int = 1, key: int = 0) -> LayerWeights:
        rng = np.random.default_rng([5, key])
        return LayerWeights(
            w1=rng.standard_normal((seeds, hidden, n_x)),
            w2=rng.standard_normal((seeds, n_y, hidden)),
        )

    return draw
