"""Metrics on curves whose distances can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.experiment.metrics import GateDrift, SeedFloor, compare, drop_time


def test_metrics_by_hand():
    a = np.array([2.0, 1.9, 1.0, 0.8, 0.4, 0.2, 0.1, 0.01])
    b = np.array([2.0, 1.7, 1.2, 0.8, 0.4, 0.2, 1.0, 0.001])
    found = compare(a, b)
    assert found.max_abs_over_initial == pytest.approx(0.9 / 2, rel=1e-15)
    assert found.mean_abs_over_initial == pytest.approx(
        (0.2 + 0.2 + 0.9 + 0.009) / 8 / 2, rel=1e-15
    )
    # 0.9 L(0) is 1.8: A is below at step 2, B at step 1.
    assert found.drop_time_error_steps == 1
    assert compare(b, a).drop_time_error_steps == -1
    # Last quarter: steps 6 and 7, log10 ratios -1 and +1.
    assert found.log10_tail_rms == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize(
    ("steps", "tail"), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (7, 2), (8, 2), (8001, 2001)]
)
def test_tail_is_the_last_quarter(steps, tail):
    # One decade apart in the tail, equal before: the mean square tells how long the tail is.
    b = np.ones(steps)
    a = b.copy()
    a[steps - tail] = 10.0
    assert compare(a, b).log10_tail_rms == pytest.approx(np.sqrt(1 / tail), rel=1e-12)
    if tail < steps:
        a = b.copy()
        a[steps - tail - 1] = 10.0
        assert compare(a, b).log10_tail_rms == 0


def test_drop_time():
    assert drop_time(np.array([1.0, 0.9, 0.89])) == 2  # strictly below
    assert drop_time(np.array([1.0, 0.95, 1.5])) is None
    assert drop_time(np.array([0.0, 0.0])) is None
    flat, falling = np.ones(3), np.array([1.0, 0.5, 0.4])
    for pair in ((flat, falling), (falling, flat), (flat, flat)):
        assert compare(*pair).drop_time_error_steps is None


def test_seed_floor_leaves_the_seed_out():
    losses = np.array([[4.0, 4.0, 2.0, 1.0], [4.0, 2.0, 2.0, 1.0], [4.0, 3.0, 2.0, 10.0]])
    floor = SeedFloor.of(losses)
    assert floor is not None
    # Means of the others: (2.5, 2, 5.5), (3.5, 2, 5.5), (3, 2, 1).
    maxima = np.array([4.5, 4.5, 9.0]) / 4
    means = np.array([1.5 + 4.5, 1.5 + 4.5, 9.0]) / 4 / 4
    tails = np.log10([5.5, 5.5, 10.0])
    # Drops (below 3.6): seeds at 2, 1, 1; the others' means at 1, 1, 1.
    for found, over in ((floor.mean, np.mean), (floor.maximum, np.max)):
        assert found.max_abs_over_initial == pytest.approx(over(maxima), rel=1e-14)
        assert found.mean_abs_over_initial == pytest.approx(over(means), rel=1e-14)
        assert found.log10_tail_rms == pytest.approx(over(tails), rel=1e-14)
        assert found.drop_time_error_steps == pytest.approx(over([1, 0, 0]), rel=1e-14)


def test_gate_drift_by_hand():
    # One seed, three snapshots, two units, four samples.
    activity = np.array(
        [
            [
                [[1, 0, 0, 0], [1, 1, 1, 1]],
                [[1, 1, 0, 0], [1, 1, 1, 0]],
                [[1, 1, 1, 1], [1, 1, 1, 0]],
            ]
        ],
        dtype=bool,
    )
    contribution = np.array([[[3.0, 1.0], [1.0, 3.0], [1.0, 1.0]]])
    losses = np.array([[1.0] * 10 + [0.5] * 91])  # drops at step 10
    drift = GateDrift.of(activity, contribution, (0, 10, 100), losses)
    # Unit 1 differs from the end on 3, 2, 0 of 4 samples; unit 2 on 1, 0, 0.
    expected = [(3 * 3 / 4 + 1 / 4) / 4, (2 / 4) / 4, 0]
    np.testing.assert_allclose(drift.share, [expected], rtol=1e-15)
    np.testing.assert_allclose(drift.mean, expected, rtol=1e-15)
    assert drift.max_after_drop == pytest.approx(expected[1], rel=1e-15)
    late = GateDrift.of(activity, contribution, (0, 9, 100), losses)
    assert late.max_after_drop == 0
    flat = GateDrift.of(activity, contribution, (0, 9, 100), np.ones((1, 101)))
    assert flat.max_after_drop is None
