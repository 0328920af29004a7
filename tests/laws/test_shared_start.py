"""Where a chain of shared edges starts in effect, against the edges themselves."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from symreln.laws.shared_chain import SharedChain
from symreln.laws.three_edges import half_time

S, D = 0.5, 0.7


def chain(counts: tuple[int, ...]) -> SharedChain:
    return SharedChain(counts=tuple(map(sp.Integer, counts)))


def arrival(law: SharedChain, strength0: float) -> float:
    """Return when the closed form from a strength is at half its plateau, in τ."""
    names = {"s": S, "d": D, "tau": 1, "pi_0": strength0}
    half = law.mode.half_time
    return float(half.subs({symbol: names[symbol.name] for symbol in half.free_symbols}))


def in_effect(law: SharedChain, start: float) -> float:
    return arrival(law, float(law.start_factor) * start**law.layers)


def by_edges(counts: tuple[int, ...], start: float) -> float:
    """Return the same by integration of every edge from one strength."""
    used = np.array(counts, dtype=float)

    def slope(t, w):
        whole = w.prod()
        return used * whole / w * (S - D * whole)

    def half(t, w):
        return w.prod() - S / (2 * D)

    half.terminal = True
    found = solve_ivp(
        slope, (0, 1e9), np.full(len(counts), start), events=half, rtol=1e-11, atol=1e-16
    )
    return float(found.t_events[0][0])


@pytest.mark.parametrize("counts", [(2, 8, 2), (1, 3, 1), (6, 2, 6)])
def test_three_edges_arrive_with_the_balanced_start(counts):
    law = chain(counts)
    gaps = [in_effect(law, w) / half_time(counts, S, D, w) - 1 for w in (1e-2, 1e-3, 1e-4)]
    assert abs(gaps[2]) < 1e-6
    assert abs(gaps[0]) > 10 * abs(gaps[1])  # it vanishes with the start
    product = arrival(law, 1e-4**3)
    assert abs(product / half_time(counts, S, D, 1e-4) - 1) > 0.02


@pytest.mark.parametrize("counts", [(1, 4), (5, 2), (3, 8, 2, 1), (2, 1, 3, 1, 1)])
def test_chains_arrive_with_the_balanced_start(counts):
    law = chain(counts)
    start = 1e-3 if len(counts) == 2 else 0.01
    assert in_effect(law, start) == pytest.approx(by_edges(counts, start), rel=3e-4)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_edges_that_are_used_alike_are_balanced(depth):
    alike, nearly = chain((3,) * depth), chain((*(3_000_000,) * (depth - 1), 3_000_001))
    assert alike.start_factor == 1
    assert float(nearly.start_factor) == pytest.approx(1, abs=1e-6)
