"""A chunk of seeds of a graph in training: buffers of its nodes and edges, forth and back."""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from symreln.train.arrays import AbstractArithmetic, Array
from symreln.train.axis import Axis
from symreln.train.model import AbstractState
from symreln.train.network import EdgeWeights

if TYPE_CHECKING:
    from symreln.train.graph import GraphModel
    from symreln.train.topology import GatedNode


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
        turned = np.swapaxes(weights.matrix, 1, 2)
        self.biases = do.array(turned[:, -1:]) if model.biases else None
        self.weights = do.array(turned[:, :-1] if model.biases else turned)
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
        self.step = do.step_buffer(seeds, source, target)
        # What a bias adds on every sample: the edge's gain there.
        gains = np.ones((rows, 1)) if edge.gate is None else np.array(edge.gate)[live][:, None]
        self.column = do.array(gains) if model.biases else None
        self.row = do.array(gains.T) if model.biases else None

    def forth(self, held: Array) -> Array:
        """What the edge adds to its target, from what its source holds; both on live samples."""
        do = self.do
        # Of an input node, which is the same for all seeds, there is no buffer to cut into.
        shared = len(held.shape) == 2
        self.seen = self.read.cut(held, None if shared else self.cut)
        if self.gains is not None:
            self.seen = do.multiply(self.seen, self.gains, out=None if shared else self.gated)
        self.passed = do.matmul(self.seen, self.weights, out=self.passed)
        if self.biases is not None:
            added = do.matmul(self.column, self.biases)
            self.passed = do.add(self.passed, added, out=self.passed)
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
        seen = do.transpose(self.seen)
        self.weights, self.step = do.descend(self.weights, seen, self.signal, self.kept, self.step)
        if self.biases is not None:
            self.biases, _ = do.descend(self.biases, self.row, self.signal, self.kept, None)
        return found

    def decay(self) -> None:
        """Take weight decay's share away."""
        if self.kept == 1:
            return
        self.weights = self.do.multiply(self.weights, self.kept, out=self.weights)
        if self.biases is not None:
            self.biases = self.do.multiply(self.biases, self.kept, out=self.biases)

    def matrix(self) -> np.ndarray:
        """The weights as they are handed in, biases as the last column."""
        found = self.do.numpy(self.weights)
        if self.biases is not None:
            found = np.concatenate([found, self.do.numpy(self.biases)], axis=1)
        return np.ascontiguousarray(found.swapaxes(1, 2))


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
        self.stage = node.stage if model.staged else None
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
class GraphState(AbstractState):
    """All nodes and edges, and the residuals of the stages."""

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
        self.stages = model.stages
        shape = seeds, model.samples, model.n_y
        self.residuals = {stage: do.buffer(*shape) for stage in self.stages}
        self.scaled = {stage: do.buffer(*shape) for stage in self.stages}

    def evaluate(self) -> Array:
        do, held = self.do, {}
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
        left = self.targets
        for stage in self.stages:
            for node in self.nodes:
                if node.live and node.columns is not None and node.stage == stage:
                    left = do.subtract(left, node.whole, out=self.residuals[stage])
            self.residuals[stage] = left
        return do.square_sums(left) * (0.5 / self.samples)

    def update(self, factors: Array | None = None) -> None:
        do, signals = self.do, {}
        # The learning rate goes into the residual, the smallest factor of all gradients.
        rate = self.rate if factors is None else do.multiply(factors, self.rate)
        for stage, residual in self.residuals.items():
            self.scaled[stage] = do.multiply(residual, rate, out=self.scaled[stage])
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
            node.cut_rows = node.rows.cut(self.scaled[node.stage], node.cut_rows)
            node.cut = node.columns.cut(node.cut_rows, node.cut)
            return [node.cut]
        edges = [self.edges[e] for e in node.outgoing if self.edges[e].target in signals]
        return [edge.pull(signals[edge.target], wanted=node.inputs is None) for edge in edges]

    def weights(self) -> tuple[EdgeWeights, ...]:
        return tuple(EdgeWeights(matrix=edge.matrix()) for edge in self.edges)


def _rows(do: AbstractArithmetic, live: np.ndarray, node: np.ndarray) -> Axis:
    """The live samples of an edge among those of a node at its end."""
    place = np.cumsum(node) - 1
    return Axis(do, place[live].tolist(), int(node.sum()), -2)


def _column(do: AbstractArithmetic, gate: tuple[float, ...] | None, live: np.ndarray) -> Array:
    """Gains on live samples as a column, or None where all are 1."""
    gains = np.ones(int(live.sum())) if gate is None else np.array(gate)[live]
    return None if (gains == 1).all() else do.array(gains[:, None])
