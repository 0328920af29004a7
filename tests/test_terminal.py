"""What a terminal of 80 columns shows of every ready-made spec, and of the other commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import symreln as sr
from symreln.base.tables import plain_table
from symreln.calls.inform import tasks
from symreln.cli import main as cli
from symreln.document.escape import in_letters
from symreln.report.reproduction import plain

FEW = ["--set", "network.steps=300", "--set", "network.hidden=20", "--seeds", "2"]
COMMANDS = (
    *(["derive", name, "--format", "json"] for name in tasks() if name not in ("digits", "depth")),
    ["race", "xor"],
    ["race", "contextual-3", "--by", "context"],
    ["race", "contextual-3", "--by", "context", "--over", "c"],
    ["gates", "xor", "--method", "self-consistent"],
    ["validate", "xor", *FEW],
    ["sweep", "xor", "--over", "network.learning_rate=1/1000,1/2000", *FEW],
    ["reproduce", "linear-hierarchy"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    assert cli._guarded([*command, "--out", "o"]) in (0, 3)
    printed = capsys.readouterr().out
    assert printed
    wide = [line for line in printed.splitlines() if len(line) > 80]
    assert not wide
    assert not re.findall(r"\\[A-Za-z]+|\$|\*\*(?!\w|\()|`|^\|", printed, re.MULTILINE)


def test_columns_without_room_follow_with_the_first_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    cells = ["0.12345678901234", "1.5 % [0.1 %, 2.9 %]", "中文"]
    shown = plain_table(
        "a title that is longer than forty columns are", list("kxyz"), [["a", *cells]]
    )
    assert max(map(len, shown.splitlines())) <= 40
    assert all(shown.count(cell) == 1 for cell in cells)
    assert shown.count("\n  k ") == shown.count("\n  a ") == 2


def test_mathematics_is_letters_on_a_terminal():
    assert plain(r"At `xor`, $\Delta^{2} \leq \frac{\sqrt{6}}{3}$.") == "At xor, Δ^2 ≤ √6/3."
    assert in_letters(r"\tau\dot{{\pi}} = 2\ln(s/(d\pi_0))") == "τπ̇ = 2 ln(s/(dπ_0))"


def test_lines_of_a_file_are_as_long_as_they_were():
    assert sr.derive("contextual-C").modes.__repr__().count("family") == 1
