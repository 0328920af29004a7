"""A sweep of tiny networks, and ways to run it."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from symreln.base import pool
from symreln.cli import main as cli

SPEC = """\
title = "Two numbers"

[dataset]
X = [["2", "0", "1"], ["0", "1", "1"]]
Y = [["1", "0", "c"], ["0", "2", "1"]]

[dataset.labels]
sample = [1, 2, 3]

[parameters.c]
positive = true
value = 1

[[pathway]]
name = "all"
gate = "all"

[network]
activation = "linear"
hidden = 4
init_std = "1/10"
learning_rate = "1/20"
steps = 80
"""
OVER = ("--over", "network.hidden=3,5", "--over", "parameters.c.value=1,1/2")
SEEDS = 10  # in two tasks, of eight and of two


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The spec in a file."""
    path = tmp_path / "two.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sweeps use no other process."""
    monkeypatch.setattr(pool, "processes", lambda _: Here())


def arguments(source: Path, out: Path, *more: str) -> list[str]:
    """What a user types."""
    return ["sweep", str(source), *OVER, "--seeds", str(SEEDS), "--out", str(out), "-q", *more]


def command(capsys: pytest.CaptureFixture[str], *typed: str) -> tuple[int, str, str]:
    """Run a command in this process; return (exit code, stdout, stderr)."""
    code = cli._guarded(list(typed))
    out, err = capsys.readouterr()
    return code, out, err


def contents(folder: Path) -> dict[str, bytes]:
    """Every finished file of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".tmp"
    }


class Here(Executor):
    """Does tasks in this process, at once."""

    def submit(self, work, /, *arguments, **named):
        """Return what is done already."""
        future = Future()
        try:
            future.set_result(work(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future
