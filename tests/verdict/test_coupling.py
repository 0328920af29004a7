"""Couplings and stages: exact numbers of known cases, and the same by numpy."""

from __future__ import annotations

import numpy as np
import pytest

import symreln as sr
from symreln.claims.equilibria import mode_system
from symreln.claims.probes import probe_bases
from symreln.report.chapters.derivation_chapter import _symbolic_drives
from symreln.verdict.residual import stages_decouple
from tests.cases import CASES, derived, matrix_spec
from tests.verdict.examples import (
    GOLDEN,
    RATIONAL,
    one_hot_contexts,
    race,
    race_of_three,
    same_inputs_other_outputs,
)

COUPLED = [case for case in CASES if case.overlaps is not None]


@pytest.mark.parametrize("case", COUPLED, ids=lambda case: case.name)
def test_overlaps_of_known_cases(case):
    k, g = case.overlaps
    derivation = derived(case.name)
    stage = derivation.stages[1]
    couplings = stage.verdict.couplings
    contexts = len(stage.pathways)
    assert len(couplings.coupled_pairs) == contexts * (contexts - 1)
    for coupling in couplings.couplings:
        (p, a), (j, i) = coupling.target, coupling.source
        s_squared = stage.pathways[p].spectrum.classes[a].eigenvalue[0]
        # One hierarchy for all: U_p and U_j point along the same features.
        assert s_squared == stage.pathways[j].spectrum.classes[i].eigenvalue[0]
        assert coupling.overlap_squared == s_squared * k
        assert coupling.input_overlap == g
        # One pathway alone pushes another out of its modes; only their sum does not.
        assert coupling.factors is None


def test_symbolic_system_is_the_numeric_one():
    (stage,) = sr.derive(race_of_three(RATIONAL)).stages
    exact, numeric = _symbolic_drives(stage, {}), mode_system(stage)
    assert exact is not None
    kappa = [[-float(drive.coeff(name)) for name in exact] for drive in exact.values()]
    np.testing.assert_allclose(kappa, numeric.kappa, atol=1e-14)
    s = [float(drive.subs(dict.fromkeys(exact, 0))) for drive in exact.values()]
    np.testing.assert_allclose(s, numeric.s, rtol=1e-14)
    assert tuple(map(str, exact)) == numeric.labels
    assert _symbolic_drives(sr.derive(race(GOLDEN)).stages[0], {}) is None


def test_pathways_without_common_outputs_are_no_pair():
    (stage,) = sr.derive(same_inputs_other_outputs()).stages
    assert stage.verdict.couplings.coupled_pairs == ()
    assert stage.verdict.couplings.couplings == ()


def test_components_follow_chains():
    # 1–2 and 2–3 overlap, 1–3 do not: still one component a mode.
    targets = [[[f, 0], [0, 2 * f]] for f in (1, 3, 2, 5)]
    gates = [(1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1)]
    (stage,) = sr.derive(one_hot_contexts(targets, gates)).stages
    assert (0, 2) not in stage.verdict.couplings.coupled_pairs
    found = stage.verdict.couplings.components([(p, a) for p in range(3) for a in range(2)])
    assert sorted(len(component) for component in found) == [3, 3]
    assert {p for p, _ in found[0]} == {0, 1, 2}


# -- stages ----------------------------------------------------------------------------------------


def cross_term(derivation) -> float:
    """Largest ⟨u_b v_bᵀ X_late, u_a v_aᵀ X_early⟩/P over modes of different stages, by numpy."""
    worst = 0.0
    for place, stage in enumerate(derivation.stages):
        for late in stage.pathways:
            for before in derivation.stages[:place]:
                for early in before.pathways:
                    u, v, labels_late = probe_bases(late)
                    w, z, labels_early = probe_bases(early)
                    g = z.T @ early.effective.cross_sigma_x(late.effective).to_numpy() @ v
                    terms = (w.T @ u) * g
                    for one in set(labels_late):
                        for other in set(labels_early):
                            rows = [i for i, x in enumerate(labels_early) if x == other]
                            columns = [i for i, x in enumerate(labels_late) if x == one]
                            worst = max(worst, abs(float(terms[np.ix_(rows, columns)].sum())))
    return worst


def staged(spec_rows, gates, stages):
    x, y = spec_rows
    paths = [{"gate": g, "stage": k} for g, k in zip(gates, stages, strict=True)]
    return matrix_spec(x, y, paths, network={"training": "staged"})


ITEMS = [[1, 0, 1, 0], [0, 1, 0, 1]]
STAGED = {
    "contextual n=4 C=3": None,
    "residual in other outputs": staged(
        (ITEMS, [[1, 2, 1, 2], [1, 0, -1, 0]]), [[1, 1, 1, 1], [1, 1, 0, 0]], [1, 2]
    ),
    "residual in the same outputs": staged(
        (ITEMS, [[1, 2, 3, -1]]), [[1, 1, 1, 1], [1, 1, 0, 0]], [1, 2]
    ),
    "gates do not meet": staged((ITEMS, [[1, 2, 3, -1]]), [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 2]),
}


@pytest.mark.parametrize("name", STAGED)
def test_stages_decouple_exactly_when_the_cross_terms_vanish(name):
    spec = STAGED[name]
    derivation = (derived(name) if spec is None else sr.derive(spec)).at_values
    learners = tuple(
        tuple((p.effective, p.spectrum) for p in stage.pathways) for stage in derivation.stages
    )
    # Floats of order one, or exactly zero up to rounding: nothing lies in between here.
    assert stages_decouple(learners) is (cross_term(derivation) < 1e-12)
    assert (derivation.loss is not None) is (derivation.closed and stages_decouple(learners))
