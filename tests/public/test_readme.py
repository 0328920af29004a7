"""What the README and the site show is there, and runs: Python, specs, commands, names, sources."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path

import click
import pytest
from matplotlib import pyplot

import symreln as sr
from symreln.base import pool
from symreln.cli.main import cli
from symreln.report.content import _SOURCES
from tests.cli.command import Here

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
#: Pages of the site; test_extending.py follows the commands of extending.md.
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
TEXTS = {page.name: page.read_text("utf-8") for page in (README, *PAGES)}
#: What makes the trainings of an example short; what is derived does not change by it.
SHORT = {"contextual-3": ("network.steps=40", "network.hidden=20")}


def blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


EXAMPLES = [
    pytest.param(code, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    for number, code in enumerate(blocks("python", text))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_python_runs_and_prints_what_the_comments_say(code, tmp_path, monkeypatch, capsys):
    load = sr.load
    monkeypatch.setattr(sr, "load", lambda name: load(name, SHORT.get(name, ())), raising=False)
    monkeypatch.setattr(pool, "processes", Here)
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("seeds=20", "seeds=2"), "README.md", "exec"), {})
    shown = capsys.readouterr().out.splitlines()
    printing = [line for line in code.splitlines() if line.startswith("print(")]
    assert len(shown) == len(printing)
    said = [line.partition("  # ")[2] for line in printing]
    assert any(said)
    assert all(not comment or comment == out for comment, out in zip(said, shown, strict=True))
    drawn = re.findall(r'savefig\("(.+?)"', code)
    assert all("</svg>" in (tmp_path / name).read_text("utf-8") for name in drawn)


def programs() -> list:
    """Scripts of the gallery, and notebooks of the site whose cells are Python alone."""
    found = {each.stem: each.read_text("utf-8") for each in (ROOT / "docs/gallery").glob("*.py")}
    for name in ("index.md", "own-data.md"):
        found[name] = "\n".join(blocks(r"\{code-cell\} python", TEXTS[name]))
    return [pytest.param(code, id=name) for name, code in sorted(found.items())]


@pytest.mark.parametrize("code", programs())
def test_programs_of_the_site_run_and_draw(code, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    pyplot.close("all")
    exec(compile(code, "site", "exec"), {})
    assert pyplot.get_fignums()
    pyplot.close("all")


def test_the_readme_is_short_and_its_example_has_ten_lines():
    text = TEXTS["README.md"]
    assert len(text.splitlines()) <= 150
    (code,) = blocks("python", text)
    lines = [line for line in code.splitlines() if line and not line.startswith("import")]
    assert len(lines) <= 10
    assert "savefig" in code


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", TEXTS["README.md"])
    assert len(links) > 15
    for path, anchor in links:
        assert (ROOT / path).is_file(), path
        if anchor:
            titles = re.findall(r"^#+ (.*)$", (ROOT / path).read_text("utf-8"), re.MULTILINE)
            assert anchor in [title.lower().replace(" ", "-") for title in titles], anchor


def test_the_first_spec_has_the_modes_that_are_named():
    (cell,) = re.findall(
        r"%%writefile my-xor.toml\n(.*?)^```", TEXTS["first-derivation.md"], re.M | re.S
    )
    derivation = sr.derive(sr.load(tomllib.loads(cell)))
    assert derivation.verdict.level.value == "closed"
    for pathway in derivation.pathways:
        learning = [mode for mode in pathway.modes if not mode.is_null]
        symbols = derivation.spec.symbols
        found = [(str(m.s.to_sympy(symbols)), str(m.d.to_sympy(symbols))) for m in learning]
        assert found == [("sqrt(Delta**2 + 2)/4", "Delta**2/4 + 1/2")]


def commands() -> list[str]:
    """Every command of the README and the site: of blocks, notebook cells and spans."""
    found = set()
    for name, text in TEXTS.items():
        if name == "extending.md":
            continue
        lines = [line for block in blocks("", text) for line in block.splitlines()]
        cells = [line[1:] for line in text.splitlines() if line.startswith("!")]
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
        found |= {part.strip() for line in (*lines, *cells, *spans) for part in line.split("&&")}
    return sorted(each for each in found if each.startswith("symreln "))


def test_shares_that_the_tutorial_of_a_network_names_are_printed_in_it():
    """Outputs are written by ``python -m validation.own_networks``, text between them by hand."""
    text = TEXTS["explain-my-network.md"]
    printed = " ".join(" ".join(blocks("text", text)).split())
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"\b[\d.]+ %", " ".join(prose.split())))
    assert len(named) > 5
    assert [each for each in sorted(named) if f" {each}" not in printed] == []


def test_commands_and_their_options_exist():
    wrong = []
    for line in commands():
        _, name, *words = shlex.split(line)
        command = cli.get_command(click.Context(cli), name)
        if name in ("COMMAND", "--version"):
            continue
        if command is None:
            wrong.append(f"{line}: no command {name}")
            continue
        known = {option for each in command.params for option in each.opts} | {"--help"}
        wrong += [f"{line}: {w}" for w in words if w.startswith("-") and w not in known]
    assert not wrong
    assert len(commands()) > 30


def test_every_command_is_in_the_page_of_commands():
    for name in cli.list_commands(click.Context(cli)):
        assert f"symreln {name}" in TEXTS["commands.md"]


def test_every_public_name_is_in_the_reference_with_a_docstring():
    pages = [page.read_text("utf-8") for page in (ROOT / "docs/reference").glob("*.md")]
    text = "\n".join(pages)
    named = set(re.findall(r"^\.\. auto(?:function|class):: (\w+)$", text, re.M))
    assert named == {name for name in sr.__all__ if name != "__version__"}
    assert "symreln.__version__" in text
    assert not [name for name in named if not (getattr(sr, name).__doc__ or "").strip()]


def test_sources_of_documents_are_in_the_bibliography_and_those_cited_are_too():
    bib = (ROOT / "docs" / "references.bib").read_text("utf-8")
    there = set(re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE))
    docstrings = [path.read_text("utf-8") for path in (ROOT / "symreln").rglob("*.py")]
    cited = {key for text in docstrings for key in re.findall(r"\[([A-Z][a-z]+\d{4})\]", text)}
    assert {*_SOURCES} | cited <= there
    assert len(cited) > 5


def test_what_is_cited_has_this_version():
    versions = [
        re.search(r"version\s*= \{([\d.]+)\}", (ROOT / "docs" / name).read_text("utf-8"))
        for name in ("references.bib", "cite.md")
    ]
    cff = re.search(r"^version: ([\d.]+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    assert [each and each[1] for each in (*versions, cff)] == [sr.__version__] * 3


# -- what docstrings refer to ----------------------------------------------------------------------

ROLE = re.compile(r":(?:mod|func|class|data|meth|attr|exc):`~?(symreln[\w.]*)`")


def found(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute or a field of one of its objects."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            fields = getattr(thing, "__dataclass_fields__", {})
            if not hasattr(thing, part) and part not in fields:
                return False
            thing = getattr(thing, part, None)
        return True
    return False


def test_names_in_docstrings_are_there():
    assert not found("symreln.nowhere")
    assert not found("symreln.laws.law.Regime.nothing")
    texts = {path: path.read_text() for path in (ROOT / "symreln").rglob("*.py")}
    named = {(name, path.name) for path, text in texts.items() for name in ROLE.findall(text)}
    assert len(named) > 50
    assert [each for each in sorted(named) if not found(each[0])] == []
