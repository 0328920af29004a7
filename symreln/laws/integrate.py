"""One integrator for every reduction: memory stays small however many times are asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from symreln.errors import LimitReachedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
#: Where only the time is asked for at which something happens: a stiff flow would take hours.
LOOKED_AT = Accuracy(1e-6, 20_000)

#: Longest step, in units of the fastest time. Near a plateau only stability (6 units) bounds the
#: step, and the output between steps, which no error control sees, is then over 1e-9 of the
#: largest entry (measured against short steps); at 2 units it is below 1e-10.
LONGEST_STEP = 2.0


def integrate(
    rhs: Callable[[float, np.ndarray], np.ndarray],
    start: np.ndarray,
    times: np.ndarray,
    fastest: float = 0.0,
    accuracy: Accuracy = PRECISE,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (slice of ``times``, states of shape (state, times in the slice)) in order.

    Explicit Runge-Kutta of order 8 with dense output, one integration step at a time, so that
    the states at thousands of times are never held at once.

    Args:
        rhs: Right-hand side f(t, y).
        start: State at times[0].
        times: Ascending times, in the unit of ``rhs``.
        fastest: Largest rate with which states relax, in 1/time; 0 where none is known.
        accuracy: PRECISE where the result is a number, DRAWN where it is a line in a figure,
            LOOKED_AT where a time is looked for.

    Raises:
        LimitReachedError: The step size fell below what float64 resolves, or there were too many.
    """
    from scipy.integrate import DOP853

    done = int(np.searchsorted(times, times[0], side="right"))
    yield slice(0, done), np.repeat(start[:, None], done, axis=1)
    if done == len(times):
        return
    solver = DOP853(
        rhs,
        float(times[0]),
        start,
        float(times[-1]),
        max_step=LONGEST_STEP / fastest if fastest > 0 else float("inf"),
        rtol=accuracy.error,
        atol=_smallest(start),
    )
    taken = 0
    while solver.status == "running":
        taken += 1
        too_many = taken > accuracy.most_steps
        solver.atol = _smallest(solver.y)
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


def _smallest(state: np.ndarray) -> float:
    """Return the error that rounding makes of a state's largest entry; not 0."""
    return _ROUNDING_TOLERANCE * (float(np.abs(state).max(initial=0.0)) or 1.0)
