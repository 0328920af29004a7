"""Record a confrontation: ``python -m validation.record [NAME …] [--seeds 20]``.

``--table`` records nothing and prints the table of docs/judgement.md from the records.

Each folder holds validation.json (settings, tolerance with its reason, every metric, the published
figures where there are any) and the figures of the loss curves and of the law of gates.
The curves themselves are not kept: the seed in the record gives them again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import symreln as sr
from symreln.base.jsonio import dumps, write_text
from symreln.base.rounding import percent
from symreln.experiment.metrics import steps_text
from symreln.report.sketch import begin_to_draw
from symreln.report.validation_plots import validation_sketches

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
    validation = sr.validate(sr.derive(sr.load(name)), seeds=seeds, rng=rng)
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    _, drawn = begin_to_draw(validation_sketches(validation), pdf=False)
    for drawing in drawn():
        write_text(folder / f"{drawing.name}.svg", drawing.svg)
    write_text(folder / "validation.json", dumps(validation.to_json()))
    return validation.sentence()


def row(name: str, found: dict[str, Any]) -> str:
    """Return the table's row of one record."""
    metrics, tolerance = found["metrics"], found["tolerance"]["max_abs_over_initial"]

    def largest(pair: str) -> str:
        metric = metrics.get(pair)
        return "–" if metric is None else percent(metric["max_abs_over_initial"], tolerance)

    drop = metrics["reduced_vs_relu"]["drop_time_error_steps"]
    cells = [
        f"`{name}`",
        "closed forms" if found["judged"] == "closed" else "reduction",
        largest("theory_vs_relu"),
        largest("theory_vs_gdln"),
        largest("reduced_vs_relu"),
        largest("reduced_vs_gdln"),
        largest("effective_vs_relu"),
        percent(found["seed_floor"]["mean"]["max_abs_over_initial"]),
        "never drops" if drop is None else steps_text(drop),
        _published(found),
        ", ".join(found["verdicts"][what]["outcome"] for what in ("loss", "modes", "gates")),
    ]
    return f"| {' | '.join(cells)} |"


def _published(found: dict[str, Any]) -> str:
    """Return the published figures, and say where they are closer than what is judged."""
    published = found["published"]
    if published is None:
        return "–"
    value, drop = published["max_abs_over_initial"], published["drop_time_error_steps"]
    text = percent(value) + ("" if drop is None else f", {steps_text(drop)}")
    if value < found["metrics"]["theory_vs_relu"]["max_abs_over_initial"]:
        text += " (closer than judged)"
    others = [
        f"{what.split(', ')[-1]} {percent(a)} to {percent(b)}" for what, a, b in published["others"]
    ]
    return "; ".join([text, *others])


def load(name: str) -> dict[str, Any]:
    """Return a record."""
    return json.loads((HERE / name / "validation.json").read_text("utf-8"))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="ready-made specs")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rng", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="print the table of agreement")
    options = parser.parse_args()
    if options.table:
        print("\n".join(row(name, load(name)) for name in options.names))
        return
    for name in options.names:
        print(f"{name}: {record(name, options.seeds, options.rng)}")


if __name__ == "__main__":
    main()
