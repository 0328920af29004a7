"""Bounds of the growth rate over cones: they hold, they bite, and they find what all faces say."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from symreln.exact.matrix import ExactMatrix
from symreln.gating import arrangement
from symreln.gating import cone_bounds as bounds
from symreln.gating.cone_bounds import _cone_bounds, none_faster
from symreln.gating.enumerate import enumerate_gates
from symreln.gating.search import search
from symreln.gating.serialise import number_text
from symreln.networks.orbits import sample_group
from tests.gating.test_partial import residual_of


def random_matrix(rng: Random, rows: int, columns: int) -> ExactMatrix:
    return ExactMatrix.from_rows(
        [[rng.randint(-4, 4) for _ in range(columns)] for _ in range(rows)]
    )


def decided(inputs: ExactMatrix, residual: ExactMatrix, rate: float) -> bool:
    group = sample_group(inputs, residual)
    found = enumerate_gates(inputs)
    chosen = found.gates[[orbit.place for orbit in found.orbits(group)]]
    return none_faster(inputs.to_numpy(), residual.to_numpy(), chosen, rate, group)


@pytest.mark.parametrize("seed", range(12))
def test_the_rate_of_the_winner_is_the_largest_and_no_smaller_one_is(seed: int) -> None:
    rng = Random(seed)
    inputs, residual = random_matrix(rng, 3, 7), random_matrix(rng, rng.choice([1, 2]), 7)
    found = search(inputs, residual)
    assert found.complete
    fastest = float(found.candidates[0].s)
    assert decided(inputs, residual, fastest)
    assert not decided(inputs, residual, fastest * (1 - 1e-6))


def test_symmetric_data_with_a_partial_winner(monkeypatch) -> None:
    """Leading singular values of many gates are above the winner's, and equal among themselves."""
    inputs, residual = residual_of(3, 4)
    monkeypatch.setattr(arrangement, "MOST_CHOICES", 10)
    found = search(inputs, residual)
    assert (found.complete, found.proven) == (False, True)
    assert found.candidates[0].kind == "partial"
    assert found.bound is not None
    assert found.bound > 1.5 * float(found.candidates[0].s)
    assert not decided(inputs, residual, float(found.candidates[0].s) * (1 - 1e-6))


def test_too_many_faces_are_no_proof(monkeypatch) -> None:
    inputs, residual = residual_of(3, 4)
    monkeypatch.setattr(arrangement, "MOST_CHOICES", 10)
    monkeypatch.setattr(bounds, "MOST_FACES", 3)
    found = search(inputs, residual)
    assert not found.proven
    assert "a faster partial gate may exist" in found.told


def test_bounds_hold_over_the_cones_and_are_below_the_norm_where_they_can_be() -> None:
    random = np.random.default_rng(5)
    sigma = random.standard_normal((40, 3, 4))
    sigma /= np.linalg.norm(sigma, 2, axis=(1, 2))[:, None, None]
    inside = random.standard_normal((40, 4))
    sides = random.standard_normal((40, 7, 4))
    sides *= np.sign(np.einsum("fml,fl->fm", sides, inside))[:, :, None]
    found = _cone_bounds(sigma, sides, np.zeros(40))
    seen = np.zeros(40)
    for _ in range(4000):
        w = inside + random.standard_normal((40, 4))
        within = (np.einsum("fml,fl->fm", sides, w) >= 0).all(axis=1)
        rates = np.linalg.norm(np.einsum("fyl,fl->fy", sigma, w), axis=1)
        seen = np.where(within, np.maximum(seen, rates / np.linalg.norm(w, axis=1)), seen)
    assert (seen <= found + 1e-9).all()
    # Most of these cones are small, and nearly all bounds are what is seen in them.
    assert np.median(found / np.maximum(seen, 1e-3)) < 1.1
    assert (found < 0.9).sum() > 15


SIZES = [Fraction(10) ** 400, Fraction(1), Fraction(10) ** -250, Fraction(10) ** 120]


@pytest.mark.parametrize("asked", [True, False], ids=["all faces", "bounds"])
def test_the_sizes_of_samples_change_no_gate(monkeypatch, asked: bool) -> None:
    """x·c and r/c leave all rates: no entry needs to fit into float64."""
    rng = Random(3)
    inputs, residual = random_matrix(rng, 3, 6), random_matrix(rng, 2, 6)
    sizes = [SIZES[n % len(SIZES)] for n in range(6)]
    larger = [[v * c for v, c in zip(row, sizes, strict=True)] for row in inputs.to_fractions()]
    over = [[7 * v / c for v, c in zip(row, sizes, strict=True)] for row in residual.to_fractions()]
    if not asked:
        monkeypatch.setattr(arrangement, "MOST_CHOICES", 0)
    expected = search(inputs, residual)
    found = search(ExactMatrix.from_rows(larger), ExactMatrix.from_rows(over))
    assert (expected.complete, expected.proven) == (asked, True)
    assert (found.complete, found.proven) == (asked, True)
    assert found.winners == expected.winners
    assert float(found.candidates[0].s) == pytest.approx(7 * float(expected.candidates[0].s))
    assert found.bound == pytest.approx(7 * (expected.bound or 0))


def test_a_rate_beyond_float64_is_found_and_written() -> None:
    inputs = ExactMatrix.from_rows([[Fraction(10) ** 400, 2], [3, 1]])
    found = search(inputs, ExactMatrix.from_rows([[1, 2]]))
    assert found.winners == ((1, 1),)
    assert found.bound is None
    assert number_text(found.candidates[0].s) == "5.00000e+399"
