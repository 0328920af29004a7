"""Specs as a whole: all problems at once and where they stand, and what comes out."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.errors import SpecError
from symreln.exact.scalar import Scalar
from symreln.report.written_spec import spec_toml
from symreln.specs.files import parse_toml
from symreln.specs.reader import read_spec
from symreln.task_library.registry import SPECS, spec_path
from tests.strategies import examples

WRONG = """\
title = 3
[dataset]
task = "contextual"
contexts = 3
context_scale = "2*d"
[parameters.c]
positive = true
value = -1
[[pathway]]
name = "a"
gate = "contxt != 1"
[[pathway]]
name = "a"
inputs = []
stage = 3
[network]
hidden = -1
init_std = 0
learning_rate = "1/0"
loss = "men"
steps = 1
[validation]
tolerance = 0
reason = " "
[more]
"""
BASE: dict[str, Any] = {"dataset": {"task": "xor"}, "pathway": [{"name": "a"}]}
NETWORK = {"hidden": 1000, "init_std": "1/3", "learning_rate": 0.1, "steps": 1}
ROWS = [[1, 0, 1], [0, 1, 1]]


def problems(source: Any, overrides: Any = ()) -> tuple:
    with pytest.raises(SpecError) as caught:
        sr.load(source, overrides)
    return caught.value.problems


def test_all_problems_at_once_in_the_order_of_the_file(tmp_path: Path):
    path = tmp_path / "spec.toml"
    path.write_text(WRONG)
    found = problems(path)
    assert {problem.file for problem in found} == {str(path)}
    # The gate and the inputs are not looked at: they refer to a dataset that is wrong itself.
    assert [(problem.line, problem.path) for problem in found] == [
        (1, "title"),
        (5, "dataset.context_scale"),
        (8, "parameters.c.value"),
        (13, "pathway[1].name"),
        (15, "pathway[1].stage"),
        (17, "network.hidden"),
        (18, "network.init_std"),
        (19, "network.learning_rate"),
        (20, "network.loss"),
        (23, "validation.tolerance"),
        (24, "validation.reason"),
        (25, "more"),
    ]
    mended = WRONG.replace("2*d", "2*c").replace("value = -1", "value = 1")
    path.write_text(mended.replace("hidden = -1", "hidden = 1").replace('"men"', '"mean"'))
    places = {(problem.line, problem.path) for problem in problems(path)}
    assert {(11, "pathway[0].gate"), (14, "pathway[1].inputs")} <= places
    assert {(18, "network.init_std"), (19, "network.learning_rate")} <= places


def test_very_many_problems_are_counted():
    found = problems({**BASE, "pathway": [{"name": ""} for _ in range(100)]})
    assert (len(found), found[-1].found) == (41, "60 more problems")


def test_file_mapping_and_name_give_the_same():
    by_name, by_path = sr.load("xor-linear"), sr.load(spec_path("xor-linear"))
    by_mapping = sr.load(parse_toml(spec_path("xor-linear").read_bytes(), "")[0])
    names = [field.name for field in fields(by_name) if field.name != "source"]
    for other in (by_path, by_mapping):
        assert all(getattr(other, name) == getattr(by_name, name) for name in names)
    sources = (by_name.source, by_path.source, by_mapping.source)
    assert sources == ("xor-linear", "xor-linear.toml", "")


@pytest.mark.parametrize(
    ("given", "stages", "training"),
    [({}, (1, 1), "joint"), ({}, (1, 2), "staged"), ({"training": "joint"}, (1, 2), "joint")],
)
def test_numbers_of_a_network_are_exact_and_stages_are_trained_one_by_one(given, stages, training):
    pathways = [{"name": "a", "stage": stages[0]}, {"name": "b", "stage": stages[1]}]
    spec = sr.load({**BASE, "pathway": pathways, "network": NETWORK | given})
    network = spec.network
    assert network is not None
    assert (network.init_std, network.learning_rate) == (Fraction(1, 3), Fraction(1, 10))
    assert (network.loss, network.activation, network.training) == ("sum", "relu", training)
    assert spec.stages == ((1, 2) if training == "staged" else (1,))


@pytest.mark.parametrize(
    ("text", "tolerance"),
    [(text, Fraction(1, 20)) for text in ("5%", " 5 %", "0.05", "10/2%", "1/20")]
    + [(text, None) for text in ("%", "5%%", "0%", "101%", "five%")],
)
def test_a_tolerance(text: str, tolerance: Fraction | None):
    tables = {**BASE, "validation": {"tolerance": text, "reason": "measured"}}
    if tolerance is None:
        assert [each.path for each in problems(tables)] == ["validation.tolerance"]
    else:
        assert sr.load(tables).validation == sr.ValidationSpec(reason="measured")


def test_json_schema_knows_every_key_and_resolves():
    told = sr.schema()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            assert node.get("type") != "null"
            if "$ref" in node:
                assert node["$ref"].removeprefix("#/$defs/") in told["$defs"]
        for below in node.values() if isinstance(node, dict) else node:  # type: ignore[union-attr]
            if isinstance(below, dict | list):
                walk(below)

    walk(told)
    keys = "title dataset parameters pathway gates node edge network validation"
    assert set(told["properties"]) == set(keys.split())
    datasets = {choice["$ref"] for choice in told["properties"]["dataset"]["anyOf"]}
    assert {"#/$defs/ContextualDataset", "#/$defs/UserDatasetModel"} <= datasets
    contextual = told["$defs"]["ContextualDataset"]
    options = {"task", "items", "contexts", "structures", "context_scale"}
    assert set(contextual["properties"]) == options
    assert contextual["additionalProperties"] is False
    assert set(contextual["required"]) == {"task", "contexts"}
    assert contextual["properties"]["contexts"]["anyOf"][1] == {"type": "string"}


OVERRIDDEN = [
    (["network.hidden=100"], "network.hidden", 100),
    (["network.loss=mean"], "network.loss", "mean"),
    (['network.loss = "mean"'], "network.loss", "mean"),
    (["network.init_std=1/140000"], "network.init_std", Fraction(1, 140000)),
    (["network.learning_rate=0.1"], "network.learning_rate", Fraction(1, 10)),
    ({"network.learning_rate": 0.1}, "network.learning_rate", Fraction(1, 10)),
    (["pathway[1].gate=context != 2"], "pathways.1.gate_text", "context != 2"),
    (['pathway."off_1".stage=1'], "pathways.1.stage", 1),
    (["pathway[4].name=new"], "pathways.4.name", "new"),
    (['dataset.structures="ring"', "dataset.items=8"], "dataset.options.items", "8"),
    ({"dataset.context_scale": 2}, "parameters", ()),
]


@pytest.mark.parametrize(("overrides", "path", "expected"), OVERRIDDEN)
def test_an_override_reaches_the_spec(overrides: Any, path: str, expected: object):
    found: Any = sr.load("contextual-3", overrides)
    for part in path.split("."):
        if part.isdigit():
            found = found[int(part)]
        else:
            found = found[part] if part == "items" else getattr(found, part)
    assert found == expected


@pytest.mark.parametrize(
    ("name", "overrides", "told"),
    [
        ("xor", ["x", "network.hidden=3", "y"], ["--set x: found", "--set y: found"]),
        (
            "contextual-3",
            ["network.hidden=0", "pathway.off_2.gate=context == 7"],
            ["--set network.hidden=0: network.hidden", "--set pathway.off_2.gate=context == 7: p"],
        ),
        ("contextual-3", ["validation.reason=mine"], ["validation.tolerance: found nothing"]),
        ("xor", ["parameters.h.value=3"], ["--set parameters.h.value=3: parameters.h: found a"]),
    ],
)
def test_a_wrong_override_is_named(name: str, overrides: list[str], told: list[str]):
    found = [str(problem) for problem in problems(name, overrides)]
    assert len(found) == len(told)
    assert all(part in problem for part, problem in zip(told, found, strict=True))


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["validation.tolerance=5%"], "given on the command line"),
        ({"validation.tolerance": "1/20"}, "given as an override"),
        (["validation.tolerance=0.05", "validation.reason=mine"], "mine"),
    ],
)
@pytest.mark.parametrize("table", [{}, {"tolerance": "1/2", "reason": "of another one"}])
def test_a_tolerance_set_alone_needs_no_reason_and_keeps_no_old_one(overrides, reason, table):
    tables = BASE | ({"validation": table} if table else {})
    assert sr.load(tables, overrides).validation == sr.ValidationSpec(reason=reason)
    assert table.get("reason") in (None, "of another one")


def own(pathways: list[dict], parameters: dict | None = None, **labels: list) -> sr.Spec:
    data = {"X": ROWS, "Y": [[1, 2, 3]], "labels": labels}
    return sr.load({"dataset": data, "pathway": pathways, "parameters": parameters or {}})


def test_the_ready_made_spec_is_contextual_3_and_says_more():
    spec, three = sr.load("contextual-C"), sr.load("contextual-3")
    for name in ("pathways", "parameters", "network"):
        assert getattr(spec, name) == getattr(three, name)
    assert spec.dataset.inputs == three.dataset.inputs
    found = [(size.name, size.option, size.minimum, size.value) for size in spec.sizes]
    assert sorted(found) == [("C", "contexts", 2, 3), ("n", "items", 2, 8)]
    (family,) = spec.families
    assert (family.name, family.gate) == ("off_{context}", "context != {context}")
    assert family.members == (1, 2, 3)
    assert three.sizes == three.families == ()


@pytest.mark.parametrize("value", [2, 3, 5])
def test_a_size_in_a_formula_is_its_value_in_the_data_and_a_text_beside(value):
    overrides = [f"parameters.C.value={value}", "dataset.context_scale=c/C + 1"]
    spec = sr.load("contextual-C", overrides)
    plain = sr.load("contextual-C", [overrides[0], f"dataset.context_scale=c/{value} + 1"])
    assert spec.dataset.inputs == plain.dataset.inputs
    assert [p.name for p in spec.parameters] == ["c"]
    assert spec.dataset.options["context_scale"] == "c/C + 1"
    assert [spec.dataset.options[option] for option in ("contexts", "items")] == ["C", "n"]
    assert len(spec.pathways) == value + 1


ONE_EACH = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
MARKS = ("{kind}", "'{kind}'", '"{kind}"', "' {kind} '")
VALUES = (["left", "it's", 'a"b'], [1, 2, 3], ['say "hi"', "b\\c", "a{kind}"])


@pytest.mark.parametrize(
    ("entry", "labels", "gates"),
    [
        *(({"gate": f"kind == {mark}"}, texts, ONE_EACH) for mark in MARKS for texts in VALUES),
        ({"inputs": "{kind}"}, ["one", "two", "one"], ((1, 1, 1), (1, 1, 1))),
    ],
)
def test_each_stands_for_every_value_of_a_label(entry: dict, labels: list, gates: tuple):
    data = {"X": ROWS, "Y": [[1, 2, 3]], "groups": {"inputs": {"one": [0], "two": [1]}}}
    data["labels"] = {"kind": labels}
    spec = sr.load({"dataset": data, "pathway": [{"name": "{kind}!", "each": "kind", **entry}]})
    values = tuple(dict.fromkeys(labels))
    assert [p.name for p in spec.pathways] == [f"{value}!" for value in values]
    assert tuple(p.gate for p in spec.pathways) == gates
    assert [p.inputs for p in spec.pathways] == (
        [(0,), (1,)] if "inputs" in entry else [(0, 1)] * len(values)
    )
    assert spec.families[0].members == tuple(range(len(values)))


def test_edges_of_one_entry_have_names_of_their_own():
    nodes = [{"name": "in", "inputs": "all"}, {"name": "out", "outputs": "all"}]
    edge = {"from": "in", "to": "out", "each": "context", "gate": "context == {context}"}
    data = {"task": "contextual", "contexts": 2, "items": 2}
    graph = sr.load({"dataset": data, "node": nodes, "edge": [edge]}).graph
    assert graph is not None
    assert [each.name for each in graph.edges] == ["in → out_1", "in → out_2"]
    assert [each.gate for each in graph.edges] == [(1, 1, 0, 0), (0, 0, 1, 1)]


def test_gains_are_exact_and_live_in_the_ring_of_the_data():
    names = ("h_", "g_")
    declared = {"h": {"positive": True}, "g": {"value": "2/3"}}
    spec = own([{"name": "some", "gate": ["g**2/h", 0, "1/2"]}, {"name": "all"}], declared)
    h, g = (Scalar.symbol(name, names) for name in names)
    assert spec.pathways[0].gate == (g**2 / h, 0, Scalar.of(Fraction(1, 2), names))
    assert spec.dataset.inputs.parameters == names
    assert spec.pathways[0].gate_text == '["g**2/h", 0, "1/2"]'
    assert [pathway.has_gains for pathway in spec.pathways] == [True, False]
    there = own([{"name": "a", "gate": ["g", "g - 2", 1]}], {"g": {"value": 2}}).at_values()
    assert (there.pathways[0].gate, there.parameters) == ((Scalar.of(2), 0, 1), ())
    assert there.pathways[0].open_samples == (0, 2)


# -- written and read again --------------------------------------------------------------------

SPEC: dict[str, Any] = {
    "title": 'Ω "quoted" \\ title',
    "dataset": {
        "X": [["2/3", "0", "g/(g + 1)"], ["-1.25e-30", "g**2 - h", "1"], [3, 0.1, "(h + 1)/3"]],
        "Y": [["1", "0", "h"]],
        "labels": {"kind": ["a", 'b "c" \\', "ü"], "place": [1, -2, 3]},
        "groups": {"inputs": {"few": [2, 0]}, "outputs": {"one": [0]}},
    },
    "parameters": {"g": {"positive": True, "value": "1/3"}, "h": {"minimum": "-1/2", "maximum": 7}},
    "validation": {"tolerance": "7.5%", "reason": "a reason"},
}
GAINS = {"name": "gains", "gate": ["g", "1/2", 0], "inputs": "few"}
BOUNDARY = {"name": "boundary", "gate": [1, "/", 1], "outputs": [0], "hidden": 7}
LATER = {"name": "later", "gate": ["h", 1, 1], "stage": 2}
SWITCHING = {
    "name": "switching",
    "gate": "place > 0",
    "then": [{"step": 5, "gate": 'kind == "ü"'}, {"step": 6, "gate": [1, 1, 0]}],
}
TRAINED = {"hidden": 9, "init_std": "1/3000", "learning_rate": 1e-7, "steps": 11, "loss": "mean"}
TWO_SCALES = {"init_std": ["1/3000", 0.2], "activation": "linear"}
DECAY = {"weight_decay": "1/999", "activation": "linear"}
WAYS: dict[str, dict] = {
    "gains and a stage": {"pathway": [GAINS, LATER], "network": TRAINED},
    "jointly trained": {"pathway": [GAINS, LATER], "network": {**TRAINED, "training": "joint"}},
    "boundary": {"pathway": [GAINS, BOUNDARY]},
    "switches": {"pathway": [SWITCHING, {**GAINS, "gate": "all"}], "network": TRAINED},
    "two scales": {"pathway": [GAINS], "network": {**TRAINED, **TWO_SCALES}},
    "decay": {"pathway": [GAINS], "network": {**TRAINED, **DECAY}},
}
WRITTEN = [n for n in SPECS if n not in ("contextual-C", "routing", "depth", "digits")]


def again(spec: sr.Spec) -> sr.Spec:
    return read_spec(parse_toml(spec_toml(spec).encode(), "spec.toml")[0], tasks=())


def said(spec: sr.Spec) -> sr.Spec:
    """What a spec says, however it is written."""
    texts = {"gate_text": "", "inputs_text": "", "outputs_text": ""}
    paths = tuple(
        replace(path, **texts, then=tuple(replace(each, gate_text="") for each in path.then))
        for path in spec.pathways
    )
    data = replace(spec.dataset, description="", task="", options={})
    return replace(spec, source="", families=(), pathways=paths, dataset=data)


@pytest.mark.parametrize("given_as", [*WRITTEN, *WAYS])
def test_a_spec_is_the_same_when_it_is_written_and_read_again(given_as):
    spec = sr.load({**SPEC, **WAYS[given_as]} if given_as in WAYS else given_as)
    assert said(again(spec)) == said(spec)
    assert spec_toml(again(spec)) == spec_toml(spec)
    values = spec.at_values()
    assert said(again(values)) == said(values)


@examples(60)
@given(
    st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), min_size=1, max_size=5
    )
)
def test_floats_are_kept_to_the_last_bit(rows):
    data = np.array(rows)
    spec = sr.spec(data[:, :2], data[:, 2], pathways=[sr.pathway("all")])
    made = again(spec).dataset
    assert (made.inputs, made.targets) == (spec.dataset.inputs, spec.dataset.targets)
    assert np.array_equal(made.inputs.to_numpy().T, data[:, :2])
