"""Which gates trained networks have, by Algorithm 1 and in time windows, for several specs.

    python benchmarks/found_gates.py [--seeds 20] [--spec NAME …] [--no-windows]

A row is a spec: how many clusters 20 independent runs of Algorithm 1 take, in how many of them all
gates of the spec are found, and the error of a replay, as
max |ΔL|/L(0), with the gates of Algorithm 1 and with those in time windows, beside what networks of
other seeds differ by. K is chosen by the program. Digits are trained
with a ReLU in place of the spec's linear units; its spec has one gate, which is open everywhere.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse

import symreln as sr
from symreln.gating.network_finders import NetworkGates, find

SPECS = ("contextual-3", "contextual-4", "contextual-5", "contextual-different", "digits", "xor")
RELU = {"digits": ['network.activation="relu"']}


def percent(found: NetworkGates, name: str) -> str:
    return f"{100 * found.errors[name].mean:.1f} %"


def row(name: str, seeds: int, windows: bool) -> str:
    spec = sr.load(name, RELU.get(name, [])).at_values()
    found = find(spec, "kmeans", seeds=seeds)
    stable = found.stability
    assert stable is not None
    assert found.seed_floor is not None
    cells = [
        name,
        ", ".join(f"{k} ({times})" for k, times in stable.clusters.items()),
        f"{stable.runs_with_all_spec_gates} of {seeds}",
        percent(found, "algorithm 1"),
    ]
    if windows:
        other = find(spec, "windows", seeds=5)
        cells += [f"{percent(other, 'windows')} (W = {other.windows})"]
    cells.append(f"{100 * found.seed_floor:.1f} %")
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--spec", nargs="*", default=SPECS)
    parser.add_argument("--no-windows", action="store_true", help="Algorithm 1 alone")
    given = parser.parse_args()
    head = ["spec", "K (runs)", "all gates of the spec", "replay, Algorithm 1"]
    head += [] if given.no_windows else ["replay, windows"]
    print(" | ".join([*head, "seed floor"]), flush=True)
    for name in given.spec:
        print(row(name, given.seeds, not given.no_windows), flush=True)


if __name__ == "__main__":
    main()
