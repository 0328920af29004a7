"""Mini-batches and weight decay of a spec."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import numpy as np
import pytest

import symreln as sr
from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms
from symreln.claims.probes import probe_bases
from symreln.experiment.metrics import compare
from symreln.experiment.training import gated_pathways, training_settings
from symreln.laws.choice import solve
from symreln.laws.law import Regime
from symreln.laws.ops import NUMPY
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_gdln, train_network

SHORT = ("network.steps=1201", "network.hidden=60")

SWITCHING = '{name = "p", then = [{step = 3, gate = [1, 0, 0, 0]}]}'

#: Any weight decay: it chooses the law, whose own is given with its numbers.
DECAYING = Regime(weight_decay=Fraction(1))


def every_step(derivation: sr.Derivation) -> np.ndarray:
    return np.arange(network_of(derivation.spec).steps, dtype=float)


def decayed(numbers: sr.Derivation, value: float) -> sr.Derivation:
    network = replace(network_of(numbers.spec), weight_decay=Fraction(value))
    return replace(numbers, spec=replace(numbers.spec, network=network))


@lru_cache(maxsize=1)
def xor() -> sr.Derivation:
    return sr.derive(sr.load("xor", overrides=SHORT))


def test_weight_decay_on_an_aligned_start():
    """Weights exactly on the modes: what is left of the distance halves with the rate."""
    errors = []
    for divisor in (1, 2):
        steps = 1200 * divisor + 1
        numbers = sr.derive(
            sr.load(
                "linear-hierarchy",
                overrides=(f"network.steps={steps}", f'network.learning_rate="1/{100 * divisor}"'),
            )
        ).at_values
        value = 0.3  # between two values of s
        prediction = closed_forms(decayed(numbers, value), every_step(numbers))
        spec, (pathway,) = numbers.spec, numbers.pathways
        u, v, _ = probe_bases(pathway)
        amplitude = np.sqrt(float(numbers.strength0))
        width = u.shape[1]
        (gated,) = gated_pathways(spec)
        start = {gated.name: _weights(amplitude * v.T, amplitude * u)}
        run = train_gdln(
            spec.dataset.inputs.to_numpy(),
            spec.dataset.targets.to_numpy(),
            [replace(gated, hidden=width)],
            replace(training_settings(spec), weight_decay=value),
            initial=start,
        )
        errors.append(compare(prediction.reduced, run.mean_loss).max_abs_over_initial)
        # The growing combination alone starts: half of what the law expects, step by step.
        modes = [(m.s.to_float(), m.d.to_float(), m.multiplicity) for m in pathway.modes]
        loss = np.full(steps, float(numbers.least_loss.to_fraction()))
        for s, d, count in modes:
            if s > 0:
                numbers_of = {"strength0": amplitude**2, "tau": numbers.tau, "weight_decay": value}
                law = solve(DECAYING, np.array(s), np.array(d), ops=NUMPY, **numbers_of).in_steps()
                curve = np.array([float(one) for one in islice(law.steps(), steps)])
                loss += 0.5 * count * d * (s / d - curve) ** 2
        np.testing.assert_allclose(loss, run.mean_loss, atol=1e-12 * loss[0])
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)


def _weights(w1: np.ndarray, w2: np.ndarray):
    from symreln.train.weights import LayerWeights

    return LayerWeights(w1=w1[None], w2=w2[None])


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
