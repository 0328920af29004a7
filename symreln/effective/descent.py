"""Gradient descent on a few units with the steps of a network, many draws of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.records import record

Found = TypeVar("Found")
#: Products w·x of all draws above which two threads share these.
_SHARED = 1e5
#: Times at which units are looked at: as many evenly spaced ones, and as many by equal ratios; and
#: numbers that are kept of them at most.
_LOOKS, _KEPT = 60, 5e7


@record
class Descent:
    """How the units are trained.

    Attributes:
        hidden: H of the network.
        init_std: Standard deviations of the two layers' weights.
        step: A step of gradient descent in units of τ: 1/τ with τ in steps.
        steps: Recorded steps, the initial state included.
    """

    hidden: int
    init_std: tuple[float, float]
    step: float
    steps: int


@record(eq=False)
class Look:
    """Units of every draw at a step.

    Attributes:
        step: The step.
        units: (w, b) in the targets' span, shape (draws, units, n_x + rank); float32.
    """

    step: int
    units: np.ndarray

    def seen(self, inputs: np.ndarray) -> np.ndarray:
        """Return w·x of all units of all draws, shape (draws · units, P)."""
        return (self.units[:, :, : len(inputs)] @ inputs).reshape(-1, inputs.shape[1])

    def sizes(self, inputs: np.ndarray) -> np.ndarray:
        """Return ‖w‖‖b‖ of all units of all draws, shape (draws · units,)."""
        parts = np.split(self.units, [len(inputs)], axis=2)
        # Float64: squares of what float32 holds may be beyond it.
        lengths = [np.linalg.norm(part.astype(float), axis=2).ravel() for part in parts]
        return lengths[0] * lengths[1]


def look_steps(begin: int, steps: int, size: int) -> list[int]:
    """Return the steps from the horizon on at which units of so many numbers are looked at."""
    left, count = steps - 1 - begin, int(min(_LOOKS, max(4, _KEPT // size)))
    by_ratio = np.geomspace(1, 1 + left, count) - 1
    evenly = np.linspace(0, left, count)
    return np.unique((begin + np.concatenate([evenly, by_ratio])).round().astype(int)).tolist()


def descend_units(
    x: np.ndarray,
    y: np.ndarray,
    descent: Descent,
    units: np.ndarray,
    starts: list[int],
    steps: list[int],
    held_gates: np.ndarray | None = None,
    edges: Sequence[tuple[np.ndarray, np.ndarray]] = (),
    *,
    biased: bool = False,
    ended: Event | None = None,
) -> tuple[np.ndarray, tuple[Look, ...]]:
    """Return the losses of every draw at all steps, and looks at the units.

    Args:
        x: X.
        y: Y in its span.
        descent: How units are trained.
        units: (w, b) of every draw at its horizon.
        starts: The steps of these.
        steps: At which units are looked at.
        held_gates: 0 or 1, shape (draws, units, P), where units keep these gates whatever they see.
        edges: Units, and orthonormal columns of inputs that they stay orthogonal to, where held
            gates have samples on their boundary.
        biased: Whether the last unit of each draw is a bias of the outputs: open on all samples,
            where it holds 1.
        ended: Set where this is given up; also by what fails here.
    """
    ended = ended or Event()
    losses = np.full((len(units), descent.steps), 0.5 * np.vdot(y, y) / x.shape[1])
    # A draw that is looked at before its horizon is as it is there.
    kept = np.repeat(units[None].astype(np.float32), len(steps), axis=0)
    pays = units[:, :, 0].size * x.shape[1] > _SHARED
    parts = np.array_split(np.arange(len(units)), 1 + pays)

    def descend(part: np.ndarray) -> None:
        first, second = (each.copy() for each in np.split(units[part], [len(x)], axis=2))
        looks = {at: place for place, at in enumerate(steps)}
        rate, x_t, y_t = descent.step / x.shape[1], np.ascontiguousarray(x.T), y.T
        fixed = None if held_gates is None else held_gates[part]
        with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
            for step in range(descent.steps - min(starts)):
                if ended.is_set():
                    break
                held = first @ x
                gates = held > 0 if fixed is None else fixed
                held *= gates
                if biased:
                    held[:, -1], gates[:, -1] = 1, 0
                error = y_t - held.transpose(0, 2, 1) @ second  # (draws, P, rank)
                squares = np.einsum("dpr,dpr->d", error, error)
                for place, draw in enumerate(part):
                    now = step + starts[draw]
                    if now < descent.steps:
                        losses[draw, now] = 0.5 * squares[place] / x.shape[1]
                    if now in looks:
                        kept[looks[now], draw, :, : len(x)] = first[place]
                        kept[looks[now], draw, :, len(x) :] = second[place]
                error *= rate  # the smallest of what is multiplied
                drive = second @ error.transpose(0, 2, 1)
                drive *= gates
                second += held @ error
                first += drive @ x_t
                for those, basis in edges:
                    first[:, those] -= first[:, those] @ basis @ basis.T

    in_threads(descend, parts, ended)
    return losses, tuple(Look(step=at, units=each) for at, each in zip(steps, kept, strict=True))


def in_threads(work: Callable[[Any], Found], items: Sequence[Any], ended: Event) -> list[Found]:
    """Return what becomes of items, two at a time: matrix products leave the interpreter to others.

    Args:
        work: Done with each item; it ends soon where ``ended`` is set.
        items: One or many.
        ended: Set where one fails.
    """
    with ThreadPoolExecutor(2) as pool:
        try:
            return [*pool.map(work, items)]
        except BaseException:  # also an interrupt: the pool waits for its threads
            ended.set()
            raise
