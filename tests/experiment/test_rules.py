"""Mini-batches and weight decay of a spec."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.experiment.metrics import compare
from symreln.experiment.training import training_settings
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network

SHORT = ("network.steps=801", "network.hidden=40")


@lru_cache(maxsize=1)
def xor() -> sr.Derivation:
    return sr.derive(sr.load("xor", overrides=SHORT))


def test_batches_are_another_spec_from_the_same_weights():
    """By the trainers themselves, from the streams of the confrontation."""
    full = sr.validate(xor(), seeds=3, rng=5, diagnosis=False)
    shifts = []
    for size in (2, 1):
        spec = sr.load("xor", overrides=(*SHORT, f"network.batch_size={size}"))
        found = sr.validate(spec, seeds=3, rng=5, diagnosis=False)
        own = TrainingSettings(**{**vars(training_settings(xor().spec)), "batch_size": size})
        run = train_network(
            *xor().at_values.spec.dataset.arrays,
            own,
            seeds=3,
            rng=np.random.SeedSequence(5).spawn(2)[0],
        )
        np.testing.assert_array_equal(found.network.losses, run.losses)
        np.testing.assert_array_equal(found.network.losses[:, 0], full.network.losses[:, 0])
        np.testing.assert_array_equal(found.prediction.loss, full.prediction.loss)
        shifts.append(
            [
                compare(one.mean_loss, other.mean_loss).max_abs_over_initial
                for one, other in ((found.network, full.network), (found.gdln, full.gdln))
            ]
        )
    (two, gdln_two), (one, gdln_one) = shifts
    assert 0 < two < one
    # With one pathway a sample, a batch's step is gradient descent with P/|batch| times the rate
    # on its own pathways: the error of finite steps grows by (P/|batch| − 1) of itself.
    assert gdln_one / gdln_two == pytest.approx(3, rel=0.1)
