"""``derive`` warns of a learning rate at which gradient descent must diverge."""

from __future__ import annotations

import pytest

from symreln.console import summary_of
from symreln.pipeline import derive_unchecked
from symreln.spec.reader import load


@pytest.mark.parametrize(("rate", "warned"), [("99/100", False), ("101/100", True)])
@pytest.mark.parametrize("parameter", [{"value": 1}, {}])
def test_a_mode_that_relaxes_by_more_than_2_a_step_is_named(rate, warned, parameter):
    """One sample, s = a = 1: a step relaxes by twice the learning rate."""
    tables = {
        "dataset": {"X": [["a"]], "Y": [[1]]},
        "parameters": {"a": {"positive": True, **parameter}},
        "pathway": [{"name": "only"}],
        "network": {
            "hidden": 10,
            "init_std": "1/1000",
            "learning_rate": rate,
            "steps": 10,
            "loss": "mean",
        },
    }
    lines = summary_of(derive_unchecked(load(tables)))["tail"]
    found = [line for line in lines if line.startswith("warning: network.learning_rate")]
    assert bool(found) is (warned and bool(parameter))
    assert not found or "mode 1 of 'only' relaxes by 2.02 a step" in found[0]
