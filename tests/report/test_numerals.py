import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.document.numerals import decimal_latex
from symreln.document.tex import parse

SHOWN = re.compile(r"(-?[\d.]+)(?:\((\d)\))?(?: \\times 10\^\{(-?\d+)\})?")


@pytest.mark.parametrize(
    ("decimal", "radius", "latex"),
    [
        ("1.11803398874989484820", "1e-20", "1.1180340(1)"),
        ("1.11803398874989484820", "2e-4", "1.1180(3)"),
        ("0.25", "0", "0.25"),
        ("12", "0", "12"),
        ("0", "0", "0"),
        ("-1.4142135623", "1e-8", "-1.4142136(1)"),
        ("0.0000012345678912", "1e-18", r"1.2345679(1) \times 10^{-6}"),
        ("1e20", "0", r"1 \times 10^{20}"),
        ("123456789.123", "0.5", r"1.2345679(1) \times 10^{8}"),
        ("9.99999999999", "1e-12", "10.0000000(1)"),
        ("0.5", "1e-30", "0.50000000(1)"),
        ("0", "9.000001e-6", r"0(1) \times 10^{-5}"),
        ("5", "1000", r"0(2) \times 10^{3}"),
    ],
)
def test_decimals(decimal, radius, latex):
    assert decimal_latex(decimal, radius) == latex


@given(
    st.decimals(-(10**12), 10**12, allow_nan=False, places=9),
    st.decimals(0, 10, allow_nan=False, places=12),
    st.integers(1, 12),
)
def test_value_lies_within_what_is_printed(middle, radius, digits):
    """Every value of the enclosure is within the printed error of the printed digits."""
    latex = decimal_latex(str(middle), str(radius), digits)
    parse(latex)
    figures, doubt, power = SHOWN.fullmatch(latex).groups()
    scale = Fraction(10) ** int(power or 0)
    places = len(figures.partition(".")[2])
    error = int(doubt or 0) * Fraction(10) ** -places * scale
    distance = abs(Fraction(str(middle)) - Fraction(figures) * scale) + Fraction(str(radius))
    assert distance <= error
