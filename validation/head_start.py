"""What closed forms leave out: ``python -m validation.head_start [SPEC …]``.

Prints max and mean |ΔL|/L(0), in per cent, of the closed forms against the integrated reduction,
which takes gradient descent's own steps from the same start: for init_std times 100 … 1/1000, by
which the start π₀ changes by ten orders, and for learning rates times 4 … 1/4.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from fractions import Fraction
from math import log10
from typing import TYPE_CHECKING

import symreln as sr
from symreln.claims.integration import network_of
from symreln.claims.prediction import predict_training
from symreln.experiment.metrics import compare

if TYPE_CHECKING:
    from symreln.specs.spec import Spec

SCALES = tuple(Fraction(10) ** k for k in (2, 1, 0, -1, -2, -3))
RATES = tuple(Fraction(2) ** k for k in (2, 1, 0, -1, -2))
#: Steps that a tenth of init_std takes longer, as a share of the spec's own.
_LONGER = 0.35


def distance(spec: Spec, scale: Fraction, rate: Fraction) -> str:
    """Return the row of a spec with another initial scale and learning rate."""
    network = network_of(spec)
    later = max(0.0, -log10(scale)) * _LONGER
    changed = replace(
        network,
        init_std=network.init_std * scale,
        learning_rate=network.learning_rate * rate,
        steps=int(network.steps * (1 + later) / rate),
    )
    numbers = sr.derive(replace(spec, network=changed)).at_values
    found = predict_training(numbers)
    apart = compare(found.loss, found.reduced)
    return (
        f"| {spec.title} | {scale} | {rate} | {float(numbers.strength0 or 0):.2g} | "
        f"{100 * apart.max_abs_over_initial:.2g} | {100 * apart.mean_abs_over_initial:.2g} |"
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure the order of head starts.")
    parser.add_argument("names", nargs="*", default=["contextual-3", "contextual-5"])
    options = parser.parse_args()
    print(
        "| spec | init_std times | rate times | π₀ | max, % | mean, % |\n|---|---|---|---|---|---|"
    )
    for name in options.names:
        spec = sr.load(name)
        for scale in SCALES:
            print(distance(spec, scale, Fraction(1)), flush=True)
        for rate in RATES:
            print(distance(spec, Fraction(1), rate), flush=True)


if __name__ == "__main__":
    main()
