"""What is refused before any work is done for it, and what the terminal shows once."""

from __future__ import annotations

import symreln as sr
from symreln.report.terminal import summary_of
from tests.app.command import command
from tests.cases import contexts_spec
from tests.pathways.examples import RATIONAL


def test_a_folder_is_not_left_behind_by_a_spec_that_is_refused(tmp_path):
    out = tmp_path / "a" / "b"
    assert command("derive", "nowhere.toml", "--out", out).code == 2
    assert list(tmp_path.iterdir()) == []


def test_pathways_with_equal_modes_are_one_on_the_terminal():
    _, _, rows = summary_of(sr.derive(contexts_spec(RATIONAL, 5)))["table"]
    learning = [row for row in rows if "two-layer" in row[-1]]
    assert [row[0] for row in learning] == ["p1 … p5 (5 pathways)"] * 2


def test_pathways_with_different_modes_are_not():
    spec = sr.load("xor")
    _, _, rows = summary_of(sr.derive(spec))["table"]
    assert any("two-" in row[-1] for row in rows)
