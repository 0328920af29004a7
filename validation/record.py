"""Record a confrontation: ``python -m validation.record [NAME …] [--seeds 20]``.

Each folder holds validation.json (settings, tolerance with its reason, every metric, the published
figures where there are any) and the figures of the loss curves and of the mean-field simulation.
The curves themselves are not kept: the seed in the record gives them again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import symreln as sr
from symreln.report.jsonio import write_json, write_text
from symreln.report.plots import validation_sketches
from symreln.report.sketches import draw

HERE = Path(__file__).parent
NAMES = (
    "linear-hierarchy",
    "xor",
    "contextual-3",
    "contextual-4",
    "contextual-5",
    "contextual-different",
)


def record(name: str, seeds: int, rng: int) -> str:
    """Train, compare and write one record; return its verdict in a sentence."""
    validation = sr.validate(sr.derive(sr.load(name)), seeds=seeds, rng=rng, terms=True)
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    for sketch in validation_sketches(validation):
        write_text(folder / f"{sketch['name']}.svg", draw(sketch, pdf=False).svg)
    write_json(folder / "validation.json", validation.to_json())
    return validation.sentence()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="ready-made specs")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rng", type=int, default=0)
    options = parser.parse_args()
    for name in options.names:
        print(f"{name}: {record(name, options.seeds, options.rng)}")


if __name__ == "__main__":
    main()
