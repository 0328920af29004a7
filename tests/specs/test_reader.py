"""The reader as a whole: everything at once, where it stands, and what comes out."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pytest

from symreln.errors import SpecError
from symreln.specs.problems import MAX_PROBLEMS
from symreln.specs.schema import MAX_HIDDEN, json_schema
from symreln.task_library.load import load
from symreln.task_library.registry import TASKS

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


def test_all_problems_at_once_in_the_order_of_the_file(tmp_path: Path):
    path = tmp_path / "spec.toml"
    path.write_text(WRONG)
    with pytest.raises(SpecError) as caught:
        load(path)
    problems = caught.value.problems
    assert all(problem.file == str(path) for problem in problems)
    # The gate and the inputs are not looked at: they refer to a dataset that is wrong itself.
    assert [(problem.line, problem.path) for problem in problems] == [
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
    assert str(caught.value).startswith("the spec has 12 problems:\n  - ")

    mended = WRONG.replace("2*d", "2*c").replace("value = -1", "value = 1")
    mended = mended.replace("hidden = -1", "hidden = 1").replace('"men"', '"mean"')
    path.write_text(mended)
    with pytest.raises(SpecError) as caught:
        load(path)
    found = [(problem.line, problem.path) for problem in caught.value.problems]
    assert {(11, "pathway[0].gate"), (14, "pathway[1].inputs")} <= set(found)
    assert {(18, "network.init_std"), (19, "network.learning_rate")} <= set(found)


def test_very_many_problems_are_counted():
    tables = {"dataset": {"task": "xor"}, "pathway": [{"name": ""} for _ in range(100)]}
    with pytest.raises(SpecError) as caught:
        load(tables)
    assert len(caught.value.problems) == MAX_PROBLEMS + 1
    assert caught.value.problems[-1].found == f"{100 - MAX_PROBLEMS} more problems"


def test_file_mapping_and_name_give_the_same(tmp_path: Path):
    from symreln.specs.tomlfile import read_toml
    from symreln.task_library.registry import spec_path

    by_name = load("xor-linear")
    by_path = load(spec_path("xor-linear"))
    tables, _ = read_toml(spec_path("xor-linear"))
    by_mapping = load(tables)
    for field in fields(by_name):
        if field.name != "source":
            assert getattr(by_name, field.name) == getattr(by_path, field.name)
            assert getattr(by_name, field.name) == getattr(by_mapping, field.name)
    assert (by_name.source, by_path.source, by_mapping.source) == (
        "xor-linear",
        "xor-linear.toml",
        "",
    )


def test_line_ends_and_tabs_do_not_matter(tmp_path: Path):
    text = '\ttitle = "a"\r\n[dataset]\r\n\ttask\t=\t"xor"\r\n[[pathway]]\r\nname = "a"\r\n'
    path = tmp_path / "spec.toml"
    path.write_bytes(text.encode())
    assert load(path).title == "a"


BASE = {"dataset": {"task": "xor"}, "pathway": [{"name": "a"}]}
NETWORK = {"hidden": MAX_HIDDEN, "init_std": "1/3", "learning_rate": 0.1, "steps": 1}


def test_defaults_and_exact_numbers_of_the_network():
    network = load({**BASE, "network": NETWORK}).network
    assert network is not None
    assert network.init_std == Fraction(1, 3)
    assert network.learning_rate == Fraction(1, 10)
    assert (network.loss, network.activation, network.training) == ("sum", "relu", "joint")
    assert load({**BASE, "network": {**NETWORK, "training": "staged"}}).network.training == "staged"  # type: ignore[union-attr]


@pytest.mark.parametrize(("given", "training"), [(None, "staged"), ("joint", "joint")])
def test_training_is_staged_by_default_where_there_are_stages(given: str | None, training: str):
    network = {**NETWORK, **({"training": given} if given else {})}
    pathways = [{"name": "a"}, {"name": "b", "stage": 2}]
    spec = load({"dataset": {"task": "xor"}, "pathway": pathways, "network": network})
    assert spec.network is not None
    assert spec.network.training == training
    assert spec.stages == ((1, 2) if training == "staged" else (1,))


def test_a_parameter_needs_no_value():
    spec = load({**BASE, "dataset": {"task": "xor", "Delta": "d**2"}, "parameters": {"d": {}}})
    assert spec.parameters[0].value is None
    assert spec.values == {}
    assert spec.dataset.inputs.parameters == spec.dataset.targets.parameters == ("d_",)


def test_parameters_keep_the_order_declared_and_their_assumptions():
    tables = {
        "dataset": {"X": [["b", "a"]], "Y": [["sqrt(a**2)", 1]]},
        "parameters": {"a": {"minimum": 0, "maximum": "5/2", "value": 2}, "b": {"positive": True}},
        "pathway": [{"name": "p"}],
    }
    spec = load(tables)
    first, second = spec.parameters
    assert (first.given, first.minimum, first.maximum, first.value) == ("a", 0, Fraction(5, 2), 2)
    assert (second.given, second.positive) == ("b", True)
    assert spec.dataset.inputs.parameters == ("a_", "b_")


def test_validation_table():
    table = {"tolerance": "1/50", "reason": "measured"}
    validation = load({**BASE, "validation": table}).validation
    assert (validation.tolerance, validation.reason) == (Fraction(1, 50), "measured")
    assert load(BASE).validation.tolerance == Fraction(1, 20)


@pytest.mark.parametrize("text", ["5%", " 5 %", "0.05", "10/2%"])
def test_a_tolerance_in_percent(text):
    table = {"tolerance": text, "reason": "measured"}
    assert load({**BASE, "validation": table}).validation.tolerance == Fraction(1, 20)


@pytest.mark.parametrize("text", ["%", "5%%", "0%", "101%", "five%"])
def test_a_tolerance_that_is_no_percentage(text):
    with pytest.raises(SpecError, match=r"validation\.tolerance"):
        load({**BASE, "validation": {"tolerance": text, "reason": "measured"}})


def test_json_schema_knows_every_key_and_resolves():
    schema = json_schema(TASKS)

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if "$ref" in node:
                assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]
            assert node.get("type") != "null"
            for below in node.values():
                walk(below)
        if isinstance(node, list):
            for below in node:
                walk(below)

    walk(schema)
    assert set(schema["properties"]) == {
        "title",
        "dataset",
        "parameters",
        "pathway",
        "node",
        "edge",
        "network",
        "validation",
    }
    datasets = {
        choice["$ref"].split("/")[-1] for choice in schema["properties"]["dataset"]["anyOf"]
    }
    assert "ContextualDataset" in datasets
    assert "UserDatasetModel" in datasets
    contextual = schema["$defs"]["ContextualDataset"]
    assert set(contextual["properties"]) == {
        "task",
        "items",
        "contexts",
        "structures",
        "context_scale",
    }
    assert contextual["additionalProperties"] is False
    assert set(contextual["required"]) == {"task", "contexts"}
    assert schema["$defs"]["NetworkModel"]["properties"]["hidden"]["maximum"] == MAX_HIDDEN


def test_wrong_formulas_are_reported_beside_other_wrong_keys():
    network = {"hidden": -5, "init_std": "0", "learning_rate": "x", "steps": 10}
    with pytest.raises(SpecError) as caught:
        load({**BASE, "network": network})
    assert [problem.path for problem in caught.value.problems] == [
        "network.hidden",
        "network.init_std",
        "network.learning_rate",
    ]
