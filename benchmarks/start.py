"""The cold start: whole commands against the time that importing their libraries takes.

``python -m benchmarks.start [SPEC …]`` runs ``symreln derive SPEC`` (by default of xor and
contextual-3) with its usual formats, as whole processes, in turns with the imports. Medians over
``--repeats``: seconds, their ratio to the imports', and processor seconds of all processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

IMPORTS = "import sympy, numpy, scipy, matplotlib, flint, pydantic"


def run(command: list[str]) -> tuple[float, float]:
    """Return the seconds that a command takes, and those of processors."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    took, after = time.perf_counter() - begin, os.times()
    user = after.children_user - before.children_user
    return took, user + after.children_system - before.children_system


def main() -> None:
    """Print a line a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", default=["xor", "contextual-3"], metavar="SPEC")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        derive = ["-m", "symreln", "derive"]
        commands = {"imports": ["-c", IMPORTS]} | {
            spec: [*derive, spec, "--out", f"{folder}/{n}"] for n, spec in enumerate(options.specs)
        }
        for command in commands.values():
            run(command)  # compiles what is not compiled yet
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(options.repeats):
            for name, command in commands.items():
                found[name].append(run(command))
    medians = {
        name: [statistics.median(part) for part in zip(*each, strict=True)]
        for name, each in found.items()
    }
    base = medians["imports"][0]
    for name, (took, worked) in medians.items():
        print(f"{name:20} {took:6.2f} s  {took / base:5.2f} x  {worked:6.2f} s of processors")


if __name__ == "__main__":
    main()
