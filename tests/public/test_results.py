"""Results as values: tables, functions, folders that are opened again, copies."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import re
import sys

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.errors import InputError, NoClosedFormError, NotSupportedError, SpecError
from symreln.verdict.judge import Level
from tests.cases import derived


def test_a_function_takes_any_time_and_other_values_of_letters():
    strength = derived("contextual-3").to_numpy("pi_1_1")
    assert strength(np.full((2, 3), 500.0)).shape == (2, 3)
    plateau = strength(1e12)
    assert np.isfinite(plateau)
    assert plateau == strength(1e5)
    at = sr.derive(sr.load("contextual-3", ["parameters.c.value=2"]))
    other = at.to_numpy("pi_1_1")
    own = {"c": 2, "pi_0_1": other.defaults["pi_0_1"]}  # κ is that of the data
    assert strength(300.0, **own) == pytest.approx(other(300.0), rel=1e-13)
    with pytest.raises(InputError, match="c"):
        strength(1.0, C=2)
    with pytest.raises(InputError, match=r"another value of c, and none of pi_0_1, pitilde_2_1.*"):
        derived("contextual-3").to_numpy("loss")(1.0, c=2)


def test_a_formula_that_is_not_there_is_named():
    derivation = derived("contextual-3")
    with pytest.raises(InputError, match='Did you mean "pi_1_5"'):
        derivation.formula("pi_1_9")
    with pytest.raises(InputError, match="a null mode"):
        derivation.formula("pi_1_6")
    with pytest.raises(NoClosedFormError, match="coupled matrices"):
        derived("contextual-different").formula("loss")


def test_the_table_of_modes():
    modes = derived("contextual-3").modes
    rows = list(csv.DictReader(io.StringIO(modes.to_csv())))
    assert [row["label"] for row in rows] == [mode.label for mode in modes]
    assert rows[0]["s"] == "sqrt(120*c**2 + 45)/12"
    times = {
        mode["label"]: mode["half_time"]
        for p in derived("contextual-3").to_json()["pathways"]
        for mode in p["modes"]
    }
    assert modes["pi_1_1"].half_time == pytest.approx(float(times["pi_1_1"]["decimal"]), rel=1e-15)
    assert len(repr(modes).splitlines()) <= 16
    assert len(modes[1:3]) == 2
    with pytest.raises(InputError, match="pi_1_1"):
        modes["pi_11"]


def test_the_table_for_pandas(monkeypatch):
    modes = derived("xor").modes
    frame = modes.to_pandas()
    assert frame["s"][0] == modes[0].s
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotSupportedError, match="pip install pandas"):
        modes.to_pandas()


def cubic(c: object = None) -> sr.Derivation:
    """Singular values that are roots of a cubic, of numbers or of a parameter."""
    network = sr.network(hidden=50, init_std="1/1000", learning_rate="1/10", steps=800,
                         activation="linear")  # fmt: skip
    y = sp.Matrix([[1, 2, 0], [0, 1 if c is None else sp.Symbol("c"), 3], [1, 0, 1]])
    given = {} if c is None else {"c": c}
    spec = sr.spec(np.eye(3), y, parameters=given, pathways=[sr.pathway("all")], network=network)
    found = sr.derive(spec)
    assert isinstance(found, sr.Derivation)
    return found


@pytest.mark.parametrize("c", [None, 1])
def test_roots_without_a_formula_are_numbers_in_the_table(c):
    derivation = cubic(c)
    expected = np.linalg.svd(np.array([[1, 2, 0], [0, 1, 3], [1, 0, 1]]) / 3)[1]
    if c is None:
        assert [float(mode.s) for mode in derivation.modes] == pytest.approx(expected, rel=1e-14)
        assert "1.141596432 " in repr(derivation.modes)
    else:
        assert [str(mode.s) for mode in derivation.modes] == ["s_1_1", "s_1_2", "s_1_3"]


def test_what_does_not_close_says_what_there_is_instead():
    x, y = [[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 2, 0]], [[1, 0], [1, 1], [0, 1], [2, 0]]
    derivation = sr.derive(sr.spec(x, y, pathways=[sr.pathway("all")]))
    assert derivation.level is Level.COUPLED_MATRICES
    with pytest.raises(NoClosedFormError) as caught:
        derivation.formula("pi_1_1")
    assert "evaluate() and plot()" in caught.value.__notes__[0]


@pytest.mark.parametrize("steps", [600, 2000])
def test_the_legend_of_a_figure_covers_no_curve(steps):
    """The loss of xor falls at the end of 600 steps, and at the beginning of 2000."""
    figure = sr.derive(sr.load("xor", [f"network.steps={steps}"])).plot().figure
    figure.draw_without_rendering()
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    assert len(legends) == 1
    box = legends[0].get_window_extent()
    for line in (line for ax in figure.axes for line in ax.lines):
        assert not box.count_contains(line.get_transform().transform(line.get_xydata()))


@pytest.mark.parametrize("name", ["xor", "routing", "contextual-C", "contextual-3"])
def test_copies_are_the_value_and_pickles_make_it_again(name):
    spec = sr.load(name)
    assert copy.deepcopy(spec) is copy.copy(spec) is spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert pickle.loads(pickle.dumps(spec.dataset)) == spec.dataset
    derivation = sr.derive(spec)
    repr(derivation)  # what was found is no part of it
    assert len(pickle.dumps(derivation)) < 20_000
    again = pickle.loads(pickle.dumps(derivation))
    assert type(again) is type(derivation)
    assert again.certificate == derivation.certificate


def test_what_a_method_does_not_take_is_said():
    with pytest.raises(InputError, match='clusters has no meaning with method="enumerate"'):
        sr.gates(sr.load("xor"), "enumerate", clusters=3)


def test_a_command_is_its_call_and_printing(tmp_path, capsys):
    from symreln.cli.main import main

    with pytest.raises(SystemExit):
        main(["race", "xor", "--out", str(tmp_path), "--json"])
    found = sr.race(sr.load("xor"))
    assert json.loads(capsys.readouterr().out) == found.to_json()
    found.save(tmp_path / "again")
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_latex_for_a_notebook_is_the_formulas_of_the_first_page():
    derivation = derived("linear-hierarchy")
    text = derivation._repr_latex_()
    assert text is not None
    displays = re.findall(r"\$\$\n\\begin\{aligned\}\n(.*?)\n\\end\{aligned\}\n\$\$", text, re.S)
    assert "\n\n".join(displays).count("$") == 0
    strengths, loss = displays
    names = [row.label for row in derivation.modes if row.s != 0]
    assert strengths.replace("&=", "=").split(" \\\\\n") == [
        derivation.formula(name).to_latex() for name in names
    ]
    assert loss.startswith("L(t) = 2 - ")
    assert loss[-1] not in ".,"


def test_formats_and_libraries_that_are_none_are_said(tmp_path):
    derivation = derived("linear-hierarchy")
    with pytest.raises(InputError, match=r'found the text "jsn".*Did you mean "json"'):
        derivation.save(tmp_path / "none", ["jsn"])
    assert not (tmp_path / "none").exists()
    written = derivation.save(tmp_path / "one", "json")
    assert {path.name for path in written} == {"certificate.json", "derivation.json"}
    with pytest.raises(InputError, match="Known: numpy, jax, torch"):
        derivation.to_python("julia")  # pyright: ignore[reportArgumentType]


def test_calls_take_a_name_or_a_file_as_commands_do(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(sr.gates("xor", "enumerate").to_toml(), "utf-8")
    for given in (path, str(path), sr.load(path)):
        assert sr.derive(given).spec == sr.load(path)
        assert sr.gates(given, "enumerate").spec == sr.load(path)
    assert sr.race("xor", over="Delta").to_json() == sr.race(sr.load("xor"), "Delta").to_json()
    with pytest.raises(SpecError, match="Did you mean"):
        sr.derive("contextual3")


def test_every_verdict_has_its_line():
    """However long the first one is."""
    spec = sr.load("xor", {"network.hidden": 40, "network.steps": 1200})
    shown = repr(sr.validate(spec, seeds=2)).splitlines()
    firsts = [line.split()[0] for line in shown if not line.startswith(" ")]
    assert firsts[1:4] == ["loss", "modes", "gates"]
    assert len(shown) <= 10


def test_the_plateau_can_be_read_from_the_table():
    """Modes that couple have it at s over d_eff; a null mode has neither."""
    shown = repr(derived("contextual-3").modes).splitlines()
    row = next(line.split() for line in shown if "pi_2_1" in line)
    assert row[2:6] == ["sqrt(42)/72", "1/12", "1/24", "1"]
    null = next(line.split() for line in shown if "pi_2_4" in line)
    assert null[2:] == ["0", "1", "nothing", "to", "learn"]
