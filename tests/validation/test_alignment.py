"""Alignment of matrices whose singular subspaces are known."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.experiment.aligned import measure_alignment

RNG = np.random.default_rng(4)
U = np.linalg.qr(RNG.standard_normal((6, 3)))[0]
V = np.linalg.qr(RNG.standard_normal((5, 3)))[0]

# Cosines of vectors that agree to rounding: 1 − cos is quadratic in the error, singular vectors
# carry a few times machine epsilon over their gap.
EXACT = 1e-12


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_aligned_map_in_any_order_of_strength():
    for strengths in ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [2.0, 3.0, 1.0]):
        found = measure_alignment((U * strengths) @ V.T, U, V)
        np.testing.assert_allclose(found.left, 1, atol=EXACT)
        np.testing.assert_allclose(found.right, 1, atol=EXACT)
        np.testing.assert_allclose(found.strength, strengths, rtol=1e-12)
        assert found.outside < 1e-30  # squares of rounding


def test_degenerate_modes_are_compared_as_a_span():
    # Equal singular values: a network may hold any rotation of the pair, in both bases alike.
    maps = (U * [2.0, 2.0, 1.0]) @ V.T
    found = measure_alignment(maps, U, V, groups=[[0, 1], [2]])
    np.testing.assert_allclose(found.left, 1, atol=EXACT)
    np.testing.assert_allclose(found.right, 1, atol=EXACT)
    np.testing.assert_allclose(found.strength, [2, 1], rtol=1e-12)


def test_share_outside_the_span():
    outside_u = np.linalg.qr(np.column_stack([U, RNG.standard_normal((6, 3))]))[0][:, 3]
    maps = (U * [3.0, 2.0, 1.0]) @ V.T + 2.0 * np.outer(outside_u, V[:, 0])
    found = measure_alignment(maps, U, V)
    # 2² of 3² + 2² + 1² + 2².
    assert found.outside == pytest.approx(4 / 18, rel=1e-12)
    # Left vectors of the first mode turn by atan(2/3) towards the outside.
    assert found.left[0] == pytest.approx(3 / np.sqrt(13), rel=1e-12)
    both = measure_alignment(np.outer(outside_u, V[:, 0]), U, V)
    assert both.outside == pytest.approx(1.0, rel=1e-12)


def test_modes_that_are_not_there_are_left_out():
    """Of three modes one is not learned, and of two equal ones any one direction is."""
    turned = U[:, :2] @ np.array([0.6, 0.8])
    across = V[:, :2] @ np.array([0.6, 0.8])
    one = 2.0 * np.outer(turned, across)
    whole = measure_alignment(one, U, V, [[0, 1], [2]])
    assert whole.left.tolist() == [0, 0]
    found = measure_alignment(one, U, V, [[0, 1], [2]], counts=[1, 0])
    assert found.left[0] == pytest.approx(1)
    assert found.right[0] == pytest.approx(1)
    assert np.isnan(found.left[1])
    assert found.strength[0] == pytest.approx(2)
    # The third, stronger than the half of the pair, takes the first singular vector.
    more = one + 3.0 * np.outer(U[:, 2], V[:, 2])
    np.testing.assert_allclose(measure_alignment(more, U, V, [[0, 1], [2]], [1, 1]).left, [1, 1])
