"""The trainers on torch and jax, where they are installed: what numpy trains, to 1e-10."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.train.arrays import arithmetic_of
from symreln.train.backends import Machine
from symreln.train.deep import replay_gates, train_deep_network
from symreln.train.gdln import train_gdln
from symreln.train.graph import train_graph
from symreln.train.memory import DEFAULT_MEMORY_LIMIT
from symreln.train.record import Recording
from symreln.train.relu import ReluModel, train_network
from symreln.train.topology import chain_graph

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
    chains = chain_graph(pathways, 3)
    return train_graph(*data, chains, settings, training="staged", seeds=SEEDS, rng=0, **more)


@pytest.fixture(params=["torch", "jax"])
def machine(request):
    pytest.importorskip(request.param)
    return Machine(backend=request.param, device="cpu")


@pytest.mark.parametrize("train", [relu, biased, deep, joint, staged, graph])
@pytest.mark.parametrize("changes", [{}, {"batch_size": 3, "weight_decay": 0.01}])
def test_500_steps_are_those_of_numpy(data, pathways, make_settings, machine, train, changes):
    if machine.backend == "jax" and changes:
        pytest.skip("jax takes a step at a time, which is slow; torch has the same source")
    settings = make_settings(steps=STEPS, init_std=0.3, **changes)
    record = Recording(quantities=("outputs", "similarity"), steps=(0, STEPS - 1))
    here = train(data, settings, pathways, record=record)
    there = train(machine.arrays(*data), settings, pathways, record=record)
    assert here.mean_loss[-1] < 0.9 * here.mean_loss[0]  # something was learned
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-10)
    for name in record.quantities:
        np.testing.assert_allclose(there.snapshots[name], here.snapshots[name], atol=1e-10)


def test_replayed_gates_are_those_of_numpy(data, make_settings, machine):
    settings = make_settings(steps=60)
    record = Recording(quantities=("activity",), steps=tuple(range(60)))
    start = [np.random.default_rng(k).normal(size=(2, *s)) for k, s in enumerate([(5, 4), (3, 5)])]
    run = train_deep_network(*data, (5,), settings, initial=start, record=record)
    replayed = replay_gates(*machine.arrays(*data), run.snapshots["activity"], settings, start)
    np.testing.assert_allclose(replayed.losses, run.losses, rtol=1e-10)


def test_memory_is_not_shared_with_the_data(data, make_settings, machine):
    arrays = machine.arrays(*data)
    train_network(*arrays, make_settings(), seeds=2, rng=0)
    for array, was in zip(arrays, data, strict=True):
        np.testing.assert_array_equal(arithmetic_of(array).numpy(array), was)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_float32_is_taken_where_it_is_asked_for(data, pathways, make_settings, library):
    if library != "numpy":
        pytest.importorskip(library)
    machine = Machine(backend=library, precision="float32")
    settings = make_settings(steps=100, init_std=0.3)
    for train in (relu, deep, joint, graph):
        whole = train(data, settings, pathways)
        single = train(machine.arrays(*data), machine.settings(settings), pathways)
        error = np.abs(single.losses / whole.losses - 1).max()
        # Rounded at 6e-8 every step: close, and not float64 by accident.
        assert 1e-9 < error < 1e-4
        assert single.losses.dtype == np.float64


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


def test_a_device_that_is_not_there_is_named(machine):
    there_is_not = Machine(backend=machine.backend, device="cuda:77")
    with pytest.raises(InputError, match=r"device 'cuda:77': it does not take the data"):
        there_is_not.arrays(np.ones((1, 1)))


def test_defaults_are_those_of_the_trainers():
    assert Machine().running == {"memory_limit": DEFAULT_MEMORY_LIMIT, "tell": None}
    assert Machine().arrays(1, 2) == (1, 2)  # pyright: ignore[reportArgumentType]


def test_trainers_need_no_exact_core_and_no_other_library():
    code = (
        "import sys, symreln.train.relu, symreln.train.deep, symreln.train.worker;"
        "import symreln.train.backends;"
        "print(sorted({'flint', 'sympy', 'torch', 'jax', 'cupy', 'scipy'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"
