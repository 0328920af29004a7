"""Half-times: certified roots beside formulas, other evaluations and simulated equations."""

from __future__ import annotations

import pytest

import symreln as sr
from symreln.claims.balls import half_time
from symreln.claims.derivation import Derivation
from symreln.report.content import derivation_chapters
from tests.own_specs import LINEAR, own
from tests.report.sample import words_of


def derived(changes: dict | None = None, **tables) -> Derivation:
    network = LINEAR | {"hidden": 50, "steps": 10} | (changes or {})
    return sr.derive(sr.load(own([[1, 0], [0, 2]], [[3, 0], [0, 2]], network=network) | tables))


FAMILIES = [
    {"layers": 1},
    {},
    {"activation": "relu"},
    {"weight_decay": "1/4"},
    {"init_std": ["1/100", "1/5"]},
]


@pytest.mark.parametrize("changes", FAMILIES)
def test_the_strength_is_half_of_its_limit_then(changes):
    """Two routes: the certified root, and the float64 curve at that step."""
    found = derived(changes)
    decay = found.known.weight_decay
    for mode in found.pathways[0].modes:
        half = half_time(found, mode, 21)
        assert half.why == ""
        decimal, radius = half.decimal
        assert float(radius) < 1e-15 * float(decimal)
        curves = {c.label: c.best for c in found.evaluate([float(decimal)]).modes}
        s, d = mode.s.to_float(), mode.d_eff.to_float()
        assert curves[mode.label][0] == pytest.approx((s - float(decay)) / d / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"weight_decay": "7/4"}, "the mode dies out"),
        ({"layers": 3}, "initial strength of 3 layers is not derived"),
        ({"init_std": "1"}, "starts above half"),
    ],
)
def test_what_has_no_half_time_says_why(changes, why):
    found = derived(changes)
    slowest = found.pathways[0].modes[-1]
    half = half_time(found, slowest, 21)
    assert half.decimal is None
    assert why in half.why
    assert why in words_of(*derivation_chapters(found, None, ()))
    assert found.to_json()["pathways"][0]["modes"][-1]["half_time"] in (
        None, {"expr": str(slowest.strength.half_time)}
    )  # fmt: skip


def test_a_narrow_pathways_other_modes_and_later_gates_have_none():
    narrow = derived(pathway=[{"name": "only", "hidden": 1}])
    first, second = narrow.pathways[0].modes
    assert half_time(narrow, first, 21).decimal is not None
    assert "learn other modes first" in half_time(narrow, second, 21).why
    switching = [{"name": "only", "gate": [1, 0], "then": [{"step": 3, "gate": "all"}]}]
    later = derived({"activation": "relu"}, pathway=switching)
    assert "gates switch before, at step 3" in half_time(later, later.pathways[0].modes[0], 21).why


def test_without_a_network_or_a_value_there_are_no_steps():
    tables = own([[1]], [[2]])
    del tables["network"]
    bare = sr.derive(sr.load(tables))
    assert "no network" in half_time(bare, bare.pathways[0].modes[0], 21).why
    free = derived(dataset={"X": [["a"]], "Y": [[1]]}, parameters={"a": {"positive": True}})
    assert "no value is declared for a" in half_time(free, free.pathways[0].modes[0], 21).why


def test_the_document_and_the_json_give_the_same_steps():
    found = derived({"weight_decay": "1/4"})
    mode = found.to_json()["pathways"][0]["modes"][0]
    assert mode["half_time"]["expr"] is None
    shown = float(mode["half_time"]["decimal"])
    assert f"{shown:.4g}"[:4] in words_of(*derivation_chapters(found, None, ()))
