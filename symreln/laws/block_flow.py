r"""The flow from the expected start, in coordinates that stay of order one.

From Q Qᵀ = g I (:meth:`symreln.laws.coupled_matrices.CoupledMatrices.start`) the flow of a
pathway's map W closes. With J = diag(−1, 1) on [inputs; outputs] and F = [[0, Eᵀ], [E, 0]], the
matrix M = Q Qᵀ/g obeys τ Ṁ = F M + M F, and F J + J F = 0 keeps M J M = J. So M is the
exponential of a symmetric matrix that is zero on its diagonal blocks and H off them:

.. math:: W = g \sinh H, \qquad
          \tau \dot W = E (g^2 + W^T W)^{1/2} + (g^2 + W W^T)^{1/2} E

(sinh of the singular values). The derivative of the exponential in the eigenbasis of its argument
turns the flow into one of H: every entry of F is multiplied by x coth(x/2), x the difference of its
two eigenvalues. H grows linearly where W grows exponentially, and a strength of 1e-8 beside one of
1 keeps all its digits. Along a fixed singular vector it is the scalar law τ dθ/dt = 2 e.

Float64 only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, log
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symreln.laws.integrate import PRECISE, Accuracy, integrate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Stands for an angle of 0 where one divides by it; its square is still a normal number.
TINY = 1e-150
#: Steps of gradient descent whose states are held at once.
CHUNK = 512


class Coupling(Protocol):
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
        """Return E of every block, shape (entries,), from the maps, shape (entries,)."""
        ...

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (times,), of maps of shape (entries, times)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class AffineCoupling:
    """E = offsets − matrix @ W, loss = ½‖targets − outputs @ W‖² + floor.

    Attributes:
        shapes, rate: See :class:`Coupling`.
        offsets: Shape (entries,).
        matrix: Shape (entries, entries).
        targets: Shape (rows,).
        outputs: Shape (rows, entries).
        floor: Loss that no maps can lower.
    """

    shapes: tuple[tuple[int, int], ...]
    rate: float
    offsets: np.ndarray
    matrix: np.ndarray
    targets: np.ndarray
    outputs: np.ndarray
    floor: float

    def errors(self, maps: np.ndarray) -> np.ndarray:
        """Return E of every block."""
        return self.offsets - self.matrix @ maps

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (times,)."""
        left = self.targets[:, None] - self.outputs @ maps
        return 0.5 * np.einsum("it,it->t", left, left) + self.floor


def joined(parts: Sequence[AffineCoupling]) -> AffineCoupling:
    """Return independent systems as one."""
    from scipy.linalg import block_diag

    def diagonal(blocks: list[np.ndarray]) -> np.ndarray:
        return np.asarray(block_diag(np.zeros((0, 0)), *blocks))

    return AffineCoupling(
        shapes=tuple(shape for part in parts for shape in part.shapes),
        rate=max((part.rate for part in parts), default=0.0),
        offsets=np.concatenate([np.zeros(0), *(part.offsets for part in parts)]),
        matrix=diagonal([part.matrix for part in parts]),
        targets=np.concatenate([np.zeros(0), *(part.targets for part in parts)]),
        outputs=diagonal([part.outputs for part in parts]),
        floor=sum(part.floor for part in parts),
    )


class BlockFlow:
    """The flow of the blocks of several independent systems.

    Where all blocks are vectors the state is H, else it is Q of every block: a singular value
    decomposition a step costs more than its digits are worth.

    Args:
        couplings: The systems; maps are held in their order.
        gram_scale: g.
        tau: Time constant in steps.
        starts: Q Qᵀ/g at the start, one a block; then the state is Q in any case, as
            :meth:`descent` needs it. The identity, and H where it can be, without it.
    """

    def __init__(
        self,
        couplings: Sequence[Coupling],
        gram_scale: float,
        tau: float,
        starts: Sequence[np.ndarray] | None = None,
    ) -> None:
        affine = [c for c in couplings if isinstance(c, AffineCoupling)]
        self.couplings = (joined(affine),) if len(affine) == len(couplings) else tuple(couplings)
        self.tau = tau
        sizes = [sum(a * b for a, b in coupling.shapes) for coupling in self.couplings]
        ends = np.cumsum([0, *sizes]).tolist()
        self.places = [slice(a, b) for a, b in pairwise(ends)]
        self.size = ends[-1]
        shapes = [shape for coupling in self.couplings for shape in coupling.shapes]
        # Of one kind: see _groups.
        self._groups: list[Any] = _groups(shapes, gram_scale, starts)
        thin = len(self._groups) == 1 and isinstance(self._groups[0], _Vectors)
        alone = thin and len(self.couplings) == 1 and isinstance(self._groups[0].index, slice)
        self._single = (self._groups[0], self.couplings[0]) if alone else None

    @property
    def rate(self) -> float:
        """Largest rate with which a mode relaxes to its plateau, in 1/steps."""
        return max((coupling.rate for coupling in self.couplings), default=0.0) / self.tau

    def derivative(self, state: np.ndarray) -> np.ndarray:
        """Return the derivative of the state in time."""
        if self._single is not None:
            # The state is the maps' own layout: nothing to gather, which halves a call.
            group, coupling = self._single
            parts = group.read(state)
            return group.velocity(parts, coupling.errors(group.maps(parts))) / self.tau
        maps, found = np.empty(self.size), []
        for group in self._groups:
            parts = group.read(state[group.place])
            maps[group.index] = group.maps(parts)
            found.append(parts)
        errors = np.concatenate(
            [c.errors(maps[place]) for c, place in zip(self.couplings, self.places, strict=True)]
        )
        velocity = [
            group.velocity(parts, errors[group.index]).ravel()
            for group, parts in zip(self._groups, found, strict=True)
        ]
        return np.concatenate(velocity) / self.tau

    def maps(self, states: np.ndarray) -> np.ndarray:
        """Return W, entry by entry, shape (entries, times), of states of shape (state, times)."""
        maps = np.empty((self.size, states.shape[1]))
        for group in self._groups:
            maps[group.index] = group.maps(group.read(states[group.place]))
        return maps

    def trajectory(
        self,
        times: np.ndarray,
        functionals: np.ndarray,
        accuracy: Accuracy = PRECISE,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Integrate from zero maps.

        Args:
            times: Ascending times in steps; times[0] is the start.
            functionals: Linear functions of all maps, shape (functions, entries).
            accuracy: How the flow is integrated.

        Returns:
            Sum of the systems' losses, shape (times,); values, shape (functions, times).
        """
        return self._followed(
            lambda start: integrate(
                lambda _, state: self.derivative(state), start, times, self.rate, accuracy
            ),
            len(times),
            functionals,
        )

    def descent(
        self, steps: int, functionals: np.ndarray, keep: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what :meth:`trajectory` does for gradient descent itself, at steps 0, 1, ….

        A step is Q ← (k + F/τ) Q with both layers moved at once: no time is continuous.

        Args:
            steps: How many steps are recorded, the start among them.
            functionals: Linear functions of all maps, shape (functions, entries).
            keep: k, what weight decay leaves of every weight in a step; 1 without.
        """
        return self._followed(lambda start: self._descended(start, steps, keep), steps, functionals)

    def _descended(
        self, state: np.ndarray, steps: int, keep: float
    ) -> Iterator[tuple[slice, np.ndarray]]:
        for first in range(0, steps, CHUNK):
            part = slice(first, min(first + CHUNK, steps))
            states = np.empty((len(state), part.stop - first))
            for column in range(part.stop - first):
                states[:, column] = state
                state = keep * state + self.derivative(state)
            yield part, states

    def _followed(
        self,
        follow: Callable[[np.ndarray], Iterator[tuple[slice, np.ndarray]]],
        count: int,
        functionals: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and values of the states that ``follow`` finds from the start."""
        losses, values = np.zeros(count), np.zeros((len(functionals), count))
        if not self.size:
            losses += sum(float(c.losses(np.zeros((0, 1)))[0]) for c in self.couplings)
            return losses, values
        start = np.concatenate([group.start() for group in self._groups])
        # A trial step may leave the range of floats; the integrator then shortens it.
        with np.errstate(over="ignore", invalid="ignore"):
            for part, states in follow(start):
                maps = self.maps(states)
                for coupling, place in zip(self.couplings, self.places, strict=True):
                    losses[part] += coupling.losses(maps[place])
                values[:, part] = functionals @ maps
        return losses, values


class _Angles:
    """Functions of angles θ ≥ 0 without cancellation, by one e^-θ − 1."""

    def __init__(self, theta: np.ndarray, log_scale: float = 0.0) -> None:
        self.theta = np.maximum(theta, TINY)
        self.log_scale = log_scale
        self._m = np.expm1(-self.theta)

    def sinh_over(self) -> np.ndarray:
        """Return scale · sinh(θ)/θ; overflows only where the product does."""
        rest = self._m * (2 + self._m) / (-2 * self.theta)
        return np.exp(self.theta + self.log_scale) * rest

    def coth_times(self) -> np.ndarray:
        """Return θ coth(θ/2); 2 at 0."""
        return self.theta * (2 + self._m) / -self._m


class _Vectors:
    """Blocks of one row or one column in logarithmic coordinates: H = θ n along W.

    Attributes:
        index: Where the entries are among all maps.
        place: Where they are in the state.
    """

    def __init__(self, blocks: list[np.ndarray], gram_scale: float) -> None:
        index = np.concatenate(blocks)
        lengths = [block.size for block in blocks]
        whole = np.array_equal(index, np.arange(len(index)))
        self.index = slice(0, len(index)) if whole else index
        self.place = slice(0, len(index))
        self._starts = np.cumsum([0, *lengths[:-1]])
        self._block = np.repeat(np.arange(len(blocks)), lengths)
        self._log_scale = log(gram_scale) if gram_scale > 0 else -inf

    def start(self) -> np.ndarray:
        return np.zeros(len(self._block))

    def read(self, state: np.ndarray) -> tuple[np.ndarray, _Angles]:
        return state, _Angles(
            np.sqrt(np.add.reduceat(state * state, self._starts)), self._log_scale
        )

    def maps(self, parts: tuple[np.ndarray, _Angles]) -> np.ndarray:
        h, angles = parts
        return h * angles.sinh_over()[self._block]

    def velocity(self, parts: tuple[np.ndarray, _Angles], errors: np.ndarray) -> np.ndarray:
        h, angles = parts
        across = angles.coth_times()
        # Across W by θ coth(θ/2), along it by 2. The quotient multiplies two factors of order θ,
        # so its rounding at small θ does no harm.
        bend = (2 - across) / (angles.theta * angles.theta)
        along = np.add.reduceat(h * errors, self._starts) * bend
        return across[self._block] * errors + along[self._block] * h


class _Factors:
    """Blocks of one shape as Q = [W1ᵀ; W2], shape (inputs + outputs) squared.

    Attributes:
        index: Where the entries are among all maps, shape (blocks, outputs, inputs).
        place: Where Q is in the state.
    """

    def __init__(self, blocks: list[np.ndarray], start: np.ndarray, first: int) -> None:
        """Lay out the state.

        Args:
            blocks: Places of the entries of every block among all maps.
            start: Q of every block at the start, shape (blocks, size, size).
            first: Where the state begins.
        """
        self.index = np.array(blocks)
        self._inputs = self.index.shape[2]
        self._shape = start.shape
        self._start = start
        self.place = slice(first, first + start.size)

    def start(self) -> np.ndarray:
        return self._start.ravel()

    def read(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Times, where there are several, come last in states and first in a batch.
        q = np.moveaxis(state, 0, -1).reshape(*state.shape[1:], *self._shape)
        return q[..., : self._inputs, :], q[..., self._inputs :, :]

    def maps(self, parts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        first, second = parts
        found = second @ first.swapaxes(-1, -2)
        return found if found.ndim == 3 else np.moveaxis(found, 0, -1)

    def velocity(self, parts: tuple[np.ndarray, np.ndarray], errors: np.ndarray) -> np.ndarray:
        first, second = parts
        return np.concatenate([errors.swapaxes(-1, -2) @ second, errors @ first], axis=-2)


def _groups(
    shapes: list[tuple[int, int]], gram_scale: float, starts: Sequence[np.ndarray] | None
) -> list[_Vectors] | list[_Factors]:
    kinds: dict[tuple[int, int], list[np.ndarray]] = {}
    roots: dict[tuple[int, int], list[np.ndarray]] = {}
    begin = 0
    for place, shape in enumerate(shapes):
        size = shape[0] * shape[1]
        if size:
            kinds.setdefault(shape, []).append(begin + np.arange(size).reshape(shape))
            start = np.eye(sum(shape)) if starts is None else symmetric_root(starts[place])
            roots.setdefault(shape, []).append(np.sqrt(gram_scale) * start)
        begin += size
    if starts is None and all(min(shape) == 1 for shape in kinds):
        blocks = sorted((b for found in kinds.values() for b in found), key=lambda b: b.flat[0])
        return [_Vectors([block.ravel() for block in blocks], gram_scale)] if blocks else []
    groups: list[_Factors] = []
    for shape, found in kinds.items():
        first = groups[-1].place.stop if groups else 0
        groups.append(_Factors(found, np.array(roots[shape]), first))
    return groups


def symmetric_root(gram: np.ndarray) -> np.ndarray:
    """Return the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
