"""The operations of a training step in torch, written into buffers as numpy's are.

On a graphics card a step of small networks is bound by memory traffic, so every pass over a large
array that is saved counts: a gradient is added to its weights by the product that makes it, and
ReLU needs no array of gates beside what it lets through.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

import importlib
from typing import final

import numpy as np

from symreln.train.arrays import Array, PortableArithmetic, Precision


@final
class TorchArithmetic(PortableArithmetic):
    """torch, in place; the rest is as for every library."""

    buffered = True

    def __init__(self, like: Array, precision: Precision = "float64") -> None:
        super().__init__(like, precision)
        self.torch = importlib.import_module("torch")  # an optional library: nothing imports it

    def array(self, values: Array) -> Array:
        # One layout, whatever the values were copied from: products then meet it as they like.
        copy = super().array(values).detach()
        return copy.clone(memory_format=self.torch.contiguous_format)

    def buffer(self, *shape: int) -> Array:
        dtype = getattr(self.torch, self.precision)
        return self.torch.zeros(shape, dtype=dtype, device=self.device)

    def step_buffer(self, *shape: int) -> None:
        return None  # the product adds to the weights

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        if left.ndim == right.ndim == 2:
            return self.torch.matmul(left, right)
        return self.torch.bmm(*_alike(left, right), out=out)

    def add(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self.torch.add(left, right, out=out)

    def subtract(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self.torch.sub(left, right, out=out)

    def multiply(self, left: Array, right: Array | float, out: Array | None = None) -> Array:
        return self.torch.mul(left, right, out=out)

    def rectify(self, values: Array, gate: Array | None) -> tuple[Array, Array]:
        active = values.clamp_(min=0)
        return active, active

    def passed(self, values: Array, gate: Array) -> Array:
        # Zero where the gate is not above zero: one pass, into the same memory.
        back = self.torch.ops.aten.threshold_backward.grad_input
        return back(values, gate, 0, grad_input=values)

    def take(self, values: Array, index: Array, axis: int, out: Array | None = None) -> Array:
        return self.torch.index_select(values, axis, index, out=out)

    def spread(
        self, part: Array, index: Array, inverse: Array, axis: int, out: Array | None = None
    ) -> Array:
        if out is None:
            return super().spread(part, index, inverse, axis)
        return out.index_copy_(axis, index, part)

    def square_sums(self, values: Array) -> Array:
        flat = values.reshape(values.shape[0], 1, -1)
        return self.torch.bmm(flat, flat.mT)[:, 0, 0]

    def numpy(self, values: Array) -> np.ndarray:
        return values.detach().cpu().numpy().copy()

    def descend(
        self, weights: Array, left: Array, right: Array, kept: float, step: Array | None
    ) -> tuple[Array, None]:
        return weights.baddbmm_(*_alike(left, right), beta=kept), None


def _alike(left: Array, right: Array) -> tuple[Array, Array]:
    """Two batches of one size; what all seeds share is not copied."""
    seeds = left.shape[0] if left.ndim == 3 else right.shape[0]
    return left.expand(seeds, -1, -1), right.expand(seeds, -1, -1)
