"""The trainers on a library that has the array API standard and nothing more."""

from __future__ import annotations

import sys

import array_api_strict
import numpy as np
import pytest

from symreln.errors import InputError
from symreln.train.arrays import NumpyArithmetic, PortableArithmetic, arithmetic_of
from symreln.train.gdln import train_gdln
from symreln.train.record import Recording
from symreln.train.relu import train_network


def strict(data):
    return tuple(array_api_strict.asarray(array) for array in data)


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_network_is_the_same_on_another_library(data, make_settings, activation):
    settings = make_settings(activation=activation, steps=100)
    record = Recording(quantities=("activity", "maps") if activation == "relu" else ("maps",))
    here, there = (
        train_network(*arrays, settings, seeds=3, rng=0, record=record)
        for arrays in (data, strict(data))
    )
    # The same arithmetic in float64; sums may be taken in another order.
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-12)
    np.testing.assert_allclose(there.snapshots["maps"], here.snapshots["maps"], atol=1e-13)
    assert isinstance(there.losses, np.ndarray)
    assert there.memory.workers == 1


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_gdln_is_the_same_on_another_library(data, pathways, make_settings, training):
    settings = make_settings(steps=100)
    here, there = (
        train_gdln(*arrays, pathways, settings, training=training, seeds=3, rng=0)
        for arrays in (data, strict(data))
    )
    np.testing.assert_allclose(there.losses, here.losses, rtol=1e-12)
    for one, other in zip(here.weights, there.weights, strict=True):
        np.testing.assert_allclose(other.w2, one.w2, rtol=1e-11)


def test_library_is_found_by_the_data(data):
    assert isinstance(arithmetic_of(data[0]), NumpyArithmetic)
    assert isinstance(arithmetic_of([[1.0]]), NumpyArithmetic)
    assert isinstance(arithmetic_of(strict(data)[0]), PortableArithmetic)


def test_single_precision_is_refused(data, monkeypatch):
    # As jax does unless told otherwise: float64 is asked for, float32 comes.
    do = PortableArithmetic(strict(data)[0])

    class Narrow:
        __name__ = "narrow"
        float64 = array_api_strict.float64

        @staticmethod
        def asarray(values, **_):
            return array_api_strict.asarray(values, dtype=array_api_strict.float32)

    monkeypatch.setattr(do, "xp", Narrow())
    with pytest.raises(InputError, match=r"narrow gives .*float32 where float64.*jax_enable_x64"):
        do.array(data[0])


def test_nothing_symbolic_is_imported():
    import subprocess

    code = (
        "import sys, symreln.train.relu, symreln.train.gdln, symreln.train.worker;"
        "heavy = {'sympy', 'flint', 'scipy', 'mpmath', 'symreln.exact', 'symreln.laws'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"
