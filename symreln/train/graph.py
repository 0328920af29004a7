"""Gradient descent on a gated deep linear network given as a graph: any depth, shared edges.

Samples run through the graph forth and back as through any network; nothing is known here of
pathways or of reductions. A node and an edge take part in the samples on which they lie on an open
path from an input to an output, and in no others.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from symreln.errors import InputError
from symreln.train.arrays import AbstractArithmetic, Array, arithmetic_of
from symreln.train.gdln import Axis
from symreln.train.loop import Progress, run_training
from symreln.train.memory import DEFAULT_MEMORY_LIMIT
from symreln.train.model import AbstractModel, AbstractState, curvature_limit
from symreln.train.network import EdgeWeights, TrainingRun, TrainingSettings, checked_data
from symreln.train.randomness import gaussian_matrices, given_matrices, seed_children
from symreln.train.record import Observer, Quantity, Recording
from symreln.train.topology import GatedGraph, GatedNode
from symreln.train.topology_record import graph_maps_observer, graph_outputs_observer


def train_graph(
    inputs: Any,
    targets: Any,
    graph: GatedGraph,
    settings: TrainingSettings,
    *,
    seeds: int = 1,
    rng: Any = None,
    initial: Mapping[str, np.ndarray] | None = None,
    record: Recording | None = None,
    workers: int | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Progress | None = None,
) -> TrainingRun:
    """Train the gated deep linear network of a graph; all edges go down the gradient of one loss.

    Recorded losses are the mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² over all samples, taken before each
    update. Weight decay and mini-batches: :class:`symreln.train.network.TrainingSettings`.

    Args:
        inputs: X, shape (n_x, P), one column a sample; a numpy array or any array-API array.
        targets: Y, shape (n_y, P).
        graph: Nodes, edges and gates; each edge draws its initial weights from a stream of its own
            place.
        settings: Hyper-parameters; ``hidden`` and ``activation`` are not used, ``init_std`` is
            one number or one for every edge.
        seeds: How many networks to train.
        rng: Seed, SeedSequence or Generator (SPEC 7); network i depends on ``rng`` and i alone.
        initial: Exact initial weights by edge name, each of shape (seeds, target, source); then
            ``seeds`` is not used, and ``rng`` for mini-batches only.
        record: What to keep besides the losses; default nothing.
        workers: Processes; default one a processor for long trainings, else this one alone.
            Results do not depend on it.
        memory_limit: Bytes that the training may take; seeds are trained in chunks to keep to it.
        progress: Called now and then, in the caller's thread, with seed-steps done and in all.

    Returns:
        The run; its ``matrices`` are the final weights of the edges, in the graph's order.

    Raises:
        InputError: Shapes do not fit, or the training diverged.
        LimitReachedError: The results alone are larger than ``memory_limit``.
    """
    inputs, targets = checked_data(inputs, targets)
    model = GraphModel(inputs, targets, graph, settings)
    shapes = graph.shapes
    if initial is None:
        children = seed_children(rng, seeds)
        stds = [(std,) for std in settings.layer_stds(len(shapes))]
        source = gaussian_matrices(children, [(shape,) for shape in shapes], stds)
    else:
        names = [edge.name for edge in graph.edges]
        if set(initial) != set(names):
            msg = f"initial: weights for {sorted(initial)}. Give them for each of {sorted(names)}."
            raise InputError(msg)
        seeds, source = given_matrices([initial[name] for name in names], shapes)
        children = seed_children(rng, seeds)
    return run_training(
        model,
        source,
        settings,
        children=children,
        seeds=seeds,
        record=record,
        workers=workers,
        memory_limit=memory_limit,
        progress=progress,
    )


@final
class GraphModel(AbstractModel):
    """A graph and its data."""

    def __init__(
        self, inputs: Array, targets: Array, graph: GatedGraph, settings: TrainingSettings
    ) -> None:
        self.n_x, self.samples = inputs.shape
        self.n_y = targets.shape[0]
        graph.check_fits(self.n_x, self.n_y, self.samples)
        settings.check_fits(self.samples)
        self._arithmetic = arithmetic_of(inputs)
        self.inputs = self._arithmetic.array(inputs)
        self.targets = self._arithmetic.array(targets)
        self.graph, self.settings = graph, settings
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
        }

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
    def weight_count(self) -> int:
        return sum(target * source for target, source in self.graph.shapes)

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
        return _GraphState(self, weights)

    def observer(self, quantity: Quantity, record: Recording) -> Observer:
        if quantity == "maps":
            return graph_maps_observer(self.graph, self.n_x, self.n_y, self.samples)
        if quantity == "outputs":
            return graph_outputs_observer(self.graph, self._arithmetic.numpy(self.inputs), self.n_y)
        msg = (
            f"record.quantities: {quantity!r} is not recorded of a graph. Leave it out; "
            "'maps' and 'outputs' are there."
        )
        raise InputError(msg)

    def stable_learning_rate(self) -> float:
        inputs = self._arithmetic.numpy(self.inputs)
        targets = self._arithmetic.numpy(self.targets)
        return curvature_limit(inputs, targets, self.settings, self.graph.depth)


@final
class _EdgeState:
    """Weights and buffers of one edge; W stored as (source, target), samples in rows."""

    def __init__(self, model: GraphModel, place: int, weights: EdgeWeights, seeds: int) -> None:
        do = self.do = model.arithmetic
        edge = model.graph.edges[place]
        self.source, self.target = edge.source, edge.target
        self.kept = 1 - model.settings.decay(model.samples)
        live = model.live_edges[place]
        self.read = _rows(do, live, model.live_nodes[edge.source])
        self.write = _rows(do, live, model.live_nodes[edge.target])
        self.gains = _column(do, edge.gate, live)
        self.weights = do.array(np.swapaxes(weights.matrix, 1, 2))
        source, target = self.weights.shape[1:]
        rows = int(live.sum())
        held = int(model.live_nodes[edge.source].sum())
        written = int(model.live_nodes[edge.target].sum())
        self.cut, self.gated = do.buffer(seeds, rows, source), do.buffer(seeds, rows, source)
        self.passed = do.buffer(seeds, rows, target)
        self.spread = do.buffer(seeds, written, target)
        self.signal = do.buffer(seeds, rows, target)
        self.back = do.buffer(seeds, rows, source)
        self.spread_back = do.buffer(seeds, held, source)
        self.step = do.buffer(seeds, source, target)

    def forth(self, held: Array) -> Array:
        """What the edge adds to its target, from what its source holds; both on live samples."""
        do = self.do
        # Of an input node, which is the same for all seeds, there is no buffer to cut into.
        shared = len(held.shape) == 2
        self.seen = self.read.cut(held, None if shared else self.cut)
        if self.gains is not None:
            self.seen = do.multiply(self.seen, self.gains, out=None if shared else self.gated)
        self.passed = do.matmul(self.seen, self.weights, out=self.passed)
        return self.write.spread(self.passed, self.spread)

    def pull(self, signal: Array, *, wanted: bool) -> Array:
        """Take a step, from the error signal of its target; return its source's where wanted."""
        do = self.do
        self.signal = self.write.cut(signal, self.signal)
        found = None
        if wanted:
            self.back = do.matmul(self.signal, do.transpose(self.weights), out=self.back)
            if self.gains is not None:
                self.back = do.multiply(self.back, self.gains, out=self.back)
            found = self.read.spread(self.back, self.spread_back)
        self.step = do.matmul(do.transpose(self.seen), self.signal, out=self.step)
        self.decay()
        self.weights = do.add(self.weights, self.step, out=self.weights)
        return found

    def decay(self) -> None:
        """Take weight decay's share away."""
        if self.kept != 1:
            self.weights = self.do.multiply(self.weights, self.kept, out=self.weights)


@final
class _NodeState:
    """Buffers of one node, on the samples on which it is live."""

    def __init__(self, model: GraphModel, node: GatedNode, seeds: int) -> None:
        do = self.do = model.arithmetic
        live = model.live_nodes[node.name]
        self.name, self.live = node.name, bool(live.any())
        self.gains = _column(do, node.gate, live)
        self.incoming = [e for e, edge in enumerate(model.graph.edges) if edge.target == node.name]
        self.outgoing = [e for e, edge in enumerate(model.graph.edges) if edge.source == node.name]
        rows = int(live.sum())
        self.sum, self.held = do.buffer(seeds, rows, node.size), do.buffer(seeds, rows, node.size)
        self.sent, self.signal = (
            do.buffer(seeds, rows, node.size),
            do.buffer(seeds, rows, node.size),
        )
        self.inputs = None
        if node.inputs:
            own = do.take(do.transpose(model.inputs), do.index(np.flatnonzero(live)), 0)
            own = do.take(own, do.index(node.inputs), 1)
            self.inputs = do.array(own if self.gains is None else do.multiply(own, self.gains))
        self.columns = None
        if node.outputs:
            self.columns = Axis(do, node.outputs, model.n_y, -1)
            self.rows = Axis(do, np.flatnonzero(live).tolist(), model.samples, -2)
            self.wide = do.buffer(seeds, rows, model.n_y)
            self.whole = do.buffer(seeds, model.samples, model.n_y)
            self.cut_rows = do.buffer(seeds, rows, model.n_y)
            self.cut = do.buffer(seeds, rows, node.size)

    def gather(self, parts: list[Array], total: Array, gated: Array) -> tuple[Array, Array]:
        """The sum of parts, and that times the gains, with the buffers of both."""
        do, found = self.do, parts[0]
        for part in parts[1:]:
            found = total = do.add(found, part, out=total)
        if self.gains is None:
            return total, found
        return total, do.multiply(found, self.gains, out=gated)


@final
class _GraphState(AbstractState):
    def __init__(self, model: GraphModel, weights: tuple[EdgeWeights, ...]) -> None:
        do = self.do = model.arithmetic
        seeds = weights[0].seeds
        self.samples, self.rate = model.samples, model.settings.rate(model.samples)
        self.targets = do.array(do.transpose(model.targets))
        self.edges = [_EdgeState(model, e, one, seeds) for e, one in enumerate(weights)]
        self.nodes = [_NodeState(model, node, seeds) for node in model.graph.order]
        idle = {node.name for node in self.nodes if not node.live}
        # No sample passes them, and weight decay shrinks them all the same.
        self.idle = [edge for edge in self.edges if idle & {edge.source, edge.target}]
        self.residual = do.buffer(seeds, model.samples, model.n_y)
        self.scaled = do.buffer(seeds, model.samples, model.n_y)

    def evaluate(self) -> Array:
        do, held, left = self.do, {}, self.targets
        for node in self.nodes:
            if not node.live:
                continue
            if node.inputs is not None:
                held[node.name] = node.inputs
                continue
            parts = [
                self.edges[e].forth(held[self.edges[e].source])
                for e in node.incoming
                if self.edges[e].source in held
            ]
            node.sum, held[node.name] = node.gather(parts, node.sum, node.held)
            if node.columns is not None:
                node.wide = node.columns.spread(held[node.name], node.wide)
                node.whole = node.rows.spread(node.wide, node.whole)
                left = do.subtract(left, node.whole, out=self.residual)
        self.residual = left
        return do.square_sums(left) * (0.5 / self.samples)

    def update(self, factors: Array | None = None) -> None:
        do, signals = self.do, {}
        # The learning rate goes into the residual, the smallest factor of all gradients.
        rate = self.rate if factors is None else do.multiply(factors, self.rate)
        self.scaled = do.multiply(self.residual, rate, out=self.scaled)
        for node in reversed(self.nodes):
            if not node.live:
                continue
            parts = self._received(node, signals)
            if node.inputs is None:
                node.sent, signals[node.name] = node.gather(parts, node.sent, node.signal)
        for edge in self.idle:
            edge.decay()

    def _received(self, node: _NodeState, signals: dict[str, Array]) -> list[Array]:
        """The error signals that reach a live node; the edges that bring them take their step."""
        if node.columns is not None:
            node.cut_rows = node.rows.cut(self.scaled, node.cut_rows)
            node.cut = node.columns.cut(node.cut_rows, node.cut)
            return [node.cut]
        edges = [self.edges[e] for e in node.outgoing if self.edges[e].target in signals]
        return [edge.pull(signals[edge.target], wanted=node.inputs is None) for edge in edges]

    def weights(self) -> tuple[EdgeWeights, ...]:
        return tuple(
            EdgeWeights(matrix=np.ascontiguousarray(self.do.numpy(edge.weights).swapaxes(1, 2)))
            for edge in self.edges
        )


def _rows(do: AbstractArithmetic, live: np.ndarray, node: np.ndarray) -> Axis:
    """The live samples of an edge among those of a node at its end."""
    place = np.cumsum(node) - 1
    return Axis(do, place[live].tolist(), int(node.sum()), -2)


def _column(do: AbstractArithmetic, gate: tuple[float, ...] | None, live: np.ndarray) -> Array:
    """Gains on live samples as a column, or None where all are 1."""
    gains = np.ones(int(live.sum())) if gate is None else np.array(gate)[live]
    return None if (gains == 1).all() else do.array(gains[:, None])
