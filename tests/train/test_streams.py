"""A seed's result depends on its own stream alone: not on its batch, chunk or process."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.train import memory
from symreln.train.network import GatedPathway
from symreln.train.record import Recording
from symreln.train.trainers import train_gdln, train_network

# Sizes at which BLAS takes other roads: dot products, matrix times vector, small and larger gemm.
SIZES = [(1, 1, 1, 1), (2, 3, 1, 5), (3, 1, 2, 1), (4, 17, 9, 33), (11, 130, 60, 24)]


def problem(n_x, n_y, samples):
    rng = np.random.default_rng(2)
    return rng.standard_normal((n_x, samples)), rng.standard_normal((n_y, samples))


def same(one, other, seeds):
    np.testing.assert_array_equal(one.losses[:seeds], other.losses[:seeds])
    for a, b in zip(one.weights, other.weights, strict=True):
        np.testing.assert_array_equal(a.w1[:seeds], b.w1[:seeds])
        np.testing.assert_array_equal(a.w2[:seeds], b.w2[:seeds])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_a_seed_does_not_depend_on_the_batch(size, activation, make_settings, monkeypatch):
    n_x, hidden, n_y, samples = size
    inputs, targets = problem(n_x, n_y, samples)
    settings = make_settings(
        hidden=hidden, activation=activation, init_std=0.1, learning_rate=1e-3, steps=30
    )
    runs = [train_network(inputs, targets, settings, seeds=k, rng=7) for k in (1, 3, 6)]
    same(runs[0], runs[2], 1)
    same(runs[1], runs[2], 3)
    monkeypatch.setattr(memory, "CACHE_BYTES", 1)  # every seed a chunk of its own
    alone = train_network(inputs, targets, settings, seeds=6, rng=7)
    assert (alone.memory.seeds_per_chunk, runs[2].memory.seeds_per_chunk > 1) == (1, True)
    same(alone, runs[2], 6)
    assert len(set(alone.weights[0].w2[:, 0, 0])) == 6  # six different networks


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_a_pathway_does_not_depend_on_the_batch(data, pathways, make_settings, training):
    settings = make_settings(steps=30)
    few, many = (
        train_gdln(*data, pathways, settings, training=training, seeds=k, rng=7) for k in (2, 5)
    )
    same(few, many, 2)


def test_worker_processes_give_the_same_bits(data, pathways, make_settings):
    record = Recording(quantities=("activity", "contribution", "maps"), steps=(0, 10, 29))
    settings = make_settings(steps=30)
    here, there = (
        train_network(*data, settings, seeds=5, rng=3, record=record, workers=w) for w in (1, 2)
    )
    assert (here.memory.workers, there.memory.workers) == (1, 2)
    same(here, there, 5)
    for name, values in here.snapshots.items():
        np.testing.assert_array_equal(values, there.snapshots[name])
        assert values.dtype == there.snapshots[name].dtype
    here, there = (
        train_gdln(*data, pathways, settings, training="staged", seeds=3, rng=3, workers=w)
        for w in (1, 2)
    )
    same(here, there, 3)


def test_generators_and_sequences_move_on(data, make_settings):
    settings = make_settings(steps=1)

    def first_losses(rng):
        return [train_network(*data, settings, seeds=2, rng=rng).losses[:, 0] for _ in range(2)]

    by_number = first_losses(4)
    np.testing.assert_array_equal(*by_number)
    by_generator = first_losses(np.random.default_rng(4))
    np.testing.assert_array_equal(by_generator[0], by_number[0])
    assert not np.any(np.isin(by_generator[1], by_generator[0]))
    by_sequence = first_losses(np.random.SeedSequence(4))
    np.testing.assert_array_equal(by_sequence, by_generator)


def test_weights_follow_the_law(make_settings):
    inputs, targets = problem(20, 15, 2)
    settings = make_settings(hidden=50, init_std=0.3, steps=1)
    layer = train_network(inputs, targets, settings, seeds=20, rng=0).weights[0]
    for weights in (layer.w1, layer.w2):
        count = weights.size
        # Five standard errors: one run in two million would miss by chance, and this one is seeded.
        assert abs(weights.mean()) < 5 * 0.3 / np.sqrt(count)
        assert abs(weights.std() / 0.3 - 1) < 5 / np.sqrt(2 * count)
    correlation = np.corrcoef(layer.w1.reshape(20, -1))[np.triu_indices(20, 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(1000)  # seeds are independent


def test_pathways_have_streams_of_their_own(data, make_settings):
    twins = [
        GatedPathway(name=name, gate=[1] * 7, inputs=range(4), outputs=range(3), hidden=2)
        for name in "ab"
    ]
    first, second = train_gdln(*data, twins, make_settings(steps=1), rng=0).weights
    assert not np.any(np.isin(first.w1, second.w1))
