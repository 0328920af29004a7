"""The few array operations of a training step, for numpy and, on a graphics card, for torch.

``out=`` is a buffer that the result is written into, since allocation costs as much as the work.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal, final

import numpy as np

Array = Any  # an array of the library that is trained with
Precision = Literal["float64", "float32"]


class Arithmetic:
    """Array operations of numpy in one precision.

    Attributes:
        on_host: Whether it computes on this machine's processors in one thread, so that workers
            help.
        fused: Whether it has :meth:`_TorchArithmetic.descend`.
        has_gates: Whether :meth:`passed` needs what :meth:`opened` finds; else what :meth:`rectify`
            leaves.
        item_bytes: Bytes of a number.
    """

    on_host, fused, has_gates = True, False, True
    matmul = staticmethod(np.matmul)
    add = staticmethod(np.add)
    subtract = staticmethod(np.subtract)
    multiply = rectify = passed = staticmethod(np.multiply)

    def __init__(self, precision: Precision = "float64") -> None:
        self.precision = precision
        self.item_bytes = np.dtype(precision).itemsize

    @staticmethod
    def of(data: Array, precision: Precision = "float64") -> Arithmetic:
        """That of the library that ``data`` belongs to: torch's of its tensors, else numpy's."""
        is_tensor = type(data).__module__.partition(".")[0] == "torch"
        return _TorchArithmetic(data, precision) if is_tensor else Arithmetic(precision)

    def array(self, values: Array) -> Array:
        """A copy in this library and precision, on the device of the data; never shares memory."""
        return np.array(values, dtype=self.precision, order="C")

    def index(self, values: Any) -> Array:
        """Integer array of this library, for :meth:`take`."""
        return np.asarray(values, dtype=np.intp)

    def buffer(self, *shape: int) -> Array:
        """Zero-filled memory to hand in as ``out=``."""
        return np.zeros(shape, self.precision)

    def put(self, values: np.ndarray, out: Array) -> None:
        """Write values into a buffer."""
        out[...] = values

    def transpose(self, values: Array) -> Array:
        """The last two axes exchanged."""
        return values.swapaxes(-1, -2)

    def opened(self, values: Array, out: Array) -> Array:
        """1 where an entry is > 0, else 0."""
        # Gates as numbers: multiplying by truth values converts them first, which takes longer.
        return np.greater(values, 0.0, out=out)

    def take(self, values: Array, index: Array, axis: int, out: Array) -> Array:
        """The entries at ``index`` along ``axis``."""
        # mode="raise" would make numpy buffer the output; the indices were checked at the door.
        return np.take(values, index, axis=axis, out=out, mode="clip")

    def spread(self, part: Array, index: Any, axis: int, out: Array) -> Array:
        """Inverse of :meth:`take`: ``part`` at ``index`` along ``axis`` (-1 or -2).

        The buffer must be zero wherever ``index`` does not point.
        """
        out[(..., index, slice(None)) if axis == -2 else (..., index)] = part
        return out

    def square_sums(self, values: Array) -> Array:
        """Sum of the squared entries of each item of the first axis."""
        flat = values.reshape(values.shape[0], 1, -1)
        return np.matmul(flat, flat.swapaxes(-1, -2))[:, 0, 0]

    def stack(self, values: list[Array]) -> np.ndarray:
        """Arrays of one shape as one numpy array, new axis last."""
        return np.stack(values, axis=-1)

    def numpy(self, values: Array) -> np.ndarray:
        """A numpy copy of an array."""
        return np.array(values)


@final
class _TorchArithmetic(Arithmetic):
    """torch, in place.

    On a graphics card a step of small networks is bound by memory traffic, so every pass over a
    large array that is saved counts: a gradient is added to its weights by the product that makes
    it, and ReLU needs no array of gates beside what it lets through.
    """

    on_host, fused, has_gates = False, True, False  # it has threads or a device of its own

    def __init__(self, like: Array, precision: Precision = "float64") -> None:
        super().__init__(precision)
        self.torch = importlib.import_module("torch")  # an optional library: nothing imports it
        self.dtype, self.device = getattr(self.torch, precision), like.device
        self.add, self.subtract, self.multiply = self.torch.add, self.torch.sub, self.torch.mul

    def array(self, values: Array) -> Array:
        # One layout, whatever the values were copied from: products then meet it as they like.
        own = values if hasattr(values, "detach") else self.torch.as_tensor(np.asarray(values))
        copy = own.detach().to(self.device, self.dtype, copy=True)
        return copy.clone(memory_format=self.torch.contiguous_format)

    def index(self, values: Any) -> Array:
        return self.torch.as_tensor(np.asarray(values, dtype=np.int64), device=self.device)

    def buffer(self, *shape: int) -> Array:
        return self.torch.zeros(shape, dtype=self.dtype, device=self.device)

    def put(self, values: np.ndarray, out: Array) -> None:
        out.copy_(self.torch.as_tensor(values))

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        if left.ndim == right.ndim == 2:
            return self.torch.matmul(left, right)
        return self.torch.bmm(*_one_batch(left, right), out=out)

    def rectify(self, values: Array, gate: Array, out: Array) -> Array:
        return values.clamp_(min=0)

    def passed(self, values: Array, gate: Array, out: Array) -> Array:
        # Zero where the gate is not above zero: one pass, into the same memory.
        back = self.torch.ops.aten.threshold_backward.grad_input
        return back(values, gate, 0, grad_input=values)

    def take(self, values: Array, index: Array, axis: int, out: Array) -> Array:
        return self.torch.index_select(values, axis, index, out=out)

    def spread(self, part: Array, index: Any, axis: int, out: Array) -> Array:
        return out.index_copy_(axis, index, part)

    def square_sums(self, values: Array) -> Array:
        flat = values.reshape(values.shape[0], 1, -1)
        return self.torch.bmm(flat, flat.mT)[:, 0, 0]

    def stack(self, values: list[Array]) -> np.ndarray:
        return self.numpy(self.torch.stack(values, dim=-1))

    def numpy(self, values: Array) -> np.ndarray:
        return values.detach().cpu().numpy().copy()

    def descend(self, weights: Array, left: Array, right: Array, kept: float, out: Array) -> Array:
        """A step of gradient descent in place, kept · weights + left @ right."""
        return weights.baddbmm_(*_one_batch(left, right), beta=kept)


def _one_batch(left: Array, right: Array) -> tuple[Array, Array]:
    """Two batches of one size; what all seeds share is not copied."""
    seeds = left.shape[0] if left.ndim == 3 else right.shape[0]
    return left.expand(seeds, -1, -1), right.expand(seeds, -1, -1)
