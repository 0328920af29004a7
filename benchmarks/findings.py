"""Findings 1, 2 and 3 as tables: theory's order, measured order, and where they differ.

    python benchmarks/findings.py [--seeds 4] [--contexts 3 4 5 6] [--scale 1]

Finding 1 is the race of XoR over Delta, with networks trained on both sides of each boundary.
Findings 2 and 3 are strictly modular, mixed-selective and both kinds of pathways together, for each
number of contexts asked for, after speeds of gates open in m of them and the m that networks take.
docs/gates.md holds what this printed. Every command of it can be given by itself:

    symreln race xor --seeds 20 --points 4
    symreln race contextual-C --set parameters.C.value=4 --by context --seeds 4
    symreln race contextual-C --set parameters.C.value=4 --rivals context --seeds 4
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse

import symreln as sr
from symreln.gates.confronted import confront, confronted_points
from symreln.gates.line import parameter_range
from symreln.gates.race import race
from symreln.gates.race_report import finding_table, unraced
from symreln.gates.rivals import contest, contest_table
from symreln.gates.subsets_report import subset_stages, subsets_table, trained_shares

XOR_SEEDS = 20


def finding_one() -> None:
    spec = sr.load("xor")
    found = race(spec.dataset.inputs, spec.dataset.targets, parameter_range(spec.parameters[0]))
    points = [confront(found, spec, at, XOR_SEEDS, 0) for at in confronted_points(found, 4)]
    print(finding_table(found, unraced(found, spec), points, XOR_SEEDS))


def findings_two_and_three(contexts: int, scale: str, seeds: int) -> None:
    keys = [f"parameters.C.value={contexts}", f'parameters.c.value="{scale}"']
    spec = sr.load("contextual-C", keys)
    at = spec.at_values()
    shares = trained_shares(at, "context", seeds, 0)
    print(subsets_table(at, "context", subset_stages(at, "context"), shares))
    print(contest_table(contest(spec, "context", seeds, 0), f"C = {contexts}, c = {scale}"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--contexts", type=int, nargs="*", default=[3, 4, 5, 6])
    parser.add_argument("--scale", default="1")
    asked = parser.parse_args()
    finding_one()
    for contexts in asked.contexts:
        findings_two_and_three(contexts, asked.scale, asked.seeds)


if __name__ == "__main__":
    main()
