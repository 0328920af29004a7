"""Alignment of maps whose singular subspaces are known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import symreln as sr
from symreln.claims.probes import probe_bases
from symreln.experiment.aligned import gdln_alignment
from tests.cases import derived

# Cosines of vectors that agree to rounding: 1 − cos is quadratic in the error, singular vectors
# carry a few times machine epsilon over their gap.
EXACT = 1e-12


@pytest.fixture(scope="module")
def numbers() -> sr.Derivation:
    """A binary tree of 8 items: modes of multiplicity 1, 1, 2 and 4."""
    return derived("linear-hierarchy").at_values


def aligned(numbers, *maps):
    run = SimpleNamespace(snapshots={"maps": np.array(maps)[:, None, None]})
    (found,) = gdln_alignment(numbers, run)
    return found


def turned(size):
    return np.linalg.qr(np.random.default_rng(4).standard_normal((size, size)))[0]


def test_aligned_maps_in_any_order_of_strength_and_any_rotation_of_equal_modes(numbers):
    u, v, labels = probe_bases(numbers.pathways[0])
    names = list(dict.fromkeys(labels))
    maps = []
    for strengths in ([1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 2.0, 3.0]):
        core = np.diag([strengths[names.index(label)] for label in labels])
        for name in names:
            own = [place for place, label in enumerate(labels) if label == name]
            core[np.ix_(own, own)] @= turned(len(own))
        maps.append(u @ core @ v.T)
    found = aligned(numbers, *maps)
    assert found.modes == tuple(names)
    np.testing.assert_allclose([found.left, found.right], 1, atol=EXACT)
    assert found.outside < 1e-28  # squares of rounding


def test_a_mode_that_is_not_there_and_a_share_outside_of_the_span(numbers):
    u, v, _ = probe_bases(numbers.pathways[0])
    strongest = np.outer(u[:, 0], v[:, 0])
    rest = np.eye(len(u)) - u @ u.T
    away = rest[:, 0] / np.linalg.norm(rest[:, 0])
    found = aligned(numbers, 3.0 * strongest + 2.0 * np.outer(away, v[:, 0]))
    # Left vectors turn by atan(2/3) towards the outside, with 2² of 3² + 2² there.
    assert found.left[0] == pytest.approx(3 / np.sqrt(13), rel=1e-12)
    assert found.right[0] == pytest.approx(1)
    assert (found.left[1:], found.right[1:]) == ((0.0,) * 3, (0.0,) * 3)
    assert found.outside == pytest.approx(4 / 13, rel=1e-12)
