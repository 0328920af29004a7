import re
import shutil
import subprocess

import pytest

from symreln.document.escape import text_in_math
from symreln.document.model import (
    Code,
    Details,
    Document,
    Items,
    Listing,
    Math,
    Section,
    Table,
    Theorem,
    equation,
    prose,
)
from symreln.report import latex
from symreln.report.folder import write_files
from symreln.report.numbering import anchors
from tests.report.corpus import HOSTILE
from tests.report.sample import document

needs_latexmk = pytest.mark.skipif(
    shutil.which("latexmk") is None, reason="compiling needs latexmk, which is not a Python package"
)


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


def test_one_line_with_a_matrix_is_not_aligned():
    text = body(equation(r"\begin{pmatrix} 1 & 2 \end{pmatrix}"))
    assert "aligned" not in text
    assert text.startswith(r"\begin{equation*}")


def test_a_heading_asks_for_room_for_the_first_lines_of_its_section():
    section = Section(title="Found", blocks=(prose("Words."),))
    assert "\\room\n\\section{Found}" in latex.render(Document(title="T", blocks=(section,)))


def test_wide_equation_is_fitted_and_narrow_is_not():
    assert r"\fitted" not in body(equation("a + b"))
    assert r"\fitted" in body(equation(" + ".join("abcdefghijklmnopqrstuvwxyz")))


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


def test_rows_before_fractions_stand_apart_too():
    cells = ((Math("1"),), (Math(r"\frac{1}{2}"),), (Math("3"),))
    source = body(Table(header=("a",), rows=tuple((cell,) for cell in cells)))
    assert r"$1$ \\[0.7ex]" in source
    assert "$3$ \\\\\n" in source


def test_rows_of_matrices_with_fractions_stand_apart():
    high = body(equation(r"\begin{pmatrix} 1 \\ \frac{1}{2} \\ 3 \end{pmatrix}"))
    assert high.count(r"\\[0.7ex]") == 2
    flat = body(equation(r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"), equation("a &= b", "c &= d"))
    assert "[0.7ex]" not in flat


def test_wrapped_columns_share_the_line_by_what_they_need():
    words = "words that go on " * 9
    table = Table(header=("a", "b"), rows=(("short", words),), alignment="pp")
    narrow, wide = map(float, re.findall(r"Y\{([0-9.]+)\}", body(table)))
    assert narrow < 0.5 < 1.4 < wide
    assert narrow + wide == pytest.approx(2, abs=0.01)


def test_a_table_that_fits_is_not_stretched_over_the_line():
    table = Table(header=("a", "b"), rows=(("short", "too"),), alignment="lp")
    assert r"\begin{tabular}{@{}ll@{}}" in body(table)


def test_bracket_after_a_row_is_no_option():
    table = body(Table(header=("h",), rows=(("[1cm]",), ("*",))))
    assert "\n{}[1cm]" in table
    assert "\n{}*" in table
    assert r"\item\relax [x]" in body(Items(("[x]",)))


def test_statement_that_begins_with_a_list_keeps_its_name_on_a_line():
    items = Items(("x",))
    assert "\\leavevmode\n\\begin{itemize}" in body(Theorem(kind="Verdict", blocks=(items,)))
    assert "leavevmode" not in body(Theorem(kind="Verdict", blocks=(prose("x"),)))


def test_long_table_breaks_over_pages():
    rows = tuple((str(i),) for i in range(31))
    assert "longtable" in body(Table(header=("h",), rows=rows))
    assert "longtable" not in body(Table(header=("h",), rows=rows[:30]))


def test_words_in_mathematics_are_escaped_for_tex():
    assert body(prose(Math("x_{" + text_in_math("Δ_中") + "}"))) == (
        r"$x_{\text{\ensuremath{\Delta}\_\codepoint{4E2D}}}$"
    )


def hostile_document():
    blocks = [prose(text) for text in HOSTILE]
    blocks += [Section(title=text, blocks=(Listing(text),)) for text in HOSTILE]
    blocks += [equation("x_{" + text_in_math(text[:30]) + "}") for text in HOSTILE]
    blocks += [Items(HOSTILE)]
    rows = tuple((text[:20], text) for text in HOSTILE)
    blocks += [Table(header=("[a]", "b"), rows=rows[:9], alignment="lp", caption=HOSTILE[2])]
    blocks += [Table(header=("a", "b"), rows=rows * 2, alignment="pp", caption=HOSTILE[9])]
    folded = Table(header=("a", "b"), rows=rows[:3], alignment="lp")
    blocks += [Details(summary="A folded table, whose words end in a stop.", blocks=(folded,))]
    return Document(title=HOSTILE[0], subtitle=HOSTILE[2], blocks=tuple(blocks))


def compiled(source, folder):
    path = folder / "document.tex"
    files = {f"{latex.FIGURES}/{drawn.name}.pdf": drawn.pdf for drawn in source.figures}
    write_files(folder, {path.name: latex.render(source), **files})
    command = ["latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error", path.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
    log = (folder / "document.log").read_text(encoding="utf-8", errors="replace")
    errors = [line for line in log.splitlines() if line.startswith("!")]
    assert (done.returncode, errors) == (0, [])
    return log


@needs_latexmk
@pytest.mark.parametrize("source", [document, hostile_document])
def test_compiles_within_its_margins(source, tmp_path):
    log = compiled(source(), tmp_path)
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([0-9.]+)pt", log)]
    # 20 pt is less than the space between the text and the edge that a printer may lose.
    assert all(points < 20 for points in wide), wide
    assert "undefined references" not in log
    assert "Missing character" not in log


@needs_latexmk
def test_latex_gives_the_numbers_that_references_say(tmp_path):
    compiled(document(), tmp_path)
    aux = (tmp_path / "document.aux").read_text()
    given = dict(re.findall(r"\\newlabel\{([^}]+)\}\{\{([^}]*)\}", aux))
    ours = {label: anchor.number for label, anchor in anchors(document()).items()}
    assert {label: given[label] for label in ours} == ours


@needs_latexmk
def test_long_tables_without_a_caption_take_no_number(tmp_path):
    long = Table(header=("h",), rows=(("cell",),) * 40)
    last = Table(header=("h",), rows=(("cell",),), caption="Last.", label="tab:last")
    log = compiled(Document(title="t", blocks=(long, long, last)), tmp_path)
    assert r"\newlabel{tab:last}{{1}" in (tmp_path / "document.aux").read_text()
    assert "same identifier" not in log


@needs_latexmk
def test_a_table_without_a_caption_takes_no_number(tmp_path):
    words = ("A claim that takes some lines. " * 60,)
    bare = Table(header=("h",), rows=(words,), alignment="p")
    named = Table(header=("h",), rows=(("x",),), caption="Named.", label="tab:named")
    source = Document(title="t", blocks=(bare, named))
    assert r"\begin{longtable}" in latex.render(source)
    compiled(source, tmp_path)
    assert r"\newlabel{tab:named}{{1}" in (tmp_path / "document.aux").read_text()
    assert anchors(source)["tab:named"].number == "1"


def test_a_summary_has_one_stop():
    assert r"words end in a stop.}" in latex.render(hostile_document())


def test_a_tall_table_with_wrapped_cells_may_break_over_pages():
    row = ("step", "A claim that takes some lines. " * 9, "How it was checked. " * 9, "proven")
    header = ("step", "claim", "check", "outcome")

    def printed(rows: int) -> str:
        table = Table(header=header, rows=(row,) * rows, alignment="lppl")
        return body(table)

    tall, short = printed(4), printed(1)
    assert r"\begin{longtable}" in tall
    assert r"\begin{tabularx}" in short
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", tall)]
    assert len(shares) == 2
    # Two wrapped columns share what the short words leave of the line.
    assert 0.25 < shares[0] == shares[1] < 0.43
