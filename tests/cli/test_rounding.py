"""Numbers in print stay on their side of a bound, and bounds to stay below are not rounded up."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from symreln.base.rounding import percent, rounded, rounded_down

POSITIVE = st.floats(min_value=1e-12, max_value=1e12)


@given(value=POSITIVE, digits=st.integers(1, 6))
def test_a_number_rounded_down_is_the_largest_of_its_digits_below(value, digits):
    found = float(rounded_down(value, digits))
    assert found <= value
    assert value - found < 10 * value / 10**digits
    assert float(rounded_down(found, digits)) == found


@given(bound=POSITIVE, share=st.floats(min_value=-1e-3, max_value=1e-3))
def test_a_number_beside_a_bound_keeps_its_side(bound, share):
    value = bound * (1 + share)
    assume(value != bound)
    found = float(rounded(value, 3, beside=bound))
    assert (found > bound) == (value > bound)
    assert (found < bound) == (value < bound)


def test_two_digits_are_kept_where_they_are_enough():
    assert rounded(0.0286, 2, beside=0.05) == "0.029"
    assert rounded(2.0004, 3) == "2"
    assert rounded(2.0004, 3, beside=2) == "2.0004"
    assert rounded(2.0, 3, beside=2) == "2"


def test_shares_that_were_rounded_have_two_digits_and_exact_ones_no_zeros():
    assert [percent(share) for share in (0.0020004, 0.0023, 0.050003, 0.70001)] == [
        "0.20 %",
        "0.23 %",
        "5.0 %",
        "70.0 %",
    ]
    assert [percent(share) for share in (0.05, 0.1, 0.002, 0.0, 1.0)] == [
        "5 %",
        "10 %",
        "0.2 %",
        "0 %",
        "100 %",
    ]
    assert percent(0.0500001, 0.05) == "5.00001 %"
