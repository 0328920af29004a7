"""Symmetries, factored residuals and summed closures against the routes without them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.claims import solve as pipeline
from symreln.exact.matrix import ExactMatrix
from symreln.exact.spectrum import joint_spectrum
from symreln.networks.effective import EffectiveDataset
from symreln.networks.symmetry import SymmetrySearch
from symreln.specs.spec import Spec
from symreln.verdict.closure import summed_actions
from symreln.verdict.coupling import _class_actions
from symreln.verdict.judge import Level, _stage_modes
from symreln.verdict.residual import (
    closed_residual,
    converged_outputs,
    converged_pathways,
    plateau_errors,
    plateau_gain,
)
from tests.verdict.examples import all_examples, random_gated, random_races

TASKS = {
    "xor": sr.load("xor"),
    "linear hierarchy": sr.load("linear-hierarchy", overrides=["dataset.items=4"]),
    "contextual": sr.load("contextual-3", overrides=["dataset.items=4"]),
    "contextual, five": sr.load("contextual-5", overrides=["dataset.items=2"]),
    "contextual, different": sr.load("contextual-different"),
}
SPECS: dict[str, Spec] = {
    **TASKS,
    **all_examples(),
    **{f"race {seed}": random_races(seed) for seed in range(8)},
}


def modes_of(spec: Spec):
    """The modes of all pathways as one stage, every one by itself."""
    effective = tuple(
        EffectiveDataset.of(spec.dataset, p, spec.dataset.targets) for p in spec.pathways
    )
    return _stage_modes(effective, tuple(joint_spectrum(e.sigma_yx, e.sigma_x) for e in effective))


# -- with symmetries and without -------------------------------------------------------------------


def facts(derivation) -> list:
    """What a derivation says, in plain exact values."""
    found: list = [derivation.verdict.reasons, str(derivation.loss)]
    for stage in derivation.stages:
        verdict = stage.verdict
        found += [stage.initial_loss, stage.final_loss, verdict.level, verdict.components]
        found += [verdict.couplings.coupled_pairs, sorted(verdict.d_eff.items())]
        for c in verdict.couplings.couplings:
            found.append((c.target, c.source, c.factors, c.overlap_squared, c.input_overlap))
        for pathway in stage.pathways:
            found.append([(m.s, m.d, m.d_eff, m.multiplicity, m.strength) for m in pathway.modes])
    return found


@pytest.mark.parametrize("name", SPECS)
def test_symmetries_change_nothing(name, monkeypatch):
    found = pipeline.derive_unchecked(SPECS[name])
    monkeypatch.setattr(pipeline, "SymmetrySearch", lambda *_: None)
    alone = pipeline.derive_unchecked(SPECS[name])
    assert facts(found) == facts(alone)
    for one, other in zip(found.pathways, alone.pathways, strict=True):
        assert other.effective.image is None
        assert one.effective.sigma_yx == other.effective.sigma_yx
        assert one.effective.sigma_x == other.effective.sigma_x
        assert one.effective.targets == other.effective.targets
        assert one.spectrum.commutator == other.spectrum.commutator
        # The classes are those of this pathway's own correlations, not only of the original's.
        for mode_class in one.spectrum.classes:
            if mode_class.degree == 1:
                w = mode_class.generators
                assert one.spectrum.m @ w == w.scale(mode_class.eigenvalue[0])


def test_symmetries_are_found_where_they_are():
    derivation = pipeline.derive_unchecked(TASKS["contextual, five"])
    twins = [p.effective.image is not None for p in derivation.stages[1].pathways]
    assert twins == [False, True, True, True, True]
    couplings = derivation.stages[1].verdict.couplings.couplings
    # 20 ordered pairs of pathways, one decided and the others like it.
    assert len({c.target[0] for c in couplings if c.like is None}) == 1
    assert sum(c.like is None for c in couplings) * 20 == len(couplings)


@pytest.mark.parametrize("seed", range(6))
def test_a_symmetry_is_one(seed):
    spec = TASKS["contextual"] if seed % 2 else TASKS["contextual, five"]
    order = np.random.default_rng(seed).permutation(spec.dataset.samples).tolist()
    # Samples in any order: colours still find a symmetry or none, never a wrong one.
    shuffled = replace(
        spec,
        dataset=replace(
            spec.dataset,
            inputs=spec.dataset.inputs.select(columns=order),
            targets=spec.dataset.targets.select(columns=order),
        ),
        pathways=tuple(replace(p, gate=tuple(p.gate[i] for i in order)) for p in spec.pathways),
    )
    for chosen in (spec, shuffled):
        search = SymmetrySearch(chosen.dataset, chosen.pathways, [p.stage for p in chosen.pathways])
        found = search.find([1], [2])
        if chosen is spec:
            assert found is not None
        if found is None:
            continue
        x = chosen.dataset.inputs.substitute({"c": Fraction(3)}).to_numpy()
        y = chosen.dataset.targets.to_numpy()
        np.testing.assert_array_equal(x[np.ix_(found.inputs, found.samples)], x)
        np.testing.assert_array_equal(y[np.ix_(found.outputs, found.samples)], y)
        assert sorted(found.pathways) == list(range(len(chosen.pathways)))
        assert found.pathways[1] == 2
        for p, image in enumerate(found.pathways):
            moved = np.array(chosen.pathways[image].gate)[found.samples]
            np.testing.assert_array_equal(moved, chosen.pathways[p].gate)


def test_one_entry_breaks_a_symmetry():
    spec = TASKS["contextual"]
    change = ExactMatrix.from_entries(spec.dataset.targets.shape, [20], [9], [1])
    other = replace(spec, dataset=replace(spec.dataset, targets=(spec.dataset.targets + change)))
    search = SymmetrySearch(other.dataset, other.pathways, [1, 2, 2, 2])
    assert [search.find([1], [p]) is None for p in (1, 2, 3)].count(True) == 2


# -- residuals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPECS)
def test_residual_in_factors_is_the_least_squares_residual(name):
    derivation = pipeline.derive_unchecked(SPECS[name])
    for stage in derivation.stages:
        effective = tuple(p.effective for p in stage.pathways)
        goal = effective[0].goal
        outputs = converged_outputs(goal.matrix, effective)
        expected = goal.matrix - outputs
        assert expected.frobenius(expected) / (2 * goal.shape[1]) == stage.final_loss
        if stage.verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
            left = closed_residual(goal, stage.verdict.converged)
            assert left.matrix == expected
            assert left.half_power == stage.final_loss
            assert all(error.is_zero for error in plateau_errors(stage.verdict.converged))
            gain = plateau_gain(stage.verdict.converged)
            assert stage.initial_loss - gain == stage.final_loss


def test_a_wrong_plateau_has_errors():
    stage = pipeline.derive_unchecked(TASKS["contextual"]).stages[1]
    effective = tuple(p.effective for p in stage.pathways)
    modes = _stage_modes(effective, tuple(p.spectrum for p in stage.pathways))
    wrong = {node: tuple(2 * x for x in value) for node, value in stage.verdict.d_eff.items()}
    assert not any(error.is_zero for error in plateau_errors(converged_pathways(modes, wrong)))


# -- couplings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_sums_over_samples_are_sums_of_actions(seed):
    modes = modes_of(random_gated(seed))
    nodes = [
        (j, i)
        for j, m in enumerate(modes)
        for i, c in enumerate(m.classes)
        if m.spectrum.commutes and not c.is_null
    ]
    for p, target in enumerate(modes):
        for a in range(len(target.classes)):
            for degree in {modes[j].classes[i].degree for j, i in nodes if j != p}:
                sources = [
                    (j, i) for j, i in nodes if j != p and modes[j].classes[i].degree == degree
                ]
                found = summed_actions(modes, (p, a), sources)
                single = [tuple(_class_actions(target, a, modes[j], i)) for j, i in sources]
                for k, row in enumerate(found):
                    for place, value in enumerate(row):
                        total = single[0][k][place]
                        for other in single[1:]:
                            total = total + other[k][place]
                        assert value == total


def test_random_specs_meet_couplings_masks_and_gains():
    specs = [random_gated(seed) for seed in range(40)]
    assert any(p.has_gains for s in specs for p in s.pathways)
    coupled = [pipeline.derive_unchecked(spec).verdict for spec in specs[:12]]
    assert any(stage.couplings.couplings for verdict in coupled for stage in verdict.stages)
