import json
import os
import stat

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symreln.base.jsonio import LINE, dumps, write_text

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@given(values)
def test_comes_back_in_the_same_order(value):
    assert json.loads(dumps(value)) == value
    assert list(json.loads(dumps({"b": 1, "a": value}))) == ["b", "a"]


def test_layout():
    """Plain values share a line where they fit; what holds more has a line for each."""
    assert dumps({"a": [1, "Δ"]}) == '{\n  "a": [1, "Δ"]\n}\n'
    assert dumps({"a": 1, "b": None}) == '{"a": 1, "b": null}\n'
    assert dumps([]) == "[]\n"
    matrix = [[0.5] * 60, [1] * 60]
    assert [line.count(",") for line in dumps(matrix).splitlines()] == [0, 60, 59, 0]
    assert len(dumps({f"key {k}": k for k in range(30)}).splitlines()) == 32
    words = ["w" * 60, "w" * 60]
    assert dumps(words) == f'[\n  "{words[0]}",\n  "{words[1]}"\n]\n'
    assert dumps({"k": "w" * LINE}) == '{\n  "k": "' + "w" * LINE + '"\n}\n'


@pytest.mark.parametrize(
    "value",
    [
        {"a": [0, float("nan")]},
        {"a": {"b": float("-inf")}},
        {"a": {1: 2}},
        [sp.Rational(1, 2)],
        ["\ud800"],
        [[1, 2], [3.0, float("inf")]],
        {"a": {"b": [{2: "x"}]}},
        {"a": [{"b": object()}]},
        {"\udfff": 1},
    ],
)
def test_refuses_what_json_cannot_say(value):
    with pytest.raises((TypeError, ValueError)):
        dumps(value)


def test_writes_like_any_other_file(tmp_path):
    path = tmp_path / "a.json"
    write_text(path, dumps({"a": 1}))
    assert path.read_bytes() == b'{"a": 1}\n'
    (tmp_path / "plain").write_text("x")
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (path, tmp_path / "plain")]
    assert modes[0] == modes[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "plain"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="No space"):
        write_text(path, "new" * 1000)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
