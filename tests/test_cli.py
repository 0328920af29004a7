"""The command line: exit codes, what is written where, and no traceback on any input."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from symreln.base import tables, terminal
from symreln.cli import main as cli
from symreln.gating import races
from symreln.report import formats
from tests.specs.corpus import cases

SMALL = ("--set", "network.hidden=24", "--set", "network.steps=60")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process; return (exit code, stdout, stderr)."""
    code = cli._guarded(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_every_wrong_input_ends_in_2_with_its_mend_and_no_traceback(tmp_path, capsys):
    wrong = []
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for case in cases(corpus):
        code, out, err = run(capsys, "derive", case.source, "--out", str(tmp_path / "out"))
        said = err.startswith("symreln: ") and "found " in err and "Traceback" not in err
        if code != 2 or not said or out:
            wrong.append(f"{case.name}: exit code {code}, stdout {out[:80]!r}\n{err}")
    assert not wrong, "\n".join(wrong)
    assert not (tmp_path / "out").exists(), "a refused spec must leave nothing behind"


def test_derive_writes_what_it_says(tmp_path, capsys):
    code, out, err = run(capsys, "derive", "xor", "--quiet", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert "verdict: closed" in out
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {
        "certificate.json",
        "derivation.json",
        "derivation.tex",
        "derivation.html",
        "figures",
    }
    result = json.loads((tmp_path / "derivation.json").read_text("utf-8"))
    assert result["format"] == "symreln-derivation/2"
    assert result["free_constants"] == 0  # κ is estimated, for every pathway
    mode = result["pathways"][0]["modes"][0]
    assert mode["s"]["expr"] == "sqrt(Delta**2 + 2)/4"
    # At Delta = 0: sqrt(2)/4.
    assert abs(float(mode["s"]["decimal"]) - 2**0.5 / 4) < 1e-15


def test_derive_json_on_stdout_is_the_file(tmp_path, capsys):
    code, out, _ = run(capsys, "derive", "xor", "--json", "--out", str(tmp_path))
    assert code == 0
    assert out == (tmp_path / "derivation.json").read_text("utf-8")


def test_format_limits_what_is_written(tmp_path, capsys):
    assert run(capsys, "derive", "xor", "--format", "json", "--out", str(tmp_path))[0] == 0
    assert {p.name for p in tmp_path.iterdir()} == {"certificate.json", "derivation.json"}


def test_a_pdf_needs_no_tex_and_belongs_to_its_certificate(tmp_path, capsys):
    out = str(tmp_path)
    assert run(capsys, "derive", "xor-linear", "--format", "pdf", "--out", out)[0] == 0
    path = tmp_path / "derivation.pdf"
    assert {p.name for p in tmp_path.iterdir()} == {"certificate.json", path.name}
    written = path.read_bytes()
    assert written.startswith(b"%PDF")
    assert run(capsys, "verify", out)[0] == 0
    path.write_bytes(written.replace(b"%PDF-1.7", b"%PDF-1.6", 1))
    code, _, err = run(capsys, "verify", out)
    assert code == 2
    assert "derivation.pdf" in err
    assert "was changed" in err


def test_a_format_without_its_package_is_refused_before_anything_is_done(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    monkeypatch.setattr(
        "symreln.cli.derive.loaded", lambda request: pytest.fail("it began to work")
    )
    out = tmp_path / "out"
    asked = ("derive", "xor", "--format", "json", "--format", "pdf", "--out", str(out))
    code, said, err = run(capsys, *asked)
    assert (code, said) == (2, "")
    assert "pip install 'symreln[pdf]'" in err
    assert not out.exists()


def test_verify_accepts_what_derive_wrote_and_refuses_a_changed_number(tmp_path, capsys):
    run(capsys, "derive", "xor", "--format", "json", "--out", str(tmp_path))
    path = tmp_path / "certificate.json"
    code, out, _ = run(capsys, "verify", str(path))
    assert code == 0
    assert "every identity holds" in out
    changed = json.loads(path.read_text("utf-8"))
    changed["level"] = "coupled modes"
    path.write_text(json.dumps(changed), "utf-8")
    code, out, err = run(capsys, "verify", str(path))
    assert code == 2
    assert out == ""
    assert "certificate" in err


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 5000, '{"format": 1}'])
def test_verify_refuses_what_is_no_certificate(tmp_path, capsys, text):
    path = tmp_path / "wrong.json"
    path.write_text(text, "utf-8")
    code, out, err = run(capsys, "verify", str(path))
    assert (code, out) == (2, "")
    assert "certificate" in err


def test_verify_of_a_missing_file(tmp_path, capsys):
    code, _, err = run(capsys, "verify", str(tmp_path / "none.json"))
    assert code == 2
    assert "none.json" in err


def test_disagreement_ends_in_3_and_is_said(tmp_path, capsys):
    code, out, _ = run(
        capsys, "validate", "linear-hierarchy", *SMALL, "--seeds", "4", "--quiet",
        "--set", 'network.init_std="1/3"',  # far from small: 60 steps are enough to learn
        "--set", "validation.tolerance=1e-3", "--out", str(tmp_path),
    )  # fmt: skip
    assert code == 3
    assert "loss DISAGREES" in out
    result = json.loads((tmp_path / "validation.json").read_text("utf-8"))
    assert result["verdict"] == "disagrees"
    assert result["tolerance"]["max_abs_over_initial"] == 1e-3


def test_run_writes_the_confrontation_into_the_document(tmp_path, capsys):
    code, out, _ = run(
        capsys, "run", "linear-hierarchy", "--seeds", "20", "--quiet", "--out", str(tmp_path),
    )  # fmt: skip
    assert code == 0, out
    assert "loss AGREES" in out
    page = (tmp_path / "derivation.html").read_text("utf-8")
    assert "Theory against training" in page
    with np.load(tmp_path / "curves.npz", allow_pickle=False) as archive:
        curves = dict(archive)
    assert curves["network"].shape == (20, len(curves["theory"]))
    result = json.loads((tmp_path / "validation.json").read_text("utf-8"))
    found = np.abs(curves["theory"] - curves["network"].mean(axis=0))
    expected = found.max() / curves["network"].mean(axis=0)[0]
    metric = result["metrics"]["theory_vs_relu"]["max_abs_over_initial"]
    assert abs(metric - expected) < 1e-12


def test_run_writes_what_it_is_asked_for(tmp_path, capsys):
    small = ("--set", "network.hidden=20", "--set", "network.steps=50", "--seeds", "2")
    asked = ("--format", "fragment", "--latex", "prefix=own:", "--quiet", "--out", str(tmp_path))
    run(capsys, "run", "xor", *small, *asked)
    found = {path.name for path in tmp_path.iterdir()}
    assert "derivation.fragment.tex" in found
    assert not found & {"derivation.tex", "derivation.html", "derivation.json"}
    text = (tmp_path / "derivation.fragment.tex").read_text("utf-8")
    assert r"\label{own:" in text
    assert "Against 2 ReLU networks" in text


def test_a_spec_without_a_network_derives_and_does_not_validate(tmp_path, capsys):
    spec = tmp_path / "own.toml"
    spec.write_text(
        'title = "own"\n[dataset]\nX = [["1", "0"], ["0", "1"]]\nY = [["1", "2"]]\n'
        '[[pathway]]\nname = "all"\ngate = "all"\n',
        "utf-8",
    )
    assert run(capsys, "derive", str(spec), "--out", str(tmp_path / "a"))[0] == 0
    code, _, err = run(capsys, "validate", str(spec), "--out", str(tmp_path / "b"))
    assert code == 2
    assert "[network]" in err


TRAINING_COMMANDS = ("validate", "run", "replay", "gates --method kmeans")


@pytest.mark.parametrize(
    ("command", "lacks"),
    [
        *((command, lacks) for command in TRAINING_COMMANDS for lacks in ("[network]", "a.value")),
        ("sweep --over parameters.a.value=1,2", "[network]"),
        ("race --seeds 2", "[network]"),
    ],
)
def test_what_training_needs_is_asked_for_before_the_derivation(
    command, lacks, tmp_path, monkeypatch, capsys
):
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("symreln.cli.validate.derive", never)
    monkeypatch.setattr(races, "race_report", never)
    network = '[network]\nhidden = 10\ninit_std = 1\nlearning_rate = "1/10"\nsteps = 10\n'
    value = "value = 1\n" if lacks == "[network]" else ""
    spec = tmp_path / "own.toml"
    spec.write_text(
        'title = "own"\n[dataset]\nX = [["a", "0"], ["0", "1"]]\nY = [["1", "2"]]\n'
        f"[dataset.labels]\npart = [1, 2]\n[parameters.a]\npositive = true\n{value}"
        '[[pathway]]\nname = "all"\ngate = "all"\n' + network * (lacks != "[network]"),
        "utf-8",
    )
    name, *options = command.split()
    code, out, err = run(capsys, name, str(spec), *options, "--out", str(tmp_path / "out"))
    assert (code, out) == (2, "")
    assert lacks in err
    assert "hidden = 100" in err or "parameters.a.value=1" in err
    assert "deriving" not in err


def test_a_parameter_without_a_value_derives_and_does_not_validate(tmp_path, capsys):
    spec = tmp_path / "own.toml"
    spec.write_text(
        'title = "own"\n[dataset]\nX = [["a", "0"], ["0", "1"]]\nY = [["1", "2"]]\n'
        "[parameters.a]\npositive = true\n"
        '[[pathway]]\nname = "all"\ngate = "all"\n'
        '[network]\nhidden = 10\ninit_std = "1/100"\nlearning_rate = "1/10"\nsteps = 10\n',
        "utf-8",
    )
    assert run(capsys, "derive", str(spec), "--out", str(tmp_path / "a"))[0] == 0
    code, _, err = run(capsys, "validate", str(spec), "--out", str(tmp_path / "b"))
    assert code == 2
    assert "parameters.a.value" in err


def test_divergence_is_a_clear_error(tmp_path, capsys):
    code, _, err = run(
        capsys, "validate", "linear-hierarchy", *SMALL, "--seeds", "1", "--quiet",
        "--set", "network.learning_rate=50", "--out", str(tmp_path),
    )  # fmt: skip
    assert code == 2
    assert "learning_rate" in err


def test_usage_errors_end_in_2(capsys):
    assert run(capsys, "derive")[0] == 2
    assert run(capsys, "unknown-command")[0] == 2
    assert run(capsys, "run", "xor", "--seeds", "0")[0] == 2


def test_a_bug_ends_in_1_without_a_traceback(monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        msg = "deliberate"
        raise RuntimeError(msg)

    monkeypatch.setattr("symreln.cli.derive.load", broken)
    code, _, err = run(capsys, "derive", "xor")
    assert code == 1
    assert "a bug of symreln: RuntimeError: deliberate" in err
    assert "Traceback" not in err


def test_interruption_ends_in_130_and_keeps_what_was_written(tmp_path, monkeypatch, capsys):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("symreln.experiment.confront.validate", interrupted)
    code, _, err = run(capsys, "run", "xor", "--quiet", "--out", str(tmp_path))
    assert code == 130
    assert "interrupted" in err
    assert (tmp_path / "derivation.json").is_file()
    assert (tmp_path / "certificate.json").is_file()


def test_tasks_lists_every_ready_made_spec_and_each_loads(capsys):
    import symreln as sr

    code, out, _ = run(capsys, "tasks", "--json")
    assert code == 0
    names = [entry["name"] for entry in json.loads(out)]
    expected = {"linear-hierarchy", "xor", "contextual-3", "contextual-4", "contextual-5",
                "contextual-different", "iris", "iris-classes", "digits"}  # fmt: skip
    assert expected <= set(names)
    for name in names:
        assert sr.load(name).source == name


def test_info_and_schema(capsys):
    code, out, _ = run(capsys, "info", "--json")
    assert code == 0
    assert {"symreln", "sympy", "python-flint", "numpy", "python"} <= set(json.loads(out))
    code, out, _ = run(capsys, "schema")
    assert code == 0
    assert set(json.loads(out)["properties"]) >= {"title", "dataset", "pathway", "network"}


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from symreln.cli import main; main._guarded(['--help']);"
        "heavy = {'sympy', 'numpy', 'scipy', 'matplotlib', 'flint', 'pydantic', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", sorted(cli.cli.commands))
def test_help_is_in_groups_and_its_example_is_taken(name):
    command = cli.cli.commands[name]
    text = command.get_help(click.Context(command, info_name=f"symreln {name}"))
    lines = text.splitlines()
    shown = [line.rstrip(":") for line in lines if line.endswith(":") and line[:1].strip()]
    order = ["What it works on", "What it does", "Output", "Machine and limits"]
    assert shown == [part for part in order if part in shown]
    assert all(option in text for each in command.params for option in each.opts if "-" in option)
    _, asked, *words = shlex.split(lines[-1].partition("Example: ")[2], comments=True)
    assert asked == name
    words = words[: words.index(">")] if ">" in words else words
    command.make_context(name, words, ignore_unknown_options=False)


def test_commands_are_listed_in_groups_each_once(capsys):
    text = run(capsys, "--help")[1]
    for group in cli.GROUPS:
        assert f"{group}:" in text
    names = [name for group in cli.GROUPS.values() for name in group]
    assert sorted(names) == sorted(cli.cli.commands)


def test_a_closed_pipe_is_no_error(tmp_path):
    command = f"{sys.executable} -m symreln schema | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
    found = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])},
    )
    assert found.stdout.strip() == "0"
    assert found.stderr == ""


def test_names_with_markup_are_printed_as_they_are(tmp_path, capsys):
    spec = tmp_path / "own.toml"
    spec.write_text(
        'title = "own"\n[dataset]\nX = [["1"]]\nY = [["1"]]\n'
        '[[pathway]]\nname = "[bold]x[/bold]"\ngate = "all"\n',
        "utf-8",
    )
    code, out, _ = run(capsys, "derive", str(spec), "--out", str(tmp_path / "a"))
    assert code == 0
    assert "[bold]x[/bold]" in out


def test_only_written_files_are_listed_and_an_earlier_validation_is_noted(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    (tmp_path / "validation.json").write_text("{}", "utf-8")
    code, out, err = run(
        capsys, "derive", "xor", "--quiet", "--format", "json", "--out", str(tmp_path)
    )
    assert code == 0
    assert out.splitlines()[-1].endswith(": certificate.json, derivation.json")
    assert "validation of an earlier run" in err
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"


def test_tasks_prints_a_ready_made_spec_that_loads(tmp_path, capsys):
    code, out, _ = run(capsys, "tasks", "xor")
    assert code == 0
    path = tmp_path / "mine.toml"
    path.write_text(out, "utf-8")
    assert run(capsys, "derive", str(path), "--quiet", "--out", str(tmp_path / "o"))[0] == 0
    code, _, err = run(capsys, "tasks", "xorr")
    assert code == 2
    assert "xor-linear" in err


def test_verify_takes_a_folder(tmp_path, capsys):
    run(capsys, "derive", "xor", "--format", "json", "--out", str(tmp_path))
    code, out, _ = run(capsys, "verify", str(tmp_path))
    assert code == 0
    assert "every identity holds" in out


OWN = (
    'title = "own"\n[dataset]\nX = {x}\nY = {y}\n[[pathway]]\nname = "all"\ngate = "all"\n'
    '[network]\nhidden = 10\ninit_std = "1/100"\nlearning_rate = "1/1000"\nsteps = 2000\n'
)


def test_unscaled_data_derive_and_say_how_far_to_lower_the_learning_rate(tmp_path, capsys):
    spec = tmp_path / "own.toml"
    x, y = '[["100", "700"], ["300", "1000"]]', '[["500", "900"]]'
    spec.write_text(OWN.format(x=x, y=y), "utf-8")
    assert run(capsys, "derive", str(spec), "--out", str(tmp_path / "a"))[0] == 0
    code, _, err = run(capsys, "validate", str(spec), "--out", str(tmp_path / "b"))
    assert code == 2
    assert "network.learning_rate" in err
    bound = float(err.split("below ")[1])
    # At half the bound the same data train without diverging.
    code, _, err = run(
        capsys, "validate", str(spec), "--seeds", "1", "--quiet", "--out", str(tmp_path / "b"),
        "--set", f"network.learning_rate={bound / 2:.9f}", "--set", "network.steps=200",
    )  # fmt: skip
    assert code in (0, 3), err


def test_zero_targets_derive_and_have_nothing_to_validate(tmp_path, capsys):
    spec = tmp_path / "own.toml"
    spec.write_text(OWN.format(x='[["1", "0"], ["0", "1"]]', y='[["0", "0"]]'), "utf-8")
    assert run(capsys, "derive", str(spec), "--out", str(tmp_path / "a"))[0] == 0
    code, _, err = run(capsys, "validate", str(spec), "--out", str(tmp_path / "b"))
    assert code == 2
    assert "nothing to learn" in err


def test_formulas_of_ordinary_length_are_not_broken():
    formula = "sqrt(C + 8*c**2)*sqrt(15*C + 15)/(8*C)"
    row = ["common", formula, *["(C + 8*c**2)/(8*C)"] * 3, "two-layer balanced"]
    text = tables.plain_table("modes", ["pathway", "s", "d", "d_eff", "m", "family"], [row])
    assert formula in text
    long = tables.plain_table("modes", ["s"], [["x" * 1000]])
    assert max(map(len, long.splitlines())) <= terminal.MOST_COLUMNS


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("verify", "\0"), "null character"),
        (("derive", "xor", "--out", "\0"), "null character"),
        (("gates", "xor", "--method", "enumerate", "--samples", "1" + 20 * "0"), "--samples"),
    ],
)
def test_values_that_nothing_can_hold_are_refused(capsys, arguments, says):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_gates_of_data_beyond_float64_are_enumerated_all_the_same(tmp_path, capsys):
    """All gates of XoR at a third input of 10^900: exact arithmetic has no largest number."""
    more = ("--method", "enumerate", "--json", "--out", str(tmp_path))
    code, out, _ = run(capsys, "gates", "xor", *more, "--set", "parameters.Delta.value=1e900")
    assert code == 0
    near = run(capsys, "gates", "xor", *more, "--set", "parameters.Delta.value=1000")[1]
    found, same = (json.loads(text) for text in (out, near))
    assert found["gates"] == same["gates"]
