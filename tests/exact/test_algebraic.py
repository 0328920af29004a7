"""Algebraic numbers: shortest honest text, certified decimals, exact comparison."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import mpmath
import pytest
import sympy as sp
from flint import arb

from symreln.errors import InputError
from symreln.exact import enclosure
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar, univariate_text

C = Scalar.symbol("c", ("c",))
POSITIVE = {"c": sp.Symbol("c", positive=True)}
REAL = {"c": sp.Symbol("c", real=True)}


def root(value: Scalar | Fraction | int) -> AlgebraicNumber:
    scalar = value if isinstance(value, Scalar) else Scalar.of(value)
    return AlgebraicNumber.rational(scalar, is_sqrt=True)


def number(
    minpoly: list, coefficients: list, index: int, *, is_sqrt: bool = False, names: tuple = ()
) -> AlgebraicNumber:
    return AlgebraicNumber(
        minpoly=tuple(Scalar.of(v, names) for v in minpoly),
        coefficients=tuple(Scalar.of(v, names) for v in coefficients),
        root=index,
        is_sqrt=is_sqrt,
    )


# -- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "symbols", "text"),
    [
        (Fraction(5, 4), {}, "sqrt(5)/2"),
        (Fraction(3, 8), {}, "sqrt(6)/4"),
        (Fraction(9, 4), {}, "3/2"),
        (Fraction(0), {}, "0"),
        (Fraction(1, 3), {}, "sqrt(3)/3"),
        (C * C * Fraction(3, 8), POSITIVE, "sqrt(6)*c/4"),
        ((C + 1) ** 2, POSITIVE, "c + 1"),
        ((C - 1) ** 2, POSITIVE, "Abs(c - 1)"),
        ((C - 1) ** 2 * (C + 2) / 5, POSITIVE, "sqrt(5*c + 10)*Abs(c - 1)/5"),
        ((C * C + 1) / (C * C), POSITIVE, "sqrt(c**2 + 1)/c"),
        (C / (C + 1), POSITIVE, "sqrt(c**2 + c)/(c + 1)"),
        # Bars stay where the sign is open, and go where a factor has no real root.
        (C * C, REAL, "Abs(c)"),
        ((C - 1) ** 2, REAL, "Abs(c - 1)"),
        ((C * C + 1) ** 2, REAL, "c**2 + 1"),
        (1 / (C * C), REAL, "1/Abs(c)"),
        ((C * C - C + 1) ** 2, REAL, "c**2 - c + 1"),
        ((2 * C * C - 2 * C + 1) ** 2 / C**2, REAL, "(2*c**2 - 2*c + 1)/Abs(c)"),
        ((C**4 + C + 1) ** 2 * 2, REAL, "sqrt(2)*(c**4 + c + 1)"),
        ((C * C - 2) ** 2, REAL, "Abs(c**2 - 2)"),
        ((C * C + 3 * C + 2) ** 2, REAL, "Abs((c + 1)*(c + 2))"),
    ],
)
def test_square_roots_of_rational_functions(value: Scalar | Fraction, symbols, text: str) -> None:
    shown = str(root(value).to_sympy(symbols))
    assert shown.replace("Abs(c + 1)*Abs(c + 2)", "Abs((c + 1)*(c + 2))") == text


@pytest.mark.parametrize(
    ("minpoly", "coefficients", "text"),
    [
        ([1, -3, 1], [0, 1], "1/2 + sqrt(5)/2"),  # √((3 + √5)/2) is the golden ratio
        ([1, -6, 1], [0, 1], "1 + sqrt(2)"),
        ([3, -7, 2], [0, 1], "sqrt(3)"),  # a reducible f must not break it
        ([-8, 0, 1], [4, 1], "sqrt(2*sqrt(2) + 4)"),
        ([-5, 0, 1], [Fraction(5, 2), Fraction(1, 2)], "sqrt(2*sqrt(5) + 10)/2"),
    ],
)
def test_nested_roots_are_denested_where_that_is_exact(
    minpoly: list, coefficients: list, text: str
) -> None:
    assert str(number(minpoly, coefficients, 1, is_sqrt=True).to_sympy()) == text


@pytest.mark.parametrize("scale", [1, 9, Fraction(4, 5)])
def test_roots_that_sympy_1_14_cannot_build(scale: Fraction) -> None:
    """Products of neighbouring numbers with large factors, and expressions made of their roots."""
    number = 25000000000000000000000006000000000000000000000001  # 5e24 ∓ …, the first composite
    value = Scalar.of(Fraction(number) * scale)
    root = AlgebraicNumber.rational(value, is_sqrt=True).to_sympy()
    assert root**2 == sp.Rational(number) * sp.Rational(scale)
    assert sp.sympify(str(root)) == root
    assert (2 * root / 3) ** 2 == sp.Rational(4, 9) * root**2
    assert abs(float(root) - (number * float(scale)) ** 0.5) < 1e-14 * float(root)


def test_denesting_with_a_parameter() -> None:
    minpoly = [C**4, -(1 + 2 * C * C), 1]
    numbers = [number(minpoly, [0, 1], i, is_sqrt=True, names=("c",)) for i in (0, 1)]
    assert [str(n.to_sympy(REAL)) for n in numbers] == [
        "sqrt(4*c**2 + 1)/2 - 1/2",
        "sqrt(4*c**2 + 1)/2 + 1/2",
    ]


def test_radicals_equal_the_certified_number() -> None:
    """Every expression of degree <= 2, nested or not, against the ball, at 40 digits."""
    random = Random(5)
    checked = 0
    for _ in range(120):
        f1, f2 = random.randint(-9, 9), random.randint(1, 4)
        f0 = random.randint(-9, 9)
        discriminant = f1 * f1 - 4 * f0 * f2
        if discriminant <= 0 or sp.sqrt(discriminant).is_Integer:
            continue  # complex, or reducible
        g = [Fraction(random.randint(-9, 9), random.randint(1, 6)) for _ in range(2)]
        for index in (0, 1):
            plain = number([f0, f1, f2], g, index)
            candidates = [plain]
            if plain.sign() >= 0:
                candidates.append(number([f0, f1, f2], g, index, is_sqrt=True))
            for candidate in candidates:
                checked += 1
                value = sp.N(candidate.to_sympy(), 45)
                with enclosure.precision(200):
                    gap = abs(arb(str(value)) - candidate.enclose(digits=45))
                    assert gap.abs_upper() < arb(10) ** -40, candidate
    assert checked > 150


def test_parametric_radicals_equal_the_certified_number() -> None:
    random = Random(8)
    for _ in range(20):
        a, b, d = (
            C * random.randint(-2, 2) + random.randint(-3, 3),
            C * random.randint(-2, 2) + random.randint(1, 3),
            C * C * random.randint(0, 2) + random.randint(1, 3),
        )
        # M = AᵀA for A = [[a, b], [0, d]]: eigenvalues are not negative.
        minpoly = [a * a * d * d, -(a * a + b * b + d * d), 1]
        for index in (0, 1):
            candidate = number(minpoly, [0, 1], index, is_sqrt=True, names=("c",))
            for symbols in (POSITIVE, REAL):
                expr = candidate.to_sympy(symbols)
                for value in (Fraction(1, 3), Fraction(5, 2)):
                    exact = sp.Rational(value.numerator, value.denominator)
                    ours = complex(expr.subs(symbols["c"], exact).evalf(30))
                    # 1e-9: the root of a cancelled radicand of size 1e-18 at sp's 30 digits.
                    assert abs(ours - candidate.to_float({"c": value})) < 1e-9, (expr, value)


# -- degree > 2 -----------------------------------------------------------------------------------


def test_a_number_of_higher_degree_is_named_and_defined() -> None:
    """2cos(2π k/7) + 2 are the roots of x³ - 5x² + 6x - 1."""
    theta = [number([-1, 6, -5, 1], [0, 1, 0], i) for i in range(3)]
    shown = theta[2].to_json()
    assert shown["expr"] == "CRootOf(x**3 - 5*x**2 + 6*x - 1, 2)"
    assert shown["minpoly"] == "x**3 - 5*x**2 + 6*x - 1"
    x = sp.Symbol("x")
    for index, candidate in enumerate(theta):
        assert not candidate.is_radical
        assert candidate.to_sympy(name="lambda_7") == sp.Symbol("lambda_7", real=True)
        reference = sp.CRootOf(x**3 - 5 * x**2 + 6 * x - 1, index)
        assert abs(float(candidate) - float(reference)) < 1e-15
    # Its square root: the polynomial of s itself, of degree 3 because 4cos² is a square here.
    s = number([-1, 6, -5, 1], [0, 1, 0], 2, is_sqrt=True)
    assert s.degree == 3
    assert float(s) == pytest.approx(2 * float(mpmath.cos(mpmath.pi / 7)), rel=1e-15)


def test_the_defining_polynomial_vanishes_and_its_index_is_right() -> None:
    random = Random(3)
    x = sp.Symbol("x")
    for _ in range(12):
        a = sp.Matrix(3, 3, lambda *_: random.randint(-2, 2))
        poly = (a.T * a).charpoly(x)
        if not poly.is_irreducible:
            continue
        minpoly = [Fraction(int(v)) for v in reversed(poly.all_coeffs())]
        for index in range(3):
            for g in ([0, 1, 0], [1, 2, 3], [Fraction(1, 2), 0, 1]):
                for is_sqrt in (False, True):
                    candidate = number(minpoly, g, index, is_sqrt=is_sqrt)
                    own = candidate.defining_polynomial
                    text = sp.Add(*(v.to_sympy() * x**i for i, v in enumerate(own)))
                    assert sp.Poly(text, x).is_irreducible
                    reference = sp.CRootOf(text, candidate.defining_root())
                    assert abs(float(candidate) - float(reference)) < 1e-12 * (1 + float(candidate))


# -- certified numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [5, 21, 50])
def test_decimals_lie_within_their_radius(digits: int) -> None:
    random = Random(digits)
    for _ in range(60):
        value = Fraction(random.randint(1, 10**6), random.randint(1, 10**6))
        candidate = root(value)
        decimal, radius = candidate.decimal(digits=digits)
        low, high = Fraction(decimal) - Fraction(radius), Fraction(decimal) + Fraction(radius)
        assert low * low <= value <= high * high
        assert Fraction(radius) <= Fraction(decimal) / 10 ** (digits - 2)


def test_a_radius_is_rounded_up_to_a_power_of_ten() -> None:
    # 1.5 ± 2^-10 at one digit: 2 is off by 0.5, so the radius has to reach 0.501.
    with enclosure.precision(64):
        assert enclosure.decimal_of(arb("1.5", 2.0**-10), 1) == ("2", "1e0")
        assert enclosure.decimal_of(arb(2), 5) == ("2", "0")
    assert [enclosure._radius(value, -3) for value in (99, 100, 101)] == ["1e-1", "1e-1", "1e0"]


def test_a_decimal_that_ends_is_exact() -> None:
    assert AlgebraicNumber.rational(Scalar.of(Fraction(1, 8))).decimal() == ("0.125", "0")
    assert AlgebraicNumber.rational(Scalar.of(-12)).decimal() == ("-12", "0")


def test_to_json_at_parameter_values() -> None:
    value = root(C * C * Fraction(3, 8))
    assert value.to_json({"c": Fraction(2)}, POSITIVE, digits=10) == {
        "expr": "sqrt(6)*c/4",
        "decimal": "1.224744871",
        "radius": "1e-9",
    }
    assert value.to_json({}, POSITIVE) == {"expr": "sqrt(6)*c/4"}


# -- exact comparison -----------------------------------------------------------------------------


def test_equality_is_exact() -> None:
    assert root(2) == number([-8, 0, 1], [0, Fraction(1, 2)], 1)  # √8/2
    assert root(2) != number([-8, 0, 1], [0, Fraction(1, 2)], 0)
    near = Fraction(3) + Fraction(1, 10**40)
    assert root(3) != root(near)
    assert number([1, -3, 1], [0, 1], 1, is_sqrt=True) == number([-1, -1, 1], [0, 1], 1)
    assert hash(root(2)) == hash(number([-8, 0, 1], [0, Fraction(1, 2)], 1))
    assert root(C * C) == AlgebraicNumber.rational(C)  # near the reference point, where c > 0


def test_signs_are_exact() -> None:
    # √2 - 1.41421356237309504880168872420969807857 is about 2e-39.
    tight = Fraction(141421356237309504880168872420969807857, 10**38)
    assert number([-2, 0, 1], [-tight, 1], 1).sign() == -1
    assert number([-2, 0, 1], [-tight + Fraction(1, 10**38), 1], 1).sign() == 1
    assert number([-2, 0, 1], [0, 0], 1).sign() == 0
    assert number([-C, 0, 1], [-1, 1], 1, names=("c",)).sign({"c": Fraction(1)}) == 0
    assert number([-C, 0, 1], [-1, 1], 1, names=("c",)).sign({"c": Fraction(2)}) == 1


# -- one text for one number ----------------------------------------------------------------------


def test_a_number_of_degree_2_found_in_a_larger_field_is_written_in_radicals() -> None:
    """theta = √2 + √3 is a root of x⁴ - 10x² + 1, and (theta³ - 9 theta)/2 = √2."""
    minpoly = [1, 0, -10, 0, 1]
    half = Fraction(1, 2)
    found = [number(minpoly, [0, -9 * half, 0, half], index) for index in range(4)]
    assert sorted(str(n.to_sympy()) for n in found) == [
        "-sqrt(2)",
        "-sqrt(2)",
        "sqrt(2)",
        "sqrt(2)",
    ]
    for n in found:
        assert n.is_radical
        assert float(n.to_sympy()) == pytest.approx(float(n), rel=1e-15)
        assert "minpoly" not in n.to_json()
    nested = number(minpoly, [5, -9 * half, 0, half], 3, is_sqrt=True)
    assert str(nested.to_sympy()) == "sqrt(sqrt(2) + 5)"
    golden = number([1, 0, -3, 0, 1], [0, 0, 1, 0], 3, is_sqrt=True)  # theta = φ, theta² = φ + 1
    assert str(golden.to_sympy()) == "1/2 + sqrt(5)/2"
    assert not number(minpoly, [0, 1, 0, 0], 3).is_radical


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ([0], "0"),
        ([-1, 0, 1], "x**2 - 1"),
        ([-C, 1], "x - c"),
        ([C * C - 1, -3 * C, 0, 1 - C], "-(c - 1)*x**3 - 3*c*x + c**2 - 1"),
        ([-(C * C) - 1, C + 2, 27], "27*x**2 + (c + 2)*x - c**2 - 1"),
    ],
)
def test_polynomials_have_no_needless_brackets(coefficients: list, text: str) -> None:
    shown = univariate_text([Scalar.of(v, ("c",)).numerator for v in coefficients])
    assert shown == text
    table = {"c": sp.Symbol("c"), "x": sp.Symbol("x")}
    expected = sum(
        Scalar.of(v, ("c",)).to_sympy() * table["x"] ** i for i, v in enumerate(coefficients)
    )
    assert sp.expand(sp.sympify(shown, table) - expected) == 0


def test_a_constant_needs_no_values_of_its_ring():
    """A long commutator entry of a spec with parameters ended the derivation."""
    value = AlgebraicNumber.rational(Scalar(("a", "g"), 10**400))
    assert value.scientific({}, 3) == "1.00e+400"
    with pytest.raises(InputError, match="needs values for a"):
        AlgebraicNumber.rational(Scalar.symbol("a", ("a", "g"))).scientific({"g": Fraction(1)}, 3)
