"""Symmetric data: detected exactly, and half of the samples are half of the sums."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

import symreln as sr
from symreln.dynamics.solutions import odd_relu
from symreln.dynamics.two_layer import strength_float
from symreln.exact.matrix import ExactMatrix
from tests.strategies import seeds


def sparse(rows) -> ExactMatrix:
    return ExactMatrix.from_rows(rows)


def closed_data(random: Random):
    samples = [
        (
            [Fraction(random.randint(-3, 3), 2) for _ in range(3)],
            [Fraction(random.randint(-3, 3), 3)],
        )
        for _ in range(random.randint(1, 6))
    ]
    samples += [([-x for x in a], [-y for y in b]) for a, b in samples]
    random.shuffle(samples)
    return samples


def matrices(samples):
    return (
        sparse([list(row) for row in zip(*part, strict=True)])
        for part in zip(*samples, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_symmetry_is_found_and_half_of_the_samples_are_half_of_the_sums(seed):
    random = Random(seed)
    samples = closed_data(random)
    assert odd_relu.odd_symmetry(*matrices(samples)).holds
    # The lemma of the module, exactly: any odd error, any neuron with no sample on its border.
    w = [Fraction(random.randint(-99, 99), 97) + Fraction(1, 89) for _ in range(3)]
    m = [Fraction(random.randint(-9, 9)) for _ in range(3)]

    def total(chosen):
        sums = [Fraction(0)] * 3
        for x, (y,) in chosen:
            error = y - sum(a * b for a, b in zip(m, x, strict=True))
            sums = [value + error * entry for value, entry in zip(sums, x, strict=True)]
        return sums

    active = [z for z in samples if sum(a * b for a, b in zip(w, z[0], strict=True)) > 0]
    border = [
        z for z in samples if sum(a * b for a, b in zip(w, z[0], strict=True)) == 0 and any(z[0])
    ]
    if not border:
        assert [2 * value for value in total(active)] == total(samples)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_one_changed_target_is_noticed(seed):
    random = Random(seed)
    samples = closed_data(random)
    place = random.randrange(len(samples))
    x, (y,) = samples[place]
    samples[place] = (x, [y + Fraction(1, 1000)])
    found = odd_relu.odd_symmetry(*matrices(samples))
    assert not found.holds
    assert found.witness is not None
    assert "not closed" in found.reason


def test_an_input_of_zero_needs_a_target_of_zero():
    assert odd_relu.odd_symmetry(sparse([[0]]), sparse([[0]])).holds
    assert not odd_relu.odd_symmetry(sparse([[0]]), sparse([[1]])).holds


def test_parameters_are_free_symbols():
    spec = sr.load(
        {
            "dataset": {"X": [["g", "-g"]], "Y": [["1/g", "-1/g"]]},
            "parameters": {"g": {"positive": True}},
            "pathway": [{"name": "whole"}],
        }
    )
    assert odd_relu.odd_symmetry(spec.dataset.inputs, spec.dataset.targets).holds
    xor = sr.load("xor").dataset
    assert not odd_relu.odd_symmetry(xor.inputs, xor.targets).holds


def test_reduction_and_a_wrong_one(monkeypatch):
    assert odd_relu.reduction_residual() == 0
    monkeypatch.setattr(odd_relu, "SLOWER", 1)
    assert odd_relu.reduction_residual.__wrapped__() != 0


def test_a_relu_network_of_pairs_learns_at_half_speed():
    # Full-batch gradient descent of a ReLU network itself, white inputs, one mode.
    rng = np.random.default_rng(0)
    half = rng.normal(size=(2, 40))
    x = np.hstack([half, -half])
    left, _, right = np.linalg.svd(x, full_matrices=False)
    x = left @ right * np.sqrt(x.shape[1])  # Sigma^x = 1, still closed under x -> -x
    u = np.array([0.6, 0.8])
    y = 2.0 * (u @ x)[None]
    w, b = 1e-2 * u[None].repeat(4, 0), np.full((1, 4), 1e-2)
    w, b = np.vstack([w, -w]), np.hstack([b, -b])
    start = float((b @ w @ u)[0]) / 2
    rate, steps, p = 1e-3, 4200, x.shape[1]
    for _ in range(steps):
        z = w @ x
        error = y - b @ np.maximum(z, 0)
        w, b = (
            w + rate * (b.T @ error * (z > 0)) @ x.T / p,
            b + rate * error @ np.maximum(z, 0).T / p,
        )
    found = float((b @ w @ u)[0]) / 2
    expected = float(strength_float(2.0, 1.0, start, steps, odd_relu.SLOWER / rate))
    assert 0.1 < expected < 1.9  # in the rise
    assert found == pytest.approx(expected, rel=0.02)


def test_matches():
    def yes():
        return odd_relu.OddSymmetry(holds=True, reason="closed")

    def no():
        return odd_relu.OddSymmetry(holds=False, reason="sample 0")

    def unasked():
        raise AssertionError

    assert odd_relu.matches(activation="relu", symmetry=yes, single_open_pathway=True)[0]
    for activation, symmetry, single in (
        ("linear", unasked, True),
        ("relu", no, True),
        ("relu", unasked, False),
    ):
        found, why = odd_relu.matches(
            activation=activation, symmetry=symmetry, single_open_pathway=single
        )
        assert not found
        assert why
