"""``--set``: what a key and a value may be, and where they go."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symreln.errors import SpecError
from symreln.specs.number import DecimalText
from symreln.specs.overrides import apply_overrides, parse_override
from symreln.task_library.load import load

BASE = {
    "network": {"hidden": 10},
    "pathway": [{"name": "common"}, {"name": "off 1", "stage": 2}],
    "dataset": {"structures": ["ring", "cross"]},
}


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("network.hidden=100", ("network", "hidden"), 100),
        ("network.loss=mean", ("network", "loss"), "mean"),
        ('network.loss = "mean"', ("network", "loss"), "mean"),
        ("network.init_std=1/140000", ("network", "init_std"), "1/140000"),
        ("a.b=0.1", ("a", "b"), DecimalText("0.1")),
        ("a.b=true", ("a", "b"), True),
        ("pathway[1].gate=context != 1", ("pathway", 1, "gate"), "context != 1"),
        ('pathway."off 1".stage=1', ("pathway", "off 1", "stage"), 1),
        ("dataset.X[0][1]=3", ("dataset", "X", 0, 1), 3),
        ('d.s=["a", "b"]', ("d", "s"), ["a", "b"]),
        ("a=b=c", ("a",), "b=c"),
        ("a = ", ("a",), None),
    ],
)
def test_parsing(text: str, path: tuple, value: object):
    if value is None:
        with pytest.raises(Exception, match="TOML value"):
            parse_override(text)
    else:
        assert parse_override(text) == (path, value)


def test_all_wrong_overrides_are_listed():
    with pytest.raises(SpecError) as caught:
        apply_overrides(BASE, ["x", "network.hidden=3", "y"])
    assert len(caught.value.problems) == 2


def test_tables_are_made_and_the_originals_left_alone():
    changed, done = apply_overrides(
        BASE,
        {
            "parameters.c.value": 3,
            'pathway."off 1".stage': 1,
            "pathway[2].name": "new",
            "dataset.structures[1]": "hierarchy",
        },
    )
    assert changed == {
        "network": {"hidden": 10},
        "pathway": [{"name": "common"}, {"name": "off 1", "stage": 1}, {"name": "new"}],
        "dataset": {"structures": ["ring", "hierarchy"]},
        "parameters": {"c": {"value": 3}},
    }
    assert set(done) == {
        ("parameters", "c", "value"),
        ("pathway", 1, "stage"),
        ("pathway", 2, "name"),
        ("dataset", "structures", 1),
    }
    assert BASE["pathway"] == [{"name": "common"}, {"name": "off 1", "stage": 2}]
    assert BASE["dataset"] == {"structures": ["ring", "cross"]}
    assert "parameters" not in BASE


def test_an_overridden_spec_is_checked_and_blames_the_override():
    with pytest.raises(SpecError) as caught:
        load("contextual-3", ["network.hidden=0", "pathway.off_2.gate=context == 7"])
    files = [problem.file for problem in caught.value.problems]
    assert files == ["--set pathway.off_2.gate=context == 7", "--set network.hidden=0"]


def test_overrides_reach_the_spec():
    spec = load(
        "contextual-3",
        ["network.hidden=100", "pathway.off_1.stage=1", "pathway[2].stage=1", "pathway[3].stage=1"],
    )
    assert spec.network is not None
    assert spec.network.hidden == 100
    assert spec.network.training == "joint"
    assert [pathway.stage for pathway in spec.pathways] == [1, 1, 1, 1]


def test_a_parameter_that_an_override_leaves_without_use_goes():
    spec = load("contextual-3", {"dataset.context_scale": 2})
    assert spec.parameters == ()
    assert spec.dataset.inputs.to_fractions()[8][0] == 2


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["validation.tolerance=5%"], "given on the command line"),
        ({"validation.tolerance": "1/20"}, "given as an override"),
        (["validation.tolerance=0.05", "validation.reason=mine"], "mine"),
    ],
)
@pytest.mark.parametrize("table", [None, {"tolerance": "1/2", "reason": "of another one"}])
def test_a_tolerance_set_alone_needs_no_reason_and_keeps_no_old_one(overrides, reason, table):
    tables = {"dataset": {"X": [[1]], "Y": [[1]]}, "pathway": [{"name": "a"}]}
    if table is not None:
        tables["validation"] = table
    validation = load(tables, overrides).validation
    assert (validation.tolerance, validation.reason) == (Fraction(1, 20), reason)
    assert table is None or table["reason"] == "of another one"


def test_a_reason_set_alone_still_needs_a_tolerance():
    with pytest.raises(SpecError, match=r"validation\.tolerance"):
        load("contextual-3", ["validation.reason=mine"])


def test_a_parameter_that_is_only_set_is_named_with_its_override() -> None:
    with pytest.raises(SpecError) as caught:
        load("xor", ["parameters.h.value=3"])
    assert (
        str(caught.value)
        .splitlines()[-1]
        .startswith(
            "  - --set parameters.h.value=3: parameters.h: found a parameter on which no entry"
        )
    )
    assert "expected one that is used (Delta)" in str(caught.value)
