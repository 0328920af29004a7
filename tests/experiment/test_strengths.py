"""Modes one by one: measured strengths beside their formulas, with intervals over networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.claims.probes import probe_bases
from symreln.experiment.predictions import predict_all
from tests.cases import matrix_spec
from tests.experiment.test_confront import NETWORK, linear, relu
from tests.experiment.test_verdicts import measured_mode
from tests.unchecked import derive_unchecked

# -- measured on trained networks ------------------------------------------------------------------


def test_every_mode_of_a_gdln_follows_its_formula():
    found = [mode for mode in linear(0).modes if mode.subject == "gdln"]
    learning = [m for p in linear(0).derivation.pathways for m in p.modes if not m.is_null]
    assert [mode.label for mode in found] == [mode.label for mode in learning]
    for mode in found:
        # 400 units: initial strengths scatter by 7 %, which moves a rise by some steps of 200.
        assert mode.largest.value < 0.1
        assert abs(mode.mean[-1] - mode.predicted[-1]) < 1e-3 * mode.plateau
        assert abs(mode.half_time_error.value) < 10
        assert mode.half_time_error.low < mode.half_time_error.value < mode.half_time_error.high


def test_the_last_strength_is_what_the_final_weights_say():
    found = linear(0)
    maps = found.gdln.snapshots["maps"][:, -1].mean(axis=0)
    known: dict[str, list[float]] = {}
    for place, pathway in enumerate(found.derivation.at_values.pathways):
        u, v, labels = probe_bases(pathway)
        own = maps[place][:, list(pathway.effective.pathway.inputs)]
        for column, label in enumerate(labels):
            known.setdefault(label, []).append(u[:, column] @ own @ v[:, column])
    for mode in found.modes:
        if mode.subject == "gdln":
            assert mode.mean[-1] == pytest.approx(np.mean(known[mode.label]), rel=1e-12)


def test_a_relu_network_at_half_speed_computes_half_the_product_of_its_layers():
    network = {"hidden": 300, "init_std": Fraction(1, 5000), "steps": 1500, "activation": "relu"}
    x, y = [[2, 0, -2, 0], [0, 1, 0, -1]], [[2, 1, -2, -1], [2, -1, -2, 1]]
    found = sr.validate(sr.derive(matrix_spec(x, y, ["1111"], network=network)), seeds=2)
    modes = [mode for mode in found.modes if mode.subject == "relu"]
    weights = found.network.weights[0]
    for seed in range(2):
        images = weights.w2[seed] @ np.maximum(weights.w1[seed] @ np.eye(2), 0)
        images -= weights.w2[seed] @ np.maximum(-weights.w1[seed] @ np.eye(2), 0)
        strengths = np.linalg.svd(images / 2, compute_uv=False)  # of the odd part
        shown = sorted((mode.measured[seed, -1] for mode in modes), reverse=True)
        assert shown == pytest.approx(strengths, rel=0.01)
    assert all(abs(mode.mean[-1] - mode.predicted[-1]) < 0.01 * mode.plateau for mode in modes)


def test_units_of_a_relu_network_are_given_to_the_gate_that_reproduces_them():
    found = relu()
    modes = [mode for mode in found.modes if mode.subject == "relu"]
    assert {mode.pathway for mode in modes} == {"p1", "p2", "p3", "p4"}
    # By hand, from the weights at the end.
    spec = found.derivation.at_values.spec
    (layer,), gates = found.network.weights, [pathway.gate for pathway in spec.pathways]
    seen = layer.w1 @ spec.dataset.inputs.to_numpy()
    missed = [((np.maximum(seen, 0) - gate * seen) ** 2).sum(axis=-1) for gate in np.array(gates)]
    best = np.argmin(missed, axis=0)
    maps = np.stack(
        [(layer.w2 * (best == gate)[:, None, :]) @ layer.w1 for gate in range(len(gates))], axis=1
    )
    for place, pathway in enumerate(found.derivation.pathways):
        u, v, _ = probe_bases(pathway)
        (mode,) = [m for m in modes if m.pathway == pathway.name]
        by_hand = [u[:, 0] @ maps[seed, place] @ v[:, 0] for seed in range(found.seeds)]
        np.testing.assert_allclose(mode.measured[:, -1], by_hand, rtol=1e-10)


# -- intervals -------------------------------------------------------------------------------------


def test_half_times_are_between_the_steps():
    predicted = np.array([0.0, 0.4, 0.8, 1.0])
    later = np.array([[0.0, 0.2, 0.6, 1.0], [0.0, 0.2, 0.6, 1.0]])
    looks = {"plateau": 1.0, "steps": (0, 10, 20, 30)}
    found = measured_mode(later, predicted, **looks).half_time_error
    # Half of 1 at 12.5 and at 17.5: theory is 5 steps early.
    assert found.value == pytest.approx(12.5 - 17.5)
    never = measured_mode(0.1 * later, predicted, **looks).half_time_error
    assert never.value is None


# -- Assumption 2.1.1, taken at its word -----------------------------------------------------------


def test_modes_that_keep_to_their_directions_still_learn_and_cannot_learn_all():
    numbers = derive_unchecked(
        matrix_spec(
            [[1, 0], [2, 1]], [[1, 3], [0, 2]], [[1, 1]], network=NETWORK | {"steps": 20001}
        )
    ).at_values
    curve = predict_all(numbers).straight
    assert np.all(np.diff(curve) <= 1e-12)
    u, v, _ = probe_bases(numbers.pathways[0])
    pathway = numbers.pathways[0].effective
    drive = np.diag(u.T @ pathway.sigma_yx.to_numpy() @ v)
    felt = np.diag(v.T @ pathway.sigma_x.to_numpy() @ v)
    # Each mode ends at s/d of its own direction.
    end = float(numbers.initial_loss.to_fraction()) - np.sum(drive**2 / (2 * felt))
    assert curve[-1] == pytest.approx(end, rel=1e-3)
    assert end > float(numbers.least_loss.to_fraction()) + 0.01
