"""Head starts of later stages: by definition, by repeated steps, in floats and in balls."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import symreln as sr
from symreln.claims.head_start import in_balls, mode_laws
from symreln.claims.later_stages import head_starts_of
from symreln.claims.probes import probe_bases
from symreln.exact.enclosure import precision

#: π̃₀ of the three levels of a context's tree, of C = 3 (theory.md, 10).
KNOWN = (4.2e-5, 3.4e-5, 2.6e-5)


@cache
def derived(name: str, *overrides: str) -> sr.Derivation:
    return sr.derive(sr.load(name, overrides=overrides)).at_values


def starts(name: str, *overrides: str) -> dict[str, float]:
    found = mode_laws(derived(name, *overrides))
    return {label: float(copies[0].law.strength0) for label, copies in found.items()}


def test_a_first_stage_starts_where_weights_do():
    derivation = derived("contextual-3")
    found = starts("contextual-3")
    own = {mode.label for mode in derivation.stages[0].pathways[0].modes if not mode.is_null}
    assert {found[label] for label in own} == {float(derivation.strength0)}


def test_head_starts_of_three_contexts_are_those_that_are_known():
    found = starts("contextual-3")
    assert [found[f"pi_2_{n}"] for n in (1, 2, 3)] == pytest.approx(KNOWN, rel=0.02)
    assert found["pi_3_1"] == pytest.approx(found["pi_2_1"], rel=1e-12)


@pytest.mark.parametrize("name", ["contextual-3", "contextual-4"])
def test_a_head_start_is_what_repeated_steps_give(name):
    """Amplitudes of both layers, multiplied step by step; half-times are rounded to whole steps."""
    derivation = derived(name)
    laws, tau = mode_laws(derivation), float(derivation.tau)
    first, second = derivation.stages
    u, v, labels = probe_bases(first.pathways[0])
    pathway = second.pathways[0]
    own_u, own_v, own = probe_bases(pathway)
    source, target = first.pathways[0].effective, pathway.effective
    seen = source.cross_sigma_x(target).to_numpy()
    written = np.zeros((u.shape[0], 1))
    written[list(target.pathway.outputs)] = 1
    ends = {label: round(float(laws[label][0].law.half_time)) for label in set(labels)}
    grams = np.vstack([own_v, own_u]) / np.sqrt(2)
    for step in reversed(range(max(ends.values()))):
        drive = target.sigma_yx.to_numpy().copy()
        for column, label in enumerate(labels):
            if step < ends[label]:
                height = float(laws[label][0].law.plateau)
                drive += height * written * np.outer(u[:, column], v[:, column] @ seen)
        inner, outer = np.split(grams, [own_v.shape[0]])
        grams = np.vstack([inner + drive.T @ outer / tau, outer + drive @ inner / tau])
    grown = (grams**2).sum(axis=0)
    for column, label in enumerate(own):
        (copies,) = laws[label]
        alone = (1 + float(copies.law.s) / tau) ** (2 * max(ends.values()))
        found = float(derivation.strength0) * grown[column] / alone
        assert float(copies.law.strength0) == pytest.approx(found, rel=0.01)


def test_a_context_sees_what_the_common_pathway_has_not_learned_and_grows_c_times_as_fast():
    """With one mode before, r = C s: π₀ ((1 + s/r)/2)² ((1 + r/τ)/(1 + s/τ))^(2 t), and no more."""
    derivation = derived("contextual-3", "network.init_std=1/1000000000000")
    laws, tau = mode_laws(derivation), float(derivation.tau)
    (copies,) = laws["pi_2_1"]
    s, ((label, time),) = float(copies.law.s), copies.reached_by
    assert time == laws[label][0].law.half_time
    r, known = 3 * s, float(derivation.strength0) * (2 / 3) ** 2  # ((1 + 1/3)/2)²
    expected = known * ((1 + r / tau) / (1 + s / tau)) ** (2 * float(time))
    assert float(copies.law.strength0) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["contextual-3", "contextual-C"])
def test_balls_hold_what_floats_say(name):
    derivation = sr.derive(sr.load(name))
    floats = mode_laws(derivation)
    with precision(192):
        balls = mode_laws(derivation, in_balls(derivation.spec.values, 192))
        for label, (found,) in balls.items():
            start, other = found.law.strength0, floats[label][0].law.strength0
            assert start.rel_accuracy_bits() > 120
            assert float(abs(start - float(other)) / start) < 1e-11


def test_smaller_steps_go_to_the_flow_s_head_start():
    found = [
        starts("contextual-3", f"network.learning_rate={rate}")["pi_2_1"]
        for rate in (Fraction(1, 1000), Fraction(1, 10**4), Fraction(1, 10**6))
    ]
    flow = found[-1]
    assert abs(found[1] / flow - 1) < 0.2 * abs(found[0] / flow - 1)


def test_what_is_small_is_said_and_falls_with_the_initial_scale():
    """The share of the plateau at the end of the drive, by the closed form there."""
    said = {}
    for std in ("1/14000", "1/140000", "1/1400000"):
        derivation = sr.derive(sr.load("contextual-5", overrides=(f"network.init_std={std}",)))
        claim = derivation.ask(head_starts_of)
        assert claim is not None
        first = claim.modes[0]
        law, (_, last) = mode_laws(derivation)[first.label][0].law, first.copies[0].reached_by[-1]
        expected = float(law.strength(np.float64(float(last))) / law.plateau)
        assert float(first.learned) == pytest.approx(expected, rel=1e-9)
        said[std] = expected
    one, two, three = said.values()
    # A power of π₀: equal ratios, an order of init_std apart.
    assert one / two == pytest.approx(two / three, rel=0.1)
    assert one > 2 * two
