"""Gate formulas against an evaluator that walks the tree sample by sample."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.errors import SpecError
from symreln.exact.matrix import ExactMatrix
from symreln.networks.dataset import Dataset
from symreln.specs.gates import gate_values
from tests.strategies import examples

LABELS = {
    "context": (1, 1, 2, 2, 3, 3),
    "class": ("a", "b", "a", "b", 'say "hi"', "b\\c"),
    "item": (-1, 0, 1, -1, 0, 1),
}
P = 6
COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
integers = st.integers(-2, 4)
comparisons = st.one_of(
    st.tuples(
        st.just("compare"),
        st.sampled_from(["context", "item"]),
        st.sampled_from(list(COMPARE)),
        integers,
    ),
    st.tuples(
        st.just("compare"),
        st.just("class"),
        st.sampled_from(["==", "!="]),
        st.sampled_from(LABELS["class"]),
    ),
    st.tuples(
        st.just("in"),
        st.sampled_from(["context", "item"]),
        st.lists(integers, min_size=1, max_size=3),
    ),
    st.tuples(
        st.just("not in"),
        st.just("class"),
        st.lists(st.sampled_from(LABELS["class"]), min_size=1, max_size=2),
    ),
    st.tuples(st.just("labels"), st.sampled_from(list(COMPARE))),
    st.tuples(st.just("between"), integers, integers),
)
trees = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or", "&", "|"]), inner, inner),
        st.tuples(st.just("not"), inner),
    ),
    max_leaves=6,
)


def opens(tree: tuple, sample: int) -> bool:
    """Evaluate a tree on one sample."""
    kind = tree[0]
    if kind == "not":
        return not opens(tree[1], sample)
    if kind in ("and", "&"):
        return opens(tree[1], sample) and opens(tree[2], sample)
    if kind in ("or", "|"):
        return opens(tree[1], sample) or opens(tree[2], sample)
    if kind == "labels":
        return COMPARE[tree[1]](LABELS["context"][sample], LABELS["item"][sample])
    if kind == "between":
        return tree[1] <= LABELS["item"][sample] < tree[2]
    label = LABELS[tree[1]][sample]
    if kind == "compare":
        return COMPARE[tree[2]](label, tree[3])
    return (label in tree[2]) == (kind == "in")


def constant(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


STRENGTH = {"or": 1, "|": 1, "and": 2, "&": 2, "not": 3}


def printed(tree: tuple, above: int = 0) -> str:
    """Print a tree with as few parentheses as possible."""
    kind = tree[0]
    if kind == "labels":
        return f"context{tree[1]}item"
    if kind == "between":
        return f"{tree[1]} <= item < {tree[2]}"
    if kind == "compare":
        return f"{tree[1]} {tree[2]} {constant(tree[3])}"
    if kind in ("in", "not in"):
        return f"{tree[1]} {kind} ({', '.join(constant(v) for v in tree[2])})"
    own = STRENGTH[kind]
    if kind == "not":
        text = f"not {printed(tree[1], own)}"
    else:
        text = f"{printed(tree[1], own)} {kind} {printed(tree[2], own + 1)}"
    return f"({text})" if own < above else text


@given(trees)
@examples(600)
def test_agrees_with_reference(tree: tuple):
    expected = tuple(int(opens(tree, sample)) for sample in range(P))
    if any(expected):
        assert gate_values(printed(tree), LABELS, P) == expected
    else:
        with pytest.raises(SpecError, match="0 on every sample"):
            gate_values(printed(tree), LABELS, P)


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("all", (1, 1, 1, 1, 1, 1)),
        ([1, 0, 0, 0, 0, 1], (1, 0, 0, 0, 0, 1)),
        ("context != 1", (0, 0, 1, 1, 1, 1)),
        # & binds more loosely than ==, as it reads; in Python this would be 1 & item.
        ("context == 1 & item == 0", (0, 1, 0, 0, 0, 0)),
        # and binds more tightly than or
        ("context == 1 or context == 2 and item == 1", (1, 1, 1, 0, 0, 0)),
        ("not context == 1 and item == -1", (0, 0, 0, 1, 0, 0)),
        ("class == 'a'", (1, 0, 1, 0, 0, 0)),
        ("context in [1, 3,]", (1, 1, 0, 0, 1, 1)),
        ("item not in {0}", (1, 0, 1, 1, 0, 1)),
    ],
)
def test_known_gates(gate: str | list[int], expected: tuple[int, ...]):
    assert gate_values(gate, LABELS, P) == expected


def test_the_caret_stands_under_the_mistake():
    with pytest.raises(SpecError) as caught:
        gate_values("context == 1 and itm == 2", LABELS, P)
    formula, caret = caught.value.problems[0].hint.splitlines()[-2:]
    assert formula[caret.index("^") :].startswith("itm")


@given(
    st.text(alphabet="context item class=!<>&|()[]{}0123456789'\"\\and or not in,-", max_size=40)
)
@examples(600)
def test_any_text_is_a_gate_or_one_message(text: str):
    try:
        gate, problems = gate_values(text, LABELS, P), ()
    except SpecError as error:
        gate, problems = (0,) * P, error.problems
    assert (any(gate) and len(gate) == P and set(gate) <= {0, 1}) != (len(problems) == 1)


@pytest.mark.parametrize(
    ("chosen", "called"),
    [
        ([1, 1, 0, 0, 0, 0], 'side == "left"'),
        ([0, 0, 1, 1, 1, 1], 'side in ("right", "no \\\\ \\"one\\"")'),
        ([0, 0, 0, 1, 0, 1], 'side in ("right", "no \\\\ \\"one\\"") and item == 2'),
        ([0, 1, 0, 1, 0, 1], "item == 2"),
        ([1, 0, 0, 1, 0, 0], ""),
        ([1, 1, 1, 1, 1, 1], ""),
        ([0, 0, 0, 0, 1, 0], r'side == "no \\ \"one\"" and item == 1'),
    ],
)
def test_samples_are_called_by_a_formula_that_gives_them_back(chosen, called):
    sides = ("left",) * 2 + ("right",) * 2 + ('no \\ "one"',) * 2
    labels = {"side": sides, "item": (1, 2) * 3}
    data = ExactMatrix.from_rows([[1] * 6])
    found = Dataset(inputs=data, targets=data, labels=labels).called([bool(one) for one in chosen])
    assert found == called
    if called:
        assert gate_values(called, labels, samples=6) == tuple(chosen)
