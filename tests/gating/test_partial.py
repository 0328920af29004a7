"""Partial gates: exact fixed points, the closed form, and what followed units settle on."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from symreln.exact.matrix import ExactMatrix
from symreln.exact.real_algebraic import Real
from symreln.gating import search
from symreln.gating.consistent import GrowingGate
from symreln.gating.enumerate import RealisableGates
from symreln.gating.found_pathways import gate_pathway
from symreln.gating.partial import every_partial_gate, partial_gates
from symreln.networks.gate_orbits import SampleGroup
from symreln.task_library.load import load
from tests.gating.test_subsets import formulas_at
from tests.strategies import seeds


def residual_of(contexts: int, items: int, scale: str = "1") -> tuple[ExactMatrix, ExactMatrix]:
    """X and what a common pathway leaves of the contextual task."""
    keys = [f"parameters.C.value={contexts}", f"dataset.items={items}"]
    dataset = load("contextual-C", [*keys, f'parameters.c.value="{scale}"']).at_values().dataset
    common = gate_pathway(dataset, [1] * dataset.samples)
    return dataset.inputs, search._left(dataset, dataset.targets, [common])


def subset_signs(contexts: int, items: int, size: int) -> tuple[int, ...]:
    """Half of the items in ``size`` contexts open; see context_subsets."""
    half = items // 2
    inside, outside = (1,) * half + (0,) * half, (0,) * half + (-1,) * half
    return inside * size + outside * (contexts - size)


def number(value: object) -> float:
    """A whole number, a fraction or an element of a real field as a float."""
    exact = value.number if isinstance(value, Real) else Fraction(str(value))
    return float(exact)


def is_kept(gate: GrowingGate, x: np.ndarray, r: np.ndarray) -> None:
    """Substitute into the flow with floats: w and b keep their direction and grow with s."""
    held = iter(map(float, gate.fractions))
    h = np.array([float(sign > 0) if sign else next(held) for sign in gate.signs])
    v = np.array([number(value) for value in gate.v])
    v = v / np.linalg.norm(v)
    s, count = float(gate.s), x.shape[1]
    seen = v @ x
    b = r @ np.maximum(seen, 0) / count / s
    assert np.linalg.norm(b) == pytest.approx(1)
    pushed = x @ (h * (r.T @ b)) / count
    assert pushed == pytest.approx(s * v, abs=1e-10)
    signs = np.array(gate.signs)
    nonzero = x.any(axis=0)
    assert (np.sign(np.where(np.abs(seen) < 1e-10, 0, seen))[nonzero] == signs[nonzero]).all()
    assert ((h >= 0) & (h <= 1)).all()
    # The boundary attracts: no direction that opens or closes samples there leads to faster growth.
    start = np.linalg.norm(r @ np.maximum(seen, 0)) / count
    for step in np.random.default_rng(0).standard_normal((200, len(v))):
        near = v + 1e-7 * step
        rate = np.linalg.norm(r @ np.maximum(near @ x, 0)) / count / np.linalg.norm(near)
        assert rate <= start * (1 + 1e-11)


@pytest.mark.parametrize(
    ("contexts", "items", "scale"), [(2, 2, "3"), (3, 8, "1"), (4, 4, "11/10"), (5, 2, "1/2")]
)
def test_the_closed_form_is_what_the_data_give(contexts: int, items: int, scale: str) -> None:
    inputs, residual = residual_of(contexts, items, scale)
    for size in range(1, contexts):
        wanted = formulas_at(contexts, size, items, Fraction(scale))
        (found,) = partial_gates(inputs, residual, [(subset_signs(contexts, items, size), 1)])
        assert (found.s.to_sympy() ** 2 - wanted["partial"] ** 2).equals(0)
        fractions = {str(value.to_sympy()) for value in found.fractions}
        assert fractions == {str(wanted["inside"]), str(wanted["outside"])}
        is_kept(found, inputs.to_numpy(), residual.to_numpy())


def test_units_settle_on_them() -> None:
    """The flow in floats proposes, what is kept is proven; slow saddles are left out."""
    inputs, residual = residual_of(3, 4)
    found = search._sliding_gates(inputs, residual, SampleGroup.of(inputs, residual))
    assert str(found[0].s.to_sympy()) == "sqrt(42)/72"
    assert [gate.size for gate in found if gate.s == found[0].s] == [6, 6]
    for gate in found:
        is_kept(gate, inputs.to_numpy(), residual.to_numpy())


@pytest.mark.parametrize("seed", [1, 7, 8, 10])
def test_units_find_what_all_faces_have(seed: int) -> None:
    """Near directions too, of which one would go on for both were they taken together early."""
    random = np.random.default_rng(seed)
    data = [ExactMatrix.from_rows(random.integers(-3, 4, (n, 9)).tolist()) for n in (3, 2)]
    group = SampleGroup.of(*data)
    found, wanted = (of(*data, group) for of in (search._sliding_gates, every_partial_gate))
    assert [each.signs for each in found] == [each.signs for each in wanted]


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_the_fastest_is_the_largest_growth_rate(seed: int) -> None:
    """In the plane a fine grid of directions says what the largest rate is."""
    random = Random(seed)
    x = [[random.randint(-3, 3) for _ in range(5)] for _ in range(2)]
    r = [[random.randint(-3, 3) for _ in range(5)] for _ in range(2)]
    inputs = ExactMatrix.from_rows(x)
    found = search._search(inputs, ExactMatrix.from_rows(r), RealisableGates.of(inputs))
    for gate in found.candidates:
        if gate.kind == "partial":
            is_kept(gate, np.array(x, float), np.array(r, float))
    angles = np.linspace(0, 2 * np.pi, 20_001)
    seen = np.maximum(np.stack([np.cos(angles), np.sin(angles)], axis=1) @ np.array(x), 0)
    best = np.linalg.norm(seen @ np.array(r).T, axis=1).max() / 5
    if best > 1e-9:
        # Where the largest value is a kink, the grid is off it by up to its spacing.
        assert best * (1 - 1e-9) <= float(found.candidates[0].s) <= best * (1 + 3e-4)
