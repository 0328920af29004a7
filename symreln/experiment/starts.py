"""With what strength a stage's pathways would have to start for theory to be where training is.

The first stage's start is measured: while a loss has fallen by no more than 2 % every mode still
grows by itself, and networks that are late or early by some steps, falling at the predicted rate,
start as much weaker or stronger. Networks that fall at another rate have no such start.

That of a later stage is fitted, one number to a whole loss curve. It says what a start alone can
explain, and enters no prediction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from symreln.errors import NotSupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Shares of the first loss that it has fallen by where the start is read off.
EARLY = (0.005, 0.02)
#: Largest difference of the rates of fall, measured and predicted, of one start.
_SAME_RATE = 0.1
#: Largest power of ten that is tried as a factor, either way, in which strides, and how finely the
#: best is found: a distance falls towards it from both sides.
MOST_DECADES, STRIDE, DECADES = 16, 2, 0.02


def measured_start(theory: np.ndarray, trained: np.ndarray) -> float:
    """Return how many times as strong as predicted the first modes start.

    Args:
        theory: The predicted loss, shape (steps,).
        trained: The measured one.

    Raises:
        NotSupportedError: The loss does not fall so far, or at another rate.
    """
    predicted, measured = _falls(theory), _falls(trained)
    if predicted is None or measured is None:
        msg = f"no loss has fallen by {EARLY[1]:.0%} for the start to be read off"
        raise NotSupportedError(msg)
    rate = np.log(EARLY[1] / EARLY[0]) / np.diff(predicted)[0]
    faster = float(np.diff(predicted)[0] / np.diff(measured)[0])
    if abs(faster - 1) > _SAME_RATE:
        msg = (
            f"the networks' loss begins to fall {faster:.2g} times as fast as predicted, which no "
            "start changes"
        )
        raise NotSupportedError(msg)
    return float(np.exp(rate * (predicted - measured).mean()))


def _falls(loss: np.ndarray) -> np.ndarray | None:
    """Return when a loss has fallen by each share of :data:`EARLY`, or None."""
    fallen = 1 - loss / loss[0]
    times = []
    for share in EARLY:
        place = int(np.argmax(fallen >= share))
        if place == 0 or fallen[place] <= fallen[place - 1]:
            return None
        before, after = fallen[place - 1], fallen[place]
        times.append(place - 1 + (share - before) / (after - before))
    return np.array(times) if times[1] > times[0] else None


def fitted_start(distance: Callable[[float], float]) -> float:
    """Return the factor of the start that leaves the smallest distance.

    Args:
        distance: What a factor leaves.
    """
    known: dict[int, float] = {}

    def at(decade: int) -> float:
        if decade not in known:
            known[decade] = distance(10.0**decade)
        return known[decade]

    best = 0
    for way in (-STRIDE, STRIDE):
        while abs(best + way) <= MOST_DECADES and at(best + way) < at(best):
            best += way
    found: Any = minimize_scalar(
        lambda decade: distance(10.0**decade),
        bounds=(best - STRIDE, best + STRIDE),
        method="bounded",
        options={"xatol": DECADES},
    )
    return 10.0 ** float(found.x if found.fun < at(best) else best)
