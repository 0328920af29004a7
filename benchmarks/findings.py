"""Findings 1, 2 and 3 as tables: theory's order, measured order, and where they differ.

    python benchmarks/findings.py [--only xor subsets contests] [--seeds 2] [--update docs/gates.md]

Finding 1 is the race of XoR over Delta, with networks trained on both sides of each boundary. Then
come speeds of gates open in m of C contexts and the m that networks take. Findings 2 and 3 are
strictly modular, mixed-selective and both kinds of pathways together, for each number of contexts.
With --update the tables of a page are replaced by what was just computed: each stands between
<!-- findings: NAME --> and <!-- end -->; what is written around them is not touched. Every table
can be had by itself as well:

    symreln race xor --seeds 20 --points 4
    symreln race contextual-C --set parameters.C.value=4 --by context --seeds 4
    symreln race contextual-C --set parameters.C.value=4 --rivals context --seeds 2
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import symreln as sr
from symreln.gating.confronted import confront, confronted_points
from symreln.gating.label_race import subset_stages, trained_shares
from symreln.gating.race import race
from symreln.gating.race_report import finding_table, unraced
from symreln.gating.rivals import contest
from symreln.specs.model import Spec

XOR_SEEDS, SUBSET_SEEDS = 20, 4
CONTEXTS = (3, 4, 5, 6)
#: (C, c) of findings 2 and 3.
CONTESTS = ((3, "1"), (3, "1/2"), (3, "2"), (4, "1"), (5, "1"), (6, "1"))
PARTS = ("xor", "subsets", "contests")


def finding_one() -> str:
    spec = sr.load("xor")
    found = race(spec.dataset.inputs, spec.dataset.targets, spec.parameters[0].range)
    points = [confront(found, spec, at, XOR_SEEDS, 0) for at in confronted_points(found, 4)]
    return finding_table(found, unraced(found, spec), points)


def contextual(contexts: int, scale: str) -> Spec:
    keys = [f"parameters.C.value={contexts}", f'parameters.c.value="{scale}"']
    return sr.load("contextual-C", keys)


def subset_row(contexts: int) -> str:
    spec = contextual(contexts, "1").at_values()
    first, residual = subset_stages(spec, "context")
    shares = trained_shares(spec, "context", SUBSET_SEEDS, 0)
    assert shares.mean_field is not None
    ends, wide = (
        ", ".join(f"{m}: {share:.2f}" for m, share in enumerate(up[-1]) if share >= 0.005)
        for up in (shares.shares, shares.mean_field)
    )
    told = [" and ".join(map(str, stage.fastest)) for stage in (first, residual)]
    return f"| {contexts} | {told[0]} | {told[1]} | {ends} | {wide} | {shares.taken} |"


def subset_rows() -> str:
    head = [
        "| C | fastest m, first stage | fastest m, residual | networks at the end, share of weight "
        "by m | the same at infinite width | most taken below C |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(subset_row(contexts) for contexts in CONTEXTS)])


def tables(parts: list[str], seeds: int) -> Iterator[tuple[str, str]]:
    """Yield each table with its name, as it is ready."""
    if "xor" in parts:
        yield "xor", finding_one()
    if "subsets" in parts:
        yield "subsets", subset_rows()
    for contexts, scale in CONTESTS if "contests" in parts else ():
        title = f"C = {contexts}, c = {scale}"
        found = contest(contextual(contexts, scale), "context", seeds, 0, title)
        yield title, found.tables["rivals.md"]


def replaced(page: str, name: str, table: str) -> str:
    """Return a page with the table of that name replaced.

    Raises:
        ValueError: The page does not have it exactly once.
    """
    mark = f"<!-- findings: {name} -->"
    pattern = re.escape(mark) + r"\n.*?<!-- end -->"
    text = f"{mark}\n{table.strip()}\n<!-- end -->"
    page, count = re.subn(pattern, lambda _: text, page, flags=re.DOTALL)
    if count != 1:
        msg = f"found {count} tables between {mark} and <!-- end -->; one is needed"
        raise ValueError(msg)
    return page


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=2, help="of findings 2 and 3")
    parser.add_argument("--update", type=Path, help="page whose tables are replaced")
    asked = parser.parse_args()
    for name, table in tables(asked.only, asked.seeds):
        print(table, flush=True)
        if asked.update is not None:
            page = asked.update.read_text(encoding="utf-8")
            asked.update.write_text(replaced(page, name, table), encoding="utf-8")


if __name__ == "__main__":
    main()
