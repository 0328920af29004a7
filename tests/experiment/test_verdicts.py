"""Loss, modes and gates: what is printed is judged, by intervals that hold."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import symreln as sr
from symreln.claims.prediction import predict_training
from symreln.experiment.gates_held import GatesHeld, gates_held, stage_ends
from symreln.experiment.metrics import mutual_distance
from symreln.experiment.strengths import ModeMeasured
from symreln.experiment.verdicts import gates_verdict, modes_verdict
from tests.cases import derived
from tests.experiment.test_confront import one_pathway, relu
from tests.own_specs import own, path

NAMES = {"gdln": "GDLN", "relu": "ReLU network"}


def staged() -> sr.Derivation:
    keys = ("dataset.items=4", "network.hidden=60", "network.steps=4001")
    return derived("contextual-3", *keys)


def test_one_seed_gives_no_verdict_and_says_so():
    found = sr.validate(sr.derive(one_pathway(steps=401)), seeds=1)
    assert found.verdict == "not tested"
    assert "one seed gives no interval" in found.verdicts["loss"].reason
    reason = found.verdicts["modes"].reason
    assert reason.startswith("one seed gives no interval; train at least two (relative error ")
    assert found.to_json()["diagnosis"] == []


def test_the_error_of_the_theory_widens_the_interval():
    losses = np.array([[1, 0.5, 0.1], [1, 0.6, 0.2], [1, 0.55, 0.1]])
    plain = mutual_distance(losses[0][None], losses, 0).max_abs_over_initial
    wider = mutual_distance(losses[0][None], losses, 0, error=0.3).max_abs_over_initial
    radius = plain.high - plain.value
    assert wider.high - wider.value == pytest.approx(np.hypot(radius, 0.3))
    assert wider.low <= plain.low


# -- what is judged --------------------------------------------------------------------------------


def test_without_closed_forms_the_reduction_is_judged():
    found = sr.validate(sr.derive(sr.load("iris", overrides=("network.steps=3000",))), seeds=2)
    assert found.judged == found.to_json()["judged"] == "reduced"
    assert found.metrics["theory_vs_gdln"] == found.metrics["reduced_vs_gdln"]
    assert "closed_vs_gdln" not in found.metrics


def test_the_summary_names_all_three_and_hides_no_disagreement():
    found = relu()
    sentence = found.sentence()
    for name in ("loss", "modes", "gates"):
        outcome = found.verdicts[name].outcome
        stem = {"agrees": "AGREE", "disagrees": "DISAGREE"}.get(outcome, outcome.upper())
        assert f"{name} {stem}" in sentence
    assert sentence.index("loss ") < sentence.index("modes ") < sentence.index("gates ")
    entry = found.to_json()["verdicts"]["modes"]
    assert set(entry) == {"outcome", "value", "interval", "tolerance", "reason"}


# -- modes -----------------------------------------------------------------------------------------


def measured_mode(values: np.ndarray, predicted: np.ndarray, **keys) -> ModeMeasured:
    own = {"subject": "relu", "pathway": "p", "label": "pi_1_1", "multiplicity": 1, "plateau": 2.0}
    own["steps"] = tuple(range(len(predicted)))
    return ModeMeasured(**own | keys, predicted=predicted, measured=values)


def judged(*modes: ModeMeasured):
    return modes_verdict(modes, 0.05, NAMES, 0)


def test_errors_of_modes_are_shares_of_the_plateau():
    predicted = np.array([0.0, 1.0, 2.0])
    found = judged(measured_mode(np.array([[0, 1.2, 2.0], [0, 1.2, 2.0]]), predicted))
    assert (found.outcome, found.value) == ("disagrees", pytest.approx(0.1))
    near = measured_mode(np.array([[0, 1.01, 2.0], [0, 1.0, 2.0]]), predicted)
    assert judged(near).value == pytest.approx(0.0025)


def test_what_was_not_learned_is_no_relative_error():
    """A prediction of 1e-9 beside a strength of 1e-5 was an error of a million per cent."""
    idle = measured_mode(np.full((2, 3), 1e-5), np.full(3, 1e-9))
    assert idle.why_not(0.05) == "not learned"
    found = judged(idle)
    assert (found.outcome, found.value) == ("not tested", None)
    assert "no mode was learned" in found.reason


# -- gates -----------------------------------------------------------------------------------------


def test_shares_of_the_weight_are_counted_unit_by_unit():
    found = relu()
    held = found.gates
    assert isinstance(held, GatesHeld)
    assert held.steps[-1] == found.network.snapshot_steps[-1]
    inputs = found.derivation.spec.dataset.inputs.to_numpy()
    gates = {p.effective.pathway.gate for p in found.derivation.at_values.pathways}
    weights, expected = found.network.weights[0], []
    for w1, w2 in zip(weights.w1, weights.w2, strict=True):
        sizes = [np.linalg.norm(w1[h]) * np.linalg.norm(w2[:, h]) for h in range(len(w1))]
        ours = [has_a_gate(unit, inputs, gates) for unit in w1]
        expected.append(float(np.dot(sizes, ours)) / sum(sizes))
    np.testing.assert_allclose(held.shares[:, -1], expected, rtol=1e-12)


def has_a_gate(unit: np.ndarray, inputs: np.ndarray, gates: set[tuple[int, ...]]) -> bool:
    """Whether the unit has a gate on all samples but those within a cosine of 1e-3 of its edge."""
    for gate in gates:
        wrong = 0
        for value, sample in zip(gate, inputs.T, strict=True):
            cosine = unit @ sample / (np.linalg.norm(unit) * np.linalg.norm(sample))
            wrong += abs(cosine) > 1e-3 and (cosine > 0) != bool(value)
        if not wrong:
            return True
    return False


def test_the_first_stage_ends_where_its_strengths_are_predicted_to():
    numbers = staged().at_values
    prediction = predict_training(numbers)
    ((one, end),) = stage_ends(numbers, prediction, 0.05)
    assert one == "stage 1"
    lacking = [
        abs(curve.closed[end - 1] / curve.plateau - 1)
        for curve in prediction.modes
        if curve.pathway == "common"
    ]
    assert 0.05 < max(lacking) < 0.06


@pytest.mark.parametrize(
    ("shares", "outcome"),
    [
        ([[0.99], [0.98], [0.985]], "agrees"),
        ([[0.05], [0.04], [0.06]], "disagrees"),
        ([[0.99], [0.7], [0.95]], "undecided"),
        ([[0.99]], "not tested"),
    ],
)
def test_gates_agree_where_nearly_all_of_the_weight_has_one(shares, outcome):
    held = GatesHeld(stages=("stage 1",), steps=(9,), shares=np.array(shares))
    found = gates_verdict(held, 0.05, 0, None)
    assert found.outcome == outcome
    assert found.value == pytest.approx(np.mean(shares))


BOUNDARY = own(
    [[2, 1], [1, 2]],
    [[1, -1]],
    path("first", [1, "/"]),
    path("second", ["/", 1]),
    network={"hidden": 40, "init_std": "1/1000", "learning_rate": "1/100", "steps": 10},
)


def test_samples_on_the_boundary_of_a_pathway_are_not_compared():
    numbers = sr.derive(sr.load(BOUNDARY)).at_values
    assert [p.effective.pathway.boundary for p in numbers.pathways] == [(1,), (0,)]
    activity = np.array([[[[1, 1], [0, 0]]]])
    snapshots = {
        "activity": activity,
        "boundary": np.zeros_like(activity, dtype=bool),
        "contribution": np.array([[[3.0, 1.0]]]),
    }
    run = SimpleNamespace(snapshots=snapshots, snapshot_steps=(9,), losses=np.zeros((1, 10)))
    # Open on both samples is either pathway's; closed on both is neither's.
    assert gates_held(numbers, run, (("stage 1", 9),)).shares.tolist() == [[0.75]]


# -- constants -------------------------------------------------------------------------------------


# -- published figures and units -------------------------------------------------------------------
