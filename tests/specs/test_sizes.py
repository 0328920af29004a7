"""Sizes as symbols, ``each``, and gains: the spec that is meant against the one written out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.errors import SpecError
from symreln.exact.scalar import Scalar
from symreln.task_library.load import load

ROWS = [[1, 0, 1], [0, 1, 1]]


def contextual(count: int, *, each: bool) -> dict:
    """Return the tables of the contextual task, its off pathways by ``each`` or written out."""
    if each:
        off = [{"name": "off", "each": "context", "gate": "context != {context}"}]
    else:
        off = [{"name": f"off_{k}", "gate": f"context != {k}"} for k in range(1, count + 1)]
    return {
        "dataset": {"task": "contextual", "contexts": count, "items": 2},
        "pathway": [{"name": "common"}, *off],
    }


def test_the_ready_made_spec_is_contextual_3_and_says_more():
    spec, three = load("contextual-C"), load("contextual-3")
    assert spec.pathways == three.pathways
    assert (spec.dataset.inputs, spec.dataset.targets) == (
        three.dataset.inputs,
        three.dataset.targets,
    )
    assert (spec.parameters, spec.network) == (three.parameters, three.network)
    found = [(size.name, size.option, size.minimum, size.value) for size in spec.sizes]
    assert sorted(found) == [("C", "contexts", 2, 3), ("n", "items", 2, 8)]
    assert all(size.symbol.is_integer and size.symbol.is_positive for size in spec.sizes)
    (family,) = spec.families
    assert (family.name, family.gate) == ("off_{context}", "context != {context}")
    assert (family.values, family.members, family.stage) == ((1, 2, 3), (1, 2, 3), 2)
    assert three.sizes == three.families == ()


@given(st.integers(2, 6))
def test_each_is_what_is_written_out(count):
    assert load(contextual(count, each=True)).pathways == (
        load(contextual(count, each=False)).pathways
    )


@pytest.mark.parametrize("mark", ["{kind}", "'{kind}'", '"{kind}"', "' {kind} '"])
@pytest.mark.parametrize("values", [["left", "it's", 'a"b'], [1, 2, 3]])
def test_the_mark_stands_for_the_value_with_quotes_or_without(mark, values):
    spec = load(
        {
            "dataset": {"X": ROWS, "Y": [[1, 2, 3]], "labels": {"kind": values}},
            "pathway": [{"name": "only", "each": "kind", "gate": f"kind == {mark}"}],
        }
    )
    assert [p.gate for p in spec.pathways] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert spec.families[0].gate == "kind == {kind}"


def test_the_mark_can_be_a_part_of_a_text():
    labels = {"kind": ["it's", 'a"b', "c"], "long": ["an it's", 'an a"b', "an c"]}
    spec = load(
        {
            "dataset": {"X": ROWS, "Y": [[1, 2, 3]], "labels": labels},
            "pathway": [{"name": "only", "each": "kind", "gate": "long == 'an {kind}'"}],
        }
    )
    assert [p.gate for p in spec.pathways] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_each_takes_texts_that_need_escapes():
    values = ['say "hi"', "b\\c", "a{kind}"]
    spec = load(
        {
            "dataset": {"X": ROWS, "Y": [[1, 2, 3]], "labels": {"kind": values}},
            "pathway": [{"name": "{kind} only", "each": "kind", "gate": "kind == {kind}"}],
        }
    )
    assert [pathway.name for pathway in spec.pathways] == [f"{value} only" for value in values]
    assert [pathway.gate for pathway in spec.pathways] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_each_fills_groups():
    tables = contextual(3, each=False)
    tables["pathway"] = [{"name": "own", "each": "context", "outputs": "context_{context}"}]
    spec = load(tables)
    groups = spec.dataset.output_groups
    assert [p.outputs for p in spec.pathways] == [groups[f"context_{k}"] for k in (1, 2, 3)]
    assert [p.outputs_text for p in spec.pathways] == ["context_1", "context_2", "context_3"]


@pytest.mark.parametrize("value", [2, 3, 5])
def test_a_size_in_a_formula_is_its_value_in_the_data_and_a_text_beside(value):
    overrides = [f"parameters.C.value={value}", "dataset.context_scale=c/C + 1"]
    spec = load("contextual-C", overrides)
    plain = load("contextual-C", [overrides[0], f"dataset.context_scale=c/{value} + 1"])
    assert spec.dataset.inputs == plain.dataset.inputs
    assert [p.name for p in spec.parameters] == ["c"]
    assert spec.written["context_scale"] == "c/C + 1"
    assert (spec.written["contexts"], spec.written["items"]) == ("C", "n")
    assert len(spec.pathways) == value + 1


def test_both_sizes_may_be_symbols():
    tables = contextual(3, each=True)
    tables["dataset"] |= {"contexts": "C", "items": "n"}
    tables["parameters"] = {
        "C": {"integer": True, "value": 4},
        "n": {"integer": True, "minimum": 4, "maximum": 64, "value": 16},
    }
    spec = load(tables)
    found = {s.option: (s.name, s.minimum, s.maximum, s.value) for s in spec.sizes}
    assert found == {"contexts": ("C", 1, None, 4), "items": ("n", 4, 64, 16)}
    assert spec.dataset.samples == 64


def test_an_override_may_put_a_number_in_place_of_a_size():
    spec = load("contextual-C", ["dataset.contexts=4"])
    assert ([size.name for size in spec.sizes], len(spec.pathways)) == (["n"], 5)


def gains(gate: list, parameters: dict | None = None):
    """Return a spec with one gate over three samples, and one that keeps every sample open."""
    return load(
        {
            "dataset": {"X": ROWS, "Y": [[1, 2, 3]]},
            "parameters": parameters or {},
            "pathway": [{"name": "some", "gate": gate}, {"name": "all"}],
        }
    )


def test_gains_are_exact_and_live_in_the_ring_of_the_data():
    spec = gains(["g**2/h", 0, "1/2"], {"h": {"positive": True}, "g": {"value": "2/3"}})
    names = ("h_", "g_")
    gate = spec.pathways[0].gate
    h, g = (Scalar.symbol(name, names) for name in names)
    assert gate == (g**2 / h, 0, Scalar.of(Fraction(1, 2), names))
    assert all(value.parameters == names for value in gate if isinstance(value, Scalar))
    assert spec.dataset.inputs.parameters == names
    assert spec.pathways[0].open_samples == (0, 2)
    assert spec.pathways[0].gate_text == '["g**2/h", 0, "1/2"]'
    assert [pathway.has_gains for pathway in spec.pathways] == [True, False]


def test_gains_that_are_0_or_1_are_just_that():
    spec = gains(["3/3", "2 - 2", "1.0"])
    assert spec.pathways[0].gate == (1, 0, 1)
    assert not spec.pathways[0].has_gains


def test_values_reach_the_gains():
    spec = gains(["g", "g - 2", 1], {"g": {"value": 2}})
    there = spec.at_values()
    assert there.pathways[0].gate == (Scalar.of(2), 0, 1)
    assert there.pathways[0].open_samples == (0, 2)
    assert there.parameters == ()
    assert replace(spec.pathways[0]).at({}) == spec.pathways[0]


def test_a_parameter_only_in_gates_counts_as_used_and_an_override_may_free_it():
    assert [p.given for p in gains(["g", 0, 0], {"g": {}}).parameters] == ["g"]
    with pytest.raises(SpecError, match="no entry of the dataset and no gate depends"):
        gains([1, 0, 0], {"g": {}})
