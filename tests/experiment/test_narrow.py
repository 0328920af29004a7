"""Pathways with hidden units of their own: read, derived, trained, and what they hold."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln import validate
from symreln.report.terminal_validation import show_validation
from symreln.report.validation_json import validation_to_json
from tests.own_specs import LINEAR, own, path

TABLES = own(
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    [[8, 0, 0, 0], [0, 5, 0, 0], [0, 0, 6, 0], [0, 0, 0, 3]],
    path("narrow", inputs=[0, 1], outputs=[0, 1], hidden=1),
    path("wide", inputs=[2, 3], outputs=[2, 3]),
    network=LINEAR | {"hidden": 40, "init_std": "1/100000", "steps": 1200},
)


def test_one_pathway_alone_is_narrow():
    derivation = sr.derive(sr.load(TABLES))
    (one,) = derivation.narrow
    assert (one.pathway.name, one.units, one.rank) == ("narrow", 1, 2)
    assert one.found is not None
    assert one.found.plateau == (1, 0)
    entry = derivation.to_json()["pathways"]
    assert entry[0]["hidden"] == 1
    assert "hidden" not in entry[1]
    text = derivation.to_latex()
    assert "hidden units" in text


def test_trained_networks_hold_what_is_predicted(capsys, tmp_path):
    validation = validate(sr.derive(sr.load(TABLES)), seeds=4, rng=1)
    assert validation.network is None
    assert "hidden units of 'narrow' alone" in validation.sentence()
    (outcome,) = validation.narrow
    assert outcome.first == outcome.least == {"pi_1_1": 1, "pi_1_2": 0}
    assert all(held == outcome.first for held in outcome.held)
    assert "4 of 4 networks have learned the modes that are predicted" in outcome.sentence()
    # The plateau lacks ½ 5²/4, and is what theory says within the scatter of a single unit.
    assert validation.prediction.reduced[-1] == pytest.approx(25 / 8, rel=1e-6)
    np.testing.assert_allclose(validation.gdln.losses[:, -1], 25 / 8, rtol=1e-4)
    assert list(validation_to_json(validation)["narrow"][0]["held"]) == [outcome.first] * 4
    show_validation(validation, tmp_path, [], as_json=False)
    out = capsys.readouterr().out
    assert "closed forms – GDLN" in out
    assert outcome.sentence() in out
