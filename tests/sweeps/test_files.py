"""Files of tasks: the same bytes every time, whole or not there, and no damage unseen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

from symreln.errors import InputError
from symreln.sweeps import files
from symreln.sweeps.files import Result, read_result, tidy, write_result

NAME = "network-0123456789abcdef-0-3.npz"


def result() -> Result:
    return Result(
        values={"κ": 0.1 + 0.2, "text": 'a "b"'},
        arrays={"gdln": np.array([1.0, 0.1 + 0.2, 5e-324]), "network": np.array([np.pi])},
    )


def test_what_is_read_is_what_was_written(tmp_path):
    assert read_result(tmp_path / NAME) is None
    for name in (NAME, "again.npz"):
        write_result(tmp_path / name, result())
    assert (tmp_path / NAME).read_bytes() == (tmp_path / "again.npz").read_bytes()
    found = read_result(tmp_path / NAME)
    assert found.values == result().values
    assert found.arrays.keys() == result().arrays.keys()
    for name, array in result().arrays.items():
        assert np.array_equal(found.arrays[name], array)


def test_damage_is_said_with_its_mend(tmp_path):
    path = tmp_path / NAME
    write_result(path, result())
    data = path.read_bytes()
    inside = data.index(result().arrays["gdln"].tobytes())
    changed = data[:inside] + b"x" + data[inside + 1 :]
    for damaged in (b"", b"no archive", data[:-7], data[: len(data) // 2], changed):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="it is damaged"):
            read_result(path)
    objects = np.array([{}], dtype=object)
    np.savez(path, values=objects, allow_pickle=True)
    with pytest.raises(InputError, match="damaged"):  # no pickle is read
        read_result(path)


def test_no_changed_byte_changes_what_is_read_unseen(tmp_path):
    path = tmp_path / NAME
    write_result(path, result())
    data, refused = path.read_bytes(), 0
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            found = read_result(path)
        except InputError:
            refused += 1
            continue
        assert found.values == result().values
        assert found.arrays.keys() == result().arrays.keys()
        assert all(
            np.array_equal(found.arrays[name], array) for name, array in result().arrays.items()
        )
    assert refused > len(data) / 2


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from symreln.sweeps import files
from symreln.sweeps.files import Result, write_result
setattr(os, sys.argv[2], lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
write_result(Path(sys.argv[1]), Result(arrays={"gdln": np.ones(3)}))
"""


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_writer_that_is_killed_leaves_no_file_under_the_name(tmp_path, moment):
    path = tmp_path / NAME
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.endswith(".tmp")
    assert read_result(path) is None
    tidy(tmp_path)
    assert os.listdir(tmp_path) == [left], "a writer may live that has not finished"
    write_result(path, result())
    tidy(tmp_path)
    assert os.listdir(tmp_path) == [NAME]


def test_a_flipped_byte_is_said_or_changes_nothing(tmp_path):
    path = tmp_path / NAME
    write_result(path, result())
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :])
        with suppress(InputError):  # any other error would be called a bug of symreln
            read_result(path)


def test_a_writer_whose_file_another_run_tidied_away_is_content(tmp_path, monkeypatch):
    path = tmp_path / NAME
    write_result(path, result())

    def gone(*_):
        raise FileNotFoundError

    monkeypatch.setattr(files, "write_bytes", gone)
    write_result(path, result())
    path.unlink()
    with pytest.raises(FileNotFoundError):
        write_result(path, result())
