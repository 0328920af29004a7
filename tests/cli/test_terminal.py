"""What a terminal shows: no line is wider than it, no number is broken, nothing steers it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import symreln as sr
from symreln.base import pool
from symreln.base.tables import plain_table
from tests.cli.command import Here, command

FEW = ["--set", "network.steps=300", "--set", "network.hidden=20", "--seeds", "2"]
COMMANDS = (
    *(
        ["derive", name, "--format", "json"]
        for name in sr.tasks()
        if name in ("contextual-3", "contextual-C", "iris", "routing")
    ),
    ["race", "xor"],
    ["race", "contextual-3", "--by", "context"],
    ["race", "contextual-3", "--by", "context", "--over", "c"],
    ["gates", "xor", "--method", "self-consistent"],
    ["validate", "xor", *FEW],
    ["sweep", "xor", "--over", "network.learning_rate=1/1000,1/2000", *FEW],
    ["reproduce", "linear-hierarchy"],
)


@pytest.mark.parametrize("asked", COMMANDS, ids=" ".join)
def test_no_line_is_wider_than_the_terminal(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(pool, "processes", Here)
    monkeypatch.chdir(tmp_path)
    found = command(*asked, "--out", "o")
    printed = found.out
    assert found.code in (0, 3)
    assert printed
    wide = [line for line in printed.splitlines() if len(line) > 80]
    assert not wide
    assert not re.findall(r"\\[A-Za-z]+|\$|\*\*(?!\w|\()|`|^\|", printed, re.MULTILINE)


def test_ordinary_tables_stand_in_columns():
    assert plain_table("modes", ["pathway", "s"], [["common", "2"], ["off", "10"]]) == (
        "modes           \n"
        "                \n"
        "  pathway    s  \n"
        " ────────────── \n"
        "  common     2  \n"
        "  off       10  \n"
        "                \n"
    )
