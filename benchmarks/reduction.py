"""Reduced dynamics: seconds for every step of a spec, and against the matrices they reduce.

``python benchmarks/reduction.py [contextual-5] [--repeat 5]`` integrates the flow and steps through
gradient descent at every recorded step of the network, in the fewest blocks of the data, and
once in the full spans of all pathways. It prints the median of the former, the ratio of both, and
the largest difference of the two losses over L(0). Cold is the first time in this process: exact
data become floats and fall into blocks then.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

import symreln as sr
from symreln.claims.integration import coupled_matrices

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = 1.0


def timed(work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """Return seconds and result of one call."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Time the reduced dynamics.")
    parser.add_argument("name", nargs="?", default="contextual-5", help="a ready-made spec")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    derivation = sr.derive(sr.load(options.name)).at_values
    network = derivation.spec.network
    assert network is not None
    times = np.arange(network.steps, dtype=float)

    def flow() -> np.ndarray:
        return coupled_matrices(derivation).trajectory(times).losses

    def descent() -> np.ndarray:
        return coupled_matrices(derivation).descent(network.steps).losses

    def whole() -> np.ndarray:
        spans = coupled_matrices(derivation).flow()
        return spans.trajectory(times, np.zeros((0, spans.size))).losses

    full, reference = timed(whole)
    print(f"{options.name}, {network.steps} points; full spans, flow: {full:.2f} s")
    for name, work in (("flow", flow), ("gradient descent", descent)):
        cold, losses = timed(work)
        warm = statistics.median(timed(work)[0] for _ in range(options.repeat))
        verdict = "met" if cold < TARGET else "missed"
        print(f"{name}: cold {cold:.2f} s ({verdict}, {TARGET:g} s), median {warm:.2f} s, "
              f"full spans / it {full / warm:.0f}")  # fmt: skip
        if name == "flow":
            apart = np.abs(losses - reference).max() / losses[0]
            print(f"  largest difference of the two routes: {apart:.1e} of L(0)")


if __name__ == "__main__":
    main()
