"""Which gates trained networks have, by Algorithm 1, for several specs.

    python benchmarks/found_gates.py [--seeds 20] [--spec NAME …]

A row is a spec: how many clusters 20 independent runs of Algorithm 1 take, in how many of them all
gates of the spec are found, and the error of a replay with these gates, as max |ΔL|/L(0), beside
what networks of other seeds differ by. K is chosen by the program. Digits are trained with a ReLU
in place of the spec's linear units; its spec has one gate, which is open everywhere.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse

import symreln as sr

SPECS = ("contextual-3", "contextual-4", "contextual-5", "contextual-different", "digits", "xor")
RELU = {"digits": ['network.activation="relu"']}


def row(name: str, seeds: int) -> str:
    spec = sr.load(name, RELU.get(name, []))
    found = sr.gates(spec, "kmeans", seeds=seeds).to_json()
    stable, replay = found["stability"], found["replay"]
    cells = [
        name,
        ", ".join(f"{k} ({times})" for k, times in stable["clusters"].items()),
        f"{stable['runs_with_all_spec_gates']} of {seeds}",
        f"{100 * replay['mean']:.1f} %",
        f"{100 * replay['seed_floor']:.1f} %",
    ]
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--spec", nargs="*", default=SPECS)
    given = parser.parse_args()
    head = ["spec", "K (runs)", "all gates of the spec", "replay, Algorithm 1", "seed floor"]
    print(" | ".join(head), flush=True)
    for name in given.spec:
        print(row(name, given.seeds), flush=True)


if __name__ == "__main__":
    main()
