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
from symreln.base.units import megabytes, seconds
from symreln.cli import limited
from symreln.cli import main as cli
from symreln.errors import InputError
from symreln.verifier import verify_file

ROOT = str(Path(cli.__file__).parents[2])
SECOND = "joint spectrum of pathway 'second'"
LONG = {
    "run": ["run", "xor"],
    "derive": ["derive", "xor"],
    "validate": ["validate", "xor"],
    "gates": ["gates", "xor", "--method", "enumerate"],
    "race": ["race", "xor"],
    "replay": ["replay", "xor"],
    "sweep": ["sweep", "xor", "--over", "network.hidden=4,8"],
    "depth": ["depth"],
    "reproduce": ["reproduce", "xor"],
    "verify": ["verify", "none.json"],
}


@pytest.fixture
def endless(tmp_path):
    """A spec whose second pathway computes for minutes, within one call of FLINT."""
    draw = random.Random(1)
    rows = [[draw.randint(-9, 9) for _ in range(220)] for _ in range(220)]
    (tmp_path / "y.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    eye = [[int(i == j) for j in range(220)] for i in range(220)]
    (tmp_path / "x.csv").write_text("\n".join(",".join(map(str, row)) for row in eye))
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
        told.append(Path(path))
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


def test_at_a_time_limit_one_sentence_says_what_grew(endless, tmp_path, capsys, ends_while):
    ends_while(SECOND)
    out = tmp_path / "new" / "out"
    assert cli._guarded(["derive", endless, "--out", str(out), "--time-limit", "90"]) == 4
    said = capsys.readouterr()
    assert said.err == (
        f"symreln: time limit 90 s reached while deriving: {SECOND}; "
        f"no finished files are new in {out}\n"
    )
    assert said.out == ""
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", LONG)
def test_every_long_command_ends_at_a_memory_limit(name, tmp_path, capsys):
    out = [] if name == "verify" else ["--out", str(tmp_path / "out")]
    assert cli._guarded([*LONG[name], *out, "--memory-limit", "1MB"]) == 4
    said = capsys.readouterr().err
    assert said.startswith("symreln: memory limit 1 MB reached: ")
    assert " MB were in use while " in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_every_command_is_long_or_shows_what_there_is():
    assert {*LONG, "tasks", "schema", "info"} == {*cli.cli.commands}


def test_earlier_results_stay_as_they_were(tmp_path, capsys, ends_while):
    out = tmp_path / "out"
    assert cli._guarded(["derive", "xor", "--quiet", "--out", str(out)]) == 0
    before = held(out)
    ends_while("checks")
    asked = ["derive", "linear-hierarchy", "--out", str(out), "--time-limit", "90"]
    assert cli._guarded(asked) == 4
    assert "while deriving: checks; no finished files are new" in capsys.readouterr().err
    assert held(out) == before


def test_of_a_run_the_derivation_that_was_finished_stays_whole(
    tmp_path, capsys, ends_while, monkeypatch
):
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    ends_while("validating: training")
    asked = ["run", "xor", "--seeds", "200", "--format", "json", "--out", str(out)]
    assert cli._guarded([*asked, "--time-limit", "90"]) == 4
    err = capsys.readouterr().err
    assert f"while validating: training; 2 finished files are new in {out}" in err
    assert {*held(out)} == {"certificate.json", "derivation.json"}
    assert verify_file(out)
    assert not [*temporary.iterdir()]


def test_nothing_ends_while_files_that_belong_together_take_their_places(tmp_path):
    # Neither the command nor a worker of it: each moves two files, with a pause between them.
    program = (
        "import sys, time; from pathlib import Path; from symreln.base import pool, watched\n"
        "from tests.test_limits import moved\n"
        "assert watched.begin()\n"
        "with pool.processes(1) as executor:\n"
        "    executor.submit(moved, Path(sys.argv[1], 'worker'))\n"
        "    moved(Path(sys.argv[1], 'command'))\n"
    )
    with tempfile.NamedTemporaryFile() as told:
        child = psutil.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            env={
                **os.environ,
                "PYTHONPATH": ROOT,
                "PYTHONWARNINGS": limited._TRACKER,
                watched.FILE: told.name,
            },
        )
        wait_for(lambda: len([*tmp_path.glob("*/one")]) == 2)
        started = {each.pid for each in child.children() if "spawn_main" in str(each.cmdline())}
        assert limited._end(child, told) == {child.pid, *started}
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


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
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
        env={**os.environ, "PYTHONPATH": ROOT}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(started)
    parent.send_signal(signal.SIGTERM)
    err = parent.communicate(timeout=60)[1]
    assert "resource_tracker" not in err
    wait_for(lambda: not left())
    assert not [*tmp_path.rglob(".*.tmp")]


def test_what_was_being_written_goes_and_folders_that_it_left_empty(tmp_path):
    ours, theirs = (tmp_path / name for name in ("a/b/.x.npz.11-0123456789ab.tmp", "c/d"))
    for each in (ours, theirs / ".x.npz.22-0123456789ab.tmp"):
        each.parent.mkdir(parents=True)
        each.touch()
    draft = tmp_path / ".symreln.11-0123456789ab.tmp"
    (draft / "inner").mkdir(parents=True)
    (draft / "inner" / "page.json").touch()
    limited._clear({*tmp_path.rglob("*")}, {11})
    assert {*tmp_path.rglob("*")} == {tmp_path / "c", theirs, *theirs.iterdir()}


def wait_for(event) -> None:
    deadline = time.monotonic() + 60
    while not event() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert event()


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended, also where nobody has taken note."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and children end with parents")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_the_command_ends_no_process_is_left(endless, tmp_path, number):
    parent = psutil.Popen(
        [sys.executable, "-m", "symreln", "derive", endless, "--time-limit", "300",
         "--out", str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": ROOT}, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip

    def deriving() -> bool:
        """Whether the child is at work."""
        found = [each for each in parent.children() if watched.FILE in each.environ()]
        return any(SECOND in Path(each.environ()[watched.FILE]).read_text() for each in found)

    wait_for(deriving)
    child = parent.children()[0]
    parent.send_signal(number)
    err = parent.communicate(timeout=60)[1]
    assert parent.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(number, -number)
    assert "Traceback" not in err
    wait_for(lambda: gone(child))
    assert number == signal.SIGKILL or not (tmp_path / "out").exists()


def test_memory_counts_what_a_child_started():
    inner = "x = bytearray(90 << 20); print(1, flush=True); import time; time.sleep(60)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    child = psutil.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE)
    child.stdout.readline()
    own = child.memory_info().rss
    assert own < 60 << 20 < 90 << 20 < limited._memory(child)
    with tempfile.NamedTemporaryFile() as told:
        inside = child.children()
        limited._end(child, told)
    assert len(inside) == 1
    wait_for(lambda: all(map(gone, inside)))
    child.stdout.close()


def test_within_its_limits_a_command_does_what_it_does_without(tmp_path, capfd):
    asked = ["derive", "xor", "--quiet", "--format", "json", "--format", "html"]
    assert cli._guarded([*asked, "--out", str(tmp_path / "a")]) == 0
    expected = capfd.readouterr().out.replace(str(tmp_path / "a"), str(tmp_path / "b"))
    limits = ["--time-limit", "5min", "--memory-limit", "8GB"]
    assert cli._guarded([*asked, *limits, "--out", str(tmp_path / "b")]) == 0
    found = capfd.readouterr()
    assert (found.out, found.err) == (expected, "")
    assert held(tmp_path / "a") == held(tmp_path / "b")


def test_a_wrong_spec_under_a_limit_is_refused_as_ever(tmp_path, capfd):
    asked = ["derive", "xor", "--set", "network.hidden=-1", "--time-limit", "100"]
    assert cli._guarded([*asked, "--out", str(tmp_path / "out")]) == 2
    assert "network.hidden" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", ["0", "-5", "soon", "5 parsecs", ""])
def test_wrong_limits_end_in_2(value, capsys):
    assert cli._guarded(["derive", "xor", f"--time-limit={value}"]) == 2
    assert cli._guarded(["run", "xor", f"--memory-limit={value}"]) == 2
    assert "expected" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "0", "-1", "1e9", "5 weeks", "ten", "1" * 30, "٣", "nan"])
def test_wrong_quantities_are_refused(text):
    for parse in (seconds, megabytes):
        with pytest.raises(InputError):
            parse(text)


def test_a_command_that_ends_by_itself_leaves_the_files_of_others_alone(tmp_path, monkeypatch):
    started, others = limited._started, []

    def beside(*asked):
        child = started(*asked)
        # Of another machine, where a process may have the same number.
        others.append(tmp_path / "out" / "tasks" / f".x.npz.{child.pid}-0123456789ab.tmp")
        others[0].parent.mkdir(parents=True)
        others[0].write_text("being written by another program")
        return child

    monkeypatch.setattr(limited, "_started", beside)
    asked = ["derive", "linear-hierarchy", "--out", str(tmp_path / "out"), "-q"]
    assert limited.limited(asked, tmp_path / "out", 300, None) == 0
    assert others[0].is_file()
