"""Gradient descent on pathways of two layers, whose map W2 W1 is formed before it meets samples.

The same gradient as sample by sample, with fewer products as soon as a gate is open on more samples
than there are inputs. Samples on which a gate is closed take no part in its products.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

from typing import final

import numpy as np

from symreln.train.arrays import Array
from symreln.train.axis import Block
from symreln.train.model import AbstractState, Model
from symreln.train.weights import Weights


@final
class MapsModel(Model):
    """Linear pathways of two edges each, gated at their inputs (``network.pathways``)."""

    @property
    def multiplications(self) -> int:
        return sum(
            first.size * last.size * (3 * hidden.size + 2 * int(self.live_nodes[first.name].sum()))
            for first, hidden, last in self.network.pathways
        )

    def _working_numbers(self) -> int:
        whole = self.samples * self.n_y
        # Per pathway: its map and gradient map, its outputs, their spread, the cut residual.
        outputs = sum(
            2 * first.size * last.size + 3 * whole for first, _, last in self.network.pathways
        )
        # Of mini-batches: the order, the factors, and a residual times the factors.
        batches = 0 if self.settings.batch_size is None else 2 * self.samples + whole
        return outputs + (1 + len(self.stages)) * whole + batches

    def start(self, weights: Weights) -> AbstractState:
        return _MapsState(self, weights)


@final
class _Pathway:
    """Weights and buffers of one pathway; W1 stored as (n_x, H), maps as (n_x, n_y)."""

    def __init__(self, model: MapsModel, place: int, w1: np.ndarray, w2: np.ndarray) -> None:
        do = self.do = model.arithmetic
        first, _, last = model.network.pathways[place]
        seeds, hidden, n_x = w1.shape
        n_y = last.size
        self.stage = last.stage
        self.rate = model.settings.rate(model.samples)
        self.kept = 1 - model.settings.decay(model.samples)
        live = np.flatnonzero(model.live_nodes[first.name])
        self.block = Block(
            do, seeds, (model.samples, model.n_y), live.tolist(), tuple(last.outputs)
        )
        effective = do.take(model.inputs, do.index(first.inputs), 0)
        if first.boundary:
            effective = do.array(model.fixed_inputs(first))
        effective = do.take(effective, do.index(live), 1)
        gains = np.ones(len(live)) if first.gate is None else np.array(first.gate)[live]
        if (gains != 1).any():
            # g(μ) W x_μ = W (g(μ) x_μ): the gain is part of what the pathway sees.
            effective = do.multiply(effective, do.array(gains[None, :]))
        self.inputs = do.array(effective)
        self.samples_by_inputs = do.array(do.transpose(effective))
        self.first, self.second = do.array(np.swapaxes(w1, 1, 2)), do.array(w2)
        self.map, self.pull = do.buffer(seeds, n_x, n_y), do.buffer(seeds, n_x, n_y)
        self.output = do.buffer(seeds, len(live), n_y)
        self.step_first = do.step_buffer(seeds, n_x, hidden)
        self.step_second = do.buffer(seeds, n_y, hidden)

    def written(self) -> Array:
        """Gated output on all samples and outputs, shape (S, P, n_y)."""
        do = self.do
        self.map = do.matmul(self.first, do.transpose(self.second), out=self.map)
        self.output = do.matmul(self.samples_by_inputs, self.map, out=self.output)
        return self.block.spread(self.output)

    def update(self, residual: Array) -> None:
        do = self.do
        self.pull = do.matmul(self.inputs, self.block.cut(residual), out=self.pull)
        # The learning rate goes into the smallest factor of both gradients.
        self.pull = do.multiply(self.pull, self.rate, out=self.pull)
        self.step_second = do.matmul(do.transpose(self.pull), self.first, out=self.step_second)
        # Both steps go from the same weights: the second is taken before the first has moved.
        self.first, self.step_first = do.descend(
            self.first, self.pull, self.second, self.kept, self.step_first
        )
        if self.kept != 1:
            self.second = do.multiply(self.second, self.kept, out=self.second)
        self.second = do.add(self.second, self.step_second, out=self.second)

    def weights(self) -> Weights:
        w1 = np.ascontiguousarray(self.do.numpy(self.first).swapaxes(1, 2))
        return w1, self.do.numpy(self.second)


@final
class _MapsState(AbstractState):
    def __init__(self, model: MapsModel, weights: Weights) -> None:
        pairs = zip(weights[::2], weights[1::2], strict=True)
        self.pathways = [_Pathway(model, place, w1, w2) for place, (w1, w2) in enumerate(pairs)]
        self.members = [
            [each for each in self.pathways if stage in (None, each.stage)]
            for stage in model.stages
        ]
        seeds = len(weights[0])
        super().__init__(model, seeds, self.members)
        batched = model.settings.batch_size is not None
        self.weighted = self.do.buffer(seeds, model.samples, model.n_y) if batched else None

    def update(self, factors: Array | None = None) -> None:
        for residual, members in zip(self.residuals, self.members, strict=True):
            seen = residual
            if factors is not None:
                seen = self.weighted = self.do.multiply(residual, factors, out=self.weighted)
            for member in members:
                member.update(seen)

    def weights(self) -> Weights:
        return tuple(matrix for pathway in self.pathways for matrix in pathway.weights())
