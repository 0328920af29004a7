"""Files of tasks: the same bytes every time, whole or not there, and no damage unseen."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.sweeps.files import Result, TaskFolder, decode, encode
from tests.strategies import examples

NAME = "network-" + 64 * "a" + ".npz"


def result() -> Result:
    return Result(
        values={"seed": 3, "κ": 0.1 + 0.2, "text": 'a "b"'},
        arrays={"gdln": np.array([1.0, 0.1 + 0.2, 5e-324]), "network": np.array([np.pi])},
    )


def test_what_is_read_is_what_was_written():
    data = encode(NAME, result())
    assert data == encode(NAME, result())
    found = decode(NAME, data)
    assert found.values == result().values
    for name, array in result().arrays.items():
        assert np.array_equal(found.arrays[name], array)


def test_numpy_reads_it_without_pickle():
    with np.load(io.BytesIO(encode(NAME, result())), allow_pickle=False) as data:
        assert np.array_equal(data["gdln"], result().arrays["gdln"])
        head = json.loads(data["header.json"])
    assert head["values"] == result().values


def test_a_changed_byte_is_seen_wherever_it_is():
    data = encode(NAME, result())
    unseen = []
    for place in range(len(data)):
        for change in (1, 0x80):
            changed = bytearray(data)
            changed[place] ^= change
            try:
                decode(NAME, bytes(changed))
            except ValueError:
                continue
            unseen.append(place)
    assert unseen == []


@examples(240)
@given(st.binary(max_size=60), st.integers(0, 2000), st.integers(0, 2000))
def test_no_cut_and_no_inset_is_taken_for_a_result(inset, begin, length):
    data = encode(NAME, result())
    changed = data[:begin] + inset + data[begin + length :]
    if changed != data:
        with pytest.raises(ValueError, match=r"."):
            decode(NAME, changed)


def test_a_file_under_anothers_name_is_no_result():
    with pytest.raises(ValueError, match="not what was written"):
        decode(NAME.replace("a", "b"), encode(NAME, result()))


def test_an_archive_that_another_program_packed_is_refused():
    other = encode(NAME, result())
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(other)) as source, zipfile.ZipFile(buffer, "w") as target:
        for member in source.namelist():  # as another program packs the same members
            target.writestr(member, source.read(member))
    with pytest.raises(ValueError, match="not what was written"):
        decode(NAME, buffer.getvalue())


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("header.json", b"[1, 2]"),
        ("header.json", b"{}"),
        ("header.json", b'{"values": 3}'),
        ("header.json", b"\xff"),
        ("gdln.npy", b""),
        ("gdln.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '|O'}  "),
        ("more.npy", b"no array"),
    ],
)
def test_a_whole_archive_with_a_foreign_content_is_refused(member, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(encode(NAME, result()))) as source:
        members = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(buffer, "w") as target:
        for name, data in {**members, member: content}.items():
            target.writestr(name, data)
    with pytest.raises(ValueError, match=r"."):
        decode(NAME, buffer.getvalue())


def test_a_damaged_file_is_removed_and_an_absent_one_is_none(tmp_path):
    folder = TaskFolder(path=tmp_path)
    assert folder.read(NAME) is None
    folder.write(NAME, encode(NAME, result()))
    assert folder.read(NAME) is not None
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes()[:-7])
    assert folder.read(NAME) is None
    assert not folder.has(NAME)


KILLED = """
import os, signal, sys
from pathlib import Path
from symreln.sweeps.files import TaskFolder
from symreln.base import jsonio
setattr(os, sys.argv[2], lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
TaskFolder(path=Path(sys.argv[1])).write(sys.argv[3], b"half")
"""


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_writer_that_is_killed_leaves_no_file_under_the_name(tmp_path, moment):
    folder = TaskFolder(path=tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), moment, NAME], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.endswith(".tmp")
    assert folder.read(NAME) is None
    folder.tidy({"another"})
    assert os.listdir(tmp_path) == [left]
    folder.tidy({NAME})
    assert os.listdir(tmp_path) == []


def test_a_writer_whose_file_was_tidied_away_is_content_with_the_others(tmp_path, monkeypatch):
    folder = TaskFolder(path=tmp_path)
    data = encode(NAME, result())
    genuine = os.replace

    def tidied(source, target):
        (tmp_path / NAME).write_bytes(data)
        folder.tidy({NAME})
        genuine(source, target)

    monkeypatch.setattr(os, "replace", tidied)
    folder.write(NAME, data)
    assert folder.read(NAME) is not None
