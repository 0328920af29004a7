"""Our mathematics read into a tree, and what MathML, Typst and rows of a display make of it."""

import re
from xml.etree import ElementTree

import pytest
import typst

from symreln.document.document_model import equation, prose
from symreln.document.equation_rows import display
from symreln.document.escape import code_points, text_in_math
from symreln.document.letter_widths import aligned_width, latex_width
from symreln.document.tex import ARITY, FUNCTIONS, SPACES, SYMBOLS, parse
from symreln.errors import InputError
from symreln.report import typst as pdf
from symreln.report.mathml import to_mathml
from tests.report.corpus import HOSTILE
from tests.report.sample import BLOCKS, SOLUTION, body

#: A formula for every command.
EVERY = [
    *(name for name in (*SYMBOLS, *SPACES) if name.startswith("\\")),
    *(rf"\{name} x" for name in FUNCTIONS),
    *(name + "{a}" * count for name, count in ARITY.items() if name[5:] not in ("bb", "cal")),
    *(
        r"\mathbb{R}",
        r"\mathcal{L}",
        r"\text{ab}",
        r"\mathrm{ab}",
        r"\operatorname{ab} x",
        r"\sqrt[3]{5}",
    ),
    *(r"\left. x \right|_{0}", r"\bigl\langle x \bigr\rangle", r"{\displaystyle a} b"),
    *(
        rf"\begin{{{name}}} a & b \\ c & d \end{{{name}}}"
        for name in ("pmatrix", "smallmatrix", "aligned")
    ),
    *(SOLUTION, BLOCKS, r"\max_{p} A^{\top} \; a' \{1, 2\}", "", "()[]|.,;:!/*+-=<>"),
]


@pytest.mark.parametrize(
    ("latex", "found"),
    [
        (r"\input{/etc/passwd}", r"\input"),
        (r"x\write18{id}", r"\write"),
        (r"\frac{a}{b", "never closed"),
        (r"a}", "closes nothing"),
        (r"\left(x", "never closed"),
        (r"\begin{pmatrix}1\end{aligned}", "closes nothing"),
        (r"\begin{document}x\end{document}", "'document'"),
        (r"a & b", "'&'"),
        (r"a \\ b", r"'\\\\'"),
        ("x % y", "'%'"),
        ("$x$", "'$'"),
        ("Δ", "'Δ'"),
        (r"\frac12", "without braces"),
        (r"x^{2}^{3}", "TeX would refuse"),
        (r"x_{1}^{2}_{3}", "TeX would refuse"),
        (r"x^", "TeX would refuse"),
        (r"x^12", "TeX would refuse"),
        (r"\text{a_b}", "escape it"),
        (r"\text{\input{x}}", "escape it"),
        (r"\mathrm{a\_b}", "escape it"),
        ("\\", "the command"),
        (r"\text", "without its braces"),
    ],
)
def test_refuses_with_what_was_found(latex, found):
    with pytest.raises(InputError) as caught:
        parse(latex)
    assert found in str(caught.value)


# Typst refuses a character that its fonts lack only where it writes for archives.
ARCHIVED = (
    "#set document(date: datetime(year: 2000, month: 1, day: 1))\n"
    '#set text(font: "New Computer Modern")\n'
    '#show math.equation: set text(font: "New Computer Modern Math")\n'
)
THIN = 11 / 6  # points


def to_typst(*formulas):
    """Return the source of formulas in Typst, as it stands in a document."""
    blocks = tuple(equation(latex) for latex in formulas)
    source = pdf._source(body(*blocks))
    return re.findall(r"\[\$ (.*?) \$\]", source, re.DOTALL)


def drawn(source):
    """Compile Typst's source; every character has to be one of its fonts'."""
    options = {"ignore_system_fonts": True, "pdf_standards": "a-2u"}
    _, warnings = typst.compile_with_warnings((ARCHIVED + source).encode(), **options)
    assert warnings == []


def sizes(*formulas):
    """Return the width and height in points that Typst gives LaTeX formulas."""
    lines = [f"#context [#metadata(measure($ {each} $))<size>]" for each in to_typst(*formulas)]
    found = typst.query(("\n".join(lines)).encode(), "<size>", field="value")
    points = [float(value) for value in re.findall(r'"([0-9.]+)pt"', found)]
    return list(zip(points[::2], points[1::2], strict=True))


@pytest.mark.parametrize(
    ("latex", "mathml", "source"),
    [
        ("ab", "<mi>a</mi><mi>b</mi>", "a b"),
        ("12.5x", "<mn>12.5</mn>", "12.5 x"),
        (r"10\,000", '<mn>10</mn><mspace width="0.167em"/><mn>000</mn>', "10 thin 000"),
        (r"10{,}000", "<mrow><mo>,</mo></mrow>", r'10#[]class("normal",\,)000'),
        ("s/d", '<mo lspace="0" rspace="0">/</mo>', r"s\/d"),
        ("a = -b", '<mo>=</mo><mo form="prefix">−</mo>', r"a\=−b"),
        ("a - b", "<mo>−</mo>", "a−b"),
        ("a < b", "<mo>&lt;</mo>", r"a\<b"),
        (r"x^2_1", "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x_(1)^(2)"),
        ("x'", "<mrow><mi>x</mi><mi>′</mi></mrow>", "x^(′)"),
        ("x''^{2}", "<mi>″</mi></mrow><mn>2</mn>", "x^(′′2)"),
        (r"{}_{1}F_{2}", "<msub><mrow><mrow></mrow></mrow>", "#box()_(1)F_(2)"),
        (r"X^{\top}", "<mi>⊤</mi>", "X^(⊤)"),
        (r"X^{+}", '<mi mathvariant="normal">+</mi>', r"X^(\+)"),
        (r"\Delta\tau", '<mi mathvariant="normal">Δ</mi><mi>τ</mi>', "Δ τ"),
        (r"\partial L", "<mi>∂</mi>", "∂L"),
        (r"a \mid b", "<mo>∣</mo>", 'a#[]class("relation",∣)b'),
        (r"\tfrac{1}{2}", '<mstyle displaystyle="false" scriptlevel="0"><mfrac>', "inline(frac(1"),
        (r"\sqrt[3]{5}", "<mroot><mn>5</mn><mn>3</mn></mroot>", "root(3,5)"),
        (r"\mathbf{1}", "<mn>𝟏</mn>", "upright(bold(1))"),
        (r"\mathbb{RQ}", "<mi>ℝ</mi><mi>ℚ</mi>", "bb(R Q)"),
        (r"\mathrm{d}", '<mi mathvariant="normal">d</mi>', 'upright("d")'),
        (r"\text{x\&y}", "<mtext>x&amp;y</mtext>", '"x&y"'),
        (r"\dot{x}", 'scriptlevel="-1">˙</mo></mover>', "dot(x)"),
        (r"\left( x \right]", ">(</mo><mi>x</mi><mo", r"lr(\(x\])"),
        (r"\Bigl\| y \Bigr\|^2", 'maxsize="1.623em">‖</mo></mrow><mn>2', 'class("opening",lr('),
        (r"\bigl(\begin{smallmatrix} 0 \end{smallmatrix}\bigr)", 'stretchy="true">(<', 'class("o'),
        (r"\sum_{i}^{n} x", "<munderover><mo>∑</mo>", "∑_(i)^(n)x"),
        (r"\int_{0}^{t} f", "<msubsup><mo>∫</mo>", "∫_(0)^(t)f"),
        (r"\max_t", '<munder><mo movablelimits="true"', 'op("max",limits:#true)_(t)'),
        (r"\ln x", '<mi>ln</mi><mo>\u2061</mo><mspace width="0.167em"/>', 'op("ln")x'),
        (r"\ln(x)", "<mi>ln</mi><mo>\u2061</mo><mo", r'op("ln")\('),
        (r"s\ln x", '<mi>s</mi><mspace width="0.167em"/><mi>ln', 's#[]op("ln")x'),
        (r"\begin{pmatrix} 1 & a, b \end{pmatrix}", '<mtd class="c">', r'mat(delim:#"(",1,a\,b)'),
    ],
)
def test_constructs(latex, mathml, source):
    drawn = to_mathml(latex)
    assert mathml in drawn
    assert to_typst(latex)[0].startswith(source)
    assert ElementTree.fromstring(drawn).find(".//annotation").text == latex


@pytest.mark.parametrize("latex", sorted(EVERY))
def test_every_command_is_drawn_by_what_browsers_know(latex):
    math = ElementTree.fromstring(to_mathml(latex, display=True))
    drawn = "".join(math[0][0].itertext())
    assert "\\" not in drawn
    assert drawn or latex in ("", *SPACES)
    for element in math.iter():
        assert element.get("mathvariant") in (None, "normal")
    assert "\\" not in re.sub(r"\\[^A-Za-z]", "", "".join(to_typst(latex)))


def test_typst_draws_every_command_and_any_words():
    words = [f"x_{{{text_in_math(text)}}}" for text in HOSTILE]
    drawn("\n".join(f"$ {each} $" for each in to_typst(*EVERY, *words)))
    known = [c for c in map(chr, range(0x20, 0x3000)) if not code_points(c).startswith("[U+")]
    assert len(known) > 500
    pieces = pdf._source(body(prose(" ".join(known))))
    drawn("\n".join(re.findall(r"^#\".*$", pieces, re.MULTILINE)))
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        drawn('#"中"')


def test_typst_sets_mathematics_as_tex_does():
    fraction, plain, grown, big, small = sizes(
        r"\frac{a}{b}", r"(\frac{a}{b})", r"\left(\frac{a}{b}\right)", r"\Bigl( x \Bigr)", "(x)"
    )
    assert plain[1] == fraction[1] < grown[1]
    assert big[1] > small[1]
    apart, words, bars, letter, bar = sizes("xy", r"x\text{m}y", "|x|", r"\text{m}", "|")
    assert words[0] == pytest.approx(apart[0] + letter[0], abs=0.01)
    one, function, name = sizes("x", r"x\ln", r"\ln")
    assert bars[0] == pytest.approx(2 * bar[0] + one[0], abs=0.01)
    assert function[0] == pytest.approx(one[0] + name[0] + THIN, abs=0.01)
    joined, alone = sizes(r"{} - c", "- c")  # an operation, and a sign
    assert joined[0] > alone[0] + 4


STATEMENTS = (
    r"M \Sigma^{x} = \Sigma^{x} M \iff \Sigma^{yx}(p) = U_p S_p V_p^{\top}, \quad "
    r"\Sigma^{x}(p) = V_p D_p V_p^{\top}, \quad U_p^{\top} U_p = V_p^{\top} V_p = I"
)
SUM = "L &= " + " + ".join(rf"\frac{{a_{{{n}}}}}{{b - c}}" for n in range(30))


def test_displays_are_broken_between_statements_then_at_relations_and_signs():
    rows, aligned = display((STATEMENTS,), 64)
    assert aligned
    assert [row.split(" &")[0] for row in rows] == [r"M \Sigma^{x}", r"U_p^{\top} U_p"]
    rows, aligned = display((SUM,), 64)
    assert aligned
    assert len(rows) > 2
    assert all(row.startswith(r"& \quad {} +") for row in rows[1:])
    assert aligned_width(rows) <= 64
    assert display(("a &= b",), 64) == (("a = b",), False)
    whole = r"x = \frac{" + "1" * 200 + "}{2}"
    assert display((whole,), 64)[0] == (whole,)
    left, right = r"\int " + "a b " * 12, r"\frac{" + "c d " * 22 + "}{h}"
    assert display((f"{left} &= {right}",), 64) == ((left.strip(), rf"\quad {{}} = {right}"), False)


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
