import html
import re
import shutil
import subprocess
import unicodedata

import pytest
import typst as package

from symreln.document.document_model import Items, Paragraph, Section, Table, prose
from symreln.document.escape import code_points, typographic
from symreln.report import typst
from tests.report.corpus import HOSTILE
from tests.report.sample import body, document
from tests.report.test_latex import hostile_document

needs_poppler = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="reading a PDF needs poppler, no Python package"
)
MARGIN, WIDTH, HEIGHT = (length / 25.4 * 72 for length in (27, 210, 297))  # points
WORD = re.compile(r'<word xMin="(.+)" yMin="(.+)" xMax="(.+)" yMax="(.+)">(.*)</word>')


def read(pdf, *options):
    command = ["pdftotext", *options, "-", "-"]
    done = subprocess.run(command, input=pdf, capture_output=True, timeout=60, check=True)
    return done.stdout.decode()


def pages(pdf):
    """Return for every page its words with their boxes in points, without the page's number."""
    found = []
    for page in read(pdf, "-bbox").split("<page ")[1:]:
        boxes = [(*map(float, box[:4]), html.unescape(box[4])) for box in WORD.findall(page)]
        found.append([box for box in boxes if not (box[4].isdigit() and box[1] > HEIGHT - MARGIN)])
    return found


def outside(pdf):
    """Return the words that lie outside of the text's area, with a point for what overhangs.

    Above and below, the box of a letter is that of its font: higher than the letter.
    """
    return [
        word
        for page in pages(pdf)
        for left, top, right, bottom, word in page
        if left < MARGIN - 1
        or right > WIDTH - MARGIN + 1
        or top < MARGIN - 10
        or bottom > HEIGHT - MARGIN + 10
    ]


def printed(text):
    """Return text as it is read from a page: no space, nor marks that are not shown."""
    kept = (c for c in unicodedata.normalize("NFKC", text) if not c.isspace())
    return "".join(kept).translate(dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d")))


@pytest.mark.parametrize("make", [document, hostile_document])
def test_compiles_without_a_warning(make, tmp_path):
    made = make()
    main = tmp_path / "main.typ"
    main.write_text(typst._source(made), "utf-8")
    for drawing in made.figures:
        (tmp_path / f"{drawing.name}.svg").write_text(drawing.svg, "utf-8")
    pdf, warnings = package.compile_with_warnings(main, ignore_system_fonts=True)
    assert warnings == []
    assert pdf == typst.render(made)


def test_words_are_strings_and_nothing_else():
    """Without strings and our own calls, no text of a document is left for Typst to read."""
    for text in HOSTILE:
        (shown,) = typst._source(body(Paragraph((text,)))).split("#title[", 1)[1].splitlines()[2:3]
        rest = re.sub(r'#"(?:[^"\\]|\\["\\])*";|#box\(\);', "", shown)
        assert rest == ""


@needs_poppler
@pytest.mark.parametrize("text", HOSTILE)
def test_any_words_print_as_themselves(text):
    content = (text, " end")  # a hyphen at the end of a line would be read as one of a parted word
    blocks = (prose(*content), Items((content,)), Section(title=content, blocks=()))
    words = printed(read(typst.render(body(*blocks)), "-raw"))
    shown = printed(code_points(re.sub(r"(?<=\w)'", "’", typographic(text))))
    assert words.count(f"{shown}end") == 3


@needs_poppler
@pytest.mark.parametrize("make", [document, hostile_document])
def test_nothing_lies_outside_of_its_margins(make):
    assert outside(typst.render(make())) == []


@needs_poppler
def test_a_long_table_repeats_its_header_and_keeps_its_rows():
    row = ("a claim", "one two three four five six seven eight " * 8 + "end")
    table = Table(header=("claim", "heading"), rows=(row,) * 30, alignment="lp", caption="Claims.")
    found = pages(typst.render(body(table)))
    assert len(found) > 1
    for page in found:
        words = [box[4] for box in page]
        assert words.count("heading") == 1
        assert words.count("end") == words.count("a") >= 1 or "Claims." in words
        assert words[-1] == "end"
