"""The trainers on torch and jax, where they are installed: what numpy trains, to 1e-10."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from symreln.train.relu import ReluModel

from symreln.errors import InputError
from symreln.train.arrays import arithmetic_of
from symreln.train.machine import Machine, machine, peak_bytes
from symreln.train.network import pathway_network
from symreln.train.record import Recording
from symreln.train.trainers import (
    replay_gates,
    train_deep_network,
    train_gdln,
    train_graph,
    train_network,
)

STEPS = 501  # 500 updates: what is promised
SEEDS = 3


def relu(data, settings, pathways, **more):
    return train_network(*data, settings, seeds=SEEDS, rng=0, **more)


def biased(data, settings, pathways, **more):
    return train_network(*data, settings, biases=True, seeds=SEEDS, rng=0, **more)


def deep(data, settings, pathways, **more):
    return train_deep_network(*data, (6, 4), settings, seeds=SEEDS, rng=0, **more)


def joint(data, settings, pathways, **more):
    return train_gdln(*data, pathways, settings, seeds=SEEDS, rng=0, **more)


def staged(data, settings, pathways, **more):
    return train_gdln(*data, pathways, settings, training="staged", seeds=SEEDS, rng=0, **more)


def graph(data, settings, pathways, **more):
    chains = pathway_network(pathways, 3)
    return train_graph(*data, chains, settings, training="staged", seeds=SEEDS, rng=0, **more)


@pytest.fixture(params=["torch", "jax"])
def library(request):
    pytest.importorskip(request.param)
    return Machine(backend=request.param, device="cpu")


@pytest.mark.parametrize("train", [relu, biased, deep, joint, staged, graph])
@pytest.mark.parametrize("changes", [{}, {"batch_size": 3, "weight_decay": 0.01}])
def test_500_steps_are_those_of_numpy(data, pathways, make_settings, library, train, changes):
    if library.backend == "jax" and changes:
        pytest.skip("jax takes a step at a time, which is slow; torch has the same source")
    settings = make_settings(steps=STEPS, init_std=0.3, **changes)
    record = Recording(quantities=("outputs", "similarity"), steps=(0, STEPS - 1))
    here = train(data, settings, pathways, record=record)
    there = train(library.arrays(*data), settings, pathways, record=record)
    assert here.mean_loss[-1] < 0.9 * here.mean_loss[0]  # something was learned
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-10)
    for name in record.quantities:
        np.testing.assert_allclose(there.snapshots[name], here.snapshots[name], atol=1e-10)


def test_replayed_gates_are_those_of_numpy(data, make_settings, library):
    settings = make_settings(steps=60)
    record = Recording(quantities=("activity",), steps=tuple(range(60)))
    start = [np.random.default_rng(k).normal(size=(2, *s)) for k, s in enumerate([(5, 4), (3, 5)])]
    run = train_deep_network(*data, (5,), settings, initial=start, record=record)
    replayed = replay_gates(*library.arrays(*data), run.snapshots["activity"], settings, start)
    np.testing.assert_allclose(replayed.losses, run.losses, rtol=1e-10)


def test_memory_is_not_shared_with_the_data(data, make_settings, library):
    arrays = library.arrays(*data)
    train_network(*arrays, make_settings(), seeds=2, rng=0)
    for array, was in zip(arrays, data, strict=True):
        np.testing.assert_array_equal(arithmetic_of(array).numpy(array), was)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_float32_is_taken_where_it_is_asked_for(data, pathways, make_settings, backend):
    if backend != "numpy":
        pytest.importorskip(backend)
    settings = make_settings(steps=40, init_std=0.3)
    for train in (relu, deep, joint, graph):
        whole = train(data, settings, pathways)
        with Machine(backend=backend, precision="float32").used():
            single = train(data, settings, pathways)
        error = np.abs(single.losses / whole.losses - 1).max()
        # Rounded at 6e-8 every step: close, and not float64 by accident.
        assert 1e-9 < error < 1e-4
        assert (single.losses.dtype, single.settings.precision) == (np.float64, "float32")


def test_float32_takes_half_the_memory(data, make_settings):
    double, single = (
        ReluModel(*data, make_settings(precision=precision)).working_bytes
        for precision in ("float64", "float32")
    )
    assert double == 2 * single


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"backend": "tensorflow"}, "backend: found 'tensorflow'. Give one of numpy, torch, cupy"),
        ({"device": "cuda:0"}, "numpy computes on the processor alone"),
    ],
)
def test_what_there_is_not_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Machine(**given)


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"'cupy': it is not installed.*pip install cupy"):
        Machine(backend="cupy").arrays(np.ones((1, 1)))


def test_a_device_that_is_not_there_is_named(library):
    there_is_not = Machine(backend=library.backend, device="cuda:77")
    with pytest.raises(InputError, match=r"device 'cuda:77': it does not take the data"):
        there_is_not.arrays(np.ones((1, 1)))


def test_trainers_take_the_machine_that_is_used(data, make_settings, library):
    with library.used():
        there = train_network(*data, make_settings(), seeds=2, rng=0)
    here = train_network(*data, make_settings(), seeds=2, rng=0)
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-12)
    assert there.memory.workers == 1


def test_a_machine_is_used_until_its_context_ends(data, make_settings):
    settings, told = make_settings(hidden=900, steps=1), []
    whole = train_network(*data, settings, seeds=2, rng=0)
    one_at_a_time = whole.memory.results + 2 * whole.memory.working - 1
    small = Machine(memory_limit=one_at_a_time, tell=told.append)
    with small.used():
        assert machine() is small
        run = train_network(*data, settings, seeds=2, rng=0)
    assert machine() == Machine()
    assert told == [run.memory]
    assert (run.memory.seeds_per_chunk, whole.memory.seeds_per_chunk) == (1, 2)
    np.testing.assert_array_equal(run.losses, whole.losses)


def test_a_training_gets_what_a_process_limit_leaves():
    used = peak_bytes()
    assert used > 10_000_000
    assert Machine(process_limit=1).room == 0
    assert Machine(process_limit=used + 10_000_000).room > 0
    assert Machine(process_limit=1 << 50).room == Machine().memory_limit


def test_trainers_need_no_exact_core_and_no_other_library():
    code = (
        "import sys, symreln.train.relu, symreln.train.deep, symreln.train.worker;"
        "import symreln.train.machine;"
        "print(sorted({'flint', 'sympy', 'torch', 'jax', 'cupy', 'scipy'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"
