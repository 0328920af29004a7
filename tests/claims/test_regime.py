"""The regime of the initial weights: where modes start beyond half of their plateaus."""

from __future__ import annotations

from fractions import Fraction

import pytest

import symreln as sr
from symreln.claims.balls import half_time
from symreln.claims.probes import learning_modes
from tests.cases import derived
from tests.own_specs import LINEAR, UNIT, own


@pytest.mark.parametrize(
    ("std", "name"),
    [("1/140000", "rich"), ("1/100", "rich"), ("1/20", "mixed"), ("3/20", "lazy"), ("1/2", "lazy")],
)
def test_the_scale_of_the_weights_decides(std, name):
    found = derived("contextual-3", f'network.init_std="{std}"').regime
    assert found.name == name
    assert bool(found.lazy) == (name != "rich")
    assert bool(found.reason) == bool(found.lazy)


@pytest.mark.parametrize(("factor", "name"), [("1", "lazy"), ("1/5", "rich"), ("2/3", "mixed")])
def test_layers_that_start_apart_are_lazy_by_what_grows(factor, name):
    """H (σ₁² + σ₂²)/4 = 65/36 at 1/2 and 1/3: half of the plateaus 3 and 1 are below it."""
    x, y = [[1, 1], [1, -1], [-1, 1], [-1, -1]], [[3, 1], [3, -1], [-3, 1], [-3, -1]]
    std = [Fraction(factor) / 2, Fraction(factor) / 3]
    network = sr.network(
        hidden=20, init_std=std, learning_rate="1/100", steps=800, activation="linear", loss="mean"
    )
    derivation = sr.derive(sr.spec(x, y, pathways=[sr.pathway("all")], network=network))
    assert derivation.regime.strength0 == Fraction(65, 36) * Fraction(factor) ** 2
    assert derivation.regime.name == name
    assert ("azy regime" in derivation.to_latex()) == (name != "rich")
    assert "half-time, and the relative" not in derivation.to_latex()


@pytest.mark.parametrize("std", ["1/25", "1/20", "3/50", "1/10", "3/20"])
def test_lazy_modes_are_those_without_a_half_time(std):
    """Two routes: the comparison of exact numbers, and the certified search for a half-time."""
    derivation = derived("contextual-3", f'network.init_std="{std}"').at_values
    late = {
        mode.label
        for _, mode in learning_modes(derivation)
        if half_time(derivation, mode, 6).why == "the mode starts above half of its plateau"
    }
    assert set(derivation.regime.lazy) == late
    assert derivation.regime.modes == len(learning_modes(derivation))


def test_at_exactly_half_of_the_plateau_a_mode_is_lazy():
    """The linear network's pi_0 is H sigma²/2; the plateau here is 1, so sigma² = 1/H is half."""
    for hidden, name in ((100, "lazy"), (99, "rich"), (101, "lazy")):
        spec = own(UNIT, UNIT, network=LINEAR | {"hidden": hidden, "init_std": "1/10"})
        assert sr.derive(sr.load(spec)).regime.name == name


def test_document_json_and_terminal_name_the_regime():
    from symreln.report.terminal import summary_of

    derivation = derived("contextual-3", 'network.init_std="3/20"')
    assert derivation.to_json()["regime"]["name"] == "lazy"
    assert len(derivation.to_json()["regime"]["lazy_modes"]) == 14
    text = derivation.to_latex()
    assert "Lazy regime" in text
    assert "Chizat" in text
    assert any(line.startswith("lazy regime: ") for line in summary_of(derivation)["tail"])
    assert not any("lazy" in line for line in summary_of(derived("contextual-3"))["tail"])
