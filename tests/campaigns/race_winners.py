"""The winner of the race against units that a trainer of its own follows, on random data.

    python -m tests.campaigns.race_winners --datasets 200

For every dataset the fastest self-consistent gate, full or partial, is set beside the growth of
single ReLU units in the same frozen residual. Units are plain numpy: gradient steps on (w, b) from
random directions, rescaled to length one, their growth rate read from the logarithm of their
length. No unit may grow faster than the winner, and some unit must reach its rate; where none of
those drawn does, units start beside the winner's direction, and the dataset counts as one with a
small basin. Both may be off by ``TOLERANCE``, which the step size leaves open.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.exact.real_algebraic import Real
from symreln.gating.search import search

#: Largest relative difference between the winner's rate and the growth of the fastest unit.
TOLERANCE = 0.01
#: Units, and steps in units of the inverse of the largest rate that there could be.
UNITS = 300
STEPS = ((0.1, 600), (0.02, 1500), (0.005, 1500))


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One dataset.

    Attributes:
        name: Its sizes and seed.
        kind: "full", "partial", or "none" where nothing grows.
        beside: Whether a full gate is self-consistent where a partial one wins.
        above: How much faster the fastest unit grew than the winner, relative.
        below: How much slower, relative; of units that start beside it if those drawn miss it.
        missed: Whether all units drawn missed the winner.
    """

    name: str
    kind: str
    beside: bool
    above: float
    below: float
    missed: bool


def grown(x: np.ndarray, r: np.ndarray, w: np.ndarray, b: np.ndarray) -> float:
    """Return the largest growth rate of units after a while, in units of 1/tau.

    Args:
        x: X, shape (n_x, P).
        r: R, shape (n_y, P).
        w: Incoming weights, shape (units, n_x).
        b: Outgoing weights, shape (units, n_y).
    """
    count = x.shape[1]
    fastest = np.linalg.norm(x, 2) * np.linalg.norm(r, 2) / count
    rates = np.zeros(len(w))
    for length, steps in STEPS:
        step, logs = length / fastest, np.zeros(len(w))
        for k in range(steps):
            seen = w @ x
            opened = seen > 0
            moved_w = ((b @ r) * opened) @ x.T / count
            moved_b = (seen * opened) @ r.T / count
            w, b = w + step * moved_w, b + step * moved_b
            size = np.sqrt((w**2).sum(axis=1) + (b**2).sum(axis=1))
            w, b = w / size[:, None], b / size[:, None]
            if 2 * k >= steps:
                logs += np.log(size)
        rates = np.expm1(logs / (steps - (steps + 1) // 2)) / step
    return float(rates.max())


def dataset(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X and R of whole numbers: 2 to 5 inputs, 4 to 10 samples, 1 to 3 outputs."""
    random = np.random.default_rng(seed)
    n_x, count, n_y = random.integers(2, 6), random.integers(4, 11), random.integers(1, 4)
    # Small entries make samples parallel, opposite, dependent or zero.
    largest = int(random.choice([1, 2, 9]))
    x = random.integers(-largest, largest + 1, (n_x, count))
    r = random.integers(-largest, largest + 1, (n_y, count))
    return x, r


def compared(seed: int) -> Compared:
    """Return how the winner of a random dataset compares with units that are followed."""
    x, r = dataset(seed)
    name = f"seed {seed}: {x.shape[0]} inputs, {x.shape[1]} samples, {r.shape[0]} outputs"
    if not x.any() or not r.any():
        return Compared(name=name, kind="none", beside=False, above=0, below=0, missed=False)
    found = search(ExactMatrix.from_rows(x.tolist()), ExactMatrix.from_rows(r.tolist()))
    assert found.complete
    random = np.random.default_rng(seed + 1_000_000)
    w, b = (random.standard_normal((UNITS, size)) for size in (x.shape[0], r.shape[0]))
    unit = grown(x, r, w, b)
    if not found.candidates:
        scale = np.linalg.norm(x, 2) * np.linalg.norm(r, 2) / x.shape[1]
        above = unit / scale
        return Compared(name=name, kind="none", beside=False, above=above, below=0, missed=False)
    first = found.candidates[0]
    rate = float(first.s)
    missed = unit < rate * (1 - TOLERANCE)
    if missed:
        v = np.array([_float(value) for value in first.v])
        v /= np.linalg.norm(v)
        out = r @ np.maximum(v @ x, 0)
        w = v + 0.02 * w / np.linalg.norm(w, axis=1)[:, None]
        unit = max(unit, grown(x, r, w, np.tile(out / np.linalg.norm(out), (UNITS, 1))))
    kinds = {each.kind for each in found.candidates}
    return Compared(
        name=name,
        kind=first.kind,
        beside=first.kind == "partial" and "full" in kinds,
        above=unit / rate - 1,
        below=1 - unit / rate,
        missed=missed,
    )


def _float(value: object) -> float:
    return float(value.number) if isinstance(value, Real) else float(Fraction(str(value)))


def main() -> int:
    """Run the campaign and print its figures; 1 where a winner is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    asked = parser.parse_args()
    results = []
    for seed in range(asked.first, asked.first + asked.datasets):
        results.append(compared(seed))
        if sys.stderr.isatty():
            print(f"\r{len(results)} of {asked.datasets}", end="", file=sys.stderr)
    return report(results)


def report(results: list[Compared]) -> int:
    """Print the figures; return 1 where a winner is off."""
    kinds = [each.kind for each in results]
    print(
        f"{len(results)} datasets: {kinds.count('full')} full winners, "
        f"{kinds.count('partial')} partial ones ({sum(each.beside for each in results)} of them "
        f"where a full gate is self-consistent too), {kinds.count('none')} where nothing grows"
    )
    above, below = (max(results, key=lambda each: getattr(each, k)) for k in ("above", "below"))
    print(f"a unit faster than the winner, at most: {100 * above.above:.4f} % ({above.name})")
    print(f"the fastest unit slower than it, at most: {100 * below.below:.4f} % ({below.name})")
    print(
        f"winners that none of {UNITS} units drawn took, reached from beside their direction: "
        f"{sum(each.missed for each in results)}"
    )
    off = [each for each in results if max(each.above, each.below) > TOLERANCE]
    print(f"winners off by more than {100 * TOLERANCE:g} %: {len(off)}")
    for each in off:
        print(f"  {each}")
    return int(bool(off))


if __name__ == "__main__":
    sys.exit(main())
