"""Partial gates: exact fixed points, the closed form, and what followed units settle on."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from symreln.errors import InputError, LimitReachedError
from symreln.exact.matrix import ExactMatrix
from symreln.gates.consistent import self_consistent_gates
from symreln.gates.context_subsets import formulas
from symreln.gates.enumerate import enumerate_gates
from symreln.gates.partial import PartialGate, all_signs, partial_gates
from symreln.gates.real import Real
from symreln.gates.sliding import settle, settled_signs, sliding_gates
from symreln.gates.stages import kept_on_boundaries, predicted_stages, residual_after
from symreln.spec.reader import load
from tests.strategies import seeds


def residual_of(contexts: int, items: int, scale: str = "1") -> tuple[ExactMatrix, ExactMatrix]:
    """X and what a common pathway leaves of the contextual task."""
    keys = [f"parameters.C.value={contexts}", f"dataset.items={items}"]
    dataset = load("contextual-C", [*keys, f'parameters.c.value="{scale}"']).at_values().dataset
    return dataset.inputs, residual_after(dataset, dataset.targets, ((1,) * dataset.samples,))


def subset_signs(contexts: int, items: int, size: int) -> tuple[int, ...]:
    """Half of the items in ``size`` contexts open; see context_subsets."""
    half = items // 2
    inside, outside = (1,) * half + (0,) * half, (0,) * half + (-1,) * half
    return inside * size + outside * (contexts - size)


def number(value: object) -> float:
    """A whole number, a fraction or an element of a real field as a float."""
    exact = value.number if isinstance(value, Real) else Fraction(str(value))
    return float(exact)


def is_kept(gate: PartialGate, x: np.ndarray, r: np.ndarray) -> None:
    """Substitute into the flow with floats: w and b keep their direction and grow with s."""
    h = np.array([float(value) for value in gate.values])
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
    # The boundary attracts: what opens is pushed back.
    assert (r.T @ b)[(signs == 0) & nonzero].max(initial=0) <= 1e-12


@pytest.mark.parametrize(
    ("contexts", "items", "scale"), [(2, 2, "3"), (3, 8, "1"), (4, 4, "11/10"), (5, 2, "1/2")]
)
def test_the_closed_form_is_what_the_data_give(contexts: int, items: int, scale: str) -> None:
    inputs, residual = residual_of(contexts, items, scale)
    for size in range(1, contexts):
        wanted = formulas().at(contexts, size, items, Fraction(scale))
        (found,) = partial_gates(inputs, residual, [(subset_signs(contexts, items, size), 1)])
        assert (found.s.to_sympy() ** 2 - wanted.partial**2).equals(0)
        fractions = {str(value.to_sympy()) for value in found.values}
        assert fractions == {"0", "1", str(wanted.inside), str(wanted.outside)}
        is_kept(found, inputs.to_numpy(), residual.to_numpy())


def test_the_second_stage_of_three_contexts() -> None:
    """No gate of 0 and 1 is self-consistent there, and all 260 sign vectors leave these."""
    inputs, residual = residual_of(3, 2)
    assert len(all_signs(inputs)) == 260
    gates = [(tuple(map(int, gate)), 1) for gate in enumerate_gates(inputs).gates]
    assert self_consistent_gates(inputs, residual, gates) == ()
    found, proposed = kept_on_boundaries(inputs, residual)
    assert not proposed
    assert [(str(g.s.to_sympy()), g.size, g.unique) for g in found] == [
        ("sqrt(10)/36", 6, True),
        ("sqrt(10)/36", 6, True),
        ("1/12", 12, True),
    ]
    assert not any(gate.is_whole for gate in found)


def test_units_settle_on_them() -> None:
    """The flow in floats proposes; irrational fractions are proven as well."""
    inputs, residual = residual_of(3, 8)
    found = sliding_gates(inputs, residual)
    assert str(found[0].s.to_sympy()) == "sqrt(770)/360"
    assert any("sqrt(649)" in str(value.to_sympy()) for gate in found for value in gate.values)
    for gate in found:
        is_kept(gate, inputs.to_numpy(), residual.to_numpy())


@given(seeds)
@settings(max_examples=8, deadline=None)
def test_some_direction_is_always_kept(seed: int) -> None:
    """The largest value of F is a partial gate; a fine grid of directions finds none larger."""
    random = Random(seed)
    x = [[random.randint(-3, 3) for _ in range(4)] for _ in range(2)]
    r = [[random.randint(-3, 3) for _ in range(4)] for _ in range(2)]
    inputs, residual = ExactMatrix.from_rows(x), ExactMatrix.from_rows(r)
    found = partial_gates(inputs, residual, [(signs, 1) for signs in all_signs(inputs)])
    for gate in found:
        is_kept(gate, np.array(x, float), np.array(r, float))
    angles = np.linspace(0, 2 * np.pi, 20_001)
    seen = np.maximum(np.stack([np.cos(angles), np.sin(angles)], axis=1) @ np.array(x), 0)
    best = np.linalg.norm(seen @ np.array(r).T, axis=1).max() / 4
    if best > 1e-9:
        # Where the largest value is a kink, the grid is off it by up to its spacing.
        assert best * (1 - 1e-9) <= float(found[0].s) <= best * (1 + 3e-4)


@given(seeds)
@settings(max_examples=8, deadline=None)
def test_gates_without_a_boundary_are_the_self_consistent_ones(seed: int) -> None:
    random = Random(seed)
    x = [[random.randint(-9, 9) for _ in range(4)] for _ in range(3)]
    r = [[random.randint(-9, 9) for _ in range(4)] for _ in range(2)]
    inputs, residual = ExactMatrix.from_rows(x), ExactMatrix.from_rows(r)
    gates = [tuple(map(int, gate)) for gate in enumerate_gates(inputs).gates]
    whole = self_consistent_gates(inputs, residual, [(gate, 1) for gate in gates])
    strict = [(tuple(2 * g - 1 for g in gate), 1) for gate in gates]
    found = partial_gates(inputs, residual, strict)
    assert [g.s for g in found] == [g.s for g in whole if not g.boundary]


def test_units_follow_the_flow() -> None:
    """XoR at 1/2: every unit settles on a single sample or on a class, and none elsewhere."""
    dataset = load("xor", ["parameters.Delta.value=1/2"]).at_values().dataset
    x, y = dataset.inputs.to_numpy(), dataset.targets.to_numpy()
    found = settled_signs(x, y)
    patterns = {"".join(str(int(value > 0)) for value in row) for row in found.signs}
    assert {sum(map(int, pattern)) for pattern in patterns} == {1, 2}
    assert found.shares.sum() > 0.99
    one = settle(x, y, np.array([[1.0, 0.8, 0.3]]), np.array([[1.0]]))
    assert (one @ x > 0).tolist() == [[True, False, False, False]]


def test_stages_say_so() -> None:
    dataset = load("contextual-3", ["dataset.items=2"]).at_values().dataset
    first, second = predicted_stages(dataset)
    assert not first.partial
    assert not second.winners
    assert [gate.size for gate in second.partial] == [6, 6, 12]


def test_bad_input() -> None:
    inputs, residual = residual_of(3, 2)
    with pytest.raises(InputError, match="give one of -1, 0, 1"):
        partial_gates(inputs, residual, [((1, 2, 0, 0, 0, 0), 1)])
    with pytest.raises(InputError, match="X has 6 samples, the residual 6 and the signs"):
        partial_gates(inputs, residual, [((1, 0), 1)])
    with pytest.raises(LimitReachedError, match="more than 100 sign vectors"):
        all_signs(inputs, limit=100)
