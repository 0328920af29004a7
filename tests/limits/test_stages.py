"""What later stages learn, by projection: against plateaus, and against the exact projection."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symreln as sr
from symreln.exact.sparse import SparseMatrix
from symreln.limits import projecting
from symreln.limits.projecting import leftover, squared
from symreln.limits.stages import first_orbits, orbits
from symreln.network.effective import effective_dataset
from symreln.network.targets import Targets
from symreln.verdict.residual import converged_outputs

STAGED = ["contextual-3", "contextual-different", "contextual-3-modular"]


def spec_of(x, y, pathways):
    """Return a spec with matrices of numbers and (gate, outputs, stage) of every pathway."""
    tables = {
        "title": "own",
        "dataset": {
            "X": [[str(value) for value in row] for row in x],
            "Y": [[str(value) for value in row] for row in y],
        },
        "pathway": [
            {"name": f"p{n}", "gate": gate, "outputs": outputs, "stage": stage}
            for n, (gate, outputs, stage) in enumerate(pathways)
        ],
    }
    return sr.load(tables)


def structureless(seed, inputs, samples):
    chance = random.Random(seed)
    x, y = (
        [[chance.randint(-9, 9) for _ in range(samples)] for _ in range(rows)]
        for rows in (inputs, 3)
    )
    half = [int(k < samples // 2) for k in range(samples)]
    other = [1 - value for value in half]
    stages = [("all", [0, 1], 1), (half, "all", 1), (half, "all", 2), (other, [1, 2], 3)]
    return spec_of(x, y, stages)


def exact_orbits(spec):
    """Return the correlations of every pathway by exact projections, number by number."""
    goal, found = Targets.of(spec.dataset.sparse_targets), {}
    for stage in spec.stages:
        members = {
            number: effective_dataset(spec.dataset, pathway, goal)
            for number, pathway in enumerate(spec.pathways, start=1)
            if pathway.stage == stage
        }
        found |= members
        outputs = SparseMatrix.from_exact(converged_outputs(goal, tuple(members.values())))
        goal = Targets(start=(goal.matrix - outputs).reduced())
    return found


@pytest.mark.parametrize("name", STAGED)
def test_the_second_route_to_later_stages_gives_their_correlations(name):
    derivation = sr.derive(sr.load(name)).at_values
    seen = set()
    for orbit in orbits(derivation.spec):
        assert orbit.error == 0
        first = derivation.pathways[orbit.numbers[0] - 1]
        assert orbit.first.sigma_yx == first.effective.sigma_yx
        assert orbit.first.sigma_x == first.effective.sigma_x
        for number in orbit.numbers:
            modes = derivation.pathways[number - 1].spectrum.modes
            assert [(m.s, m.d, m.multiplicity) for m in modes] == [
                (m.s, m.d, m.multiplicity) for m in first.spectrum.modes
            ]
        assert seen.isdisjoint(orbit.numbers)
        seen |= set(orbit.numbers)
    assert seen == set(range(1, len(derivation.pathways) + 1))


def test_pathways_that_are_alike_are_worked_on_once():
    found = [orbit.numbers for orbit in orbits(sr.load("contextual-3").at_values())]
    assert found == [(1,), (2, 3, 4)]
    assert [orbit.numbers for orbit in first_orbits(sr.load("contextual-3"))] == [(1,)]


@pytest.mark.parametrize("inputs", [3, 6, 9])
@pytest.mark.parametrize("dense", [0, 700])
def test_masks_gates_and_three_stages_leave_the_exact_projection(inputs, dense, monkeypatch):
    """With more inputs than a half has samples, and (9) dependent features."""
    monkeypatch.setattr(projecting, "MOST_DENSE", dense)
    spec = structureless(inputs, inputs, 8)
    expected = exact_orbits(spec)
    for orbit in orbits(spec):
        assert orbit.error == 0
        for number in orbit.numbers:
            sigma_yx = expected[number].sigma_yx
            assert orbit.first.sigma_yx == sigma_yx
            assert squared(orbit.first) == sigma_yx.T @ sigma_yx


@pytest.mark.parametrize("inputs", [3, 6, 9])
def test_an_inverse_from_floats_leaves_it_within_the_distance(inputs, monkeypatch):
    monkeypatch.setattr(projecting, "QUICK_BITS", -1)
    spec = structureless(inputs, inputs, 8)
    expected = exact_orbits(spec)
    later = [orbit for orbit in orbits(spec) if min(orbit.numbers) > 2]
    assert later
    for orbit in later:
        for number in orbit.numbers:
            off = orbit.first.sparse_sigma_yx - expected[number].sparse_sigma_yx
            distance = off.frobenius(off).to_fraction()
            assert distance <= orbit.error * orbit.error
            # Rough boxes have 12 digits; the 9 inputs have a condition number of 2e11.
            assert 0 < orbit.error < Fraction(1, 10**12)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), min_size=2, max_size=4),
    st.integers(2, 12),
)
def test_a_poor_inverse_widens_the_distance_and_nothing_else(rows, bits):
    """However far the proposed inverse is off, the true residual lies within what is claimed."""
    spec = spec_of(rows, [[1, -2, 3, 0, 1], [0, 1, 1, 2, -1]], [("all", "all", 1)])
    goal = Targets.of(spec.dataset.sparse_targets)
    stage = (effective_dataset(spec.dataset, spec.pathways[0], goal),)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projecting, "QUICK_BITS", -1)
        patch.setattr(projecting, "MOST_STEPS", 1)
        patch.setattr(projecting, "NEAR_ENOUGH", Fraction(1, 2))
        patch.setattr(np.linalg, "inv", lambda a, known=np.linalg.inv: known(a) * (1 - 2.0**-bits))
        near, error = leftover(goal, stage)
    exact = goal.matrix - SparseMatrix.from_exact(converged_outputs(goal, stage))
    off = near.matrix - exact
    assert off.frobenius(off).to_fraction() <= error * error
    assert error < 40


def test_nearly_dependent_features_are_inverted_exactly(monkeypatch):
    monkeypatch.setattr(projecting, "QUICK_BITS", -1)
    tiny = Fraction(1, 10**30)
    spec = spec_of([[1, 2, 3], [1, 2, 3 + tiny]], [[1, 1, -1]], [("all", "all", 1)])
    goal = Targets.of(spec.dataset.sparse_targets)
    stage = (effective_dataset(spec.dataset, spec.pathways[0], goal),)
    near, error = leftover(goal, stage)
    assert error == 0
    assert near.matrix == goal.matrix - SparseMatrix.from_exact(converged_outputs(goal, stage))


def test_data_beyond_floats_are_refused(monkeypatch):
    monkeypatch.setattr(projecting, "QUICK_BITS", -1)
    spec = spec_of([[10**400, 1]], [[1, 1]], [("all", "all", 1)])
    goal = Targets.of(spec.dataset.sparse_targets)
    stage = (effective_dataset(spec.dataset, spec.pathways[0], goal),)
    with pytest.raises(ArithmeticError):
        leftover(goal, stage)


def test_features_that_only_a_prime_holds_dependent_are_found_out(monkeypatch):
    """Independence modulo a prime is a proof, dependence a guess."""
    monkeypatch.setattr(projecting, "MOST_DENSE", 0)
    monkeypatch.setattr(projecting, "independent_rows", lambda _: [0])
    spec = spec_of([[1, 2, 3], [1, 2, 4], [2, 4, 6]], [[1, 1, -1]], [("all", "all", 1)])
    goal = Targets.of(spec.dataset.sparse_targets)
    stage = (effective_dataset(spec.dataset, spec.pathways[0], goal),)
    with pytest.raises(ArithmeticError, match="not over Q"):
        leftover(goal, stage)
