import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreln.document.escape import text_in_math
from symreln.document.tex import check_math, rows_and_cells, tokens
from symreln.document.widths import latex_width
from symreln.errors import InputError
from tests.report.corpus import HOSTILE


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{s/d}{1 + \left(\frac{s}{d} - 1\right) e^{-2 s t}}",
        r"\begin{pmatrix} 1 & x > 0 \\ 0 & \text{otherwise} \end{pmatrix}",
        r"\max_{p} \operatorname{tr} A^{\top}",
        r"\sqrt[3]{5} \, x_{1}^{2} \; a' \{1, 2\}",
        "",
    ],
)
def test_accepts_our_mathematics(latex):
    check_math(latex)


@pytest.mark.parametrize(
    ("latex", "found"),
    [
        (r"\input{/etc/passwd}", r"\input"),
        (r"\def\x{1}", r"\def"),
        (r"x\write18{id}", r"\write"),
        (r"\href{https://x}{y}", r"\href"),
        (r"\frac{a}{b", "never closed"),
        (r"a}", "closes nothing"),
        (r"\left(x", "never closed"),
        (r"\begin{pmatrix}1\end{aligned}", "closes nothing"),
        (r"\begin{document}x\end{document}", "'document'"),
        (r"\begin{array}{p{3cm}}1\end{array}", "'array'"),
        (r"a & b", "'&'"),
        (r"a \\ b", r"'\\\\'"),
        ("x % y", "'%'"),
        ("$x$", "'$'"),
        ("a~b", "'~'"),
        ("Δ", "'Δ'"),
        (r"\frac12", "without braces"),
        (r"x^{2}^{3}", "TeX would refuse"),
        (r"x_{1}^{2}_{3}", "TeX would refuse"),
        (r"x^", "TeX would refuse"),
        (r"\text{a_b}", "escape it"),
        (r"\text{\input{x}}", "escape it"),
        (r"\mathrm{a\_b}", "escape it"),
        ("\\", "the command"),
        (r"\text", "without its braces"),
    ],
)
def test_refuses_with_what_was_found(latex, found):
    with pytest.raises(InputError) as caught:
        check_math(latex)
    assert found in str(caught.value)


def test_alignment_only_where_allowed():
    check_math("a &= b", aligned=True)
    with pytest.raises(InputError):
        check_math(r"a &= b \\ c", aligned=True)


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_any_words_are_mathematics_once_escaped(text):
    check_math("x_{" + text_in_math(text) + "}")


def test_rows_and_cells_leave_inner_environments_whole():
    inner = r"\begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix}"
    assert rows_and_cells(tokens(rf"a & {inner} \\ \text{{\&}} & {{b & c}} \\")) == [
        ["a", inner],
        [r"\text{\&}", "{b & c}"],
    ]


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (r"\frac{abcdef}{b}", "abcdefb"),
        ("x^{abc}", "xabc"),
        (r"\alpha\beta", "abc"),
        (r"\begin{pmatrix} a & b \end{pmatrix}", r"\begin{pmatrix} a & b & c \end{pmatrix}"),
        (r"\text{ab}", r"\text{abc}"),
        ("a b", "a + b"),
    ],
)
def test_widths_compare_as_printed(narrow, wide):
    assert 0 < latex_width(narrow) < latex_width(wide)
