import re

import pytest

from symreln.document.escape import text_in_math
from symreln.document.model import (
    Code,
    Details,
    Document,
    Items,
    Math,
    Section,
    Table,
    Theorem,
    equation,
    prose,
)
from symreln.report import latex
from symreln.report.renderer import anchors
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


def test_rows_with_fractions_stand_apart():
    rows = ((r"\frac{1}{2}", "0"), ("3", "4"))
    cells = tuple(tuple((Math(c),) for c in row) for row in rows)
    source = body(Table(header=("a", "b"), rows=cells))
    assert r"$\frac{1}{2}$ & $0$ \\[0.7ex]" in source
    assert "$3$ & $4$ \\\\\n" in source


def test_numbers_in_words_have_a_minus_and_a_power_of_ten():
    text = body(prose("from -1 [-2, 3] to 1.8e-08, off-1 and 2e"))
    minus, power = (
        r"\ensuremath{-}",
        r"1.8 \ensuremath{\times} 10\ensuremath{^{-}}\ensuremath{^{8}}",
    )
    assert text == f"from {minus}1 [{minus}2, 3] to {power}, off-1 and 2e"
    assert r"\ensuremath" not in body(prose(Code("x -1")))


def test_rows_of_matrices_with_fractions_stand_apart():
    high = body(equation(r"\begin{pmatrix} 1 \\ \frac{1}{2} \\ 3 \end{pmatrix}"))
    assert high.count(r"\\[0.7ex]") == 2
    flat = body(equation(r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"), equation("a &= b", "c &= d"))
    assert "[0.7ex]" not in flat


def test_wrapped_columns_share_the_line_by_what_they_need():
    words = "words that go on " * 9
    table = Table(header=("a", "b"), rows=(("short", words),), alignment="pp")
    narrow, wide = map(float, re.findall(r"p\{([0-9.]+)\\linewidth\}", body(table)))
    assert narrow < 0.15 < 0.7 < wide
    assert narrow + wide == pytest.approx(1 - 0.0275, abs=0.01)


def test_bracket_after_a_row_is_no_option():
    table = body(Table(header=("h",), rows=(("[1cm]",), ("*",))))
    assert "\n{}[1cm]" in table
    assert "\n{}*" in table
    assert r"\item {}[x]" in body(Items(("[x]",)))


def test_statement_that_begins_with_a_list_keeps_its_name_on_a_line():
    items = Items(("x",))
    assert "\\leavevmode\n\\begin{itemize}" in body(Theorem(kind="Remark", blocks=(items,)))
    assert "leavevmode" not in body(Theorem(kind="Remark", blocks=(prose("x"),)))


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
    assert anchors(source)["tab:named"].number == "1"


def test_a_tall_table_without_a_caption_comes_in_pieces_between_which_a_page_may_end():
    row = ("step", "A claim that takes some lines. " * 9, "How it was checked. " * 9, "proven")
    header = ("step", "claim", "check", "outcome")

    def printed(rows: int) -> str:
        return body(Table(header=header, rows=(row,) * rows, alignment="lppl"))

    tall, short = printed(8), printed(1)
    assert (tall.count(r"\begin{tabular}"), short.count(r"\begin{tabular}")) == (4, 1)
    assert tall.count(r"\textbf{step}") == 4
    columns = set(re.findall(r"\\begin\{tabular\}\{(.*)\}", tall))
    assert len(columns) == 1
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", columns.pop())]
    # Two wrapped columns share what the short words leave, by how much they say.
    assert 1.2 < shares[0] / shares[1] < 1.7
    assert sum(shares) < 1


def test_a_column_of_words_wraps_where_numbers_would_be_pushed_off_the_page():
    row = ("the rest of all that there is to say of it " * 3, "1.25", "x" * 20)
    columns = body(Table(header=("a", "b", "c"), rows=(row,), alignment="lrl"))
    share = re.search(r"\{@\{\}p\{([\d.]+)\\linewidth\}rl@", columns)
    assert share
    assert 0.5 < float(share[1]) < 0.75
    digits = body(Table(header=("a",), rows=(("1" * 200,),), alignment="r"))
    assert digits.count(r"\resizebox{\linewidth}{!}{%") == 1
