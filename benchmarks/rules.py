"""Other learning rules: what their steps cost.

    python benchmarks/rules.py [SPEC] [--set KEY=VALUE …]

Prints, for a ready-made spec or a file (default xor), the time of a training step with mini-batches
and with weight decay over that of a plain one, in one process, taken in turn, the median of the
repeats with the smallest and largest.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import symreln as sr
from symreln.experiment.training import training_settings
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_network

REPEATS, STEPS, SEEDS = 7, 400, 4


def cost(derivation: sr.Derivation) -> None:
    """Print how much longer a step takes."""
    spec = derivation.at_values.spec
    data = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    plain = replace(training_settings(spec), steps=STEPS)
    samples = spec.dataset.samples
    rules = {
        "plain": plain,
        f"batches of {-(-samples // 4)}": replace(plain, batch_size=-(-samples // 4)),
        "weight decay": replace(plain, weight_decay=1e-3),
    }

    def seconds(settings: TrainingSettings) -> float:
        start = time.perf_counter()
        train_network(*data, settings, seeds=SEEDS, rng=0, workers=1)
        return time.perf_counter() - start

    seconds(plain)  # the first one imports and warms up
    taken = [{name: seconds(settings) for name, settings in rules.items()} for _ in range(REPEATS)]
    for name in list(rules)[1:]:
        ratios = sorted(each[name] / each["plain"] for each in taken)
        middle = statistics.median(ratios)
        print(f"step, {name}: {middle:.2f} of a plain one ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spec", nargs="?", default="xor")
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    given = parser.parse_args()
    cost(sr.derive(sr.load(given.spec, overrides=tuple(given.overrides))))


if __name__ == "__main__":
    main()
