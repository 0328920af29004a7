"""Gates that move in the confrontation: when they are predicted, and what is said of them."""

from __future__ import annotations

from functools import lru_cache

import pytest

import symreln as sr
from symreln.claims.mean_field import why_no_mean_field
from symreln.experiment.confront import Validation
from symreln.experiment.metrics import compare


@lru_cache(maxsize=1)
def xor() -> Validation:
    return sr.validate(sr.derive(sr.load("xor")), seeds=4, rng=2)


def test_the_mean_field_simulation_is_compared_with_the_network():
    found = xor()
    measured = found.metrics["mean_field_vs_relu"]
    assert measured == compare(found.mean_field.losses, found.network.mean_loss)
    assert any(row[0].startswith("mean-field simulation") for row in found.metric_rows())


@pytest.mark.parametrize(
    ("name", "overrides", "why"),
    [
        ("linear-hierarchy", (), "a linear network has no gates"),
        ("xor", ('pathway[0].gate=["2", 0, 0, 0]',), "gains"),
        ("xor", (), ""),
        ("contextual-5", (), ""),
        ("contextual-3", ("network.steps=1000000",), "it takes minutes on these data"),
    ],
)
def test_where_there_is_no_mean_field_simulation_the_reason_is_said(name, overrides, why):
    numbers = sr.derive(sr.load(name, overrides=overrides)).at_values
    found = why_no_mean_field(numbers)
    assert why in found
    assert bool(why) == bool(found)
