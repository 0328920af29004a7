"""Formulas as a module of Python: alone in a fresh process they are the predicted curves."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symreln as sr
from symreln.claims.prediction import closed_forms
from symreln.errors import CertificateError, NoClosedFormError
from symreln.report.programs import Library, program
from symreln.verifier.folder import verify_file
from tests.claims.test_formulas import SPECS, derived

#: Runs a module in a process that sees nothing else, and prints its functions at some times.
ALONE = """
import importlib.util, json, sys
if "jax" in sys.argv[3]:
    import jax
    jax.config.update("jax_enable_x64", True)
import numpy
spec = importlib.util.spec_from_file_location("formulas", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
names, times = json.loads(sys.argv[2])
times = numpy.array(times)
with numpy.errstate(over="raise", invalid="raise", divide="raise"):
    found = {name: numpy.asarray(getattr(module, name)(times)).tolist() for name in names}
print(json.dumps(found))
"""
LONG = [0.0, 1.0, 7.0, 1e7, 1e12]


def run_alone(text: str, folder: Path, names: list[str], times: list[float], library: str):
    path = folder / "formulas.py"
    path.write_text(text)
    command = [sys.executable, "-I", "-c", ALONE, str(path), json.dumps([names, times]), library]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return {name: np.array(values) for name, values in json.loads(done.stdout).items()}


@pytest.mark.parametrize(
    ("name", "library"),
    [
        *((name, "numpy") for name in ("xor", "contextual-3", *SPECS)),
        ("contextual-3", "jax"),
        ("contextual-3", "torch"),
        ("unbalanced", "torch"),
    ],
)
def test_module_alone_says_what_is_predicted(name: str, library: Library, tmp_path: Path):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    derivation = derived(name)
    network = derivation.spec.network
    assert network is not None
    times = np.unique([*np.linspace(0, network.steps - 1, 30), *LONG])
    known = closed_forms(derivation.at_values, times)
    predicted = derivation.evaluate(times[:20]) if known is None else known
    grid = predicted.times
    names = [curve.label for curve in predicted.modes]
    names += ["loss"] if known is not None else []
    found = run_alone(program(derivation, library), tmp_path, names, grid.tolist(), library)
    for curve in predicted.modes:
        assert found[curve.label] == pytest.approx(curve.of("closed"), rel=1e-12, abs=0)
    if known is not None:
        assert found["loss"] == pytest.approx(known.loss, rel=0, abs=1e-12 * known.loss[0])


def test_parameters_are_arguments_that_other_values_can_be_given_to():
    module: dict[str, Any] = {}
    exec(program(derived("xor")), module)
    other = sr.derive(sr.load("xor", overrides={"parameters.Delta.value": "2/3"}))
    assert isinstance(other, sr.Derivation)
    times = np.linspace(0, 2000, 9)
    curves = {each.label: each.of("closed") for each in other.evaluate(times).modes}
    start = other.to_numpy("loss").defaults["pi_0"]  # κ is that of the data
    own = {"Delta": 2 / 3, "pi_0": start}
    assert module["pi_3_1"](times, **own) == pytest.approx(curves["pi_3_1"], rel=1e-12)
    loss = other.evaluate(times).loss
    assert module["loss"](times, **own) == pytest.approx(loss, abs=1e-12 * loss[0])
    with pytest.raises(TypeError, match="pi_0 follows from Delta"):
        module["loss"](times, Delta=2 / 3)


def test_a_letter_that_follows_from_a_changed_one_is_asked_for():
    derivation = derived("contextual-3")
    module: dict[str, Any] = {}
    exec(program(derivation), module)
    with pytest.raises(TypeError, match="pitilde_2_1 follows from tau: give both"):
        module["pi_2_1"](100.0, tau=50.0)
    with pytest.raises(TypeError, match="follows from c"):
        module["loss"](100.0, c=2.0)
    known = derivation.to_numpy("pi_2_1")(100.0, tau=50.0, pitilde_2_1=1e-6)
    assert module["pi_2_1"](100.0, tau=50.0, pitilde_2_1=1e-6) == pytest.approx(known, rel=1e-12)
    assert module["pi_2_1"](100.0) == pytest.approx(derivation.to_numpy("pi_2_1")(100.0), rel=1e-12)


def test_labels_of_a_spec_stay_text(tmp_path: Path):
    spec = sr.load(
        {
            **SPECS["cubic"],
            "title": "ends \\ with '''\"\"\" + __import__('os')\\",
            "parameters": {"loss": {"value": 1}, "lambda": {"value": 2}, "numpy": {"value": 1}},
            "dataset": {"X": [["1", "0"], ["0", "lambda"]], "Y": [["loss", "0"], ["0", "numpy"]]},
        }
    )
    derivation = sr.derive(spec)
    text = program(derivation)
    names = [curve.label for curve in derivation.evaluate([0.0]).modes]
    found = run_alone(text, tmp_path, [*names, "loss"], [0.0, 100.0], "numpy")
    predicted = derivation.evaluate([0.0, 100.0])
    assert found["loss"] == pytest.approx(predicted.loss, rel=1e-12)


def test_module_is_refused_where_no_formula_says_it(tmp_path: Path):
    with pytest.raises(NoClosedFormError, match="coupled matrices"):
        program(derived("contextual-different"))
    with pytest.raises(NoClosedFormError, match="no closed form in time"):
        program(derived("routing"))


def test_module_is_written_where_it_is_asked_for_and_belongs_to_its_certificate(tmp_path: Path):
    derived("xor").save(tmp_path / "one", formats=["py"])
    assert {each.name for each in (tmp_path / "one").iterdir()} == {
        "certificate.json",
        "derivation.py",
    }
    verify_file(tmp_path / "one")
    text = (tmp_path / "one" / "derivation.py").read_text()
    assert text.startswith(program(derived("xor")))
    (tmp_path / "one" / "derivation.py").write_text(text.replace("log1p", "log"))
    with pytest.raises(CertificateError, match="changed after it was written"):
        verify_file(tmp_path / "one")
