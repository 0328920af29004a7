r"""The flow from the expected start, in coordinates that stay of order one.

From Q Qᵀ = g I (:class:`symreln.laws.coupled_matrices.CoupledMatrices`) the flow of a
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

from bisect import bisect_right
from itertools import pairwise
from math import inf, log
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symreln.base.records import record
from symreln.base.summaries import short_repr
from symreln.laws.integrate import PRECISE, integrate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Stands for an angle of 0 where one divides by it; its square is still a normal number.
_TINY = 1e-150
#: Steps of gradient descent whose states are held at once.
_CHUNK = 512


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
        """Return E of every block, of the shape of the maps: (entries,) or (entries, any)."""
        ...

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (any,), of maps of shape (entries, any)."""
        ...


@short_repr(eq=False)
class Trajectory:
    """What following a flow gives.

    Attributes:
        losses: Mean loss 1/(2P) Σ‖y − ŷ‖² at every time, shape (times,).
        strengths: What was asked of the maps, shape (probes, times).
    """

    losses: np.ndarray
    strengths: np.ndarray


@record(eq=False)
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
        return (self.offsets - (self.matrix @ maps).T).T

    def losses(self, maps: np.ndarray) -> np.ndarray:
        """Return the loss, shape (any,)."""
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
    decomposition a step costs more than its digits are worth. States and maps of many times are
    columns.

    Args:
        couplings: The systems; maps are held in their order.
        gram_scale: g.
        tau: Time constant in steps.
        starts: Q Qᵀ/g at the start, one a block; then the state is Q in any case, as
            :meth:`descent` needs it. The identity, and H where it can be, without it.
        later: The systems of later phases, of the same shapes, where gates switch.
        switches: First step of every later phase, ascending.
    """

    def __init__(
        self,
        couplings: Sequence[Coupling],
        gram_scale: float,
        tau: float,
        starts: Sequence[np.ndarray] | None = None,
        *,
        later: Sequence[Sequence[Coupling]] = (),
        switches: Sequence[int] = (),
    ) -> None:
        self.phases = tuple(_together(phase) for phase in (couplings, *later))
        self.switches = tuple(switches)
        self.tau, self._scale = tau, gram_scale
        first = self.phases[0]
        sizes = [sum(a * b for a, b in coupling.shapes) for coupling in first]
        ends = np.cumsum([0, *sizes]).tolist()
        self.places = [slice(a, b) for a, b in pairwise(ends)]
        self.size = ends[-1]
        self._shapes = [shape for coupling in first for shape in coupling.shapes]
        # Of one kind: see _groups.
        self._groups: list[Any] = _groups(self._shapes, gram_scale, starts)
        thin = len(self._groups) == 1 and isinstance(self._groups[0], _Vectors)
        alone = thin and len(first) == 1 and isinstance(self._groups[0].index, slice)
        self._single = self._groups[0] if alone else None

    @property
    def rate(self) -> float:
        """Largest rate with which a mode relaxes to its plateau, in 1/steps."""
        every = (coupling.rate for phase in self.phases for coupling in phase)
        return max(every, default=0.0) / self.tau

    def start(self) -> np.ndarray:
        """Return the state at the start."""
        return np.concatenate([group.start() for group in self._groups])

    def read(self, state: np.ndarray) -> tuple[np.ndarray, list[Any]]:
        """Return W, entry by entry, and what :meth:`velocity` needs beside it."""
        if self._single is not None:
            # The state is the maps' own layout: nothing to gather, which halves a call.
            parts = self._single.read(state)
            return self._single.maps(parts), [parts]
        maps, found = np.empty((self.size, *state.shape[1:])), []
        for group in self._groups:
            parts = group.read(state[group.place])
            maps[group.index] = group.maps(parts)
            found.append(parts)
        return maps, found

    def velocity(self, maps: np.ndarray, found: list[Any], phase: int) -> np.ndarray:
        """Return the derivative in time of a state that was read."""
        couplings = self.phases[phase]
        if self._single is not None:
            return self._single.velocity(found[0], couplings[0].errors(maps)) / self.tau
        every = [c.errors(maps[place]) for c, place in zip(couplings, self.places, strict=True)]
        errors = np.concatenate(every)
        velocity = [
            group.velocity(parts, errors[group.index])
            for group, parts in zip(self._groups, found, strict=True)
        ]
        return np.concatenate(velocity) / self.tau

    def factors(self, state: np.ndarray) -> list[np.ndarray]:
        """Return Q = [W1ᵀ; W2] of every block; Q is the state."""
        # A block without entries never moves.
        found = [np.sqrt(self._scale) * np.eye(sum(shape)) for shape in self._shapes]
        for group in self._groups:
            for number, *layers in zip(group.numbers, *group.read(state[group.place]), strict=True):
                found[number] = np.concatenate(layers)
        return found

    def trajectory(
        self,
        times: np.ndarray,
        functionals: np.ndarray,
        accuracy: float = PRECISE,
    ) -> Trajectory:
        """Integrate from the start.

        Args:
            times: Ascending times in steps; times[0] is the start. At a switch the new gates hold.
            functionals: Linear functions of all maps, shape (functions, entries).
            accuracy: How the flow is integrated.
        """
        if not self.size:
            return self._summed((), len(times), functionals)
        return self._summed(self._integrated(times, accuracy), len(times), functionals)

    def descent(self, steps: int, functionals: np.ndarray, keep: float = 1.0) -> Trajectory:
        """Return what :meth:`trajectory` does for gradient descent itself, at steps 0, 1, ….

        Args:
            steps: How many steps are recorded, the start among them.
            functionals: Linear functions of all maps, shape (functions, entries).
            keep: What weight decay leaves of every weight in a step; 1 without.
        """
        if not self.size:
            return self._summed((), steps, functionals)
        return self._summed(self._chunks(steps, keep), steps, functionals)

    def descended(self, steps: int, keep: float = 1.0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield states and maps at steps 0, 1, … of gradient descent.

        A step is Q ← (k + F/τ) Q with both layers moved at once: no time is continuous.
        """
        state = self.start()
        for step in range(steps):
            maps, parts = self.read(state)
            yield state, maps
            state = keep * state + self.velocity(maps, parts, self.phase(step))

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
        if not self.size:
            losses += float(self._losses(np.zeros((0, 1)), 0)[0])
        # A trial step may leave the range of floats; the integrator then shortens it.
        with np.errstate(over="ignore", invalid="ignore"):
            for part, phase, maps in follow:
                losses[part] = self._losses(maps, phase)
                values[:, part] = functionals @ maps
        return Trajectory(losses=losses, strengths=values)

    def _losses(self, maps: np.ndarray, phase: int) -> np.ndarray:
        total = np.zeros(maps.shape[1])
        for coupling, place in zip(self.phases[phase], self.places, strict=True):
            total += coupling.losses(maps[place])
        return total


def _together(couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    affine = [c for c in couplings if isinstance(c, AffineCoupling)]
    return (joined(affine),) if len(affine) == len(couplings) else tuple(couplings)


class _Angles:
    """Functions of angles θ ≥ 0 without cancellation, by one e^-θ − 1."""

    def __init__(self, theta: np.ndarray, log_scale: float = 0.0) -> None:
        self.theta = np.maximum(theta, _TINY)
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
        numbers: Which blocks.
        index: Where the entries are among all maps, shape (blocks, outputs, inputs).
        place: Where Q is in the state.
    """

    def __init__(
        self, numbers: list[int], index: np.ndarray, start: np.ndarray, first: int
    ) -> None:
        """Lay out the state.

        Args:
            numbers: Which blocks.
            index: Where the entries are among all maps.
            start: Q of every block at the start, shape (blocks, size, size).
            first: Where the state begins.
        """
        self.numbers, self.index = numbers, index
        self._inputs = index.shape[2]
        self._shape = start.shape
        self._start = start
        self.place = slice(first, first + int(np.prod(self._shape)))

    def start(self) -> np.ndarray:
        return self._start.ravel()

    def read(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Times, where there are several, come last in states and first in a batch.
        q = state.T.reshape(*state.shape[1:], *self._shape)
        return q[..., : self._inputs, :], q[..., self._inputs :, :]

    def maps(self, parts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        first, second = parts
        found = second @ first.swapaxes(-1, -2)
        return found if found.ndim == 3 else np.moveaxis(found, 0, -1)

    def velocity(self, parts: tuple[np.ndarray, np.ndarray], errors: np.ndarray) -> np.ndarray:
        first, second = parts
        pulled = [errors.swapaxes(-1, -2) @ second, errors @ first]
        return np.concatenate(pulled, axis=-2).ravel()


def _groups(
    shapes: list[tuple[int, int]], gram_scale: float, starts: Sequence[np.ndarray] | None
) -> list[_Vectors] | list[_Factors]:
    kinds: dict[tuple[int, int], list[int]] = {}
    blocks: list[np.ndarray] = []
    begin = 0
    for number, (rows, columns) in enumerate(shapes):
        blocks.append(begin + np.arange(rows * columns).reshape(rows, columns))
        if rows * columns:
            kinds.setdefault((rows, columns), []).append(number)
        begin += rows * columns
    if starts is None and all(min(shape) == 1 for shape in kinds):
        thin = [block.ravel() for block in blocks if block.size]
        return [_Vectors(thin, gram_scale)] if thin else []
    groups: list[_Factors] = []
    for shape, numbers in kinds.items():
        grams = [np.eye(sum(shape)) if starts is None else starts[n] for n in numbers]
        start = np.sqrt(gram_scale) * _symmetric_root(np.stack(grams))
        first = groups[-1].place.stop if groups else 0
        index = np.array([blocks[number] for number in numbers])
        groups.append(_Factors(numbers, index, start, first))
    return groups


def _symmetric_root(gram: np.ndarray) -> np.ndarray:
    """Return the symmetric square roots of positive semidefinite matrices, shape (…, n, n)."""
    values, vectors = np.linalg.eigh(gram)
    roots = np.sqrt(np.maximum(values, 0.0))[..., None, :]
    return (vectors * roots) @ vectors.swapaxes(-1, -2)
