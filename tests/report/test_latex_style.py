"""The style of LaTeX: letters that are chosen, numbers, labels, and what is refused."""

import re

import pytest

from symreln.document.model import Document, Math, Reference, Section, equation, prose
from symreln.document.tex import tokens
from symreln.errors import InputError
from symreln.report import latex
from symreln.report.latex_style import Style, renamed


@pytest.mark.parametrize(
    ("math", "symbols", "shown"),
    [
        (r"\tau \dot{\pi} = 2\pi (s - d\pi)", {r"\pi": "a"}, r"\tau \dot{a} = 2a (s - da)"),
        (r"\frac{1}{2{\pi}} \pi + {\pi}", {r"\pi": "a"}, r"\frac{1}{2{\pi}} a + {\pi}"),
        (r"\frac{d}{dt} \frac{d}{2} x\, dx", {"d": "g"}, r"\frac{d}{dt} \frac{g}{2} x\, dx"),
        (r"\Sigma^{yx} y x", {"x": "z"}, r"\Sigma^{yx} y z"),
        (r"\text{s of} s \mathrm{const}", {"s": r"\sigma"}, r"\text{s of} \sigma \mathrm{const}"),
        (r"st", {"s": r"\sigma"}, r"\sigma t"),
        (r"s d", {"s": "d", "d": "s"}, "d s"),
    ],
)  # fmt: skip
def test_a_letter_is_replaced_where_it_stands_for_a_quantity(math, symbols, shown):
    assert "".join(renamed(tokens(math), symbols)) == shown


def source():
    blocks = (
        Section(title="One", label="sec:one", blocks=(
            prose("By ", Reference("eq:flow"), " in ", Reference("sec:one"), Math(r"\pi_0")),
            equation(r"\pi = s", label="eq:flow"),
            equation(r"\tau = 1"),
        )),
    )  # fmt: skip
    return Document(title="t", blocks=blocks)


def test_a_fragment_has_the_labels_levels_and_numbers_of_its_paper():
    style = Style.of(["prefix=x:", "level=2", "numbering=S", "pi=a"])
    text = latex.fragment(source(), style)
    assert r"\subsection{One}\label{x:sec:one}" in text
    assert r"By \eqref{x:eq:flow} in Section~\ref{x:sec:one}$a_0$" in text
    assert "\\begin{equation*}\\tag{S1}\\label{x:eq:flow}\na = s\n" in text
    assert "\\begin{equation*}\n\\tau = 1\n" in text
    assert not re.search(r"documentclass|usepackage|maketitle|begin\{document", text)


def test_every_equation_can_have_a_number():
    text = latex.fragment(source(), Style(numbering="all"))
    assert (text.count(r"\begin{equation}"), text.count("equation*")) == (2, 0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["pi"], "no '='"),
        (["level=4"], "level: found 0|level: found 4"),
        (["prefix=a b"], "prefix"),
        (["prefix=}\\input{x}"], "prefix"),
        (["figures=$x"], "figures"),
        (["numbering=none"], "numbering"),
        (["e=x"], "setting"),
        (["pi=\\input{x}"], "notation pi"),
        (["pi=ab"], "notation pi"),
        (["pi=\\mathcal{\\input}"], "notation pi"),
    ],
)
def test_what_is_no_setting_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        Style.of(settings)


@pytest.mark.parametrize("wrong", [{"pi": "s"}, {"q": "x"}, {"pi": "x", "s": "x"}])
def test_no_letter_stands_for_two_things(wrong):
    with pytest.raises(InputError, match="notation"):
        latex.fragment(source(), Style(notation=wrong))
    assert r"s = \pi" in latex.fragment(source(), Style(notation={"pi": "s", "s": "pi"}))
