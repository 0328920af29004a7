"""Work that a process beside this one does, and what is left where it cannot."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import symreln as sr
from symreln.base import beside
from symreln.base.beside import begin, hand_over, helper, offer
from symreln.errors import CertificateError
from symreln.pipeline import checks

UNUSED = "mailbox"  # no test imports it


def _dies(pid: int) -> str:
    if os.getpid() != pid:
        os._exit(1)
    return "here"


def _squared(number: float) -> float:
    return float(np.float64(number) ** 2)


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "cores", lambda: 2)


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


def test_what_overflows_beside_is_said_as_here() -> None:
    with helper(UNUSED):
        beside = hand_over(_squared, 1e200)
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            beside()
        with np.errstate(over="ignore"):
            assert beside() == float("inf")


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


def test_processes_of_others_go_on() -> None:
    other = multiprocessing.Process(target=time.sleep, args=(60,))
    other.start()
    try:
        with helper(UNUSED):
            assert hand_over(os.getpid)() != other.pid
        assert other.is_alive()
    finally:
        other.kill()
        other.join()


def _nested() -> bool:
    return hand_over(os.getpid)() == os.getpid()


def test_work_beside_begins_its_own_work_itself() -> None:
    with helper(UNUSED):
        assert hand_over(_nested)()


def test_it_ends_with_its_parent() -> None:
    program = (
        "import os, sys\nfrom symreln.base import beside\nbeside.cores = lambda: 2\n"
        f"with beside.helper({UNUSED!r}):\n"
        "    print(beside.hand_over(os.getpid)(), flush=True)\n    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    pid = int(done.stdout)
    deadline = time.monotonic() + 20
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(pid)


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


def test_what_waits_where_the_block_ends_or_the_process_dies_is_done_here() -> None:
    before = threading.active_count()
    with helper(UNUSED):
        waits = hand_over(time.sleep, 0.01), *(hand_over(os.getpid) for _ in range(3))
        assert waits[3]() != os.getpid()
        hand_over(time.sleep, 60)
        time.sleep(0.3)
        last = [hand_over(os.getpid), begin(os.getpid), offer(os.getpid)]
    assert {each() for each in last} == {os.getpid()}
    with helper(UNUSED):
        dies, last = hand_over(_dies, os.getpid()), [hand_over(os.getpid) for _ in range(3)]
        assert dies() == "here"
        assert {each() for each in last} == {os.getpid()}
    with pytest.raises(KeyError), helper(UNUSED):  # noqa: PT012
        hand_over(time.sleep, 60)
        last = [hand_over(os.getpid)]
        raise KeyError
    assert last[0]() == os.getpid()
    assert threading.active_count() == before


def test_a_refused_certificate_ends_a_derivation_before_other_checks_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        msg = "refused"
        raise CertificateError(msg)

    monkeypatch.setattr(checks, "verify", refuse)
    with pytest.raises(CertificateError):
        sr.derive("linear-hierarchy")
    monkeypatch.setattr(checks, "_trajectories", lambda _: divmod(1, 0))
    with pytest.raises(CertificateError):
        sr.derive("linear-hierarchy")
