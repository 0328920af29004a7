"""Symmetries of samples, and gates that they make alike."""

from itertools import permutations
from random import Random

import numpy as np
from hypothesis import given

from symreln.exact.matrix import ExactMatrix
from symreln.gating.enumerate import RealisableGates
from symreln.networks.gate_orbits import SampleGroup, moved_gates
from tests.strategies import examples, seeds


def gram(rows: list[list[int]]) -> np.ndarray:
    return np.array(rows).T @ np.array(rows)


def kept(rows: list[list[int]]) -> list[tuple[int, ...]]:
    """All permutations that keep the Gram matrix, one by one."""
    table = gram(rows)
    size = range(len(table))
    return [p for p in permutations(size) if (table[np.ix_(p, p)] == table).all()]


@given(seeds)
@examples(240)
def test_group_and_orbits_against_all_permutations(seed: int) -> None:
    random = Random(seed)
    height, width = random.randint(1, 3), random.randint(1, 5)
    rows = [[random.randint(-1, 1) for _ in range(width)] for _ in range(height)]
    inputs = ExactMatrix.from_rows(rows)
    group = SampleGroup.of(inputs)
    everyone = kept(rows)
    assert group.order == len(everyone)
    assert all(tuple(g.tolist()) in everyone for g in group.generators)
    found = RealisableGates.of(inputs)
    gates = {tuple(int(v) for v in gate) for gate in found.gates}
    classes = {frozenset(tuple(g[i] for i in p) for p in everyone) for g in gates}
    orbits = found.orbits(group)
    assert sorted(size for _, size in orbits) == sorted(len(c) for c in classes)
    assert sum(size for _, size in orbits) == found.count
    for place, size in orbits:
        gate = tuple(int(v) for v in found.gates[place])
        assert len(moved_gates(gate, group)) == size
