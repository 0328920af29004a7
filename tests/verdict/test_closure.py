"""Verdicts by two routes: decided exactly, and seen in the flow of all weights.

A start aligned with the modes is integrated without any reduction. Where the verdict says that
the strengths close, the weights must stay on the modes and follow the equations; where it says
coupled matrices, they must leave them, so that the verdict is not weaker than it need be.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import symreln as sr
from symreln.claims.couplings import _overlap_matrices
from symreln.claims.equilibria import mode_system
from symreln.claims.probes import learning_modes, probe_bases
from symreln.laws.coupled_modes import integrate_modes
from symreln.verdict.judge import Level
from tests.cases import matrix_spec
from tests.laws.full_flow import GatedNetwork, aligned_start, strengths, two_layers
from tests.verdict.examples import all_examples, random_races

EXAMPLES = all_examples()
STRENGTH0 = 1e-2

# Relative to the largest strength. The integrator's local error of 1e-11 grows with the modes by
# at most plateau/strength0, a few hundred here.
ON_MODES = 1e-8
# What leaves the modes in these examples is a share of the largest strength that shows at once.
OFF_MODES = 1e-3


@lru_cache(maxsize=64)
def observed(name: str):
    """(derivation, times, strengths of all learning modes, share that left the modes)."""
    spec = random_races(int(name)) if name.isdigit() else EXAMPLES[name]
    derivation = sr.derive(spec)
    modes = [probe_bases(p)[:2] for p in derivation.pathways]
    slowest = min(m.s.to_float() for _, m in learning_modes(derivation))
    times = np.linspace(0, 12 / slowest, 25)
    start = aligned_start(modes, STRENGTH0, np.random.default_rng(0))
    curves, left = [], 0.0
    for weights in GatedNetwork.of(spec).flow(start, times):
        found = [strengths(m, w) for m, w in zip(modes, weights, strict=True)]
        curves.append(np.concatenate([core for core, _ in found]))
        left = max(left, *(off for _, off in found))
    curves = np.array(curves).T
    return derivation, times, curves, left / np.abs(curves).max()


@pytest.mark.parametrize("name", [*EXAMPLES, *map(str, range(24))])
def test_verdict_says_what_the_flow_does(name):
    # Two-sided: a verdict that claims too much and one that claims too little both fail.
    derivation, _, _, left = observed(name)
    level = derivation.verdict.level
    assert name.isdigit() or level.value == name.split(":")[0]
    assert left > OFF_MODES if level is Level.COUPLED_MATRICES else left < ON_MODES


def test_random_races_meet_every_level():
    levels = {observed(str(seed))[0].verdict.level for seed in range(24)}
    assert levels == {
        Level.CLOSED,
        Level.CLOSED_BY_SYMMETRY,
        Level.COUPLED_MODES,
        Level.COUPLED_MATRICES,
    }


def closing(prefixes: tuple[str, ...]) -> list[str]:
    return [name for name in EXAMPLES if name.startswith(prefixes)]


def per_column(derivation, value):
    """A value of every learning mode, repeated for its equal modes, as ``probe_bases`` does."""
    return np.repeat(
        [value(mode) for _, mode in learning_modes(derivation)],
        [mode.multiplicity for _, mode in learning_modes(derivation)],
    )


@pytest.mark.parametrize("name", closing(("closed",)))
def test_closed_strengths_follow_the_closed_form(name):
    derivation, times, curves, _ = observed(name)
    s = per_column(derivation, lambda m: m.s.to_float())[:, None]
    d = per_column(derivation, lambda m: m.d_eff.to_float())[:, None]
    expected = two_layers(s, d, np.full_like(s, STRENGTH0), times, 1.0)
    np.testing.assert_allclose(curves, expected, rtol=0, atol=ON_MODES * np.max(s / d))


def test_the_basis_of_a_degenerate_class_is_that_of_its_neighbours():
    """Where s of two modes differ by 1e-9 there is one basis, and it is the one that is found."""
    gates = [[1, 0], [1, 1]]
    near = sr.derive(matrix_spec([[1, 0], [0, 1]], [[1, 0], [0, 1 + Fraction(1, 10**9)]], gates))
    here = sr.derive(matrix_spec([[1, 0], [0, 1]], [[1, 0], [0, 1]], gates))
    assert near.verdict.level is here.verdict.level is Level.CLOSED_BY_SYMMETRY
    assert [m.multiplicity for p in here.pathways for m in p.modes] == [1, 1, 1, 1]
    ours, theirs = (
        sorted(m.d_eff.to_float() for _, m in learning_modes(found)) for found in (here, near)
    )
    assert ours == theirs == [0.5, 1, 1]


@pytest.mark.parametrize("name", closing(("coupled modes",)))
def test_coupled_modes_follow_lotka_volterra(name):
    derivation, times, curves, _ = observed(name)
    system = mode_system(derivation.stages[0])
    s, kappa = system.s, system.kappa
    expected = integrate_modes(s, kappa, np.full(len(s), STRENGTH0), times, 1.0)
    np.testing.assert_allclose(curves, expected, rtol=0, atol=ON_MODES * np.abs(curves).max())
    uncoupled = integrate_modes(s, np.diag(np.diag(kappa)), np.full(len(s), STRENGTH0), times, 1.0)
    assert np.abs(curves - uncoupled).max() > 0.1 * np.abs(curves).max()


def test_diagonal_overlaps_are_not_enough():
    # K and G are 1 × 1, so diagonal; a decision by them alone would call this coupled modes.
    derivation, _, _, left = observed("coupled matrices: leaves the span")
    k, g = _overlap_matrices(*derivation.pathways)
    assert k.shape == g.shape == (1, 1)
    assert abs(k[0, 0]) > 0.1
    assert abs(g[0, 0]) > 0.1
    assert left > OFF_MODES
    assert "leaves the latter's span" in derivation.verdict.reasons[-1]
