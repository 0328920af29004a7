"""Derivations, compiled by TeX: within their margins, numbered as the page is, pasted, included."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

import symreln as sr
from symreln.document.document_model import Document, Drawing, Figure, walk
from symreln.report import latex
from symreln.report.content import derivation_document
from symreln.report.latex_style import Style
from symreln.report.renderer import Renderer
from tests.own_specs import own, path
from tests.report.latexmk import compiled, needs_latexmk
from tests.report.sample import document, drawings

OWN = own(
    [["1", "1/3"], ["0", "Delta"]],
    [["1", "-1"], ["c**2", "7/3"]],
    path("all_of_it"),
    title="Two modes & 100 % of #1",
    parameters={name: {"positive": True, "value": v} for name, v in (("Delta", 1), ("c", "1/2"))},
)
QUICK = ("linear-hierarchy",)
ALL = ("contextual-3", "contextual-C", "xor", "contextual-different", "routing", "depth", "own")
CASES = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in ALL)]
# A colleague's paper: no package beyond those that one expects there.
PAPER = r"""\documentclass[11pt]{article}
\usepackage[margin=27mm]{geometry}
\usepackage{amsmath,amsthm,booktabs,graphicx}
\newtheorem{theorem}{Theorem}
\newtheorem{lemma}[theorem]{Lemma}
\newtheorem{proposition}[theorem]{Proposition}
\newtheorem{definition}[theorem]{Definition}
\newtheorem{remark}[theorem]{Remark}
\title{Mine}
\begin{document}
%s
\end{document}
"""
SOURCES = r"""\begin{thebibliography}{9}
%s
\end{thebibliography}"""


@lru_cache(maxsize=2)
def derivation_of(name: str) -> Document:
    spec = sr.load(OWN if name == "own" else name)
    pdf = drawings()[0].pdf
    names = ("gates", "vectors", "modes", "loss", "graph")
    drawn = tuple(Drawing(name=each, svg="<svg/>", pdf=pdf) for each in names)
    return derivation_document(sr.derive(spec), figures=drawn)


def mishaps(log: str) -> list[str]:
    """Lines of a log that a reader of the document would see, or the author of the paper."""
    signs = ("Overfull", "undefined", "multiply", "Missing character", "Float too large")
    return [line for line in log.splitlines() if any(sign in line for sign in signs)]


@needs_latexmk
@pytest.mark.parametrize("name", CASES)
def test_a_derivation_is_within_its_margins_and_numbered_as_its_page(name, tmp_path):
    source = derivation_of(name)
    assert mishaps(compiled(source, latex.render(source), tmp_path)) == []
    aux = (tmp_path / "document.aux").read_text()
    given = dict(re.findall(r"\\newlabel\{([^}]+)\}\{\{([^}]*)\}", aux))
    ours = {label: anchor.number for label, anchor in Renderer(source).anchors.items()}
    assert {label: given[label] for label in ours} == ours
    # Captions without a label are numbered too: as many as the page has.
    counted = re.findall(r"\\contentsline \{(figure|table)\}\{\\numberline \{(\d+)\}", aux)
    blocks = [block for block, _ in walk(source.blocks) if getattr(block, "caption", ())]
    kinds = ["figure" if isinstance(block, Figure) else "table" for block in blocks]
    assert counted == [(kind, str(kinds[: n + 1].count(kind))) for n, kind in enumerate(kinds)]


@needs_latexmk
@pytest.mark.parametrize("name", CASES)
def test_the_body_compiles_in_a_colleagues_paper(name, tmp_path):
    source = derivation_of(name)
    body = latex.render(source).split(r"\begin{document}")[1].split(r"\end{document}")[0]
    log = compiled(source, PAPER.replace("%s", body), tmp_path)
    assert not [line for line in mishaps(log) if "Overfull" not in line]


@needs_latexmk
def test_two_fragments_go_into_one_paper(tmp_path):
    source = document()
    one = Style(prefix="one:", level=2, numbering="S")
    for name, style in (("one", one), ("two", Style(prefix="two:", numbering="all"))):
        (tmp_path / f"{name}.tex").write_text(latex.fragment(source, style))
    sources = "\n".join(rf"\bibitem{{{each.key}}} x" for each in source.bibliography)
    own = r"\section{Own}\begin{equation}\label{eq:loss} x = \eqref{two:eq:loss}\end{equation}"
    body = "\n".join([own, r"\input{one}", r"\input{two}", SOURCES % sources])
    paper = PAPER.replace("%s", body).replace(
        "\n", "\\usepackage[T1]{fontenc}\n", 1
    )  # for its labels
    log = compiled(source, paper, tmp_path)
    assert not [line for line in mishaps(log) if "Overfull" not in line]
    aux = (tmp_path / "document.aux").read_text()
    given = dict(re.findall(r"\\newlabel\{([^}]+)\}\{\{\{?([^}]*)\}", aux))
    assert [given[f"{each}sec:setting"] for each in ("one:", "two:")] == ["1.1", "2"]
    # The first takes no number of the paper: (1) is its own, and all displays of the second count.
    assert [given[each] for each in ("one:eq:blocks", "eq:loss", "two:eq:blocks")] == [
        "S1",
        "1",
        "3",
    ]
