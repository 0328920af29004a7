import base64
import io
import re
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from fontTools.ttLib import TTFont

import symreln as sr
from symreln.document.document_model import (
    Details,
    Drawing,
    Figure,
    Math,
    Section,
    Table,
    Theorem,
    equation,
    on_paper,
    prose,
)
from symreln.document.escape import clean
from symreln.errors import InputError
from symreln.report import html, latex
from tests.cut_font import SHIPPED, cut
from tests.report.corpus import HOSTILE
from tests.report.sample import body, document

VOID = {"meta", "br", "img", "hr", "link", "input"}
INVISIBLE = {"\u2061", "\u00a0", " ", "\n"}


class Page(HTMLParser):
    """Reads a page strictly: every element closed, in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.words, self.tokens = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.words.append(data)
        if self.open and self.open[-1][0] in ("mi", "mo", "mn"):
            self.tokens.append((*self.open[-1], data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def text():
    return html.render(document())


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_page_has_what_readers_need(page):
    assert page.all("html")[0]["lang"] == "en"
    assert {"charset": "utf-8"} in page.all("meta")
    assert len(page.all("title")) == len(page.all("h1")) == len(page.all("main")) == 1
    assert page.all("nav")[0]["aria-label"] == "Contents"
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.all("svg"))
    assert len(page.all("summary")) == len(page.all("details")) == 2  # of the contents and ours
    assert {th["scope"] for th in page.all("th")} == {"col", "row"}


def test_policy_forbids_requests_and_foreign_scripts(text, page):
    (policy,) = (
        meta["content"]
        for meta in page.all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "font-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "script-src": " ".join(
            f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}'"
            for script in re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        ),
    }


def test_links_lead_somewhere_and_ids_are_unique(page):
    identifiers = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    targets = {
        attributes[name][1:]
        for _, attributes in page.elements
        for name in ("href", "xlink:href")
        if attributes.get(name, "").startswith("#")
    }
    assert targets - set(identifiers) == set()
    assert {"eq:solution", "lem:mutual", "cite-Saxe2022", "sec:gates"} <= targets


def test_numbers_are_those_that_references_say(text):
    assert re.search(r'id="eq:solution".*?<span class="number">\(2\)</span>', text)
    assert '<a href="#eq:solution">(2)</a>' in text
    assert re.search(r'id="lem:mutual"><span class="head">Lemma 1 \(mutual', text)
    assert 'id="rem"><span class="head">Remark 2.' in text
    assert '<a href="#sec:gates">Section 1.1</a>' in text
    assert 'aria-label="Figure 2"' in text
    assert '<a href="#cite-Saxe2022">[2]</a>' in text
    assert re.search(r'id="tab:modes">\s*<figcaption><span class="number">Table 1\.', text)


def test_proofs_end_with_their_mark():
    def proof(*blocks):
        block = Theorem(kind="Proof", blocks=blocks)
        return html.render(body(block))

    assert re.search(r"<p>words<span class=\"end\"[^>]*>□</span></p>", proof(prose("words")))
    assert re.search(r"</div>\n<p><span class=\"end\"[^>]*>□</span></p>", proof(equation("a")))


def test_a_stop_stays_on_the_line_of_its_formula():
    def shown(*content):
        return html.render(body(prose(*content)))

    kept = r'<span class="kept"><math>.*</math>\)\.</span> Then -'
    assert re.search(kept, shown("(", Math("a"), "). Then -", Math("b"), " more"))
    assert 'class="kept"' not in shown(Math("a"), " and", Math("b"), Math("c"))


def test_hostile_words_arrive_as_words(page):
    words = "".join(page.words)
    for hostile in HOSTILE:
        assert clean(hostile) in words


def italic_by_offset(letter):
    """Second route to the mathematical italics: by their place in Unicode's blocks."""
    if letter == "h":
        return "ℎ"
    for first, last, start in (("a", "z", 0x1D44E), ("A", "Z", 0x1D434), ("α", "ω", 0x1D6FC)):
        if first <= letter <= last:
            return chr(start + ord(letter) - ord(first))
    return letter


def embedded_font(text):
    encoded = re.search(r"data:font/woff;base64,([A-Za-z0-9+/=]+)", text)
    return TTFont(io.BytesIO(base64.b64decode(encoded[1])))


def missing_characters(text):
    drawn = set()
    for tag, attributes, data in Page(text).tokens:
        drawn |= set(data)
        if tag == "mi" and len(data) == 1 and attributes.get("mathvariant") != "normal":
            drawn.add(italic_by_offset(data))
    return drawn - INVISIBLE - set(map(chr, embedded_font(text).getBestCmap()))


@pytest.mark.parametrize("spec", ["xor", "routing"])
def test_font_has_every_character_of_a_derivation(spec, tmp_path):
    sr.derive(spec).save(tmp_path, formats=["html"])
    text = (tmp_path / "derivation.html").read_text(encoding="utf-8")
    assert missing_characters(text) == set()


def test_the_shipped_font_is_the_one_that_is_cut():
    again, shipped = TTFont(io.BytesIO(cut())).reader, TTFont(SHIPPED).reader
    assert shipped.keys() == again.keys()
    for name in shipped.keys() - {"head"}:  # which has the sum of all
        assert shipped[name] == again[name], name


def inlined(svg, alt="x"):
    """Return the page of a drawing."""
    figure = Figure(name="f", alt=alt)
    drawings = (Drawing(name="f", svg=svg),)
    return html.render(body(figure, figures=drawings))


@pytest.mark.parametrize(
    "bad",
    [
        "<svg><script>alert(1)</script></svg>",
        '<svg><a xlink:href="https://x"><path/></a></svg>',
        '<svg onload="alert(1)"></svg>',
        "<svg><foreignObject/></svg>",
        '<svg><image href="file:///x"/></svg>',
        "no drawing",
    ],
)
def test_foreign_drawings_are_refused(bad):
    with pytest.raises(InputError, match="figure 'f'"):
        inlined(bad)


@pytest.mark.parametrize(
    ("colour", "followed"),
    [
        ("#000000", "color-mix(in srgb, var(--ink) 100%, var(--paper))"),
        ("#ffffff", "color-mix(in srgb, var(--ink) 0%, var(--paper))"),
        ("#8a8a8a", "color-mix(in srgb, var(--ink) 51%, var(--paper))"),
        ("#d55e00", "#d55e00"),
        ("#0072b2", r"light-dark\(#0072b2, #[0-9a-f]{6}\)"),
    ],
)
def test_colours_of_drawings_follow_the_page(colour, followed):
    svg = f'<svg viewBox="0 0 1 1"><path style="fill: none; stroke: {colour}"/></svg>'
    shown = inlined(svg)
    pattern = followed if "\\" in followed else re.escape(followed)
    assert re.search(f'style="fill: none; stroke: {pattern}"', shown)
    assert 'fill="currentColor"' in shown


def test_what_a_page_folds_is_on_paper_in_full_alone_and_has_no_number():
    table = Table(header=("a",), rows=(("cell",),), caption="Between.")
    fold = Details(summary="on the way", blocks=(table,))
    shown = Section(title="s", blocks=(prose("before"), fold, prose("after")))
    source = body(shown)
    assert "<details>\n<summary>on the way</summary>" in html.render(source)
    assert "Between." in latex.render(source)
    assert "Table 1" not in html.render(source)
    assert r"\caption" not in latex.render(source).partition(r"\begin{document}")[2]
    for each in ("Between", "cell", "on the way"):
        assert each not in latex.render(on_paper(source))
    assert "before\n\nafter" in latex.render(on_paper(source))
    for numbered in (equation("a", label="eq:a"), Section(title="s", blocks=())):
        with pytest.raises(InputError, match="fold 'on the way'"):
            Details(summary="on the way", blocks=(numbered,))


def test_identifiers_are_the_drawings_own():
    inner = '<path id="p"/><use xlink:href="#p"/><g clip-path="url(#p)"/>'
    svg = f'<svg viewBox="0 0 1 1">{inner}</svg>'
    shown = inlined(svg, 'say "x" <b>')
    assert 'id="f-p"' in shown
    assert 'xlink:href="#f-p"' in shown
    assert "url(#f-p)" in shown
    assert 'aria-label="say &quot;x&quot; &lt;b&gt;"' in shown
