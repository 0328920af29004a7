"""Formulas by name: with the values of their letters they are the curves that are predicted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

import symreln as sr
from symreln.claims.formulas import LOSS, Formulas, formulas_of
from symreln.errors import InputError
from symreln.laws.law import TIME
from tests import cases
from tests.own_specs import LINEAR, UNIT, own

NETWORK = LINEAR | {"hidden": 100, "init_std": "1/10000", "learning_rate": "1/100", "steps": 2500}
#: White inputs and targets whose squares have a cubic without rational roots.
CUBIC = own(UNIT, [[2, 1, 0], [1, 3, 1], [0, 1, 5]], network=NETWORK)
UNBALANCED = {**CUBIC, "network": {**NETWORK, "init_std": ["1/1000", "1/10000"]}}
NARROW = {**CUBIC, "network": {**NETWORK, "hidden": 2}}
SPECS = {"cubic": CUBIC, "unbalanced": UNBALANCED, "narrow": NARROW}


@cache
def derived(name: str) -> sr.Derivation:
    return sr.derive(sr.load(SPECS[name])) if name in SPECS else cases.derived(name)


def evaluated(formulas: Formulas, name: str, times: np.ndarray) -> np.ndarray:
    """Put every letter's value into a formula, at 30 digits."""
    values = {each.symbol: sp.Float(sp.Rational(each.value), 30) for each in formulas.of(name)}
    at = sp.lambdify(TIME, formulas[name].expr.subs(values), "mpmath")
    return np.array([float(at(sp.Rational(time))) for time in times])


@pytest.mark.parametrize("name", ["xor", "linear-hierarchy", "contextual-3", *SPECS])
def test_formulas_with_their_letters_are_the_predicted_curves(name: str):
    derivation = derived(name)
    assert derivation.spec.network is not None
    times = np.linspace(0, derivation.spec.network.steps - 1, 12)
    formulas = formulas_of(derivation)
    predicted = derivation.evaluate(times)
    assert predicted.closed_loss is not None
    modes = {curve.label for curve in predicted.modes}
    assert set(formulas) - {LOSS} == modes
    for curve in predicted.modes:
        found = evaluated(formulas, curve.label, times)
        assert found == pytest.approx(curve.of("closed"), rel=1e-10, abs=1e-13), curve.label
    found = evaluated(formulas, LOSS, times)
    assert found == pytest.approx(predicted.closed_loss, rel=1e-10, abs=1e-12)
    assert LOSS in formulas
    assert not formulas.no_loss


def test_a_letter_has_one_value_though_print_calls_a_parameter_as_the_imbalance():
    spec = {
        **CUBIC,
        "dataset": {"X": [["c", "0"], ["0", "1"]], "Y": [["1", "0"], ["0", "2"]]},
        "parameters": {"c": {"positive": True, "value": 3}},
        "network": {**NETWORK, "init_std": ["1/1000", "1/10000"]},
    }
    formulas = formulas_of(sr.derive(sr.load(spec)))
    assert formulas.letters["c"].value == 3
    assert formulas.letters["imbalance"].value == pytest.approx(100 * 1.01e-6)


def test_strengths_are_found_by_their_label():
    derivation = derived("contextual-3")
    curves, formula = derivation.evaluate([0, 500]), derivation.to_numpy("pi_1_1")
    np.testing.assert_allclose(curves["pi_1_1"], formula(np.array([0, 500])), rtol=1e-12)
    with pytest.raises(InputError, match="which is no mode that learns"):
        _ = curves["pi_11"]


@pytest.mark.parametrize(
    ("x", "y", "decay"), [("b", 1, 0), (1, "b", 0), ("b", 1, "1/2"), ("b", "b", "1/2")]
)
def test_a_mode_that_vanishes_at_the_declared_values_has_formulas_at_them(x, y, decay):
    """s or d is 0 at b = 0: quotients are 0/0, and in float64 0 times what overflows."""
    network = NETWORK | {"steps": 40, "weight_decay": decay}
    parameters = {"b": {"value": 0}}
    pathways, data = [sr.pathway("path", "all")], ([[x], [x]], [[y], [y]])
    spec = sr.spec(*data, pathways=pathways, parameters=parameters, network=sr.network(**network))
    derivation, times, program = sr.derive(spec), np.array([0.0, 10.0, 1e5]), {}
    with pytest.raises(InputError, match=r"pi_1_1: the formula divides by 0 .*at_values"):
        derivation.to_python()
    exec(derivation.at_values.to_python(), program)
    loss = derivation.evaluate(times).loss
    # Of no modes the loss is one number.
    assert program["loss"](times) == pytest.approx(loss[0])
    assert derivation.at_values.to_numpy("loss")(times) == pytest.approx(loss)
    with pytest.raises(InputError, match=r"loss: the formula divides by 0 .*at_values"):
        derivation.to_numpy("loss")(times)
