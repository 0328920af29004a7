"""``derive`` warns of a learning rate at which gradient descent must diverge."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symreln.report.terminal import summary_of
from symreln.task_library.load import load
from tests.own_specs import own
from tests.unchecked import derive_unchecked


def warnings(tables: dict) -> list[str]:
    lines = summary_of(
        derive_unchecked(load(tables | {"network": tables["network"] | {"loss": "mean"}}))
    )
    return [line for line in lines["tail"] if line.startswith("warning: network.learning_rate")]


@pytest.mark.parametrize(("rate", "warned"), [("99/100", False), ("101/100", True)])
@pytest.mark.parametrize("parameter", [{"value": 1}, {}])
def test_a_mode_that_relaxes_by_more_than_2_a_step_is_named(rate, warned, parameter):
    """One sample, s = a = 1: a step relaxes by twice the learning rate."""
    network = {"hidden": 10, "init_std": "1/1000", "learning_rate": rate, "steps": 10}
    found = warnings(
        own([["a"]], [[1]], network=network, parameters={"a": {"positive": True, **parameter}})
    )
    assert bool(found) is (warned and bool(parameter))
    assert not found or "mode 1 of 'shared' relaxes by 2.02 a step" in found[0]


@pytest.mark.parametrize(
    ("changes", "slope"),
    [
        ({"layers": 1, "activation": "linear"}, 1),
        ({"layers": 3, "activation": "linear"}, 3),
        ({"weight_decay": "1/4"}, 1.5),
        ({"init_std": ["1/10", "1/2"], "hidden": 40}, (4 + (20 * (0.01 + 0.25)) ** 2) ** 0.5),
    ],
)
def test_other_networks_are_warned_at_their_own_rate(changes, slope):
    for factor, warned in ((0.999, False), (1.001, True)):
        rate = str(Fraction(2 * factor / slope))
        network = {"hidden": 10, "init_std": "1/10", "learning_rate": rate, "steps": 10}
        found = warnings(own([[1]], [[1]], network=network | changes))
        assert bool(found) is warned
        assert not found or "relaxes by 2.002 a step, 2 is the limit" in found[0]
