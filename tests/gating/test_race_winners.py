"""The winner of the race against units that a trainer of its own follows, on random data.

For every dataset the fastest self-consistent gate, full or partial, is set beside the growth of
single ReLU units in the same frozen residual. Units are plain numpy: gradient steps on (w, b) from
random directions, rescaled to length one, their growth rate read from the logarithm of their
length. No unit may grow faster than the winner, and some unit must reach its rate; where none of
those drawn does, units start beside the winner's direction. Both may be off by ``TOLERANCE``, which
the step size leaves open.
"""

from __future__ import annotations

import numpy as np
import pytest

from symreln.exact.matrix import ExactMatrix
from symreln.gating.enumerate import RealisableGates
from symreln.gating.search import _search
from tests.gating.test_partial import number
from tests.strategies import FULL

#: Largest relative difference between the winner's rate and the growth of the fastest unit.
TOLERANCE = 0.01
#: Units, and steps in units of the inverse of the largest rate that there could be.
UNITS = 300
STEPS = ((0.1, 600), (0.02, 1500), (0.005, 1500))


def grown(x: np.ndarray, r: np.ndarray, w: np.ndarray, b: np.ndarray) -> float:
    """Return the largest growth rate of units after a while, in units of 1/tau.

    Args:
        x: X, shape (n_x, P).
        r: R, shape (n_y, P).
        w: Incoming weights, shape (units, n_x).
        b: Outgoing weights, shape (units, n_y).
    """
    count = x.shape[1]
    fastest = np.linalg.norm(x, 2) * np.linalg.norm(r, 2) / count
    rates = np.zeros(len(w))
    for length, steps in STEPS:
        step, logs = length / fastest, np.zeros(len(w))
        for k in range(steps):
            seen = w @ x
            opened = seen > 0
            moved_w = ((b @ r) * opened) @ x.T / count
            moved_b = (seen * opened) @ r.T / count
            w, b = w + step * moved_w, b + step * moved_b
            size = np.sqrt((w**2).sum(axis=1) + (b**2).sum(axis=1))
            w, b = w / size[:, None], b / size[:, None]
            if 2 * k >= steps:
                logs += np.log(size)
        rates = np.expm1(logs / (steps - (steps + 1) // 2)) / step
    return float(rates.max())


def dataset(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X and R of whole numbers: 2 to 5 inputs, 4 to 10 samples, 1 to 3 outputs."""
    random = np.random.default_rng(seed)
    n_x, count, n_y = random.integers(2, 6), random.integers(4, 11), random.integers(1, 4)
    # Small entries make samples parallel, opposite, dependent or zero.
    largest = int(random.choice([1, 2, 9]))
    x = random.integers(-largest, largest + 1, (n_x, count))
    r = random.integers(-largest, largest + 1, (n_y, count))
    return x, r


@pytest.mark.parametrize("seed", range(400 if FULL else 4))
def test_no_unit_grows_faster_than_the_winner_and_some_unit_as_fast(seed: int) -> None:
    x, r = dataset(seed)
    inputs = ExactMatrix.from_rows(x.tolist())
    found = _search(inputs, ExactMatrix.from_rows(r.tolist()), RealisableGates.of(inputs))
    assert found.complete
    scale = np.linalg.norm(x, 2) * np.linalg.norm(r, 2) / x.shape[1]
    if not scale:
        assert not found.candidates
        return
    random = np.random.default_rng(seed + 1_000_000)
    w, b = (random.standard_normal((UNITS, size)) for size in (x.shape[0], r.shape[0]))
    unit = grown(x, r, w, b)
    if not found.candidates:
        assert unit < TOLERANCE * scale
        return
    first = found.candidates[0]
    rate = float(first.s)
    if unit < rate * (1 - TOLERANCE):  # a small basin
        v = np.array([number(value) for value in first.v])
        v /= np.linalg.norm(v)
        out = r @ np.maximum(v @ x, 0)
        w = v + 0.02 * w / np.linalg.norm(w, axis=1)[:, None]
        unit = max(unit, grown(x, r, w, np.tile(out / np.linalg.norm(out), (UNITS, 1))))
    assert unit == pytest.approx(rate, rel=TOLERANCE)
