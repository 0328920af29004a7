"""What the distance to the network is made of: the chain, and its last link."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import symreln as sr
from symreln.base.rounding import percent
from symreln.claims.prediction import predict_training
from symreln.document.model import Table
from symreln.experiment.confront import Validation
from symreln.experiment.metrics import compare
from symreln.experiment.training import gated_pathways
from symreln.report.chapters.agreement import agreement_chapter

NARROW = {
    "dataset": {"X": [[1, 0], [0, 1]], "Y": [[3, 0], [0, 2]]},
    "pathway": [{"name": "one", "hidden": 1}],
    "network": {
        "hidden": 20,
        "init_std": "1/1000",
        "learning_rate": "1/10",
        "loss": "mean",
        "steps": 200,
        "activation": "linear",
    },
}


@lru_cache(maxsize=1)
def xor() -> Validation:
    return sr.validate(sr.derive(sr.load("xor")), seeds=4, rng=2, terms=True)


def test_the_chain_runs_from_the_flow_to_the_mean_field_simulation():
    found = xor().terms
    assert [term.replaced for term in found] == [
        "",
        "infinitely small steps",
        "half of the units in every pathway",
        "fixed gates, and pathways that share no units",
    ]
    mean = xor().network.mean_loss
    for term in found:
        assert term.distance == compare(term.loss, mean)
    np.testing.assert_array_equal(found[3].loss, xor().mean_field.losses)
    np.testing.assert_array_equal(found[0].loss, xor().prediction.flow_loss)
    np.testing.assert_array_equal(found[2].loss, xor().prediction.reduced)
    assert found[2].distance == xor().metrics["reduced_vs_relu"]


def test_counting_half_of_the_units_is_what_costs_most_in_xor():
    flow, steps, theory, mean_field = (t.distance.max_abs_over_initial for t in xor().terms)
    assert flow > steps > 2 * theory
    assert steps - theory > flow - steps > 0
    assert mean_field < 0.05


def test_the_step_is_a_step_of_gradient_descent():
    numbers = xor().derivation.at_values
    np.testing.assert_array_equal(xor().terms[1].loss, predict_training(numbers).reduced)


def test_a_linear_network_has_the_flow_and_finite_steps_alone():
    spec = sr.load("linear-hierarchy", overrides=("network.steps=400",))
    found = sr.validate(sr.derive(spec), seeds=1, terms=True)
    assert [term.replaced for term in found.terms] == ["", "infinitely small steps"]
    assert [term.name for term in found.terms] == ["flow", "theory: gradient descent"]
    np.testing.assert_array_equal(found.terms[0].loss, found.prediction.flow_loss)
    assert found.terms[1].distance == found.metrics["reduced_vs_relu"]
    assert found.no_terms == ""


def test_where_no_network_without_gates_was_trained_the_gdln_is_what_is_explained():
    spec = sr.load(NARROW | {"pathway": [{"name": "one", "gate": ["2", "1"]}]})
    found = sr.validate(sr.derive(spec), seeds=2, terms=True)
    assert found.network is None
    assert [term.replaced for term in found.terms] == ["", "infinitely small steps"]
    assert found.terms[-1].distance == found.metrics["reduced_vs_gdln"]
    assert "distance to the GDLN" in str(agreement_chapter(found, figures=False))


def test_a_narrow_pathway_is_averaged_over_the_law_of_its_start():
    found = sr.validate(sr.derive(sr.load(NARROW)), seeds=8, terms=True)
    assert found.no_terms == ""
    first, theory = found.terms
    assert theory.replaced == "infinitely small steps, and one start for all networks"
    assert theory.name.endswith("mean over the initialisation distribution")
    assert theory.distance == found.metrics["reduced_vs_gdln"]
    assert first.distance == found.metrics["closed_vs_gdln"]


def test_a_run_that_was_not_asked_has_no_chain():
    spec = sr.load("xor", overrides=("network.steps=50",))
    found = sr.validate(sr.derive(spec), seeds=1)
    assert (found.terms, found.no_terms) == ((), "")


def test_the_gdln_has_the_units_that_kappa_counts():
    spec = sr.load("xor").at_values()
    widths = {p.name: p.hidden for p in gated_pathways(spec, {"sample_1": 0.31})}
    hidden = spec.network.hidden
    assert widths.pop("sample_1") == round(0.31 * hidden)
    assert set(widths.values()) == {round(hidden / 2)}
    assert xor().gdln.settings.hidden == hidden


# -- what is written -------------------------------------------------------------------------------


def test_the_record_holds_the_chain_and_what_the_theory_starts_from():
    found = xor().to_json()
    assert [term["name"] for term in found["terms"]] == [term.name for term in xor().terms]
    assert found["terms"][0]["replaced"] is None
    assert (
        found["terms"][2]["max_abs_over_initial"]
        == (found["metrics"]["reduced_vs_relu"]["max_abs_over_initial"])
    )
    strengths = found["initial_strengths"]
    assert strengths["pathways"] == dict(xor().kappas)
    assert set(strengths["modes"]) == set(xor().early)
    assert all(0 < mode["error"] < 0.1 * mode["kappa"] for mode in strengths["modes"].values())


def test_the_document_shows_the_chain_and_kappa_with_its_error():
    chapter = agreement_chapter(xor(), figures=False)
    tables = [block for block in chapter.blocks if isinstance(block, Table)]
    (table,) = [t for t in tables if "no longer assumed" in str(t.header)]
    for row, term in zip(table.rows, xor().terms, strict=True):
        assert term.name in str(row[0])
        assert percent(term.distance.max_abs_over_initial) in str(row[2])
    text = str(chapter)
    first = next(iter(xor().early.values()))
    assert f"sample_1 {xor().kappas['sample_1']:.3f} ± {first.error:.3f}" in text


def test_without_terms_or_relu_units_nothing_is_said_of_them():
    spec = sr.load("linear-hierarchy", overrides=("network.steps=50",))
    found = sr.validate(sr.derive(spec), seeds=2)
    assert found.to_json()["terms"] is None
    assert found.to_json()["initial_strengths"] is None
    text = str(agreement_chapter(found, figures=False))
    assert "no longer assumed" not in text
    assert "kappa" not in text
