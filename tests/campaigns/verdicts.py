"""Verdicts of several random streams: ``python -m tests.campaigns.verdicts [--rngs 10]``.

Six small specs, each confronted with independently drawn networks at every ``--rng`` from 0 on. A
verdict may be undecided at one stream and decided at another; it must not be "agrees" at one and
"disagrees" at another. The exit code is 1 where one does.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass

import symreln as sr
from symreln.specs.model import Spec
from tests.unchecked import derive_unchecked


@dataclass(frozen=True)
class Case:
    """One spec, and how many networks of each kind are trained at every stream."""

    name: str
    seeds: int
    overrides: tuple[str, ...] = ()
    source: str | dict = ""

    def spec(self) -> Spec:
        """Return the checked spec."""
        if isinstance(self.source, dict):
            return sr.load(self.source)
        return sr.load(self.source, overrides=self.overrides)


NARROW = {
    "title": "Two modes, one hidden unit",
    "dataset": {"X": [[2, 0], [0, 1]], "Y": [[3, 0], [0, 1]]},
    "pathway": [{"name": "one", "gate": "all", "hidden": 1}],
    "network": {
        "hidden": 20,
        "init_std": "1/1000",
        "learning_rate": "1/100",
        "loss": "mean",
        "steps": 1500,
        "activation": "linear",
    },
}
#: Three contexts of four items with 30 hidden units are few: verdicts used to flip there.
CASES = (
    Case(
        "three contexts, n = 4, H = 30",
        8,
        ("dataset.items=4", "network.hidden=30", "network.steps=3001"),
        "contextual-3",
    ),
    Case("xor at Delta = 1/2", 8, ("parameters.Delta.value=1/2", "network.steps=1501"), "xor"),
    Case("linear-hierarchy", 8, (), "linear-hierarchy"),
    Case("iris", 8, (), "iris"),
    Case(
        "three contexts, n = 4, H = 300",
        4,
        ("dataset.items=4", "network.hidden=300", "network.steps=3001"),
        "contextual-3",
    ),
    Case("narrow", 8, (), NARROW),
)


def verdicts(case: Case, rngs: int) -> dict[str, list[str]]:
    """Return the outcomes of loss, modes and gates, one a stream."""
    derivation = derive_unchecked(case.spec())
    found: dict[str, list[str]] = {"loss": [], "modes": [], "gates": []}
    for rng in range(rngs):
        report = sr.validate(derivation, seeds=case.seeds, rng=rng)
        for quantity, verdict in report.verdicts.items():
            found[quantity].append(verdict.outcome)
    return found


def flips(outcomes: list[str]) -> bool:
    """Whether a verdict is "agrees" at one stream and "disagrees" at another."""
    return {"agrees", "disagrees"} <= set(outcomes)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rngs", type=int, default=10, help="random streams, from 0 on")
    parser.add_argument("names", nargs="*", default=[case.name for case in CASES])
    options = parser.parse_args()
    flipped = []
    print("| spec | networks | quantity | outcomes |\n|---|---|---|---|")
    for case in CASES:
        if case.name not in options.names:
            continue
        for quantity, outcomes in verdicts(case, options.rngs).items():
            counts = ", ".join(f"{k} {n}" for k, n in Counter(outcomes).most_common())
            print(f"| {case.name} | {case.seeds} | {quantity} | {counts} |", flush=True)
            if flips(outcomes):
                flipped.append((case.name, quantity))
    print(f"{len(flipped)} verdicts flip between agrees and disagrees: {flipped}")
    return int(bool(flipped))


if __name__ == "__main__":
    sys.exit(main())
