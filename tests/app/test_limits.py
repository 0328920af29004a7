"""Limits of time and memory: what is said, what is on disk, and that no process is left."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from symreln.base import watched
from symreln.cli import limited
from symreln.verifier import verify_file
from tests.app.command import command

SECOND = "joint spectrum of pathway 'second'"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def endless(tmp_path):
    """A spec whose second pathway computes for minutes, within one call of FLINT."""
    draw = random.Random(1)
    rows = [[draw.randint(-9, 9) for _ in range(220)] for _ in range(220)]
    eye = [[int(i == j) for j in range(220)] for i in range(220)]
    for name, matrix in (("x", eye), ("y", rows)):
        lines = (",".join(map(str, row)) for row in matrix)
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    path = tmp_path / "endless.toml"
    path.write_text(
        '[dataset]\ninputs = "x.csv"\ntargets = "y.csv"\n'
        '[[pathway]]\nname = "first"\ngate = "all"\ninputs = [0, 1]\n'
        '[[pathway]]\nname = "second"\ngate = "all"\n'
    )
    return str(path)


@pytest.fixture
def ends_while(monkeypatch):
    """Let every time limit pass when the child says that it does something, not after seconds."""
    started, told = limited._started, []

    def noted(arguments, path):
        told.append(path)
        return started(arguments, path)

    def make(doing: str) -> None:
        class Clock:
            sleep = staticmethod(time.sleep)

            @staticmethod
            def monotonic() -> float:
                return 1e9 if doing in told[-1].read_text("utf-8", errors="ignore") else 0.0

        monkeypatch.setattr(limited, "time", Clock)

    monkeypatch.setattr(limited, "_started", noted)
    return make


def held(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def wait_for(event) -> None:
    deadline = time.monotonic() + 60
    while not event() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert event()


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended, also where nobody has taken note."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_at_a_time_limit_one_sentence_says_what_grew(endless, tmp_path, ends_while):
    ends_while(SECOND)
    out = tmp_path / "new" / "out"
    found = command("derive", endless, "--out", out, "--time-limit", "1.5min")
    said = f"symreln: time limit 90 s reached while deriving: {SECOND}\n"
    assert found == (4, "", said)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("asked", [["run", "xor", "--out", "{out}"], ["verify", "none.json"]])
def test_a_command_ends_at_a_memory_limit(asked, tmp_path):
    out = str(tmp_path / "out")
    found = command(*(each.format(out=out) for each in asked), "--memory-limit", "1MB")
    assert found.code == 4
    assert re.fullmatch(
        r"symreln: memory limit 1 MB reached: \d+ MB were in use while .*\n", found.err
    )
    assert not Path(out).exists()


def test_earlier_results_stay_and_so_does_what_a_run_has_finished(
    tmp_path, ends_while, monkeypatch
):
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    ends_while("validating: training")
    asked = ("run", "xor", "--seeds", "200", "--format", "json", "--out", out)
    found = command(*asked, "--time-limit", "90")
    assert found.code == 4
    assert "reached while validating: training" in found.err
    before = held(out)
    assert {*before} == {"certificate.json", "derivation.json"}
    assert verify_file(out)
    assert not [*temporary.iterdir()]
    ends_while("deriving: checks")
    asked = ("derive", "linear-hierarchy", "--out", out, "--time-limit", "90")
    assert command(*asked).code == 4
    assert held(out) == before


def test_nothing_ends_while_files_that_belong_together_take_their_places(tmp_path):
    # Neither the command nor a worker of it: each moves two files, with a pause between them.
    program = (
        "import sys, time; from pathlib import Path; from symreln.base import pool\n"
        "from tests.app.test_limits import moved\n"
        "with pool.processes(1) as executor:\n"
        "    executor.submit(moved, Path(sys.argv[1], 'worker'))\n"
        "    moved(Path(sys.argv[1], 'command'))\n"
    )
    with tempfile.NamedTemporaryFile() as told:
        warnings = f"ignore::UserWarning:{limited._TRACKER}"
        child = psutil.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "PYTHONWARNINGS": warnings, watched.FILE: told.name},
        )
        wait_for(lambda: len([*tmp_path.glob("*/one")]) == 2)
        started = {each.pid for each in child.children() if "spawn_main" in str(each.cmdline())}
        assert limited._end(child, Path(told.name)) == {child.pid, *started}
    assert child.returncode == -signal.SIGKILL
    assert {path.name for path in tmp_path.glob("*/*")} == {"one", "two"}
    assert len([*tmp_path.glob("*/two")]) == 2


def moved(folder: Path) -> None:
    folder.mkdir()
    with watched.undisturbed():
        (folder / "one").touch()
        time.sleep(0.7)
        (folder / "two").touch()
    time.sleep(60)
    (folder / "three").touch()


@LINUX
def test_a_limit_leaves_nothing_of_worker_processes_in_memory(tmp_path):
    own: set[int] = set()  # other programs have theirs

    def started() -> bool:
        for each in parent.children():
            maps = Path(f"/proc/{each.pid}/maps").read_text()
            own.update(map(int, re.findall(r" (\d+) +/dev/shm/sem\.", maps)))
        return left()

    def left() -> bool:
        with os.scandir("/dev/shm") as there:
            return not own.isdisjoint([each.inode() for each in there])

    asked = ["sweep", "xor", "--over", "network.hidden=60,80", "--seeds", "200", "--workers", "2"]
    parent = psutil.Popen(
        [sys.executable, "-m", "symreln", *asked, "--out", str(tmp_path / "out"),
         "--time-limit", "300"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(started)
    parent.send_signal(signal.SIGTERM)
    err = parent.communicate(timeout=60)[1]
    assert "resource_tracker" not in err
    wait_for(lambda: not left())
    assert not [*tmp_path.rglob(".*.tmp")]


def test_what_was_being_written_goes_and_what_others_write_stays(tmp_path):
    ours, theirs = (tmp_path / f".x.npz.{pid}-0123456789ab.tmp" for pid in (11, 22))
    draft = tmp_path / "a" / ".symreln.11-0123456789ab.tmp"
    (draft / "inner").mkdir(parents=True)
    for file in (ours, theirs, draft / "inner" / "page.json"):
        file.touch()
    limited._clear(tmp_path, {11})
    assert {*tmp_path.rglob("*")} == {tmp_path / "a", theirs}


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_however_the_command_ends_no_process_is_left(endless, tmp_path, number):
    parent = psutil.Popen(
        [sys.executable, "-m", "symreln", "derive", endless, "--time-limit", "300",
         "--out", str(tmp_path / "out")],
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip

    def deriving() -> bool:
        """Whether the child is at work."""
        found = [each for each in parent.children() if watched.FILE in each.environ()]
        return any(SECOND in Path(each.environ()[watched.FILE]).read_text() for each in found)

    wait_for(deriving)
    child = parent.children()[0]
    parent.send_signal(number)
    err = parent.communicate(timeout=60)[1]
    assert parent.returncode == {signal.SIGINT: 130}.get(number, -number)
    assert "Traceback" not in err
    wait_for(lambda: gone(child))
    assert number == signal.SIGKILL or not (tmp_path / "out").exists()


def test_memory_counts_what_a_child_started():
    inner = "x = bytearray(90 << 20); print(1, flush=True); import time; time.sleep(60)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    child = psutil.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE)
    child.stdout.readline()
    assert child.memory_info().rss < 60 << 20
    assert limited._memory(child) > 90
    with tempfile.NamedTemporaryFile() as told:
        inside = child.children()
        limited._end(child, Path(told.name))
    assert len(inside) == 1
    wait_for(lambda: all(map(gone, inside)))
    child.stdout.close()


def test_within_its_limits_a_command_does_what_it_does_without(tmp_path, capfd):
    asked = ["derive", "xor", "--quiet", "--format", "json", "--format", "html"]
    expected = command(*asked, "--out", tmp_path / "a").out
    limits = ["--time-limit", "5min", "--memory-limit", "8GB"]
    assert command(*asked, *limits, "--out", tmp_path / "b").code == 0
    found = capfd.readouterr()
    assert (found.out, found.err) == (expected.replace(f"{tmp_path}/a", f"{tmp_path}/b"), "")
    assert held(tmp_path / "a") == held(tmp_path / "b")
    asked = ["derive", "xor", "--set", "network.hidden=-1", "--out", tmp_path / "out"]
    assert command(*asked, "--time-limit", "100").code == 2
    assert "network.hidden" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "value", ["", "0", "-5", "soon", "5 parsecs", "1e9", "1" * 30, "٣", "nan", "5 weeks"]
)
def test_wrong_limits_end_in_2(value):
    for limit in ("time", "memory"):
        found = command("derive", "xor", f"--{limit}-limit={value}")
        assert found.code == 2
        assert "expected a" in found.err
