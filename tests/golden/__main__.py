"""The golden set: what a revision printed, and what this tree prints, command by command.

    python -m tests.golden --against REVISION [--only NAME ...] [--paper] [--jobs 2] [--keep FOLDER]
        [--explained FOLDER]

runs every command of :mod:`tests.golden.commands` with the code of the revision (kept in a folder,
so that it runs once) and with that of the working tree, compares, prints what differs, and ends
with exit code 1 if some difference is not explained. What was changed on purpose is explained by
text files, one a decision: each line is a regular expression that is searched for in
"COMMAND: DIFFERENCE". With ``--paper`` the quick ``symreln reproduce`` is run and compared too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.golden.commands import PAPER, Command, all_commands
from tests.golden.compare import differences

ROOT = Path(__file__).parents[2]
#: Seconds after which a command counts as hanging.
LONGEST = 1800
#: Differences of one command that are printed.
SHOWN = 20


def run(command: Command, code: Path, folder: Path) -> None:
    """Run one command with the package in ``code``; ``folder`` takes what it prints and writes."""
    if (folder / "exit").is_file():
        return
    shutil.rmtree(folder, ignore_errors=True)
    work = folder / "work"
    work.mkdir(parents=True)
    command.prepare(work)
    environment = os.environ | {"PYTHONPATH": str(code), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "symreln", *command.arguments],
        cwd=work,
        env=environment,
        capture_output=True,
        timeout=LONGEST,
        check=False,
    )
    (folder / "stdout").write_bytes(done.stdout)
    (folder / "stderr").write_bytes(done.stderr)
    certificate = work / "out" / "certificate.json"
    if certificate.is_file():
        verified = subprocess.run(
            [sys.executable, "-m", "symreln", "verify", "out/certificate.json"],
            cwd=work, env=environment, capture_output=True, timeout=LONGEST, check=False,
        )  # fmt: skip
        (folder / "verified").write_text(f"{verified.returncode}\n")
    (folder / "exit").write_text(f"{done.returncode}\n")


def explanations(folder: Path | None) -> list[tuple[str, re.Pattern[str]]]:
    """Return (decision, what it explains) of every line of the files in a folder."""
    if folder is None:
        return []
    return [
        (file.stem, re.compile(line))
        for file in sorted(folder.glob("*.txt"))
        for line in file.read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]


def run_all(commands: list[Command], code: Path, folder: Path, jobs: int) -> None:
    """Run all commands, ``jobs`` at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(run, each, code, folder / each.name) for each in commands]
        for task in tasks:
            task.result()


def checkout(revision: str, folder: Path) -> Path:
    """Return the files of a revision, in a folder of their own."""
    found = subprocess.run(
        ["git", "rev-parse", "--short=12", f"{revision}^{{commit}}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    place = folder / found
    if not (place / "code").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        archive = place / "code.tar"
        subprocess.run(["git", "archive", "-o", str(archive), found], cwd=ROOT, check=True)
        (place / "code").mkdir()
        shutil.unpack_archive(archive, place / "code", filter="data")
        archive.unlink()
    return place


def main() -> int:
    """Run, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", required=True, metavar="REVISION")
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="of a name")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--paper", action="store_true", help="run `symreln reproduce` too")
    parser.add_argument("--explained", type=Path, metavar="FOLDER")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "golden")
    asked = parser.parse_args()
    commands = [
        each
        for each in (*all_commands(), *((PAPER,) if asked.paper else ()))
        if not asked.only or any(part in each.name for part in asked.only)
    ]
    before = checkout(asked.against, asked.keep)
    run_all(commands, before / "code", before / "results", asked.jobs)
    known = explanations(asked.explained)
    explained: Counter[str] = Counter()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        run_all(commands, ROOT, Path(folder), asked.jobs)
        for command in commands:
            new = differences(before / "results" / command.name, Path(folder) / command.name)
            lines = [f"{command.name}: {line}" for line in new]
            decisions = [next((d for d, text in known if text.search(x)), "") for x in lines]
            explained.update(filter(None, decisions))
            left = [x for x, decision in zip(lines, decisions, strict=True) if not decision]
            count += len(left)
            print("".join(f"{line}\n" for line in left[:SHOWN]), end="", flush=True)
            if len(left) > SHOWN:
                print(f"{command.name}: and {len(left) - SHOWN} more")
    for name, number in sorted(explained.items()):
        print(f"explained by {name}: {number}")
    print(f"{len(commands)} commands, {count} differences that are not explained")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
