"""Levels, reasons and witnesses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.exact.truth import Truth
from symreln.verdict.judge import Level
from tests.cases import contexts_spec, matrix_spec
from tests.verdict.examples import (
    GOLDEN,
    RATIONAL,
    equal_race,
    oblique_samples,
    race,
    same_inputs_other_outputs,
)

SKEW_X, SKEW_Y = [[1, 1, 0], [0, 1, 2]], [[1, 0, 1], [0, 2, 1]]


def test_a_pathway_that_does_not_commute_is_refuted_with_its_witness():
    derivation = sr.derive(matrix_spec(SKEW_X, SKEW_Y, [[1, 1, 1]]))
    (pathway,) = derivation.pathways
    assert pathway.commutes is Truth.REFUTED
    x, y = np.array(SKEW_X) / 1.0, np.array(SKEW_Y) / 1.0
    sigma_yx, sigma_x = y @ x.T / 3, x @ x.T / 3
    m = sigma_yx.T @ sigma_yx
    commutator = m @ sigma_x - sigma_x @ m
    witness = pathway.spectrum.commutator
    assert float(witness.value.to_fraction()) == pytest.approx(
        commutator[witness.row, witness.column], rel=1e-12
    )
    relative = np.linalg.norm(commutator) / np.linalg.norm(m @ sigma_x)
    assert float(witness.relative_norm_squared.to_fraction()) == pytest.approx(relative**2)
    reason = derivation.verdict.reasons[0]
    assert f"[{witness.row + 1}, {witness.column + 1}] = {witness.value}" in reason
    assert "'p1'" in reason
    assert derivation.loss is None
    assert all(mode.strength is None and mode.d is None for mode in pathway.modes)


@pytest.mark.parametrize(
    ("spec", "level", "words"),
    [
        (same_inputs_other_outputs(), Level.CLOSED, "no two pathways couple"),
        (equal_race(RATIONAL), Level.CLOSED_BY_SYMMETRY, "equal total coupling"),
        (race(GOLDEN), Level.COUPLED_MODES, "competitive Lotka-Volterra"),
        (contexts_spec(GOLDEN, 2), Level.CLOSED, "no two pathways couple"),
    ],
    ids=["closed", "symmetry", "modes", "two contexts never meet"],
)
def test_reasons_name_the_level(spec, level, words):
    verdict = sr.derive(spec).verdict
    assert verdict.level is level
    assert words in " ".join(verdict.reasons)


def test_every_basis_of_a_degenerate_space_is_searched():
    _, symmetry, closure = sr.derive(oblique_samples()).verdict.reasons
    assert symmetry.startswith("not closed by symmetry: ")
    assert "no other basis of modes of equal s and d (here up to 2) closes" in symmetry
    assert "and no other basis closes" in closure


@pytest.mark.parametrize(
    ("targets", "gates", "reason"),
    [
        (
            [[0, 0, -1], [-1, 0, -1]],
            [[1, 1, 1], [0, 1, 1]],
            "the action of mode 1 of 'p2' mixes modes 1, 2 of 'p1'",
        ),
        (
            [[0, 0, 2, -1, 1, 1]],
            [[0, 1, 1, 0, 1, 1], [1, 1, 1, 0, 0, 1]],
            "mode 1 of 'p2' drives null mode 2 of 'p1'",
        ),
    ],
    ids=["a simple mode", "null modes of multiplicity 3"],
)
def test_what_no_basis_mends_is_said_not_to_close_rather_than_not_proven(targets, gates, reason):
    inputs = np.eye(len(targets[0]), dtype=int).tolist()
    derivation = sr.derive(matrix_spec(inputs, targets, gates))
    assert derivation.verdict.level is Level.COUPLED_MATRICES
    last = derivation.verdict.reasons[-1]
    assert last == f"{reason}, so the strengths alone, each starting anywhere, do not close"


def test_a_long_entry_is_about_a_decimal_in_a_sentence_and_exact_in_the_file():
    inputs = [["123456789/1000000007", "1/3"], ["22/7", "5/11"]]
    tables = {"dataset": {"X": inputs, "Y": [["1/999983", "2/5"]]}, "pathway": [{"name": "all"}]}
    derivation = sr.derive(sr.load(tables))
    (reason,) = derivation.verdict.reasons
    assert reason.endswith("about 0.02915, not 0")
    entry = derivation.to_json()["pathways"][0]["commutator"]["witness"]["value"]["expr"]
    assert len(entry) > 40
    assert abs(float(Fraction(entry)) - 0.02915) < 1e-5
