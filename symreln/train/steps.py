"""What a step of gradient descent computes, for every network.

Sample by sample: samples run through the network forth and back; a node and an edge take part in
the samples on which they lie on an open path from an input to an output, and in no others. For
linear pathways of two layers, maps first: a pathway's W2 W1 is formed before it meets its samples,
the same gradient with fewer products as soon as a gate is open on more samples than there are
inputs. Samples are in rows here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from symreln.train.network import GatedNode
from symreln.train.program import Program, Slot
from symreln.train.trained_model import Model


def program_of(model: Model) -> Program:
    """Write the step of a model."""
    program = Program(model.arithmetic)
    if model.settings.batch_size is not None:
        program.factors = program.room(model.samples, 1)
    (_write_maps if model.order == "maps" else _write_samples)(model, program)
    return program


def _write_residuals(
    model: Model, program: Program, written: Sequence[tuple[GatedNode, Slot]]
) -> dict[int | None, Slot]:
    """Write what the outputs of stages up to each leave of the targets, (P, n_y); then updates.

    Args:
        model: Its stages, and its targets.
        program: Gets the last one as its residual.
        written: Output nodes and what they hold on their live samples.
    """
    left, found = program.constant(model.arithmetic.transpose(model.targets)), {}
    for stage in model.stages:
        for node, held in written:
            if stage in (None, node.stage):
                wide = program.spread(held, tuple(node.outputs), model.n_y, -1)
                live = _places(model.live_nodes[node.name])
                left = program.subtract(left, program.spread(wide, live, model.samples, -2))
        found[stage] = left
    program.residual = left
    program.begin_update()
    return found


def _cut(model: Model, program: Program, residual: Slot, node: GatedNode) -> Slot:
    """Write the part of a residual that an output node sees."""
    rows = program.take(residual, _places(model.live_nodes[node.name]), -2)
    return program.take(rows, tuple(node.outputs), -1)


def _places(live: np.ndarray) -> list[int]:
    return np.flatnonzero(live).tolist()


# -- maps first -----------------------------------------------------------------------------------


def _write_maps(model: Model, program: Program) -> None:
    weights, written = [], []
    for place, (first, hidden, last) in enumerate(model.network.pathways):
        # g(μ) W x_μ = W (g(μ) x_μ): the gain is part of what the pathway sees.
        inputs = model.held_inputs(first)[:, model.live_nodes[first.name]]
        seen, samples = program.constant(inputs), program.constant(inputs.T)
        w1 = program.weight(2 * place, (hidden.size, first.size), turned=True)
        w2 = program.weight(2 * place + 1, (last.size, hidden.size), turned=False)
        product = program.matmul(w1, program.transpose(w2))
        written.append((last, program.matmul(samples, product)))
        weights.append((last, seen, w1, w2))
    for stage, residual in _write_residuals(model, program, written).items():
        if program.factors is not None:
            residual = program.multiply(residual, program.factors)
        for last, seen, w1, w2 in weights:
            if stage not in (None, last.stage):
                continue
            pull = program.matmul(seen, _cut(model, program, residual, last))
            # The learning rate goes into the smallest factor of both gradients.
            pull = program.multiply(pull, model.rate, in_place=True)
            # Both steps go from the same weights: the second is taken before the first has moved.
            step = program.matmul(program.transpose(pull), w1)
            program.descend(w1, pull, w2, model.kept)
            program.decay(w2, model.kept)
            program.add(w2, step)


# -- sample by sample -----------------------------------------------------------------------------


def _write_samples(model: Model, program: Program) -> None:
    network = model.network
    edges = [_Edge(model, program, place) for place in range(len(network.edges))]
    working = [edge for edge in edges if edge.live.any()]
    nodes = [node for node in network.order if model.live_nodes[node.name].any()]
    gates, held = _gates(model, program), {}
    for node in nodes:
        if node.inputs:
            continue
        total = program.sum([edge.forth(held) for edge in working if edge.target is node])
        if node.relu:
            total, gates[node.name] = program.rectify(total)
        elif node.name in gates:
            total = program.multiply(total, gates[node.name], in_place=True)
        held[node.name] = total
    written = [(node, held[node.name]) for node in nodes if node.outputs]
    residuals = _write_residuals(model, program, written)
    # The learning rate goes into the residual, the smallest factor of all gradients.
    factors = program.factors
    rate = model.rate if factors is None else program.multiply(factors, model.rate)
    stages = {node.name: node.stage if model.staged else None for node, _ in written}
    scaled = {s: program.multiply(residuals[s], rate) for s in dict.fromkeys(stages.values())}
    signals: dict[str, Slot] = {}
    for node in reversed(nodes):
        if node.outputs:
            signal = _cut(model, program, scaled[stages[node.name]], node)
            if node.name in gates:
                signal = program.multiply(signal, gates[node.name])
            signals[node.name] = signal
            continue
        parts = []
        for edge in working:
            if edge.source is node:
                signal = edge.received(signals[edge.target.name])
                if not node.inputs:
                    parts.append(edge.back(signal))
                edge.descend(signal)
        if not node.inputs:
            signals[node.name] = program.sum(parts)
            if node.relu:
                program.passed(signals[node.name], gates[node.name])
            elif node.name in gates:
                program.multiply(signals[node.name], gates[node.name], in_place=True)
    for edge in edges:
        if not edge.live.any():  # no sample passes it, and weight decay shrinks it all the same
            edge.decay()


def _gates(model: Model, program: Program) -> dict[str, Slot]:
    """Factors of what nodes hold, by name: given at every step, or constant gains."""
    found: dict[str, Slot] = {}
    for node in model.network.nodes:
        gains = _column(node.gate, model.live_nodes[node.name])
        if model.gates is not None and node.hidden:
            found[node.name] = program.room(model.samples, node.size)
            program.gates.append(found[node.name])
        elif not node.inputs and (gains != 1).any():
            found[node.name] = program.constant(gains)
    return found


@final
class _Edge:
    """One edge; its weights are stored as (source, target), in the order "rows" not the last."""

    def __init__(self, model: Model, program: Program, place: int) -> None:
        self.model, self.program = model, program
        self.source, self.target = model.network.ends[place]
        self.live = model.live_edges[place]
        gains = _column(model.network.edges[place].gate, self.live)
        self.gains = program.constant(gains) if (gains != 1).any() else None
        self.rows = model.order == "rows" and bool(self.target.outputs)
        shape = self.target.size, self.source.size
        self.weights = program.weight(place, shape, turned=not self.rows)
        if self.source.inputs:
            seen = model.held_inputs(self.source)[:, self.live] * gains.T
            self.seen = program.constant(seen.T)
            both = model.order == "rows"
            self.seen_turned = program.constant(seen) if both else program.transpose(self.seen)

    def _among(self, node: GatedNode) -> tuple[list[int], int]:
        """Its live samples among those of a node at its end, and the number of these."""
        live = self.model.live_nodes[node.name]
        return (np.cumsum(live) - 1)[self.live].tolist(), int(live.sum())

    def forth(self, held: Mapping[str, Slot]) -> Slot:
        """Write what the edge adds to its target."""
        program, weights = self.program, self.weights
        if not self.source.inputs:
            seen = program.take(held[self.source.name], self._among(self.source)[0], -2)
            self.seen = seen if self.gains is None else program.multiply(seen, self.gains)
            self.seen_turned = program.transpose(self.seen)
        passed = program.matmul(self.seen, program.transpose(weights) if self.rows else weights)
        return program.spread(passed, *self._among(self.target), -2)

    def received(self, signal: Slot) -> Slot:
        """Write what it takes of its target's error signal."""
        return self.program.take(signal, self._among(self.target)[0], -2)

    def back(self, signal: Slot) -> Slot:
        """Write what it passes back to its source."""
        program = self.program
        weights = self.weights if self.rows else program.transpose(self.weights)
        back = program.matmul(signal, weights)
        if self.gains is not None:
            back = program.multiply(back, self.gains, in_place=True)
        return program.spread(back, *self._among(self.source), -2)

    def descend(self, signal: Slot) -> None:
        """Write the step of its weights."""
        left, right = self.seen_turned, signal
        if self.rows:
            left, right = self.program.transpose(signal), self.seen
        self.program.descend(self.weights, left, right, self.model.kept)

    def decay(self) -> None:
        """Write weight decay alone."""
        self.program.decay(self.weights, self.model.kept)


def _column(gate: Sequence[float] | None, live: np.ndarray) -> np.ndarray:
    """Gains on live samples as a column."""
    return (np.ones(len(live)) if gate is None else np.array(gate))[live][:, None]
