"""What the README shows is run: its spec, its Python, and every command's options."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

import symreln as sr
from symreln.cli.main import cli

TEXT = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
#: What makes the trainings of an example short; what is derived does not change by it.
SHORT = {"contextual-3": ("network.steps=40", "network.hidden=20")}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.split("sr.")[1][:12])
def test_python_runs_and_prints_what_the_comments_say(code, monkeypatch, capsys):
    load = sr.load
    monkeypatch.setattr(sr, "load", lambda name: load(name, SHORT.get(name, ())), raising=False)
    exec(compile(code.replace("seeds=20", "seeds=2"), "README.md", "exec"), {})
    shown = capsys.readouterr().out.splitlines()
    printing = [line for line in code.splitlines() if line.startswith("print(")]
    assert len(shown) == len(printing)
    said = [line.partition("  # ")[2] for line in printing]
    assert any(said)
    assert all(not comment or comment == out for comment, out in zip(said, shown, strict=True))


def test_the_first_spec_has_the_modes_that_are_named():
    (text,) = blocks("toml")
    derivation = sr.derive(sr.load(tomllib.loads(text)))
    assert derivation.verdict.level.value == "closed"
    for pathway in derivation.pathways:
        learning = [mode for mode in pathway.modes if not mode.is_null]
        symbols = derivation.spec.symbols
        found = [(str(m.s.to_sympy(symbols)), str(m.d.to_sympy(symbols))) for m in learning]
        assert found == [("sqrt(Delta**2 + 2)/4", "Delta**2/4 + 1/2")]


def commands() -> list[str]:
    """Every command of the README: of its blocks without a language, and of its spans."""
    lines = [line for block in blocks("") for line in block.splitlines()]
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    parts = [part.strip() for line in (*lines, *spans) for part in line.split("&&")]
    return sorted({part for part in parts if part.startswith("symreln ")})


def test_commands_and_their_options_exist():
    wrong = []
    for line in commands():
        _, name, *words = shlex.split(line)
        command = cli.commands.get(name)
        if command is None:
            wrong.append(f"{line}: no command {name}")
            continue
        known = {option for each in command.params for option in each.opts}
        wrong += [f"{line}: {w}" for w in words if w.startswith("--") and w not in known]
    assert not wrong
    assert len(commands()) > 10


def test_every_command_has_a_help_text_without_a_metavar_that_is_a_unit():
    for name, command in cli.commands.items():
        text = command.get_help(click.Context(command, info_name=name))
        assert "SECONDS" not in text
        assert "Usage" in text
