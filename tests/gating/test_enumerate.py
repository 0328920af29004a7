"""All gates: against brute force by linear programming, and counts that are known."""

from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given

from symreln.errors import InputError, LimitReachedError
from symreln.exact.linear_programming import direction
from symreln.exact.matrix import ExactMatrix
from symreln.gating.enumerate import RealisableGates
from symreln.task_library.load import load
from tests.strategies import examples, seeds


def degenerate(random: Random) -> list[list[int]]:
    """Small integers, so that samples vanish, repeat, cancel and depend on each other."""
    height, width = random.randint(1, 4), random.randint(1, 6)
    size = random.choice([1, 1, 2, 3])
    return [[random.randint(-size, size) for _ in range(width)] for _ in range(height)]


def by_programming(rows: list[list[int]], *, open_only: bool) -> set[tuple[int, ...]]:
    """Every sign pattern, asked one by one."""
    samples = [[fmpq(v) for v in column] for column in zip(*rows, strict=True)]
    found = set()
    for gate in product((0, 1), repeat=len(samples)):
        strict = [x for x, g in zip(samples, gate, strict=True) if g]
        shut = [x for x, g in zip(samples, gate, strict=True) if not g]
        if open_only:
            strict += [[-v for v in x] for x in shut if any(x)]
            shut = []
        if direction(strict, shut, len(rows)) is not None:
            found.add(gate)
    return found


def listed(found) -> list[tuple[int, ...]]:
    return [tuple(int(v) for v in gate) for gate in found.gates]


def check_witnesses(rows: list[list[int]], found) -> None:
    products = found.witnesses.astype(object) @ np.array(rows, dtype=object)
    assert ((products > 0) == found.gates).all()


def contextual(items: int, contexts: int) -> ExactMatrix:
    samples = [(i, k) for k in range(contexts) for i in range(items)]
    rows = [[int(i == row) for i, _ in samples] for row in range(items)]
    rows += [[int(k == row) for _, k in samples] for row in range(contexts)]
    return ExactMatrix.from_rows(rows)


@given(seeds)
@examples(480)
def test_brute_force_on_degenerate_data(seed: int) -> None:
    rows = degenerate(Random(seed))
    found = RealisableGates.of(ExactMatrix.from_rows(rows))
    gates = listed(found)
    assert gates == sorted(by_programming(rows, open_only=False), reverse=True)
    check_witnesses(rows, found)
    are_open = {gate for gate, flag in zip(gates, found.open, strict=True) if flag}
    assert are_open == by_programming(rows, open_only=True)


@pytest.mark.parametrize(("dimension", "samples"), [(1, 5), (2, 9), (3, 14), (4, 11), (5, 9)])
def test_general_position(dimension: int, samples: int) -> None:
    """Points on the moment curve, every second one turned round: 2·Σ_{k<d} C(n−1, k) cells."""
    rows = [[(-1) ** i * i**power for i in range(1, samples + 1)] for power in range(dimension)]
    cells = 2 * sum(comb(samples - 1, k) for k in range(dimension))
    found = RealisableGates.of(ExactMatrix.from_rows(rows))
    assert found.open.sum() == cells
    check_witnesses(rows, found)
    # With all of one sign, no samples cancel: closed samples can always be moved off the boundary.
    positive = [[i**power for i in range(1, samples + 1)] for power in range(dimension)]
    assert RealisableGates.of(ExactMatrix.from_rows(positive)).count == cells


def test_bad_input() -> None:
    with pytest.raises(InputError, match="depend on Delta"):
        RealisableGates.of(load("xor").dataset.inputs)
    with pytest.raises(InputError, match="no samples"):
        RealisableGates.of(ExactMatrix.from_rows([[], []]))
    with pytest.raises(LimitReachedError, match="more than 40 gates"):
        RealisableGates.of(contextual(2, 3), limit=40)
