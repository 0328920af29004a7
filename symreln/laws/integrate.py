"""One integrator for every reduction: memory stays small however many times are asked for."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

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

#: Local error of a step, relative to an entry of the state. 1e-12 takes no longer than 1e-9 here,
#: because the maps at all times are what costs.
PRECISE = 1e-12
#: A line is drawn to about 1/2000 of its figure: 1e-6 is far below.
DRAWN = 1e-6
#: Steps that are left for every entry of the state, at least, where implicit ones are tried.
_MANY_STEPS = 20
#: The most implicit steps in a row.
_MOST_STEPS = 20_000
#: Longest step, in units of the fastest time. Near a plateau only stability (6 units) bounds the
#: step, and the output between steps, which no error control sees, is then over 1e-9 of the
#: largest entry (measured against short steps); at 2 units it is below 1e-10.
_LONGEST_STEP = 2.0
#: Times whose states are held at once.
_AT_ONCE = 512


def integrate(
    rhs: _Rhs,
    start: np.ndarray,
    times: np.ndarray,
    fastest: float = 0.0,
    accuracy: float = PRECISE,
    *,
    logs: bool = False,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (slice of ``times``, states of shape (state, times in the slice)) in order.

    Explicit Runge-Kutta of order 8 with dense output, one integration step at a time, so that
    the states at thousands of times are never held at once. Where only the fastest rates of a
    smooth solution bound the step, and many are left, steps are implicit; at a fixed point one
    step is as long as the time that is left.

    Args:
        rhs: Right-hand side f(t, y).
        start: State at times[0].
        times: Ascending times, in the unit of ``rhs``.
        fastest: Largest rate with which states relax, in 1/time; 0 where none is known.
        accuracy: PRECISE where the result is a number, DRAWN where it is a line in a figure or
            a time is looked for.
        logs: Whether the state is of logarithms, whose errors are relative ones at any size.

    Raises:
        LimitReachedError: The step size fell below what float64 resolves, or there were too many.
    """
    from scipy.integrate import DOP853, Radau

    done = int(np.searchsorted(times, times[0], side="right"))
    yield slice(0, done), np.repeat(start[:, None], done, axis=1)
    if done == len(times):
        return
    end = float(times[-1])
    longest = _LONGEST_STEP / fastest if fastest > 0 else math.inf
    explicit: Any = partial(DOP853, rhs, t_bound=end, max_step=longest, rtol=accuracy)
    solver: Any = explicit(float(times[0]), start)
    taken, largest = 0, 0.0
    slopes: _Slopes | None = None
    while solver.status == "running":
        # The largest so far: a state that falls to 0 would ask for more than rounding allows.
        largest = max(largest, float(np.abs(solver.y).max(initial=0.0)))
        size = 1.0 if logs else largest or 1.0
        step = solver.step_size or math.inf  # before the first one
        if slopes is not None and solver.t < slopes.begin + (taken - 100) * slopes.step:
            solver, slopes, taken = explicit(solver.t, solver.y), None, 0
        elif (
            slopes is None
            and _MANY_STEPS * len(start) * step < end - solver.t
            and taken % len(start) == 0
        ):
            found = _Slopes(rhs, size, accuracy, step)
            if found.is_smooth(solver):  # else, or where that ends, explicit steps get as far
                slopes, taken = found, 0
                more: Any = {"rtol": accuracy, "atol": accuracy * size}
                more |= {"jac": found, "first_step": step}
                solver = Radau(found.trial, solver.t, solver.y, end, **more)
        if slopes is None:
            solver.atol = (accuracy if logs else _ROUNDING_TOLERANCE) * size
        elif slopes.is_at_rest(solver):
            break
        else:
            solver.max_step = slopes.longest
        taken += 1
        too_many = slopes is not None and taken > _MOST_STEPS
        message = "it takes too many steps" if too_many else solver.step()
        if too_many or solver.status == "failed":
            msg = (
                f"the reduced dynamics could not be integrated past t = {solver.t:.6g}: {message}. "
                "Shorten network.steps or lower network.learning_rate"
            )
            raise LimitReachedError(msg)
        last = solver.status == "finished"
        reached = len(times) if last else int(np.searchsorted(times, solver.t, side="right"))
        while done < reached:
            part = slice(done, min(done + _AT_ONCE, reached))
            yield part, solver.dense_output()(times[part])
            done = part.stop
    while done < len(times):
        part = slice(done, min(done + _AT_ONCE, len(times)))
        yield part, np.repeat(solver.y[:, None], part.stop - done, axis=1)
        done = part.stop


class _Slopes:
    r"""The Jacobian of a flow, and the longest implicit step that follows what grows there.

    Implicit steps are as long as a solution is smooth, however fast others relax. A part too small
    for the control of error may grow meanwhile, such as a mode that still waits near a saddle: over
    a step h its growth :math:`e^{μh}` has a relative error of :math:`(μh)^6/7200`.

    Attributes:
        begin, step: The time at which implicit steps begin, and the explicit step before.
        longest: The step at which that is the accuracy.
        fastest: The largest rate, in 1/time.
    """

    def __init__(self, rhs: _Rhs, size: float, error: float, step: float) -> None:
        self.rhs, self.size, self.error, self.step = rhs, size, error, step
        self.followed = (7200 * error) ** (1 / 6)  # μh
        self.longest = self.fastest = self.begin = 0.0

    def __call__(self, time: float, state: np.ndarray) -> np.ndarray:
        resolution = np.cbrt(np.finfo(float).eps)
        shift = resolution * self.size
        moved = ((state + unit, state - unit) for unit in np.eye(len(state)) * shift)
        columns = [(self.rhs(time, x) - self.rhs(time, y)) / (2 * shift) for x, y in moved]
        found = np.column_stack(columns)
        rates = np.linalg.eigvals(found)
        growth, self.fastest = float(rates.real.max()), float(np.abs(rates).max())
        told = growth > len(state) * resolution**2 * self.fastest
        self.longest = self.followed / growth if told else math.inf
        return found

    def trial(self, time: float, state: np.ndarray) -> np.ndarray:
        """Return the right-hand side where a step is tried, which may leave the range of floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rhs(time, state)

    def is_smooth(self, solver: Any) -> bool:
        """Return whether implicit steps may be ten times as long as a solver's explicit one."""
        velocity, share, self.begin = solver.f, self.followed / 10, solver.t
        bend = np.abs(velocity - self.rhs(solver.t_old, solver.y_old)).max()
        # Twice the error, which fast parts may have, moves by up to 6 times itself in a step.
        noise = 24 * self.error * self.size / self.step
        if bend > max(share * np.abs(velocity).max(), noise):
            return False
        self(solver.t, solver.y)
        return self.fastest * self.step >= 1 and 10 * self.step <= self.longest

    def is_at_rest(self, solver: Any) -> bool:
        """Return whether nothing grows, and no motion is told from rounding."""
        still = np.abs(solver.f).max() <= _ROUNDING_TOLERANCE * self.fastest * self.size
        return bool(still) and math.isinf(self.longest)
