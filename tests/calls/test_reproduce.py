"""The pages of the paper: what scripts hand over, what is written, and what happens again."""

from __future__ import annotations

import ast
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import symreln as sr
from symreln.base import pool
from symreln.calls import reproduce as calls
from symreln.errors import InputError
from tests.cli.command import command

SCRIPTS = Path(__file__).parents[2] / "validation" / "paper"
PAGE = '''
"""A page of a test: $\\\\alpha$ in its title."""
import symreln as sr

def reproduce(page):
    with open(r"{log}", "a") as told:
        told.write(page.name + "\\n")
    page.assume("Nothing at `all`.")
    page.derive("A thing is proven: $x^2$.", sr.Truth.PROVEN)
    page.derive("Another is not.", False)
    page.compute("In floats it is 12%.", True)
    page.compute("Or not.", False)
    page.confirm("Networks say so.", True, finding=1, figure="curve")
    page.plot("curve", "A line.", {{"line": ([1, 2], [3, 4]), "dots": ([1], [3])}}, x="a", y="b",
              dots=["dots"], log="x")
    page.table("Numbers.", ("name", "value"), [("a", 0.123456), ("b", None), ("c", True)])
    page.beyond("Nobody knows.", sr.Truth.UNDECIDED)
    page.beyond("Algebra knows.", True, by="proven")
    page.beyond("Or forbids.", False, by="proven")
    page.beyond("Networks do not.", False)
    {more}
'''


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Scripts of tests in the place of the paper's; returns their log of having run."""
    log = tmp_path / "log.txt"
    names = ("one", "two")
    monkeypatch.setattr(calls, "NAMES", names)
    monkeypatch.setattr(calls, "_script", lambda name: tmp_path / f"{name}.py")
    for name in names:
        (tmp_path / f"{name}.py").write_text(PAGE.format(log=log, more="").lstrip())
    return log


@pytest.fixture
def threads(monkeypatch):
    """Pages side by side in threads: processes would not see what a test replaces."""
    pools = contextmanager(lambda workers: (yield ThreadPoolExecutor(workers)))
    monkeypatch.setattr(pool, "processes", pools)


def test_every_page_has_a_short_script_over_the_public_interface():
    found = {path.stem.replace("_", "-") for path in SCRIPTS.glob("*.py")}
    assert found == set(calls.NAMES)
    for path in SCRIPTS.glob("*.py"):
        text = path.read_text("utf-8")
        lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
        assert len(lines) < 75, path.name
        tree = ast.parse(text)
        names = {
            name.name if isinstance(node, ast.Import) else node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in node.names
        }
        assert names <= {"symreln", "numpy", "sympy", *sys.stdlib_module_names}, path.name
        assert ast.get_docstring(tree), path.name
        told = [
            node.args[1]
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("derive", "confirm", "beyond")
            and len(node.args) > 1
        ]
        # What holds is computed: no script says so by itself.
        assert not any(isinstance(each, ast.Constant) for each in told), path.name


def test_a_page_says_what_its_script_hands_over(scripts, tmp_path):
    found = sr.reproduce("one", tmp_path / "out")
    page = json.loads((tmp_path / "out" / "one" / "page.json").read_text())
    assert page["title"] == "A page of a test: $\\alpha$ in its title"
    outcomes = [each["outcome"] for each in page["statements"]]
    words = [None, "proven", "disproved", "computed", "not confirmed", "confirmed", "undecided"]
    words += ["proven", "disproved", "not confirmed"]
    assert outcomes == words
    assert page["statements"][3]["text"] == "In floats it is 12 %."
    assert page["tables"][0]["rows"] == [["a", "0.1235"], ["b", "–"], ["c", "yes"]]
    assert page["tables"][0]["part"] == "confirmed"
    html = (tmp_path / "out" / "one" / "page.html").read_text()
    for text in ("What is assumed", "Disproved. ", "<code>all</code>", "0.1235"):
        assert text in html
    told = [
        "What is assumed</h2>",
        "Nothing at",
        "What is derived</h2>",
        "A thing is proven",
        "Another",
    ]
    told += ["What trained networks do</h2>", "Networks say so", "What the paper does not say</h2>"]
    places = [html.index(text) for text in [*told, "Nobody knows"]]
    assert places == sorted(places)
    assert (tmp_path / "out" / "one" / "curve.svg").read_text().startswith("<?xml")
    index = (tmp_path / "out" / "index.html").read_text()
    assert "Networks say so." in index
    assert 'href="one/page.html"' in index
    assert 'href="one/curve.svg"' in index
    told = list(replace(found, name="all").lines())
    assert told[0] == "finding 1, confirmed: Networks say so. (one)"
    assert told[1:3] == ["disproved: Another is not. (one)", "not confirmed: Or not. (one)"]
    counts = "one: 2 proven, 1 computed, 1 confirmed, 2 disproved, 2 not confirmed, 1 undecided; "
    assert told[5].startswith(counts)
    against = index.index("What does not agree</h2>")
    assert index.index("Another is not.") > against
    assert "Pages about finding 2, 3, 4, 5 are not made yet" in index
    assert 'href="one.py"' in html
    assert (tmp_path / "out" / "one" / "one.py").exists()


def test_what_is_there_is_not_made_again(scripts, tmp_path):
    out = tmp_path / "out"
    for _ in range(2):
        sr.reproduce("one", out)
    assert scripts.read_text().split() == ["one"]
    sr.reproduce("one", out, rng=1)
    sr.reproduce("one", out, rng=1, full=True)
    assert scripts.read_text().split() == ["one"] * 3
    (tmp_path / "one.py").write_text((tmp_path / "one.py").read_text() + "\n# changed\n")
    sr.reproduce("one", out, rng=1, full=True)
    assert scripts.read_text().split() == ["one"] * 4
    (out / "one" / "page.json").write_text("{")  # cut short
    sr.reproduce("one", out, rng=1, full=True)
    assert scripts.read_text().split() == ["one"] * 5


def test_a_page_of_the_paper_is_made_by_its_own_script(tmp_path, monkeypatch):
    # It goes through ready-made tasks, here three of them, and needs metrics by name.
    three = ["linear-hierarchy", "xor", "contextual-different"]
    monkeypatch.setattr(sr, "tasks", lambda: three, raising=False)
    (page,) = sr.reproduce("assumption", tmp_path).pages
    outcomes = [each["outcome"] for each in page["statements"] if each["outcome"]]
    assert sorted({*outcomes}) == ["confirmed", "proven"]
    assert len(outcomes) == 7


def test_a_page_that_fails_is_not_written(scripts, tmp_path):
    more = "raise sr.load('nothing')"
    (tmp_path / "one.py").write_text(PAGE.format(log=scripts, more=more).lstrip())
    with pytest.raises(InputError, match="nothing"):
        sr.reproduce("one", tmp_path / "out")
    assert not (tmp_path / "out" / "one" / "page.json").exists()


def test_an_unknown_page_is_refused_with_the_nearest(scripts, tmp_path):
    with pytest.raises(InputError, match=r"expected a page.*one"):
        sr.reproduce("onne", tmp_path / "out")
    for name, hint in (("depth", "Known: all, one, two"), (["one"], "found the list")):
        with pytest.raises(InputError, match=hint):
            sr.reproduce(name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_prints_what_it_found(scripts, tmp_path):
    asked = ["reproduce", "one", "--out", str(tmp_path / "out"), "--quiet"]
    first, second, *_ = command(*asked).out.splitlines()
    assert (first, second) == ("assumed: Nothing at all.", "proven: A thing is proven: x^2.")
    told = json.loads(command(*asked, "--json").out)
    assert told["format"] == "symreln-reproduction/1"
    assert told == json.loads((tmp_path / "out" / "reproduction.json").read_text())


@pytest.mark.usefixtures("threads")
def test_an_error_of_a_spec_is_one_sentence(scripts, tmp_path):
    place = tmp_path / "one.py"
    place.write_text(place.read_text() + '    sr.load({"dataset": {"task": "no"}})\n')
    with pytest.raises(InputError) as caught:
        sr.reproduce("all", tmp_path / "out")
    assert str(caught.value).startswith("reproduce: pages that could not be made: one: the spec")
    assert len(str(caught.value).splitlines()) == 3  # and not a line a letter
