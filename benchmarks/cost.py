"""How far the estimate of cost is off: `python benchmarks/cost.py`, a table of recorded tasks.

Every task is derived and written in a process of its own; beside its processor time and memory
stand the two ends that were estimated in the same process. The claim: the time lies between a third
of the lower end and three times the upper end.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

FACTOR = 3.0
SIXTEEN = Path(__file__).parent / "sixteen-contexts.toml"


def structureless(size: int, *, parameter: bool = False) -> dict:
    rng = random.Random(size)
    targets = [
        [
            str(rng.randint(-9, 9)) + (f"+{rng.randint(1, 9)}*c" if parameter and i == j else "")
            for j in range(size)
        ]
        for i in range(size)
    ]
    inputs = [[int(i == j) for j in range(size)] for i in range(size)]
    tables: dict = {
        "dataset": {"X": inputs, "Y": targets},
        "pathway": [{"name": "all", "gate": "all"}],
    }
    if parameter:
        tables["parameters"] = {"c": {"positive": True, "value": 2}}
    return tables


TASKS = {
    **{name: name for name in ("xor", "contextual-3", "contextual-5", "iris", "digits")},
    "sixteen contexts": str(SIXTEEN),
    **{f"structureless {n}": structureless(n) for n in (8, 16, 32, 64)},
    **{f"structureless {n}, c": structureless(n, parameter=True) for n in (4, 8)},
}


def measure(name: str) -> None:
    import symreln as sr
    from symreln.claims import cost
    from symreln.report.write import write_derivation

    start = time.process_time()
    spec = sr.load(TASKS[name])
    estimate = cost.estimate(spec)
    with tempfile.TemporaryDirectory() as folder:
        write_derivation(sr.derive(spec), folder)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = {"seconds": seconds, "memory": peak, "estimate": asdict(estimate)}
    print(json.dumps({**found, "unit": cost.time_unit()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=list(TASKS))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one task")
    options = parser.parse_args()
    if options.task:
        measure(options.task)
        return
    print(
        f"{'task':24}{'seconds':>9}{'low':>9}{'high':>9}{'units':>9}{'MB':>7}{'low':>7}{'high':>7}"
    )
    within = True
    for name in TASKS:
        command = [sys.executable, __file__, "--task", name]
        try:
            out = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
            found = json.loads(out.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, IndexError, ValueError) as error:
            print(f"{name:24} not measured: {type(error).__name__}")
            continue
        low, high = found["estimate"]["seconds"]
        seconds = found["seconds"]
        ok = low / FACTOR <= seconds <= high * FACTOR
        within &= ok
        memory = [found["memory"], *found["estimate"]["memory"]]
        print(
            f"{name:24}{seconds:9.2f}{low:9.2f}{high:9.2f}{seconds / found['unit']:9.0f}"
            + "".join(f"{value / 2**20:7.0f}" for value in memory)
            + ("" if ok else f"  beyond the factor {FACTOR:g}")
        )
    print(f"all within a factor {FACTOR:g} of the range" if within else "NOT all within it")
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
