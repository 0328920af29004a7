import json
import os
import stat
import subprocess
import sys
import threading

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symreln.base import jsonio
from symreln.base.jsonio import LINE, dumps, write_bytes, write_text

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


cells = (
    st.integers()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["],\n[", "\n", ",\n", "]\n[", '"', "\\", "Δ", "\0", "], [", "w" * 50])
)


@given(st.lists(st.lists(cells, max_size=4) | st.tuples(cells, cells), min_size=1))
def test_rows_encoded_at_once_are_those_encoded_one_by_one(table):
    """The texts hold what divides rows and items, and some rows do not fit on a line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonio, "_rows", lambda _: None)
        one_by_one = dumps({"a": [table], "b": table})
    assert dumps({"a": [table], "b": table}) == one_by_one


def test_rows_are_encoded_at_once():
    assert jsonio._rows([[1, "a"], [], (2.5, None)]) == ['[1, "a"]', "[]", "[2.5, null]"]
    assert jsonio._rows([[1] * 200]) == [f"[{', '.join(['1'] * 200)}]"]
    for other in ([["w" * LINE]], [[1], 2], [[1], [[2]]], [[True], [{}]], {"a": [1]}):
        assert jsonio._rows(other) is None


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


def test_killed_writer_leaves_the_old_file(tmp_path):
    """A process that dies between the last byte and the rename leaves the old file whole."""
    path = tmp_path / "a.txt"
    write_text(path, "old")
    script = (
        "import os, sys, pathlib\n"
        "from symreln.base.jsonio import write_text\n"
        "os.replace = lambda *a: os._exit(9)\n"
        "write_text(pathlib.Path(sys.argv[1]), 'new' * 100000)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=30)
    assert done.returncode == 9
    assert path.read_text() == "old"


def test_readers_see_whole_files_only(tmp_path):
    path = tmp_path / "a.bin"
    contents = [bytes([letter]) * 200_000 for letter in b"ab"]
    write_bytes(path, contents[0])
    stop = threading.Event()
    seen = set()

    def read():
        while not stop.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(40):
        write_bytes(path, contents[turn % 2])
    stop.set()
    reader.join()
    assert seen <= set(contents)
    assert len(seen) == 2
