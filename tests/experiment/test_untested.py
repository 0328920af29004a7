"""Nothing learned is no agreement: when it is said, and how many steps it would take."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.experiment.confront import Validation
from symreln.experiment.metrics import drop_time
from symreln.experiment.uninformative import Uninformative, steps_for_scale
from symreln.experiment.variations import SAME, Variation
from symreln.specs.spec import ValidationSpec
from tests.experiment.test_confront import linear, one_pathway


@lru_cache(maxsize=1)
def few() -> Validation:
    return sr.validate(sr.derive(one_pathway(steps=50)), seeds=2)


def test_few_steps_test_nothing():
    found = few()
    # Theory and training are as near as can be, and so is the theory that nothing is learned.
    assert found.disagreements == ()
    assert found.metrics["reduced_vs_gdln"].max_abs_over_initial < 1e-4
    assert found.verdict == "not tested"
    assert not found.agrees
    assert found.to_json()["verdict"] == "not tested"
    assert (
        "loss NOT TESTED: training made too little progress to test the prediction (in 49 steps"
        in found.sentence()
    )
    assert found.diagnosis == ()


def test_the_steps_that_it_would_take_are_those_it_takes():
    uninformative = few().uninformative
    # The half-time formula of the strongest mode, and a training that was long enough.
    curve = sr.derive(one_pathway()).evaluate().reduced
    drops, half = drop_time(curve), int(np.argmax(curve < curve[0] / 2))
    assert uninformative.drops == pytest.approx(drops, abs=2)
    assert uninformative.half == pytest.approx(half, abs=2)
    assert f"about {uninformative.drops} steps for the first drop" in few().sentence()
    trained = sr.validate(sr.derive(one_pathway(steps=uninformative.half + 60)), seeds=3)
    assert trained.uninformative is None


def test_a_pickle_makes_a_confrontation_again():
    again = pickle.loads(pickle.dumps(few()))
    assert (again.verdict, again.metrics) == (few().verdict, few().metrics)


def test_an_effective_network_that_diverges_beside_stable_gates_is_a_reason():
    """With one sample open descent settles; with all of them units of the data alone do not."""
    gate = {"name": "one", "gate": [1, 0, 0, 0]}
    network = {"hidden": 40, "init_std": "1/1000", "learning_rate": "1/2", "steps": 36}
    data = {"X": [[1, -1, 1, -1], [1, -1, -1, 1]], "Y": [["4/5", 1, -1, -1]]}
    found = sr.validate(sr.load({"dataset": data, "pathway": [gate], "network": network}), seeds=2)
    assert "its units diverge" in found.to_json()["effective"]["why_not"]


def test_a_disagreement_is_one_though_nothing_is_learned():
    spec = replace(
        few().derivation.spec, validation=ValidationSpec(tolerance=Fraction(0), reason="a test")
    )
    wrong = {name: 0.8 * getattr(few().prediction, name) for name in ("reduced", "closed_loss")}
    prediction = replace(few().prediction, **wrong)
    found = replace(
        few(), derivation=replace(few().derivation, spec=spec), judged_curves=prediction
    )
    assert found.verdict == "disagrees"
    assert "loss NOT TESTED" not in found.sentence()


def test_a_loss_that_moved_more_than_the_tolerance_but_has_not_dropped_is_not_tested():
    numbers = linear(0).derivation.at_values
    fallen = np.linspace(1.0, 0.93, 11)
    assert Uninformative.of(numbers, [fallen], tolerance=0.05) is not None
    assert Uninformative.of(numbers, [np.linspace(1.0, 0.89, 11)], tolerance=0.05) is None
    # One kind of network that learned does not make up for another that did not.
    assert Uninformative.of(numbers, [fallen / fallen, np.linspace(1, 0, 11)], tolerance=0.05)
    found = Uninformative.of(numbers, [fallen, np.linspace(1, 0, 11)], tolerance=0.05)
    assert found.fell == pytest.approx(0.07)


def test_steps_of_a_smaller_start_of_three_layers_are_found():
    overrides = ("network.layers=3", "network.hidden=20", "network.init_std=1/20")
    numbers = sr.derive(sr.load("linear-hierarchy", overrides=overrides)).at_values
    half = Variation(std=Fraction(1, 2))
    start, smaller = (
        replace(numbers, spec=change.of(numbers.spec, steps))
        for change, steps in ((SAME, 400), (half, 10))
    )
    steps = steps_for_scale(start, smaller)
    # Of three layers a mode takes a time like 1/(σ √H) to rise: twice as long, and a little more.
    assert 400 < steps < 1200
