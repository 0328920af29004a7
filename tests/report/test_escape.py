import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.document.escape import clean, escape_html, escape_latex
from tests.report.corpus import HOSTILE


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("50% & #1 $x$ a_b", r"50\% \& \#1 \$x\$ a\_b"),
        ("^~", r"\textasciicircum{}\textasciitilde{}"),
        ("---", "-{}-{}-"),
        ("<<x>>", "<{}<x>{}>"),
        ("Δ − ö", r"\ensuremath{\Delta} \ensuremath{-} ö"),
        ("ő ẍ", r"ő " + r"\"{x}"),
        ("中", r"\texttt{[U+4E2D]}\allowbreak{}"),
        ("σ²", r"\ensuremath{\sigma}\ensuremath{^{2}}"),
    ],
)
def test_latex_of_text(text, latex):
    assert escape_latex(text) == latex


@settings(max_examples=40)
@given(st.text() | st.sampled_from(HOSTILE))
def test_latex_has_no_live_special(text):
    """Without our own commands and their braces, no character with a meaning to TeX is left."""
    escaped = escape_latex(text)
    bare = re.sub(r"\\texttt\{\[U\+[0-9A-F]+\]\}\\allowbreak\{\}", "", escaped)
    bare = re.sub(r"\\ensuremath\{(?:[^{}]|\{[^{}]*\})*\}", "", bare)
    bare = re.sub(r"\\[A-Za-z]+\{\}|\\[`'^~=.\"ruHvdckb]\{[A-Za-z]\}|\{\}", "", bare)
    bare = re.sub(r"\\[{}$&#%_,-]", "", bare).replace("~", "")
    assert not set(bare) & set("\\{}$&#%_^\n\r\x00")


@given(st.text())
def test_clean_refuses_what_misleads(text):
    cleaned = clean(text)
    kept = {"\u00ad", "\u200c", "\u200d"}
    bad = {"Cc", "Cf", "Cs", "Co", "Cn"}
    assert not any(unicodedata.category(c) in bad and c not in kept for c in cleaned)
    cleaned.encode()


@settings(max_examples=40)
@given(st.text() | st.sampled_from(HOSTILE))
def test_html_has_no_markup(text):
    escaped = escape_html(text)
    assert not set(escaped) & set("<>\"'")
    assert not re.search(r"&(?!(?:amp|lt|gt|quot|#x27);)", escaped)
