"""The style of LaTeX: numbers, labels, and what is refused."""

import re

import pytest

from symreln.document.document_model import Document, Math, Reference, Section, equation, prose
from symreln.errors import InputError
from symreln.report import latex
from symreln.report.latex_style import Style


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
    style = Style.of(["prefix=x:", "level=2", "numbering=S"])
    text = latex.fragment(source(), style)
    assert r"\subsection{One}\label{x:sec:one}" in text
    assert r"By \eqref{x:eq:flow} in Section~\ref{x:sec:one}$\pi_0$" in text
    assert "\\begin{equation*}\\tag{S1}\\label{x:eq:flow}\n\\pi = s\n" in text
    assert "\\begin{equation*}\n\\tau = 1\n" in text
    assert not re.search(r"documentclass|usepackage|maketitle|begin\{document", text)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["pi"], "no '='"),
        (["level=4"], "level: found 0|level: found 4"),
        (["prefix=a b"], "prefix"),
        (["prefix=}\\input{x}"], "prefix"),
        (["figures=$x"], "figures"),
        (["numbering=none"], "numbering"),
        (["prefx=x"], 'settings: found .prefx.. Did you mean "prefix"'),
    ],
)
def test_what_is_no_setting_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        Style.of(settings)
