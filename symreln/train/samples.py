"""Gradient descent on any network, sample by sample: samples run through it forth and back.

Nothing is known here of pathways or of reductions. A node and an edge take part in the samples on
which they lie on an open path from an input to an output, and in no others.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

from typing import final

import numpy as np

from symreln.train.arrays import Arithmetic, Array
from symreln.train.axis import Axis, Block
from symreln.train.model import AbstractState, Model
from symreln.train.network import GatedNetwork, GatedNode
from symreln.train.settings import TrainingSettings
from symreln.train.weights import Weights


@final
class SamplesModel(Model):
    """Any network.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).
        network: Nodes, edges and gates.
        settings: Hyper-parameters.
        staged: Whether outputs of early stages do not see later ones.
        rows: Whether the weights of the last layer are stored as (target, source) and the inputs
            in both orders: with one hidden layer every product then meets BLAS as it likes.
        gates: Gates of hidden units that are given for every step, shape (seeds, steps, ΣH, P).
    """

    def __init__(
        self,
        inputs: Array,
        targets: Array,
        network: GatedNetwork,
        settings: TrainingSettings,
        *,
        staged: bool = False,
        rows: bool = False,
        gates: np.ndarray | None = None,
    ) -> None:
        super().__init__(inputs, targets, network, settings, staged=staged)
        self.rows, self.gates = rows, gates

    @property
    def multiplications(self) -> int:
        return sum(
            (2 if source.inputs else 3) * source.size * target.size * int(live.sum())
            for (source, target), live in zip(self.network.ends, self.live_edges, strict=True)
        )

    def _working_numbers(self) -> int:
        found = 2 * len(self.stages) * self.samples * self.n_y
        for (source, target), live in zip(self.network.ends, self.live_edges, strict=True):
            # What it adds to its target and gives back to its source; where it takes part of their
            # samples, or others meet it there, once more each, and what it cuts out of them.
            partial = not (live.all() and self._alone(source) and self._alone(target))
            both = target.size + (0 if source.inputs else source.size)
            found += (3 if partial else 1) * both * int(live.sum())
        found += sum(
            n.size * int(self.live_nodes[n.name].sum()) for n in self.network.nodes if n.relu
        )
        # Of mini-batches: the order, the factors, and the factors times the learning rate.
        return found + (0 if self.settings.batch_size is None else 3 * self.samples)

    def _alone(self, node: GatedNode) -> bool:
        """Whether nobody else meets an edge at a node."""
        ends = [end.name for pair in self.network.ends for end in pair]
        return ends.count(node.name) <= (1 if node.inputs or node.outputs else 2)

    def start(self, weights: Weights) -> AbstractState:
        return _SamplesState(self, weights)


@final
class _Node:
    """What one node holds on the samples on which it is live, and the error signal there."""

    def __init__(self, model: SamplesModel, node: GatedNode, seeds: int) -> None:
        do = self.do = model.arithmetic
        self.live = model.live_nodes[node.name]
        self.incoming: list[_Edge] = []
        self.outgoing: list[_Edge] = []
        self.fixed, self.relu, self.outputs = bool(node.inputs), node.relu, bool(node.outputs)
        self.stage = node.stage
        rows = int(self.live.sum())
        self.shape = (seeds, rows, node.size)
        #: Factors of what it holds and of the signal: gains, or what is open at this step.
        self.gate = do.buffer(*self.shape) if node.relu else _column(do, node.gate, self.live)
        self.sum = self.sent = self.signal = None
        if self.fixed:
            own = do.transpose(do.array(model.fixed_inputs(node)))
            own = do.take(own, do.index(np.flatnonzero(self.live)), 0)
            self.held = do.array(own if self.gate is None else do.multiply(own, self.gate))
        if self.outputs:
            places = np.flatnonzero(self.live).tolist()
            whole = (model.samples, model.n_y)
            self.block = Block(do, seeds, whole, places, tuple(node.outputs))
            self.gated = None if self.gate is None else do.buffer(*self.shape)

    def connect(self) -> None:
        """To be called when all edges are known."""
        if len(self.incoming) > 1:
            self.sum = self.do.buffer(*self.shape)
        if len(self.outgoing) > 1 and not self.fixed:
            self.sent = self.do.buffer(*self.shape)

    def gather(self) -> None:
        """Take up what the edges bring."""
        do, held = self.do, self.incoming[0].forth()
        for edge in self.incoming[1:]:
            held = self.sum = do.add(held, edge.forth(), out=self.sum)
        if self.relu:
            held, self.gate = do.rectify(held, self.gate)
        elif self.gate is not None:
            held = do.multiply(held, self.gate, out=held)
        self.held = held

    def written(self) -> Array:
        """What an output node adds to the outputs."""
        return self.block.spread(self.held)

    def receive(self, residual: Array) -> None:
        """Take up an output node's error signal."""
        signal = self.block.cut(residual)
        if self.gate is not None:
            signal = self.gated = self.do.multiply(signal, self.gate, out=self.gated)
        self.signal = signal

    def pass_back(self) -> None:
        """Have the edges that lead on take their step, and take up the signals that they bring."""
        do, signal = self.do, self.outgoing[0].pull()
        for edge in self.outgoing[1:]:
            back = edge.pull()
            if not self.fixed:
                signal = self.sent = do.add(signal, back, out=self.sent)
        if self.fixed:
            return
        if self.relu:
            signal = do.passed(signal, self.gate)
        elif self.gate is not None:
            signal = do.multiply(signal, self.gate, out=signal)
        self.signal = signal


@final
class _Edge:
    """Weights and buffers of one edge; W stored as (source, target), samples in rows."""

    def __init__(
        self, model: SamplesModel, place: int, source: _Node, target: _Node, matrix: np.ndarray
    ) -> None:
        do = self.do = model.arithmetic
        self.source, self.target = source, target
        self.kept = 1 - model.settings.decay(model.samples)
        self.rows = model.rows and target.outputs
        self.live = live = model.live_edges[place]
        self.read, self.write = _samples(do, live, source.live), _samples(do, live, target.live)
        edge = model.network.edges[place]
        self.gains = _column(do, edge.gate, live)
        turned = matrix if self.rows else np.swapaxes(matrix, 1, 2)
        biases = model.network.biases
        self.biases = do.array(turned[:, -1:]) if biases else None
        self.weights = do.array(turned[:, :-1] if biases else turned)
        # What a bias adds on every sample: the edge's gain there.
        gains = np.ones((int(live.sum()), 1)) if self.gains is None else do.numpy(self.gains)
        self.row = do.array(gains.T) if biases else None
        seeds, rows = len(matrix), int(live.sum())
        n_in, n_out = source.shape[2], target.shape[2]
        self.passed = do.buffer(seeds, rows, n_out)
        self.spread = None if self.write.whole else do.buffer(*target.shape)
        self.signal = None if self.write.whole else do.buffer(seeds, rows, n_out)
        self.cut = self.gated = self.back = self.spread_back = None
        self.step = do.step_buffer(*self.weights.shape)
        if source.fixed:
            self.seen = self._cut(source.held)
            self.seen_turned = do.transpose(self.seen)
            if model.rows:
                self.seen_turned = do.array(self.seen_turned)
            return
        self.cut = None if self.read.whole else do.buffer(seeds, rows, n_in)
        self.gated = None if self.gains is None else do.buffer(seeds, rows, n_in)
        self.back = do.buffer(seeds, rows, n_in)
        self.spread_back = None if self.read.whole else do.buffer(*source.shape)

    def _cut(self, held: Array) -> Array:
        """What it reads, times its gains; of an input node the same for all seeds and steps."""
        seen = self.cut = self.read.cut(held, self.cut)
        if self.gains is not None:
            seen = self.gated = self.do.multiply(seen, self.gains, out=self.gated)
        return seen

    def forth(self) -> Array:
        """What the edge adds to its target, on the target's live samples."""
        do = self.do
        if not self.source.fixed:
            self.seen = self._cut(self.source.held)
            self.seen_turned = do.transpose(self.seen)
        weights = do.transpose(self.weights) if self.rows else self.weights
        self.passed = do.matmul(self.seen, weights, out=self.passed)
        if self.biases is not None:
            added = self.biases
            if self.gains is not None:
                added = do.matmul(do.transpose(self.row), added)
            self.passed = do.add(self.passed, added, out=self.passed)
        self.spread = self.write.spread(self.passed, self.spread)
        return self.spread

    def pull(self) -> Array | None:
        """Take a step from the target's error signal; return the source's, of an input none."""
        do, back = self.do, None
        signal = self.signal = self.write.cut(self.target.signal, self.signal)
        if not self.source.fixed:
            weights = self.weights if self.rows else do.transpose(self.weights)
            back = self.back = do.matmul(signal, weights, out=self.back)
            if self.gains is not None:
                back = self.back = do.multiply(back, self.gains, out=back)
            back = self.spread_back = self.read.spread(back, self.spread_back)
        left, right = self.seen_turned, signal
        if self.rows:
            left, right = do.transpose(signal), self.seen
        self.weights, self.step = do.descend(self.weights, left, right, self.kept, self.step)
        if self.biases is not None:
            self.biases, _ = do.descend(self.biases, self.row, signal, self.kept, None)
        return back

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
        if self.rows:
            return found
        if self.biases is not None:
            found = np.concatenate([found, self.do.numpy(self.biases)], axis=1)
        return np.ascontiguousarray(found.swapaxes(1, 2))


@final
class _SamplesState(AbstractState):
    """All nodes and edges."""

    def __init__(self, model: SamplesModel, weights: Weights) -> None:
        seeds, network = len(weights[0]), model.network
        nodes = {node.name: _Node(model, node, seeds) for node in network.order}
        self.edges = [
            _Edge(model, place, nodes[edge.source], nodes[edge.target], matrix)
            for place, (edge, matrix) in enumerate(zip(network.edges, weights, strict=True))
        ]
        for edge in self.edges:
            if edge.live.any():
                edge.source.outgoing.append(edge)
                edge.target.incoming.append(edge)
        for node in nodes.values():
            node.connect()
        self.nodes = [node for node in nodes.values() if node.live.any()]
        self.written = [
            [n for n in self.nodes if n.outputs and stage in (None, n.stage)]
            for stage in model.stages
        ]
        super().__init__(model, seeds, self.written)
        self.rate = model.settings.rate(model.samples)
        self.scaled = [self.do.buffer(seeds, model.samples, model.n_y) for _ in model.stages]
        # No sample passes them, and weight decay shrinks them all the same.
        self.idle = [edge for edge in self.edges if not edge.live.any()]
        self.given, self.step = model.gates, 0
        self.hidden = [nodes[node.name] for node in network.nodes if node.hidden]

    def evaluate(self) -> Array:
        if self.given is not None:
            self._set_gates(self.given)
        for node in self.nodes:
            if not node.fixed:
                node.gather()
        return super().evaluate()

    def _set_gates(self, given: np.ndarray) -> None:
        """Give hidden units the gates of this step."""
        now = np.swapaxes(given[:, self.step], 1, 2)
        cuts = np.cumsum([node.shape[2] for node in self.hidden])[:-1]
        for node, gate in zip(self.hidden, np.split(now, cuts, axis=2), strict=True):
            node.gate = self.do.array(gate)
        self.step += 1

    def update(self, factors: Array | None = None) -> None:
        do = self.do
        # The learning rate goes into the residual, the smallest factor of all gradients.
        rate = self.rate if factors is None else do.multiply(factors, self.rate)
        for stage, nodes in enumerate(self.written):
            self.scaled[stage] = do.multiply(self.residuals[stage], rate, out=self.scaled[stage])
            for node in nodes:
                node.receive(self.scaled[stage])
        for node in reversed(self.nodes):
            if not node.outputs:
                node.pass_back()
        for edge in self.idle:
            edge.decay()

    def weights(self) -> Weights:
        return tuple(edge.matrix() for edge in self.edges)


def _samples(do: Arithmetic, live: np.ndarray, node: np.ndarray) -> Axis:
    """The live samples of an edge among those of a node at its end."""
    place = np.cumsum(node) - 1
    return Axis(do, place[live].tolist(), int(node.sum()), -2)


def _column(do: Arithmetic, gate: tuple[float, ...] | None, live: np.ndarray) -> Array:
    """Gains on live samples as a column, or None where all are 1."""
    gains = np.ones(int(live.sum())) if gate is None else np.array(gate)[live]
    return None if (gains == 1).all() else do.array(gains[:, None])
