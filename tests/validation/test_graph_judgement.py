"""What a confrontation of a graph says beyond distances: not tested, and which assumption fails."""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.calls.validate import Validation
from symreln.document.model import Strong, Table, prose
from symreln.experiment.findings import ALIGNMENT, FORMS, SCALE, STEP, WIDTH
from symreln.experiment.metrics import drop_time
from symreln.experiment.scalar_modes import ScalarModes
from symreln.report.chapters.agreement import agreement_chapter
from symreln.report.content import derivation_chapters
from symreln.report.sentences import titles
from symreln.report.validation_json import validation_to_json
from tests.validation.test_graphs import GRAPHS, table, validated


@lru_cache(maxsize=1)
def few() -> Validation:
    return validated("chain of three", steps=5)


def modes(name: str, **network) -> ScalarModes:
    return ScalarModes.of(sr.load(table(*GRAPHS[name], **network)).at_values())


# -- not tested ------------------------------------------------------------------------------------


def test_few_steps_test_nothing():
    found = few()
    assert found.disagreements == ()
    assert max(m.max_abs_over_initial for m in found.metrics.values()) < 0.01
    assert (found.verdict, found.agrees) == ("not tested", False)
    assert (
        "loss NOT TESTED: training made too little progress to test the prediction (in 4 steps"
        in found.sentence()
    )
    assert "AGREE" not in found.sentence()
    written = json.loads(json.dumps(validation_to_json(found)))
    assert written["verdict"] == "not tested"
    assert written["not_tested"]["drops"] == found.uninformative.drops
    result = derivation_chapters(found.derivation, found, ("loss",))[0]
    (shown,) = [x for x in result.blocks if isinstance(x, Table) and x.label == "tab:agreement"]
    (row,) = [row for row in shown.rows if row[0] == prose("loss").content]
    assert row[1] == prose(Strong("not tested")).content


def test_the_steps_that_it_would_take_are_those_it_takes():
    drops = few().uninformative.drops
    assert f"about {drops} steps for the first drop" in few().sentence()
    found = validated("chain of three", steps=drops + 60)
    # By the flow from one effective start; the theory is the mean over starts, in finite steps.
    assert drop_time(found.prediction.loss) == pytest.approx(drops, rel=0.05)
    assert drop_time(found.gdln.mean_loss) == pytest.approx(drops, rel=0.15)
    assert found.uninformative is None


def test_an_aligned_start_alone_is_the_test_where_nothing_else_is_predicted():
    found = validated("skip", steps=5)
    assert isinstance(found.edges.start, str)
    assert found.verdict == "not tested"
    later = validated("skip", steps=found.uninformative.drops + 20)
    assert drop_time(later.aligned.mean_loss) == pytest.approx(found.uninformative.drops, rel=0.05)
    assert later.verdict == "agrees"


@pytest.mark.parametrize("name", ["chain of three", "skip"])
def test_the_step_of_a_loss_is_that_of_descent(name):
    found = modes(name, init_std="1/5", learning_rate="1/100", steps=1500)
    loss = found.descend(0.2).loss
    level = 0.6 * loss[0]
    assert found.step_below(0.2, level) == pytest.approx(np.argmax(loss <= level), abs=6)
    assert found.step_below(0.2, 0.99 * loss[0]) < found.step_below(0.2, level)


def test_a_level_that_is_never_reached_has_no_step():
    assert modes("chain of three", init_std="1/5", steps=30).step_below(0.2, -1.0) is None


def test_what_can_be_learned_is_the_least_squares_of_the_data():
    found = modes("chain of three")
    data = found.spec.dataset
    x, y = data.inputs.to_numpy(), data.targets.to_numpy()
    rest = y - y @ np.linalg.pinv(x) @ x
    assert found.learnable == pytest.approx(1 - (rest**2).sum() / (y**2).sum(), abs=1e-12)
    # Two bundles that couple: the first one's part of the error is the other's too.
    coupled = modes("skip")
    long = coupled.descend(0.3).loss
    assert coupled.learnable >= 1 - long[-1] / long[0]


def test_a_network_that_learned_all_it_is_predicted_to_is_tested():
    assert validated("chain of three").uninformative is None
    assert validated("skip", init_std="1/5").uninformative is None


# -- which assumption fails ------------------------------------------------------------------------


def many(name: str, seeds: int = 24, **network) -> Validation:
    """Confront as many networks as tell what fails."""
    spec = sr.load(table(*GRAPHS[name], **network))
    return sr.validate(sr.derive(spec), seeds=seeds, rng=2)


def failed(found: Validation, pair: str) -> tuple[str, ...]:
    (each,) = [each for each in found.diagnosis if each.pair == pair]
    return each.failed


def test_large_initial_weights_are_the_initial_scale_and_not_alignment():
    found = many("chain of three", init_std="1/5")
    assert found.disagreements == ("theory_vs_gdln",)
    assert failed(found, "theory_vs_gdln") == (SCALE,)
    (pair,) = found.diagnosis
    assert {each.assumption for each in pair.findings if each.explains} == {ALIGNMENT, SCALE}
    assert "the assumption that fails is the initial scale, which is too large" in found.sentence()
    (entry,) = validation_to_json(found)["failing"]
    assert entry["failed"] == [SCALE]
    assert "1/4 of the initial scale" in str(agreement_chapter(found))


def test_what_two_assumptions_share_is_named_after_none_of_them():
    found = many("chain of three", hidden=2, init_std="1/10", seeds=128)
    # Closed forms start all modes from one mean, which few units scatter about too.
    assert failed(found, "theory_vs_gdln") == ()
    (pair,) = found.diagnosis
    assert {WIDTH, FORMS} <= {each.assumption for each in pair.findings}
    # What is diagnosed is what is judged, here the closed forms.
    assert found.judged == "closed"
    assert pair.findings[0].before == found.metrics["closed_vs_gdln"].max_abs_over_initial
    assert titles(found)["theory_vs_gdln"].startswith("judged: closed forms")
    pairs = {"theory_vs_aligned", "theory_vs_gdln", "reduced_vs_gdln", "closed_vs_gdln"}
    assert validation_to_json(found)["intervals"]["pairs"].keys() == pairs


def test_a_rate_at_the_edge_of_stability_is_the_step_size():
    found = many("chain of three", learning_rate="64/100", steps=100, seeds=16)
    assert STEP in failed(found, "theory_vs_gdln")
    assert not any(SCALE in each for each in failed(found, "theory_vs_gdln"))


def test_a_wrong_rate_is_blamed_on_nothing(monkeypatch):
    """The scalar modes take twice the steps of the networks, whatever is replaced."""
    right = ScalarModes._rate.fget
    monkeypatch.setattr(ScalarModes, "_rate", property(lambda self: 2 * right(self)))
    found = validated("two parts", hidden=200, init_std="1/100")
    assert {each.pair for each in found.diagnosis} == {"theory_vs_aligned", "theory_vs_gdln"}
    assert all(each.failed == () for each in found.diagnosis)
    assert found.sentence().count("the distance is unexplained") == 2
    assert "what fails" not in found.sentence()
    assert all(entry["unexplained"] for entry in validation_to_json(found)["failing"])


def test_pairs_are_diagnosed_where_the_verdict_says_that_they_disagree():
    # One network has no interval: nothing is judged by its distance, so nothing is blamed for it.
    found = many("chain of three", init_std="1/5", seeds=1)
    assert found.metrics["theory_vs_gdln"].max_abs_over_initial > found.tolerance
    assert found.verdict == "not tested"
    assert found.diagnosis == ()


def test_where_theory_and_training_agree_nothing_is_blamed():
    found = validated("two parts", hidden=400, init_std="1/200")
    assert found.verdict == "agrees"
    assert found.diagnosis == ()
    assert "what fails" not in found.sentence()
