"""Captions and tables say what was done in every case: layers, starts, terms, advice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import symreln as sr
from symreln.claims.constants import Constant
from symreln.document.document_model import Math, Table, inlines, plain_text
from symreln.report.chapters.agreement import _comparison
from symreln.report.chapters.closing import _constants_table, closing_chapter
from symreln.report.content import _modes_figure
from tests.cases import derived
from tests.own_specs import LINEAR, own, path


def spec(activation: str = "linear", **network: Any) -> sr.Spec:
    small = {"hidden": 40, "init_std": "1/10", "steps": 40, "activation": activation}
    return sr.load(own([[1, 0], [0, 1]], [[3, 0], [0, 2]], network=small | network))


def caption(derivation, method: str | None = None) -> str:
    return plain_text(_modes_figure(derivation, method).caption)


@pytest.mark.parametrize("layers", [1, 3])
def test_strengths_of_other_depths_are_no_coupled_matrices(layers):
    derivation = sr.derive(spec(layers=layers))
    method = "gradient descent on all modes, step by step"
    found = caption(derivation, method)
    assert "coupled matrices" not in found
    assert "closed forms" in found
    assert ("mean of the starts" in found) == (layers == 3)
    assert "closed forms" in caption(derivation)


def test_strengths_of_two_layers_without_closed_forms_are_those_of_the_method():
    derivation = derived("iris")
    matrices = "gradient descent on the coupled matrices of all pathways, step by step"
    found = caption(derivation, matrices)
    assert "coupled matrices" in found
    found = caption(derivation, "networks drawn from the law")
    assert "networks drawn from the law" in found
    assert "coupled matrices" not in found


def test_constants_have_the_letters_of_the_text():
    constant = Constant(name="kappa of pathway 'a'", value=0.5, source="assumed", origin="here")
    (table,) = _constants_table([constant])
    assert inlines(table.rows[0][0])[0] == Math(r"\kappa")


def gated(**more: Any) -> sr.Spec:
    gates = {"wide": [1, 0, 0], "narrow": [0, 1, 0], "last": [0, 0, 1]}
    pathways = [
        path(name, gate, **(more if name == "narrow" else {})) for name, gate in gates.items()
    ]
    network = {"hidden": 40, "init_std": "1/10", "steps": 20}
    return sr.load(own([[1, 0, 2], [0, 1, 0]], [[3, 0, 1], [0, 2, 1]], *pathways, network=network))


@pytest.mark.parametrize(
    ("more", "words"), [({"hidden": 7}, "7 (narrow); 20 (wide, last)"), ({"hidden": 20}, "20")]
)
def test_units_of_pathways_that_differ_are_all_told(more, words):
    found = sr.validate(sr.derive(gated(**more)), seeds=1)
    tables = [b for b in closing_chapter(found.derivation, found).blocks if isinstance(b, Table)]
    pairs = [pair for row in tables[-1].rows for pair in (row[:2], row[2:])]
    (value,) = [pair[1] for pair in pairs if "units of a pathway" in str(pair[0])]
    assert value == words


def test_a_mean_of_networks_may_be_nearer_than_the_seed_floor():
    network = spec().network
    assert network is not None
    found = sr.validate(sr.derive(replace(spec(), network=replace(network, hidden=400))), seeds=16)
    assert found.floor is not None
    near = found.metrics["reduced_vs_relu"].max_abs_over_initial
    assert near < found.floor.mean.max_abs_over_initial
    told = plain_text(_comparison(found).caption)
    assert "can be nearer to a prediction" in told


def test_starts_that_the_prediction_takes_are_all_told():
    """A pathway that no unit stays with has no κ; where each has one mode, none goes unused."""

    def told(gates: list[list[int]]) -> str:
        x = [["1", "1", "-1", "-1"], ["1", "-1", "1", "-1"], ["1/2", "-1/2", "-1/2", "1/2"]]
        data = {"X": x, "Y": [[1, -1, -1, 1]]}
        pathways = [{"name": f"p{n}", "gate": gate} for n, gate in enumerate(gates, start=1)]
        network = {"hidden": 40, "init_std": "1/100", "learning_rate": "1/100", "steps": 9}
        spec = sr.load({"dataset": data, "pathway": pathways, "network": network})
        return sr.derive(spec).to_latex()

    alone = told(np.eye(4, dtype=int).tolist())
    assert "Over single modes" not in alone
    assert "there is no estimate" not in alone
    assert "Unsupported" not in alone
    # The gate of both equal targets is kept too, beside those of single samples: once it had no κ.
    assert "Unsupported" not in told([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    one = told([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert "Unsupported pathways" in one
    assert one.count("Unsupported pathways") == 1
    assert " (its gate is not self-consistent: " in one
    assert "there is no estimate" not in one  # said once, with the reason


@pytest.mark.parametrize("training", ["joint", "staged"])
def test_half_times_of_joint_training_are_of_the_flow_of_all(training):
    pathways = [sr.pathway("a", gate=[1, 0, 0]), sr.pathway("b", gate=[0, 1, 1], stage=2)]
    network = sr.network(**LINEAR, training=training)
    y = [[2, 0], [0, 1], [0, 1]]
    text = sr.derive(sr.spec(np.eye(3), y, pathways=pathways, network=network)).to_latex()
    assert ("of all stages together nothing is proven" in text) is (training == "staged")
