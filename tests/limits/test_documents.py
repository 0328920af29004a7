"""The documents of a derivation that was cut: set like any other, in time."""

from __future__ import annotations

import json
import re

import pytest

import symreln as sr
from symreln.limits.partial import Reached, Told, partial_derivation
from symreln.limits.scribe import Scribe
from symreln.limits.steps import StepWriter, read_steps
from symreln.limits.witness import witness
from symreln.report import font, html
from symreln.report.chapters.limits import limited_document

FONT = re.compile(r"data:font/[^)\"']*")


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Return what a worker and a witness told."""
    folder = tmp_path_factory.mktemp("told")
    spec = sr.load("contextual-3", ["parameters.c.value=3/2"])
    steps, boxes = StepWriter(folder / "steps"), StepWriter(folder / "boxes")
    steps.spec(spec)
    sr.derive(spec, progress=steps.progress)
    witness(spec, boxes, lambda: False)
    return read_steps(folder / "steps"), read_steps(folder / "boxes")


def partial_of(lines, cut):
    told = Told(lines[0][:cut], lines[1])
    reached = Reached(kind="time", limit="3 s", seconds=3.0)
    return json.loads(json.dumps(partial_derivation(told, reached)))


def documents(partial):
    return dict(Scribe({"tex", "html"}).documents(partial))


@pytest.mark.parametrize("cut", [1, 5, 99])
def test_formulas_are_set_as_mathematics(lines, cut):
    partial = partial_of(lines, cut)
    found = documents(partial)
    for text in found.values():
        page = FONT.sub("", text)
        assert not re.search(r"\*\*|\bsqrt\(|\d\*\w|e-\d+[^\w]", page.split("</style>")[-1])
    if cut == 99:
        assert r"\sqrt{" in found["derivation.tex"]
        assert "<msqrt>" in found["derivation.html"]
    if cut == 1:
        assert r"$c = \frac{3}{2}$" in found["derivation.tex"]
        assert r"$10^{-" in found["derivation.tex"]


@pytest.mark.parametrize(
    ("cut", "table"), [(1, "Certified enclosures for"), (99, "Proven modes of")]
)
def test_pathways_that_are_alike_are_shown_once(lines, cut, table):
    tex = documents(partial_of(lines, cut))["derivation.tex"]
    assert re.findall(rf"{table} (\w+) `(\w+)", tex) == [
        ("pathway", "common"),
        ("pathways", "off"),
    ]


def test_a_page_has_the_font_that_was_cut_before(lines, monkeypatch):
    scribe = Scribe({"html"})
    monkeypatch.setattr(font, "math_font", None)  # that would take most of the time there is
    partial = partial_of(lines, 99)
    [(name, page)] = scribe.documents(partial)
    monkeypatch.undo()
    assert name == "derivation.html"
    assert FONT.sub("", page) == FONT.sub("", html.render(limited_document(partial)))
    assert FONT.search(page)


def test_a_character_that_was_not_foreseen_gets_a_font_of_its_own(lines):
    scribe = Scribe({"html"})
    before = scribe._drawn
    partial = partial_of(lines, 1)
    for pathway in partial["pathways"]:
        pathway["enclosed_at"] = {"Xi": "1"}
    [(_, page)] = scribe.documents(partial)
    assert "Ξ" in scribe._drawn - before or "𝛯" in scribe._drawn - before
    assert FONT.search(page)


def test_only_what_was_asked_for_is_written(lines):
    assert [name for name, _ in Scribe({"tex"}).documents(partial_of(lines, 1))] == [
        "derivation.tex"
    ]
