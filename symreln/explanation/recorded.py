r"""What recorded weights say by themselves: the loss, the rate of descent, and when it begins.

The rate of descent is measured where weights change most: gradient descent on all samples from a
look to the next one, with the rate by which it comes as far along the change as the network did. It
then is the network, if that was trained so: how far it is off tells of mini-batches, momentum and
other optimisers. Losses are 1/(2P) Σ‖y − ŷ‖²; float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.effective.network import EPSILON
from symreln.errors import InputError

if TYPE_CHECKING:
    from symreln.explanation.history import History

#: Intervals between looks in which the rate is measured, and multiplications that this may take.
_INTERVALS, _MOST_COST = 3, 2e10
#: Part of a change that is elsewhere, from which weights do not descend: half of it.
_OFF = 0.5
#: Within which factors of a first guess the rate is looked for, one after the other.
_FACTORS = (1.5, 16.0)
#: Outputs over targets at which a replay begins at the latest, where a look before that is there.
LARGE = 0.1
#: Distance over L(0) between a user's own losses and those of the weights that is rounding.
_SAME = 1e-3


@record(eq=False)
class Recorded:
    """A network over training, on its data.

    Attributes:
        x: X, with a row of ones where the first layer has a bias, shape (n_x, P).
        targets: Y, shape (n_y, P).
        bias: Of the outputs at looks, shape (T, n_y); None where there is none.
        steps: Shape (T,).
        losses: Of the weights, shape (T,).
        given: The user's own, likewise, or None.
        spread: Standard error of these over L(0) where samples are drawn; 0 on all samples.
        outputs: Norm of the outputs over that of the targets, shape (T,).
        rate: Of descent, in units of 1/τ a step; None where the weights do not descend.
        off: How far descent with this rate is from the weights at the next look, over their change,
            in the middle of the intervals where it was measured; 0 is plain gradient descent.
    """

    x: np.ndarray
    targets: np.ndarray
    bias: np.ndarray | None
    steps: np.ndarray
    losses: np.ndarray
    given: np.ndarray | None
    spread: float
    outputs: np.ndarray
    rate: float | None
    off: float

    @property
    def y(self) -> np.ndarray:
        """What is left to the units: Y less the outputs' bias at the end, shape (n_y, P)."""
        return self.targets if self.bias is None else self.targets - self.bias[-1][:, None]

    @property
    def begins(self) -> int:
        """The look at which outputs are felt, or the one before where they are large by then."""
        felt = np.flatnonzero(self.outputs >= EPSILON)
        place = int(felt[0]) if len(felt) else len(self.steps) - 1
        return max(0, place - (self.outputs[place] > LARGE))

    @property
    def apart(self) -> float | None:
        """Largest distance of the user's own losses to those of the weights, over L(0)."""
        return None if self.given is None else _far(self.given, self.losses)

    def at_all_steps(self, values: np.ndarray) -> np.ndarray:
        """Return what is known at looks at every step from 0 to the last, between them linear."""
        return np.interp(np.arange(self.steps[-1] + 1), self.steps, values)


@phase("recorded weights")
def recorded(
    history: History, inputs: np.ndarray, targets: np.ndarray, *, drawn: bool = False
) -> Recorded:
    """Return what all looks at a network say on its data.

    Args:
        history: The weights.
        inputs: X, shape (n_x, P), without the row of a bias.
        targets: Y, shape (n_y, P).
        drawn: Whether these are some samples of more, so that losses have a standard error.

    Raises:
        InputError: Targets are all zero, or the losses of the history are not those of its weights
            on these data.
    """
    if not targets.any():
        msg = "the targets are all zero, so there is nothing to learn. Give targets that are not"
        raise InputError(msg)
    x = np.vstack([inputs, np.ones(inputs.shape[1])]) if history.biased else inputs
    looks, changes, before = [], [], None
    for place in range(len(history.steps)):
        units = _units(history, place)
        error, outputs = _left(units, x, targets, biased=history.output_bias is not None)
        each = 0.5 * np.square(error).sum(axis=0)
        looks.append((each.mean(), each.std() / np.sqrt(len(each)), np.linalg.norm(outputs)))
        changes.append(0.0 if before is None else np.linalg.norm(units - before))
        before = units
    losses, spread, size = np.array(looks).T
    rate, off = _rate(history, x, targets, np.array(changes[1:]))
    found = Recorded(
        x=x,
        targets=targets,
        bias=history.output_bias,
        steps=np.asarray(history.steps),
        losses=losses,
        given=history.losses,
        spread=float(spread.max() / losses[0]) if drawn else 0.0,
        outputs=size / np.linalg.norm(targets),
        rate=rate,
        off=off,
    )
    _check_losses(found)
    return found


def _units(history: History, place: int) -> np.ndarray:
    """Return (w, b) at a look, shape (H, n_x + n_y); a bias of the outputs is the last row."""
    w, b = history.weights(place)
    units = np.hstack([w, b.T])
    if history.output_bias is None:
        return units
    return np.vstack([units, np.concatenate([np.zeros(w.shape[1]), history.output_bias[place]])])


def _left(
    units: np.ndarray, x: np.ndarray, y: np.ndarray, *, biased: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the units leave of the targets, and their outputs without a bias."""
    w, b = np.split(units[: len(units) - biased], [len(x)], axis=1)
    outputs = b.T @ np.maximum(w @ x, 0)
    return y - outputs - (units[-1, len(x) :][:, None] if biased else 0), outputs


def _down(units: np.ndarray, x: np.ndarray, y: np.ndarray, *, biased: bool) -> np.ndarray:
    """Return the direction of descent of the units."""
    error, _ = _left(units, x, y, biased=biased)
    w, b = np.split(units, [len(x)], axis=1)
    held = np.maximum(w @ x, 0)
    opened = held > 0
    if biased:
        held[-1] = 1
    return np.hstack([((b @ error) * opened) @ x.T, held @ error.T]) / x.shape[1]


def _rate(
    history: History, x: np.ndarray, y: np.ndarray, changes: np.ndarray
) -> tuple[float | None, float]:
    """Return the rate of descent, in the middle of some intervals, and how far it is off."""
    found, paid, biased = [], 0.0, history.output_bias is not None
    for place in np.argsort(-changes).tolist():
        steps = int(history.steps[place + 1] - history.steps[place])
        paid += 20 * steps * history.hidden * x.size * 2
        known = len(found) == _INTERVALS or (found and found[-1][1] < _SAME)  # plain descent
        if known or (found and paid > _MOST_COST) or not changes[place]:
            break
        ends = _units(history, place), _units(history, place + 1)
        down = partial(_down, x=x, y=y, biased=biased)
        far = paid > _MOST_COST
        measured = (_along if far else _descended)(*ends, steps, down)
        if measured is not None:
            found.append(measured)
    if not found:
        return None, 1.0
    rates, off = np.array(found).T
    return float(np.median(rates)), float(np.median(off))


def _along(
    begin: np.ndarray, end: np.ndarray, steps: int, down: Callable[[np.ndarray], np.ndarray]
) -> tuple[float, float] | None:
    """Return the same from the gradients at both looks alone, where descent takes too long."""
    change, mean = end - begin, (down(begin) + down(end)) / 2
    size = np.linalg.norm(mean) or np.inf
    along = float(np.vdot(change, mean) / size)
    off = float(np.sqrt(max(0.0, 1 - np.square(along) / np.square(change).sum())))
    return (along / (steps * float(size)), off) if along > 0 else None


@np.errstate(over="ignore", invalid="ignore")  # where a rate that is tried diverges
def _descended(
    begin: np.ndarray, end: np.ndarray, steps: int, down: Callable[[np.ndarray], np.ndarray]
) -> tuple[float, float] | None:
    """Return the rate between two looks and how far it is off; None where nothing descends."""
    change = end - begin
    size = np.vdot(change, change)

    def after(rate: float) -> np.ndarray:
        units = begin
        for _ in range(steps):
            units = units + rate * down(units)
        return units

    def beyond(logarithm: float) -> float:
        reached = np.vdot(after(float(np.exp(logarithm))) - begin, change) / size - 1
        return reached if np.isfinite(reached) else 1.0  # it diverges

    ends = np.linalg.norm(down(begin) + down(end))
    if not ends:
        return None
    guess = 2 * np.sqrt(size) / (steps * ends)
    for factor in _FACTORS:
        low, high = float(np.log(guess / factor)), float(np.log(guess * factor))
        if beyond(low) < 0 < beyond(high):
            break
    else:
        return None
    rate = float(np.exp(brentq(beyond, low, high, xtol=1e-6)))  # type: ignore[arg-type]
    off = float(np.linalg.norm(after(rate) - end) / np.sqrt(size))
    return (rate, off) if off < _OFF else None


def _check_losses(found: Recorded) -> None:
    """Refuse losses of another convention, or of other data.

    Raises:
        InputError: They are not those of the weights.
    """
    given = found.given
    if given is None or _far(given, found.losses) <= _SAME + 4 * found.spread:
        return
    ratio = float(given @ found.losses / (found.losses @ found.losses))
    outputs, samples = found.targets.shape
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
            "was trained on, scaled as it saw them, and squared losses of the same steps, not of "
            "mini-batches; or leave losses out"
        )
    raise InputError(msg)


def _far(given: np.ndarray, losses: np.ndarray) -> float:
    return float(np.abs(given - losses).max() / losses[0])
