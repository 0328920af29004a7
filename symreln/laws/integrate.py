"""One integrator for every reduction: memory stays small however many times are asked for."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symreln.errors import LimitReachedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Rhs = Callable[[float, np.ndarray], np.ndarray]

#: Local error per step, relative to the state's largest entry at the time, beside the one relative
#: to an entry. It must follow the state: with a fixed one, weights that start below it would
#: grow without any control of error; one as small as such a start would, once others have
#: grown, ask for more than rounding allows (a few 1e-16 of the largest) and stop the integration.
_ROUNDING_TOLERANCE = 1e-15


class Accuracy(NamedTuple):
    """How a flow is integrated.

    Attributes:
        error: Local error of a step, relative to an entry of the state.
        most_steps: Steps after which it is given up.
    """

    error: float
    most_steps: float = math.inf


#: 1e-12 takes no longer than 1e-9 here, because the maps at all times are what costs.
PRECISE = Accuracy(1e-12)
#: A line is drawn to about 1/2000 of its figure: 1e-6 is far below.
DRAWN = Accuracy(1e-6)
#: Steps that are left, at least, where implicit ones are tried; and the most of these.
_MANY_STEPS = 20_000
#: Where only the time is asked for at which something happens: a stiff flow would take hours.
LOOKED_AT = Accuracy(1e-6, _MANY_STEPS)

#: Longest step, in units of the fastest time. Near a plateau only stability (6 units) bounds the
#: step, and the output between steps, which no error control sees, is then over 1e-9 of the
#: largest entry (measured against short steps); at 2 units it is below 1e-10.
LONGEST_STEP = 2.0
#: Times at a fixed point whose states are held at once.
_AT_ONCE = 512


def integrate(
    rhs: _Rhs,
    start: np.ndarray,
    times: np.ndarray,
    fastest: float = 0.0,
    accuracy: Accuracy = PRECISE,
    *,
    logs: bool = False,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (slice of ``times``, states of shape (state, times in the slice)) in order.

    Explicit Runge-Kutta of order 8 with dense output, one integration step at a time, so that
    the states at thousands of times are never held at once. Where only the fastest rates of a
    smooth solution bound the step, and very many are left, steps are implicit.

    Args:
        rhs: Right-hand side f(t, y).
        start: State at times[0].
        times: Ascending times, in the unit of ``rhs``.
        fastest: Largest rate with which states relax, in 1/time; 0 where none is known.
        accuracy: PRECISE where the result is a number, DRAWN where it is a line in a figure,
            LOOKED_AT where a time is looked for.
        logs: Whether the state is of logarithms, whose errors are relative ones at any size.

    Raises:
        LimitReachedError: The step size fell below what float64 resolves, or there were too many.
    """
    from scipy.integrate import DOP853, Radau

    done = int(np.searchsorted(times, times[0], side="right"))
    yield slice(0, done), np.repeat(start[:, None], done, axis=1)
    if done == len(times):
        return
    solver: Any = DOP853(
        rhs,
        float(times[0]),
        start,
        float(times[-1]),
        max_step=LONGEST_STEP / fastest if fastest > 0 else float("inf"),
        rtol=accuracy.error,
    )
    taken, next_look, largest, most_steps = 0, 0, 0.0, accuracy.most_steps
    slopes: _Slopes | None = None
    while solver.status == "running":
        # The largest so far: a state that falls to 0 would ask for more than rounding allows.
        largest = max(largest, float(np.abs(solver.y).max(initial=0.0)))
        size = 1.0 if logs else largest or 1.0
        steps_left = (times[-1] - solver.t) * fastest / LONGEST_STEP
        # A look costs about as much as a step for every entry of the state.
        if next_look <= taken and len(start) <= steps_left:
            keeps = partial(_keeps, solver.y, accuracy.error * size, logs)
            if keeps(rhs(solver.t, solver.y) / fastest):
                next_look = taken + len(start)
                here = partial(rhs, solver.t)
                span = steps_left * LONGEST_STEP
                if _stays(here, solver.y, size, fastest, span, accuracy.error, keeps):
                    break
        few = solver.t + _MANY_STEPS * (solver.step_size or np.inf) >= times[-1]
        if slopes is None and not few and taken % len(start) == 0:
            found = _Slopes(rhs, size, accuracy.error)
            if found.is_smooth(solver):
                slopes, taken, next_look, most_steps = found, 0, 0, _MANY_STEPS
                solver = Radau(
                    found.trial,
                    solver.t,
                    solver.y,
                    float(times[-1]),
                    jac=slopes,
                    first_step=solver.step_size,
                    rtol=accuracy.error,
                    atol=accuracy.error * size,
                )
        if slopes is None:
            solver.atol = (accuracy.error if logs else _ROUNDING_TOLERANCE) * size
        else:
            solver.max_step = slopes.longest
        taken += 1
        too_many = taken > most_steps
        message = "it takes too many steps" if too_many else solver.step()
        if too_many or solver.status == "failed":
            msg = (
                f"the reduced dynamics could not be integrated past t = {solver.t:.6g}: {message}. "
                "Shorten network.steps or lower network.learning_rate"
            )
            raise LimitReachedError(msg)
        last = solver.status == "finished"
        end = len(times) if last else int(np.searchsorted(times, solver.t, side="right"))
        if end > done:
            yield slice(done, end), solver.dense_output()(times[done:end])
            done = end
    for begin in range(done, len(times), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(times))
        yield slice(begin, end), np.repeat(solver.y[:, None], end - begin, axis=1)


class _Slopes:
    r"""The Jacobian of a flow, and the longest implicit step that follows what grows there.

    Implicit steps are as long as a solution is smooth, however fast others relax. A part too small
    for the control of error may grow meanwhile, such as a mode that still waits near a saddle: over
    a step h its growth :math:`e^{μh}` has a relative error of :math:`(μh)^6/7200`.

    Attributes:
        longest: The step at which that is the accuracy.
        fastest: The largest rate, in 1/time.
    """

    def __init__(self, rhs: _Rhs, size: float, error: float) -> None:
        self.rhs, self.size, self.error = rhs, size, error
        self.followed = (7200 * error) ** (1 / 6)  # μh
        self.longest = self.fastest = 0.0

    def __call__(self, time: float, state: np.ndarray) -> np.ndarray:
        resolution = np.cbrt(np.finfo(float).eps)
        shift = resolution * self.size
        moved = ((state + unit, state - unit) for unit in np.eye(len(state)) * shift)
        columns = [(self.rhs(time, x) - self.rhs(time, y)) / (2 * shift) for x, y in moved]
        found = np.column_stack(columns)
        rates = np.linalg.eigvals(found)
        growth, self.fastest = float(rates.real.max()), float(np.abs(rates).max())
        told = growth > resolution**2 * self.fastest
        self.longest = self.followed / growth if told else math.inf
        return found

    def trial(self, time: float, state: np.ndarray) -> np.ndarray:
        """Return the right-hand side where a step is tried, which may leave the range of floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rhs(time, state)

    def is_smooth(self, solver: Any) -> bool:
        """Return whether implicit steps may be ten times as long as a solver's explicit one."""
        velocity, share = solver.f, self.followed / 10
        bend = np.abs(velocity - self.rhs(solver.t_old, solver.y_old)).max()
        negligible = self.error * self.size / solver.step_size
        if bend > max(share * np.abs(velocity).max(), negligible):
            return False
        self(solver.t, solver.y)
        return self.fastest * solver.step_size >= 1 and 10 * solver.step_size <= self.longest


def _keeps(state: np.ndarray, error: float, logs: bool, change: np.ndarray) -> bool:
    """Return whether a change of a state is below the error that it may have."""
    kept = np.abs(change) <= error
    if logs:  # what is negligible may die out
        kept |= (change < 0) & (state - state.max() < np.log(_ROUNDING_TOLERANCE))
    return bool(kept.all())


def _stays(
    rhs: Callable[[np.ndarray], np.ndarray],
    state: np.ndarray,
    size: float,
    fastest: float,
    span: float,
    error: float,
    keeps: Callable[[np.ndarray], bool],
) -> bool:
    r"""Return whether a state is at a fixed point that it does not leave in the time left.

    The flow linearised there, :math:`\dot δ = f + J δ`, must keep :math:`δ` below the error at
    all times left, and so must what the linearisation leaves out, at most the rate times
    :math:`δ^2`, when it has grown as much as :math:`e^{J t}` lets anything grow: near a saddle it
    grows by more, however small the part is that leaves it.

    Args:
        rhs: Right-hand side f(y).
        state: The state.
        size: What its entries are of the size of.
        fastest: Largest rate with which states relax.
        span: The time left, in units of 1/fastest.
        error: Error that the state may have, relative to the size.
        keeps: Whether a change of the state is below it.
    """
    from scipy.linalg import expm

    count, rounding = len(state), np.finfo(float).eps
    shift = np.cbrt(rounding) * size
    flow = np.zeros((count + 1, count + 1))  # J, with f in a last column
    for entry, unit in enumerate(np.eye(count) * shift):
        flow[:-1, entry] = (rhs(state + unit) - rhs(state - unit)) / (2 * shift * fastest)
    velocity = rhs(state) / fastest
    flow[:-1, -1] = np.where(np.abs(velocity) > rounding * size, velocity, 0.0)
    doublings = max(0, int(np.ceil(np.log2(span))))
    with np.errstate(all="ignore"):
        moved = expm(flow * (span / 2**doublings))
        for _ in range(doublings + 1):
            grown = float(np.abs(moved[:-1, :-1]).max())
            if not (error * span * grown <= 1 and keeps(moved[:-1, -1])):
                return False
            moved = moved @ moved
    return True
