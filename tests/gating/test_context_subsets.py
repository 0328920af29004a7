"""Gates open in m of C contexts: formulas against exact spectra, and what units are counted for."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

from symreln.errors import InputError
from symreln.gating.context_subsets import (
    SCALE,
    C,
    M,
    N,
    SubsetFormulas,
    comparisons,
    formulas,
    has_formulas,
)
from symreln.gating.label_race import (
    SubsetStage,
    _label_subsets,
    count_observer,
    subset_stages,
    subsets_report,
)
from symreln.gating.search import _residual_after
from symreln.specs.model import Dataset
from symreln.task_library.load import load
from tests.gating.subset_identities import proofs
from tests.gating.trained import planted


def data(contexts: int, items: int, scale: str) -> Dataset:
    keys = [f"parameters.C.value={contexts}", f"dataset.items={items}"]
    return load("contextual-C", [*keys, f'parameters.c.value="{scale}"']).at_values().dataset


def formulas_at(contexts: int, size: int, items: int, scale: Fraction) -> SubsetFormulas:
    at = {C: contexts, M: size, N: items, SCALE: sp.Rational(scale)}
    return SubsetFormulas(**{name: value.subs(at) for name, value in vars(formulas()).items()})


def middle(contexts: int) -> tuple[int, ...]:
    """The m next to C/2: the fastest on the residual for every n and c."""
    return tuple(sorted({contexts // 2, -(-contexts // 2)}))


def test_every_formula_is_proven() -> None:
    for name, values in proofs().items():
        assert values, name
        assert all(value == 0 for value in values), name


@pytest.mark.parametrize(
    ("contexts", "items", "scale"),
    [(2, 2, "1"), (3, 8, "1"), (4, 4, "11/10"), (5, 4, "1/3"), (6, 2, "3")],
)
def test_formulas_are_the_largest_singular_values(contexts: int, items: int, scale: str) -> None:
    """The second route: the exact spectrum of each gate, with all its singular values."""
    dataset = data(contexts, items, scale)
    left = _residual_after(dataset, dataset.targets, ((1,) * dataset.samples,))
    for name, residual in (("first", dataset.targets), ("residual", left)):
        found = _label_subsets(dataset, residual, "context")
        assert len(found) == contexts
        for each in found:
            wanted = getattr(formulas_at(contexts, each.m, items, Fraction(scale)), name)
            speed = 0 if each.speed is None else each.speed.to_sympy()
            assert (speed**2 - wanted**2).equals(0)
            assert each.realisable
            assert each.self_consistent is (name == "first" and each.m == contexts)
        fastest = SubsetStage(stage=1, subsets=found, partial=()).fastest
        assert fastest == ((contexts,) if name == "first" else middle(contexts))


def test_who_is_faster() -> None:
    """Signs of the differences, over numbers: m = C first, then next to C/2."""
    steps = comparisons()
    for contexts in range(2, 9):
        for size in range(1, contexts):
            at = {C: contexts, M: size, N: 8, SCALE: 2}
            signs = {name: float(value.subs(at)) for name, value in steps.items()}
            assert signs["first stage"] > 0
            turn = np.sign(contexts - 2 * size - 1)
            assert np.sign(signs["residual"]) == turn
            if size < contexts - 1:
                assert np.sign(signs["residual, partial gate"]) == turn
    assert [contexts for contexts in range(2, 7) if contexts - 1 in middle(contexts)] == [2, 3]


def test_partial_speeds_are_below_the_whole_ones() -> None:
    """Units that slide give up directions: the partial gate is slower for every m."""
    for contexts, size in ((3, 1), (3, 2), (4, 2), (6, 5)):
        found = formulas_at(contexts, size, 8, Fraction(1))
        assert 0 < float(found.partial) < float(found.residual)
        assert 0 < float(found.inside) < 1
        assert 0 < float(found.outside) < 1


def test_units_are_counted_by_the_contexts_that_they_are_open_on() -> None:
    dataset = data(3, 2, "1")
    observe = count_observer(dataset, "context")
    w = [
        [1, 1, 0, 0, 0],  # items alone: open everywhere
        [0, 0, 1, -1, -1],  # one context
        [1, -1, 1, 1, -1],  # slides: half of the items in two contexts
        [-1, -1, 0, 0, 0],
        [3, -1, 0, 0, 0],  # one of two items in every context, the one that counts
    ]
    weights = (np.array([w], dtype=float),)
    seen = observe(0, weights)
    assert seen[..., 0].tolist() == [[3, 1, 2, 0, 3]]
    found = planted(np.ones((1, 1, 5, 1)), np.array([4.0, 1, 2, 1, 0]))
    shares = replace(found, seen={**found.seen, "m": seen[:, None]}).class_shares("m", 4)
    assert shares[0, 0].tolist() == [1 / 8, 1 / 8, 2 / 8, 4 / 8]


def test_other_structures_have_speeds_and_no_formulas() -> None:
    """Ring and cross: contexts differ, and so do the speeds of subsets of one size."""
    spec = load("contextual-different").at_values()
    first = _label_subsets(spec.dataset, spec.dataset.targets, "context")
    stage = SubsetStage(stage=1, subsets=first, partial=())
    assert stage.fastest == (3,)
    assert len([each for each in first if each.m == 2]) > 1
    speeds = [float(each.speed) for each in first if each.speed is not None]
    assert all(a >= b for a, b in pairwise(speeds))
    told = subsets_report(spec, "context", (stage,), None).tables["subsets.md"]
    assert "For all C" not in told
    assert not has_formulas(spec.dataset)


def test_the_table_says_what_holds() -> None:
    spec = load("contextual-4", ["dataset.items=2"]).at_values()
    found = subsets_report(spec, "context", subset_stages(spec, "context"), None)
    text = found.tables["subsets.md"]
    assert "The fastest gates have m = 4; not m = 3." in text
    assert "The fastest gates have m = 2; not m = 3." in text
    assert "For all C, m, n and c, proven" in text
    assert "units end on these" in text


def test_bad_input() -> None:
    dataset = data(3, 2, "1")
    with pytest.raises(InputError, match="found --by colour; the data have these labels"):
        _label_subsets(dataset, dataset.targets, "colour")
    many = load("linear-hierarchy", ["dataset.items=16"]).at_values().dataset
    with pytest.raises(InputError, match="has 16 values; gates by subsets need 2 to 12"):
        _label_subsets(many, many.targets, "item")
