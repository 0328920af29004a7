"""Which family is taken and why; spec keys; numbers of every family through a derivation."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

import symreln as sr
from symreln.errors import NotSupportedError
from symreln.laws import half_speed, lambda_balanced
from symreln.laws.chain_start import chain_start
from symreln.laws.choice import LAWS, choose, solve
from symreln.laws.deep_chain import Depth
from symreln.laws.law import Regime
from symreln.laws.one_layer import OneLayer
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced
from symreln.report.html import render as html
from tests.own_specs import LINEAR, own

TAKEN = {
    OneLayer: Regime(layers=1),
    TwoLayer: Regime(),
    Unbalanced: Regime(apart=True),
    TwoLayerDecay: Regime(weight_decay=Fraction(1, 9)),
    Depth: Regime(layers=7),
}


@pytest.mark.parametrize("law", TAKEN)
def test_every_law_is_taken_and_the_earlier_ones_say_why_not(law):
    choice = choose(TAKEN[law])
    assert (choice.law, choice.name) == (law, law.name)
    asked = [half_speed.NAME, lambda_balanced.NAME, *(each.name for each in LAWS)]
    earlier = asked[: asked.index(law.name)]
    assert [passed for passed, _ in choice.passed_over] == earlier
    assert all(why for _, why in choice.passed_over)
    # And its modes prove themselves.
    s, d = sp.symbols("s d", positive=True)
    mode = solve(TAKEN[law], s, d)
    assert mode.residual() == 0
    assert (mode.s, mode.d) == (s, d)
    assert "pi" in mode.equation


@pytest.mark.parametrize(
    "regime",
    [
        Regime(decoupled=False),
        Regime(decoupled=False, layers=4),
        Regime(layers=3, apart=True),
        Regime(layers=3, weight_decay=Fraction(1)),
        Regime(apart=True, weight_decay=Fraction(1)),
        Regime(layers=1, weight_decay=Fraction(1)),
    ],
)
def test_no_law_is_taken_without_a_theory(regime):
    choice = choose(regime)
    assert choice.law is choice.name is None
    assert len(choice.passed_over) == len(LAWS) + 2


NETWORK = LINEAR | {"hidden": 400, "learning_rate": "1/500", "steps": 2000}


def load(x=((1, 1), (1, -1)), **keys):
    return sr.load(own([*map(list, x)], [[3, 1], [1, 3]], network=NETWORK | keys))


def test_depth_has_numbers_once_they_are_asked_for(tmp_path):
    chain_start.cache_clear()
    derivation = sr.derive(load(layers=4, hidden=40))
    assert derivation.strength0 is None
    assert "the formulas hold for any" in html(derivation.to_document())
    derivation.save(tmp_path)
    assert (tmp_path / "derivation.tex").exists()
    assert chain_start.cache_info().misses == 0
    found = derivation.evaluate([0, 50])
    assert [each.source for each in found.constants] == ["estimated"]
    ball = derivation.enclose([50])["pi_1_1"][0]
    assert found.modes[0].best[1] == pytest.approx(float(ball), rel=1e-12)
    assert not (tmp_path / "figures" / "modes.pdf").exists()


def test_coupled_pathways_of_other_networks_are_refused():
    with pytest.raises(NotSupportedError, match="coupled"):
        sr.derive(load([[1, 2], [0, 1]], weight_decay="1/4"))
