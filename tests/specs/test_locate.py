"""Line numbers of key paths in TOML text."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from symreln.specs.lines import line_of, lines_of
from symreln.task_library.registry import SPECS, spec_path

TEXT = '''# comment with [brackets] = and "quotes
title = """
[not.a.table]
x = 1 "" \\""""

[dataset]
X = [ # comment ]
  ["1", "]"],
  [ 'a#b',
    2 ],
]
labels.kind = ["a", "b"]
labels."odd key" = [1, 2]
groups = { inputs = { low = [0], high = [1] }, outputs = {} }

[parameters.c]
value = 1979-05-27 07:32:00   # a date with a space
minimum = +1_000.5

[[pathway]]
name = "one"
[pathway.extra]
deep = 1

[[pathway]]   # second
  name = \'\'\'
two\'\'\'
  stage=2
'''
EXPECTED = {
    "title": 2,
    "dataset": 6,
    "dataset.X": 7,
    "dataset.X[0]": 8,
    "dataset.X[0][1]": 8,
    "dataset.X[1]": 9,
    "dataset.X[1][0]": 9,
    "dataset.X[1][1]": 10,
    "dataset.labels": 12,
    "dataset.labels.kind": 12,
    'dataset.labels."odd key"': 13,
    "dataset.groups.inputs": 14,
    "dataset.groups.inputs.high": 14,
    "dataset.groups.outputs": 14,
    "parameters.c": 16,
    "parameters.c.value": 17,
    "parameters.c.minimum": 18,
    "pathway": 20,
    "pathway[0]": 20,
    "pathway[0].name": 21,
    "pathway[0].extra": 22,
    "pathway[0].extra.deep": 23,
    "pathway[1]": 25,
    "pathway[1].name": 26,
    "pathway[1].stage": 28,
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_of_a_text_with_every_construct(newline: str):
    text = TEXT.replace("\n", newline)
    tomllib.loads(text)  # the text must be TOML for the test to mean anything
    lines = lines_of(text)
    assert {path: lines.get(path) for path in EXPECTED} == EXPECTED


def test_an_unknown_path_falls_back_to_what_is_around_it():
    lines = lines_of(TEXT)
    assert line_of("pathway[1].gate", lines) == 25
    assert line_of("dataset.X[1][7]", lines) == 9
    assert line_of("dataset.data", lines) == 6
    assert line_of("network.hidden", lines) is None
    assert line_of("", lines) is None
    assert line_of('x."a]b', lines) is None


@pytest.mark.parametrize("text", ["= 1", "a", "[a", 'a = "', "a = [1", "a = {b = ", "[[", "a ="])
def test_text_that_does_not_parse_gives_what_came_before(text: str):
    assert lines_of(f"first = 1\n{text}")["first"] == 1


@pytest.mark.parametrize("name", SPECS)
def test_every_key_of_the_ready_made_specs_is_on_its_line(name: str):
    text = Path(spec_path(name)).read_text(encoding="utf-8")
    rows = text.splitlines()
    lines = lines_of(text)

    def walk(value: object, path: str) -> None:
        if isinstance(value, dict):
            for key, below in value.items():
                place = f"{path}.{key}" if path else key
                assert key in rows[lines[place] - 1], place
                walk(below, place)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for index, below in enumerate(value):
                assert "[[" in rows[lines[f"{path}[{index}]"] - 1]
                walk(below, f"{path}[{index}]")

    walk(tomllib.loads(text), "")
