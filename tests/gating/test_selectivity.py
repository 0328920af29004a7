"""Selectivity indices: known answers, analysis of variance, and what must not change them."""

import numpy as np
import pytest

from symreln.gating.selectivity import _weighted_mean, selectivity

CONTEXT = np.repeat([1, 2, 3], 8)
ITEM = np.tile(range(8), 3)
LABELS = {"context": CONTEXT.tolist(), "item": ITEM.tolist()}


def test_gates_of_the_contextual_task() -> None:
    gates = np.array([CONTEXT == 1, CONTEXT != 1, CONTEXT > 0, (CONTEXT == 1) & (ITEM < 4)])
    found = selectivity(gates, LABELS)
    assert found.values == {"context": 3, "item": 8}
    np.testing.assert_allclose(found.breadth["context"], [1, 2, 3, 1])
    np.testing.assert_allclose(found.breadth["item"], [8, 8, 8, 4])
    np.testing.assert_allclose(found.explained["context"][:2], [1, 1])
    np.testing.assert_allclose(found.explained["item"][:2], [0, 0], atol=1e-12)
    assert np.isnan(found.explained["context"][2])  # always open: no variance to explain
    assert found.mixed is not None
    # Open on half of the items of one context: 4 of 24. Between contexts lies 1/18 of a total of
    # 5/36, so 2/5; between items 1/36, so 1/5. The context explains more, and leaves 3/5.
    np.testing.assert_allclose(found.mixed[[0, 1, 3]], [0, 0, 3 / 5], atol=1e-12)


def test_shares_of_a_full_design_add_up_with_the_interaction() -> None:
    random = np.random.default_rng(0)
    response = random.random(24)
    table = response.reshape(3, 8)
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    interaction = ((table - rows - columns + table.mean()) ** 2).sum()
    total = ((table - table.mean()) ** 2).sum()
    found = selectivity(response[None], LABELS)
    explained = found.explained["context"][0] + found.explained["item"][0]
    assert explained + interaction / total == pytest.approx(1)


def test_scale_and_order_change_nothing() -> None:
    random = np.random.default_rng(1)
    responses, order = random.random((5, 24)), random.permutation(24)
    plain = selectivity(responses, LABELS)
    shuffled = {name: [values[k] for k in order] for name, values in LABELS.items()}
    other = selectivity(1e-6 * responses[:, order], shuffled)
    assert plain.mixed is not None
    assert other.mixed is not None
    np.testing.assert_allclose(other.mixed, plain.mixed)
    np.testing.assert_allclose(other.breadth["item"], plain.breadth["item"])
    assert (plain.mixed >= 0).all()
    assert (plain.mixed <= 1).all()


def test_labels_that_say_nothing() -> None:
    labels = {"sample": list(range(24)), "all": ["x"] * 24, "context": LABELS["context"]}
    found = selectivity(np.eye(24)[:2], labels)
    assert found.values == {"context": 3}
    assert found.mixed is None
    assert selectivity(np.eye(24), {}).values == {}


def test_unknown_values_have_no_part_in_a_mean() -> None:
    assert _weighted_mean(np.array([1.0, np.nan, 3.0]), np.array([1.0, 5.0, 3.0])) == 2.5
    assert _weighted_mean(np.array([np.nan]), np.array([1.0])) is None
    assert _weighted_mean(np.array([2.0]), np.array([0.0])) is None
