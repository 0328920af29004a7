"""The flow of pathways against the network run on samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.laws.network_flow import NetworkFlow
from symreln.networks.bundles import NetworkData
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Node
from symreln.specs.model import Dataset
from tests.networks.examples import backpropagated, random_data, start
from tests.strategies import examples, seeds

TIMES = (0.0, 0.5, 2.0)


def arrays(weights: list[ExactMatrix]) -> list[np.ndarray]:
    return [w.to_numpy() for w in weights]


def furthest(a: list[list[np.ndarray]], b: list[list[np.ndarray]]) -> float:
    return max(
        float(np.abs(x - y).max(initial=0.0))
        for left, right in zip(a, b, strict=True)
        for x, y in zip(left, right, strict=True)
    )


@examples(160)
@given(seeds)
def test_pathways_give_the_gradient_and_the_loss_of_the_network(seed: int):
    data = random_data(seed)
    flow = NetworkFlow.of(data)
    weights = arrays(start(data, seed))
    loss, slopes = backpropagated(data, weights)
    assert flow.loss(weights) == pytest.approx(loss, rel=1e-12, abs=1e-13)
    assert furthest([flow.velocity(weights)], [slopes]) < 1e-12


def chain(x: list[list[int]], y: list[list[int]]) -> NetworkData:
    data = Dataset(inputs=ExactMatrix.from_rows(x), targets=ExactMatrix.from_rows(y))
    nodes = (
        Node(name="x", size=len(x), inputs=tuple(range(len(x)))),
        Node(name="h", size=2),
        Node(name="y", size=len(y), outputs=tuple(range(len(y)))),
    )
    edges = (Edge(name="1", source="x", target="h"), Edge(name="2", source="h", target="y"))
    return NetworkData(graph=Network(nodes=nodes, edges=edges), dataset=data)


def test_a_start_of_other_shapes_is_refused():
    data = chain([[1, 1], [0, 2]], [[1, 1]])
    with pytest.raises(InputError, match="shapes"):
        NetworkFlow.of(data).trajectory([np.zeros((2, 2))], TIMES)


def test_one_edge_has_the_known_solution():
    """A single edge on white data: W(t) = Sigma^yx (1 - e^{-dt})/d with d = 1/2."""
    data = chain([[1, 0], [0, 1]], [[3, -1]])
    graph = Network(
        nodes=(data.graph.nodes[0], data.graph.nodes[2]),
        edges=(Edge(name="only", source="x", target="y"),),
    )
    flow = NetworkFlow.of(NetworkData(graph=graph, dataset=data.dataset))
    times = (0.0, 1.0, 7.0)
    found = flow.trajectory([np.zeros((1, 2))], [3 * t for t in times], tau=3.0)
    for t, (weights,) in zip(times, found, strict=True):
        expected = np.array([[3.0, -1.0]]) * (1 - np.exp(-t / 2))
        assert weights == pytest.approx(expected, rel=1e-11, abs=1e-14)
