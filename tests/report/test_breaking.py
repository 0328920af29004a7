import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symreln.document.breaking import (
    break_lines,
    equation_lines,
    name_common,
    put_back,
    term_groups,
)
from symreln.document.mathtext import ordered_terms, signed_latex, to_latex
from symreln.document.tex import parse
from symreln.document.widths import latex_width
from tests.report.read_latex import read_latex
from tests.strategies import examples

c, s, t, tau = sp.symbols("c s t tau", positive=True)
MODES = sp.symbols("a1:10")
LOSS = sum(
    (-1) ** i * sp.sqrt(c**2 + i + 1) * a**2 * sp.exp(-(i + 1) * t / tau) / (i + 3)
    for i, a in enumerate(MODES)
) + sp.Rational(61, 24)


def sums():
    term = st.builds(
        lambda n, d, a, p: sp.Rational(n, d) * a**p * sp.exp(-p * t),
        st.integers(-99, 99),
        st.integers(1, 99),
        st.sampled_from(MODES),
        st.integers(0, 4),
    )
    return st.lists(term, min_size=1, max_size=12).map(lambda terms: sp.Add(*terms))


@given(sums(), st.sampled_from([5.0, 15.0, 40.0]))
@examples(240)
def test_lines_add_up_to_the_expression(expr, width):
    groups = term_groups(ordered_terms(expr), width)
    assert sp.Add(*(term for group in groups for term in group)) == expr
    lines = break_lines(expr, width)
    symbols = (*MODES, t)
    assert sp.expand(sum(read_latex(line, symbols) for line in lines) - expr) == 0


def test_lines_are_as_long_as_asked_and_no_shorter_than_needed():
    lines = break_lines(LOSS, 30.0)
    assert len(lines) > 2
    assert all(latex_width(line) <= 30.5 for line in lines)
    groups = term_groups(ordered_terms(LOSS), 30.0)
    for line, (following, *_) in zip(lines[:-1], groups[1:], strict=True):
        assert latex_width(line) + latex_width(signed_latex(following)) > 30.0
    assert break_lines(LOSS, 1e3) == [to_latex(LOSS)]


def test_equation_lines_are_aligned_mathematics():
    first, *rest = equation_lines("L(t)", LOSS)
    assert first.startswith("L(t) ={}& ")
    assert rest
    assert all(line.startswith(("& {} + ", "& {} - ")) for line in rest)
    for line in (first, *rest):
        parse(line, aligned=True)
    assert equation_lines("x", c + 1) == ("x = c + 1",)


ROOT = sp.sqrt(c**2 + 4 * s + 1)
COMMON = (
    ROOT * s / (1 + (s * ROOT - 1) * sp.exp(-2 * s * ROOT * t)),
    (ROOT + 1) ** 2 * (c**2 + s * c + 1) ** 2 + (c**2 + s * c + 1),
)


def test_common_parts_are_named_and_put_back():
    definitions, shortened = name_common(COMMON)
    assert [str(name) for name, _ in definitions] == ["k_1", "k_2"]
    assert {part for _, part in definitions} == {ROOT, c**2 + s * c + 1}
    assert all(sp.Symbol("k_1") in expr.free_symbols for expr in shortened)
    assert put_back(definitions, shortened) == COMMON


def test_short_parts_stay():
    exprs = ((c + 1) ** 2 * s, (c + 1) ** 3)
    assert name_common(exprs) == ((), exprs)
    definitions, _ = name_common(exprs, shortest=0.0)
    assert definitions


@given(st.lists(sums(), min_size=1, max_size=3))
@examples(120)
def test_naming_is_exact(exprs):
    wholes = tuple(1 / (1 + expr**2) + expr for expr in exprs)
    restored = put_back(*name_common(wholes, shortest=2.0))
    for whole, again in zip(wholes, restored, strict=True):
        assert (
            sp.cancel(sp.powsimp(sp.expand(whole - again, power_exp=False))) == 0 or whole == again
        )
