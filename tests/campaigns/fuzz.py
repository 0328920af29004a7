"""Random specs through the library and the commands: no crash, no hang, no number that is none.

    python -m tests.campaigns.fuzz --specs 5000 --commands 300

prints what became of them, failures grouped by cause, and ends with exit code 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from tests.campaigns.random_specs import toml_of, varied_tables
from tests.campaigns.work_on_spec import NOT_A_NUMBER

Answer = dict[str, Any]

#: Exit codes that a command may end with; 1 is a bug.
CODES = (0, 2, 3, 4)
COMMANDS = (
    ("derive"),
    ("derive", "--json"),
    ("validate", "--seeds", "2"),
    ("run", "--seeds", "2"),
    ("gates", "--method", "enumerate"),
    ("gates", "--method", "self-consistent"),
    ("race",),
)


def library_answers(seeds: Iterable[int], limit: float) -> Iterator[Answer]:
    """Yield what becomes of every spec, in one process that is started again where it ends."""
    left = list(seeds)
    program = [sys.executable, "-m", "tests.campaigns.work_on_spec", str(limit)]
    while left:
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
            asked = [*program, *map(str, left)]
            process = subprocess.Popen(asked, stdout=said, stderr=errors, start_new_session=True)
            process.wait()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started
            for file in (said, errors):
                file.seek(0)
            answers = [json.loads(line) for line in said]
            yield from answers
            left = left[len(answers) :]
            if left:
                found = _where(errors.read())
                yield {"seed": left.pop(0), "outcome": "failed", "found": found, "seconds": limit}


def _where(trace: str) -> str:
    """Return the places in symreln where a process was when it was ended."""
    places = [line.strip() for line in trace.splitlines() if "/symreln/" in line]
    return "over the limit, or died, in " + " <- ".join(
        place.split("/symreln/")[-1] for place in places[:6]
    )


def command_answer(seed: int, limit: float) -> Answer:
    """Run one command on the spec of a seed, in a folder of its own."""
    random = Random(seed)
    command = random.choice(COMMANDS)
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.toml"
        spec.write_text(toml_of(varied_tables(seed)), encoding="utf-8")
        name, *options = command
        line = [
            sys.executable,
            "-m",
            "symreln",
            name,
            str(spec),
            "--out",
            f"{folder}/out",
            *options,
        ]
        began = time.perf_counter()
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            found = f"{name}: over {limit} s"
            return {"seed": seed, "outcome": "failed", "found": found, "seconds": limit}
        seconds = round(time.perf_counter() - began, 2)
    outcome, found = _judged(done, name)
    return {"seed": seed, "outcome": outcome, "found": found, "seconds": seconds}


def _judged(done: subprocess.CompletedProcess[str], name: str) -> tuple[str, str]:
    said = done.stdout + done.stderr
    if done.returncode not in CODES or "Traceback" in said or "Warning:" in said:
        return "failed", f"{name}: exit {done.returncode}: {done.stderr[-600:]}"
    if (found := NOT_A_NUMBER.search(done.stdout)) is not None:
        return "failed", f"{name}: prints {done.stdout[max(0, found.start() - 60) :][:120]!r}"
    return f"exit {done.returncode}", ""


def show(title: str, answers: list[Answer], seconds: float) -> int:
    """Print the figures of one campaign; return how many failed."""
    outcomes = Counter(answer["outcome"] for answer in answers)
    counted = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    slowest = max(answers, key=lambda answer: answer["seconds"], default={"seconds": 0, "seed": 0})
    print(f"{title}: {len(answers)} specs in {seconds:.0f} s: {counted}")
    print(f"  slowest: {slowest['seconds']:.1f} s (seed {slowest['seed']})")
    failed = [answer for answer in answers if answer["outcome"] == "failed"]
    causes: dict[str, list[Answer]] = {}
    for answer in failed:
        causes.setdefault(answer["found"][:100], []).append(answer)
    for group in sorted(causes.values(), key=len, reverse=True):
        seeds = ", ".join(str(answer["seed"]) for answer in group[:8])
        print(f"  {len(group)} × {group[0]['found']}\n      seeds {seeds}")
    return len(failed)


def main() -> int:
    """Run the campaign that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--specs", type=int, default=5000, help="through the library")
    parser.add_argument("--commands", type=int, default=300, help="through the commands")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one spec")
    asked = parser.parse_args()
    ways = {
        "library": library_answers(range(asked.first, asked.first + asked.specs), asked.limit),
        "commands": (
            command_answer(seed, asked.limit)
            for seed in range(asked.first, asked.first + asked.commands)
        ),
    }
    failures = 0
    for title, answers in ways.items():
        began = time.perf_counter()
        found = list(answers)
        failures += show(title, found, time.perf_counter() - began)
    print(f"failures: {failures}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
