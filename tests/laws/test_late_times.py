"""Flows that have converged: an evaluation to late times ends, and is the one to early times."""

from __future__ import annotations

import time

import numpy as np
import pytest

import symreln as sr
from symreln.laws.integrate import integrate
from tests.campaigns.random_specs import varied_tables

MEETING = [[2, 1], [0, 1]]
#: Two modes of a pathway, the second thirty times slower, beside another's.
SLOW = [[30, 1, 0], [0, 10, 1], [0, 0, 1]]

CASES = {
    # inputs, targets, inputs of the pathways, init_std, learning rate, last time
    "plateaus of exactly 1": (MEETING, [3, 1], "1/100", "1/25", 1e5),
    "plateaus of 2": (MEETING, [6, 2], "1/100", "1/25", 1e5),
    "starts of 1e-22": (MEETING, [3, 1], "1/1000000000000", "1/25", 1e5),
    "a slow mode from 1e-20": (SLOW, [[30, 1], [0, 10], [0, 1]], f"1/{10**11}", "1/1000", 5e3),
    "coupled matrices": (
        [[3, 0, 1], [0, 1, 0], [1, 0, 2], [1, 1, 1]],
        [[5, 0], [0, 1], [5, 0], [3, 2]],
        "1/1000",
        "1/100",
        1e5,
    ),
}


@pytest.mark.parametrize(("inputs", "targets", "std", "rate", "last"), CASES.values(), ids=CASES)
def test_late_times_change_nothing_and_cost_nothing(inputs, targets, std, rate, last):
    pathways = [sr.pathway("A", inputs=[0]), sr.pathway("B", inputs=[*range(1, len(inputs[0]))])]
    network = sr.network(
        hidden=20, init_std=std, learning_rate=rate, steps=9, activation="linear", loss="mean"
    )
    spec = sr.spec(np.array(inputs), np.array(targets), pathways=pathways, network=network)
    derivation = sr.derive(spec)
    early = np.linspace(0, last / 100, 50)
    begun = time.process_time()
    found = derivation.evaluate([*early, last / 2, last])
    # 20 s and more, or without end, when every step up to the last time was taken.
    assert time.process_time() - begun < 8
    whole = derivation.evaluate(early)
    np.testing.assert_allclose(found.loss[:-2], whole.loss, rtol=0, atol=1e-9 * whole.loss[0])
    for late, soon in zip(found.modes, whole.modes, strict=True):
        for name in ("integrated", "closed"):
            curve, other = getattr(late, name), getattr(soon, name)
            if other is not None:
                np.testing.assert_allclose(curve[:-2], other, rtol=0, atol=1e-9 * other.max())
                if last > 1e4:  # it has converged
                    assert curve[-1] == pytest.approx(curve[-2], rel=1e-9)


def test_slow_modes_beside_fast_ones_cost_no_more_than_they_move():
    """One mode of two coupled pathways relaxes 20 000 times as slow as others.

    Explicit steps to the time at which it has took over a minute; to 1000 steps they are few.
    """
    derivation, early = sr.derive(sr.load(varied_tables(911307))), [0.0, 30.0, 1000.0]
    whole = derivation.evaluate(early)
    begun = time.process_time()
    found = derivation.evaluate([*early, 1e4, 1e5, 1e6])
    assert time.process_time() - begun < 15
    np.testing.assert_allclose(found.loss[:3], whole.loss, rtol=0, atol=1e-9 * whole.loss[0])
    for late, soon in zip(found.modes, whole.modes, strict=True):
        np.testing.assert_allclose(late.integrated[:3], soon.integrated, rtol=1e-9)
        assert late.integrated[-1] == pytest.approx(late.integrated[-2], rel=1e-9)
    # Explicit steps of 1e-12, 11 s of them, come to this value.
    assert found.loss[3] == pytest.approx(1.13375996e-4 * found.loss[0], rel=1e-8)


def _saddle(_: float, y: np.ndarray) -> np.ndarray:
    """A mode relaxes at once; one grows by e in 1/0.03 and lowers it: dx = 1 − x − z, dz = …."""
    return np.array([1 - y[0] - y[1], 0.03 * y[1] * (1 - 2 * y[1])])


@pytest.mark.parametrize("start", [1e-12, 1e-16, 1e-40])
def test_a_mode_that_has_still_to_grow_is_waited_for(start):
    # To 1e-12 the state rests at x = 1 for hundreds of relaxation times.
    times = np.linspace(0, 8_000, 101)
    states = np.hstack([v for _, v in integrate(_saddle, np.array([0.0, start]), times, 1.0)])
    growth = np.log(start) + 0.03 * times
    exact = 1 / (2 + np.exp(-growth) * (1 - 2 * start))
    np.testing.assert_allclose(states[1], exact, rtol=0, atol=1e-9)
    np.testing.assert_allclose(states[0, -1], 0.5, rtol=1e-9)
