"""The flow of pathways against the network run on samples, and the reduction against the flow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.laws.network_flow import NetworkFlow
from symreln.networks.bundles import NetworkData
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Node
from symreln.specs.model import Dataset
from symreln.verdict.spaces import NodeSpaces, minimal_spaces
from tests.networks.examples import backpropagated, random_data, start
from tests.networks.reduction import reduce_edges
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


def inside(data: NetworkData, seed: int) -> list[ExactMatrix]:
    """A start whose outer edges lie in the smallest spaces of the data."""
    minimal = minimal_spaces(data).bases
    found = []
    for edge, free in zip(data.graph.edges, start(data, seed), strict=True):
        weights = free
        for name, left in ((edge.target, True), (edge.source, False)):
            if name in minimal:
                basis = ExactMatrix.from_integers(minimal[name])
                square = basis @ basis.T
                weights = square @ weights if left else weights @ square
        largest = max(float(abs(entry)) for row in weights.to_fractions() for entry in row)
        found.append(weights.scale(Fraction(1, 1 + int(4 * largest))))
    return found


@examples(40)
@given(seeds)
def test_the_reduction_per_edge_follows_the_full_flow(seed: int):
    """Random graphs of depth up to 4, random gates with gains; starts in the smallest spaces."""
    data = random_data(seed)
    spaces = minimal_spaces(data)
    weights = inside(data, seed)
    reduction = reduce_edges(data, spaces)
    full = NetworkFlow.of(data).trajectory(arrays(weights), TIMES)
    small = reduction.flow.trajectory(reduction.project(arrays(weights)), TIMES)
    assert furthest(full, [reduction.lift(b) for b in small]) < 1e-10
    for now, then in zip(full, small, strict=True):
        assert reduction.flow.loss(then) == pytest.approx(
            NetworkFlow.of(data).loss(now), rel=1e-9, abs=1e-11
        )


def test_smallest_spaces_are_smaller_than_the_nodes_where_data_are():
    data = random_data(7)
    spaces = minimal_spaces(data)
    outer = [node for node in data.graph.nodes if not node.is_hidden]
    left_out = [node.size - spaces.dimension(node.name) for node in outer]
    assert sum(left_out) > 0
    assert min(left_out) >= 0


def chain(x: list[list[int]], y: list[list[int]]) -> NetworkData:
    data = Dataset(inputs=ExactMatrix.from_rows(x), targets=ExactMatrix.from_rows(y))
    nodes = (
        Node(name="x", size=len(x), inputs=tuple(range(len(x)))),
        Node(name="h", size=2),
        Node(name="y", size=len(y), outputs=tuple(range(len(y)))),
    )
    edges = (Edge(name="1", source="x", target="h"), Edge(name="2", source="h", target="y"))
    return NetworkData(graph=Network(nodes=nodes, edges=edges), dataset=data)


def test_a_start_outside_is_not_that_of_its_projection():
    data = chain([[1, 1], [0, 0], [1, -1]], [[1, 1], [2, 2]])
    spaces = minimal_spaces(data)
    assert (spaces.dimension("x"), spaces.dimension("y")) == (1, 1)
    good = [
        ExactMatrix.from_rows([[1, 0, 0], [2, 0, 0]]),
        ExactMatrix.from_rows([[1, 0], [2, 0]]),
    ]
    bad = [good[0], ExactMatrix.from_rows([[1, 0], [1, 0]])]
    reduction = reduce_edges(data, spaces)
    assert furthest([reduction.lift(reduction.project(arrays(good)))], [arrays(good)]) < 1e-14
    lifted = reduction.lift(reduction.project(arrays(bad)))
    assert np.abs(lifted[1] - bad[1].to_numpy()).max() > 0.1


def test_spaces_that_the_flow_leaves_are_refused():
    data = chain([[1, 1], [0, 2]], [[1, 1]])
    too_small = NodeSpaces(data=data, bases={"x": fmpz_mat([[1], [0]]), "y": fmpz_mat([[1]])})
    with pytest.raises(ArithmeticError, match="node 'x' is left"):
        too_small.check()


def test_spaces_serve_all_values_of_parameters():
    data = chain([[1, 1], [1, 0]], [[1, 1]])
    c = ExactMatrix.from_rows([[0, 0], [0, 1]]).promoted(("c",)).scale(Scalar.symbol("c", ("c",)))
    whole = Dataset(inputs=data.dataset.inputs.promoted(("c",)) + c, targets=data.dataset.targets)
    spaces = minimal_spaces(NetworkData(graph=data.graph, dataset=whole))
    for value in (0, 1, 5):
        at = Dataset(inputs=whole.inputs.substitute({"c": Fraction(value)}), targets=whole.targets)
        NodeSpaces(data=NetworkData(graph=data.graph, dataset=at), bases=spaces.bases).check()


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


@pytest.mark.parametrize(
    ("scales", "dimension"), [((1, 1, 1), 1), ((1, 2, 2), 2), ((1, 2, 3), 3), ((1, 2, 0), 2)]
)
def test_the_input_space_holds_what_the_input_correlation_makes(
    scales: tuple[int, ...], dimension: int
):
    """Targets 1 on inputs scaled apart: Krylov space of (1, 1, 1)·X under X Xᵀ, X diagonal."""
    x = [[scale if i == j else 0 for j in range(3)] for i, scale in enumerate(scales)]
    assert minimal_spaces(chain(x, [[1, 1, 1]])).dimension("x") == dimension


def test_the_output_space_holds_what_other_outputs_bring():
    """Output 1 is written by both nodes: what the other node's pathways add there is an error."""
    data = Dataset(
        inputs=ExactMatrix.from_rows([[1]]), targets=ExactMatrix.from_rows([[1], [1], [0]])
    )
    nodes = (
        Node(name="x", size=1, inputs=(0,)),
        Node(name="y", size=2, outputs=(0, 1)),
        Node(name="z", size=2, outputs=(1, 2)),
    )
    edges = (Edge(name="1", source="x", target="y"), Edge(name="2", source="x", target="z"))
    spaces = minimal_spaces(NetworkData(graph=Network(nodes=nodes, edges=edges), dataset=data))
    # y: (1, 1) from the targets and (0, 1) through z; z: (1, 0), and nothing asks for output 2.
    assert (spaces.dimension("y"), spaces.dimension("z")) == (2, 1)
