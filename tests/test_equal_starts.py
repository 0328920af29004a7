"""Closed by symmetry: what holds where modes that couple do not start equal, and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.claims.equal_starts import equal_starts, started_apart, unequal_starts
from symreln.claims.mode_system import mode_system
from symreln.claims.prediction import mode_starts, predict_training
from symreln.exact.truth import Truth
from symreln.laws.coupled_modes import integrate_modes
from symreln.verdict.judge import Level
from tests.cases import contexts_spec
from tests.pathways.examples import CUBIC, RATIONAL, equal_race, one_hot_contexts, scaled_structure

TWINS = scaled_structure(RATIONAL, [3, 2], [(1, 1), (1, 1)])
NETWORK = {
    "hidden": 200,
    "init_std": "1/1000",
    "learning_rate": "1/20",
    "loss": "mean",
    "steps": 900,
    "activation": "linear",
}


def flowed(derivation, start):
    system = mode_system(derivation.stages[0])
    found = integrate_modes(system.s, system.kappa, start, np.array([0.0, 4000.0]), 1.0)[:, -1]
    return dict(zip(system.labels, found, strict=True))


def plateaus(derivation) -> set[Truth]:
    """Return whether plateaus hold from unequal starts."""
    found = [each for part in equal_starts(derivation) for each in part.found]
    return {each.heights_from_unequal_starts for each in found}


@pytest.mark.parametrize("structure", [RATIONAL, CUBIC])
def test_heights_that_hold_from_every_start(structure):
    derivation = sr.derive(equal_race(structure))
    assert derivation.verdict.level is Level.CLOSED_BY_SYMMETRY
    assert plateaus(derivation) == {Truth.PROVEN}
    count = len(mode_system(derivation.stages[0]).s)
    end = flowed(derivation, 10.0 ** np.random.default_rng(1).uniform(-5, 0, count))
    for pathway in derivation.pathways:
        for mode in pathway.modes:
            assert mode.d_eff is not None
            height = mode.s.to_float() / mode.d_eff.to_float()
            assert end[mode.label] == pytest.approx(height, rel=1e-7)


def test_heights_that_the_starts_decide():
    derivation = sr.derive(TWINS)
    assert derivation.verdict.level is Level.CLOSED_BY_SYMMETRY
    assert plateaus(derivation) == {Truth.REFUTED}
    end = flowed(derivation, np.array([0.1, 0.1, 0.3, 0.3]))
    first, second = (path.modes[0] for path in derivation.pathways)
    assert first.d_eff is not None
    height = first.s.to_float() / first.d_eff.to_float()
    assert end[second.label] == pytest.approx(3 * end[first.label])
    assert end[first.label] + end[second.label] == pytest.approx(2 * height)
    assert abs(end[first.label] / height - 1) > 0.4


def test_sums_that_alone_keep_the_modes_are_left_open():
    derivation = sr.derive(contexts_spec(RATIONAL, 3))
    assert plateaus(derivation) == {Truth.UNDECIDED}
    assert all(
        "only the sum of their couplings is proven" in each.meaning
        for part in equal_starts(derivation)
        for each in part.found
    )


def test_without_values_it_is_undecided():
    spec = sr.load(
        {
            "dataset": {"X": [[1, 1]], "Y": [["a", "a"]]},
            "parameters": {"a": {"positive": True}},
            "pathway": [{"name": "one"}, {"name": "two"}],
        }
    )
    ((found,),) = (part.found for part in equal_starts(sr.derive(spec)))
    assert found.heights_from_unequal_starts is Truth.UNDECIDED
    assert "without a value" in found.meaning


def test_document_and_json_say_it():
    derivation = sr.derive(TWINS)
    text = derivation.to_latex()
    assert "effective eigenvalues, from equal starts" in text
    assert "couplings are singular, so from unequal starts the plateaus differ too" in text
    entry = derivation.to_json()["equal_starts"]
    assert [each["modes"] for each in entry] == [["pi_1_1", "pi_2_1"], ["pi_1_2", "pi_2_2"]]
    assert {each["heights_from_unequal_starts"] for each in entry} == {"refuted"}
    # Nothing is assumed where nothing couples.
    closed = sr.derive(one_hot_contexts([RATIONAL], [(1,)]))
    assert "equal_starts" not in closed.to_json()
    assert "Equal starts" not in closed.to_latex()


def test_the_prediction_does_not_assume_equal_starts():
    # The second of two equal pathways starts from nine times the strength: nine tenths are its own.
    spec = {
        "dataset": {"X": [[1, 0], [0, 1]], "Y": [[3, 0], [0, 2]]},
        "pathway": [{"name": "one"}, {"name": "two"}],
        "network": NETWORK,
    }
    derivation = sr.derive(sr.load(spec))
    assert derivation.verdict.level is Level.CLOSED_BY_SYMMETRY
    kappas = {
        mode.label: 0.2 if path.name == "one" else 1.8
        for path in derivation.pathways
        for mode in path.modes
    }
    assert len(mode_starts(derivation, kappas)) == 4
    found = predict_training(derivation, kappas)
    for curve in found.modes:
        assert curve.plateau is not None
        share = 0.1 if curve.pathway == "one" else 0.9
        assert curve.best[-1] == pytest.approx(2 * curve.plateau * share, rel=1e-3)
    # Both start from κ = 1 on average, but the sum is the same only at the end.
    equal = predict_training(derivation)
    assert abs(found.reduced[-1] - equal.reduced[-1]) < 1e-6 * equal.reduced[0]


def test_starts_that_differ_are_said_beside_the_confrontation():
    derivation = sr.derive(TWINS)
    one, two = (path.name for path in derivation.pathways)
    assert started_apart(derivation, {one: 0.5, two: 0.5}) == ()
    assert unequal_starts(derivation, {one: 0.5, two: 0.5}) == []
    wanted = ("pi_1_1", "pi_2_1", "pi_1_2", "pi_2_2")
    assert started_apart(derivation, {one: 0.5, two: 0.6}) == wanted
    assert started_apart(derivation, {one: 0.5}) == wanted
    (block,) = unequal_starts(derivation, {one: 0.5})
    assert "are not the prediction here" in str(block)
