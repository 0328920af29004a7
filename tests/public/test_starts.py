"""One start: what is derived, drawn, exported and printed is what is judged."""

import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import symreln as sr
from symreln.errors import InputError
from tests.own_specs import CHAIN, own

README = {"parameters.Delta.value": "1/2", "network.hidden": 200, "network.init_std": "1/10000"}
TIMES = np.arange(0, 1500, 30.0)


def _ways(derivation: sr.Derivation) -> dict[str, np.ndarray]:
    """Return the loss by everything that has a start."""
    module: dict = {}
    exec(derivation.to_python("numpy"), module)
    times, loss = derivation.plot().figure.axes[1].lines[0].get_data()
    return {
        "evaluate": derivation.evaluate(TIMES).loss,
        "to_numpy": derivation.to_numpy("loss")(TIMES),
        "to_python": module["loss"](TIMES),
        # At the times that are drawn.
        "plot": np.asarray(loss, float) - derivation.evaluate(np.asarray(times)).loss,
    }


@pytest.mark.parametrize("name", ["xor", "readme"])
def test_what_is_derived_is_what_is_judged(name: str, tmp_path: Path):
    derivation = sr.derive(sr.load("xor", README if name == "readme" else ()))
    report = sr.validate(derivation, seeds=1, rng=0)
    at = TIMES.astype(int)
    judged = report.prediction.loss[at]
    own = {"evaluate": derivation.evaluate(TIMES).loss}
    if derivation.loss_separates:
        own = _ways(derivation)
    for way, found in own.items():
        expected = 0 if way == "plot" else judged
        assert np.abs(found - expected).max() < 1e-12 * judged[0], way
    printed = {each.name: each.value for each in derivation.constants}
    assert printed == {each.name: each.value for each in report.prediction.constants}
    derivation.save(tmp_path, ["json", "tex"])
    saved = json.loads((tmp_path / "derivation.json").read_text())
    mode, start = saved["pathways"][0]["modes"][0], derivation.early["pi_1_1"]
    expected = float(f"{start.kappa:.4g}") * derivation.spec.network.hidden / 2
    expected *= float(derivation.spec.network.init_std) ** 2
    assert float(mode["strength0"]["decimal"]) == pytest.approx(expected, rel=1e-12)
    assert float(mode["half_time"]["decimal"]) == pytest.approx(
        derivation.modes["pi_1_1"].half_time
    )
    assert f"{start.error:.2g}" in (tmp_path / "derivation.tex").read_text()
    plateau = report.prediction.modes[0].plateau
    half = np.interp(plateau / 2, report.prediction.modes[0].of("closed"), report.prediction.times)
    assert half == pytest.approx(derivation.modes["pi_1_1"].half_time, abs=1)


def test_another_start_is_taken_by_all_of_them(tmp_path: Path):
    derivation = sr.derive(sr.load("xor", README))
    own = derivation.starting_at("1/1000")
    assert own.strength0 == Fraction(1, 1000)
    ways = _ways(own)
    ways["in the spec"] = (
        sr.derive(sr.load("xor", README | {"network.strength0": "1/1000"})).evaluate(TIMES).loss
    )
    for way, found in ways.items():
        np.testing.assert_allclose(found, 0 if way == "plot" else ways["evaluate"], atol=1e-12)
    strength = own.evaluate([0]).modes[0].closed
    assert strength[0] == pytest.approx(1e-3)
    assert own.modes["pi_1_1"].half_time < derivation.modes["pi_1_1"].half_time - 100
    assert [each.source for each in own.constants] == ["assumed"]
    own.save(tmp_path)
    again = sr.open(tmp_path)
    assert again.strength0 == Fraction(1, 1000)


@pytest.mark.parametrize("value", [0, -1, "no", float("nan")])
def test_a_start_is_a_number_above_0(value: object):
    with pytest.raises(InputError, match="strength0"):
        sr.derive("linear-hierarchy").starting_at(value)


DEEP = {
    "three": (2, {"layers": 3, "init_std": "3/100"}),
    "seven, given": (2, {"layers": 7, "strength0": "1/50"}),
    "three, a parameter": ("c", {"layers": 3, "init_std": "1/10"}),
}


@pytest.mark.parametrize("name", DEEP)
def test_three_and_more_layers_have_numbers_in_all_ways(name: str):
    """t(π) inverted, from the start that validation follows single modes for; its constants too."""
    size, keys = DEEP[name]
    network = CHAIN | {"hidden": 30, "init_std": "1/20", "learning_rate": "1/40", "steps": 400}
    given = {"c": {"positive": True, "value": "3/2"}} if size == "c" else {}
    x, y = [[1, 1], [1, -1]], [[size, size], [1, -1]]
    derivation = sr.derive(sr.load(own(x, y, parameters=given, network=network | keys)))
    prediction = derivation.evaluate()
    first, loss = prediction.modes[0], prediction.loss
    assert loss[-1] < 0.2 * loss[0]
    strength = pickle.loads(pickle.dumps(derivation.to_numpy("pi_1_1")))(prediction.times)
    assert np.abs(strength - first.best).max() < 1e-9 * first.plateau
    assert np.abs(derivation.to_numpy("loss")(prediction.times) - loss).max() < 1e-9 * loss[0]
    times, drawn = derivation.plot().figure.axes[1].lines[0].get_data()
    found = derivation.evaluate(np.asarray(times)).loss
    assert np.abs(np.asarray(drawn, float) - found).max() < 1e-9 * loss[0]
    outputs = derivation.predict([0, 399]).values[-1]
    goal = np.array(derivation.at_values.spec.dataset.targets.to_numpy()).T
    assert 0.5 * np.mean(np.sum((outputs - goal) ** 2, axis=1)) == pytest.approx(loss[-1])
    if "strength0" in keys:
        half = derivation.modes["pi_1_1"].half_time
        assert np.interp(first.plateau / 2, first.best, prediction.times) == pytest.approx(
            half, abs=0.1
        )
        return
    report = sr.validate(derivation, seeds=1, rng=0).prediction
    assert np.abs(loss - report.closed_loss).max() < 1e-12 * loss[0]
    assert prediction.constants == report.constants
    assert prediction.constants[-1].error > 0
