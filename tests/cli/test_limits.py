"""Limits of time and memory: what is said, what is on disk, and that no process is left."""

from __future__ import annotations

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
from tests.cli.command import command

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
    asked = ("derive", "contextual-3", "--out", out, "--time-limit", "90")
    assert command(*asked).code == 4
    assert held(out) == before


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


@pytest.mark.parametrize(
    "value", ["", "0", "-5", "soon", "5 parsecs", "1e9", "1" * 30, "٣", "nan", "5 weeks"]
)
def test_wrong_limits_end_in_2(value):
    for limit in ("time", "memory"):
        found = command("derive", "xor", f"--{limit}-limit={value}")
        assert found.code == 2
        assert "expected a" in found.err
