"""The flow of pathways against the network run on samples, and one layer against its solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from symreln.exact.matrix import ExactMatrix
from symreln.laws.network_flow import NetworkFlow
from tests.networks.examples import backpropagated, random_data, start
from tests.strategies import examples, seeds


def arrays(weights: list[ExactMatrix]) -> list[np.ndarray]:
    return [w.to_numpy() for w in weights]


@examples(160)
@given(seeds)
def test_pathways_give_the_gradient_and_the_loss_of_the_network(seed: int):
    """Of two networks side by side: that of a seed, and one with twice its weights."""
    data = random_data(seed)
    flow = NetworkFlow.of(data)
    weights = arrays(start(data, seed))
    both = [np.array([w, 2 * w]) for w in weights]
    losses, velocity = flow.loss(flow.maps(both)), flow.velocity(both)
    for place, factor in enumerate((1, 2)):
        loss, slopes = backpropagated(data, [factor * w for w in weights])
        assert losses[place] == pytest.approx(loss, rel=1e-12, abs=1e-13)
        for found, expected in zip(velocity, slopes, strict=True):
            assert found[place] == pytest.approx(expected, rel=1e-12, abs=1e-12)
