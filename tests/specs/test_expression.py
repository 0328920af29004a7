"""The formula parser against Fractions computed on the tree that the text was printed from."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symreln.errors import Problem, SpecError
from symreln.exact.scalar import Scalar
from symreln.specs.expression import Declared, constant
from symreln.specs.number import DecimalText
from tests.strategies import examples

Tree = tuple
NAMES = ("c", "lambda", "k_2")
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
STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "**": 4}


def value(tree: Tree | str, at: dict[str, Fraction]) -> Fraction:
    """Evaluate a tree with Fractions alone."""
    if isinstance(tree, str):
        return at[tree] if tree in at else Fraction(tree)
    operator, first = tree[0], value(tree[1], at)
    if operator == "bracket":
        return first
    if operator == "negate":
        return -first
    if operator == "**":
        return first ** tree[2]
    second = value(tree[2], at)
    return {"+": first + second, "-": first - second, "*": first * second}.get(
        operator, first / second if operator == "/" else first
    )


def printed(tree: Tree | str, above: int = 0) -> str:
    """Print a tree with as few parentheses as the usual precedence needs."""
    if isinstance(tree, str):
        return tree
    operator = tree[0]
    if operator == "bracket":
        return f"( {printed(tree[1])} )"
    own = STRENGTH[operator]
    if operator == "negate":
        text = f"-{printed(tree[1], own)}"
    elif operator == "**":
        text = f"{printed(tree[1], own + 1)}**{tree[2]}"
    else:
        text = f"{printed(tree[1], own)} {operator}{printed(tree[2], own + 1)}"
    return f"({text})" if own < above else text


def parsed(text: object, names: tuple[str, ...] = (), nonnegative: Collection[str] = ()) -> Scalar:
    return Declared(names=names, nonnegative=nonnegative).parse(text)


@given(trees, st.lists(st.fractions(-9, 9, max_denominator=9), min_size=3, max_size=3))
@examples(600)
def test_agrees_with_fractions(tree: Tree, point: list[Fraction]):
    at = dict(zip(NAMES, point, strict=True))
    try:
        expected = value(tree, at)
    except ZeroDivisionError:
        assume(False)
    try:
        value_of = parsed(printed(tree), NAMES)
    except SpecError as error:
        assume("at most" not in str(error))  # a limit: nothing to compare
        raise
    assert value_of.substitute(at).to_fraction() == expected


@given(trees)
@examples(200)
def test_printing_then_parsing_gives_the_same(tree: Tree):
    try:
        value_of = parsed(printed(tree), NAMES)
    except SpecError:
        assume(False)
    assert parsed(str(value_of).replace("^", "**"), NAMES) == value_of


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
        ("sqrt(9/4)", Fraction(3, 2)),
        ("sqrt(0)", 0),
        ("1e-300", Fraction(1, 10**300)),
        (" 1\t+ 1 ", 2),
        (3, 3),
        (0.1, Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (DecimalText("1_000.5"), Fraction(2001, 2)),
    ],
)
def test_known_numbers(text: object, expected: Fraction):
    assert constant(text) == expected


def test_roots_are_taken_with_the_sign_that_is_known():
    c, d = (Scalar.symbol(name, ("c", "d")) for name in ("c", "d"))
    names, both = ("c", "d"), ("c", "d")
    assert parsed("sqrt(c**2)", names, nonnegative=both) == c
    assert parsed("sqrt((c + d)**2/4)", names, nonnegative=both) == (c + d) / 2
    assert parsed("sqrt((-c - d)**2)", names, nonnegative=both) == c + d
    assert parsed("sqrt(1/(c**2 + 2*c*d + d**2))", names, nonnegative=both) == 1 / (c + d)
    for text, nonnegative in (
        ("sqrt(c**2)", ("d",)),  # |c|
        ("sqrt((c - d)**2)", both),  # |c - d|
        ("sqrt(c)", both),
        ("sqrt(c**2 + 1)", both),
        ("sqrt(2*c**2)", both),
        ("sqrt(-4)", both),
    ):
        with pytest.raises(SpecError, match="square root"):
            parsed(text, names, nonnegative=nonnegative)


def test_limits_let_through_what_is_just_inside():
    c = Scalar.symbol("c", ("c",))
    assert parsed("(c + 1)**64", ("c",)) == (c + 1) ** 64
    assert parsed("2**64**1", ()) == 2**64
    assert parsed("(" * 49 + "1" + ")" * 49, ()) == 1
    assert parsed("1+" * 999 + "1", ()) == 1000
    assert parsed("(2**63)**63", ()) == 2 ** (63 * 63)
    assert parsed("1e1199", ()) == 10**1199
    assert parsed("(1)+" * 100 + "1", ()) == 101
    names = ("a", "b", "c", "d")
    total = sum((Scalar.symbol(name, names) for name in names), start=Scalar(names, 1))
    assert parsed("(a + b + c + d + 1)**8", names) == total**8


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("(c + 1)**64*c", "a result of degree 65"),
        ("(2**64)**64", "a result of up to 4160 bits"),
        ("1e1200", "at most 1200 digits"),
        ("(a + b + c + d + 1)**9", "a result of too many terms"),
        ("(" * 51 + "1" + ")" * 51, "at most 50 levels"),
        ("2**65", "the exponent 65"),
        ("1" + "+1" * 1000, "a formula of 2001 characters"),
    ],
)
def test_limits_stop_what_is_just_outside(text: str, fragment: str):
    with pytest.raises(SpecError) as caught:
        parsed(text, ("a", "b", "c", "d"))
    assert fragment in str(caught.value)


@pytest.mark.parametrize("text", [True, None, [1], float("nan"), float("inf"), {"a": 1}])
def test_other_objects_are_refused(text: object):
    with pytest.raises(SpecError):
        parsed(text, ("c",))


def problems_of(text: str) -> tuple[Problem, ...]:
    try:
        parsed(text, ("c",))
    except SpecError as error:
        return error.problems
    return ()


@given(st.text(max_size=40))
@examples(400)
def test_any_text_is_a_value_or_one_message(text: str):
    assert [problem.path for problem in problems_of(text)] in ([], [""])


@given(st.text(alphabet="c0123456789.eE+-*/() sqrt", max_size=30))
@examples(600)
def test_text_that_is_nearly_a_formula_too(text: str):
    assert [problem.path for problem in problems_of(text)] in ([], [""])
