"""Numbers of a derivation: exact ends of the loss, closed forms against trajectories, balls."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import symreln as sr
from symreln.claims.constants import HALF
from symreln.claims.integration import coupled_matrices
from symreln.claims.prediction import first_starts
from symreln.claims.probes import learning_modes, probe_bases
from symreln.claims.starts import starts_of
from symreln.errors import InputError, NoClosedFormError
from symreln.exact.scalar import Scalar
from symreln.laws.coupled_matrices import EqualModes
from symreln.specs.spec import NetworkSpec, Parameter
from symreln.verdict.judge import Level
from tests.cases import CASES, PLAIN_NETWORK, contexts_spec, derived, matrix_spec
from tests.laws.full_flow import GatedNetwork, aligned_start, two_layers
from tests.verdict.examples import (
    CUBIC,
    GOLDEN,
    RATIONAL,
    all_examples,
    one_hot_contexts,
    race,
    scaled_structure,
)

TINY = {"init_std": Fraction(1, 10**9)}  # π0 = 1e-17: the ends of the loss are those of π0 → 0
#: Steps so small that gradient descent is the flow to 1e-11; how many are one of the plain ones.
SMALLER = 10**10
SMALL_STEPS = {"learning_rate": PLAIN_NETWORK["learning_rate"] / SMALLER}
LONG = np.concatenate([[0.0], np.geomspace(1, 1e9, 200)])
EXAMPLES = all_examples()
CLOSED = {name: spec for name, spec in EXAMPLES.items() if name.startswith("closed")}

STAGES = [
    sr.load("contextual-3"),
    matrix_spec(
        [[1, 0, 1, 0], [0, 1, 0, 1]],
        [[1, 2, 3, -1]],
        [{"gate": [1, 1, 1, 1], "stage": 1}, {"gate": [1, 1, 0, 0], "stage": 2}],
        network={"training": "staged"},
    ),
]


def numbered(spec, **network):
    return replace(spec, network=NetworkSpec(**(PLAIN_NETWORK | network)))


def least_squares_loss(spec) -> float:
    """Least joint loss of all pathways, by numpy, output by output."""
    network = GatedNetwork.of(spec)
    total = 0.0
    for row, wanted in enumerate(network.y):
        members = [p for p in range(len(network.gates)) if row in network.outputs[p]]
        if not members:
            total += float(wanted @ wanted)
            continue
        features = np.vstack([network.gated_inputs(p) for p in members])
        fit = np.linalg.lstsq(features.T, wanted, rcond=None)[0]
        total += float(np.sum((wanted - fit @ features) ** 2))
    return total / (2 * network.y.shape[1])


def made(derivation, curves, place) -> list:
    """Weights of the maps U diag(π) Vᵀ at a place of the curves."""
    bases = map(probe_bases, derivation.pathways)
    return [(v.T, u * [curves[label][place] for label in labels]) for u, v, labels in bases]


# -- the loss and its ends -------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_loss_starts_and_ends_at_the_exact_values(name):
    # The integrated start has no strength at all yet; it needs no tiny weights.
    derivation = sr.derive(numbered(EXAMPLES[name], **(TINY if name in CLOSED else {})))
    initial = float(derivation.initial_loss.to_fraction())
    final = float(derivation.final_loss.to_fraction())
    y = derivation.spec.dataset.targets.to_numpy()
    assert initial == pytest.approx(np.sum(y**2) / (2 * y.shape[1]), rel=1e-14)
    assert final == pytest.approx(least_squares_loss(derivation.spec), abs=1e-12)
    times = LONG if derivation.closed else np.geomspace(1, 3e4, 100)
    loss = derivation.evaluate(np.concatenate([[0.0], times[1:]])).reduced
    assert loss[0] == pytest.approx(initial, rel=1e-12)
    # The slowest of these modes relaxes with 2s/τ > 1e-3 a step: 30 times 1/e by the last time.
    assert loss[-1] == pytest.approx(final, abs=1e-9 * initial)
    # Gradient flow: no more than the integrator's share upwards.
    assert (np.diff(loss) <= 1e-11 * initial).all()


@pytest.mark.parametrize("name", [case.name for case in CASES[:4]] + ["contextual n=4 C=3"])
def test_loss_of_known_cases_ends_where_the_stages_end(name):
    derivation = derived(name)
    if derivation.spec.network is None:
        derivation = replace(derivation, spec=numbered(derivation.spec))
    times = LONG if len(derivation.stages) == 1 else np.linspace(0, 1e4, 200)
    prediction = derivation.evaluate(times)
    numbers = derivation.at_values
    assert prediction.reduced[-1] == pytest.approx(
        float(numbers.final_loss.to_fraction()), abs=1e-6
    )
    assert (np.diff(prediction.reduced) <= 1e-11 * prediction.reduced[0]).all()
    assumed = {constant.name for constant in derivation.constants if constant.is_free}
    relu = derivation.spec.network.activation == "relu"
    # κ of what learns first is estimated; only of later stages is half of the units assumed.
    first = {f"kappa of pathway '{p.name}'" for p in derivation.stages[0].pathways if relu}
    assert {each.name for each in derivation.constants if each.source == "estimated"} == first
    assert assumed == ({HALF} if relu and len(derivation.stages) > 1 else set())
    assert prediction.free_constants == derivation.free_constants == len(assumed)


@pytest.mark.parametrize("name", CLOSED)
def test_mode_space_loss_is_the_loss_of_the_maps(name):
    # ‖Y − Σ ŷ‖²/(2P) of the maps U diag(π(t)) Vᵀ, sample by sample; and the printed formula.
    derivation = sr.derive(numbered(CLOSED[name]))
    times = np.array([0.0, 50.0, 400.0, 1e3, 3e3, 1e4])
    prediction = derivation.evaluate(times)
    network = GatedNetwork.of(derivation.spec)
    curves = {mode.label: mode.best for mode in prediction.modes}
    for place, _ in enumerate(times):
        weights = made(derivation, curves, place)
        assert prediction.reduced[place] == pytest.approx(network.loss(weights), rel=1e-11)
        values = {label: curve[place] for label, curve in curves.items()} | {
            # Roots of degree 3 are named in the formula.
            str(symbol): mode.s.to_float()
            for _, mode in learning_modes(derivation)
            for symbol in mode.strength.s.free_symbols
        }
        loss = derivation.loss
        formula = loss.subs({symbol: values[str(symbol)] for symbol in loss.free_symbols})
        assert float(formula) == pytest.approx(prediction.reduced[place], rel=1e-10)


@pytest.mark.parametrize("name", CLOSED)
def test_closed_prediction_is_the_flow_of_aligned_weights(name):
    derivation = sr.derive(numbered(CLOSED[name], **SMALL_STEPS))
    times = np.linspace(0, 3000, 11) * SMALLER
    modes = [probe_bases(p)[:2] for p in derivation.pathways]
    start = aligned_start(modes, float(derivation.strength0), np.random.default_rng(0))
    network = GatedNetwork.of(derivation.spec)
    flow = network.flow(start, times, float(derivation.tau))
    losses = np.array([network.loss(weights) for weights in flow])
    found = derivation.evaluate(times).reduced
    np.testing.assert_allclose(found, losses, rtol=0, atol=1e-8 * losses[0])


def test_closed_forms_of_stages_stand_beside_the_flow():
    """Strengths of all stages from their closed forms; the loss is that of weights made of them."""
    derivation = sr.derive(STAGES[0]).at_values
    assert len(derivation.stages) == 2
    times = np.array([0.0, 200.0, 600.0, 1500.0, 1e5])
    prediction = derivation.evaluate(times)
    closed = {mode.label: mode.closed for mode in prediction.modes}
    network = GatedNetwork.of(derivation.spec)
    for place, _ in enumerate(times):
        weights = made(derivation, closed, place)
        assert prediction.closed_loss[place] == pytest.approx(network.loss(weights), rel=1e-9)
    for _, mode in learning_modes(derivation):
        plateau = mode.s.to_float() / mode.d_eff.to_float()
        assert closed[mode.label][-1] == pytest.approx(plateau, rel=1e-9)


def test_modes_that_several_earlier_ones_drive_have_no_closed_loss():
    prediction = sr.derive(STAGES[1]).at_values.evaluate([0.0, 200.0])
    assert prediction.closed_loss is None
    assert prediction.judged == "reduced"


# -- coupled modes ---------------------------------------------------------------------------------

LOSER = scaled_structure(RATIONAL, [-1, 4, 6], [(1, 1, 0), (0, 1, 1)], network={})


def test_a_mode_that_loses_its_race_changes_sign():
    """The Lotka-Volterra system holds for aligned weights only, and the prediction knows it.

    Pathway 1 wants −1 of what it sees alone and 4 of what both see; the least-squares solution
    gives it a negative strength, which an aligned mode can only approach from above zero.
    """
    derivation = sr.derive(LOSER)
    assert derivation.verdict.level is Level.COUPLED_MODES
    prediction = derivation.evaluate(np.linspace(0, 1e5, 201))
    final = float(derivation.final_loss.to_fraction())
    assert prediction.reduced[-1] == pytest.approx(final, rel=1e-9)
    assert prediction.closed_loss[-1] > 5 * final
    loser = next(mode for mode in prediction.modes if mode.label == "pi_1_1")
    assert loser.closed.min() >= 0
    assert loser.integrated[-1] < -0.1
    assert loser.best is loser.integrated


def test_coupled_modes_agree_with_matrices_while_no_mode_loses():
    derivation = sr.derive(
        scaled_structure(RATIONAL, [2, 2, 3], [(1, 1, 0), (0, 1, 1)], network=TINY)
    )
    prediction = derivation.evaluate(np.linspace(0, 4e4, 101))
    # Unaligned weights are a share π0/plateau, 1e-17, of the aligned ones.
    np.testing.assert_allclose(
        prediction.closed_loss, prediction.reduced, atol=1e-8 * prediction.reduced[0]
    )


# -- null modes ------------------------------------------------------------------------------------


# -- times, values, errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "closed by symmetry: contexts, degree 2",
        "coupled modes: race, rational",
        "coupled matrices: leaves the span",
    ],
)
def test_a_time_alone_is_the_time_in_a_grid(name):
    derivation = sr.derive(numbered(EXAMPLES[name]))
    grid = np.linspace(0, 2000, 21)
    whole = derivation.evaluate(grid)
    assert derivation.evaluate().times.tolist() == list(range(1001))
    for place in (0, 7, 20):
        one = derivation.evaluate([grid[place]])
        assert one.loss[0] == pytest.approx(whole.loss[place], rel=1e-9)
        for mode, other in zip(one.modes, whole.modes, strict=True):
            assert mode.best[0] == pytest.approx(other.best[place], rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(
    "times", [[], [np.nan], [0, np.inf], [-1, 2], [2, 1], [[0, 1]], ["x"], None.__class__]
)
def test_wrong_times_are_told(times):
    with pytest.raises(InputError, match="times: "):
        sr.derive(contexts_spec(RATIONAL, 3, network={})).evaluate(times)


@pytest.mark.parametrize("value", [10**300, Fraction(1, 10**300), 10**400, Fraction(1, 10**400)])
def test_numbers_beyond_float64_are_told(value):
    derivation = sr.derive(parametric(value))
    with pytest.raises(InputError, match=r"dataset\.Y: a number is too (large|small)"):
        derivation.evaluate([0, 1])
    # Balls have no such limit.
    assert derivation.enclose([0], 5)


def parametric(value, structure=None):
    a = Scalar.symbol("a", ("a",))
    parameter = Parameter(name="a", value=None if value is None else Fraction(value))
    y = [[1, 1], [0, a]] if structure is None else structure(a)
    return matrix_spec([[1, 0], [0, 1]], y, [[1, 1]], parameters=(parameter,), network={})


@pytest.mark.parametrize("value", [0, 1, -2, Fraction(1, 1000)])
def test_parameters_at_a_value_are_the_spec_with_the_value_in_it(value):
    # a = 0: one singular value vanishes; others irrational, of either sign of a.
    general = sr.derive(parametric(value))
    special = sr.derive(parametric(value).at_values())
    found, expected = general.evaluate(LONG[:120]), special.evaluate(LONG[:120])
    np.testing.assert_array_equal(found.reduced, expected.reduced)
    exact = special.final_loss
    assert general.at_values.final_loss == exact
    y = np.array([[1, 1], [0, float(value)]])
    singular = np.linalg.svd(y / 2, compute_uv=False)
    for mode, s in zip(found.modes, singular, strict=False):
        tau = s / np.log1p(s / 100.0) if s else 100.0  # growth by 1 + s/100 a step
        alone = two_layers(np.array(s), np.array(0.5), np.array(1e-3), found.times, tau)
        np.testing.assert_allclose(mode.best, alone, rtol=1e-11)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (parametric(None), r"parameters a: no value.*parameters\.a\.value=1"),
        (contexts_spec(RATIONAL, 3), "network"),
    ],
)
def test_numbers_need_values_and_a_network(spec, said):
    derivation = sr.derive(spec)
    asked = (derivation.evaluate, lambda: derivation.enclose([0]))
    for ask in (*asked, lambda: sr.validate(derivation, seeds=1)):
        with pytest.raises(InputError, match=said):
            ask()
    assert spec.network or derivation.tau is derivation.strength0 is None


# -- two routes ------------------------------------------------------------------------------------

#: Until after the first drops: both routes then take a second or two.
FIRST_DROPS = {
    "contextual-3": 1500,
    "contextual-4": 900,
    "contextual-different": 1200,
    "iris-classes": 1500,
    "iris": 200,
}


@pytest.mark.parametrize("name", FIRST_DROPS)
def test_reduced_prediction_is_the_flow_in_full_spans(name):
    derivation = sr.derive(sr.load(name)).at_values
    times = np.linspace(0, FIRST_DROPS[name], 26)
    found = derivation.evaluate(times)
    labels, probes = [], []
    for place, pathway in enumerate(derivation.pathways):
        u, v, own = probe_bases(pathway)
        for label in dict.fromkeys(own):
            equal = [row for row, other in enumerate(own) if other == label]
            labels.append(label)
            probes.append(EqualModes(pathway=place, u=u[:, equal], v=v[:, equal]))
    starts = first_starts(derivation, derivation.ask(starts_of).factors)
    expected = coupled_matrices(derivation).trajectory(times, probes, starts=starts)
    np.testing.assert_allclose(found.reduced, expected.losses, atol=1e-9 * expected.losses[0])
    assert expected.losses[-1] < 0.95 * expected.losses[0]
    curves = {mode.label: mode.integrated for mode in found.modes}
    size = np.abs(expected.strengths).max()
    for label, strength in zip(labels, expected.strengths, strict=True):
        np.testing.assert_allclose(curves[label], strength, atol=1e-9 * size)


# -- certified balls -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        contexts_spec(RATIONAL, 3, network={}),
        contexts_spec(CUBIC, 4, network={}),
        one_hot_contexts([GOLDEN], [(1,)], network={"init_std": Fraction(1, 10**12)}),
        parametric(Fraction(7, 3)),
    ],
    ids=["rational", "degree 3", "tiny start", "parameter"],
)
def test_balls_contain_the_doubles(spec):
    derivation = sr.derive(spec)
    times = [0, 1, Fraction(1, 3), 100, 2500, 10**7]
    balls = derivation.enclose(times, digits=40)
    order = np.argsort([float(t) for t in times])
    prediction = derivation.evaluate([float(times[i]) for i in order])
    assert set(balls) == {mode.label for mode in prediction.modes}
    for mode in prediction.modes:
        for place, index in enumerate(order):
            ball = balls[mode.label][index]
            assert ball.rel_accuracy_bits() >= 40 * 3.32
            double = mode.closed[place]
            # A ball of 40 digits hardly contains a double; it lies within its rounding.
            assert abs(ball - arb(double)) < abs(ball) * 1e-13


def test_digits_asked_for_are_delivered_and_consistent():
    derivation = sr.derive(contexts_spec(CUBIC, 3, network={}))
    few, many = derivation.enclose([1234], 10), derivation.enclose([1234], 200)
    for label, (ball,) in many.items():
        assert ball.rel_accuracy_bits() >= 200 * 3.32
        assert few[label][0].overlaps(ball)


def test_only_closed_forms_can_be_enclosed():
    with pytest.raises(NoClosedFormError, match="coupled modes"):
        sr.derive(race(RATIONAL, network={})).enclose([0])
