import re

import pytest
import typst

from symreln.document.escape import code_points, text_in_math
from symreln.document.tex import COMMANDS, check_math
from symreln.errors import NotSupportedError
from symreln.report.typst_math import string, to_typst
from tests.report.corpus import HOSTILE
from tests.report.sample import BLOCKS, SOLUTION
from tests.report.test_mathml import ARGUMENTS

# Typst refuses a character that its fonts lack only where it writes for archives.
ARCHIVED = (
    "#set document(date: datetime(year: 2000, month: 1, day: 1))\n"
    '#set text(font: "New Computer Modern")\n'
    '#show math.equation: set text(font: "New Computer Modern Math")\n'
)


THIN = 11 / 6  # points


def drawn(source):
    """Compile Typst's source; every character has to be one of its fonts'."""
    options = {"ignore_system_fonts": True, "pdf_standards": "a-2u"}
    _, warnings = typst.compile_with_warnings((ARCHIVED + source).encode(), **options)
    assert warnings == []


def sizes(*formulas):
    """Return the width and height in points that Typst gives LaTeX formulas."""
    lines = [f"#context [#metadata(measure($ {to_typst(each)} $))<size>]" for each in formulas]
    found = typst.query(("\n".join(lines)).encode(), "<size>", field="value")
    points = [float(value) for value in re.findall(r'"([0-9.]+)pt"', found)]
    return list(zip(points[::2], points[1::2], strict=True))


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("ab", "a b"),
        ("12.5x", "12.5 x"),
        (r"10\,000", "10 thin 000"),
        ("s/d", r"s\/d"),
        ("f(x)", r"f\(x\)"),
        ("a = -b", r"a\=−b"),
        ("a, b; c: d", r"a\,b\;c\:d"),
        ("a <= b != c -> d ...", r"a\<\=b\!\=c−\>d\.\.\."),
        (r"\pi_0 \, \epsilon", "π_(0)thin ϵ"),
        (r"x_{1}^{2}", "x_(1)^(2)"),
        (r"x^2_1", "x_(1)^(2)"),
        (r"x'", "x^(′)"),
        (r"x'^{2}", "x^(′2)"),
        (r"{}_{1}F_{2}", "#box()_(1)F_(2)"),
        (r"10{,}000", r'10#[]class("normal",\,)000'),
        (r"\frac{a}{b, c}", r"frac(a,b\,c)"),
        (r"\tfrac{1}{2}", "inline(frac(1,2))"),
        (r"\sqrt[3]{5}", "root(3,5)"),
        (r"\left( x \right]", r"lr(\(x\])"),
        (r"\left. x \right|_{0}", r"lr(#box()x\|)_(0)"),
        (r"\Bigl\| y \Bigr\|^2", 'class("opening",lr(size:#1.8em,‖))y#[]class("closing",lr('),
        (r"\mathrm{eff}", 'upright("eff")'),
        (r"\ln x", 'op("ln")x'),
        (r"\sum\limits_{i} x", "limits(∑)_(i)x"),
        (r"\max_t", 'op("max",limits:#true)_(t)'),
        (r"\text{off\_1 \textbackslash{}}", '"off_1\N{NO-BREAK SPACE}\\\\"'),
        (r"a \mid b", 'a#[]class("relation",∣)b'),
        (r"a &= b", r"a&\=b"),
        (r"{\displaystyle a} b", 'class("normal",display(a))b'),
        (
            r"\begin{pmatrix} 1 & a, b \\ {-1} & 0 \end{pmatrix}",
            r'mat(delim:#"(",1,a\,b;class("normal",−1),0)',
        ),
    ],
)
def test_constructs(latex, expected):
    check_math(latex, aligned=True)
    assert to_typst(latex).startswith(expected)


def formula(command):
    before = r"\sum" if command == r"\limits" else ""
    latex = before + command + ARGUMENTS.get(command[1:], "{x}")
    check_math(latex)
    return latex


COMMANDS_ALONE = sorted(COMMANDS - {r"\begin", r"\end", r"\right"})


@pytest.mark.parametrize("command", COMMANDS_ALONE)
def test_every_command_we_write_is_known(command):
    source = to_typst(formula(command))
    without = re.sub(r"\\[^A-Za-z]", "", source)
    assert "\\" not in without


def test_every_command_we_write_is_drawn():
    environments = ("pmatrix", "smallmatrix", "aligned")
    more = [rf"\begin{{{name}}} a & b \\ c & d \end{{{name}}}" for name in environments]
    more += [SOLUTION, BLOCKS, r"\, \: \; \! \{ \} \| \_ \% \& \# \$ \ x", '()[]|.,;:!?/*+-=<>"@`']
    drawn("\n".join(f"$ {to_typst(each)} $" for each in [*map(formula, COMMANDS_ALONE), *more]))


def test_a_command_that_is_not_known_is_named():
    with pytest.raises(NotSupportedError, match=r"\\includegraphics"):
        to_typst(r"a + \includegraphics")


def test_brackets_grow_where_they_are_told_to():
    fraction, plain, grown, big = sizes(
        r"\frac{a}{b}", r"(\frac{a}{b})", r"\left(\frac{a}{b}\right)", r"\Bigl( x"
    )
    assert plain[1] == fraction[1] < grown[1]
    assert big[1] > sizes("( x")[0][1]


def test_words_and_bars_have_no_space_around_them():
    apart, words, bars = sizes("xy", r"x\text{m}y", "|x|")
    (letter,), (bar,) = sizes(r"\text{m}"), sizes("|")
    assert words[0] == pytest.approx(apart[0] + letter[0], abs=0.01)
    assert bars[0] == pytest.approx(2 * bar[0] + sizes("x")[0][0], abs=0.01)
    function, fenced = sizes(r"x\ln", r"x\left|y\right|")
    assert function[0] == pytest.approx(sizes("x")[0][0] + sizes(r"\ln")[0][0] + THIN, abs=0.01)
    assert fenced[0] == pytest.approx(apart[0] + 2 * bar[0], abs=0.01)


def test_a_line_that_begins_with_a_sign_has_it_as_an_operation():
    joined, alone = sizes(r"{} - c", "- c")
    assert joined[0] > alone[0] + 4


def test_fractions_in_a_matrix_do_not_touch():
    one, two = sizes(
        r"\begin{matrix} \frac{1}{2} \end{matrix}",
        r"\begin{matrix} \frac{1}{2} \\ \frac{1}{2} \end{matrix}",
    )
    assert two[1] > 2 * one[1]


def test_any_words_are_drawn():
    drawn("\n".join(f"$x_({to_typst(text_in_math(text))})$" for text in HOSTILE))


def test_every_character_that_print_has_is_in_the_fonts():
    known = [c for c in map(chr, range(0x20, 0x3000)) if not code_points(c).startswith("[U+")]
    assert len(known) > 500
    drawn(f"#{string(''.join(known))}")
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        drawn('#"中"')
