import re
from xml.etree import ElementTree

import pytest

from symreln.document.escape import clean, text_in_math
from symreln.document.tex import COMMANDS, check_math
from symreln.report.mathml import lines_to_mathml, to_markup, to_mathml
from tests.report.corpus import HOSTILE


def markup(latex, *, display=False):
    """Return the drawn part of a formula, with the annotation taken off."""
    text = to_markup(to_mathml(latex, display=display))
    return re.sub(r"^<math[^>]*><semantics>|<annotation.*$", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\tfrac{1}{2}", '<mstyle displaystyle="false" scriptlevel="0"><mfrac>'),
        (r"\mathrm{rank}", "<mi>rank</mi>"),
        (r"\mathrm{d}", '<mi mathvariant="normal">d</mi>'),
        (r"\mathbf{w}", "<mi>𝐰</mi>"),
        (r"\mathbf{1}", "<mn>𝟏</mn>"),
        (r"\mathbb{R}", "<mi>ℝ</mi>"),
        (r"\mathbb{RQ}", "<mi>ℝ</mi><mi>ℚ</mi>"),
        (r"\mathcal{L}", "<mi>ℒ</mi>"),
        (r"\Delta", '<mi mathvariant="normal">Δ</mi>'),
        (r"\tau", "<mi>τ</mi>"),
        (r"a - b", "<mo>−</mo>"),
        (r"a = -b", '<mo>=</mo><mo form="prefix">−</mo>'),
        (r"\partial L", "<mi>∂</mi>"),
        (r"a < b", "<mo>&lt;</mo>"),
        (r"A \succeq B", "<mo>⪰</mo>"),
        (r"X^{+}", '<mi mathvariant="normal">+</mi>'),
        (r"X^{\top}", '<mi mathvariant="normal">⊤</mi>'),
        (r"s/d", '<mo lspace="0" rspace="0">/</mo>'),
        (r"a'", "<mrow><mi>a</mi><mi>′</mi></mrow>"),
        (r"a''", "<mrow><mi>a</mi><mi>″</mi></mrow>"),
        (r"\sqrt[3]{5}", "<mroot>"),
        (r"10\,000", '<mn>10</mn><mspace width="0.167em" /><mn>000</mn>'),
        (r"\{1\}", '<mo stretchy="false">{</mo>'),
        (r"\ldots", "…"),
    ],
)
def test_constructs(latex, expected):
    check_math(latex)
    assert expected in markup(latex)


@pytest.mark.parametrize("size", ["Bigl", "bigr", "left"])
@pytest.mark.parametrize("mark", ["|", r"\|", r"\{", r"\}", r"\langle", r"\rangle"])
def test_no_delimiter_is_drawn_as_its_command(size, mark):
    closed = rf"\right{mark}" if size == "left" else ""
    drawn = markup(rf"\{size}{mark} x{closed}")
    assert "\\" not in drawn, drawn


def test_a_power_of_a_sized_bracket_is_one_of_all_that_it_holds():
    drawn = markup(r"a \Bigl\| y + 1 \Bigr\|^2 + b")
    held = re.search(r"<msup><mrow>(.*)</mrow><mn>2</mn></msup>", drawn)
    assert held is not None
    assert held[1].count("‖") == 2
    assert "‖" not in drawn.replace(held[0], "")
    assert drawn.startswith("<mrow><mi>a</mi>")
    assert drawn.count("<mi>y</mi>") == drawn.count("<mi>b</mi>") == 1


def test_sized_brackets_grow_with_a_small_matrix_alone():
    assert "maxsize" in markup(r"\bigl( a \bigr)")
    matrix = r"\begin{smallmatrix} 0 & 1 \\ 1 & 0 \end{smallmatrix}"
    shown = markup(rf"\bigl({matrix}\bigr)")
    assert shown.count('stretchy="true"') == 2
    assert "size=" not in shown


def test_a_minus_after_a_relation_is_a_sign():
    assert markup(r"x = -y").count('<mo form="prefix">−</mo>') == 1
    assert "prefix" not in markup(r"x - y")


def test_right_hand_of_accents():
    for command, mark in (("dot", "˙"), ("hat", "ˆ"), ("bar", "¯"), ("tilde", "˜"), ("ddot", "¨")):
        drawn = markup(rf"\{command}{{x}}")
        assert f'<mo stretchy="false" scriptlevel="-1">{mark}</mo></mover>' in drawn, command
        assert 'accent="false"' in drawn
    assert '<mo accent="true" stretchy="true">‾</mo>' in markup(r"\overline{WV}")


def test_coefficient_is_not_read_as_a_length():
    for letters in ("pt", "sp", "in", "em", "mu"):
        drawn = markup(f"2{letters} + 3 {letters}")
        assert drawn.count("<mn>2</mn>") == drawn.count("<mn>3</mn>") == 1
        assert drawn.count(f"<mi>{letters[0]}</mi>") == 2


def test_limits_go_under_in_display_and_beside_in_text():
    for latex in (r"\sum_{i=1}^{n} x", r"\frac{\sum_{i=1}^{n} x}{2}"):
        assert "<munderover><mo>∑</mo>" in markup(latex, display=True)
        assert "<munderover><mo>∑</mo>" in markup(latex)
    assert '<munder><mo movablelimits="true"' in markup(r"\max_{t} x")
    assert "<msubsup><mo>∫</mo>" in markup(r"\int_{0}^{t} f")


@pytest.mark.parametrize(
    ("latex", "spaces"), [(r"\ln x", 1), (r"s\ln x", 2), (r"\ln(x)", 0), (r"a + \ln x", 1)]
)
def test_functions_are_set_off(latex, spaces):
    drawn = markup(latex)
    assert drawn.count('<mspace width="0.167em" />') == spaces
    assert "<mi>ln</mi><mo>\u2061</mo>" in drawn


@pytest.mark.parametrize(
    ("name", "fences"),
    [("pmatrix", "()"), ("smallmatrix", "")],
)
def test_matrices_have_their_fences(name, fences):
    math = to_mathml(rf"\begin{{{name}}} 1 & -2 \\ \frac{{a}}{{b}} & \text{{x\&y}} \end{{{name}}}")
    stretched = [mo.text for mo in math.iter("mo") if mo.get("fence") == "true"]
    assert "".join(stretched) == fences
    assert [len(row) for row in math.iter("mtr")] == [2, 2]
    assert next(math.iter("mtext")).text == "x&y"


def test_lines_align_at_their_ampersands():
    math = lines_to_mathml((r"x &= \sum_{i} a_i", r"&= {} + \text{b \& c}"))
    table = math.find(".//mtable")
    assert [[cell.get("class") for cell in row] for row in table] == [["r", "l"], ["r", "l"]]
    assert table.get("displaystyle") == "true"
    annotation = math.find(".//annotation").text
    assert annotation.startswith(r"\begin{aligned}x &= \sum")


def test_annotation_is_the_latex():
    math = to_mathml(r"\frac{s}{d} < 1")
    annotation = math.find(".//annotation")
    assert annotation.text == r"\frac{s}{d} < 1"
    assert annotation.get("encoding") == "application/x-tex"


ARGUMENTS = {
    "frac": "{a}{b}", "tfrac": "{a}{b}", "dfrac": "{a}{b}", "left": "(x\\right)",
    "langle": " x", "text": "{ab}", "operatorname": "{ab}",
    "bigl": "(x", "bigr": ")", "Bigl": "(", "Bigr": ")", "limits": "_{x}", "mathbb": "{R}",
    "mathcal": "{L}", "mathbf": "{w}",
}  # fmt: skip


@pytest.mark.parametrize("command", sorted(COMMANDS - {r"\begin", r"\end", r"\right"}))
def test_every_command_we_write_is_drawn(command):
    name = command[1:]
    before = r"\sum" if name == "limits" else ""
    latex = before + command + ARGUMENTS.get(name, "{x}")
    check_math(latex)
    math = to_mathml(latex, display=True)
    drawn = "".join(math[0][0].itertext())
    assert "\\" not in drawn
    assert "&" not in drawn
    assert drawn.strip("x") != "" or name in {"mathrm", "phantom", "sqrt", "dot", "overline"} | {
        "displaystyle", "textstyle", "quad", "qquad",
    }  # fmt: skip
    # What browsers dropped from MathML 3 must not be relied on.
    for element in math.iter():
        assert element.get("mathvariant") in (None, "normal")
        assert not {"columnalign", "columnlines", "rowlines"} & set(element.attrib)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_words_are_drawn_as_they_are(text):
    element = to_mathml("x_{" + text_in_math(text) + "}")
    (words,) = element.iter("mtext")
    assert words.text == clean(text).replace(" ", "\u00a0")
    assert ElementTree.fromstring(to_markup(element)).find(".//mtext").text == words.text
