"""Logarithmic coordinates against the factors themselves, and against a closed form."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from symreln.laws.block_flow import AffineCoupling, BlockFlow, _Angles, joined

TIMES = np.linspace(0, 12, 13)


def system(
    shapes: tuple[tuple[int, int], ...], seed: int, blocks: int | None = None
) -> AffineCoupling:
    """A random quadratic loss; its gradient is E."""
    rng = np.random.default_rng(seed)
    size = sum(a * b for a, b in shapes)
    outputs = rng.standard_normal((size, size)) / np.sqrt(size)
    targets = rng.standard_normal(size)
    return AffineCoupling(
        shapes=shapes,
        rate=2.0,
        offsets=outputs.T @ targets,
        matrix=outputs.T @ outputs,
        targets=targets,
        outputs=outputs,
        floor=0.25,
    )


@pytest.mark.parametrize("gram_scale", [0.5, 1e-4, 1e-12])
@pytest.mark.parametrize("shapes", [((1, 1),), ((3, 1), (1, 2), (1, 1)), ((1, 4), (1, 4))])
def test_vectors_are_the_flow_of_their_factors(shapes, gram_scale):
    thin, wide = system(shapes, 0), system(((2, 2),), 1)
    size = sum(a * b for a, b in shapes)
    alone = BlockFlow([thin], gram_scale, 1.0)
    # Beside a block that is no vector, all blocks are integrated as Q.
    beside = BlockFlow([thin, wide], gram_scale, 1.0)
    assert alone._groups[0].start().shape == (size,)
    found = alone.trajectory(TIMES, np.eye(size))
    both = beside.trajectory(TIMES, np.eye(size, size + 4))
    other = BlockFlow([wide], gram_scale, 1.0).trajectory(TIMES, np.zeros((0, 4)))
    wider, losses = both.strengths, found.losses + other.losses
    np.testing.assert_allclose(found.strengths, wider, atol=2e-10 * np.abs(wider).max())
    np.testing.assert_allclose(losses, both.losses, atol=2e-10 * both.losses[0])


@pytest.mark.parametrize("gram_scale", [1e-2, 1e-8, 1e-40, 1e-300])
def test_one_number_is_the_unbalanced_closed_form(gram_scale):
    """τ ẇ = 2 √(g² + w²)(s − d w): its time at a strength is an integral, done by mpmath."""
    s, d, tau = 0.75, 0.5, 3.0
    coupling = AffineCoupling(
        shapes=((1, 1),),
        rate=2 * s,
        offsets=np.array([s]),
        matrix=np.array([[d]]),
        targets=np.zeros(1),
        outputs=np.zeros((1, 1)),
        floor=0.0,
    )
    with mpmath.workdps(30):
        g = mpmath.mpf(gram_scale)
        angles = [
            mpmath.asinh(w / g) for w in (g, mpmath.mpf(s) / d / 100, mpmath.mpf(s) / d * 0.9)
        ]
        # In θ, w = g sinh θ: the integrand is 1/(2 (s − d w)).
        times = [
            tau
            * mpmath.quad(
                lambda x: 1 / (2 * (s - d * g * mpmath.sinh(x))), mpmath.linspace(0, a, 20)
            )
            for a in angles
        ]
        wanted = [float(g * mpmath.sinh(a)) for a in angles]
    grid = np.array([0.0, *(float(t) for t in times)])
    found = BlockFlow([coupling], gram_scale, tau).trajectory(grid, np.eye(1))
    np.testing.assert_allclose(found.strengths[0, 1:], wanted, rtol=1e-9)


def test_functions_of_angles_keep_their_digits():
    theta = np.concatenate([[0.0], np.geomspace(1e-200, 600, 400)])
    angles = _Angles(theta, -690.0)
    with mpmath.workdps(40):
        for x, ratio, across in zip(theta, angles.sinh_over(), angles.coth_times(), strict=True):
            exact = mpmath.mpf(float(max(x, 1e-150)))
            wanted = mpmath.exp(-690) * mpmath.sinh(exact) / exact
            assert abs(ratio / wanted - 1) < 2e-13  # the rounding of an exponent of 690
            assert abs(across / (exact / mpmath.tanh(exact / 2)) - 1) < 1e-15


def test_no_initial_weights_learn_nothing():
    found = BlockFlow([system(((3, 1),), 2)], 0.0, 1.0).trajectory(TIMES, np.eye(3))
    np.testing.assert_array_equal(found.strengths, 0)
    np.testing.assert_array_equal(found.losses, found.losses[0])


def test_nothing_to_integrate():
    found = BlockFlow([], 1e-3, 1.0).trajectory(TIMES, np.zeros((2, 0)))
    assert found.losses.tolist() == [0.0] * len(TIMES)
    assert found.strengths.shape == (2, len(TIMES))


def test_joined_systems_keep_their_order_and_their_losses():
    parts = [system(((2, 1),), 3), system(((1, 3), (1, 1)), 4)]
    rng = np.random.default_rng(5)
    maps = rng.standard_normal((6, 7))
    whole = joined(parts)
    assert whole.shapes == ((2, 1), (1, 3), (1, 1))
    np.testing.assert_allclose(
        whole.losses(maps), parts[0].losses(maps[:2]) + parts[1].losses(maps[2:]), rtol=1e-14
    )
    errors = [part.errors(m) for part, m in zip(parts, (maps[:2, 0], maps[2:, 0]), strict=True)]
    np.testing.assert_allclose(whole.errors(maps[:, 0]), np.concatenate(errors), atol=1e-14)
