"""Displays in rows that fit on a line; what is broken keeps every symbol."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.document.rows import aligned_width, display
from symreln.document.tex import check_math
from symreln.document.widths import latex_width

STATEMENTS = (
    r"M \Sigma^{x} = \Sigma^{x} M \iff \Sigma^{yx}(p) = U_p S_p V_p^{\top}, \quad "
    r"\Sigma^{x}(p) = V_p D_p V_p^{\top}, \quad U_p^{\top} U_p = V_p^{\top} V_p = I"
)
SUM = "L &= " + " + ".join(rf"\frac{{a_{{{n}}}}}{{b - c}}" for n in range(30))
PARTS = st.sampled_from(
    [
        *(r"\frac{a}{b}", "x^{2}", r"\left(s - d\right)", "(t + u)", r"\ln(x - 1)"),
        r"\begin{pmatrix} 1 & 2 \\ 3 & - 4 \end{pmatrix}",
    ]
)
SIGNS = st.sampled_from([" + ", " - ", " = ", r", \qquad ", r" \iff "])


def bare(rows):
    """What rows print, without what only places them."""
    text = "".join(rows)
    for mark in ("& ", "&", r"\qquad", r"\quad", "{}", " "):
        text = text.replace(mark, "")
    return text


def test_statements_are_put_below_each_other_aligned_at_their_relations():
    shown = display((STATEMENTS,), 64)
    assert shown.aligned
    assert [row.split(" &")[0] for row in shown.rows] == [r"M \Sigma^{x}", r"U_p^{\top} U_p"]
    assert shown.rows[0].endswith("V_p^{\\top},")


def test_a_sum_is_broken_at_its_signs_behind_its_relation():
    shown = display((SUM,), 64)
    assert shown.aligned
    assert len(shown.rows) > 2
    assert all(row.startswith(r"& \quad {} +") for row in shown.rows[1:])
    assert aligned_width(shown.rows) <= 64


def test_what_fits_and_what_cannot_be_broken_stay_as_they_are():
    assert display(("a &= b",), 64).rows == ("a = b",)
    whole = r"x = \frac{" + "1" * 200 + "}{2}"
    assert display((whole,), 64).rows == (whole,)


def test_a_relation_is_broken_where_aligned_rows_would_be_too_wide():
    left, right = r"\int " + "a b " * 12, r"\frac{" + "c d " * 22 + "}{h}"
    shown = display((f"{left} &= {right}",), 64)
    assert not shown.aligned
    assert shown.rows == (left.strip(), rf"\quad {{}} = {right}")


@given(st.lists(st.tuples(SIGNS, PARTS), min_size=1, max_size=40), st.integers(12, 64))
def test_rows_keep_every_symbol_and_are_mathematics(parts, width):
    line = "y" + "".join(sign + part for sign, part in parts)
    shown = display((line,), width)
    assert bare(shown.rows) == bare([line])
    for row in shown.rows:
        check_math(row, aligned=True)
        assert row.count("&") - 2 * row.count(r"\begin") == int(shown.aligned)
    if width > 40:  # no statement here has a piece that is wider
        assert max(map(latex_width, shown.rows)) <= width


@pytest.mark.parametrize(
    ("latex", "points"),
    [  # as TeX measures them in 11 point Latin Modern
        (r"\Sigma^{yx} = U S V^{\top}, \qquad \Sigma^{x} = V D V^{\top}", 153.0),
        (r"X = \begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix}", 61.0),
        (r"\frac{s/d}{1 + \left(\frac{s}{d \pi_{0}} - 1\right) e^{- 2 s t/\tau}}", 102.0),
        (r"\tau \dot{w}_{2} = w_{1} w_{3} \left(s - d w_{1} w_{2} w_{3}\right)", 131.0),
    ],
)
def test_widths_are_those_of_tex(latex, points):
    assert latex_width(latex) * 6.02 == pytest.approx(points, rel=0.12)
