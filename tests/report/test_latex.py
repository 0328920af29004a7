import re

import pytest

from symreln.document.document_model import (
    Code,
    Details,
    Document,
    Items,
    Math,
    Section,
    Table,
    equation,
    prose,
)
from symreln.document.escape import text_in_math
from symreln.report import latex
from symreln.report.renderer import Renderer
from tests.report.corpus import HOSTILE
from tests.report.latexmk import compiled, needs_latexmk
from tests.report.sample import document


def body(*blocks, **fields):
    text = latex.render(Document(title="t", blocks=blocks, **fields))
    return text.split("\\maketitle\n", 1)[1].split("\\end{document}")[0].strip()


def test_blocks_are_written_as_a_person_would():
    assert body(prose("For ", Math("x_1")), equation(r"x &= 1", "&= 2", label="eq")) == (
        "For $x_1$\n"
        "\\begin{equation}\\label{eq}\n"
        "\\begin{aligned}\nx &= 1 \\\\\n&= 2\n\\end{aligned}\n"
        "\\end{equation}"
    )


def test_no_command_of_our_own_stands_in_the_body():
    """What LaTeX, amsmath, amsthm's usual names, booktabs and graphicx do not define."""
    text = latex.render(hostile_document()) + latex.render(document())
    inside = "".join(part.split(r"\end{document}")[0] for part in text.split(r"\maketitle")[1:])
    found = set(re.findall(r"\\([A-Za-z]+)", inside)) & PRIVATE
    assert found == set()
    environments = set(re.findall(r"\\begin\{([^}]*)\}", inside))
    assert environments <= PLAIN


PRIVATE = {"fitted", "room", "unnumbered", "codepoint", "url", "href", "hyperref", "texorpdfstring"}
PRIVATE |= {"mathbb", "checkmark", "newcommand", "def", "usepackage", "endhead", "arraybackslash"}
PLAIN = {
    *("equation", "equation*", "align*", "gather*", "aligned", "gathered", "array", "pmatrix"),
    *("table", "tabular", "figure", "center", "itemize"),
    *("lemma", "proposition", "remark", "definition", "assumption", "proof", "thebibliography"),
}


def test_a_wide_equation_is_broken_and_a_fraction_that_cannot_be_is_scaled():
    assert "resizebox" not in body(equation("a + b"))
    broken = body(equation("L = " + " + ".join(f"{x}^2" for x in "abcdefghijklmnopqrstuvw")))
    assert broken.startswith("\\begin{align*}\nL & = a^2 +")
    assert "\\\\\n& \\quad {} + " in broken
    whole = body(equation(r"x = \frac{" + "1234567890" * 14 + "}{2}", label="eq"))
    assert whole.count(r"\resizebox{0.92\linewidth}{!}{$\displaystyle x = ") == 1


def test_bracket_after_a_row_is_no_option():
    table = body(Table(header=("h",), rows=(("[1cm]",), ("*",))))
    assert "\n{}[1cm]" in table
    assert "\n{}*" in table
    assert r"\item {}[x]" in body(Items(("[x]",)))


def test_a_table_longer_than_a_page_goes_on_in_another_without_a_number():
    rows = tuple((str(i),) for i in range(45))
    long = body(Table(header=("h",), rows=rows, caption="Rows.", label="tab:rows"))
    first, second = long.split(r"\end{table}")[:2]
    assert (first.count(r"\caption"), second.count(r"\caption")) == (1, 0)
    assert "(continued)" in second
    assert [part.count(r"\textbf{h}") for part in (first, second)] == [1, 1]
    found = re.findall(r"^(\d+) \\\\$", long, re.MULTILINE)
    assert found == [str(i) for i in range(45)]


def test_words_in_mathematics_are_escaped_for_tex():
    assert body(prose(Math("x_{" + text_in_math("Δ_中") + "}"))) == (
        r"$x_{\text{\ensuremath{\Delta}\_\texttt{[U+4E2D]}\allowbreak{}}}$"
    )


def hostile_document():
    blocks = [prose(text) for text in HOSTILE]
    blocks += [Section(title=text, blocks=(prose(Code(text)),)) for text in HOSTILE]
    blocks += [equation("x_{" + text_in_math(text[:30]) + "}") for text in HOSTILE]
    blocks += [Items(HOSTILE)]
    rows = tuple((text[:20], text) for text in HOSTILE)
    blocks += [Table(header=("[a]", "b"), rows=rows[:9], alignment="lp", caption=HOSTILE[2])]
    blocks += [Table(header=("a", "b"), rows=rows * 2, alignment="pp", caption=HOSTILE[9])]
    folded = Table(header=("a", "b"), rows=rows[:3], alignment="lp")
    blocks += [Details(summary="A folded table, whose words end in a stop.", blocks=(folded,))]
    return Document(title=HOSTILE[0], subtitle=HOSTILE[2], blocks=tuple(blocks))


@needs_latexmk
@pytest.mark.parametrize("source", [document, hostile_document])
def test_compiles_within_its_margins(source, tmp_path):
    log = compiled(source(), latex.render(source()), tmp_path)
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([0-9.]+)pt", log)]
    # 20 pt is less than the space between the text and the edge that a printer may lose.
    assert all(points < 20 for points in wide), max(wide)
    assert "undefined references" not in log
    assert "Missing character" not in log


@needs_latexmk
def test_tables_without_a_caption_take_no_number(tmp_path):
    words = ("A claim that takes some lines. " * 60,)
    bare = Table(header=("h",), rows=(words,), alignment="p")
    long = Table(header=("h",), rows=(("cell",),) * 40)
    named = Table(header=("h",), rows=(("x",),), caption="Named.", label="tab:named")
    source = Document(title="t", blocks=(bare, long, named))
    log = compiled(source, latex.render(source), tmp_path)
    assert r"\newlabel{tab:named}{{1}" in (tmp_path / "document.aux").read_text()
    assert "same identifier" not in log
    assert Renderer(source).anchors["tab:named"].number == "1"
