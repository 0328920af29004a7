"""Products with square roots: the shortest form, equal to what was given."""

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symreln.document.mathtext import to_latex
from symreln.document.roots import JoinedRoot, plain_formula, shortest_root_form
from tests.strategies import examples

a, b = sp.symbols("a b", positive=True)
real = sp.Symbol("r", real=True)
count = sp.Symbol("k", integer=True, positive=True)


@pytest.mark.parametrize(
    ("product", "printed"),
    [
        (2 * sp.sqrt(120 * a**2 + 45) / (8 * a**2 + 3), r"\sqrt{\frac{60}{8 a^{2} + 3}}"),
        (-2 * sp.sqrt(120 * a**2 + 45) / (8 * a**2 + 3), r"- \sqrt{\frac{60}{8 a^{2} + 3}}"),
        (sp.sqrt(120 * a**2 + 45) / 12, r"\frac{\sqrt{120 a^{2} + 45}}{12}"),
        (sp.sqrt(30) / (4 * a), r"\frac{\sqrt{30}}{4 a}"),
        (2 * sp.sqrt(21) / 3, r"\frac{2 \sqrt{21}}{3}"),
        (1 + sp.sqrt(30) * a / (12 * b), r"1 + \frac{\sqrt{30} a}{12 b}"),
        (
            sp.sqrt(15) * sp.sqrt(a + 1) * sp.sqrt(a + 8 * b**2) / (8 * a),
            r"\frac{\sqrt{15 \left(a + 1\right) \left(a + 8 b^{2}\right)}}{8 a}",
        ),
        (
            sp.sqrt(8 - b) * sp.sqrt(a + 1) / (8 * sp.sqrt(a) * sp.sqrt(b)),
            r"\frac{1}{8} \sqrt{\frac{\left(8 - b\right) \left(a + 1\right)}{a b}}",
        ),
        (
            sp.sqrt(count - 1) * sp.sqrt(8 - b) / (8 * sp.sqrt(count**3 * b)),
            r"\frac{1}{8} \sqrt{\frac{\left(8 - b\right) \left(k - 1\right)}{b k^{3}}}",
        ),
        (
            sp.sqrt(a + 1) * sp.sqrt(b - 8) / (a * sp.sqrt(b)),
            r"\frac{1}{a} \sqrt{\frac{\left(a + 1\right) \left(b - 8\right)}{b}}",
        ),
        (
            2 * sp.sqrt(120 * a**2 + 45) / (8 * a**2 + 3) / b,
            r"\frac{1}{b} \sqrt{\frac{60}{8 a^{2} + 3}}",
        ),
        (
            sp.sqrt(15) * sp.sqrt(a + 1) / sp.sqrt(a + 8 * b**2),
            r"\sqrt{\frac{15 \left(a + 1\right)}{a + 8 b^{2}}}",
        ),
        (a ** sp.Rational(3, 2) * sp.atan(b), r"a^{3/2} \arctan{\left(b \right)}"),
        (a - 1, "a - 1"),
        (a**2 + 1, "a^{2} + 1"),
    ],
)
def test_printed_form(product, printed):
    assert to_latex(product) == printed


@pytest.mark.parametrize(
    ("product", "typed"),
    [
        (2 * sp.sqrt(120 * a**2 + 45) / (8 * a**2 + 3), "sqrt(60/(8*a**2 + 3))"),
        (sp.sqrt(8 - b) * sp.sqrt(a + 1) / (8 * sp.sqrt(a * b)), "sqrt((8 - b)*(a + 1)/(a*b))/8"),
        (sp.sqrt(8 - b) * sp.sqrt(a - 1) / 8, "sqrt(8 - b)*sqrt(a - 1)/8"),
        (sp.sqrt(21) / 12 - a, "sqrt(21)/12 - a"),
        # A sum of numbers is one fraction, and a common minus is in front.
        ((sp.sqrt(5) - sp.sqrt(3)) / 20, "(sqrt(5) - sqrt(3))/20"),
        ((-sp.sqrt(5) - sp.sqrt(3)) / 20, "-(sqrt(3) + sqrt(5))/20"),
        (a * (sp.sqrt(5) / 4 + sp.Rational(1, 4)), "a*(1 + sqrt(5))/4"),
        (b + (-a - 1) / (a + b), "b - (a + 1)/(a + b)"),
        (1 / (-a - b), "-1/(a + b)"),
    ],
)
def test_typed_form(product, typed):
    assert plain_formula(product) == typed
    read = sp.sympify(typed, {"a": a, "b": b})
    point = {a: sp.Rational(7, 3), b: sp.Rational(2, 5)}
    assert abs(sp.N((read - product).subs(point), 30)) < 1e-25


polynomials = st.builds(
    lambda c, p, q: c + p * a + q * a * b,
    st.integers(1, 20),
    st.integers(0, 20),
    st.integers(0, 20),
)


@examples(100)
@given(
    polynomials,
    polynomials,
    polynomials,
    st.fractions(-9, 9, max_denominator=9).filter(bool),
    st.sampled_from([1, -1, 3]),
)
def test_form_equals_the_product(common, top, bottom, number, power):
    roots = sp.sqrt(sp.expand(common * top)) * sp.sqrt(sp.expand(bottom)) ** power
    product = sp.Rational(number.numerator, number.denominator) * roots / common
    form = shortest_root_form(product, to_latex).replace(JoinedRoot, sp.sqrt)
    # Squares are rational functions, compared exactly; one point then decides the sign.
    assert sp.cancel(form**2 - product**2) == 0
    point = {a: 1, b: 2}
    assert sp.sign(form.subs(point)) == sp.sign(product.subs(point))
    assert len(to_latex(product)) > 0
