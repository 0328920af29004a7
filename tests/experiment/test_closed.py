"""Other depths, weight decay and layers that start apart: closed forms against training."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.claims.integration import network_of
from symreln.claims.prediction import closed_forms, predict_training
from symreln.claims.starts import chain_of
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.closed import predict_aligned, train_aligned
from tests.own_specs import LINEAR, own, path

#: Two closed pathways whose modes have rational s; inputs and outputs of their own.
SPEC = own(
    [[1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]],
    [[2, 2, 0, 0], [1, -1, 0, 0], [0, 0, 3, 0], [0, 0, 0, 1]],
    path("left", [1, 1, 0, 0], inputs=[0, 1], outputs=[0, 1]),
    path("right", [0, 0, 1, 1], inputs=[2, 3], outputs=[2, 3]),
)
NETWORK = LINEAR | {"hidden": 40, "init_std": "1/1000", "learning_rate": "1/50", "steps": 1000}
KINDS = {
    "one layer": {"layers": 1},
    "three layers": {"layers": 3, "init_std": "3/100"},
    "four layers": {"layers": 4, "init_std": "1/16"},
    "decay": {"weight_decay": "1/5"},
    "apart": {"init_std": ["1/100", "1/1000"]},
}
DEEP = ("three layers", "four layers")


def derived(**keys):
    return sr.derive(sr.load({**SPEC, "network": {**NETWORK, **keys}}))


def confronted(**keys):
    return sr.validate(derived(**keys), seeds=4, rng=1)


@lru_cache(maxsize=8)
def report_of(kind):
    return confronted(**KINDS[kind])


def of_equations(prediction):
    """The loss of the modes' equations: closed forms, or integrated where there is none."""
    closed = prediction.closed_loss
    return prediction.reduced if closed is None else closed


@pytest.mark.parametrize("kind", KINDS)
def test_an_aligned_start_differs_by_finite_steps_alone(kind):
    """Halving the learning rate halves the distance to the closed forms: Euler's first order.

    One layer has none: its closed form takes the same steps. That of more than two layers is of
    second order.
    """
    distances = []
    for rate, steps in (("1/20", 601), ("1/40", 1201)):
        numbers = derived(**{**KINDS[kind], "learning_rate": rate, "steps": steps}).at_values
        start = chain_of(numbers)
        predicted = of_equations(closed_forms(numbers, np.arange(float(steps))))
        found = train_aligned(numbers, start).losses[0]
        assert found[-1] < 0.8 * found[0]  # weight decay keeps a part of it
        distances.append(np.abs(predicted - found).max() / found[0])
    if kind == "one layer":
        assert max(distances) < 1e-13
        return
    assert distances[-1] < 0.02
    order = 2 if kind in DEEP else 1
    assert order - 0.2 < np.log2(distances[0] / distances[1]) < order + 0.2, distances


@pytest.mark.parametrize("rate", ["1/5", "1/50"])
@pytest.mark.parametrize("kind", KINDS)
def test_finite_steps_on_the_modes_are_the_aligned_network_to_rounding(kind, rate):
    """However large the steps are, where closed forms of infinitely small ones are 14 % off."""
    numbers = derived(**{**KINDS[kind], "learning_rate": rate, "steps": 300}).at_values
    start = chain_of(numbers)
    found = train_aligned(numbers, start).losses[0]
    np.testing.assert_allclose(predict_aligned(numbers, start), found, atol=1e-12 * found[0])
    strength0 = None if start is None else start.strength(float(network_of(numbers.spec).init_std))
    times = np.arange(300.0)
    flow, own = (
        np.abs(closed_forms(numbers, times, strength0, flow=flow).loss - found).max() / found[0]
        for flow in (True, False)
    )
    assert flow > 1e-3
    assert own <= flow
    assert own < (0.1 if kind in DEEP else 0.4) * flow


def test_finite_steps_of_two_layers_are_the_gdln_of_the_expected_start():
    """Weights whose Q Qᵀ is what the law expects, and not the growing combination alone."""
    numbers = derived(**{**KINDS["apart"], "learning_rate": "1/5", "steps": 300}).at_values
    network = network_of(numbers.spec)
    both = (network.init_std, network.init_std_out or network.init_std)
    spec = replace(numbers.spec, network=replace(network, init_std=both[0], init_std_out=both[1]))
    apart = replace(numbers, spec=spec)  # a and b of every mode in units of their own
    found = train_aligned(apart, None).losses[0]
    theory = predict_training(numbers).reduced
    np.testing.assert_allclose(theory, found, atol=1e-12 * found[0])


@pytest.mark.parametrize("kind", KINDS)
def test_networks_from_the_law_are_near(kind):
    report = report_of(kind)
    assert report.prediction.free_constants == 0
    assert {"theory_vs_gdln", "theory_vs_relu", "closed_vs_aligned"} <= set(report.metrics)
    assert report.metrics["closed_vs_aligned"].max_abs_over_initial < 0.03
    # Two pathways' gates are more than one linear network has; the GDLN has the gates.
    found, floor = report.metrics["theory_vs_gdln"], report.floor.mean
    assert found.max_abs_over_initial < max(0.03, 2 * floor.max_abs_over_initial)
    titles = [row[0] for row in report.metric_rows()]
    assert titles[-1] == "seed floor of the linear network"


def test_what_is_not_covered_is_refused():
    with pytest.raises(NotSupportedError, match=r"1 hidden units for 2 modes \(one each\)"):
        confronted(layers=3, hidden=1)
    with pytest.raises(NotSupportedError, match=r"3 hidden units for 2 modes \(two each"):
        confronted(hidden=3, init_std=["1/10", "1/20"])
    assert confronted(layers=1, hidden=1, steps=3).seeds == 4  # no hidden layer, no unit needed
    with pytest.raises(InputError, match="diverged"):
        confronted(layers=3, learning_rate="40", init_std="1/2", steps=400)
