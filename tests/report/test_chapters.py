"""The documents of real derivations: what they claim is what was derived."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from pathlib import Path

import numpy as np

import symreln as sr
from symreln.claims.derivation import Derivation
from symreln.claims.pathway_orbits import mode_orbits
from symreln.document.document_model import (
    Details,
    Equation,
    Math,
    Section,
    Table,
    on_paper,
    plain_text,
    walk,
)
from symreln.document.mathtext import to_latex
from symreln.pipeline.certificate import certificate
from symreln.report import html, latex
from tests.unchecked import derive_unchecked

COUPLED = {
    "title": "Two pathways that compete",
    "dataset": {
        "X": [["1", "1", "0"], ["0", "0", "1"]],
        "Y": [["2", "2", "0"], ["0", "0", "1"]],
        "labels": {"s": [1, 2, 3]},
    },
    "pathway": [{"name": "all", "gate": "all"}, {"name": "first", "gate": "s == 1"}],
}


def sections(derivation: Derivation) -> dict[str, Section]:
    return {
        plain_text(block.title): block
        for block in derivation.to_document().blocks
        if isinstance(block, Section)
    }


def test_every_printed_solution_is_the_proven_one(three):
    """The equations of the chapter are the LaTeX of trajectories whose residual is 0."""
    lines = [
        line
        for block, _ in walk(sections(three)["Result"].blocks)
        if isinstance(block, Equation)
        for line in block.lines
    ]
    for group in mode_orbits(three):
        for mode in group.first.modes:
            if not mode.is_null:
                assert mode.strength is not None
                assert mode.strength.residual() == 0
                formula = f"{group.symbol(mode)}(t) &= {to_latex(mode.strength.expr)}"
                assert formula in lines


def test_equal_pathways_are_shown_once(three):
    groups = mode_orbits(three)
    assert [[p.name for p in group.pathways] for group in groups] == [
        ["common"],
        ["off_1", "off_2", "off_3"],
    ]
    tables = [
        block for block, _ in walk(sections(three)["Result"].blocks) if isinstance(block, Table)
    ]
    # Five modes of the first pathway and three of each of the others, once each.
    (table,) = tables
    symbols = [rf"\pi_{{1,{n}}}" for n in range(1, 6)] + [rf"\pi_{{p,{n}}}" for n in range(1, 4)]
    assert [row[0] for row in table.rows] == [(Math(symbol),) for symbol in symbols]
    # Then the pathways and the singular vectors of both kinds, once each.
    later = walk(sections(three)["Data, pathways and modes"].blocks)
    heads = [plain_text(block.header[0]) for block, _ in later if isinstance(block, Table)]
    assert heads == ["pathway", "input", "input"]


def test_a_pathway_without_a_joint_eigenbasis_shows_no_heights(different):
    first = next(
        block
        for block, _ in walk(sections(different)["Data, pathways and modes"].blocks)
        if isinstance(block, Table) and plain_text(block.header[0]) == "mode"
    )
    assert [plain_text(cell) for cell in first.header] == [
        "mode",
        "s",
        "s in decimals",
        "multiplicity",
    ]


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


def test_json_follows_the_interface(three):
    found = three.to_json()
    assert {"format", "free_constants", "verdict", "pathways", "couplings", "loss", "steps"} <= set(
        found
    )
    assert found["verdict"]["level"] == "closed by symmetry"
    for pathway in found["pathways"]:
        assert {"name", "samples", "commutes", "commutator", "modes"} <= set(pathway)
        speeds = [float(mode["s"]["decimal"]) for mode in pathway["modes"]]
        assert speeds == sorted(speeds, reverse=True)
        assert pathway["modes"][-1]["s"]["expr"] == "0"
        for mode in pathway["modes"]:
            assert {"s", "d", "multiplicity", "d_eff", "family", "strength0", "strength",
                    "half_time"} <= set(mode)  # fmt: skip
    coupling = found["couplings"][0]
    assert coupling["from"] == "off_2"
    assert coupling["to"] == "off_1"
    assert coupling["overlap"]["expr"] == "-1/2"
    assert coupling["overlap"]["decimal"] == "-0.500000000000000000000"
    assert coupling["input_overlap"]["expr"] == "1/24"
    assert found["loss"]["initial"]["expr"] == "4"
    assert found["loss"]["final"]["expr"] == "0"


def test_irrational_overlaps_are_matrices_that_float_routes_agree_on(different):
    """K and G of a coupled-matrices stage against U, V from NumPy's SVD, up to signs."""

    entry = different.to_json()["couplings"][0]
    stage = different.at_values.stages[1].pathways
    target = next(p for p in stage if p.name == entry["to"])
    source = next(p for p in stage if p.name == entry["from"])

    def left_vectors(pathway):
        u, s, _ = np.linalg.svd(pathway.effective.sigma_yx.to_numpy(), full_matrices=False)
        return u[:, s > 1e-9]

    expected = np.abs(left_vectors(target).T @ left_vectors(source))
    # Distinct singular values here: each vector is unique up to its sign.
    assert np.allclose(np.abs(np.array(entry["overlap"])), expected, atol=1e-9)


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


def test_modes_of_alike_pathways_are_theirs_in_json(three, different):
    for derivation in (three, different):
        for entry, pathway in zip(
            derivation.to_json()["pathways"], derivation.pathways, strict=True
        ):
            for found, mode in zip(entry["modes"], pathway.modes, strict=True):
                assert found["label"] == mode.label
                assert found["multiplicity"] == mode.multiplicity
                strength = mode.strength and str(mode.strength.expr)
                assert (found["strength"] or {}).get("expr") == strength
                assert (
                    abs(float(found["s"]["decimal"]) - mode.s.to_float({"c": Fraction(1)})) < 1e-12
                )


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
