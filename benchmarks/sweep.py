"""A sweep of 1000 networks that is killed 20 times at random, byte by byte beside one that is not.

    python -m benchmarks.sweep [--kills 20] [--seeds 100] [--rng 0]

Every kill is SIGKILL, of a worker or of the whole command, and both end it; then it is started
again. Printed are the kills, how many finished files were made again (none may be), and whether the
two folders hold the same bytes.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

#: Ten combinations: a hundred seeds of each are a thousand networks of each kind.
ASKED = (
    "xor",
    *("--over", "network.hidden=8,12,16,20,24"),
    *("--over", "parameters.Delta.value=0,1/2"),
    *("--set", "network.init_std=1/100"),
    *("--set", "network.steps=1501"),
)
PATIENCE = 1800.0
#: Exit code of a command whose worker was killed.
LIMIT = 4
#: A look at the folder between two kills.
LOOK = 0.05


def start(folder: Path, seeds: int) -> subprocess.Popen[bytes]:
    """Start the command."""
    return subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "symreln", "sweep", *ASKED),
            *("--seeds", str(seeds), "--workers", "2", "--quiet", "--out", str(folder)),
        ],
        stdout=subprocess.DEVNULL,
    )


def workers(pid: int) -> list[int]:
    """Return the worker processes that a process has started."""
    found: list[int] = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children():
            if "spawn_main" in " ".join(child.cmdline()):  # beside Python's resource tracker
                found.append(child.pid)
    return found


def kill(client: subprocess.Popen[bytes], rng: random.Random) -> str:
    """Kill the command or one of its workers; return which, or "" where there is none."""
    victims = [client.pid, *workers(client.pid)]
    victim = rng.choice(victims)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return ""
    return "client" if victim == client.pid else "worker"


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Return what tells a file of a task from one that was made again."""
    found = {}
    for path in (folder / "tasks").glob("*.json"):
        status = path.stat()
        found[path.name] = (status.st_ino, status.st_mtime_ns)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix == ".json"  # a writer that was killed leaves a draft
    }


def killed_sweep(
    folder: Path, seeds: int, kills: int, pause: float, rng: random.Random
) -> tuple[dict[str, int], int]:
    """Sweep under fire; return how often what was killed, and finished files made again."""
    done, seen, again = {"client": 0, "worker": 0}, dict[str, tuple[int, int]](), 0
    client, begun = start(folder, seeds), time.monotonic()
    due = time.monotonic() + rng.uniform(0, 2 * pause)
    while client.poll() != 0:
        if time.monotonic() - begun > PATIENCE:
            client.kill()
            sys.exit("the sweep does not end")
        if client.poll() is not None:
            if client.returncode not in (-signal.SIGKILL, LIMIT):
                sys.exit(f"the command ended with exit code {client.returncode}")
            client = start(folder, seeds)
        now = stamps(folder)
        again += sum(now.get(name) != stamp for name, stamp in seen.items())
        seen = now
        if sum(done.values()) < kills and time.monotonic() > due:
            what = kill(client, rng)
            if what:
                done[what] += 1
                client.poll() if what == "worker" else client.wait()
            due = time.monotonic() + rng.uniform(0, 2 * pause)
        time.sleep(LOOK)
    return done, again


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rng", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        calm, stormy = Path(scratch, "calm"), Path(scratch, "stormy")
        begun = time.monotonic()
        if start(calm, asked.seeds).wait() != 0:
            sys.exit("the uninterrupted sweep failed")
        quiet = time.monotonic() - begun
        rng, begun = random.Random(asked.rng), time.monotonic()
        pause = quiet / asked.kills
        done, again = killed_sweep(stormy, asked.seeds, asked.kills, pause, rng)
        storm = time.monotonic() - begun
        one, other = contents(calm), contents(stormy)
        same = sum(other.get(name) == data for name, data in one.items())
    print(f"{len(one)} files, {sum(map(len, one.values()))} bytes")
    print(f"uninterrupted {quiet:.0f} s; killed {done}, {storm:.0f} s: {storm / quiet:.2f} times")
    print(f"finished files made again: {again}")
    print(f"files that are the same: {same} of {len(one)}; others there: {len(other) - same}")
    complete = sum(done.values()) == asked.kills
    sys.exit(0 if one == other and not again and complete else "NOT the same, or too few kills")


if __name__ == "__main__":
    main()
