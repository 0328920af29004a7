"""Coupled matrices, in full spans and in the fewest blocks, against the weights themselves.

The second route is written out in :mod:`tests.laws.full_flow`: every weight, sample by sample.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise, takewhile

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symreln as sr
from symreln.laws.coupled_matrices import CoupledMatrices, EqualModes
from symreln.laws.shared_blocks import _Tied, tie
from symreln.laws.spans import orthonormal_span
from tests.laws.full_flow import GatedNetwork, Weights, gated_data
from tests.own_specs import path, task
from tests.verdict.examples import random_gated

TAU, GRAM = 2.0, 1e-3
TIMES = np.linspace(0, 60, 7)


def random_network(seed: int, staged: bool) -> GatedNetwork:
    """Random gates, gains, input and output masks of three pathways, in up to three stages."""
    network = GatedNetwork.of(random_gated(seed).at_values(), staged=staged)
    stages = (1, 2, 2) if seed % 2 else (2, 1, 3)
    return replace(network, x=network.x / 4, stages=stages)  # so small that descent is stable


def two_pathways(x, y, gates, outputs) -> GatedNetwork:
    x, y, gates = (np.array(each, float) for each in (x, y, gates))
    return GatedNetwork(
        x=x, y=y, gates=gates, inputs=((0, 1), (0, 1)), outputs=outputs, stages=(1, 1)
    )


#: Outputs of pathway 2 lie outside the targets that pathway 1 sees: U_1 must be enlarged.
NARROW = two_pathways(
    [[1, 0.5, 0], [0, 1, 1]],
    [[1, 2, 0], [0, 0, 0], [0, 0, 3]],
    [[1, 1, 0], [0, 1, 1]],
    ((0, 1, 2),) * 2,
)
#: U_2 under the mask of pathway 1 is no vector of pathway 1's targets.
MASKS = two_pathways(
    [[1, 0, 1], [1, 1, 0]],
    [[1, 1, 2], [1, -1, 0], [2, 0, 1]],
    [[1, 0, 0], [1, 1, 1]],
    ((0, 1), (0, 1, 2)),
)


def contexts(items: int, count: int, staged: bool, gain: float = 1.0) -> GatedNetwork:
    """Items of a hierarchy in contexts as the paper has them; the last context has a gain."""
    data = {"task": "contextual", "items": items, "contexts": count, "context_scale": 1}
    others = path("off", "context != {context}", each="context", stage=2)
    spec = sr.load(task(data, path("common", inputs="items"), others))
    network = GatedNetwork.of(spec, staged=staged)
    network.gates[-1] *= gain
    return network


def copied(network: GatedNetwork, m: int) -> GatedNetwork:
    """M copies of a network that no coordinate shows: inputs and outputs are turned."""
    rng, eye = np.random.default_rng(0), np.eye(m)
    n_x, n_y = len(network.x) * m, len(network.y) * m
    turn_x, turn_y = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (n_x, n_y))
    count = len(network.gates)
    return replace(
        network,
        x=turn_x @ np.kron(network.x, eye),
        y=turn_y @ np.kron(network.y, eye),
        gates=np.kron(network.gates, np.ones((1, m))),
        inputs=(tuple(range(n_x)),) * count,
        outputs=(tuple(range(n_y)),) * count,
    )


def nearly_equal(size: float) -> GatedNetwork:
    network = contexts(4, 2, True)
    network.y[0, 0] += size
    return network


NETWORKS = {
    **{f"joint {seed}": random_network(seed, staged=False) for seed in range(3)},
    **{f"staged {seed}": random_network(seed, staged=True) for seed in range(3)},
    "span enlarged": NARROW,
    "span enlarged by a mask": MASKS,
    "contexts": contexts(4, 3, staged=False),
    "contexts, staged": contexts(4, 3, staged=True),
    "a gain apart": contexts(4, 2, staged=True, gain=1.5),
    "copies": copied(random_network(1, staged=True), 3),
    "nothing to learn": replace(contexts(4, 2, True), x=np.zeros((6, 8))),
    **{f"equal to {size}": nearly_equal(size) for size in (1e-3, 1e-7, 1e-10)},
}


def reduced(network: GatedNetwork, gram_scale: float = GRAM) -> CoupledMatrices:
    return CoupledMatrices(phases=(gated_data(network),), tau=TAU, gram_scale=gram_scale)


def tied(network: GatedNetwork) -> _Tied | None:
    whole = reduced(network)._couplings[0]
    return tie(whole, np.zeros((0, whole.size)))


def probes_of(network: GatedNetwork) -> list[EqualModes]:
    """Modes that read W_p entry by entry, pathway after pathway."""
    return [
        EqualModes(pathway=p, u=np.eye(len(network.y))[:, [i]], v=np.eye(len(inputs))[:, [j]])
        for p, inputs in enumerate(network.inputs)
        for i in range(len(network.y))
        for j in range(len(inputs))
    ]


def lifted(system: CoupledMatrices, state: list[np.ndarray]) -> Weights:
    """Full weights W1 = R B1 Vᵀ, W2 = U B2 Rᵀ with R = 1."""
    bases = zip(state, system.output_bases, system.input_bases, strict=True)
    return [(q[: v.shape[1]].T @ v.T, u @ q[v.shape[1] :]) for q, u, v in bases]


def assert_same(network: GatedNetwork, found, flow: list[Weights]) -> None:
    """Losses and all maps, to the 1e-9 that reductions are held to."""
    losses = np.array([network.loss(weights) for weights in flow])
    np.testing.assert_allclose(found.losses, losses, rtol=0, atol=1e-9 * losses[0])
    maps = np.array([np.concatenate([(b @ a).ravel() for a, b in w]) for w in flow]).T
    np.testing.assert_allclose(found.strengths, maps, rtol=0, atol=1e-9 * np.abs(maps).max())


def assert_all_routes(network: GatedNetwork, times: np.ndarray = TIMES) -> None:
    """The flow of all weights, in full spans and in the fewest blocks, and gradient descent."""
    system, probes = reduced(network), probes_of(network)
    state = [np.sqrt(GRAM) * np.eye(sum(shape)) for shape in system._couplings[0].shapes]
    start = lifted(system, state)
    flow = network.flow(start, times, TAU)
    assert_same(network, system.trajectory(times, probes), flow)
    assert_same(network, system.flow().trajectory(times, system.functionals(probes)), flow)
    most = 2 * network.loss(start)  # beyond it diverges
    steps = islice(network.descent(start, TAU), 40)
    steps = list(takewhile(lambda weights: network.loss(weights) <= most, steps))
    assert_same(network, system.descent(len(steps), probes), steps)


@pytest.mark.parametrize("name", NETWORKS)
def test_all_routes_are_the_flow_of_all_weights(name):
    assert_all_routes(NETWORKS[name])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_any_small_gated_network(seed, staged):
    assert_all_routes(random_network(seed, staged), np.linspace(0, 20, 5))


# -- the fewest blocks -----------------------------------------------------------------------------


@pytest.mark.parametrize(("items", "count"), [(8, 3), (8, 6)])
def test_contexts_are_one_and_a_level_is_a_number(items, count):
    """The common pathway, and one for all contexts: its own context and the others."""
    found = tied(contexts(items, count, True))
    assert found is not None
    levels = items.bit_length()
    assert sorted(found.coupling.shapes) == [(1, 1)] * (levels + 1) + [(2, 1)] * levels


def test_starts_of_modes_and_pathways_are_those_of_the_weights():
    """Growing directions (v, u)/√2, and whole pathways, times a factor."""
    network, rng = contexts(4, 2, True), np.random.default_rng(0)
    system = reduced(network)
    modes = []
    for p, factor in ((0, 1.7), (1, 0.4), (2, 0.4)):
        u, s, vt = np.linalg.svd(network.y @ network.gated_inputs(p).T)
        count = int((s > 1e-9).sum())
        modes.append(EqualModes(pathway=p, u=u[:, [count - 1]], v=vt[[count - 1]].T, factor=factor))
    factors = {1: 3.0, 2: 3.0}
    weights = []
    for gram in system._grams(modes, factors):
        values, vectors = np.linalg.eigh(GRAM * gram)
        turn = np.linalg.qr(rng.standard_normal(gram.shape))[0]
        assert values.min() > 0
        weights.append((vectors * np.sqrt(values)) @ turn)
    steps = list(islice(network.descent(lifted(system, weights), TAU), 60))
    assert_same(network, system.descent(60, probes_of(network), modes, factors), steps)


# -- starts and steps ------------------------------------------------------------------------------


@pytest.mark.parametrize("gram_scale", [1e-2, 1e-8, 1e-40, 1e-300])
def test_one_number_is_the_unbalanced_closed_form(gram_scale):
    """τ ẇ = 2 √(g² + w²)(s − d w): its time at a strength is an integral, done by mpmath."""
    s, d = 0.75, 0.5
    one = two_pathways([[1, 0]], [[s / d, 0]], [[1, 0]], ((0,),))
    one = replace(one, inputs=((0,),), stages=(1,))  # d = 1/P
    with mpmath.workdps(30):
        g = mpmath.mpf(gram_scale)
        ends = [mpmath.mpf(s) / d / 100, mpmath.mpf(s) / d * 0.9]
        times = [
            TAU * mpmath.quad(lambda x: 1 / (2 * (s - d * g * mpmath.sinh(x))), edges)
            for end in ends
            for edges in [mpmath.linspace(0, mpmath.asinh(end / g), 20)]
        ]
    grid = np.array([0.0, *map(float, times)])
    found = reduced(one, gram_scale).trajectory(grid, probes_of(one))
    np.testing.assert_allclose(found.strengths[0, 1:], [float(end) for end in ends], rtol=1e-9)


def test_propagators_move_the_weights_and_residuals_are_those_of_the_loss():
    system = reduced(NARROW, gram_scale=0.25)
    losses, left = system.descent(41).losses, np.array([*system.residuals(41)])
    assert left.shape[1:] == NARROW.y.shape
    found = 0.5 * (left**2).sum(axis=(1, 2)) / left.shape[2]
    # What no map of the spans can lower is in the targets.
    np.testing.assert_allclose(found, losses, rtol=1e-11)
    flow = system.flow()
    states = [flow.factors(state) for state, _ in flow.descended(41)]
    for q, v in zip(states[0], system.input_bases, strict=True):
        size = v.shape[1]
        np.testing.assert_allclose(q[:size] @ q[:size].T, 0.25 * np.eye(size), atol=1e-15)
    for place, _ in enumerate(NARROW.stages):
        moved = system.propagators(place, [0, 7, 40])
        for motion, step in zip(moved, [0, 7, 40], strict=True):
            np.testing.assert_allclose(motion @ states[0][place], states[step][place], atol=1e-12)


# -- spans -----------------------------------------------------------------------------------------


def test_span_is_enlarged_where_another_pathway_points_out_of_it():
    assert orthonormal_span(NARROW.y * NARROW.gates[0]).shape[1] == 1
    assert reduced(NARROW).output_bases[0].shape[1] == 2
    # Joint training sees every pathway, staged training only earlier stages and its own.
    staged = reduced(replace(NARROW, stages=(1, 2), staged=True))
    assert [basis.shape[1] for basis in staged.output_bases] == [1, 2]


@pytest.mark.parametrize("rows", [3, 6])
def test_the_basis_of_a_span_depends_on_the_space_alone(rows):
    """Rows of equal length too, as those of a hierarchy: the first of them leads."""
    rng = np.random.default_rng(rows)
    matrix = np.kron(np.eye(3), np.ones((2, 1)))[:rows]
    first = orthonormal_span(matrix)
    assert first.T @ first == pytest.approx(np.eye(first.shape[1]), abs=1e-14)
    assert first @ first.T @ matrix == pytest.approx(matrix, abs=1e-14)
    for _ in range(5):
        turned = matrix @ rng.standard_normal((3, 3))
        assert orthonormal_span(turned) == pytest.approx(first, abs=1e-12)
    assert orthonormal_span(np.zeros((rows, 0))).shape == (rows, 0)
    noisy = np.hstack([first[:, :2], 1e-5 * first[:, 2:], 1e-15 * np.ones((rows, 1))])
    assert orthonormal_span(noisy).shape[1] == first.shape[1]


# -- gates that switch -----------------------------------------------------------------------------

SWITCHES, SLOW = (30, 75), 20.0


def switching(seed: int, staged: bool) -> list[GatedNetwork]:
    """Random data, two pathways with overlapping gates, three phases."""
    random = np.random.default_rng(seed)
    x, y = random.standard_normal((3, 5)), random.standard_normal((4, 5))
    gates = random.integers(0, 2, (3, 2, 5)).astype(float)
    gates[:, :, 0] = 1
    rest = {"inputs": ((0, 1, 2), (0, 2)), "outputs": ((0, 1, 2, 3), (0, 1, 3)), "stages": (1, 2)}
    return [GatedNetwork(x=x, y=y, gates=each, staged=staged, **rest) for each in gates]


def phased(phases: list[GatedNetwork], switches: tuple[int, ...] = SWITCHES) -> CoupledMatrices:
    data = tuple(map(gated_data, phases))
    return CoupledMatrices(phases=data, switches=switches, tau=SLOW, gram_scale=0.03)


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_gates_that_switch_carry_the_weights_over(seed, staged):
    phases = switching(seed, staged)
    system = phased(phases)
    flow = system.flow()
    weights = lifted(system, flow.factors(flow.start()))
    times = np.linspace(1, 140, 29)
    found, states = system.trajectory(np.array([0, *times]), probes_of(phases[0]), 1e-11), []
    for network, (begin, end) in zip(phases, pairwise([0, *SWITCHES, 141]), strict=True):
        inside = (times > begin) & (times < end)
        way = network.flow(weights, np.array([begin, *times[inside], end]), SLOW)
        weights = way[-1]
        losses = [network.loss(w) for w in way[1:-1]]
        np.testing.assert_allclose(found.losses[1:][inside], losses, rtol=1e-8)
        states += way[1:-1]
    maps = np.array([np.concatenate([(b @ a).ravel() for a, b in w]) for w in states]).T
    np.testing.assert_allclose(found.strengths[:, 1:], maps, atol=1e-8 * np.abs(maps).max())
    # A start after switches is in its own phase.
    late = np.array([80.0, 95.0, 140.0])
    alone = phased(phases[2:], ())
    np.testing.assert_allclose(
        system.trajectory(late).losses, alone.trajectory(late).losses, rtol=1e-7
    )
