"""A step of gradient descent as a list of array operations: written once, run for any seeds.

The list is written from the shapes of a network alone, and what it will take, in memory and in
multiplications, is read off it. A chunk of seeds binds it to arrays (:class:`State`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import numpy as np

from symreln.base.records import record
from symreln.train.arrays import Arithmetic, Array
from symreln.train.weights import Weights


@record
class Slot:
    """An array of a program, one matrix a seed or one for all.

    Attributes:
        place: Its number.
        rows: Rows of the matrix.
        columns: Its columns.
        constant: Its value, where it is the same for all seeds and steps.
        padded: Whether it is zero outside the part that is written.
    """

    place: int
    rows: int
    columns: int
    constant: Array = None
    padded: bool = False


@record
class _Operation:
    """``name`` of the arithmetic applied to slots and other values, written to ``out``."""

    name: str
    slots: tuple[Slot, ...]
    more: tuple[Any, ...]
    out: Slot


@record
class _Weight:
    """Where an edge's weights are, stored transposed or not."""

    edge: int
    turned: bool
    slot: Slot


@final
class Program:
    """The operations that evaluate the residual, and those that then update the weights.

    Attributes:
        residual: What the network leaves of the targets, (P, n_y); to be set.
        factors: Factors of the samples in a mini-batch, (P, 1); None for full batches.
        gates: Slots of gates that are given anew at every step.
        numbers: Numbers that one seed takes: weights, gradients, activations.
        multiplications: Scalar multiplications of one step of one seed.
    """

    residual: Slot
    factors: Slot | None = None

    def __init__(self, do: Arithmetic) -> None:
        self.do = do
        self.slots: list[Slot] = []
        self.rooms: list[Slot] = []
        self.gates: list[Slot] = []
        self.weights: list[_Weight] = []
        self.evaluation: list[_Operation] = []
        self.update: list[_Operation] = []
        self._written = self.evaluation
        self.numbers = self.multiplications = 0

    def begin_update(self) -> None:
        """What is written from now on updates the weights."""
        self._written = self.update

    # -- arrays ----------------------------------------------------------------------------------

    def constant(self, values: Array) -> Slot:
        """A matrix that is the same for all seeds."""
        values = self.do.array(values)
        return self._slot(*values.shape, constant=values)

    def weight(self, edge: int, shape: tuple[int, int], *, turned: bool) -> Slot:
        """An edge's weights; ``turned`` for (source, target) instead of the reverse."""
        slot = self._slot(*(shape[::-1] if turned else shape))
        self.numbers += shape[0] * shape[1]
        self.weights.append(_Weight(edge=edge, turned=turned, slot=slot))
        return slot

    def room(self, rows: int, columns: int, *, padded: bool = False) -> Slot:
        """Memory for a matrix a seed."""
        slot = self._slot(rows, columns, padded=padded)
        self.rooms.append(slot)
        self.numbers += rows * columns
        return slot

    def _slot(self, rows: int, columns: int, **more: Any) -> Slot:
        slot = Slot(place=len(self.slots), rows=rows, columns=columns, **more)
        self.slots.append(slot)
        return slot

    # -- operations ------------------------------------------------------------------------------

    def matmul(self, left: Slot, right: Slot) -> Slot:
        """The matrix product."""
        self.multiplications += left.rows * left.columns * right.columns
        return self._write("matmul", left, right, out=self.room(left.rows, right.columns))

    def add(self, left: Slot, right: Slot) -> Slot:
        """The sum, in place of the left one where that can be."""
        out = self.room(left.rows, left.columns) if left.padded else left
        return self._write("add", left, right, out=out)

    def sum(self, parts: Sequence[Slot]) -> Slot:
        """The sum of parts that nothing else needs."""
        return functools.reduce(self.add, parts)

    def subtract(self, left: Slot, right: Slot) -> Slot:
        """The difference, in place of the right one where that can be."""
        out = self.room(right.rows, right.columns) if right.padded else right
        return self._write("subtract", left, right, out=out)

    def multiply(self, left: Slot, right: Slot | float, *, in_place: bool = False) -> Slot:
        """The product entry by entry, of a matrix with one of its size, a column or a number."""
        slots, more = ((left, right), ()) if isinstance(right, Slot) else ((left,), (right,))
        out = left if in_place else self.room(left.rows, left.columns)
        return self._write("multiply", *slots, more=more, out=out)

    def rectify(self, values: Slot) -> tuple[Slot, Slot]:
        """Where an entry is > 0 itself, else 0, in place; and what :meth:`passed` needs of it."""
        gate = values
        if self.do.has_gates:
            gate = self._write("opened", values, out=self.room(values.rows, values.columns))
        return self._write("rectify", values, gate, out=values), gate

    def passed(self, values: Slot, gate: Slot) -> Slot:
        """What a gate of :meth:`rectify` lets through, in place."""
        return self._write("passed", values, gate, out=values)

    def transpose(self, values: Slot) -> Slot:
        """Rows and columns exchanged; no copy."""
        if values.constant is not None:
            turned = self.do.transpose(values.constant)
            return self._slot(*turned.shape, constant=turned)
        out = self._slot(values.columns, values.rows)
        return self._write("transpose", values, out=out)

    def take(self, values: Slot, indices: Sequence[int], axis: int) -> Slot:
        """The entries at some indices of the rows (axis −2) or columns (−1)."""
        shape = [values.rows, values.columns]
        if tuple(indices) == tuple(range(shape[axis])):
            return values
        shape[axis] = len(indices)
        more = self.do.index(indices), axis
        return self._write("take", values, more=more, out=self.room(*shape))

    def spread(self, part: Slot, indices: Sequence[int], size: int, axis: int) -> Slot:
        """Inverse of :meth:`take`: an axis of ``size`` entries, zero but at the indices."""
        if tuple(indices) == tuple(range(size)):
            return part
        more = self.do.index(indices), axis
        shape = [part.rows, part.columns]
        shape[axis] = size
        return self._write("spread", part, more=more, out=self.room(*shape, padded=True))

    def descend(self, weights: Slot, left: Slot, right: Slot, kept: float) -> None:
        """A step of gradient descent, kept · weights + left @ right."""
        if self.do.fused:
            self.multiplications += left.rows * left.columns * right.columns
            self._write("descend", weights, left, right, more=(kept,), out=weights)
            return
        step = self.matmul(left, right)
        self.decay(weights, kept)
        self.add(weights, step)

    def decay(self, weights: Slot, kept: float) -> None:
        """What weight decay leaves of weights."""
        if kept != 1:
            self.multiply(weights, kept, in_place=True)

    def _write(self, name: str, *slots: Slot, out: Slot, more: tuple[Any, ...] = ()) -> Slot:
        self._written.append(_Operation(name=name, slots=slots, more=more, out=out))
        return out


@final
class State:
    """A chunk of seeds in training; ``evaluate`` and ``update`` are called in turn."""

    def __init__(self, program: Program, weights: Weights, gates: np.ndarray | None = None) -> None:
        """Bind a program to arrays.

        Args:
            program: The program.
            weights: Initial weights, one matrix an edge.
            gates: Given gates, shape (seeds, steps, ΣH, P); in the order of ``program.gates``.
        """
        do = self.do = program.do
        self.program, self.gates, self.step = program, gates, 0
        self.values = [slot.constant for slot in program.slots]
        for slot in program.rooms:
            self.values[slot.place] = do.buffer(len(weights[0]), slot.rows, slot.columns)
        for each in program.weights:
            matrix = weights[each.edge]
            self.values[each.slot.place] = do.array(
                np.swapaxes(matrix, 1, 2) if each.turned else matrix
            )
        self._evaluation = self._bound(program.evaluation)
        self._update = self._bound(program.update)

    def _bound(self, operations: Sequence[_Operation]) -> list[Callable[[], Any]]:
        """Return operations on the arrays of this state."""
        calls, values = [], self.values
        for one in operations:
            places, out = [slot.place for slot in one.slots], one.out.place
            method = getattr(self.do, one.name)
            # Buffers stay what they are from step to step, and so does a view of them.
            if one.name == "transpose":
                values[out] = self.do.transpose(values[places[0]])
            else:
                arrays = [values[place] for place in places]
                calls.append(partial(method, *arrays, *one.more, out=values[out]))
        return calls

    def evaluate(self) -> Array:
        """Mean loss 1/(2P) Σ_μ ‖y_μ − ŷ_μ‖² of each seed at the present weights. Shape (S,)."""
        if self.gates is not None:
            now = np.swapaxes(self.gates[:, self.step], 1, 2)
            cuts = np.cumsum([slot.columns for slot in self.program.gates])[:-1]
            for slot, gate in zip(self.program.gates, np.split(now, cuts, axis=2), strict=True):
                self.do.put(gate, self.values[slot.place])
            self.step += 1
        for call in self._evaluation:
            call()
        residual = self.program.residual
        return self.do.square_sums(self.values[residual.place]) * (0.5 / residual.rows)

    def update(self, factors: np.ndarray | None = None) -> None:
        """One step of gradient descent, from the residual of the last ``evaluate``.

        Args:
            factors: Factor of each sample's part of the gradient in a mini-batch, (S, P, 1).
        """
        if factors is not None:
            assert self.program.factors is not None
            self.do.put(factors, self.values[self.program.factors.place])
        for call in self._update:
            call()

    def weights(self) -> Weights:
        """Copies of the present weights, one matrix an edge."""
        found = []
        for each in self.program.weights:
            own = self.do.numpy(self.values[each.slot.place])
            found.append(np.ascontiguousarray(own.swapaxes(1, 2) if each.turned else own))
        return tuple(found)
