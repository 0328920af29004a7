"""docs/extending.md is carried out: every change in a copy of the package, every command run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

import symreln

PACKAGE = Path(symreln.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S))


def blocks(section: str) -> list[tuple[str, str, str]]:
    """Every fenced block: (language, file, text)."""
    found = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", section, re.M | re.S)
    assert all(file or language == "console" for language, file, _ in found)
    return found


def changed(text: str, diff: str) -> str:
    """The text after a diff, whose parts between @@ stand in it exactly once each."""
    for part in diff.split("@@\n"):
        lines = part.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Every command with the lines that it is to show."""
    first, *parts = re.split(r"^\$ ", text, flags=re.M)
    assert not first
    return [(part.splitlines()[0], part.splitlines()[1:]) for part in parts]


@pytest.mark.parametrize("title", SECTIONS)
def test_the_page_does_what_it_says(title, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "symreln")
    for path in PACKAGE.rglob("*.py"):  # what is compiled need not be compiled again
        compiled = Path(cache_from_source(str(path)))
        place = Path(cache_from_source(str(tmp_path / "symreln" / path.relative_to(PACKAGE))))
        if compiled.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(compiled, place)
    touched = set()
    for language, file, text in blocks(SECTIONS[title]):
        path = tmp_path / file
        if language == "console":
            continue
        assert path.exists() == (language == "diff")
        path.write_text(changed(path.read_text(), text) if language == "diff" else text)
        touched |= {file} if file.startswith("symreln/") else set()
    assert f"{len(touched)} file" in title
    for language, _, text in blocks(SECTIONS[title]):
        for command, lines in commands(text) if language == "console" else ():
            assert_shows(command, lines, tmp_path)


def assert_shows(command: str, lines: list[str], folder: Path) -> None:
    """Run a command of the changed package; its output has the lines, in this order."""
    environment = os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"}
    run = command.replace("symreln ", f"{sys.executable} -m symreln ", 1)
    done = subprocess.run(
        run, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    shown = done.stdout + done.stderr
    place = 0
    for line in lines:
        place = shown.find(line, place)
        assert place >= 0, f"{command}: no {line!r} (in this order) in:\n{shown}"
    assert lines or (done.returncode == 0 and shown.strip()), shown


def test_the_page_has_an_example_of_each_kind():
    kinds = {title.partition(":")[0].removeprefix("An ").removeprefix("A ") for title in SECTIONS}
    assert kinds == {"task", "law", "rule", "gate finder", "output format", "metric"}
