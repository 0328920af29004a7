"""Gradient descent on a gated deep linear network given as a graph: any depth, shared edges.

Samples run through the graph forth and back as through any network; nothing is known here of
pathways or of reductions. A node and an edge take part in the samples on which they lie on an open
path from an input to an output, and in no others.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, Unpack, final

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import AbstractArithmetic, Array, arithmetic_of
from symreln.train.graph_state import GraphState
from symreln.train.loop import Running, run_training
from symreln.train.machine import prepared
from symreln.train.model import AbstractModel, AbstractState, curvature_limit
from symreln.train.network import EdgeWeights, TrainingRun, TrainingSettings
from symreln.train.randomness import gaussian_matrices, given_matrices
from symreln.train.record import Observer, Quantity, Recording
from symreln.train.representations import similarity_observer
from symreln.train.topology import GatedGraph
from symreln.train.topology_record import graph_maps_observer, graph_outputs_observer, held_nodes


def train_graph(
    inputs: Any,
    targets: Any,
    graph: GatedGraph,
    settings: TrainingSettings,
    *,
    training: Literal["joint", "staged"] = "joint",
    biases: bool = False,
    initial: Mapping[str, np.ndarray] | None = None,
    **running: Unpack[Running],
) -> TrainingRun:
    """Train the gated deep linear network of a graph.

    ``joint``: all edges go down the gradient of one loss. ``staged``: all train side by side, and
    what reaches an output node of stage k is the residual that output nodes of stages ≤ k leave,
    with the outputs of earlier stages as constants in it; an edge that several stages use adds up
    what it hears from each.

    Recorded losses are the mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each
    update. Weight decay and mini-batches: :class:`symreln.train.network.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        graph: Nodes, edges and gates; each edge draws its initial weights from a stream of its own
            place.
        settings: Hyper-parameters; ``hidden`` and ``activation`` are not used, ``init_std`` is
            one number or one for every edge.
        training: ``"joint"`` or ``"staged"``.
        biases: Whether every edge has a bias, on the samples on which it lies on an open path: a
            last column of its weights, which starts at 0, is trained, and decays, as the rest.
        initial: Exact initial weights by edge name, each of shape (seeds, target, source), with
            biases one column more.
        **running: Seeds, random streams, what is recorded, processes and memory.

    Returns:
        The run; its ``matrices`` are the final weights of the edges, in the graph's order.

    Raises:
        InputError: Shapes do not fit, or the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.
    """
    inputs, targets, settings = prepared(inputs, targets, settings)
    if training not in ("joint", "staged"):
        msg = f"training: found {training!r}. Give 'joint' or 'staged'."
        raise InputError(msg)
    model = GraphModel(inputs, targets, graph, settings, staged=training == "staged", biases=biases)
    stds = [(std,) for std in settings.layer_stds(len(graph.edges))]
    groups = [(shape,) for shape in graph.shapes]
    return run_training(
        model,
        lambda children: gaussian_matrices(children, groups, stds, biases=biases),
        None if initial is None else given_matrices(_by_name(initial, graph), model.shapes),
        settings,
        **running,
    )


def _by_name(initial: Mapping[str, np.ndarray], graph: GatedGraph) -> list[np.ndarray]:
    names = [edge.name for edge in graph.edges]
    if set(initial) != set(names):
        msg = f"initial: weights for {sorted(initial)}. Give them for each of {sorted(names)}."
        raise InputError(msg)
    return [initial[name] for name in names]


@final
class GraphModel(AbstractModel):
    """A graph and its data."""

    def __init__(
        self,
        inputs: Array,
        targets: Array,
        graph: GatedGraph,
        settings: TrainingSettings,
        *,
        staged: bool = False,
        biases: bool = False,
    ) -> None:
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        graph.check_fits(self.n_x, self.n_y, self.samples)
        settings.check_fits(self.samples)
        self._arithmetic = arithmetic_of(inputs, settings.precision)
        self.inputs = self._arithmetic.array(inputs)
        self.targets = self._arithmetic.array(targets)
        self.graph, self.settings = graph, settings
        self.staged, self.biases = staged, biases
        stages = {node.stage for node in graph.nodes if node.outputs} if staged else {None}
        self.stages = tuple(sorted(stages, key=lambda stage: stage or 0))
        self.live_nodes, self.live_edges = graph.live(self.samples)
        if not any(live.any() for live in self.live_edges):
            msg = "graph: no path from an input to an output is open on any sample. Open a gate."
            raise InputError(msg)

    @property
    def description(self) -> dict[str, Any]:
        return {
            "kind": "graph",
            "nodes": [dataclasses.asdict(node) for node in self.graph.nodes],
            "edges": [dataclasses.asdict(edge) for edge in self.graph.edges],
            "staged": self.staged,
            "biases": self.biases,
        }

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape of every edge's weights, with biases as their last column."""
        return [(target, source + self.biases) for target, source in self.graph.shapes]

    @property
    def multiplications(self) -> int:
        return sum(
            3 * target * source * int(live.sum())
            for (target, source), live in zip(self.graph.shapes, self.live_edges, strict=True)
        )

    @property
    def arithmetic(self) -> AbstractArithmetic:
        return self._arithmetic

    @property
    def hidden_units(self) -> int:
        return sum(n.size for n in self.graph.nodes if not n.inputs and not n.outputs)

    @property
    def hidden_layers(self) -> int:
        return sum(not n.inputs and not n.outputs for n in self.graph.nodes)

    @property
    def weight_count(self) -> int:
        return sum(target * source for target, source in self.shapes)

    @property
    def map_count(self) -> int:
        return len(self.graph.paths(self.samples))

    @property
    def data_shape(self) -> tuple[int, int, int]:
        return self.n_x, self.n_y, self.samples

    @property
    def working_bytes(self) -> int:
        nodes = sum(4 * n.size * int(self.live_nodes[n.name].sum()) for n in self.graph.nodes)
        # What an edge reads and passes on, cut to its samples, forth and back.
        edges = sum(
            3 * (target + source) * int(live.sum())
            for (target, source), live in zip(self.graph.shapes, self.live_edges, strict=True)
        )
        outputs = sum(bool(node.outputs) for node in self.graph.nodes)
        batches = 0 if self.settings.batch_size is None else 2 * self.samples
        whole = (3 + 2 * outputs) * self.samples * self.n_y
        return 8 * (2 * self.weight_count + nodes + edges + whole + batches)

    def start(self, weights: tuple[EdgeWeights, ...]) -> AbstractState:
        return GraphState(self, weights)

    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        inputs = self._arithmetic.numpy(self.inputs)
        if quantity == "maps" and not self.biases:
            return graph_maps_observer(self.graph, self.n_x, self.n_y, self.samples)
        if quantity == "outputs":
            return graph_outputs_observer(self.graph, inputs, self.n_y, biases=self.biases)
        if quantity == "similarity" and self.hidden_layers:
            hidden = [n.name for n in self.graph.nodes if not n.inputs and not n.outputs]

            def held(weights: tuple[EdgeWeights, ...]) -> list[np.ndarray]:
                found = held_nodes(self.graph, inputs, weights, biases=self.biases)
                return [found[name] for name in hidden]

            return similarity_observer(held)
        msg = (
            f"record.quantities: {quantity!r} is not recorded of this graph. Leave it out; there "
            "are 'outputs', 'similarity' of hidden nodes, and without biases 'maps'."
        )
        raise InputError(msg)

    def stable_learning_rate(self) -> float:
        inputs = self._arithmetic.numpy(self.inputs)
        targets = self._arithmetic.numpy(self.targets)
        return curvature_limit(inputs, targets, self.settings, self.graph.depth)
