"""How many gates are enumerated in which time and memory, exactly.

    python benchmarks/gates.py [--quick]

Each row is a dataset: its samples and rank, the number of gates with its known value, the seconds
that this process worked and the largest memory so far. General position has 2·Σ_{k<r} C(P−1, k)
open gates; the contextual task of n items in C contexts has as many gates as the complete bipartite
graph of n and C vertices has acyclic orientations, the poly-Bernoulli numbers. Then XoR: all gates,
the self-consistent ones and the race, exact in Delta. And K-means of a stack of activity patterns:
of its different rows, each with its weight, against scikit-learn's of all rows (if it is there).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import argparse
import resource
import time
from collections.abc import Callable
from math import comb, factorial

import numpy as np

import symreln as sr
from symreln.exact.matrix import ExactMatrix
from symreln.gating.clustering import STARTS, Clustering, distinct_rows, kmeans
from symreln.gating.enumerate import RealisableGates
from symreln.gating.race import race
from symreln.gating.search import _search


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that this process worked; a busy machine adds nothing to them."""
    start = time.process_time()
    work()
    return time.process_time() - start


def poly_bernoulli(n: int, k: int) -> int:
    def parts(size: int, count: int) -> int:
        signs = ((-1) ** j * comb(count, j) * (count - j) ** size for j in range(count + 1))
        return sum(signs) // factorial(count)

    return sum(
        factorial(j) ** 2 * parts(n + 1, j + 1) * parts(k + 1, j + 1) for j in range(min(n, k) + 1)
    )


def show(name: str, inputs: ExactMatrix, known: int) -> None:
    found = []
    took = seconds(lambda: found.append(RealisableGates.of(inputs)))
    gates = found[0]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    right = "as known" if int(gates.open.sum()) == known else f"KNOWN: {known}"
    print(
        f"{name:28} {gates.count:7} gates, {gates.open.sum():7} open ({right}): "
        f"{took:.1f} s, {took / gates.count * 1e6:.0f} us a gate, {memory:.2f} GB"
    )


def xor() -> None:
    spec = sr.load("xor")
    dataset, limits = spec.dataset, spec.parameters[0].range
    at = spec.at_values().dataset
    one = seconds(lambda: _search(at.inputs, at.targets, RealisableGates.of(at.inputs)))
    print(f"XoR, self-consistent gates at one Delta: {one:.2f} s")
    took = seconds(lambda: race(dataset.inputs, dataset.targets, limits))
    print(f"XoR, gates, self-consistency and race for all Delta: {took:.2f} s")


def clustering(rows: int) -> None:
    """Compare K-means of different rows with K-means of all, on units that flicker around gates."""
    random = np.random.default_rng(0)
    gates = np.repeat(random.random((5, 8)) < 0.7, 3, axis=1)
    stack = gates[random.integers(5, size=rows)] ^ (random.random((rows, 24)) < 0.03)
    own: list[Clustering] = []
    took = seconds(lambda: own.append(kmeans(distinct_rows(stack), 5, 0)))
    print(f"K-means, {rows} rows, {len(distinct_rows(stack).values)} different: {took:.2f} s")
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        print("scikit-learn is not there to compare with")
        return
    rival = KMeans(5, n_init=STARTS, random_state=0)
    other = seconds(lambda: rival.fit(stack.astype(float)))
    print(
        f"scikit-learn, all rows: {other / took:.1f} times as long, inertia "
        f"{rival.inertia_ / rows / own[0].inertia:.6f} times as large"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small data only")
    quick = parser.parse_args().quick
    xor()
    clustering(20_000 if quick else 200_000)
    generator = np.random.default_rng(0)
    for rank, samples in ((3, 40), (4, 30)) if quick else ((3, 150), (4, 68)):
        rows = generator.integers(-9999, 10000, (rank, samples)).tolist()
        known = 2 * sum(comb(samples - 1, k) for k in range(rank))
        show(f"general, P = {samples}, rank {rank}", ExactMatrix.from_rows(rows), known)
    for items in (4, 5) if quick else (6, 8):
        samples = [(i, k) for k in range(3) for i in range(items)]
        table = [[int(i == row) for i, _ in samples] for row in range(items)]
        table += [[int(k == row) for _, k in samples] for row in range(3)]
        known = poly_bernoulli(items, 3)
        show(f"contextual, n = {items}, C = 3", ExactMatrix.from_rows(table), known)


if __name__ == "__main__":
    main()
