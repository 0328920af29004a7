"""Gates that move, against networks: ``python -m validation.gate_law [TASK …] [--seeds 20]``.

For every task a row of a Markdown table: the largest distance of the share of weight with the first
stage's gates, by the law of gates, to the mean over networks; and max and mean |ΔL|/L(0), in per
cent, of the closed forms, of the integrated reduction, of the effective network of the data alone
with its units, and of all units that are followed for it.

Tasks are the ready-made ones and, of our own, items in contexts with features of all contexts and
of each: ``C=6`` (hierarchies), ``one-hot-3`` (-4, -6: four items, one output an item), ``signs-4``
(-6: four items, six random features of ±1) and ``unequal-3`` (one-hot, context inputs of 1, 1 and
3/2).
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import symreln as sr
from symreln.claims.prediction import predict_training
from symreln.claims.solve import at_values
from symreln.effective.network import effective_of
from symreln.experiment.confront import _marks
from symreln.experiment.measured_gates import GateLawMeasured
from symreln.experiment.metrics import compare
from symreln.experiment.training import recorded, train_networks

if TYPE_CHECKING:
    from symreln.specs.spec import Spec

_NETWORK = {
    "hidden": 700,
    "init_std": "1/140000",
    "learning_rate": "1/1000",
    "loss": "sum",
    "steps": 8001,
}


def contexts(codes: list[list[list[int]]], scales: list[str]) -> Spec:
    """Return items in contexts, features of all contexts first and then those of each.

    Args:
        codes: Features by items, first those that all contexts share, then one block a context.
        scales: Value of each context's input.
    """
    items, count = len(codes[0][0]), len(scales)
    size = items * count
    x = [["1" if s % items == i else "0" for s in range(size)] for i in range(items)]
    x += [[scales[k] if s // items == k else "0" for s in range(size)] for k in range(count)]
    y = [
        [str(row[s % items]) if place == 0 or s // items == place - 1 else "0" for s in range(size)]
        for place, block in enumerate(codes)
        for row in block
    ]
    labels = {
        "context": [s // items + 1 for s in range(size)],
        "item": [s % items + 1 for s in range(size)],
    }
    later = {
        "name": "off_{context}",
        "each": "context",
        "gate": "context != {context}",
        "inputs": list(range(items)),
        "stage": 2,
    }
    return sr.load(
        {
            "title": "Items in contexts",
            "dataset": {"X": x, "Y": y, "labels": labels},
            "pathway": [{"name": "common", "gate": "all"}, later],
            "network": _NETWORK,
        }
    )


def one_hot(count: int, scales: list[str] | None = None) -> Spec:
    """Return four items, one output an item for all contexts and one for each."""
    eye = np.eye(4, dtype=int).tolist()
    return contexts([eye] * (count + 1), scales or ["1"] * count)


def signs(count: int) -> Spec:
    """Return four items with six features of ±1 for all contexts and six for each, drawn once."""
    codes = np.random.default_rng(0).choice([-1, 1], size=(count + 1, 6, 4))
    return contexts(codes.tolist(), ["1"] * count)


def spec_of(name: str) -> Spec:
    """Return a task by its name."""
    kind, _, count = name.rpartition("-")
    if kind in ("one-hot", "signs"):
        return {"one-hot": one_hot, "signs": signs}[kind](int(count))
    if name == "unequal-3":
        return one_hot(3, ["1", "1", "3/2"])
    if name == "C=6":
        return sr.load("contextual-C", overrides=("parameters.C.value=6",))
    return sr.load(name)


def row(name: str, seeds: int, rng: int) -> str:
    """Train, compare and return a row."""
    numbers = sr.derive(spec_of(name)).ask(at_values)
    prediction = predict_training(numbers)
    run = train_networks(
        numbers.spec,
        seeds=seeds,
        rng=np.random.SeedSequence(rng),
        record=recorded("relu", numbers.spec, seeds, _marks(prediction)),
    )
    law, found = GateLawMeasured.of(numbers, run), effective_of(numbers.spec)
    curves = [prediction.loss, prediction.reduced]
    if found is not None:
        curves += [found.losses, found.followed.mean(axis=0)]
    distances = [compare(curve, run.mean_loss) for curve in curves]
    losses = " | ".join(
        f"{100 * each.max_abs_over_initial:.2g}, {100 * each.mean_abs_over_initial:.2g}"
        for each in distances
    )
    share = "–" if law is None else f"{law.distance:.2f}"
    return f"| {name} | {share} | {losses} | {'–' if found is None else found.count} |"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure gates that move.")
    parser.add_argument(
        "names", nargs="*", default=["contextual-3", "contextual-4", "contextual-5"]
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rng", type=int, default=0)
    options = parser.parse_args()
    print("| task | share with the gates | closed | reduction | effective | all units | units |")
    print("|---" * 7 + "|")
    for name in options.names:
        print(row(name, options.seeds, options.rng), flush=True)


if __name__ == "__main__":
    main()
