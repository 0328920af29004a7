"""Declared values at which formulas that hold elsewhere end, and numbers beyond float64."""

from __future__ import annotations

from typing import Any

import pytest

import symreln as sr
from symreln.errors import InputError
from symreln.task_library.load import load
from tests.own_specs import LINEAR

NETWORK = LINEAR | {"hidden": 2, "init_std": "1/1000", "learning_rate": "1/10", "steps": 20}
NETWORK |= {"loss": "sum"}


def derived(x: list, y: list, pathways: list[dict], **tables: Any) -> sr.Derivation:
    dataset = {"dataset": {"X": x, "Y": y}, "pathway": pathways}
    return sr.derive(load({**dataset, "network": NETWORK, **tables}))


def test_a_value_at_which_an_earlier_stage_learns_less_is_named() -> None:
    """With g = 0 the first stage sees two samples only: what it leaves jumps."""
    pathways = [
        {"name": "first", "gate": [1, "g", 1]},
        {"name": "second", "gate": "all", "stage": 2},
    ]
    x, y = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2, 3]]
    with pytest.raises(InputError, match=r"pathway 'second', stage 2: found g = 0, .* jumps"):
        derived(x, y, pathways, parameters={"g": {"value": 0}})
    steps = derived(x, y, pathways, parameters={"g": {"value": 1}}).steps
    assert "declared values" in [step.name for step in steps]


def test_a_narrow_pathway_that_is_closed_at_the_declared_values_alone() -> None:
    """Elsewhere its modes have no strengths that comparisons could be written in."""
    found = derived(
        [["1", "a"], ["0", "1"]],
        [["2", "a"], ["0", "1"]],
        [{"name": "all", "hidden": 1}],
        parameters={"a": {"value": 0}},
    )
    assert found.verdict.level is not sr.Level.CLOSED
    assert found.at_values.verdict.level is sr.Level.CLOSED
    width = found.to_json()["width"]["pathways"]
    assert [each["name"] for each in width] == ["all"]


def test_rates_that_float64_data_lose_are_checked_exactly() -> None:
    """The second sample is lost beside the first in float64, and it alone drives: 1.3e18 a step."""
    found = derived(
        [[4611686018427387904, 1], [4611686018427387904, 1]],
        [[0, 1], [0, -9223372036854775809]],
        [{"name": "first", "gate": ["3", 1]}, {"name": "second", "gate": "all"}],
        network={**NETWORK, "init_std": "1e-40", "hidden": 1},
    )
    assert found.verdict.level is sr.Level.COUPLED_MODES
    with pytest.raises(InputError, match="makes gradient descent diverge"):
        found.evaluate()


def test_weights_that_see_too_large_inputs_are_refused_where_gates_switch_too() -> None:
    then = [{"gate": [0, 1, 0], "step": 1}]
    found = derived([[-1, 2**62, 0]], [[3, 0, 5]], [{"name": "p", "gate": [1, 1, 0], "then": then}])
    with pytest.raises(InputError, match=r"network\.init_std: .* makes gradient descent diverge"):
        found.evaluate()
