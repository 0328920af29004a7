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

import symreln as sr
from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.laws import gate_classes as classes_module
from symreln.laws import mean_field as module
from symreln.laws.gate_classes import (
    LISTED,
    colour_bits,
    gate_classes,
    gate_names,
    sample_relations,
)
from symreln.laws.mean_field import (
    Descent,
    _balanced,
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


def test_the_law_is_kept_when_units_stand_for_more_or_fewer(monkeypatch):
    """Q Qᵀ at the start is H init_std² for every direction, exactly, whatever their number."""
    for count in (40, 400):
        monkeypatch.setattr(module, "UNITS", count)
        units = _Ensemble(XOR, LABELS, descent(), np.random.default_rng(1))
        assert len(units._particles.first) == count
        first = units._particles.first.T @ units._particles.first
        np.testing.assert_allclose(first, 50 * 0.01**2 * np.eye(3), atol=1e-15)
        second = units._particles.second @ units._particles.second.T
        np.testing.assert_allclose(second, 50 * 0.02**2 * np.eye(1), atol=1e-15)
        np.testing.assert_allclose(units._particles.second @ units._particles.first, 0, atol=1e-15)


def test_units_come_in_pairs_of_opposite_signs():
    drawn = _balanced(np.random.default_rng(0).standard_normal((20, 4)))
    np.testing.assert_allclose(drawn[:20], -drawn[20:], atol=1e-12)
    np.testing.assert_allclose(drawn.T @ drawn / 40, np.eye(4), atol=1e-12)


def test_the_error_is_what_draws_differ_by(monkeypatch):
    monkeypatch.setattr(module, "UNITS", 30)
    found = simulate_mean_field(XOR, LABELS, descent(), 4)
    curves = [
        _Ensemble(XOR, LABELS, descent(), np.random.default_rng(seed)).follow(threading.Event())
        for seed in np.random.SeedSequence(4).spawn(2)
    ]
    np.testing.assert_allclose(found.losses, np.mean(curves, axis=0), rtol=1e-14)
    half = np.abs(curves[0] - curves[1]).max() / 2 / found.losses[0]
    assert found.error == pytest.approx(half)
    assert found.error > 0


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


def test_gates_of_contexts_and_items_are_alike_as_symmetries_have_them():
    """Two contexts of three items: 12 symmetries, 13 classes of gates."""
    inputs = np.vstack([np.tile(np.eye(3), 2), np.repeat(np.eye(2), 3, axis=1)])
    relations = sample_relations(inputs, np.eye(6))
    names, found = names_of(relations), orbits(relations)
    assert len(set(found.values())) == 13
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


def test_near_products_are_one_relation_on_whichever_side_of_a_grid_line_they_lie():
    """Three equal angles in float64; rounding to a grid would tell 0.5 ± 1e-16 apart somewhere."""
    angles = 2 * np.pi * np.arange(3) / 3
    turned = [np.array([np.cos(angles + shift), np.sin(angles + shift)]) for shift in (0.0, 0.7, 2)]
    for data in turned:
        assert len(np.unique(sample_relations(data, np.eye(3)))) == 2
    low, high = 0.5, 0.5 + 1e-9  # two neighbours that rounding to 1e-9 puts apart
    while np.nextafter(low, 1) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if round(middle * 1e9) == round(low * 1e9) else (low, middle)
    assert round(low * 1e9) != round(high * 1e9)
    relations = sample_relations(np.array([[low, high, 1.0]]), np.eye(3))
    assert relations[0, 2] == relations[1, 2] != relations[0, 1]


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


def test_exact_relations_are_those_of_floats_on_a_ready_made_task():
    data = sr.load("contextual-3").at_values().dataset
    floats = sample_relations(data.inputs.to_numpy(), data.targets.to_numpy())
    exact = relations_of(data.inputs, data.targets)
    pairs = set(zip(exact.ravel().tolist(), floats.ravel().tolist(), strict=True))
    assert len(pairs) == len(np.unique(exact)) == len(np.unique(floats)) == 7


@pytest.mark.parametrize("samples", [1, 24, 8191, 8192, 100_000, 1 << 24])
def test_sums_of_colours_over_all_samples_are_exact(samples):
    bits = colour_bits(samples)
    assert samples * (2**bits - 1) ** 2 < 2**53
    assert bits == 20 or samples * 2 ** (2 * (bits + 1)) > 2**52


def test_names_do_not_depend_on_the_order_of_many_samples(monkeypatch):
    """700 samples on a ring, every one related to its neighbours: a turn changes no name.

    With as few bits for exact sums as a float64 would have for 2^40 samples.
    """
    monkeypatch.setattr(classes_module, "EXACT_BITS", 27)
    samples = 700
    relations = np.zeros((samples, samples), dtype=np.uint8)
    places = np.arange(samples)
    relations[places, places] = 2
    relations[places, (places + 1) % samples] = relations[(places + 1) % samples, places] = 1
    gate = np.random.default_rng(0).random(samples) < 0.5
    gates = np.array([gate, np.roll(gate, 1), np.roll(gate, 321), ~gate])
    one, turned, far, other = gate_names(gates, relations).tolist()
    assert one == turned == far != other


def test_shares_of_alike_gates_are_added_and_small_ones_left_out():
    relations = np.where(np.eye(3, dtype=bool), 1, 0)
    gates = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]], bool)
    weights = [np.array([3.0, 2.0, 5.0, 0.01]), np.array([1.0, 1.0, 8.0, 0.0])]
    found = gate_classes([([gates, gates], weights)], relations)
    total = [10.01, 10.0]
    assert [(each.gate, each.alike) for each in found] == [((1, 1, 0), 1), ((1, 0, 0), 2)]
    np.testing.assert_allclose(found[0].shares, [5 / total[0], 8 / total[1]])
    np.testing.assert_allclose(found[1].shares, [5 / total[0], 2 / total[1]])
    assert all(each.largest >= LISTED for each in found)
    assert found[1].carries(np.array([10, 20])) == (10, 10)


def test_draws_count_alike():
    relations = np.where(np.eye(2, dtype=bool), 1, 0)
    one = [np.array([[1, 0]], bool)], [np.array([1.0])]
    two = [np.array([[0, 1]], bool)], [np.array([3.0])]
    (found,) = gate_classes([one, two], relations)
    assert (found.gate, found.alike) == ((0, 1), 2)
    np.testing.assert_allclose(found.shares, [1.0])
