"""What is refused before any work is done for it, and what the terminal shows once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import symreln as sr
from symreln.claims import divergence
from symreln.claims.integration import coupled_matrices
from symreln.errors import InputError
from symreln.report.terminal import summary_of
from tests.app.command import command
from tests.cases import contexts_spec
from tests.pathways.examples import RATIONAL


def test_a_folder_is_not_left_behind_by_a_spec_that_is_refused(tmp_path):
    out = tmp_path / "a" / "b"
    assert command("derive", "nowhere.toml", "--out", out).code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["xor", "contextual-3", "contextual-different"])
@pytest.mark.parametrize(("dense", "error"), [(0, 0.02), (10**6, 1e-6)])
def test_the_early_rate_is_that_of_the_flow(name, dense, error, monkeypatch):
    found = []
    monkeypatch.setattr(divergence, "check_step_size", lambda _, rate: found.append(rate))
    monkeypatch.setattr(divergence, "DENSE", dense)
    spec = sr.load(name)
    divergence.check_before_deriving(spec)
    (rate,) = found
    exact = coupled_matrices(sr.derive(spec).at_values).rate
    assert exact * (1 - error) <= rate <= exact * (1 + 1e-6)


def test_a_lower_bound_of_the_rate_never_refuses_what_converges(monkeypatch):
    # Power steps approach the norm from below, whatever they start from.
    monkeypatch.setattr(divergence, "DENSE", 0)
    random = np.random.default_rng(0)
    for _ in range(20):
        matrix = random.normal(size=(9, 7))
        limit = float(np.linalg.norm(matrix, 2))
        assert 0.5 * limit < divergence._norm(csr_array(matrix)) <= limit * (1 + 1e-12)


def test_pathways_with_equal_modes_are_one_on_the_terminal():
    _, _, rows = summary_of(sr.derive(contexts_spec(RATIONAL, 5)))["table"]
    learning = [row for row in rows if "two-layer" in row[-1]]
    assert [row[0] for row in learning] == ["p1 … p5 (5 pathways)"] * 2


def test_pathways_with_different_modes_are_not():
    spec = sr.load("xor")
    _, _, rows = summary_of(sr.derive(spec))["table"]
    assert any("two-" in row[-1] for row in rows)
    with pytest.raises(InputError):
        divergence.check_step_size(spec.network, 2.0)  # pyright: ignore[reportArgumentType]
