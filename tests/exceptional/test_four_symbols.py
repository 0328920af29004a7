"""Symbols in the data, in the targets and in a gate's gains at once, from the spec to training."""

from __future__ import annotations

from functools import lru_cache

import pytest
import sympy as sp

import symreln as sr
from symreln.report.derivation_json import derivation_to_json
from symreln.task_library.load import load
from symreln.verifier import verify

TABLES = {
    "title": "Four symbols",
    "dataset": {
        "X": [["a", 0, 0, 0], [0, "a", 0, 0], [0, 0, "b", 0], [0, 0, 0, "b"]],
        "Y": [["e", "-e", 1, 0], ["e", "e", 0, 1]],
    },
    "parameters": {
        "a": {"positive": True, "value": 2},
        "b": {"minimum": "1/2", "maximum": 3, "value": 1},
        "e": {"value": "-3/2"},
        "g": {"nonnegative": True, "value": "1/2"},
    },
    "pathway": [
        {"name": "plain", "gate": [1, 1, 0, 0]},
        {"name": "gained", "gate": [0, 0, "g", "g"]},
    ],
    "network": {"hidden": 100, "init_std": "1/1000", "learning_rate": "1/200", "steps": 900},
}


@lru_cache(maxsize=1)
def derivation():
    return sr.derive(load(TABLES))


def test_modes_are_those_by_hand_with_the_assumptions_in_them():
    symbols = derivation().spec.symbols
    a, b, e, g = (symbols[f"{name}_"] for name in "abeg")
    assert (a.is_positive, b.is_positive, e.is_real, g.is_nonnegative) == (True,) * 4
    found = [
        [(m.s.to_sympy(symbols), m.d.to_sympy(symbols), m.multiplicity) for m in p.modes]
        for p in derivation().pathways
    ]
    # Y of the first two samples is e times √2 times a rotation; P = 4.
    assert sp.expand(found[0][0][0] - sp.sqrt(2) * a * sp.Abs(e) / 4) == 0
    assert found[0][0][1:] == (a**2 / 4, 2)
    assert found[1][0] == (b * g / 4, b**2 * g**2 / 4, 2)
    assert derivation().verdict.level.value == "closed"


def test_the_certificate_holds_for_all_values_of_the_four():
    assert verify(derivation().certificate)


def test_exceptional_sets_respect_every_assumption():
    (text,) = derivation().exceptional.lines()
    assert text == (
        "these formulas hold for all values of a_, b_, e_, g_, except at e_ = 0, g_ = 0, "
        "a_ = 0 (excluded by a_ > 0), b_ = 0 (excluded by b_ >= 1/2 and b_ <= 3)"
    )
    found = derivation_to_json(derivation())["exceptional"]
    assert found["domain"] == "a_ > 0, b_ >= 1/2 and b_ <= 3, g_ >= 0"
    (of_e, of_g) = found["sets"]
    assert [value["expr"] for value in of_e["values"]] == ["0"]
    assert {c["effect"] for c in of_g["consequences"]} == {"null", "jump"}
    assert of_g["consequences"][0]["modes"] == [["pi_2_1"]]
    assert [item["excluded"] for item in found["outside"]] == [
        "no root with a_ > 0",
        "no root with b_ >= 1/2 and b_ <= 3",
    ]


def test_training_with_the_gain_follows_the_closed_forms():
    found = sr.validate(derivation(), seeds=8, rng=0)
    assert found.network is None
    assert found.agrees
    # Both curves end near zero: each pathway can fit its samples.
    curves = found.prediction.reduced
    assert curves[-1] == pytest.approx(found.gdln.mean_loss[-1], abs=0.01 * curves[0])
