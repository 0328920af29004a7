"""Work that a process beside this one does, and what is left where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import symreln as sr
from symreln.base import beside
from symreln.base.beside import begin, hand_over, helper, offer

UNUSED = "mailbox"  # no test imports it


def _dies(pid: int) -> str:
    if os.getpid() != pid:
        os._exit(1)
    return "here"


def test_work_is_done_beside_and_nothing_is_left() -> None:
    before = psutil.Process().children()
    with helper(UNUSED):
        found = hand_over(os.getpid)
        much = (
            hand_over(len, bytes(1_000_000)),
            hand_over(bytes, 1_000_000),
            hand_over(len, bytes(2_000_000)),
        )
        assert found() != os.getpid()
        assert found() == found()
        assert [each() for each in much] == [1_000_000, bytes(1_000_000), 2_000_000]
    assert psutil.Process().children() == before
    assert hand_over(os.getpid)() == os.getpid()


def test_what_fails_beside_is_done_or_fails_here() -> None:
    with helper(UNUSED):
        with pytest.raises(ZeroDivisionError):
            hand_over(divmod, 1, 0)()
        assert hand_over(lambda: 3)() == 3
        assert hand_over(_dies, os.getpid())() == "here"
        assert hand_over(os.getpid)() == os.getpid()
    with helper("symreln.there_is_none"):
        assert hand_over(os.getpid)() == os.getpid()


def test_no_process_where_all_is_imported_or_one_core_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with helper("sys"):
        assert hand_over(os.getpid)() == os.getpid()
    monkeypatch.setattr(beside, "cores", lambda: 1)
    with helper(UNUSED):
        assert hand_over(os.getpid)() == os.getpid()


def test_an_error_ends_the_process() -> None:
    before = psutil.Process().children()
    with pytest.raises(KeyError), helper(UNUSED):
        raise KeyError(hand_over(bytes, 10_000_000))
    assert psutil.Process().children() == before


def test_the_command_writes_what_python_writes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "symreln", "derive", "linear-hierarchy", "--out"]
    done = subprocess.run([*command, tmp_path / "beside"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    here = sr.derive("linear-hierarchy").save(tmp_path / "here")
    assert {path.suffix for path in here} == {".json", ".tex", ".html", ".pdf"}
    for path in here:
        other = tmp_path / "beside" / path.relative_to(tmp_path / "here")
        assert other.read_bytes() == path.read_bytes()


def test_the_first_of_what_waits_is_done_first_and_what_is_not_begun_is_done_here() -> None:
    with helper(UNUSED):
        hand_over(os.getpid)()
        busy, offered, last = hand_over(time.sleep, 1), offer(time.time), hand_over(time.time)
        soon, here = begin(time.time), begin(os.getpid)
        assert here() == here() == os.getpid()
        assert busy() is None
        time.sleep(0.5)
        assert soon() < last() < offered()
        found, refused = begin(os.getpid), begin(divmod, 1, 0)
        time.sleep(0.5)
        assert found() != os.getpid()
        with pytest.raises(ZeroDivisionError):
            refused()
        hand_over(_dies, os.getpid())
        assert offer(os.getpid)() == os.getpid()
    assert begin(os.getpid)() == os.getpid()
