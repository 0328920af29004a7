"""The estimate: a range that grows with every size, said as an estimate."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.claims import cost
from symreln.cli import main as cli
from symreln.report.inform import estimate_sentence
from tests.strategies import examples


def random_spec(size: int, *, degree: int = 0, pathways: int = 1, samples: int = 0) -> sr.Spec:
    samples = samples or size
    rows = [[str((i * 7 + j * j * 3) % 11 + 1) for j in range(samples)] for i in range(size)]
    if degree:
        rows[0][0] = f"c**{degree} + 1"
    tables = {
        "dataset": {"X": rows, "Y": rows},
        "pathway": [{"name": f"p{i}", "gate": "all"} for i in range(pathways)],
    }
    if degree:
        tables["parameters"] = {"c": {"positive": True}}
    return sr.load(tables)


def ends(spec: sr.Spec) -> tuple[float, ...]:
    found = cost.estimate(spec, unit=0.007)
    return (*found.seconds, *found.memory)


GROWING = {
    "inputs": lambda k: random_spec(2 + 3 * k, samples=12),
    "samples": lambda k: random_spec(6, samples=4 + 6 * k),
    "pathways": lambda k: random_spec(6, pathways=1 + k),
    "degree": lambda k: random_spec(6, degree=1 + k),
    "parameters at all": lambda k: random_spec(6, degree=min(k, 1)),
}


@pytest.mark.parametrize("what", GROWING)
def test_no_end_falls_when_a_size_grows(what):
    found = [ends(GROWING[what](k)) for k in range(4)]
    for smaller, larger in pairwise(found):
        assert all(a <= b for a, b in zip(smaller, larger, strict=True))
    assert found[-1][1] > found[0][1], "the upper end must see this size"


@examples(120)
@given(st.integers(1, 8), st.integers(0, 3), st.integers(1, 4), st.floats(1e-4, 1.0))
def test_the_ends_are_in_order_and_scale_with_the_machine(size, degree, pathways, unit):
    spec = random_spec(size, degree=degree, pathways=pathways)
    found = cost.estimate(spec, unit=unit)
    assert 0 < found.seconds[0] <= found.seconds[1]
    assert 0 < found.memory[0] <= found.memory[1]
    twice = cost.estimate(spec, unit=2 * unit)
    assert twice.seconds == pytest.approx(tuple(2 * s for s in found.seconds))
    assert twice.memory == found.memory


def test_only_printed_where_it_is_asked_for(tmp_path, capsys):
    asked = ["derive", "xor", "--estimate", "--out", str(tmp_path / "out")]
    assert cli._guarded(asked) == 0
    said = capsys.readouterr()
    assert "an estimate" in said.out
    assert not (tmp_path / "out").exists()
    assert cli._guarded([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["estimate"] is True
    assert found["seconds"][0] <= found["seconds"][1]


@pytest.mark.parametrize(("unit", "said"), [(1.0, True), (1e-9, False)])
def test_long_work_is_announced_on_stderr_and_short_work_is_not(
    tmp_path, capsys, monkeypatch, unit, said
):
    monkeypatch.setattr(cost, "time_unit", lambda: unit)
    asked = ["derive", "xor", "--format", "json", "--out", str(tmp_path)]
    assert cli._guarded(asked) == 0
    assert ("an estimate" in capsys.readouterr().err) is said
    assert cli._guarded([*asked, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_what_no_machine_ends_in_a_day_is_said_so():
    found = cost.estimate(random_spec(8, degree=3), unit=1e6)
    assert "more than a day" in estimate_sentence(found)


def test_equal_ends_are_said_once_and_unlike_ones_as_a_range():
    one = cost.Estimate(seconds=(3.0, 3.1), memory=(200 << 20, 200 << 20))
    assert estimate_sentence(one) == "deriving takes roughly 3 s and 200 MB (an estimate)"
    two = cost.Estimate(seconds=(3.0, 30.0), memory=(200 << 20, 200 << 20))
    assert "roughly 3 s" in estimate_sentence(two)
    assert "roughly 30 s" in estimate_sentence(two)


def test_the_unit_is_a_time():
    assert 0 < cost.time_unit() < 60
