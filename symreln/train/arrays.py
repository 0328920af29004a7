"""The few array operations of a training step, for numpy and for every array-API library.

One source trains on numpy, torch, cupy and jax. ``out=`` is a hint: numpy and torch write into the
buffer that they are given, a library without in-place operations returns a new array. Callers
therefore always use the returned array.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal, final

import array_api_compat
import numpy as np

from symreln.errors import InputError

Array = Any  # an array of whichever library the caller handed in
Precision = Literal["float64", "float32"]


class Arithmetic:
    """Array operations in one precision, by the array API standard (2022.12 or later) alone.

    Attributes:
        on_host: Whether it computes on this machine's processors in one thread, so that workers
            help.
        buffered: Whether it writes into buffers; else every operation makes a new array.
        fused: Whether it has :meth:`_TorchArithmetic.descend`.
        has_gates: Whether :meth:`passed` needs what :meth:`opened` finds; else what :meth:`rectify`
            leaves.
        item_bytes: Bytes of a number.
    """

    on_host = buffered = fused = False  # the library has threads or a device of its own
    has_gates = True

    def __init__(self, like: Array, precision: Precision = "float64") -> None:
        self.xp = array_api_compat.array_namespace(like)
        self.device = array_api_compat.device(like)
        self.precision = precision
        self.item_bytes = np.dtype(precision).itemsize

    def array(self, values: Array) -> Array:
        """A copy in this library and precision, on the device of the data; never shares memory."""
        wanted = getattr(self.xp, self.precision)
        copy = self.xp.asarray(values, dtype=wanted, device=self.device, copy=True)
        if copy.dtype != wanted:
            msg = (
                f"training: {self.xp.__name__} gives {copy.dtype} where {self.precision} is asked "
                "for. Switch its 64-bit numbers on (jax: jax_enable_x64), or hand in numpy arrays."
            )
            raise InputError(msg)
        return copy

    def index(self, values: Any) -> Array:
        """Integer array of this library, for :meth:`take`."""
        return self.xp.asarray(np.asarray(values), dtype=self.xp.int64, device=self.device)

    def buffer(self, *shape: int) -> Array | None:
        """Zero-filled memory to hand in as ``out=``; None where the library has no use for it."""
        return None

    def put(self, values: np.ndarray, out: Array | None) -> Array:
        """Values in this library and precision, in the buffer where there is one."""
        return self.array(values)

    def transpose(self, values: Array) -> Array:
        """The last two axes exchanged."""
        return self.xp.matrix_transpose(values)

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Matrix product over the last two axes."""
        return self.xp.matmul(left, right)

    def add(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Sum, entry by entry."""
        return left + right

    def subtract(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Difference, entry by entry."""
        return left - right

    def multiply(self, left: Array, right: Array | float, out: Array | None = None) -> Array:
        """Product, entry by entry."""
        return left * right

    def opened(self, values: Array, out: Array | None = None) -> Array:
        """1 where an entry is > 0, else 0."""
        return self.xp.astype(values > 0, values.dtype)

    def rectify(self, values: Array, gate: Array, out: Array | None = None) -> Array:
        """Where an entry is > 0 itself, else 0."""
        return values * gate

    def passed(self, values: Array, gate: Array, out: Array | None = None) -> Array:
        """What is let through where entries were > 0."""
        return values * gate

    def take(self, values: Array, index: Array, axis: int, out: Array | None = None) -> Array:
        """The entries at ``index`` along ``axis``."""
        return self.xp.take(values, index, axis=axis)

    def spread(
        self, part: Array, index: Any, inverse: Array, axis: int, out: Array | None = None
    ) -> Array:
        """Inverse of :meth:`take`: ``part`` at ``index`` along ``axis`` (-1 or -2), 0.0 elsewhere.

        ``inverse`` maps each position to its place in ``part``, or one past the end for "nowhere".
        A buffer in ``out`` must be zero wherever ``index`` does not point.
        """
        edge = list(part.shape)
        edge[axis] = 1
        zeros = self.xp.zeros(tuple(edge), dtype=part.dtype, device=self.device)
        return self.xp.take(self.xp.concat([part, zeros], axis=axis), inverse, axis=axis)

    def square_sums(self, values: Array) -> Array:
        """Sum of the squared entries of each item of the first axis."""
        return self.xp.sum(values * values, axis=(-2, -1))

    def stack(self, values: list[Array]) -> np.ndarray:
        """Arrays of one shape as one numpy array, new axis last."""
        return self.numpy(self.xp.stack(values, axis=-1))

    def numpy(self, values: Array) -> np.ndarray:
        """A numpy copy of an array."""
        if array_api_compat.is_cupy_array(values):
            values = array_api_compat.to_device(values, "cpu")
        return np.array(values)


@final
class _NumpyArithmetic(Arithmetic):
    """numpy: every operation writes into its buffer, since allocation costs as much as the work."""

    on_host = buffered = True
    matmul = staticmethod(np.matmul)  # pyright: ignore[reportAssignmentType]
    add = staticmethod(np.add)  # pyright: ignore[reportAssignmentType]
    subtract = staticmethod(np.subtract)  # pyright: ignore[reportAssignmentType]
    multiply = staticmethod(np.multiply)  # pyright: ignore[reportAssignmentType]
    rectify = passed = multiply  # pyright: ignore[reportAssignmentType]

    def __init__(self, precision: Precision = "float64") -> None:
        self.dtype = np.dtype(precision)
        self.item_bytes = self.dtype.itemsize

    def array(self, values: Array) -> np.ndarray:
        return np.array(values, dtype=self.dtype, order="C")

    def index(self, values: Any) -> np.ndarray:
        return np.asarray(values, dtype=np.intp)

    def buffer(self, *shape: int) -> np.ndarray:
        return np.zeros(shape, self.dtype)

    def transpose(self, values: Array) -> np.ndarray:
        return values.swapaxes(-1, -2)

    def put(self, values: np.ndarray, out: Array | None) -> np.ndarray:
        assert out is not None
        out[...] = values
        return out

    def opened(self, values: Array, out: Array | None = None) -> np.ndarray:
        # Gates as numbers: multiplying by truth values converts them first, which takes longer.
        return np.greater(values, 0.0, out=out)

    def take(self, values: Array, index: Array, axis: int, out: Array | None = None) -> np.ndarray:
        # mode="raise" would make numpy buffer the output; the indices were checked at the door.
        return np.take(values, index, axis=axis, out=out, mode="clip")

    def spread(
        self, part: Array, index: Any, inverse: Array, axis: int, out: Array | None = None
    ) -> np.ndarray:
        if out is None:
            shape = list(part.shape)
            shape[axis] = len(inverse)
            out = np.zeros(shape, part.dtype)
        where = (..., index, slice(None)) if axis == -2 else (..., index)
        out[where] = part
        return out

    def square_sums(self, values: Array) -> np.ndarray:
        flat = values.reshape(values.shape[0], 1, -1)
        return np.matmul(flat, flat.swapaxes(-1, -2))[:, 0, 0]

    def stack(self, values: list[Array]) -> np.ndarray:
        return np.stack(values, axis=-1)

    def numpy(self, values: Array) -> np.ndarray:
        return np.array(values)


@final
class _TorchArithmetic(Arithmetic):
    """torch, in place.

    On a graphics card a step of small networks is bound by memory traffic, so every pass over a
    large array that is saved counts: a gradient is added to its weights by the product that makes
    it, and ReLU needs no array of gates beside what it lets through.
    """

    buffered = fused = True
    has_gates = False

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

    def put(self, values: np.ndarray, out: Array | None) -> Array:
        assert out is not None
        return out.copy_(self.torch.as_tensor(values))

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        if left.ndim == right.ndim == 2:
            return self.torch.matmul(left, right)
        return self.torch.bmm(*_one_batch(left, right), out=out)

    def add(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self.torch.add(left, right, out=out)

    def subtract(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self.torch.sub(left, right, out=out)

    def multiply(self, left: Array, right: Array | float, out: Array | None = None) -> Array:
        return self.torch.mul(left, right, out=out)

    def rectify(self, values: Array, gate: Array, out: Array | None = None) -> Array:
        return values.clamp_(min=0)

    def passed(self, values: Array, gate: Array, out: Array | None = None) -> Array:
        # Zero where the gate is not above zero: one pass, into the same memory.
        back = self.torch.ops.aten.threshold_backward.grad_input
        return back(values, gate, 0, grad_input=values)

    def take(self, values: Array, index: Array, axis: int, out: Array | None = None) -> Array:
        return self.torch.index_select(values, axis, index, out=out)

    def spread(
        self, part: Array, index: Any, inverse: Array, axis: int, out: Array | None = None
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
        self, weights: Array, left: Array, right: Array, kept: float, out: Array | None = None
    ) -> Array:
        """A step of gradient descent in place, kept · weights + left @ right."""
        return weights.baddbmm_(*_one_batch(left, right), beta=kept)


def _one_batch(left: Array, right: Array) -> tuple[Array, Array]:
    """Two batches of one size; what all seeds share is not copied."""
    seeds = left.shape[0] if left.ndim == 3 else right.shape[0]
    return left.expand(seeds, -1, -1), right.expand(seeds, -1, -1)


def arithmetic_of(data: Array, precision: Precision = "float64") -> Arithmetic:
    """Arithmetic of the library that ``data`` belongs to; numpy for lists and numpy arrays."""
    if isinstance(data, np.ndarray) or not array_api_compat.is_array_api_obj(data):
        return _NumpyArithmetic(precision)
    own = _TorchArithmetic if array_api_compat.is_torch_array(data) else Arithmetic
    return own(data, precision)
