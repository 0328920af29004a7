"""Nothing that a file or an argument holds steers the terminal that a message is printed on."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from symreln.cli import main as cli
from tests.campaigns.random_specs import toml_of
from tests.own_specs import task

#: Colour, a window title, its end, a bidirectional override, and what prints as nothing.
EVIL = "\x1b[31mred\x1b]0;title\x07\x9d\u202e\u200b"
SPECS = {
    "graph.toml": {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [[1, 2]]},
        "node": [{"name": "a"}],
        "edge": [{"name": EVIL, "from": "a", "to": EVIL}],
    },
    "size.toml": task({"task": "contextual", "items": EVIL, "contexts": 3}),
}


def calm(text: str) -> bool:
    return all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cf", "Zl", "Zp"} for c in text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["derive", "EVIL.toml"],
        ["derive", "graph.toml"],
        ["derive", "size.toml"],
        ["derive", "xor", "--set", "EVIL=1"],
        ["derive", "xor", "--EVIL"],
        ["derive", "xor", "--format", "EVIL"],
        ["derive", "xor", "--format", "json", "--out", "EVIL"],
        ["derive", "linear-hierarchy", "--quiet", "--json", "--set", 'title="EVIL"'],
        ["verify", "EVIL"],
        ["race", "xor", "--by", "EVIL"],
        ["sweep", "xor", "--over", "network.hidden=1,EVIL"],
        ["tasks", "EVIL"],
        ["reproduce", "EVIL"],
    ],
    ids=" ".join,
)
def test_what_is_printed_is_calm(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name, tables in SPECS.items():
        Path(name).write_text(toml_of(tables), encoding="utf-8")
    cli._guarded([argument.replace("EVIL", EVIL) for argument in arguments])
    printed = capsys.readouterr()
    assert printed.out + printed.err
    assert calm(printed.out), printed.out
    assert calm(printed.err), printed.err


@pytest.mark.parametrize("name", ["a\\u200bb", "\\u3164", "\\u200d\\u200d", "\\u2800", "\\ufe0f"])
def test_names_of_invisible_characters_are_refused(name: str, capsys):
    assert cli._guarded(["derive", "xor", "--set", f'pathway[0].name="{name}"']) == 2
    assert "invisible" in (said := capsys.readouterr().err) or "blank" in said
