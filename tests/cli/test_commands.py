"""The command line: exit codes, what is written where, and no traceback on any input."""

from __future__ import annotations

import inspect
import json
import shlex
from pathlib import Path

import click
import numpy as np
import pytest

import symreln as sr
from symreln.cli.main import GROUPS, cli
from symreln.report import formats
from tests.cli.command import command
from tests.own_process import imported
from tests.specs.corpus import cases

SMALL = ("--set", "network.hidden=24", "--set", "network.steps=60")
NAMES = [name for group in GROUPS.values() for name in group]
OWN = 'title = "own"\n[dataset]\nX = {x}\nY = {y}\n{more}[[pathway]]\nname = "all"\ngate = "all"\n'
NETWORK = '[network]\nhidden = 10\ninit_std = "1/100"\nlearning_rate = "1/1000"\nsteps = 2000\n'
EYE, ROW = '[["1", "0"], ["0", "1"]]', '[["1", "2"]]'


@pytest.fixture
def own(tmp_path):
    """Return what writes a spec of one's own."""

    def write(x: str = EYE, y: str = ROW, more: str = "", network: str = NETWORK) -> Path:
        path = tmp_path / "own.toml"
        path.write_text(OWN.format(x=x, y=y, more=more) + network, "utf-8")
        return path

    return write


def never(*_: object, **__: object) -> None:
    raise AssertionError


def test_every_wrong_input_ends_in_2_with_its_mend_and_no_traceback(tmp_path):
    wrong = []
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for case in [*cases(corpus)][::8]:  # each is one of a spec's tests
        found = command("derive", case.source, "--out", tmp_path / "out")
        said = found.err.startswith("symreln: ") and "found " in found.err
        if found.code != 2 or not said or found.out:
            wrong.append(f"{case.name}: exit code {found.code}\n{found.out[:80]}{found.err}")
    assert not wrong, "\n".join(wrong)
    assert not (tmp_path / "out").exists(), "a refused spec must leave nothing behind"


def test_derive_writes_what_it_says_and_verify_accepts_it_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    (tmp_path / "validation.json").write_text("{}", "utf-8")
    found = command("derive", "xor", "--quiet", "--out", tmp_path)
    assert found.code == 0
    assert "verdict: closed" in found.out
    names = {"certificate.json", "derivation.json", "derivation.tex", "derivation.html", "figures"}
    assert {path.name for path in tmp_path.iterdir()} == {*names, "notes.txt", "validation.json"}
    said = found.out.splitlines()[-1].partition(": ")[2].split(", ")
    assert {Path(name).parts[0] for name in said} == names
    assert "validation of an earlier run" in found.err
    (tmp_path / "validation.json").unlink()  # it is no part of this derivation
    for place in (tmp_path, tmp_path / "certificate.json"):
        assert "every identity holds" in command("verify", place).out


def test_json_on_stdout_is_the_file_and_formats_limit_what_is_written(tmp_path):
    found = command("derive", "xor", "--format", "json", "--json", "--out", tmp_path)
    assert found.out == (tmp_path / "derivation.json").read_text("utf-8")
    assert {p.name for p in tmp_path.iterdir()} == {"certificate.json", "derivation.json"}


def test_a_pdf_needs_no_tex_and_belongs_to_its_certificate(tmp_path):
    assert command("derive", "xor-linear", "--format", "pdf", "--out", tmp_path).code == 0
    path = tmp_path / "derivation.pdf"
    assert {p.name for p in tmp_path.iterdir()} == {"certificate.json", path.name}
    written = path.read_bytes()
    assert written.startswith(b"%PDF")
    assert command("verify", tmp_path).code == 0
    path.write_bytes(written.replace(b"%PDF-1.7", b"%PDF-1.6", 1))
    found = command("verify", tmp_path)
    assert found.code == 2
    assert "derivation.pdf" in found.err
    assert "was changed" in found.err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("derive xor --format json --format pdf", "pip install 'symreln[pdf]'"),
        ("run xor --format pdf", "pip install 'symreln[pdf]'"),
        ("derive xor --format docx", 'format: found the text "docx"'),
        ("run xor --latex level=9", "level"),
        ("derive xor --out {file}/below", "the folder cannot be made (Not a directory). Name one"),
        ("derive", "Missing argument 'SPEC'"),
        ("unknown-command", "No such command"),
        ("run xor --seeds 0", "'--seeds': 0 is not in the range x>=1"),
        ("run xor --seeds 1.5", "'--seeds': '1.5' is not a valid integer"),
        ("gates xor --method enumerate --limit 1" + 20 * "0", "'--limit': 1"),
        ("gates xor --method kmean", "kmeans"),
        ("gates xor --method enumerate --stages 3", "stages has no meaning with method"),
        ("race contextual-3 --by context --points 4", "points has no meaning with by without over"),
        ("tasks xorr", "xor-linear"),
        ("verify {file}.json", "file.json"),
        ("verify \0", "null character"),
        ("derive xor --out \0", "null character"),
    ],
)
def test_what_is_wrong_is_refused_before_any_work(asked, says, tmp_path, monkeypatch):
    for work in ("pipeline.derive.derive", "calls.derive.pipeline.derive"):
        monkeypatch.setattr(f"symreln.{work}", never)
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    found = command(*asked.format(file=tmp_path / "file").split(" "))
    assert (found.code, found.out) == (2, "")
    assert says in found.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_disagreement_ends_in_3_and_is_said(tmp_path):
    found = command(
        "validate", "linear-hierarchy", *SMALL, "--seeds", "4", "--quiet",
        "--set", 'network.init_std="1/3"',  # far from small: 60 steps are enough to learn
        "--set", "validation.tolerance=1e-3", "--out", tmp_path,
    )  # fmt: skip
    assert found.code == 3
    assert "loss DISAGREES" in found.out
    result = json.loads((tmp_path / "validation.json").read_text("utf-8"))
    assert result["verdict"] == "disagrees"
    assert result["tolerance"]["max_abs_over_initial"] == 1e-3


def test_run_writes_the_confrontation_into_the_document(tmp_path):
    found = command("run", "linear-hierarchy", "--seeds", "20", "--quiet", "--out", tmp_path)
    assert found.code == 0, found.out
    assert "loss AGREES" in found.out
    page = (tmp_path / "derivation.html").read_text("utf-8")
    assert "Theory against training" in page
    with np.load(tmp_path / "curves.npz", allow_pickle=False) as archive:
        curves = dict(archive)
    assert curves["network"].shape == (20, len(curves["theory"]))
    result = json.loads((tmp_path / "validation.json").read_text("utf-8"))
    gap = np.abs(curves["theory"] - curves["network"].mean(axis=0))
    expected = gap.max() / curves["network"].mean(axis=0)[0]
    metric = result["metrics"]["theory_vs_relu"]["max_abs_over_initial"]
    assert abs(metric - expected) < 1e-12


TRAINING_COMMANDS = ("validate", "run", "replay", "gates --method kmeans")


@pytest.mark.parametrize(
    ("asked", "lacks"),
    [
        *((asked, lacks) for asked in TRAINING_COMMANDS for lacks in ("[network]", "a.value")),
        ("sweep --over parameters.a.value=1,2", "[network]"),
        ("race --seeds 2", "[network]"),
    ],
)
def test_what_training_needs_is_asked_for_before_the_derivation(
    asked, lacks, tmp_path, monkeypatch, own
):
    monkeypatch.setattr("symreln.calls.validate.derive", never)
    monkeypatch.setattr("symreln.calls.gates.RaceReport.of", never)
    value = "value = 1\n" if lacks == "[network]" else ""
    labels = f"[dataset.labels]\npart = [1, 2]\n[parameters.a]\npositive = true\n{value}"
    x = '[["a", "0"], ["0", "1"]]'
    spec = own(x, more=labels, network=NETWORK if lacks == "a.value" else "")
    name, *options = asked.split()
    found = command(name, spec, *options, "--out", tmp_path / "out")
    assert (found.code, found.out) == (2, "")
    assert lacks in found.err
    assert "hidden = 100" in found.err or "parameters.a.value=1" in found.err


def test_info_and_schema():
    versions = json.loads(command("info", "--json").out)
    assert {"symreln", "sympy", "python-flint", "numpy", "python"} <= set(versions)
    assert versions["sympy"] in command("info").out
    schema = json.loads(command("schema").out)
    assert set(schema["properties"]) >= {"title", "dataset", "pathway", "network"}


HEAVY = ("sympy", "numpy", "scipy", "matplotlib", "flint", "pydantic")
FINDS = ("symreln.effective.found", "symreln.effective.network", "scipy.signal")


@pytest.mark.parametrize(
    ("typed", "never"),
    [("--help", HEAVY), ("run --help", HEAVY), ("derive xor --out ", FINDS)],
    ids=["help", "help of a command", "given gates"],
)
def test_what_needs_little_imports_little(typed, never, tmp_path):
    words = typed.replace("--out ", f"--out {tmp_path / 'out'}").split()
    program = f"from symreln.cli import main; main._guarded({words})"
    assert imported(program, *never) == []


@pytest.mark.parametrize("name", NAMES)
def test_help_is_in_groups_and_its_example_is_taken(name):
    made = cli.get_command(click.Context(cli), name)
    text = made.get_help(click.Context(made, info_name=f"symreln {name}"))
    lines = text.splitlines()
    shown = [line.rstrip(":") for line in lines if line.endswith(":") and line[:1].strip()]
    order = ["What it works on", "What it does", "Output", "Machine and limits"]
    assert shown == [part for part in order if part in shown]
    assert all(option in text for each in made.params for option in each.opts if "-" in option)
    assert not any(mark in text for mark in ("``", ":func:", ":meth:", "Args:"))
    _, asked, *words = shlex.split(lines[-1].partition("Example: ")[2], comments=True)
    assert asked == name
    words = words[: words.index(">")] if ">" in words else words
    made.make_context(name, words, ignore_unknown_options=False)
    assert f"\n  {name} " in command("--help").out


def test_options_are_the_parameters_of_the_call_of_the_same_name():
    """What only the command line has is the same for all; what only Python has is in its place."""
    more = {"out", "as_json", "quiet", "time_limit", "memory_limit", "overrides", "allow_outside"}
    more |= {"backend", "device", "float32", "formats", "latex", "full"}
    arrays = {"Y", "network", "samples"}  # of explain, where Python gives X
    for name in NAMES:
        made = cli.get_command(click.Context(cli), name)
        call = inspect.signature(getattr(sr, name)).parameters
        own = {*call} - {"directory", "overrides", "allow_outside"}
        own -= arrays if name == "explain" else set()
        assert own <= {each.name for each in made.params} <= own | more
        words = ["x"] * sum(isinstance(each, click.Argument) for each in made.params)
        for key, given in made.make_context(name, words).params.items():
            default = call[key].default if key in own - more else inspect.Parameter.empty
            if default is not inspect.Parameter.empty and given != "x":
                assert given == default
