r"""What recorded weights say by themselves: the loss, the rate of descent, and when it begins.

The rate of descent is measured where weights change most: gradient descent on all samples from a
look to the next one, with the rate by which it comes as far along the change as the network did. It
then is the network, if that was trained so: how far it is off tells of mini-batches, momentum and
other optimisers. Losses are 1/(2P) Σ‖y − ŷ‖²; float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.effective.network import EPSILON
from symreln.errors import InputError

if TYPE_CHECKING:
    from symreln.explain.history import History

#: Intervals between looks in which the rate is measured, and multiplications that this may take.
_INTERVALS, _MOST_COST = 3, 4e9
#: Within which factors of a first guess the rate is looked for, one after the other.
_FACTORS = (1.5, 16.0)
#: Loss over L(0) at which a replay begins at the latest, where a look before that is there.
_BEFORE = 0.98
#: Distance over L(0) between a user's own losses and those of the weights that is rounding.
_SAME = 1e-3


@record(eq=False)
class Recorded:
    """A network over training, on its data.

    Attributes:
        x: X, with a row of ones where the first layer has a bias, shape (n_x, P).
        y: Y, less the outputs' bias at the end where there is one, shape (n_y, P).
        steps: Shape (T,).
        losses: Of the weights, shape (T,).
        spread: Standard error of these over L(0) where samples are drawn; 0 on all samples.
        outputs: Norm of the outputs over that of the targets, shape (T,).
        rate: Of descent, in units of 1/τ a step; None where the weights do not descend.
        off: How far descent with this rate is from the weights at the next look, over their change,
            in the middle of the intervals where it was measured; 0 is plain gradient descent.
    """

    x: np.ndarray
    y: np.ndarray
    steps: np.ndarray
    losses: np.ndarray
    spread: float
    outputs: np.ndarray
    rate: float | None
    off: float

    @property
    def begins(self) -> int:
        """The look at which outputs are felt, or the last one before the loss has fallen."""
        felt = np.flatnonzero(self.outputs >= EPSILON)
        place = int(felt[0]) if len(felt) else len(self.steps) - 1
        while place and self.losses[place] < _BEFORE * self.losses[0]:
            place -= 1
        return place

    def at_all_steps(self, values: np.ndarray) -> np.ndarray:
        """Return what is known at looks at every step from 0 to the last, between them linear."""
        return np.interp(np.arange(self.steps[-1] + 1), self.steps, values)


@phase("recorded weights")
def recorded(history: History, inputs: np.ndarray, targets: np.ndarray) -> Recorded:
    """Return what all looks at a network say on its data.

    Args:
        history: The weights.
        inputs: X, shape (n_x, P), without the row of a bias.
        targets: Y, shape (n_y, P), not all zero.

    Raises:
        InputError: The losses of the history are not those of its weights on these data.
    """
    x = np.vstack([inputs, np.ones(inputs.shape[1])]) if history.biased else inputs
    looks, changes, before = [], [], None
    for place in range(len(history.steps)):
        w, b = history.weights(place)
        outputs = b @ np.maximum(w @ x, 0)
        each = 0.5 * np.square(targets - outputs - _shift(history, place)).sum(axis=0)
        error = each.std() / np.sqrt(len(each))
        looks.append((each.mean(), error, np.linalg.norm(outputs)))
        if before is not None:
            moved = [np.square(w - before[0]).sum(), np.square(b - before[1]).sum()]
            changes.append(np.sqrt(sum(moved)))
        before = w, b
    losses, spread, size = np.array(looks).T
    rate, off = _rate(history, x, targets, np.array(changes))
    shift = _shift(history, len(history.steps) - 1)
    found = Recorded(
        x=x,
        y=targets - shift,
        steps=np.asarray(history.steps),
        losses=losses,
        spread=float(spread.max() / losses[0]),
        outputs=size / np.linalg.norm(targets),
        rate=rate,
        off=off,
    )
    _check_losses(history.losses, found)
    return found


def _shift(history: History, place: int) -> np.ndarray:
    """Return the bias of the outputs at a look, shape (n_y, 1); 0 where there is none."""
    shifts = history.output_bias
    return np.zeros((history.outputs, 1)) if shifts is None else shifts[place][:, None]


def _rate(
    history: History, x: np.ndarray, y: np.ndarray, changes: np.ndarray
) -> tuple[float | None, float]:
    """Return the rate of descent, in the middle of some intervals, and how far it is off."""
    found, paid = [], 0.0
    for place in np.argsort(-changes):
        steps = int(history.steps[place + 1] - history.steps[place])
        paid += 20 * steps * history.hidden * x.size * 2
        if len(found) == _INTERVALS or (found and paid > _MOST_COST) or not changes[place]:
            break
        measured = _measured_rate(history, x, y - _shift(history, place), int(place), steps)
        if measured is not None:
            found.append(measured)
    if not found:
        return None, 1.0
    rates, off = np.array(found).T
    return float(np.median(rates)), float(np.median(off))


def _measured_rate(
    history: History, x: np.ndarray, y: np.ndarray, place: int, steps: int
) -> tuple[float, float] | None:
    """Return the rate in an interval and how far it is off; None where nothing descends."""
    begin, end = (np.hstack([w, b.T]) for w, b in map(history.weights, (place, place + 1)))
    change = end - begin
    size = np.vdot(change, change)

    def after(rate: float) -> np.ndarray:
        units = begin
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(steps):
                units = units + rate * _down(units, x, y)
        return units

    def beyond(logarithm: float) -> float:
        reached = np.vdot(after(float(np.exp(logarithm))) - begin, change) / size - 1
        return reached if np.isfinite(reached) else 1.0  # it diverges

    ends = _down(begin, x, y) + _down(end, x, y)
    guess = 2 * np.sqrt(size) / (steps * (np.linalg.norm(ends) or np.inf))
    for factor in _FACTORS:
        low, high = float(np.log(guess / factor)), float(np.log(guess * factor))
        if beyond(low) < 0 < beyond(high):
            break
    else:
        return None
    rate = float(np.exp(brentq(beyond, low, high, xtol=1e-6)))  # type: ignore[arg-type]
    return rate, float(np.linalg.norm(after(rate) - end) / np.sqrt(size))


def _down(units: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the direction of descent of (w, b), shape (H, n_x + n_y)."""
    w, b = np.split(units, [len(x)], axis=1)
    held = np.maximum(w @ x, 0)
    error = y - b.T @ held
    return np.hstack([((b @ error) * (held > 0)) @ x.T, held @ error.T]) / x.shape[1]


def _check_losses(given: np.ndarray | None, found: Recorded) -> None:
    """Refuse losses of another convention, or of other data.

    Raises:
        InputError: They are not those of the weights.
    """
    if given is None or _far(given, found.losses) <= _SAME + 4 * found.spread:
        return
    ratio = float(given @ found.losses / (found.losses @ found.losses))
    outputs, samples = found.y.shape
    first, whole = given[0], found.losses[0]
    if ratio > 0 and _far(given / ratio, found.losses) <= _SAME + 4 * found.spread:
        means = {
            2.0: "sums ‖y − ŷ‖² over outputs without the half",
            2.0 / outputs: "is the mean over outputs too, as MSELoss of PyTorch",
            float(samples): "is a sum over samples",
            2.0 * samples: "is a sum of squares over samples",
        }
        like = next((text for at, text in means.items() if abs(ratio / at - 1) < 1e-2), "")
        msg = (
            f"losses: found {ratio:.6g} times 1/(2P) Σ‖y − ŷ‖² of the weights at all "
            f"{len(given)} looks{f': that {like}' if like else ''}. Divide them by {ratio:.6g}, or "
            "leave them out"
        )
    else:
        msg = (
            f"losses: found {first:.4g} at step {found.steps[0]} and {given[-1]:.4g} at step "
            f"{found.steps[-1]}, where the weights have 1/(2P) Σ‖y − ŷ‖² = {whole:.4g} and "
            f"{found.losses[-1]:.4g} on these {samples} samples. Give the data that the network "
            "was trained on, scaled as it saw them, and squared losses of the same steps; or leave "
            "losses out"
        )
    raise InputError(msg)


def _far(given: np.ndarray, losses: np.ndarray) -> float:
    return float(np.abs(given - losses).max() / losses.max())
