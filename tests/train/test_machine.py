"""What is trained on: other libraries, precision."""

from __future__ import annotations

import json

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.train.machine import Machine, machine
from symreln.train.record import Recording
from symreln.train.trainers import replay_gates, train_deep_network, train_network
from tests.cli.command import command
from tests.own_process import imported
from tests.train.kinds import KINDS, data, make_settings, matrices

STEPS = 501  # 500 updates: what is promised


@pytest.fixture
def library():
    pytest.importorskip("torch")
    return Machine(backend="torch", device="cpu")


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("changes", [{}, {"batch_size": 3, "weight_decay": 0.01}])
def test_500_steps_are_those_of_numpy(library, name, changes):
    chosen = make_settings(steps=STEPS, init_std=0.3, **changes)
    here, there = (
        KINDS[name].train(arrays, chosen, seeds=3, rng=0)
        for arrays in (data(), library.arrays(*data()))
    )
    assert here.mean_loss[-1] < 0.9 * here.mean_loss[0]  # something was learned
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-10)
    for one, other in zip(matrices(there), matrices(here), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_replayed_gates_are_those_of_numpy(library):
    chosen = make_settings(steps=60)
    record = Recording(quantities=("activity",), steps=tuple(range(60)))
    start = [np.random.default_rng(k).normal(size=(2, *s)) for k, s in enumerate([(5, 4), (3, 5)])]
    run = train_deep_network(*data(), (5,), chosen, initial=start, record=record)
    arrays = library.arrays(*data())
    replayed = replay_gates(*arrays, run.snapshots["activity"], chosen, start)
    np.testing.assert_allclose(replayed.losses, run.losses, rtol=1e-10)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_float32_is_taken_where_it_is_asked_for(backend):
    if backend != "numpy":
        pytest.importorskip(backend)
    chosen = make_settings(steps=40, init_std=0.3)
    for name in ("relu", "deep", "joint", "graph"):
        whole = KINDS[name].train(data(), chosen, seeds=3, rng=0)
        with Machine(backend=backend, precision="float32").used():
            single = KINDS[name].train(data(), chosen, seeds=3, rng=0)
        error = np.abs(single.losses / whole.losses - 1).max()
        # Rounded at 6e-8 every step: close, and not float64 by accident.
        assert 1e-9 < error < 1e-4
        assert (single.losses.dtype, single.settings.precision) == (np.float64, "float32")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"backend": "tensorflow"}, "backend: found 'tensorflow'. Give one of numpy, torch"),
        ({"device": "cuda:0"}, "numpy computes on the processor alone"),
    ],
)
def test_what_there_is_not_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        Machine(**given)


def test_trainers_take_the_machine_that_is_used_and_leave_the_data(library):
    arrays = library.arrays(*data())
    train_network(*arrays, make_settings(), seeds=2, rng=0)
    for array, was in zip(arrays, data(), strict=True):
        np.testing.assert_array_equal(array.numpy(), was)
    with library.used():
        assert machine() is library
        there = train_network(*data(), make_settings(), seeds=2, rng=0)
    assert machine() == Machine()
    here = train_network(*data(), make_settings(), seeds=2, rng=0)
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-12)


def test_trainers_need_nothing_symbolic_and_no_other_library():
    heavy = ("flint", "sympy", "mpmath", "torch", "scipy", "symreln.exact")
    assert imported("import symreln.train.trainers", *heavy) == []


# -- the command line -----------------------------------------------------------------------------


def test_precision_is_told(tmp_path):
    small = ("--set", "network.steps=40", "--set", "network.hidden=10", "--seeds", "2")
    asked = ("--json", "--float32", "--quiet", *small, "--out", tmp_path / "out")
    code, out, said = command("validate", "xor", *asked)
    assert (code in (0, 3), said) == (True, "")  # whether theory agrees is no matter here
    assert json.loads(out)["network"]["precision"] == "float32"
    assert machine().precision == "float64"  # nothing is left behind
