"""Plain sentences set as a paper would: no ASCII relations, one kind of quotes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symreln as sr
from symreln.document.document_model import Math, contents, flat, walk
from symreln.document.tex import parse
from symreln.document.typeset import typeset
from symreln.document.words import assumption
from symreln.specs.spec import Parameter
from tests.own_specs import own, path

PLAIN = (">=", "<=", "d_eff", "pi_0", "'off", "'a'", "'b'")
GAIN = own(
    [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]],
    [[1, 0, 1, 0], [1, 1, 0, 0]],
    path("a", [1, "g", "1/2", 0]),
    path("b", ["g", "g", "g", "g"]),
    parameters={"g": {"minimum": 0, "maximum": 2, "value": "1/2"}},
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("for g >= 0 and g <= 2, c > 0", ["for ", r"0 \leq g \leq 2", ", ", "c > 0"]),
        ("no root with Delta >= 1/2", ["no root with ", r"\Delta \geq 1/2"]),
        ("g >= 0 and h <= 2", [r"g \geq 0", " and ", r"h \leq 2"]),
        ("of 'd_eff' and d_eff", ["of ", "‘d_eff’", " and ", r"d_{\mathrm{eff}}"]),
        ("sum of s²/(2 d_eff).", ["sum of ", r"s^{2}/(2 d_{\mathrm{eff}})", "."]),
        ("solve from pi_0.", ["solve from ", r"\pi_{0}", "."]),
        ("the dataset's own", ["the dataset's own"]),
        ("index = 0", ["index = 0"]),
        ("equal s, d and r", ["equal ", "s", ", ", "d", " and ", "r"]),
        ("'s' (mode 2 of ‘d’)", ["‘s’", " (mode 2 of ", "‘d’", ")"]),
        ("within 90 s, x-s", ["within 90 s, x-s"]),
        ("At C = 3 and Delta = 1/2.", ["At ", "C = 3", " and ", r"\Delta = 1/2", "."]),
        ("C = 0.5", ["C = 0.5"]),
        ("kappa of pathway 'kappa'", [r"\kappa", " of pathway ", "‘kappa’"]),
        ("", []),
    ],
)
def test_sentences(text, parts):
    found = typeset(text)
    assert [part.latex if isinstance(part, Math) else part for part in found] == parts
    mathematics = [part for part in found if isinstance(part, Math)]
    marks = ("\\", ">", " = 3")
    formulas = [p for p in parts if p in ("s", "d", "r") or any(mark in p for mark in marks)]
    assert [part.latex for part in mathematics] == formulas


@given(st.text(alphabet="ab'_<>=0 1/gd_eff²s(ΣSigma^x)\\", max_size=40))
def test_any_text_keeps_its_words_and_gives_mathematics_that_can_be_set(text):
    for part in typeset(text):
        if isinstance(part, Math):
            parse(part.latex)
        else:
            assert part.strip("‘’") in text


@pytest.mark.parametrize(
    ("options", "latex"),
    [
        ({}, "real"),
        ({"positive": True}, "g > 0"),
        ({"nonnegative": True}, r"g \geq 0"),
        ({"minimum": Fraction(0), "maximum": Fraction(2)}, r"0 \leq g \leq 2"),
        ({"positive": True, "maximum": Fraction(1, 2)}, r"0 < g \leq 1/2"),
        ({"maximum": Fraction(-1)}, r"g \leq -1"),
        ({"positive": True, "minimum": Fraction(-3)}, "g > 0"),
        ({"positive": True, "minimum": Fraction(3)}, r"g \geq 3"),
    ],
)
def test_assumptions_are_ranges(options, latex):
    found = assumption(Parameter(name="g", **options))
    assert (found.latex if isinstance(found, Math) else found) == latex


@pytest.mark.parametrize("spec", ["xor", GAIN], ids=["xor", "gain"])
def test_no_word_of_a_document_is_plain_ascii_mathematics(spec):
    """Text outside formulas and code has no relation, no underscore and no straight quotes."""
    for block, _ in walk(sr.derive(sr.load(spec)).to_document().blocks):
        for content in contents(block):
            for part in flat(content):
                words = part if isinstance(part, str) else ""
                assert not any(mark in words for mark in PLAIN), words
