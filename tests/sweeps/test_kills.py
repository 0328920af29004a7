"""kill -9 of a worker and of the command: nothing is lost and every byte is the same.

The campaign, a thousand networks and twenty kills, is ``benchmarks/sweep.py``.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symreln.base import pool
from tests.sweeps.examples import SPEC, Here, command, contents

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="workers are found in /proc"
)
LONG = (
    *("--set", "network.steps=1500", "--over", "network.hidden=3,5,7"),
    *("--seeds", "64", "--workers", "1", "-q"),
)


def typed(source: Path, out: Path) -> list[str]:
    return ["sweep", str(source), *LONG, "--out", str(out)]


def start(source: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "symreln", *typed(source, out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def workers(pid: int) -> list[int]:
    """The processes that do the tasks of a command; another one counts its semaphores."""
    found = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, listing.read_text().split())
    return [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def networks(out: Path) -> dict[str, int]:
    """When each network's file was written."""
    return {path.name: path.stat().st_mtime_ns for path in out.glob("tasks/networks-*.npz")}


def wait_for(out: Path, count: int, client: subprocess.Popen[bytes]) -> dict[str, int]:
    """Wait until so many networks are there; return them."""
    while len(networks(out)) < count:
        assert client.poll() is None, "the command ended before it was killed"
        time.sleep(0.005)
    return networks(out)


def test_killed_workers_and_a_killed_command_change_no_byte(tmp_path, capsys, monkeypatch):
    source, out = tmp_path / "two.toml", tmp_path / "out"
    source.write_text(SPEC)
    moment = random.Random(3)
    client = start(source, out)
    first = wait_for(out, 1, client)
    time.sleep(moment.uniform(0, 0.2))
    (worker,) = workers(client.pid)
    os.kill(worker, signal.SIGKILL)
    _, said = client.communicate(timeout=60)
    assert client.returncode == 4
    assert b"a worker process was killed" in said
    assert b"start the same command again" in said
    assert b"Traceback" not in said
    client = start(source, out)
    wait_for(out, 9, client)
    time.sleep(moment.uniform(0, 0.1))
    (worker,) = workers(client.pid)
    client.kill()
    client.communicate()
    assert client.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 5
    while running(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running(worker), "nobody goes on for a command that was killed"
    before = networks(out)
    assert first.items() <= before.items()
    assert len(before) < 24
    assert not (out / "sweep.json").exists()
    last = start(source, out)
    assert (last.communicate(timeout=120)[1], last.returncode) == (b"", 0)
    after = networks(out)
    assert len(after) == 24
    assert before.items() <= after.items(), "what was done is not done again"
    calm = tmp_path / "calm"
    monkeypatch.setattr(pool, "processes", lambda _: Here())
    assert command(capsys, *typed(source, calm))[0] == 0
    assert contents(calm) == contents(out)


def test_an_interrupt_ends_the_command_and_its_workers(tmp_path):
    source, out = tmp_path / "two.toml", tmp_path / "out"
    source.write_text(SPEC)
    client = start(source, out)
    wait_for(out, 1, client)
    own = workers(client.pid)
    client.send_signal(signal.SIGINT)
    _, said = client.communicate(timeout=60)
    assert client.returncode == 130
    assert said.strip() == b"symreln: interrupted; what was written before stays"
    assert not any(map(running, own))


def running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"
