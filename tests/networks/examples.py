"""Random gated graphs on random exact data, named by their seed; and a second route to the flow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.laws.integrate import integrate
from symreln.networks.bundles import NetworkData
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Gain, Node
from symreln.specs.model import Dataset, PathwaySpec, Spec
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


def random_data(seed: int, *, depth: int | None = None, gains: bool = True) -> NetworkData:
    random = Random(seed)
    data = dataset(random)
    return NetworkData(
        graph=random_graph(random, data, depth or random.randint(1, 4), gains=gains), dataset=data
    )


def start(data: NetworkData, seed: int, denominator: int = 8) -> list[ExactMatrix]:
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


def backpropagated(data: NetworkData, weights: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
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


def spec_of(data: NetworkData, **more: object) -> Spec:
    """The spec of a graph on its data, as the door makes it."""
    pathways = tuple(PathwaySpec.along(data.graph, path) for path in data.paths)
    return Spec(dataset=data.dataset, pathways=pathways, graph=data.graph, **more)  # type: ignore[arg-type]


def chain_spec(depth: int) -> Spec:
    """One pathway of so many edges on correlations that commute: s = 3/2, 1/2, d = 1/2."""
    hidden = [{"name": f"h{n}", "size": 3} for n in range(1, depth)]
    names = ["x", *(node["name"] for node in hidden), "y"]
    return load(
        {
            "dataset": {
                "X": [["1", "0", "1", "0"], ["0", "1", "0", "1"]],
                "Y": [["2", "1", "2", "1"], ["1", "2", "1", "2"]],
            },
            "node": [{"name": "x", "inputs": "all"}, *hidden, {"name": "y", "outputs": "all"}],
            "edge": [{"from": a, "to": b} for a, b in pairwise(names)],
        }
    )


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


def aligned(data: NetworkData, strength: float) -> list[np.ndarray]:
    """Weights of a regular component with one strength in every mode of every edge."""
    modes = pathway_modes(data)
    outer = {"input": modes.v, "output": modes.u}
    bases = {
        node.name: np.eye(node.size, len(modes.s)) if node.is_hidden else outer[node.kind]
        for node in data.graph.nodes
    }
    return [strength * bases[e.target] @ bases[e.source].T for e in data.graph.edges]


def chain_strengths(
    counts: Sequence[int],
    s: float,
    d: float,
    start: Sequence[float],
    times: Sequence[float],
) -> np.ndarray:
    """Return the strengths of a chain's edges at every time, shape (times, edges).

    Args:
        counts: How many pathways use each edge.
        s: Singular value.
        d: Input eigenvalue.
        start: Strengths at times[0].
        times: Ascending times, in units of tau.
    """
    uses = np.array(counts, dtype=float)

    def rhs(_time: float, w: np.ndarray) -> np.ndarray:
        others = np.array([np.prod(np.delete(w, place)) for place in range(len(w))])
        return uses * others * (s - d * np.prod(w))

    states = [np.array(start, dtype=float)]
    for ends in pairwise(times):
        *_, (_, found) = integrate(rhs, states[-1], np.array(ends))
        states.append(found[:, -1])
    return np.array(states)


class PathwayModes(NamedTuple):
    """Modes of a pathway that learn something, strongest first: u, v in columns, s, d."""

    u: np.ndarray
    s: np.ndarray
    v: np.ndarray
    d: np.ndarray


def pathway_modes(data: NetworkData) -> PathwayModes:
    """The modes that all pathways of a regular component have, by another route than symreln's.

    A generic combination of Sigma^x and (Sigma^yx)^T Sigma^yx, which commute, has their joint
    eigenvectors.
    """
    sigma_yx = data.sigma_yx[0].to_numpy()
    sigma_x = data.bundles[0].effective.sigma_x.to_numpy()
    gram = sigma_yx.T @ sigma_yx
    sizes = [float(np.linalg.norm(m)) or 1.0 for m in (gram, sigma_x)]
    v = np.linalg.eigh(gram / sizes[0] + sigma_x / (np.pi * sizes[1]))[1]
    s = np.linalg.norm(sigma_yx @ v, axis=0)
    order = [k for k in np.argsort(-s) if s[k] > 1e-9 * s.max()]
    s, v = s[order], v[:, order]
    return PathwayModes(u=sigma_yx @ v / s, s=s, v=v, d=np.einsum("ik,ij,jk->k", v, sigma_x, v))
