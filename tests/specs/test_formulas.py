"""Formulas and gates as specs hold them, against evaluators that walk a tree."""

from __future__ import annotations

import operator
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import symreln as sr
from symreln.errors import SpecError
from symreln.exact.scalar import Scalar
from tests.own_specs import own, path
from tests.strategies import examples

NAMES = ("c", "lambda", "k_2")
FREE = {name: {} for name in "abcd"}
POSITIVE = {"c": {"positive": True}, "d": {"minimum": 0}}


def entry(text: object, parameters: dict | None = None) -> Scalar:
    """Return what a formula is as an entry of a dataset; every parameter occurs beside it."""
    declared = parameters or {}
    tables = own([[text, *declared, "0"]], [[1] * (2 + len(declared))], parameters=declared)
    return next(iter(sr.load(tables).dataset.inputs.rows()))[0]


numbers = st.one_of(
    st.integers(0, 99).map(str),
    st.decimals(0, 50, places=2).map(str),
    st.sampled_from(["1e2", ".5", "3.", "2.5E-1", "007"]),
)
trees = st.recursive(
    st.one_of(numbers, st.sampled_from(NAMES)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/"), inner, inner),
        st.tuples(st.just("**"), inner, st.integers(-2, 3)),
        st.tuples(st.just("negate"), inner),
        st.tuples(st.just("bracket"), inner),
    ),
    max_leaves=8,
)
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "**": 4}


def value(tree: tuple | str, at: dict[str, Fraction]) -> Fraction:
    """Evaluate a tree with Fractions alone."""
    match tree:
        case str():
            return at[tree] if tree in at else Fraction(tree)
        case "bracket", inner:
            return value(inner, at)
        case "negate", inner:
            return -value(inner, at)
        case "**", base, exponent:
            return value(base, at) ** exponent
    sign, first, second = tree
    return ARITHMETIC[sign](value(first, at), value(second, at))


def printed(tree: tuple | str, above: int = 0) -> str:
    """Print a tree with as few parentheses as the usual precedence needs."""
    if isinstance(tree, str):
        return tree
    sign, first, *others = tree
    if sign == "bracket":
        return f"( {printed(first)} )"
    own = STRENGTH[sign]
    if sign == "negate":
        text = f"-{printed(first, own)}"
    elif sign == "**":
        text = f"{printed(first, own + 1)}**{others[0]}"
    else:
        text = f"{printed(first, own)} {sign}{printed(others[0], own + 1)}"
    return f"({text})" if own < above else text


@given(trees, st.lists(st.fractions(-9, 9, max_denominator=9), min_size=3, max_size=3))
@examples(400)
def test_a_formula_is_what_fractions_say(tree: tuple, point: list[Fraction]):
    at = dict(zip(NAMES, point, strict=True))
    try:
        expected = value(tree, at)
    except ZeroDivisionError:
        assume(False)
    try:
        found = entry(printed(tree), {name: {} for name in NAMES})
    except SpecError as error:
        assume("at most" not in str(error))  # a limit: nothing to compare
        raise
    written = dict(zip(("c", "lambda_", "k_2_"), point, strict=True))
    assert found.substitute({n: x for n, x in written.items() if n in found.parameters}) == expected


c, d = (Scalar.symbol(name, ("c", "d_")) for name in ("c", "d_"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        ("-2**2", -4),
        ("2**-2", Fraction(1, 4)),
        ("2**3**2", 512),
        ("2**(1+1)", 4),
        ("--3", 3),
        ("8/4/2", 1),
        ("7-4-2", 1),
        ("2*-3", -6),
        ("1e-300", Fraction(1, 10**300)),
        (" 1\t+ 1 ", 2),
        (0.1, Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        # limits let through what is just inside
        ("2**64**1", 2**64),
        ("(" * 49 + "1" + ")" * 49, 1),
        ("1+" * 999 + "1", 1000),
        ("(2**63)**63", 2 ** (63 * 63)),
        ("1e1199", 10**1199),
        ("(c + 1)**64", (c + 1) ** 64),
        ("(c + d)**22", (c + d) ** 22),
    ],
)
def test_known_formulas(text: object, expected: object):
    assert entry(text, POSITIVE) == expected


@pytest.mark.parametrize(
    ("text", "parameters", "fragment"),
    [
        ("(c + 1)**64*c", FREE, "a result of degree 65"),
        ("(2**64)**64", FREE, "a result of 4097 bits"),
        ("1e1200", FREE, "at most 1200 digits"),
        ("(a + b + c + d + 1)**9", FREE, "a result of too many terms"),
        ("(" * 51 + "1" + ")" * 51, FREE, "at most 50 levels"),
        ("1**" * 600 + "1", FREE, "at most 50 levels"),
        ("2**65", FREE, "the exponent 65"),
        ("1" + "+1" * 1000, FREE, "a formula of 2001 characters"),
        ("sqrt(c**2)", POSITIVE, "Declare a positive parameter r for the root"),
        ("c(2)", POSITIVE, "There are no functions"),
        (True, FREE, "a number or a formula"),
        ([1], FREE, "a number or a formula"),
        (float("nan"), FREE, "a finite number"),
    ],
)
def test_refused_formulas(text: object, parameters: dict, fragment: str):
    with pytest.raises(SpecError) as caught:
        entry(text, parameters)
    assert fragment in str(caught.value)


LABELS = {
    "context": [1, 1, 2, 2, 3, 3],
    "class": ["a", "b", "a", "b", 'say "hi"', "b\\c"],
    "item": [-1, 0, 1, -1, 0, 1],
}
COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le}
COMPARE |= {">": operator.gt, ">=": operator.ge}
integers, texts = st.integers(-2, 4), st.sampled_from(LABELS["class"])
numeric = st.sampled_from(["context", "item"])
comparisons = st.one_of(
    st.tuples(numeric, st.sampled_from(list(COMPARE)), integers),
    st.tuples(st.just("class"), st.sampled_from(["==", "!="]), texts),
    st.tuples(numeric, st.just("in"), st.lists(integers, min_size=1, max_size=3)),
    st.tuples(st.just("class"), st.just("not in"), st.lists(texts, min_size=1, max_size=2)),
)
gates = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or", "&", "|"]), inner),
        st.tuples(st.just("not"), inner),
    ),
    max_leaves=6,
)
BINDING = {"or": 1, "|": 1, "and": 2, "&": 2}


def gate_of(text: object) -> tuple:
    return sr.load(own([[1] * 6], [[1] * 6], path("all", text), labels=LABELS)).pathways[0].gate


def opens(tree: tuple, sample: int) -> bool:
    """Evaluate a tree on one sample."""
    match tree:
        case "not", inner:
            return not opens(inner, sample)
        case first, "and" | "&", second:
            return opens(first, sample) and opens(second, sample)
        case first, "or" | "|", second:
            return opens(first, sample) or opens(second, sample)
    name, sign, against = tree
    label = LABELS[name][sample]
    return (
        COMPARE[sign](label, against) if sign in COMPARE else (label in against) == (sign == "in")
    )


def constant(each: object) -> str:
    escaped = str(each).replace("\\", "\\\\").replace('"', '\\"')
    return str(each) if isinstance(each, int) else f'"{escaped}"'


def gate_text(tree: tuple, above: int = 0) -> str:
    """Print a tree with as few parentheses as possible."""
    if tree[0] == "not":
        own, text = 3, f"not {gate_text(tree[1], 3)}"
    elif tree[1] in BINDING:
        own = BINDING[tree[1]]
        text = f"{gate_text(tree[0], own)} {tree[1]} {gate_text(tree[2], own + 1)}"
    elif isinstance(tree[2], list):
        return f"{tree[0]} {tree[1]} ({', '.join(map(constant, tree[2]))})"
    else:
        return f"{tree[0]}{tree[1]}{constant(tree[2])}"
    return f"({text})" if own < above else text


@given(gates)
@examples(400)
def test_a_gate_is_what_its_tree_says(tree: tuple):
    expected = tuple(int(opens(tree, sample)) for sample in range(6))
    if any(expected):
        assert gate_of(gate_text(tree)) == expected
    else:
        with pytest.raises(SpecError, match="0 on every sample"):
            gate_of(gate_text(tree))


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("all", (1, 1, 1, 1, 1, 1)),
        ([1, 0, 0, 0, 0, 1], (1, 0, 0, 0, 0, 1)),
        (["3/3", "2 - 2", "1.0", 1, 1, 1], (1, 0, 1, 1, 1, 1)),
        # & binds more loosely than ==, as it reads; in Python this would be 1 & item.
        ("context == 1 & item == 0", (0, 1, 0, 0, 0, 0)),
        # and binds more tightly than or
        ("context == 1 or context == 2 and item == 1", (1, 1, 1, 0, 0, 0)),
        ("not context == 1 and item == -1", (0, 0, 0, 1, 0, 0)),
        ("0 <= item < context", (0, 1, 1, 0, 1, 1)),
        ("class == 'a'", (1, 0, 1, 0, 0, 0)),
        ("context in [1, 3,]", (1, 1, 0, 0, 1, 1)),
        ("item not in {0}", (1, 0, 1, 1, 0, 1)),
    ],
)
def test_known_gates(gate: object, expected: tuple[int, ...]):
    assert gate_of(gate) == expected


def test_the_caret_stands_under_the_mistake():
    with pytest.raises(SpecError) as caught:
        gate_of("context == 1 and itm == 2")
    formula, caret = caught.value.problems[0].hint.splitlines()[-2:]
    assert formula[caret.index("^") :].startswith("itm")


ALPHABETS = ["context item class=!<>&|()[]{}0123456789'\"\\and or not in,-", "c019.eE+-*/()"]


@pytest.mark.parametrize(
    "read", [gate_of, lambda text: entry(text, {"c": {}})], ids=["gate", "entry"]
)
@given(st.sampled_from(ALPHABETS).flatmap(lambda a: st.text(a, max_size=40)) | st.text(max_size=40))
@examples(400)
def test_any_text_is_a_value_or_one_message(read, text: str):
    problems = ()
    try:
        read(text)
    except SpecError as error:
        problems = error.problems
    assert len(problems) <= 1


@pytest.mark.parametrize(
    ("chosen", "called"),
    [
        ([1, 1, 0, 0, 0, 0], 'side == "left"'),
        ([0, 0, 1, 1, 1, 1], 'side in ("right", "no \\\\ \\"one\\"")'),
        ([0, 0, 0, 1, 0, 1], 'side in ("right", "no \\\\ \\"one\\"") and item == 2'),
        ([0, 1, 0, 1, 0, 1], "item == 2"),
        ([1, 0, 0, 1, 0, 0], ""),
        ([1, 1, 1, 1, 1, 1], ""),
    ],
)
def test_samples_are_called_by_a_formula_that_gives_them_back(chosen, called):
    sides = ["left"] * 2 + ["right"] * 2 + ['no \\ "one"'] * 2
    labels = {"side": sides, "item": [1, 2] * 3}
    spec = sr.load(own([[1] * 6], [[1] * 6], path("p", called or "all"), labels=labels))
    assert spec.dataset.called([bool(one) for one in chosen]) == called
    assert spec.pathways[0].gate == (tuple(chosen) if called else (1,) * 6)
