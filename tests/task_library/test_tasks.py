"""The tasks against the facts of the papers, built a second time in a plain way."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from pydantic import Field

import symreln as sr
from symreln.errors import SpecError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.specs.finding import Finding
from symreln.specs.kinds import Formula, StrictModel
from symreln.specs.reader import read_spec
from symreln.specs.spec import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import STRUCTURES, hierarchy


def dataset(**options: object) -> Dataset:
    return sr.load({"dataset": options, "pathway": [{"name": "a"}]}).dataset


TREE_OF_EIGHT = [
    "11111111", "11110000", "00001111", "11000000", "00110000", "00001100", "00000011",
    *("0" * i + "1" + "0" * (7 - i) for i in range(8)),
]  # fmt: skip


def test_hierarchy_of_eight_is_the_published_tree():
    assert hierarchy(8).tolist() == [[int(c) for c in row] for row in TREE_OF_EIGHT]


def test_ring_is_the_published_wave():
    ring, denominator = STRUCTURES["ring"]
    rows = ring(8).tolist()
    assert (len(rows), denominator, rows[0]) == (15, 100, [100] * 8)
    assert rows[1] == [0, 33, 66, 100, 100, 66, 33, 0]
    for before, after in pairwise(rows[1:]):
        assert after == [*before[1:], before[0]]
    assert rows[1 + 8] == rows[1]


def test_cross_differs_from_the_hierarchy_in_four_rows_only():
    tree, crossed = hierarchy(8).tolist(), STRUCTURES["cross"][0](8).tolist()
    assert [i for i in range(15) if tree[i] != crossed[i]] == [3, 4, 5, 6]
    items = [{k + 1 for k, x in enumerate(row) if x} for row in crossed[3:7]]
    assert items == [{1, 3}, {2, 4}, {5, 7}, {6, 8}]


@pytest.mark.parametrize(
    ("items", "structures"),
    [
        (8, ["hierarchy"] * 3),
        (8, ["hierarchy", "ring", "cross"]),
        (4, ["hierarchy"] * 5),
        (2, ["hierarchy"]),
    ],
)
def test_contextual_has_the_item_its_context_and_a_block_of_its_own(
    items: int, structures: list[str]
):
    contexts, scale, height = len(structures), Fraction(27, 20), 2 * items - 1
    more = {"items": items, "contexts": contexts, "structures": structures}
    found = dataset(task="contextual", context_scale=str(scale), **more)
    x, y = (np.array(each.to_fractions()).T for each in (found.inputs, found.targets))
    for sample, (context, item) in enumerate(product(range(contexts), range(items))):
        seen = [int(k == item) for k in range(items)]
        assert x[sample].tolist() == seen + [scale * (k == context) for k in range(contexts)]
        common, *own = y[sample].reshape(1 + contexts, height).tolist()
        assert common == hierarchy(items)[:, item].tolist()
        for k, name in enumerate(structures):
            build, below = STRUCTURES[name]
            wanted = build(items)[:, item] * Fraction(int(k == context), below)
            assert own[k] == wanted.tolist()
        labels = found.labels["context"][sample], found.labels["item"][sample]
        assert labels == (context + 1, item + 1)
    assert found.input_groups["items"] == tuple(range(items))
    assert found.input_groups["contexts"] == tuple(range(items, items + contexts))
    names = ["common", *(f"context_{k}" for k in range(1, contexts + 1))]
    blocks = np.arange((1 + contexts) * height).reshape(-1, height).tolist()
    assert found.output_groups == dict(zip(names, map(tuple, blocks), strict=True))


def test_xor_columns():
    found = sr.load("xor", {"parameters.Delta.value": 3}).at_values().dataset
    assert found.inputs.to_fractions() == [[1, -1, 1, -1], [1, -1, -1, 1], [3, 3, -3, -3]]
    assert found.targets.to_fractions() == [[1, 1, -1, -1]]
    assert found.labels["label"] == (1, 1, -1, -1)
    first, second, _ = np.array(found.inputs.to_fractions())
    assert (first * second == np.array(found.labels["label"])).all()


@pytest.mark.parametrize(("task", "denominator"), [("iris", 10), ("digits", 16)])
def test_real_data_are_the_bundled_ones_exactly(task: str, denominator: int):
    import sklearn.datasets

    found, data = dataset(task=task), getattr(sklearn.datasets, f"load_{task}")()
    scale = 16 if task == "digits" else 1
    assert (found.inputs.to_numpy().T * scale).tolist() == data.data.tolist()
    assert all(denominator % x.denominator == 0 for row in found.inputs.to_fractions() for x in row)
    assert found.targets.to_numpy().argmax(axis=0).tolist() == data.target.tolist()
    assert {sum(column) for column in zip(*found.targets.to_fractions(), strict=True)} == {1}
    names = data.target_names[data.target] if task == "iris" else data.target
    assert found.labels["class"] == tuple(names.tolist())


@pytest.mark.parametrize("task", ["iris"])
def test_without_scikit_learn_the_message_says_what_to_install(
    task: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    words = r"or scikit-learn installed\. Install it: python -m pip install scikit-learn"
    with pytest.raises(SpecError, match=words):
        dataset(task=task)


class _Doubled(StrictModel):
    times: int = Field(default=1, ge=1, description="a whole number from 1 on")
    scale: Formula = Field(description="a number or a formula")


def _doubled(options: _Doubled) -> Dataset:
    if options.times > 2:
        raise Finding(str(options.times), "at most 2", path=".times")
    rows = [[options.scale * options.times, options.scale]]
    return Dataset(
        inputs=ExactMatrix.from_rows(rows, options.scale.parameters),
        targets=ExactMatrix.from_rows([[1, 2]]),
    )


def test_a_task_is_a_value_that_the_reader_is_given():
    task = Task(name="doubled", summary="", options=_Doubled, build=_doubled)
    tables = {"parameters": {"c": {}}, "pathway": [{"name": "a"}]}

    def read(**options: object) -> Dataset:
        data = {"task": "doubled", "scale": "c/2", **options}
        return read_spec({**tables, "dataset": data}, tasks=[task]).dataset

    c = Scalar.symbol("c", ("c",))
    assert read(times=2).inputs == ExactMatrix.from_rows([[c, c / 2]], ("c",))
    for wrong, says in (
        ({"times": 3}, "dataset.times: found 3; expected at most 2"),
        ({"times": 0}, "dataset.times: found 0; expected a whole number from 1 on"),
        ({"scale": "d"}, 'dataset.scale: found the undeclared name "d"'),
    ):
        with pytest.raises(SpecError, match=re.escape(says)):
            read(**wrong)
