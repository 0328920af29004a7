"""Self-consistent gates: known answers, and float SVDs as the second route."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.gating.consistent import self_consistent_gates
from symreln.gating.enumerate import RealisableGates
from symreln.gating.search import predicted_stages
from symreln.specs.spec import Dataset
from symreln.task_library.load import load
from tests.strategies import examples, seeds


def every_gate(inputs: ExactMatrix) -> list[tuple[tuple[int, ...], int]]:
    return [(tuple(int(v) for v in gate), 1) for gate in RealisableGates.of(inputs).gates]


def xor(delta: Fraction) -> Dataset:
    dataset = load("xor").dataset
    at = {"Delta": delta}
    return replace(
        dataset, inputs=dataset.inputs.substitute(at), targets=dataset.targets.substitute(at)
    )


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ("0", [("1000", "sqrt(2)/4", (2, 3))]),
        ("1/2", [("1000", "3/8", ()), ("1100", "1/4", ())]),
        ("1", [("1100", "1/2", ()), ("1000", "sqrt(3)/4", ())]),
        ("3/2", [("1100", "3/4", ())]),
    ],
)
def test_xor(delta: str, expected: list[tuple[str, str, tuple[int, ...]]]) -> None:
    """One sample while Delta² <= 2, both of a class for Delta > 0; the faster one wins."""
    dataset = xor(Fraction(delta))
    (stage,) = predicted_stages(dataset, RealisableGates.of(dataset.inputs))
    assert [(c.pattern, str(c.s.to_sympy()), c.boundary) for c in stage.candidates] == expected
    alike = {"1000": 4, "1100": 2}[expected[0][0]]
    assert len(stage.winners) == alike == stage.candidates[0].size


@given(seeds)
@examples(120)
def test_float_svd_finds_the_same(seed: int) -> None:
    """Irrational singular values of degree up to 3; data without a sample near a boundary."""
    random = Random(seed)
    n_x, n_y, count = random.randint(2, 4), random.randint(1, 3), random.randint(2, 6)
    x = [[random.randint(-9, 9) for _ in range(count)] for _ in range(n_x)]
    r = [[random.randint(-9, 9) for _ in range(count)] for _ in range(n_y)]
    inputs, residual = ExactMatrix.from_rows(x), ExactMatrix.from_rows(r)
    gates = every_gate(inputs)
    found = {}
    for each in self_consistent_gates(inputs, residual, gates):
        found.setdefault(each.gate, []).append((float(each.s), each.largest))
    for gate, _ in gates:
        sigma = np.array(r) @ np.diag(gate) @ np.array(x).T / count
        _, s, vt = np.linalg.svd(sigma)
        pairs = [(value, v) for value, v in zip(s, vt, strict=False) if value > 1e-9]
        if any(abs(a - b) < 1e-6 for k, (a, _) in enumerate(pairs) for b, _ in pairs[:k]):
            continue
        signs = [(value, v @ np.array(x)) for value, v in pairs]
        nonzero = np.array(x).any(axis=0)
        if any((np.abs(row[nonzero]) < 1e-9).any() for _, row in signs):
            continue
        wanted = [
            (value, value == s[0])
            for value, row in signs
            if any(np.array_equal(sign * row > 1e-12, np.array(gate, bool)) for sign in (1, -1))
        ]
        assert [rate for rate, _ in found.get(gate, [])] == pytest.approx([w for w, _ in wanted])
        assert [top for _, top in found.get(gate, [])] == [top for _, top in wanted]


def test_bad_input() -> None:
    dataset = load("xor").dataset
    with pytest.raises(InputError, match="depend on Delta"):
        self_consistent_gates(dataset.inputs, dataset.targets, [])
    with pytest.raises(InputError, match="depend on Delta"):
        next(predicted_stages(dataset, RealisableGates.of(load("xor").at_values().dataset.inputs)))
