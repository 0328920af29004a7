"""Certificates: time to build and to verify, size, and how both grow with the entries.

``python benchmarks/certificate.py [--quick]`` derives the contextual task with context_scale = c
for n items and C contexts, with pathways that see the items (closed by symmetry) or everything
(coupled matrices), and prints seconds of this process's work, medians of ``--repeats``. The fitted
exponents are of seconds against the number of entries (numbers of any matrix) in the certificate.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import symreln as sr
from symreln.claims.solve import derive_unchecked
from symreln.pipeline.certificate import certificate as certificate_of
from symreln.verifier import verify

GROWTH = (16, 32, 64, 128, 256)
TASKS = ("xor", "contextual-3", "contextual-different", "iris", "digits")


@dataclass(frozen=True)
class Measured:
    """One certificate.

    Attributes:
        name: What was certified.
        level: Its verdict.
        entries: Entries of all its matrices.
        size: Bytes of its JSON without spaces.
        build: Seconds to build it from the finished derivation.
        check: Seconds to verify it, reading included.
    """

    name: str
    level: str
    entries: int
    size: int
    build: float
    check: float


def spec_text(items: int, contexts: int, *, everything: bool) -> str:
    """Return the contextual spec with one pathway off in every context."""
    parts = [
        'title = "Contexts"',
        f'[dataset]\ntask = "contextual"\nitems = {items}\ncontexts = {contexts}',
        'structures = "hierarchy"\ncontext_scale = "c"',
        "[parameters.c]\npositive = true\nvalue = 1",
        '[[pathway]]\nname = "common"\ngate = "all"\ninputs = "items"',
    ]
    seen = "" if everything else 'inputs = "items"\n'
    for k in range(1, contexts + 1):
        parts.append(f'[[pathway]]\nname = "off_{k}"\ngate = "context != {k}"\n{seen}stage = 2')
    return "\n".join(parts)


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that this process worked."""
    start = time.process_time()
    work()
    return time.process_time() - start


def entries(value: object) -> int:
    """Count the entries of all matrices."""
    if isinstance(value, dict):
        own = len(value["entries"]) if "entries" in value else 0
        return own + sum(entries(item) for item in value.values())
    return sum(entries(item) for item in value) if isinstance(value, list) else 0


def measure(name: str, spec: str | Path, repeats: int) -> Measured:
    """Derive, certify, verify."""
    derivation = derive_unchecked(sr.load(spec))
    build = seconds(lambda: derivation.ask(certificate_of))
    certificate = derivation.ask(certificate_of)
    text = json.dumps(certificate, separators=(",", ":"))
    checks = [seconds(lambda: verify(json.loads(text))) for _ in range(repeats)]
    return Measured(
        name=name,
        level=certificate["level"],
        entries=entries(certificate),
        size=len(text),
        build=build,
        check=statistics.median(checks),
    )


def exponent(found: list[Measured]) -> float:
    """Fit log seconds = exponent · log entries + constant."""
    logs = np.log([[m.entries, m.check] for m in found])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 64 items, no digits")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--contexts", type=int, default=16)
    options = parser.parse_args()
    heading = f"{'certificate':34} {'level':20} {'entries':>8} {'kB':>7} {'build':>8} {'verify':>8}"
    print(heading)

    def show(found: Measured) -> Measured:
        print(
            f"{found.name:34} {found.level:20} {found.entries:8} {found.size / 1000:7.0f} "
            f"{found.build:7.3f}s {found.check:7.3f}s",
            flush=True,
        )
        return found

    sizes = [n for n in GROWTH if n <= 64] if options.quick else list(GROWTH)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.toml"
        for everything in (False, True):
            grown = []
            for items in sizes:
                path.write_text(spec_text(items, options.contexts, everything=everything), "utf-8")
                seen = "everything" if everything else "items"
                name = f"n = {items}, C = {options.contexts}, {seen}"
                grown.append(show(measure(name, path, options.repeats)))
            print(f"verify grows as entries^{exponent(grown):.2f}")
    for task in TASKS[:-1] if options.quick else TASKS:
        show(measure(task, task, options.repeats))


if __name__ == "__main__":
    main()
