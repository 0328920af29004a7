"""A seed's result depends on its own stream alone: not on its batch, chunk or process."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.base import pool
from symreln.train import run
from symreln.train.chunk import _Batches, train_chunk
from symreln.train.network import pathway_network
from symreln.train.record import Recording
from symreln.train.trainers import (
    train_deep_network,
    train_gated_network,
    train_gdln,
    train_network,
)
from symreln.train.weights import seed_children
from tests.strategies import examples
from tests.train.kinds import KINDS, WHOLE, data, make_settings, matrices, same

# Sizes at which BLAS takes other roads: dot products, matrix times vector, small and larger gemm.
SIZES = [(1, 1, 1, 1), (2, 3, 1, 5), (3, 1, 2, 1), (4, 17, 9, 33), (11, 130, 60, 24)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_a_seed_does_not_depend_on_the_batch(size, activation, monkeypatch):
    n_x, hidden, n_y, samples = size
    rng = np.random.default_rng(2)
    arrays = rng.standard_normal((n_x, samples)), rng.standard_normal((n_y, samples))
    chosen = make_settings(
        hidden=hidden, activation=activation, init_std=0.1, learning_rate=1e-3, steps=30
    )
    runs = [train_network(*arrays, chosen, seeds=k, rng=7) for k in (1, 3, 6)]
    same(runs[0], runs[2], 1)
    same(runs[1], runs[2], 3)
    monkeypatch.setattr(run, "_CACHE_BYTES", 1)  # every seed a chunk of its own
    alone = train_network(*arrays, chosen, seeds=6, rng=7)
    same(alone, runs[2], 6)
    assert len(set(alone.weights[0].w2[:, 0, 0])) == 6  # six different networks


@pytest.mark.parametrize("name", KINDS)
def test_chunks_and_processes_change_nothing(name, monkeypatch):
    chosen = make_settings(steps=40, batch_size=3, weight_decay=0.01)
    quantities = () if name == "single layer" else ("similarity",)
    how = {"rng": 8, "record": Recording(quantities=quantities, steps=(0, 7, 39))}
    train = KINDS[name].train
    whole = train(data(), chosen, seeds=5, workers=1, **how)
    sizes = []
    with monkeypatch.context() as patch:
        patch.setattr(run, "_CACHE_BYTES", 1)
        patch.setattr(run, "train_chunk", lambda *a: sizes.append(len(a[1][0])) or train_chunk(*a))
        tight = train(data(), chosen, seeds=5, workers=1, **how)
    assert sizes == 5 * [1]
    same(tight, whole, 5)
    same(train(data(), chosen, seeds=2, **how), whole, 2)
    assert len(set(whole.losses[:, -1])) == 5
    if name in ("relu", "deep biased", "staged", "graph"):
        started = []
        with monkeypatch.context() as patch:
            own = pool.processes
            patch.setattr(pool, "processes", lambda *a: started.append(a[0]) or own(*a))
            shared = train(data(), chosen, seeds=5, workers=2, **how)
        assert started == [2]
        same(shared, whole, 5)


def test_generators_and_sequences_move_on():
    def first_losses(rng):
        once = make_settings(steps=1)
        return [train_network(*data(), once, seeds=2, rng=rng).losses[:, 0] for _ in range(2)]

    by_number = first_losses(4)
    np.testing.assert_array_equal(*by_number)
    by_generator = first_losses(np.random.default_rng(4))
    np.testing.assert_array_equal(by_generator[0], by_number[0])
    assert not np.any(np.isin(by_generator[1], by_generator[0]))
    np.testing.assert_array_equal(first_losses(np.random.SeedSequence(4)), by_generator)


# -- initial weights ------------------------------------------------------------------------------


def test_every_layer_edge_and_pathway_has_its_own_scale():
    # 400 seeds of 4 numbers or more: the standard deviation is known to 1/sqrt(3200); 5 of them.
    scales = (1e-3, 2.0, 0.1)
    once, network = make_settings(steps=1, init_std=scales), pathway_network([WHOLE], 3)
    runs = (
        train_gated_network(*data(), network, once, seeds=400, rng=0),
        train_deep_network(*data(), (2, 2), once, seeds=400, rng=0),
    )
    for one in runs:
        found = [matrix.std() for matrix in one.matrices]
        assert found[::2] == pytest.approx(scales[::2], rel=0.09)
        assert found[1] == pytest.approx(scales[1], rel=0.18)
    spread = replace(WHOLE, name="spread", spread=10.0)
    first, second = train_gdln(
        *data(), [WHOLE, spread], make_settings(steps=1, init_std=(0.1, 0.2)), seeds=400, rng=0
    ).weights
    assert [w.std() for w in (first.w1, first.w2)] == pytest.approx([0.1, 0.2], rel=0.09)
    assert [w.std() for w in (second.w1, second.w2)] == pytest.approx([1.0, 2.0], rel=0.09)
    assert not np.any(np.isin(10 * first.w1, second.w1))  # a stream of its own


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 3, 2), (3, 1, 1)])
@pytest.mark.parametrize("name", ["relu", "linear", "deep"])
def test_given_weights_and_data_are_left_alone(shape, name):
    # With one input or one hidden unit a transposed view is contiguous: no copy by accident.
    n_x, hidden, n_y = shape
    rng = np.random.default_rng(0)
    arrays = rng.standard_normal((n_x, 4)), rng.standard_normal((n_y, 4))
    train, chosen = KINDS[name].train, make_settings(hidden=hidden)
    start = train(arrays, replace(chosen, steps=1), rng=1)
    initial = start.matrices or start.weights[0]
    kept = [array.copy() for array in (*arrays, *matrices(start))]
    trained = train(arrays, chosen, initial=initial)
    for array, was in zip((*arrays, *matrices(start)), kept, strict=True):
        np.testing.assert_array_equal(array, was)
    assert trained.losses[0, -1] != trained.losses[0, 0]


# -- mini-batches ---------------------------------------------------------------------------------


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 3), st.integers(0, 99))
@examples(160)
def test_an_epoch_visits_every_sample_once(samples, size, seeds, rng):
    size = min(size, samples)
    batches, orders = _Batches(seed_children(rng, seeds), samples, size), []
    for _ in range(3):
        visits, order = np.zeros((seeds, samples)), []
        for place in range(0, samples, size):
            factors = batches.next()
            assert factors.shape == (seeds, samples, 1)
            count = min(size, samples - place)
            inside = factors[..., 0] > 0
            np.testing.assert_array_equal(inside.sum(axis=1), count)
            np.testing.assert_array_equal(factors[inside], samples / count)
            visits += inside
            order.append(inside)
        np.testing.assert_array_equal(visits, 1)
        orders.append(np.stack(order))
    if samples >= 10 and size <= samples // 2:  # by chance equal once in more than 10^2 · seeds
        assert any(not np.array_equal(orders[0], other) for other in orders[1:])


def test_streams_of_batches_leave_the_initial_weights_alone():
    made = make_settings(steps=2, batch_size=2)
    batched = train_network(*data(), made, seeds=4, rng=3)
    full = train_network(*data(), replace(made, batch_size=None), seeds=4, rng=3)
    np.testing.assert_array_equal(batched.losses[:, 0], full.losses[:, 0])
    # Given weights, all alike: each seed still has batches of its own, fixed by rng alone.
    start = full.weights[0].seed(0, 1)
    alike = replace(start, w1=np.repeat(start.w1, 4, axis=0), w2=np.repeat(start.w2, 4, axis=0))
    made = replace(made, batch_size=1, steps=4)
    first, again, other = (
        train_network(*data(), made, initial=alike, rng=rng) for rng in (3, 3, 4)
    )
    same(first, again, 4)
    assert len(set(first.losses[:, -1])) > 1
    assert not np.array_equal(first.losses, other.losses)
