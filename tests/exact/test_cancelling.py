"""Zero as a rational function in letters: found where it is, and never said of what is not."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.exact.cancelling import cancelled

X, Y, N = sp.symbols("x y n", positive=True)
SUM = 1 + X / Y
FIFTH, HALF = sp.Rational(1, 5), sp.exp(1 / (1 + 1 / (1 + X**2) ** 2) / 2)
ZERO = (
    sp.S.Zero, 1 / (X * Y) - 1 / (X * (X + Y)) - 1 / (Y * (X + Y)), (X**2 - Y**2) / (X - Y) - X - Y,
    sp.sqrt(X) ** 3 - X * sp.sqrt(X), sp.sqrt(2) * (sp.sqrt(2) * X + sp.sqrt(2) * Y) - 2 * (X + Y),
    sp.Mul(sp.sqrt(1 - X**2), sp.sqrt(1 - X**2), evaluate=False) - (1 - X) * (1 + X),
    1 / (sp.sqrt(1 + X) - 1) - (sp.sqrt(1 + X) + 1) / X,
    sp.Mul(sp.sqrt(1 + sp.sqrt(X)) - 1, sp.sqrt(1 + sp.sqrt(X)) + 1, evaluate=False) - sp.sqrt(X),
    sp.exp(2 * N * X) - sp.exp(N * X / 2) ** 4, sp.exp(X + Y) - sp.exp(X) * sp.exp(Y),
    sp.exp(N * sp.log(SUM)) - SUM**N, SUM ** (N + 1) - SUM * SUM**N,
    (HALF + FIFTH) ** 2 - HALF**2 - 2 * HALF * FIFTH - FIFTH**2,
    sp.gamma(X) / (sp.gamma(X) * Y) - 1 / Y,
)  # fmt: skip
NOT = (
    X, X - Y, sp.sqrt(X) - X, sp.sqrt(2) - sp.Rational(1414213, 1000000),
    sp.sqrt((1 - X) ** 2) - (1 - X), sp.exp(X) - sp.exp(Y), 1 / (X - X * 1.0),
    sp.Pow(sp.Add(X, -X, evaluate=False), -1, evaluate=False), sp.zoo * X, sp.nan,
)  # fmt: skip


@pytest.mark.parametrize("expr", ZERO, ids=str)
def test_what_is_zero_is_found(expr: sp.Expr) -> None:
    assert cancelled(expr) == 0


@pytest.mark.parametrize("expr", NOT, ids=str)
def test_what_is_not_zero_is_not_said_to_be(expr: sp.Expr) -> None:
    assert cancelled(expr) != 0


_LEAVES = st.sampled_from([X, Y, N, sp.Integer(2), sp.Rational(-1, 3), sp.sqrt(3)])
_EXPRESSIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(sum),
        st.tuples(inner, inner).map(lambda two: two[0] * two[1]),
        inner.map(lambda one: 1 / (1 + one**2)),
        inner.map(lambda one: sp.sqrt(2 + one**2)),
        inner.map(lambda one: sp.exp(one / 2)),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(_EXPRESSIONS, _EXPRESSIONS)
def test_the_answer_is_that_of_numbers(one: sp.Expr, other: sp.Expr) -> None:
    assert cancelled((one + other) ** 2 - one**2 - 2 * one * other - other**2) == 0
    difference = one - other
    if cancelled(difference) == 0:
        values = {X: sp.Rational(7, 5), Y: sp.Rational(3, 11), N: sp.Rational(5, 13)}
        assert abs(difference.subs(values).evalf(30)) < 1e-20
