"""Random gated graphs on random exact data, named by their seed; and a second route to the flow."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.gdln import Network
from symreln.networks.parts import Edge, Gain, Node
from symreln.networks.shared_edges import EdgeData
from symreln.specs.spec import Dataset, PathwaySpec, Spec
from symreln.task_library.load import load

Gate = tuple[Gain, ...] | None


def dataset(random: Random, n_x: int = 4, n_y: int = 3, samples: int = 5, rank: int = 2) -> Dataset:
    """Small integers whose inputs and targets span few directions."""

    def low_rank(rows: int) -> ExactMatrix:
        left = [[random.randint(-2, 2) for _ in range(rank)] for _ in range(rows)]
        right = [[random.randint(-1, 1) for _ in range(samples)] for _ in range(rank)]
        return ExactMatrix.from_rows(left) @ ExactMatrix.from_rows(right)

    return Dataset(inputs=low_rank(n_x), targets=low_rank(n_y))


def gate(random: Random, samples: int, *, gains: bool = True) -> Gate:
    choices: list[Gain] = [0, 1, 1]
    if gains:
        choices += [Scalar.of(Fraction(1, 2)), Scalar.of(Fraction(-3, 2))]
    kind = random.random()
    return None if kind < 0.5 else tuple(random.choice(choices) for _ in range(samples))


def random_graph(random: Random, data: Dataset, depth: int, *, gains: bool = True) -> Network:
    """A layered graph with edges that skip layers and parts of layers that are gated."""
    samples = data.samples
    inputs = [_indices(random, data.n_x) for _ in range(random.randint(1, 2))]
    outputs = [_indices(random, data.n_y) for _ in range(random.randint(1, 2))]
    layers = [
        [Node(name=f"in{k}", size=len(i), inputs=i) for k, i in enumerate(inputs)],
        *(
            [
                Node(
                    name=f"h{layer}{k}",
                    size=random.randint(2, 4),
                    gate=gate(random, samples, gains=gains),
                )
                for k in range(random.randint(1, 2))
            ]
            for layer in range(1, depth)
        ),
        [Node(name=f"out{k}", size=len(o), outputs=o) for k, o in enumerate(outputs)],
    ]
    ends: dict[tuple[str, str], None] = {}
    for layer, nodes in enumerate(layers[:-1]):
        for node in nodes:
            ends[node.name, random.choice(layers[layer + 1]).name] = None
            later = random.choice(layers[layer + 1 :])
            ends[node.name, random.choice(later).name] = None
    for layer, nodes in enumerate(layers[1:], start=1):
        for node in nodes:
            ends[random.choice(layers[layer - 1]).name, node.name] = None
    edges = tuple(
        Edge(name=f"e{k}", source=a, target=b, gate=gate(random, samples, gains=gains))
        for k, (a, b) in enumerate(ends)
    )
    return Network(nodes=tuple(node for nodes in layers for node in nodes), edges=edges)


def _indices(random: Random, count: int) -> tuple[int, ...]:
    return tuple(sorted(random.sample(range(count), random.randint(2, count))))


def random_data(seed: int, *, depth: int | None = None, gains: bool = True) -> EdgeData:
    random = Random(seed)
    data = dataset(random)
    return EdgeData(
        graph=random_graph(random, data, depth or random.randint(1, 4), gains=gains), dataset=data
    )


def start(data: EdgeData, seed: int, denominator: int = 8) -> list[ExactMatrix]:
    """Exact weights, small enough for the flow to be tame."""
    random = Random(seed)
    found = []
    for place in range(len(data.graph.edges)):
        rows, columns = data.graph.shape(place)
        table = [[random.randint(-2, 2) for _ in range(columns)] for _ in range(rows)]
        found.append(ExactMatrix.from_rows(table).scale(Fraction(1, denominator)))
    return found


def gains_of(item: Node | Edge, samples: int) -> np.ndarray:
    if item.gate is None:
        return np.ones(samples)
    return np.array([float(g if isinstance(g, int) else g.to_fraction()) for g in item.gate])


def order(graph: Network) -> list[Node]:
    found: list[Node] = []
    left = list(graph.nodes)
    while left:
        done = {node.name for node in found}
        ready = [
            n for n in left if all(graph.edges[e].source in done for e in graph.incoming[n.name])
        ]
        found += ready
        left = [node for node in left if node not in ready]
    return found


def backpropagated(data: EdgeData, weights: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
    """Loss and minus its gradient by running the network on samples; knows no pathways."""
    graph, samples = data.graph, data.dataset.samples
    x, y = data.dataset.inputs.to_numpy(), data.dataset.targets.to_numpy()
    active: dict[str, np.ndarray] = {}
    output = np.zeros_like(y)
    for node in order(graph):
        here = x[list(node.inputs)] if node.inputs else np.zeros((node.size, samples))
        for e in graph.incoming[node.name]:
            edge = graph.edges[e]
            here = here + weights[e] @ (active[edge.source] * gains_of(edge, samples))
        active[node.name] = here * gains_of(node, samples)
        for row, index in enumerate(node.outputs):
            output[index] += active[node.name][row]
    error = (y - output) / samples
    back: dict[str, np.ndarray] = {}
    slopes = [np.zeros_like(w) for w in weights]
    for node in reversed(order(graph)):
        signal = error[list(node.outputs)] if node.outputs else np.zeros((node.size, samples))
        for e in graph.outgoing[node.name]:
            edge = graph.edges[e]
            signal = signal + weights[e].T @ (back[edge.target] * gains_of(edge, samples))
        back[node.name] = signal * gains_of(node, samples)
    for e, edge in enumerate(graph.edges):
        passed = active[edge.source] * gains_of(edge, samples)
        slopes[e] = back[edge.target] @ passed.T
    return float(((y - output) ** 2).sum()) / (2 * samples), slopes


def spec_of(data: EdgeData, **more: object) -> Spec:
    """The spec of a graph on its data, as the door makes it."""
    pathways = tuple(PathwaySpec.along(data.graph, path) for path in data.paths)
    return Spec(dataset=data.dataset, pathways=pathways, graph=data.graph, **more)  # type: ignore[arg-type]


def shared_spec() -> Spec:
    """Two inputs and two outputs, four pathways of four edges: shared at three depths."""
    side = [
        {"name": f"{kind}{n}", key: [2 * n, 2 * n + 1], "gate": f"{kind} == {n}"}
        for kind, key in (("x", "inputs"), ("y", "outputs"))
        for n in (0, 1)
    ]
    pairs = [(a, b, k) for a in (0, 1) for b in (0, 1) for k in (0, 1)]
    x = [[int(2 * a + k == row) for a, _, k in pairs] for row in range(4)]
    y = [[(2 if k == row % 2 else 1) * int(b == row // 2) for _, b, k in pairs] for row in range(4)]
    edges = [("x0", "h"), ("x1", "h"), ("h", "i"), ("i", "j"), ("j", "y0"), ("j", "y1")]
    return load(
        {
            "dataset": {
                "X": x,
                "Y": y,
                "labels": {"x": [a for a, _, _ in pairs], "y": [b for _, b, _ in pairs]},
            },
            "node": [*side, *({"name": name, "size": 2} for name in "hij")],
            "edge": [{"from": a, "to": b} for a, b in edges],
        }
    )
