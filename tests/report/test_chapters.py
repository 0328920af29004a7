"""The documents of real derivations: what they claim is what was derived."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import symreln as sr
from symreln.document.document_model import (
    Details,
    on_paper,
    plain_text,
    walk,
)
from symreln.pipeline.certificate import certificate
from symreln.report import html, latex
from tests.own_specs import own, path
from tests.unchecked import derive_unchecked

COUPLED = own(
    [[1, 1, 0], [0, 0, 1]],
    [[2, 2, 0], [0, 0, 1]],
    path("all"),
    path("first", "s == 1"),
    labels={"s": [1, 2, 3]},
)


def test_coupled_modes_print_their_system():
    derivation = sr.derive(sr.load(COUPLED))
    assert derivation.verdict.level is sr.Level.COUPLED_MODES
    text = derivation.to_latex(full=True)
    # By hand: s = 4/3, d = 2/3; the second pathway shares one of three samples, g = 1/3, k = 1.
    equation = (
        r"2 \pi_{1,1} \left( \frac{4}{3} - \frac{2 \pi_{1,1}}{3} - \frac{\pi_{2,1}}{3} \right)"
    )
    assert equation in text
    # The dot stands over the letter, not over the letter and its index.
    assert r"\tau \dot{\pi}_{1,1} &=" in text


def test_a_page_folds_the_long_parts(three):
    folded = [b for b, _ in walk(three.to_document().blocks) if isinstance(b, Details)]
    summaries = {plain_text(block.summary) for block in folded}
    assert {"Gates, sample by sample", "The correlation matrices"} <= summaries


def test_large_correlations_are_printed_by_blocks_or_said(three):
    text = three.to_latex(full=True)
    block = r"\frac{c}{24}\,\mathbf{1}\mathbf{1}^{\top}"
    for printed in (
        r"\Sigma^{yx}(1) &\in \mathbf{Q}(c)^{60 \times 11}, \quad \text{of rank } 10,",
        rf"\frac{{1}}{{8}}\,I & {block} \\[0.7ex] {block} & \frac{{c^{{2}}}}{{3}}\,I",
        r"\Sigma^{x}(2) &= \frac{1}{12}\,I.",
    ):
        assert printed in text
    assert len(re.findall("identity matrix|of ones", text)) == 2


def test_latex_of_a_derivation_from_python(three):
    assert three.to_latex() == latex.render(on_paper(three.to_document()))


def test_gains_are_in_the_equations():
    spec = COUPLED | {
        "parameters": {"g": {"positive": True, "value": 2}},
        "pathway": [{"name": "all", "gate": [1, "g", 0]}],
    }
    text = derive_unchecked(sr.load(spec)).to_latex(full=True)
    gains = "and a gain multiplies both"
    assert gains in text
    assert gains not in sr.derive(sr.load(COUPLED)).to_latex(full=True)


def test_a_derivation_shows_itself_in_a_line_and_in_a_frame(three):
    assert three._headline() == (
        "Derivation('Three contexts, equal structures', closed by symmetry, stages=2, pathways=4)"
    )
    shown = three._repr_html_()
    page = unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert page == html.render(three.to_document())
    assert 'sandbox="allow-scripts"' in shown
    assert three.to_json() is three.to_json()


def _of_file(folder: Path, data: str, rate: str) -> str:
    """Return the LaTeX of a spec in a file, for a dataset and a learning rate as written."""
    file = folder / "spec.toml"
    file.write_text(
        f'[[pathway]]\nname = "all"\ngate = "all"\n[dataset]\n{data}\n'
        f"[network]\nhidden = 10\nlearning_rate = {rate}\ninit_std = 0.01\nsteps = 100\n"
    )
    return sr.derive(sr.load(file)).to_latex(full=True)


def test_numbers_of_the_spec_are_printed_as_they_were_written(tmp_path: Path):
    decimals = _of_file(tmp_path, "X = [[0.50, -0.25], [0.1, 2.0]]\nY = [[1, 0.35]]", "0.05")
    assert r"0.5 & -0.25 \\ 0.1 & 2 \end" in decimals
    assert r"1 & 0.35 \end" in decimals
    assert r"\texttt{0.05}" in decimals
    assert r"\tau = 1/(P \eta) = 10$" in decimals
    # What is computed from them too, where it has few digits.
    assert r"\Sigma^{yx}(1) &= \begin{pmatrix} 0.20625" in decimals

    fractions = _of_file(tmp_path, 'X = [["1/2", -0.25], [0.1, 2.0]]\nY = [[1, 0.35]]', '"1/20"')
    assert r"\frac{1}{2} & - \frac{1}{4}" in fractions
    assert r"\texttt{1/20}" in fractions

    # How a number is written is no part of what a spec says.
    file = tmp_path / "spec.toml"
    said = sr.load(file)
    file.write_text(file.read_text().replace('"1/20"', "0.05").replace('"1/2"', "0.5"))
    assert sr.load(file) == said
    assert certificate(sr.derive(sr.load(file))) == certificate(sr.derive(said))

    (tmp_path / "x.csv").write_text("0.5,0.1\n-0.25,2\n")
    (tmp_path / "y.csv").write_text("1\n0.35\n")
    files = 'inputs = "x.csv"\ntargets = "y.csv"'
    assert r"0.5 & -0.25 \\ 0.1 & 2 \end" in _of_file(tmp_path, files, "0.05")
    (tmp_path / "y.csv").write_text("1\n7/20\n")
    assert r"1 & \frac{7}{20} \end" in _of_file(tmp_path, files, "0.05")
