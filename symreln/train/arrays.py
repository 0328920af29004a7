"""The few array operations of a training step, for numpy and for every array-API library.

One source trains on numpy, torch, cupy and jax. ``out=`` is a hint: numpy and torch write into the
buffer that they are given, a library without in-place operations returns a new array. Callers
therefore always use the returned array.
"""

# ruff: noqa: D102 - overriding methods: the abstract class documents them.
from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Literal, final

import array_api_compat
import numpy as np

from symreln.errors import InputError

Array = Any  # an array of whichever library the caller handed in
Precision = Literal["float64", "float32"]


class AbstractArithmetic(ABC):
    """Array operations in one precision, with buffers where the library can use them."""

    on_host: bool
    """Whether it computes on this machine's processors in one thread, so that workers help."""
    item_bytes: int
    """Bytes of a number."""
    buffered: bool
    """Whether it writes into buffers; else every operation makes a new array."""

    @abstractmethod
    def array(self, values: Array) -> Array:
        """A copy in this library and precision, on the device of the data; never shares memory."""

    @abstractmethod
    def index(self, values: Any) -> Array:
        """Integer array of this library, for :meth:`take`."""

    @abstractmethod
    def buffer(self, *shape: int) -> Array | None:
        """Zero-filled memory to hand in as ``out=``; None where the library has no use for it."""

    @abstractmethod
    def transpose(self, values: Array) -> Array:
        """The last two axes exchanged."""

    @abstractmethod
    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Matrix product over the last two axes."""

    @abstractmethod
    def add(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Sum, entry by entry."""

    @abstractmethod
    def subtract(self, left: Array, right: Array, out: Array | None = None) -> Array:
        """Difference, entry by entry."""

    @abstractmethod
    def multiply(self, left: Array, right: Array | float, out: Array | None = None) -> Array:
        """Product, entry by entry."""

    @abstractmethod
    def rectify(self, values: Array, gate: Array | None) -> tuple[Array, Array]:
        """Where an entry is > 0 itself, else 0; and its gate, for :meth:`passed`.

        ``values`` may be overwritten, ``gate`` is a buffer of the same shape.
        """

    @abstractmethod
    def passed(self, values: Array, gate: Array) -> Array:
        """What a gate of :meth:`rectify` lets through; ``values`` may be overwritten."""

    @abstractmethod
    def take(self, values: Array, index: Array, axis: int, out: Array | None = None) -> Array:
        """The entries at ``index`` along ``axis``."""

    @abstractmethod
    def spread(
        self, part: Array, index: Any, inverse: Array, axis: int, out: Array | None = None
    ) -> Array:
        """Inverse of :meth:`take`: ``part`` at ``index`` along ``axis`` (-1 or -2), 0.0 elsewhere.

        ``inverse`` maps each position to its place in ``part``, or one past the end for "nowhere".
        A buffer in ``out`` must be zero wherever ``index`` does not point.
        """

    @abstractmethod
    def square_sums(self, values: Array) -> Array:
        """Sum of the squared entries of each item of the first axis."""

    @abstractmethod
    def stack(self, values: list[Array]) -> np.ndarray:
        """Arrays of one shape as one numpy array, new axis last."""

    @abstractmethod
    def numpy(self, values: Array) -> np.ndarray:
        """A numpy copy of an array."""

    def descend(
        self, weights: Array, left: Array, right: Array, kept: float, step: Array | None
    ) -> tuple[Array, Array | None]:
        """A step of gradient descent, kept · weights + left @ right.

        Args:
            weights: May be overwritten.
            left: First factor of the negative gradient times the learning rate.
            right: Second one.
            kept: What weight decay leaves of a weight.
            step: Buffer of the weights' shape; None where :meth:`step_buffer` gave none.

        Returns:
            The weights, and the buffer for the next step.
        """
        step = self.matmul(left, right, out=step)
        if kept != 1:
            weights = self.multiply(weights, kept, out=weights)
        return self.add(weights, step, out=weights), step if self.buffered else None

    def step_buffer(self, *shape: int) -> Array | None:
        """The buffer of :meth:`descend`."""
        return self.buffer(*shape)


@final
class NumpyArithmetic(AbstractArithmetic):
    """numpy: every operation writes into its buffer, since allocation costs as much as the work."""

    on_host = buffered = True
    matmul = staticmethod(np.matmul)  # pyright: ignore[reportAssignmentType]
    add = staticmethod(np.add)  # pyright: ignore[reportAssignmentType]
    subtract = staticmethod(np.subtract)  # pyright: ignore[reportAssignmentType]
    multiply = staticmethod(np.multiply)  # pyright: ignore[reportAssignmentType]

    def __init__(self, precision: Precision = "float64") -> None:
        self.dtype = np.dtype(precision)
        self.item_bytes = self.dtype.itemsize

    def array(self, values: Array) -> np.ndarray:
        return np.array(values, dtype=self.dtype, order="C")

    def index(self, values: Any) -> np.ndarray:
        return np.asarray(values, dtype=np.intp)

    def buffer(self, *shape: int) -> np.ndarray:
        return np.zeros(shape, self.dtype)

    def transpose(self, values: np.ndarray) -> np.ndarray:
        return values.swapaxes(-1, -2)

    def rectify(self, values: np.ndarray, gate: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        gate = np.empty_like(values) if gate is None else gate
        # Gates as numbers: multiplying by truth values converts them first, which takes longer.
        np.greater(values, 0.0, out=gate)
        return np.multiply(values, gate, out=values), gate

    def passed(self, values: np.ndarray, gate: np.ndarray) -> np.ndarray:
        return np.multiply(values, gate, out=values)

    def take(
        self, values: np.ndarray, index: np.ndarray, axis: int, out: np.ndarray | None = None
    ) -> np.ndarray:
        # mode="raise" would make numpy buffer the output; the indices were checked at the door.
        return np.take(values, index, axis=axis, out=out, mode="clip")

    def spread(
        self,
        part: np.ndarray,
        index: np.ndarray,
        inverse: np.ndarray,
        axis: int,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        if out is None:
            shape = list(part.shape)
            shape[axis] = len(inverse)
            out = np.zeros(shape, part.dtype)
        where = (..., index, slice(None)) if axis == -2 else (..., index)
        out[where] = part
        return out

    def square_sums(self, values: np.ndarray) -> np.ndarray:
        flat = values.reshape(values.shape[0], 1, -1)
        return np.matmul(flat, flat.swapaxes(-1, -2))[:, 0, 0]

    def stack(self, values: list[np.ndarray]) -> np.ndarray:
        return np.stack(values, axis=-1)

    def numpy(self, values: np.ndarray) -> np.ndarray:
        return np.array(values)


class PortableArithmetic(AbstractArithmetic):
    """Any library of the array API standard (2022.12 or later), without in-place operations."""

    on_host = buffered = False  # the library has threads or a device of its own

    def __init__(self, like: Array, precision: Precision = "float64") -> None:
        self.xp = array_api_compat.array_namespace(like)
        self.device = array_api_compat.device(like)
        self.precision = precision
        self.item_bytes = np.dtype(precision).itemsize

    def array(self, values: Array) -> Array:
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
        return self.xp.asarray(np.asarray(values), dtype=self.xp.int64, device=self.device)

    def buffer(self, *shape: int) -> Array | None:
        return None

    def transpose(self, values: Array) -> Array:
        return self.xp.matrix_transpose(values)

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self.xp.matmul(left, right)

    def add(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return left + right

    def subtract(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return left - right

    def multiply(self, left: Array, right: Array | float, out: Array | None = None) -> Array:
        return left * right

    def rectify(self, values: Array, gate: Array | None) -> tuple[Array, Array]:
        gate = self.xp.astype(values > 0, values.dtype)
        return values * gate, gate

    def passed(self, values: Array, gate: Array) -> Array:
        return values * gate

    def take(self, values: Array, index: Array, axis: int, out: Array | None = None) -> Array:
        return self.xp.take(values, index, axis=axis)

    def spread(
        self, part: Array, index: Any, inverse: Array, axis: int, out: Array | None = None
    ) -> Array:
        edge = list(part.shape)
        edge[axis] = 1
        zeros = self.xp.zeros(tuple(edge), dtype=part.dtype, device=self.device)
        return self.xp.take(self.xp.concat([part, zeros], axis=axis), inverse, axis=axis)

    def square_sums(self, values: Array) -> Array:
        return self.xp.sum(values * values, axis=(-2, -1))

    def stack(self, values: list[Array]) -> np.ndarray:
        return self.numpy(self.xp.stack(values, axis=-1))

    def numpy(self, values: Array) -> np.ndarray:
        if array_api_compat.is_cupy_array(values):
            values = array_api_compat.to_device(values, "cpu")
        return np.array(values)


def arithmetic_of(data: Array, precision: Precision = "float64") -> AbstractArithmetic:
    """Arithmetic of the library that ``data`` belongs to; numpy for lists and numpy arrays."""
    if isinstance(data, np.ndarray) or not array_api_compat.is_array_api_obj(data):
        return NumpyArithmetic(precision)
    if array_api_compat.is_torch_array(data):
        from symreln.train.torch_arrays import TorchArithmetic

        return TorchArithmetic(data, precision)
    return PortableArithmetic(data, precision)
