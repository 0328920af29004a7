r"""The flow of weights as blocks that produce each other's errors, and gradient descent of them.

A block is Q = [W1ᵀ; W2] of one map W = W2 W1. With F = [[0, Eᵀ], [E, 0]] it obeys τ Q̇ = F Q, so
that the map depends on the weights through Q Qᵀ alone; a step of gradient descent with both layers
moved at once is Q ← (k + F/τ) Q, k what weight decay leaves.

In reduced coordinates, with :math:`U_p` an orthonormal basis of where pathway p writes, in a basis
of all that is written or wanted,

.. math:: E_p = U_p^T \Bigl[ T R_p^T - \sum_j U_j W_j R_j R_p^T \Bigr],

the sum over the pathways j that p sees; T and R are scaled by 1/sqrt(P).

Float64 only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import inf
from typing import Protocol

import numpy as np

from symreln.base.records import record
from symreln.laws.integrate import PRECISE, integrate

#: Steps of gradient descent whose states are held at once.
_CHUNK = 512


class _Coupling(Protocol):
    """How blocks of maps produce each other's errors, and the loss."""

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """(outputs, inputs) of every block; maps are held one after another, row by row."""
        ...

    @property
    def rate(self) -> float:
        """Twice the largest singular value of a pathway's input-output correlation."""
        ...

    def errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every block, of the shape of the maps: (entries,) or (entries, any)."""
        ...

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (any,), of maps of shape (entries, any)."""
        ...


@record(eq=False)
class Trajectory:
    """What following a flow gives.

    Attributes:
        losses: Mean loss 1/(2P) Σ‖y − ŷ‖² at every time, shape (times,).
        strengths: What was asked of the maps, shape (probes, times).
    """

    losses: np.ndarray
    strengths: np.ndarray


class MatrixCoupling:
    """Pathways in reduced coordinates, one block each.

    Attributes:
        features: R of every pathway, shape (inputs, z), z directions of samples.
        shapes: (Output directions that the pathway writes to, its inputs), one a pathway.
        size: Entries of all maps.
        rate: Twice the largest singular value of a pathway's input-output correlation.
    """

    def __init__(
        self,
        features: Sequence[np.ndarray],
        bases: Sequence[np.ndarray],
        targets: np.ndarray,
        sees: np.ndarray,
    ) -> None:
        """Take the data.

        Args:
            features: R of every pathway.
            bases: U of every pathway, shape (outputs, any).
            targets: T, shape (outputs, z).
            sees: Whether pathway p sees the output of j, shape (pathways, pathways).
        """
        self.features, self._bases, self._targets = features, bases, targets
        widths = [len(own) for own in features]
        self.shapes = tuple((u.shape[1], w) for u, w in zip(bases, widths, strict=True))
        self._places = _slices(rows * columns for rows, columns in self.shapes)
        self._columns = _slices(widths)
        self.size = self._places[-1].stop
        self._stacked = np.vstack(features)
        self._drive = targets @ self._stacked.T
        seen = np.repeat(np.repeat(sees.T, widths, axis=0), widths, axis=1)
        self._acting = seen * (self._stacked @ self._stacked.T)
        own = self.maps(self.errors(np.zeros(self.size)))
        self.rate = 2 * max((float(np.linalg.norm(s, 2)) for s in own if s.size), default=0.0)

    def maps(self, entries: np.ndarray) -> list[np.ndarray]:
        """Return the map of every pathway, shape (…, outputs, inputs).

        Args:
            entries: Of all maps, shape (…, entries).
        """
        blocks = zip(self._places, self.shapes, strict=True)
        return [entries[..., place].reshape(*entries.shape[:-1], *shape) for place, shape in blocks]

    def errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every pathway."""
        error = self._drive - self._written(maps) @ self._acting
        parts = [
            (basis.T @ error[:, :, place]).reshape(len(error), rows * columns)
            for basis, place, (rows, columns) in zip(
                self._bases, self._columns, self.shapes, strict=True
            )
        ]
        return np.concatenate(parts, axis=1).T.reshape(maps.shape)

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (any,)."""
        left = self.residuals(maps)
        return 0.5 * np.einsum("tuz,tuz->t", left, left)

    def residuals(self, maps: np.ndarray) -> np.ndarray:
        """Return what maps leave of the targets, shape (any, outputs, z)."""
        return self._targets - self._written(maps) @ self._stacked

    def _written(self, maps: np.ndarray) -> np.ndarray:
        """Return [U_1 W_1, …, U_N W_N], shape (any, outputs, inputs of all pathways)."""
        own = self.maps(np.atleast_2d(maps.T))
        parts = [basis @ each for basis, each in zip(self._bases, own, strict=True)]
        return np.concatenate(parts, axis=2)


class BlockFlow:
    """The flow of all blocks; the state is Q of each, and times are columns of states and maps.

    Args:
        phases: The coupling, and those of later phases, of the same shapes, where gates switch.
        tau: Time constant in steps.
        starts: Q Qᵀ at the start, one a block.
        switches: First step of every later phase, ascending.
    """

    def __init__(
        self,
        phases: Sequence[_Coupling],
        tau: float,
        starts: Sequence[np.ndarray],
        switches: Sequence[int] = (),
    ) -> None:
        self.phases, self.switches, self.tau = tuple(phases), tuple(switches), tau
        shapes = self.phases[0].shapes
        places = _slices(rows * columns for rows, columns in shapes)
        self.size = places[-1].stop if places else 0
        self._groups: list[_Factors] = []
        for shape in dict.fromkeys(shapes):
            numbers = [number for number, each in enumerate(shapes) if each == shape]
            index = np.array([np.arange(self.size)[places[n]].reshape(shape) for n in numbers])
            first = self._groups[-1].place.stop if self._groups else 0
            root = _symmetric_root(np.stack([starts[n] for n in numbers]))
            self._groups.append(_Factors(numbers, index, root, first))

    @property
    def rate(self) -> float:
        """Largest rate with which a mode relaxes to its plateau, in 1/steps."""
        return max(coupling.rate for coupling in self.phases) / self.tau

    def start(self) -> np.ndarray:
        """Return the state at the start."""
        return np.concatenate([np.zeros(0), *(group.start.ravel() for group in self._groups)])

    def read(self, state: np.ndarray) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
        """Return W, entry by entry, and what :meth:`velocity` needs beside it: the layers."""
        maps, found = np.empty((self.size, *state.shape[1:])), []
        for group in self._groups:
            first, second = group.layers(state[group.place])
            product = second @ first.swapaxes(-1, -2)
            maps[group.index] = product if product.ndim == 3 else np.moveaxis(product, 0, -1)
            found.append((first, second))
        return maps, found

    def velocity(
        self, maps: np.ndarray, found: list[tuple[np.ndarray, np.ndarray]], phase: int
    ) -> np.ndarray:
        """Return the derivative in time of a state that was read."""
        errors = self.phases[phase].errors(maps)
        moved = []
        for group, (first, second) in zip(self._groups, found, strict=True):
            own = errors[group.index]
            pulled = [own.swapaxes(-1, -2) @ second, own @ first]
            moved.append(np.concatenate(pulled, axis=-2).ravel())
        return np.concatenate(moved) / self.tau

    def factors(self, state: np.ndarray) -> list[np.ndarray]:
        """Return Q of every block."""
        found: dict[int, np.ndarray] = {}
        for group in self._groups:
            layers = group.layers(state[group.place])
            found.update(zip(group.numbers, np.concatenate(layers, axis=1), strict=True))
        return [found[number] for number in sorted(found)]

    def trajectory(
        self, times: np.ndarray, functionals: np.ndarray, accuracy: float = PRECISE
    ) -> Trajectory:
        """Integrate from the start.

        Args:
            times: Ascending times in steps; times[0] is the start. At a switch the new gates hold.
            functionals: Linear functions of all maps, shape (functions, entries).
            accuracy: How the flow is integrated.
        """
        return self._summed(self._integrated(times, accuracy), len(times), functionals)

    def descent(self, steps: int, functionals: np.ndarray, keep: float = 1.0) -> Trajectory:
        """Return what :meth:`trajectory` does for gradient descent itself, at steps 0, 1, ….

        Args:
            steps: How many steps are recorded, the start among them.
            functionals: Linear functions of all maps, shape (functions, entries).
            keep: What weight decay leaves of every weight in a step; 1 without.
        """
        return self._summed(self._chunks(steps, keep), steps, functionals)

    def descended(self, steps: int, keep: float = 1.0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield states and maps at steps 0, 1, … of gradient descent."""
        state = self.start()
        for step in range(steps):
            maps, parts = self.read(state)
            yield state, maps
            if self._groups:
                state = keep * state + self.velocity(maps, parts, self.phase(step))

    def factors_at(self, steps: Sequence[int]) -> Iterator[tuple[int, list[np.ndarray]]]:
        """Yield (step, Q of every block) at some steps of gradient descent, ascending."""
        left = list(steps)
        for step, (state, _) in enumerate(self.descended(steps[-1] + 1)):
            while left and left[0] == step:
                yield left.pop(0), self.factors(state)

    def phase(self, step: float) -> int:
        """Return the phase that a step is in."""
        return bisect_right(self.switches, step)

    def _chunks(self, steps: int, keep: float) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """Yield (steps, phase, maps at them): the losses of several are found together."""
        taken = self.descended(steps, keep)
        edges = [0, *(switch for switch in self.switches if switch < steps), steps]
        for phase, (begin, end) in enumerate(pairwise(edges)):
            for first in range(begin, end, _CHUNK):
                part = np.arange(first, min(first + _CHUNK, end))
                maps = np.empty((self.size, len(part)))
                for column in range(len(part)):
                    _, maps[:, column] = next(taken)
                yield part, phase, maps

    def _integrated(
        self, times: np.ndarray, accuracy: float
    ) -> Iterator[tuple[np.ndarray, int, np.ndarray]]:
        """Yield (places of times, phase, maps), phase after phase, each from the last's state."""
        state = self.start()
        if not self.rate:  # nothing moves
            yield np.arange(len(times)), 0, np.repeat(self.read(state)[0][:, None], len(times), 1)
            return
        now = self.phase(times[0])
        coming = [switch for switch in self.switches[now:] if switch <= times[-1]]
        for phase, (begin, end) in enumerate(pairwise([times[0], *coming, inf]), start=now):
            (places,) = np.nonzero((times >= begin) & (times < end))
            # Both ends of the phase are visited, whether or not they are asked for.
            stops = [[begin], times[places], [end] if end < inf else []]
            inside, where = np.unique(np.concatenate(stops), return_inverse=True)
            where = where[1 : 1 + len(places)]

            def rhs(_: float, flat: np.ndarray, phase: int = phase) -> np.ndarray:
                return self.velocity(*self.read(flat), phase)

            for part, states in integrate(rhs, state, inside, self.rate, accuracy):
                asked = (where >= part.start) & (where < part.stop)
                maps, _ = self.read(states[:, where[asked] - part.start])
                yield places[asked], phase, maps
                state = states[:, -1] if part.stop > part.start else state

    def _summed(
        self,
        follow: Iterable[tuple[np.ndarray, int, np.ndarray]],
        count: int,
        functionals: np.ndarray,
    ) -> Trajectory:
        """Return losses and values of the maps that are found."""
        losses, values = np.zeros(count), np.zeros((len(functionals), count))
        # A trial step may leave the range of floats; the integrator then shortens it.
        with np.errstate(over="ignore", invalid="ignore"):
            for part, phase, maps in follow:
                losses[part] = self.phases[phase].losses(maps)
                values[:, part] = functionals @ maps
        return Trajectory(losses=losses, strengths=values)


@record(kw_only=False, eq=False)
class _Factors:
    """Blocks of one shape.

    Attributes:
        numbers: Which blocks.
        index: Where the entries are among all maps, shape (blocks, outputs, inputs).
        start: Q of every block at the start, shape (blocks, size, size).
        first: Where the state begins.
    """

    numbers: list[int]
    index: np.ndarray
    start: np.ndarray
    first: int

    @property
    def place(self) -> slice:
        """Where Q is in the state."""
        return slice(self.first, self.first + self.start.size)

    def layers(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return W1ᵀ and W2; times, where there are several, come last in states, here first."""
        q = state.T.reshape(*state.shape[1:], *self.start.shape)
        inputs = self.index.shape[2]
        return q[..., :inputs, :], q[..., inputs:, :]


def _slices(lengths: Iterable[int]) -> list[slice]:
    """Return where parts of such lengths are, one after another."""
    return [slice(*ends) for ends in pairwise(accumulate(lengths, initial=0))]


def _symmetric_root(gram: np.ndarray) -> np.ndarray:
    """Return the symmetric square roots of positive semidefinite matrices, shape (…, n, n)."""
    values, vectors = np.linalg.eigh(gram)
    roots = np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return (vectors * roots) @ vectors.swapaxes(-1, -2)
