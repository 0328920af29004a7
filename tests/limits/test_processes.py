"""Processes of a command with limits: none is left, all are counted, all end with their parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from symreln.base.processes import resident_bytes, session_members
from symreln.cli import limited
from symreln.cli import main as cli
from symreln.cli.request import Request
from symreln.limits import supervise as supervising
from tests.limits.test_supervise import LINUX, ROOT, SPEC

PARENT = """
import sys
from symreln.cli.request import Request
from symreln.cli.limited import supervise
supervise(Request(command="derive", spec=sys.argv[1], out=sys.argv[2], time_limit=300.0),
          "tests.limits.slow_worker")
"""


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_however_the_command_ends_no_process_is_left(tmp_path, number):
    spec = tmp_path / "own.toml"
    spec.write_text(SPEC, "utf-8")
    how = {"SLOW_WORKER": "spawn", "SLOW_WORKER_NOTES": str(tmp_path), "PYTHONPATH": ROOT}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(spec), str(tmp_path / "out")],
        env={**os.environ, **how},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    pids = [_noted(tmp_path / name) for name in ("worker", "grandchild")]
    assert all(resident_bytes(pid) for pid in pids)
    parent.send_signal(number)
    parent.wait(timeout=30)
    left = pids if number != signal.SIGKILL else pids[:1]
    deadline = time.monotonic() + 30
    while any(resident_bytes(pid) for pid in left) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in left if resident_bytes(pid)]
    for pid in pids:
        if resident_bytes(pid):
            os.kill(pid, signal.SIGKILL)


def _noted(path: Path) -> int:
    deadline = time.monotonic() + 60
    while not (path.is_file() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return int(path.read_text())


@LINUX
def test_memory_counts_what_a_child_started():
    program = "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-c', "
    program += "'x = bytearray(90 << 20); print(1, flush=True); import time; time.sleep(60)']);"
    program += "p.wait()"
    outer = subprocess.Popen(
        [sys.executable, "-c", program], start_new_session=True, stdout=subprocess.PIPE
    )
    assert outer.stdout is not None
    try:
        outer.stdout.readline()
        members = list(session_members(outer.pid))
        assert len(members) == 2
        assert sum(resident_bytes(pid) for pid in members) > 90 << 20
    finally:
        os.killpg(outer.pid, signal.SIGKILL)
        outer.wait()
        outer.stdout.close()


def test_memory_that_cannot_be_measured_is_not_promised(monkeypatch, capsys):
    monkeypatch.setattr(supervising, "can_measure_memory", lambda: False)
    assert cli._guarded(["derive", "xor", "--memory-limit", "1GB"]) == 2
    assert "use a time limit" in capsys.readouterr().err


def test_requests_travel_whole():
    request = Request(command="run", spec="xor", overrides=("a=1",), formats=("tex",), seeds=3)
    assert Request.of(json.loads(json.dumps(asdict(request)))) == request


def test_the_clock_begins_with_the_command_and_not_with_the_process(monkeypatch):
    """A shell that waits and then becomes this program has not used the user's time."""
    found = []

    def supervise(_request: Request, *, spent: float) -> int:
        found.append(spent)
        return 0

    monkeypatch.setattr(limited, "supervise", supervise)
    start = time.monotonic()
    with pytest.raises(SystemExit):
        cli.main(["derive", "xor", "--time-limit", "100"])
    assert 0 < found[0] <= time.monotonic() - start


def test_the_time_of_the_imports_counts_and_that_of_a_waiting_shell_does_not():
    program = (
        "import sys, time; before = time.monotonic(); from symreln.cli import main as cli;"
        "from symreln.cli import limited as s;"
        "own = time.monotonic() - cli._STARTED;"
        "s.supervise = lambda _, *, spent: print(before - cli._STARTED, own, spent) or 0;"
        "sys.argv = ['symreln', 'derive', 'xor', '--time-limit', '100']; cli.main()"
    )
    found = subprocess.run(
        ["sh", "-c", f'sleep 2; exec "{sys.executable}" -c "{program}"'],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    earlier, imports, spent = map(float, found.stdout.split())
    assert earlier < 2, "that would be the shell's"
    assert spent > imports


@LINUX
def test_a_child_whose_parent_is_gone_does_nothing(tmp_path):
    request = Request(command="derive", spec="xor", out=str(tmp_path / "out"))
    message = {"request": asdict(request), "steps": str(tmp_path / "steps")}
    found = subprocess.run(
        [sys.executable, "-m", limited.WORKER],
        input=json.dumps({**message, "parent": 1}),
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert found.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_child_ties_itself_to_its_parent_before_it_imports_much():
    program = (
        "import sys, runpy; from symreln.base import processes;"
        "processes.die_with_parent = lambda: sys.exit("
        "str(sorted({'symreln.cli.commands', 'symreln.cli.request', 'symreln.cli.main', 'flint',"
        " 'numpy'}"
        " & set(sys.modules))));"
        f"runpy.run_module({limited.WORKER!r}, run_name='__main__')"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert found.stderr.strip() == "[]"
