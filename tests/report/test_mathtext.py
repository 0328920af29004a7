import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symreln.document.mathtext import slashed_latex, to_latex, weighted
from symreln.document.symbols import symbol_latex
from symreln.document.tex import parse
from tests.report.read_latex import read_latex

s, d, t, tau, c, strength0 = sp.symbols("s d t tau c strength0", positive=True)
x, y = sp.symbols("x y")
PLATEAU = s / d
SIGMOID = PLATEAU / (1 + (PLATEAU / strength0 - 1) * sp.exp(-2 * s * t / tau))


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("tau", r"\tau"),
        ("strength", r"\pi_{\alpha}"),
        ("strength0", r"\pi_{0}"),
        ("Delta", r"\Delta"),
        ("c", "c"),
        ("c1", "c_{1}"),
        ("x_12", "x_{12}"),
        ("context_scale", r"\mathrm{context}_{\mathrm{scale}}"),
        ("eta_max_2", r"\eta_{\mathrm{max},2}"),
        ("lamda", r"\lambda"),
        ("τ", r"\tau"),
        ("größe", r"\text{größe}"),
        ("a-b c", r"\text{a-b c}"),
        ("_", r"\text{\_}"),
        ("1a", r"\text{1a}"),
    ],
)
def test_names(name, latex):
    assert symbol_latex(name) == latex
    parse(latex)


@given(st.text(min_size=1))
def test_any_name_prints_as_mathematics(name):
    parse(symbol_latex(name) + "^{2}")


a, b, lam, strength = sp.symbols("a b lambda pi", positive=True)
_TWO = sp.Integer(2)


@pytest.mark.parametrize(
    ("expr", "latex"),
    [
        # Coefficients before amplitudes, which begin a sum in their own order.
        (b * (s - a * b * d), r"b \left(s - d a b\right)"),
        (a**2 * b**2 * d / 2 - a * b * s, r"\frac{d a^{2} b^{2}}{2} - s a b"),
        (-strength * sp.sqrt(c + 3) / 8, r"- \frac{\sqrt{c + 3} \pi}{8}"),
        # One fraction of a sum of numbers, what is added first.
        ((sp.sqrt(5) - 4 + sp.sqrt(3)) / 20, r"\frac{\sqrt{3} + \sqrt{5} - 4}{20}"),
        (
            (sp.sqrt(5) / 20 - sp.sqrt(3) / 20) / strength0,
            r"\frac{\sqrt{5} - \sqrt{3}}{20 \pi_{0}}",
        ),
        # A minus that all terms of a sum have in common is in front.
        ((-sp.sqrt(5) - sp.sqrt(3)) / 20, r"- \frac{\sqrt{3} + \sqrt{5}}{20}"),
        ((-1 - sp.sqrt(5)) / (2 * a + 1), r"- \frac{1 + \sqrt{5}}{2 a + 1}"),
        (c + a * (-sp.sqrt(5) - 1) / 4, r"c - \frac{\left(1 + \sqrt{5}\right) a}{4}"),
        (1 / (-a - b), r"- \frac{1}{a + b}"),
        (strength**2 * (c**2 / 2 + _TWO**-2) / 2, r"\frac{\pi^{2} \left(2 c^{2} + 1\right)}{8}"),
        # Roots of one degree are one, and powers of a number too.
        (sp.cbrt(a) ** 2 * sp.cbrt(b), r"\sqrt[3]{a^{2} b}"),
        (sp.cbrt(2 * d) * tau / 4, r"\frac{\tau \sqrt[3]{2 d}}{4}"),
        (2 * sp.cbrt(_TWO) ** 2, "2^{5/3}"),
        (sp.cbrt(_TWO) ** 2 / 2, r"\frac{1}{\sqrt[3]{2}}"),
        (sp.cbrt(_TWO) * tau / 4, r"\frac{\sqrt[3]{2} \tau}{4}"),
        (sp.sqrt(2) / 2, r"\frac{\sqrt{2}}{2}"),
        (sp.sqrt(42) / (2 * sp.sqrt(2 * c**2 + 1)), r"\sqrt{\frac{21}{4 c^{2} + 2}}"),
        # Exponents fall in time.
        (sp.exp(-2 * (s - lam) * t / tau), r"e^{- 2 t \left(s - \lambda\right)/\tau}"),
        (sp.exp((s - lam) / tau), r"e^{\left(s - \lambda\right)/\tau}"),
        # A fraction in a logarithm is no fraction's numerator.
        (sp.log(s / d) / s, r"\frac{1}{s} \ln{\left(\frac{s}{d} \right)}"),
        (
            c - (1 - sp.sqrt(5)) / 20 * sp.log(s / d),
            r"c + \frac{\sqrt{5} - 1}{20} \ln{\left(\frac{s}{d} \right)}",
        ),
        (
            (sp.sqrt(5) - 2) * sp.log(s / d) / 20,
            r"\frac{\sqrt{5} - 2}{20} \ln{\left(\frac{s}{d} \right)}",
        ),
        (sp.log(s + d) / s, r"\frac{\ln{\left(d + s \right)}}{s}"),
    ],
)
def test_best_forms_that_equal_what_was_given(expr, latex):
    assert to_latex(expr) == latex
    parse(latex)
    letters = sorted(expr.free_symbols, key=str)
    point = {letter: sp.Rational(k + 7, k + 3) for k, letter in enumerate(letters)}
    read = read_latex(latex, letters)
    assert abs(sp.N((read - expr).subs(point), 20)) < 1e-15


@pytest.mark.parametrize(
    ("term", "latex"),
    [
        (-c * sp.sqrt(30) * s / 6, r"- \frac{\sqrt{30} c}{6} s"),
        (s**2 * (c**2 / 3 + sp.Rational(1, 8)) / 2, r"\frac{8 c^{2} + 3}{48} s^{2}"),
        (sp.sqrt(120 * c**2 + 45) * s / 12, r"\frac{\sqrt{120 c^{2} + 45}}{12} s"),
        ((c + 1) * s, r"\left(c + 1\right) s"),
        (-s, "- s"),
        (c / 2, r"\frac{c}{2}"),
    ],
)
def test_terms_are_a_coefficient_times_variables(term, latex):
    assert to_latex(weighted(term, [s])) == latex


@pytest.mark.parametrize(
    ("expr", "latex"),
    [
        (SIGMOID, r"\frac{s/d}{1 + \left(\frac{s}{d \pi_{0}} - 1\right) e^{- 2 s t/\tau}}"),
        (
            SIGMOID.subs({s: sp.Rational(7, 24), d: sp.Rational(1, 24)}),
            r"\frac{7}{1 + \left(\frac{7}{\pi_{0}} - 1\right) e^{- 7 t/(12 \tau)}}",
        ),
        (1 / (1 + (1 / strength0 - 1) * sp.exp(-t)), None),
        (sp.sqrt(5) / 2 - 1, r"\frac{\sqrt{5}}{2} - 1"),
        (sp.exp(-(s + d) / 2), r"e^{- \frac{d}{2} - \frac{s}{2}}"),
        (-s - 1, "- s - 1"),
        (x - y * (c - 1), None),
        (strength0 / (1 + 2 * d * strength0 * t), None),
        (sp.log(s / (d * strength0) - 1) * tau / (2 * s), None),
        (sp.Rational(-3, 7) * s**2 / (c + 1), None),
        (sp.sqrt(c**2 + sp.sqrt(c + 1)) / 4 + sp.cbrt(c), None),
        (sp.exp(2 * t) * s / (1 + d * sp.exp(t)), None),
        ((1 - sp.sqrt(c**2 + 4)) ** 3 / (2 * d), None),
        (sp.exp(-sp.sqrt(c**2 + 4) * t / (3 * tau)), None),
        (sp.exp(-(s - d) * (c + 1) * t / (3 * tau)), None),
        (sp.exp(s ** sp.Rational(-3, 2)) ** x, None),
        (sp.exp((c - s) / tau), r"e^{\left(c - s\right)/\tau}"),
        (sp.exp(-(c + s) / (x + y)), None),
    ],
)
def test_prints_what_it_was_given(expr, latex):
    printed = to_latex(expr)
    if latex is not None and "frac{d}{2}" not in latex:
        assert printed == latex
    parse(printed)
    assert sp.expand(read_latex(printed, expr.free_symbols) - expr) == 0
    assert sp.expand(read_latex(slashed_latex(expr), expr.free_symbols) - expr) == 0


def expressions():
    atoms = st.sampled_from([x, y, s, tau]) | st.integers(-9, 9).map(sp.Integer)
    atoms |= st.builds(sp.Rational, st.integers(-9, 9), st.integers(1, 9))

    def grow(children):
        pairs = st.tuples(children, children)
        return (
            pairs.map(lambda p: p[0] + p[1])
            | pairs.map(lambda p: p[0] * p[1])
            | pairs.map(lambda p: p[0] - p[1])
            | children.map(lambda e: sp.sqrt(e**2 + 1))
            | children.map(lambda e: 1 / (e**2 + 2))
            | children.map(lambda e: e**2)
            | children.map(lambda e: sp.exp(-e))
        )

    return st.recursive(atoms, grow, max_leaves=7)


@given(expressions())
def test_what_is_printed_reads_back(expr):
    """Both styles of any expression mean the expression itself (to 30 digits at a point)."""
    point = {x: sp.Rational(7, 5), y: sp.Rational(-3, 11), s: sp.Rational(2, 3), tau: sp.Integer(2)}
    want = sp.N(expr.subs(point), 30)
    for printed in (to_latex(expr), slashed_latex(expr)):
        parse(printed)
        got = sp.N(read_latex(printed, (x, y, s, tau)).subs(point), 30)
        # 1e-20: ten digits lost to cancellation at most, with seven leaves of small numbers.
        assert abs(got - want) <= sp.Float("1e-20") * (1 + abs(want))
