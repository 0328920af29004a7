"""Mini-batches: epochs, the full batch as a special case, expectation, streams, memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symreln.train.gdln import GatedModel
from symreln.train.relu import ReluModel

from symreln.errors import InputError, LimitReachedError
from symreln.train import memory
from symreln.train.batches import Batches, batch_keys
from symreln.train.memory import estimate_memory
from symreln.train.trainers import train_gdln, train_network
from symreln.train.weights import seed_children
from tests.train.test_arrays import strict
from tests.train.test_streams import same


def keys_of(rng, seeds):
    return batch_keys(seed_children(rng, seeds))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 3), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_an_epoch_visits_every_sample_once(samples, size, seeds, rng):
    size = min(size, samples)
    batches, orders = Batches(keys_of(rng, seeds), samples, size), []
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


def test_every_batch_is_equally_likely():
    # 4 samples in pairs: 6 batches of chance 1/6; 5 standard errors.
    draws = 6000
    factors = Batches(keys_of(3, draws), 4, 2).next()[..., 0] > 0
    for pair in combinations(range(4), 2):
        share = np.mean(factors[:, pair].all(axis=1))
        assert abs(share - 1 / 6) < 5 * np.sqrt(5 / 36 / draws)


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_a_batch_of_all_samples_is_the_full_batch(data, make_settings, activation, loss):
    full = make_settings(activation=activation, loss=loss, learning_rate=0.004, steps=60)
    runs = [
        train_network(*data, replace(full, batch_size=size), seeds=3, rng=4) for size in (None, 7)
    ]
    same(*runs, 3)


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_a_batch_of_all_samples_is_the_full_batch_of_a_gdln(
    data, pathways, make_settings, training
):
    full = make_settings(steps=60)
    runs = [
        train_gdln(
            *data, pathways, replace(full, batch_size=size), training=training, seeds=3, rng=4
        )
        for size in (None, 7)
    ]
    same(*runs, 3)


@pytest.mark.parametrize("kind", ["relu", "linear", "joint", "staged"])
@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_the_expected_step_is_the_full_batch_step(
    data, pathways, make_settings, start_weights, kind, loss
):
    """Mean over all 21 batches of two samples, exactly; every factor 7/2."""
    inputs, targets = data
    batches = list(combinations(range(7), 2))
    factors = np.zeros((len(batches), 7, 1))
    for row, batch in enumerate(batches):
        factors[row, batch, 0] = 7 / 2
    if kind == "relu":
        made = make_settings(loss=loss, batch_size=2, learning_rate=0.01)
        model = ReluModel(inputs, targets, made)
    else:
        chosen = pathways[:1] if kind == "linear" else pathways
        made = make_settings(loss=loss, batch_size=2, learning_rate=0.01)
        model = GatedModel(inputs, targets, chosen, made, staged=kind == "staged")
    one = tuple(start_weights(*shape, key=k) for k, shape in enumerate(model.shapes))
    many = tuple(
        replace(w, w1=np.repeat(w.w1, 21, axis=0), w2=np.repeat(w.w2, 21, axis=0)) for w in one
    )
    full, batched = model.start(one), model.start(many)
    full.evaluate(), batched.evaluate()
    full.update()
    batched.update(factors)
    for after, each in zip(full.weights(), batched.weights(), strict=True):
        np.testing.assert_allclose(each.w1.mean(axis=0), after.w1[0], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(each.w2.mean(axis=0), after.w2[0], rtol=1e-12, atol=1e-14)
        assert np.ptp(each.w2, axis=0).max() > 1e-4  # the batches do differ


def test_a_step_is_a_step_on_the_batch_alone(data, make_settings):
    """With the mean loss: what gradient descent on the batch's own samples does."""
    made = make_settings(steps=2, batch_size=3)
    run = train_network(*data, made, seeds=2, rng=9)
    start = train_network(*data, replace(made, steps=1), seeds=2, rng=9).weights[0]
    chosen = Batches(keys_of(9, 2), 7, 3).next()[..., 0] > 0
    for seed in range(2):
        alone = train_network(
            *(array[:, chosen[seed]] for array in data),
            replace(made, batch_size=None),
            initial=start.seed(seed, seed + 1),
        ).weights[0]
        np.testing.assert_allclose(run.weights[0].w1[seed], alone.w1[0], rtol=1e-13)
        np.testing.assert_allclose(run.weights[0].w2[seed], alone.w2[0], rtol=1e-13)
    # The recorded losses are over all samples, batch or no batch.
    everything = train_network(*data, replace(made, batch_size=None), initial=start)
    np.testing.assert_array_equal(run.losses[:, 0], everything.losses[:, 0])


def test_batches_do_not_depend_on_chunk_or_process(data, pathways, make_settings, monkeypatch):
    made = make_settings(steps=40, batch_size=3, weight_decay=0.01)
    one, more = (train_network(*data, made, seeds=5, rng=3, workers=w) for w in (1, 2))
    assert (one.memory.workers, more.memory.workers) == (1, 2)
    same(one, more, 5)
    few = train_network(*data, made, seeds=2, rng=3)
    same(few, one, 2)
    here, there, portable = (
        train_gdln(*arrays, pathways, made, training="staged", seeds=3, rng=3, workers=w)
        for arrays, w in ((data, 1), (data, 2), (strict(data), None))
    )
    same(here, there, 3)
    np.testing.assert_allclose(portable.losses, here.losses, rtol=1e-12)
    monkeypatch.setattr(memory, "CACHE_BYTES", 1)  # every seed a chunk of its own
    alone = train_network(*data, made, seeds=5, rng=3, workers=1)
    assert alone.memory.seeds_per_chunk == 1
    same(alone, one, 5)
    relu = train_network(*strict(data), made, seeds=5, rng=3)
    np.testing.assert_allclose(relu.losses, one.losses, rtol=1e-12)


def test_streams_of_batches_leave_the_initial_weights_alone(data, make_settings):
    made = make_settings(steps=2, batch_size=2)
    batched = train_network(*data, made, seeds=4, rng=3)
    full = train_network(*data, replace(made, batch_size=None), seeds=4, rng=3)
    np.testing.assert_array_equal(batched.losses[:, 0], full.losses[:, 0])
    # Given weights, all alike: each seed still has batches of its own, fixed by rng alone.
    start = full.weights[0].seed(0, 1)
    alike = replace(start, w1=np.repeat(start.w1, 4, axis=0), w2=np.repeat(start.w2, 4, axis=0))
    made = replace(made, batch_size=1, steps=4)
    first, again, other = (train_network(*data, made, initial=alike, rng=rng) for rng in (3, 3, 4))
    same(first, again, 4)
    assert len(set(first.losses[:, -1])) > 1
    assert not np.array_equal(first.losses, other.losses)


def test_batches_are_checked_and_counted(data, pathways, make_settings):
    with pytest.raises(InputError, match=r"batch_size: 8, but the data have 7 .*Give 1 to 7"):
        train_network(*data, make_settings(batch_size=8))
    with pytest.raises(InputError, match="batch_size: 8"):
        train_gdln(*data, pathways, make_settings(batch_size=8))
    full, batched = make_settings(), make_settings(batch_size=2)
    relu = [ReluModel(*data, made).working_bytes for made in (full, batched)]
    gated = [
        GatedModel(*data, pathways, made, staged=True).working_bytes for made in (full, batched)
    ]
    # Order, factors and their product with the rate; order, factors and a weighted residual.
    assert (relu[1] - relu[0], gated[1] - gated[0]) == (8 * 3 * 7, 8 * (2 + 3) * 7)
    model = ReluModel(*data, batched)
    # One network without batches just fits.
    limit = estimate_memory(ReluModel(*data, full), steps=1, seeds=1).total
    estimate_memory(ReluModel(*data, full), steps=1, seeds=1, memory_limit=limit)
    with pytest.raises(LimitReachedError):
        estimate_memory(model, steps=1, seeds=1, memory_limit=limit)


def test_divergence_speaks_of_batches(data, make_settings):
    with pytest.raises(InputError, match=r"Batches of 2 may need 3\.5 times less"):
        train_network(*data, make_settings(learning_rate=50.0, batch_size=2, steps=200))
