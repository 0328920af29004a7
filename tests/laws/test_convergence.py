"""Where no bound of a later stage holds it is said why; constants by a second route."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import symreln as sr
from symreln.claims.convergence import _first_step
from symreln.exact.numeric import numpy_modes
from symreln.exact.truth import Truth
from symreln.report.terminal import summary_of
from symreln.verdict.drives import driven_classes, sources
from symreln.verdict.judge import stage_modes
from tests.cases import matrix_spec
from tests.laws.test_converging import contexts, derived


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (lambda: sr.load("contextual-different"), "stage 1 has no closed forms"),
        (lambda: contexts([1, 2], 3, "1/2"), "not small"),
        (lambda: contexts([1, 2, 3], 3, hidden=2), "narrow"),
    ],
)
def test_where_there_is_no_bound_it_says_why(spec, reason):
    derivation = sr.derive(spec())
    assert derivation.convergence is not None
    assert reason in derivation.convergence.undecided
    assert derivation.convergence.half_times == ()
    steps = {step.name: step.outcome for step in derivation.steps}
    assert steps["unconverged stage"] is Truth.UNDECIDED
    assert reason in derivation.to_latex()


def in_three_stages(scale: str = "1"):
    """One-hot items in three contexts, a pathway for all and one a context, stage by stage."""
    x = [[1, 0] * 3, [0, 1] * 3]
    y = [[2, 0] * 3, [0, 1] * 3, [0, 0, 0, 0, 1, 0], [0, 0, Fraction(scale), 0, 0, 0]]
    gates = [
        {"gate": [1] * 6},
        {"gate": [0, 0, 1, 1, 0, 0], "stage": 2},
        {"gate": [0, 0, 0, 0, 1, 1], "stage": 3},
    ]
    network = {"init_std": Fraction(1, 1000), "training": "staged"}
    return sr.derive(matrix_spec(x, y, gates, network=network))


def test_of_a_third_stage_it_is_said_that_nothing_is_bounded():
    derivation = in_three_stages()
    found = derivation.convergence
    assert found is not None
    assert [each.modes for each in found.not_bounded][-1] == "the modes of stage 3"
    open_ones = [
        step.statement for step in derivation.steps
        if step.name == "unconverged stage" and step.outcome is Truth.UNDECIDED
    ]  # fmt: skip
    assert any("stage 3" in statement for statement in open_ones)
    assert "the modes of stage 3 reach half of their plateaus" in derivation.to_latex()
    entry = derivation.to_json()["convergence"]["not_bounded"]
    assert entry[-1]["modes"] == "the modes of stage 3"


def test_two_stages_leave_nothing_open():
    derivation = derived("contextual-3")
    assert derivation.to_json()["convergence"]["not_bounded"] == []
    outcomes = [s.outcome for s in derivation.steps if s.name == "unconverged stage"]
    assert outcomes == [Truth.PROVEN]


def test_every_mode_of_the_second_stage_is_bounded_or_named():
    # What tells the second item apart by context is below the initial strength: no bound holds.
    x = [[1, 0] * 2, [0, 1] * 2]
    tiny = Fraction(1, 100000)
    y = [[2, 0] * 2, [0, 1] * 2, [1, 0, -1, 0], [0, tiny, 0, -tiny]]
    gates = [{"gate": [1] * 4}, {"gate": [1, 1, 0, 0], "stage": 2}]
    network = {"init_std": Fraction(1, 1000), "training": "staged", "hidden": 100}
    derivation = sr.derive(matrix_spec(x, y, gates, network=network))
    found = derivation.convergence
    assert found is not None
    assert not found.undecided
    second = derivation.stages[1].pathways[0]
    learning = {mode.label for mode in second.modes if not mode.is_null}
    bounded, left = {b.label for b in found.half_times}, {u.modes for u in found.not_bounded}
    assert bounded | left == learning
    assert not bounded & left
    assert len(bounded) == len(left) == 1
    assert "quarter of the plateau" in found.not_bounded[0].why
    outcomes = {s.outcome for s in derivation.steps if s.name == "unconverged stage"}
    assert outcomes == {Truth.PROVEN, Truth.UNDECIDED}
    assert "1 of 2 half-times" in next(
        s.statement for s in derivation.steps if s.outcome is Truth.PROVEN and "half" in s.statement
    )
    assert "quarter of the plateau" in derivation.to_latex()
    entry = derivation.to_json()["convergence"]["not_bounded"]
    assert [each["modes"] for each in entry] == sorted(left)


def test_one_stage_says_nothing():
    derivation = derived("linear-hierarchy")
    assert derivation.convergence is None
    assert derivation.to_json()["convergence"] is None


def test_a_first_stage_that_is_not_closed_says_nothing():
    x = [[1, 0, 1], [0, 1, 1]]
    y = [[2, 0, 1], [0, 1, 1]]
    gates = [{"gate": [1, 1, 1]}, {"gate": [1, 0, 1], "stage": 2}]
    network = {"init_std": Fraction(1, 1000), "training": "staged"}
    found = sr.derive(matrix_spec(x, y, gates, network=network)).convergence
    assert found is not None
    assert found.undecided == "stage 1 has no closed forms"
    assert (found.residual_within, found.half_times) == ((), ())


def test_document_and_json():
    derivation = derived("contextual-3")
    entry = derivation.to_json()["convergence"]
    assert entry["undecided"] == ""
    assert [each["share"] for each in entry["residual_within"]] == ["1/10", "1/100"]
    assert {"label", "not_before", "not_after", "closed_form"} == set(entry["half_times"][0])
    text = derivation.to_latex()
    assert "not before" in text
    assert "operatorname{asinh}" in text or "operatorname{arsinh}" in text


def by_tables(derivation):
    """Return (s², d, c², D) of the second stage's classes from matrices in floats, by SVD."""
    first, second = (stage.pathways for stage in derivation.at_values.stages)
    found = {}
    for p, pathway in enumerate(second):
        own = pathway.effective
        for mode, (_, v) in zip(pathway.modes, numpy_modes(pathway.spectrum), strict=True):
            gains = []
            for early in first:
                cross = early.effective.cross_sigma_x(own).to_numpy()
                for source, (s, w) in zip(early.modes, numpy_modes(early.spectrum), strict=True):
                    if not source.is_null:
                        u = early.effective.sigma_yx.to_numpy() @ w / s
                        gains.append(np.linalg.norm(u @ w.T @ cross @ v, 2))
            found[p, mode.class_index] = gains
    return found


@pytest.mark.parametrize("name", ["contextual-3", "contextual-4"])
def test_constants_of_classes_against_singular_values(name):
    derivation = derived(name)
    first, second = derivation.at_values.stages
    before, after = (
        stage_modes(
            tuple(p.effective for p in stage.pathways), tuple(p.spectrum for p in stage.pathways)
        )
        for stage in (first, second)
    )
    pushing = sources(first.verdict, before)
    classes, reason = driven_classes(second.verdict, after, before, pushing)
    assert reason == ""
    expected = by_tables(derivation)
    for each in classes:
        gains = np.sqrt([float(c) for c in each.key[2:]])
        np.testing.assert_allclose(gains, expected[each.pathway, each.index], atol=1e-9)


def test_masks_that_turn_the_drives_are_not_bounded():
    x = [[1, 0], [0, 1]]
    y = [[3, 0], [0, 2], [1, 0]]
    gates = [
        {"gate": [1, 1], "outputs": [0, 1, 2]},
        {"gate": [1, 1], "stage": 2, "outputs": [0, 1]},
        {"gate": [1, 1], "stage": 2, "outputs": [1, 2]},
    ]
    network = {"init_std": Fraction(1, 1000), "training": "staged"}
    found = sr.derive(matrix_spec(x, y, gates, network=network)).convergence
    assert found is not None
    assert found.half_times == ()
    assert "not orthogonal" in found.undecided


def test_of_several_first_pathways_the_residual_is_bounded():
    # Two pathways of the first stage, on inputs and outputs of their own; the second sees both.
    x = [[1, 0, 1, 0], [0, 1, 0, 1]]
    y = [[3, 0, 1, 0], [0, 2, 0, 1]]
    gates = [
        {"gate": [1, 1, 1, 1], "inputs": [0], "outputs": [0]},
        {"gate": [1, 1, 1, 1], "inputs": [1], "outputs": [1]},
        {"gate": [1, 1, 0, 0], "stage": 2},
    ]
    network = {"init_std": Fraction(1, 1000), "training": "staged", "steps": 5000}
    derivation = sr.derive(matrix_spec(x, y, gates, network=network))
    found = derivation.convergence
    assert found is not None
    # Own and earlier drives point the same way: nothing is said of modes, but of the residual.
    assert "not orthogonal" in found.undecided
    assert found.half_times == ()
    assert len(found.residual_within) == 2


def test_a_share_that_the_bound_never_reaches_is_left_out():
    # The bound of what is missing ends at g²/(4h), not at 0: here g is a tenth of h.
    derivation = sr.derive(contexts([1], 3, "1/60", hidden=120))
    found = derivation.convergence
    assert found is not None
    assert len(found.residual_within) < 2 or all(
        near.from_step < 10**9 for near in found.residual_within
    )
    assert _first_step(lambda _: False) is None
    assert [_first_step(lambda step, n=n: step >= n) for n in range(9)] == list(range(9))


@pytest.mark.parametrize("std", ["1/20", "1/30"])
def test_large_initial_weights_leave_bounds_that_say_nothing(std):
    """What a null mode picks up was bounded by inf, which JSON has no number for."""
    derivation = sr.derive(sr.load("contextual-3", overrides=(f"network.init_std={std}",)))
    found = derivation.convergence
    assert found.picked_up == ()
    entry = derivation.to_json()["convergence"]
    assert entry["picked_up"] == []
    assert entry["not_bounded"][-1]["modes"] == "pi_2_4, pi_3_4, pi_4_4"
    assert "above the plateaus" in entry["not_bounded"][-1]["why"]
    assert r"There is no bound on what $\pi_{2,4}$" in derivation.to_latex()
    assert any("What pi_2_4" in step.statement for step in derivation.steps)
    assert found.half_times or found.not_bounded[:-1]  # the rest is derived


def test_what_null_modes_pick_up_is_bounded_below_the_plateaus():
    derivation = derived("contextual-3").at_values
    heights = [m.s.to_float() / m.d_eff.to_float() for m in derivation.pathways[0].modes[:-1]]
    found = derivation.convergence
    assert all(not each.is_null for each in found.not_bounded)
    assert all(each.at_most < max(heights) for each in found.picked_up)


def test_a_first_stage_with_nothing_to_learn_delays_nothing():
    gates = [{"gate": [1, 0]}, {"gate": [1, 1], "stage": 2}]
    network = {"init_std": Fraction(1, 1000), "training": "staged"}
    derivation = sr.derive(matrix_spec([[1, 0], [0, 1]], [[0, 1]], gates, network=network))
    found = derivation.convergence
    assert found is not None
    assert [(n.share, n.from_step) for n in found.residual_within] == [
        (Fraction(1, 10), 0),
        (Fraction(1, 100), 0),
    ]
    (bound,) = found.half_times
    # The bounds are of the flow, the closed form keeps step: two thousandths later here.
    assert bound.not_before <= bound.closed_form <= 1.003 * bound.not_after
    assert "sees the first as converged" in str(summary_of(derivation))
