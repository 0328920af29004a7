"""The mean-field simulation, against the trainer and against symmetries by force."""

from __future__ import annotations

import os
import signal
import threading
import time
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.laws import mean_field as module
from symreln.laws.gate_classes import (
    _LISTED,
    _colour_bits,
    gate_classes,
    gate_names,
    sample_relations,
)
from symreln.laws.mean_field import (
    Descent,
    _Ensemble,
    look_steps,
    simulate_mean_field,
)
from symreln.networks.orbits import relations_of
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights

XOR = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [0.5, -0.5, -0.5, 0.5]])
LABELS = np.array([[1.0, -1.0, -1.0, 1.0], [2.0, -2.0, -2.0, 2.0]])


def descent(**changes) -> Descent:
    values = {"hidden": 50, "init_std": (0.01, 0.02), "step": 0.05, "steps": 300, **changes}
    return Descent(**values)


@pytest.mark.parametrize("decay", [0.0, 0.03])
def test_the_units_do_what_the_trainer_does_from_the_same_weights(monkeypatch, decay):
    monkeypatch.setattr(module, "UNITS", 60)
    asked = descent(weight_decay=decay)
    units = _Ensemble(XOR, LABELS, asked, np.random.default_rng(3))
    basis = module.orthonormal_span(LABELS)
    start = LayerWeights(
        w1=units._particles.first[None].copy(), w2=(basis @ units._particles.second)[None]
    )
    settings = TrainingSettings(
        hidden=len(units._particles.first),
        init_std=1.0,
        learning_rate=asked.step,
        loss="mean",
        steps=asked.steps,
        weight_decay=decay,
    )
    trained = train_network(XOR, LABELS, settings, initial=start)
    np.testing.assert_allclose(
        units.follow(threading.Event()), trained.losses[0], rtol=1e-11, atol=1e-14
    )
    assert trained.losses[0, -1] < 0.5 * trained.losses[0, 0]


@pytest.mark.skipif(os.name != "posix", reason="interval timers")
def test_an_interrupt_ends_the_simulation_at_once(monkeypatch):
    """The threads end with their step: the pool waits for them."""
    monkeypatch.setattr(module, "UNITS", 60)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            simulate_mean_field(XOR, LABELS, descent(steps=1_000_000), 4)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - start < 2


def test_units_that_diverge_are_refused(monkeypatch):
    monkeypatch.setattr(module, "UNITS", 30)
    with pytest.raises(InputError, match=r"Lower network\.learning_rate"):
        simulate_mean_field(XOR, LABELS, descent(step=3.0, steps=2000), 0)


def test_xor_units_end_on_single_samples(monkeypatch):
    """Each of the four samples of XoR gets a unit of its own; all four do, by symmetry."""
    monkeypatch.setattr(module, "UNITS", 200)
    plain = XOR.copy()
    plain[2] = 0
    asked = descent(step=0.2, steps=1500, init_std=(1e-4, 1e-4))
    found = simulate_mean_field(plain, LABELS[:1], asked, 0)
    assert found.losses[-1] < 1e-6
    last = max(found.classes, key=lambda each: each.shares[-1])
    assert (sum(last.gate), last.alike) == (1, 4)
    assert last.shares[-1] > 0.99
    assert last.carries(found.steps)[1] == 1499


@pytest.mark.parametrize("steps", [1, 2, 7, 8001])
def test_looks_run_from_the_first_step_to_the_last(steps):
    looks = look_steps(steps)
    assert (looks[0], looks[-1]) == (0, steps - 1)
    assert np.all(np.diff(looks) > 0)


# -- gates that are alike --------------------------------------------------------------------------


def orbits(relations: np.ndarray) -> dict[tuple[int, ...], frozenset]:
    """The orbit of every gate under the permutations that keep the relations, by force."""
    samples = len(relations)
    kept = [
        p
        for p in map(list, permutations(range(samples)))
        if np.array_equal(relations[np.ix_(p, p)], relations)
    ]
    gates = list(product((0, 1), repeat=samples))
    return {gate: frozenset(tuple(gate[i] for i in p) for p in kept) for gate in gates}


def names_of(relations: np.ndarray) -> dict[tuple[int, ...], int]:
    gates = list(product((0, 1), repeat=len(relations)))
    return dict(zip(gates, gate_names(np.array(gates, bool), relations).tolist(), strict=True))


@pytest.mark.parametrize("third", [0.0, 0.5])
def test_gates_of_xor_are_alike_as_symmetries_have_them(third):
    data = XOR.copy()
    data[2] *= 2 * third
    relations = sample_relations(data, LABELS)
    names, found = names_of(relations), orbits(relations)
    for a, b in product(names, repeat=2):
        assert (names[a] == names[b]) == (b in found[a])


@given(st.lists(st.integers(0, 2), min_size=15, max_size=15))
def test_a_symmetry_never_maps_gates_of_different_names_onto_each_other(entries):
    relations = np.zeros((5, 5), dtype=np.int64)
    relations[np.triu_indices(5)] = entries
    relations = relations + np.triu(relations, 1).T
    names = names_of(relations)
    for gate, orbit in orbits(relations).items():
        assert len({names[other] for other in orbit}) == 1, gate


def test_exact_relations_are_the_classes_of_equal_fractions():
    rows = [[Fraction(1, 3), Fraction(2, 3), 0], [Fraction(1, 7), 0, Fraction(10**20 + 1, 10**20)]]
    inputs, targets = ExactMatrix.from_rows(rows), ExactMatrix.from_rows([[1, 1, -1]])
    found = relations_of(inputs, targets)
    products = {
        (i, j): (sum(row[i] * row[j] for row in rows), (1, 1, -1)[i] * (1, 1, -1)[j])
        for i, j in product(range(3), repeat=2)
    }
    for one, other in product(products, repeat=2):
        assert (found[one] == found[other]) == (products[one] == products[other])
    nothing = ExactMatrix.from_rows([[0, 0, 0]])
    assert np.array_equal(relations_of(nothing, nothing), np.zeros((3, 3)))


@pytest.mark.parametrize("samples", [1, 24, 8191, 8192, 100_000, 1 << 24])
def test_sums_of_colours_over_all_samples_are_exact(samples):
    bits = _colour_bits(samples)
    assert samples * (2**bits - 1) ** 2 < 2**53
    assert bits == 20 or samples * 2 ** (2 * (bits + 1)) > 2**52


def test_shares_of_alike_gates_are_added_and_small_ones_left_out():
    relations = np.where(np.eye(3, dtype=bool), 1, 0)
    gates = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]], bool)
    weights = [np.array([3.0, 2.0, 5.0, 0.01]), np.array([1.0, 1.0, 8.0, 0.0])]
    found = gate_classes([([gates, gates], weights)], relations)
    total = [10.01, 10.0]
    assert [(each.gate, each.alike) for each in found] == [((1, 1, 0), 1), ((1, 0, 0), 2)]
    np.testing.assert_allclose(found[0].shares, [5 / total[0], 8 / total[1]])
    np.testing.assert_allclose(found[1].shares, [5 / total[0], 2 / total[1]])
    assert all(each.largest >= _LISTED for each in found)
    assert found[1].carries(np.array([10, 20])) == (10, 10)
