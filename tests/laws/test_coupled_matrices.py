"""The matrix reduction against the flow of all weights, and its start against random networks."""

from __future__ import annotations

import numpy as np
import pytest

from symreln.laws import integrate
from symreln.laws.coupled_matrices import CoupledMatrices, EqualModes
from symreln.laws.spans import orthonormal_span
from tests.laws.full_flow import GatedNetwork, gated_data

TAU = 2.0


def random_network(seed: int, staged: bool) -> GatedNetwork:
    """Random gates, input masks and output masks; targets of low rank, so that spans grow."""
    rng = np.random.default_rng(seed)
    n_x, n_y, samples, count = 4, 5, 7, 3
    x = rng.standard_normal((n_x, samples)) / 2
    y = rng.standard_normal((n_y, 2)) @ rng.standard_normal((2, samples))

    def some(size: int) -> tuple[int, ...]:
        return tuple(sorted(rng.choice(size, rng.integers(2, size + 1), replace=False)))

    gates = rng.integers(0, 2, (count, samples))
    gates[:, :2] = 1  # every two pathways meet
    return GatedNetwork(
        x=x,
        y=y,
        gates=gates.astype(float),
        inputs=tuple(some(n_x) for _ in range(count)),
        outputs=tuple(some(n_y) for _ in range(count)),
        stages=(1, 2, 2) if seed % 2 else (2, 1, 3),
        staged=staged,
    )


def narrow_network() -> GatedNetwork:
    """Outputs of pathway 2 lie outside the targets that pathway 1 sees: U_1 must be enlarged."""
    x = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 1.0]])
    y = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    gates = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    both = ((0, 1), (0, 1))
    return GatedNetwork(x=x, y=y, gates=gates, inputs=both, outputs=((0, 1, 2),) * 2, stages=(1, 1))


def masks_network() -> GatedNetwork:
    """U_2 under the mask of pathway 1 is no vector of pathway 1's targets."""
    x = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    y = np.array([[1.0, 1.0, 2.0], [1.0, -1.0, 0.0], [2.0, 0.0, 1.0]])
    gates = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    return GatedNetwork(
        x=x,
        y=y,
        gates=gates,
        inputs=((0, 1), (0, 1)),
        outputs=((0, 1), (0, 1, 2)),
        stages=(1, 1),
    )


def reduced(network: GatedNetwork, gram_scale: float = 1e-3) -> CoupledMatrices:
    return CoupledMatrices(phases=(gated_data(network),), tau=TAU, gram_scale=gram_scale)


def expected(system: CoupledMatrices) -> list[np.ndarray]:
    """Q of every pathway with Q Qᵀ = g I."""
    bases = zip(system.input_bases, system.output_bases, strict=True)
    return [np.sqrt(system.gram_scale) * np.eye(v.shape[1] + u.shape[1]) for v, u in bases]


def followed(system: CoupledMatrices, times: np.ndarray, probes=(), start=None):
    """The flow from any Q of every pathway."""
    grams = None if start is None else [q @ q.T / system.gram_scale for q in start]
    return system.flow(grams).trajectory(times, system.functionals(probes))


def lifted(system: CoupledMatrices, state: list[np.ndarray]):
    """Full weights W1 = R B1 Vᵀ, W2 = U B2 Rᵀ with R = 1."""
    weights = []
    for q, u, v in zip(state, system.output_bases, system.input_bases, strict=True):
        width = v.shape[1]
        weights.append((q[:width].T @ v.T, u @ q[width:]))
    return weights


def whole_map_probes(network: GatedNetwork) -> list[EqualModes]:
    """Modes that read W_p entry by entry, pathway after pathway."""
    return [
        EqualModes(pathway=p, u=np.eye(len(network.y))[:, [i]], v=np.eye(len(inputs))[:, [j]])
        for p, inputs in enumerate(network.inputs)
        for i in range(len(network.y))
        for j in range(len(inputs))
    ]


NETWORKS = {
    **{f"joint {seed}": random_network(seed, staged=False) for seed in range(4)},
    **{f"staged {seed}": random_network(seed, staged=True) for seed in range(4)},
    "span enlarged": narrow_network(),
    "span enlarged by a mask": masks_network(),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("start", ["expected", "random"])
def test_reduction_is_the_flow_of_all_weights(name, start):
    network = NETWORKS[name]
    system = reduced(network)
    state = expected(system)
    if start == "random":
        rng = np.random.default_rng(1)
        state = [0.2 * rng.standard_normal((len(q), 6)) for q in state]
    times = np.linspace(0, 60, 31)
    found = followed(system, times, whole_map_probes(network), state)
    flow = network.flow(lifted(system, state), times, TAU)
    losses = np.array([network.loss(weights) for weights in flow])
    # The reduction is exact; what is left is the integrator between its steps.
    np.testing.assert_allclose(found.losses, losses, rtol=0, atol=1e-9 * losses[0])
    pathways = np.array([probe.pathway for probe in whole_map_probes(network)])
    for p in range(len(network.gates)):
        maps = np.array([(w[p][1] @ w[p][0]).ravel() for w in flow]).T
        own = found.strengths[pathways == p]
        np.testing.assert_allclose(own, maps, rtol=0, atol=1e-9 * np.abs(maps).max())


def test_output_between_steps_is_as_good_as_the_steps(monkeypatch):
    # A slow mode on a settled fast one: stability alone would allow steps far too long to
    # interpolate in. Short steps are the reference.
    # A start at which free steps end badly: of nine starts their output is off by 1.2e-10 to
    # 4.9e-9 of the largest entry, by where steps happen to end; bounded steps by at most 2.1e-10.
    network = masks_network()
    rng = np.random.default_rng(9)
    start = [0.2 * rng.standard_normal((len(q), 6)) for q in expected(reduced(network))]
    times = np.linspace(0, 200, 3001)

    def maps(longest: float) -> np.ndarray:
        monkeypatch.setattr(integrate, "LONGEST_STEP", longest)
        return followed(reduced(network), times, whole_map_probes(network), start).strengths

    as_it_is, short, free = (maps(longest) for longest in (integrate.LONGEST_STEP, 0.2, 1e9))
    size = np.abs(short).max()
    assert np.abs(as_it_is - short).max() < 2e-10 * size
    assert np.abs(free - short).max() > 5e-10 * size


def test_span_is_enlarged_where_another_pathway_points_out_of_it():
    network = narrow_network()
    alone = orthonormal_span(network.y * network.gates[0])
    assert alone.shape[1] == 1
    assert reduced(network).output_bases[0].shape[1] == 2
    # Joint training sees every pathway, staged training only earlier stages and its own.
    staged = GatedNetwork(**(vars(network) | {"stages": (1, 2), "staged": True}))
    assert reduced(staged).output_bases[0].shape[1] == 1
    assert reduced(staged).output_bases[1].shape[1] == 2


def test_staged_stage_one_ignores_stage_two():
    network = GatedNetwork(**(vars(narrow_network()) | {"stages": (1, 2), "staged": True}))
    times = np.linspace(0, 40, 9)
    both = reduced(network).trajectory(times, whole_map_probes(network))
    one = network.only([0])
    alone = reduced(one).trajectory(times, whole_map_probes(one))
    first = both.strengths[: len(alone.strengths)]
    np.testing.assert_allclose(first, alone.strengths, atol=1e-10)


def test_expected_start_has_the_gram_matrix_of_random_weights():
    system = reduced(narrow_network(), gram_scale=0.25)
    flow = system.flow()
    for whole, v in zip(flow.factors(flow.start()), system.input_bases, strict=True):
        q = whole[: v.shape[1]]
        np.testing.assert_allclose(q @ q.T, 0.25 * np.eye(v.shape[1]), atol=1e-15)


def test_propagators_move_the_weights_and_residuals_are_those_of_the_loss():
    network = narrow_network()
    system = reduced(network, gram_scale=0.25)
    losses = system.descent(41).losses
    left = np.array([*system.residuals(41)])
    assert left.shape[1:] == network.y.shape
    found = 0.5 * (left**2).sum(axis=(1, 2)) / left.shape[2]
    # What no map of the spans can lower is in the targets.
    np.testing.assert_allclose(found, losses, rtol=1e-12)
    flow = system.flow()
    states = [flow.factors(state) for state, _ in flow.descended(41)]
    for place, _ in enumerate(network.stages):
        moved = system.propagators(place, [0, 7, 40])
        for motion, step in zip(moved, [0, 7, 40], strict=True):
            np.testing.assert_allclose(motion @ states[0][place], states[step][place], atol=1e-12)


def test_random_networks_average_to_the_expected_start():
    """Law of large numbers over hidden units.

    Q Qᵀ/g has mean 1 and entries with standard deviation 1/√H (off the diagonal) or √(2/H) (on
    it). To first order a map moves by its sensitivity, some number S, times that: the mean over
    N networks deviates by about S·√(2/(H N)), plus a bias of second order, some multiple of
    1/H. Doubling √H must halve the spread of single networks; the mean is held to four standard
    errors plus the bias bound that the spread itself gives.
    """
    network = narrow_network()
    g = 4e-3
    system = reduced(network, gram_scale=g)
    times = np.linspace(0, 30, 7)
    predicted = system.trajectory(times).losses
    spreads, count = {}, 24
    for hidden in (64, 256, 1024):
        rng = np.random.default_rng(hidden)
        losses = []
        for _ in range(count):
            state = [
                np.sqrt(g / hidden) * rng.standard_normal((len(q), hidden))
                for q in expected(system)
            ]
            losses.append(followed(system, times, start=state).losses)
        deviation = np.array(losses) - predicted
        spreads[hidden] = float(deviation.std(axis=0).max())
        standard_error = deviation.std(axis=0) / np.sqrt(count)
        bias = spreads[hidden] ** 2 / predicted[0]
        assert (np.abs(deviation.mean(axis=0)) <= 4 * standard_error + 4 * bias + 1e-9).all()
    # 24 networks know their spread to 1/√48, 15 %; four times that is allowed either way.
    for small, large in ((64, 256), (256, 1024)):
        assert 2 * 0.6 < spreads[small] / spreads[large] < 2 * 1.7


def test_probes_of_nothing_give_nothing():
    found = reduced(narrow_network()).trajectory(np.array([0.0, 1.0]))
    assert found.strengths.shape == (0, 2)


@pytest.mark.parametrize("shape", [(3, 0), (0, 0)])
def test_span_of_nothing(shape):
    assert orthonormal_span(np.zeros(shape)).shape == (shape[0], 0)


def test_span_ignores_rounding_and_keeps_small_data():
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 3)))[0]
    noisy = np.hstack([basis[:, :2], 1e-5 * basis[:, 2:], 1e-15 * np.ones((5, 1))])
    span = orthonormal_span(noisy)
    assert span.shape == (5, 3)
    np.testing.assert_allclose(span @ span.T @ basis, basis, atol=1e-9)
    assert orthonormal_span(np.zeros((4, 2))).shape == (4, 0)


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
