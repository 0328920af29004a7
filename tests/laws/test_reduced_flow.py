"""The flow by irreducible modules against the flow in full spans, and known copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symreln.laws.coupled_matrices import CoupledMatrices, EqualModes
from symreln.laws.modules import Split, split
from symreln.laws.reduced_flow import ModeProbe, ModeStart, ReducedFlow
from symreln.laws.shared_blocks import tie
from tests.laws.full_flow import GatedNetwork, gated_data
from tests.laws.test_coupled_matrices import NETWORKS

TAU, GRAM = 2.0, 1e-3
TIMES = np.linspace(0, 60, 13)


def reduced_flow(network: GatedNetwork) -> ReducedFlow:
    return ReducedFlow(data=gated_data(network), tau=TAU, gram_scale=GRAM)


def full_flow(network: GatedNetwork) -> CoupledMatrices:
    return CoupledMatrices(phases=(gated_data(network),), tau=TAU, gram_scale=GRAM)


def learned(network: GatedNetwork, p: int) -> np.ndarray:
    """Sigma^yx of what the stage of a pathway has to learn, by least squares row by row."""
    left = network.y.copy()
    for stage in sorted(set(network.stages)) if network.staged else []:
        if stage >= network.stages[p]:
            break
        target = left.copy()
        for row in range(len(left)):
            members = [
                j
                for j, own in enumerate(network.stages)
                if own == stage and row in network.outputs[j]
            ]
            if members:
                features = np.vstack([network.gated_inputs(j) for j in members])
                fit = np.linalg.lstsq(features.T, target[row], rcond=None)[0]
                left[row] = target[row] - fit @ features
    own = np.zeros_like(left)
    rows = list(network.outputs[p])
    own[rows] = left[rows]
    return own @ network.gated_inputs(p).T / network.y.shape[1]


def spectral_probes(network: GatedNetwork) -> list[ModeProbe]:
    """Eigenspaces of Sigma^yxᵀ Sigma^yx of every pathway; they need no joint eigenbasis."""
    probes = []
    for p in range(len(network.gates)):
        sigma = learned(network, p)
        values, vectors = np.linalg.eigh(sigma.T @ sigma)
        # Nothing left to learn is rounding of what there was.
        size = np.linalg.norm(network.y) * np.linalg.norm(network.gated_inputs(p))
        scale = (size / network.y.shape[1]) ** 2
        for part in np.split(
            np.arange(len(values)), np.flatnonzero(np.diff(values) > 1e-7 * scale) + 1
        ):
            if len(part) and values[part].mean() > 1e-7 * scale:
                s = float(np.sqrt(values[part].mean()))
                probes.append(ModeProbe(pathway=p, s=s, v=vectors[:, part]))
    return probes


def equal_modes(network: GatedNetwork, probe: ModeProbe) -> EqualModes:
    u = learned(network, probe.pathway) @ probe.v / probe.s
    return EqualModes(pathway=probe.pathway, u=u, v=probe.v)


def assert_same_flow(network: GatedNetwork, times: np.ndarray = TIMES) -> Split:
    """Loss, strengths and rate of both routes, to the 1e-9 that reductions are held to."""
    flow, full = reduced_flow(network), full_flow(network)
    probes = spectral_probes(network)
    found = flow.trajectory(times, probes)
    expected = full.trajectory(times, [equal_modes(network, probe) for probe in probes])
    np.testing.assert_allclose(found.losses, expected.losses, atol=1e-9 * expected.losses[0])
    wanted = expected.strengths
    np.testing.assert_allclose(
        found.strengths, wanted, atol=1e-9 * np.abs(wanted).max(initial=1e-3)
    )
    assert flow.rate == pytest.approx(full.rate, rel=1e-12)
    assert_same_descent(network, flow, probes)
    assert_same_descent(network, flow, probes, factors=(1.7, 0.4, 0.0))
    return split(flow.data)


def descended(
    network: GatedNetwork,
    weights: list[tuple[np.ndarray, np.ndarray]],
    probes: list[ModeProbe],
    sigmas: list[np.ndarray],
    steps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Losses and the probes' mean strengths, step by step, of gradient descent on the weights."""
    losses, strengths = [], []
    for _ in range(steps):
        losses.append(network.loss(weights))
        maps = [second @ first for first, second in weights]
        strengths.append(
            [
                np.trace((sigmas[q.pathway] @ q.v / q.s).T @ maps[q.pathway] @ q.v) / q.v.shape[1]
                for q in probes
            ]
        )
        if not np.isfinite(losses[-1]) or losses[-1] > 2 * losses[0]:
            return np.array([*losses, np.inf]), np.array(strengths)
        moved = network.derivative(weights)
        weights = [
            (a + da / TAU, b + db / TAU) for (a, b), (da, db) in zip(weights, moved, strict=True)
        ]
    return np.array(losses), np.array(strengths)


def assert_same_descent(
    network: GatedNetwork,
    flow: ReducedFlow,
    probes: list[ModeProbe],
    factors: tuple[float, ...] = (),
    steps: int = 40,
) -> None:
    """Gradient descent of all weights, both layers at once.

    From Q Qᵀ = g I, or with some modes' growing directions (v, u)/√2 times a factor.
    """
    sigmas = [learned(network, p) for p in range(len(network.gates))]
    grams = [np.eye(len(inputs) + len(network.y)) for inputs in network.inputs]
    starts = [ModeStart(probe=p, factor=f) for p, f in zip(probes[::2], factors, strict=False)]
    for start in starts:
        p, v = start.probe.pathway, start.probe.v
        along = np.vstack([v, sigmas[p] @ v / start.probe.s]) / np.sqrt(2)
        grams[p] += (start.factor - 1) * along @ along.T
    weights = []
    for inputs, gram in zip(network.inputs, grams, strict=True):
        values, vectors = np.linalg.eigh(gram)
        q = vectors * np.sqrt(GRAM * np.maximum(values, 0))
        weights.append((q[: len(inputs)].T, q[len(inputs) :]))
    losses, strengths = descended(network, weights, probes, sigmas, steps)
    nudged = [(a * (1 + 1e-13), b) for a, b in weights]
    again, _ = descended(network, nudged, probes, sigmas, steps)
    # Too large steps: losses grow, or rounding alone decides where descent goes.
    if not np.isfinite([*losses, *again]).all():
        return
    if np.abs(losses - again).max() > 1e-12 * losses[0]:
        return
    found = flow.descent(steps, probes, starts)
    np.testing.assert_allclose(found.losses, losses, atol=1e-11 * losses[0])
    wanted = strengths.reshape(steps, len(probes)).T
    np.testing.assert_allclose(
        found.strengths, wanted, atol=1e-10 * np.abs(wanted).max(initial=1e-3)
    )


# -- no symmetry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_random_gates_and_masks(name):
    assert_same_flow(NETWORKS[name])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_any_small_gated_network(seed, staged):
    rng = np.random.default_rng(seed)
    n_x, n_y, samples, count = rng.integers(1, 5, 4)
    # Small whole numbers: zero rows, equal rows, nothing to learn and shared spans all occur.
    network = GatedNetwork(
        x=rng.integers(-1, 2, (n_x, samples)).astype(float),
        y=rng.integers(-1, 2, (n_y, samples)).astype(float),
        gates=rng.choice([0.0, 1.0, 0.5, 2.0], (count, samples)),
        inputs=tuple(
            tuple(np.flatnonzero(rng.integers(0, 2, n_x) | (p == 0))) for p in range(count)
        ),
        outputs=tuple(tuple(np.flatnonzero(rng.integers(0, 2, n_y))) for _ in range(count)),
        stages=tuple(rng.integers(1, 3, count).tolist()),
        staged=staged,
    )
    assert_same_flow(network, np.linspace(0, 20, 5))


# -- symmetry --------------------------------------------------------------------------------------


def turned(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((size, size)))[0]


def copied(network: GatedNetwork, m: int, seed: int = 0) -> GatedNetwork:
    """M copies of a network that no coordinate shows: inputs and outputs are turned."""
    rng, eye = np.random.default_rng(seed), np.eye(m)
    n_x, n_y = len(network.x), len(network.y)
    return replace(
        network,
        x=turned(rng, n_x * m) @ np.kron(network.x, eye),
        y=turned(rng, n_y * m) @ np.kron(network.y, eye),
        gates=np.kron(network.gates, np.ones((1, m))),
        inputs=(tuple(range(n_x * m)),) * len(network.gates),
        outputs=(tuple(range(n_y * m)),) * len(network.gates),
    )


@pytest.mark.parametrize("m", [2, 5])
@pytest.mark.parametrize("name", ["joint 0", "staged 1"])
def test_hidden_copies_are_found_and_counted(name, m):
    network = NETWORKS[name]
    every = replace(network, inputs=((0, 1, 2, 3),) * 3, outputs=((0, 1, 2, 3, 4),) * 3)
    found = assert_same_flow(copied(every, m))
    assert [module.copies for module in found.modules] == [m]
    assert found.modules[0].targets.shape[0] == 2  # targets of rank 2


def hierarchy(items: int) -> np.ndarray:
    rows, size = [], items
    while size:
        rows += [np.repeat(np.eye(items // size)[k], size) for k in range(items // size)]
        size //= 2
    return np.array(rows)


def contexts(
    items: int, count: int, staged: bool, tied: bool = True, scale: float = 1.0
) -> GatedNetwork:
    """Items in contexts as the paper has them; not tied: the last context has its own gain."""
    context, item = np.divmod(np.arange(items * count), items)
    tree = hierarchy(items)
    x = np.vstack([np.eye(items)[:, item], scale * np.eye(count)[:, context]])
    y = np.vstack([tree[:, item], *(tree[:, item] * (context == k) for k in range(count))])
    gates = np.array([np.ones(items * count), *(1.0 * (context != k) for k in range(count))])
    if not tied:
        gates[-1] *= 1.5
    return GatedNetwork(
        x=x,
        y=y,
        gates=gates,
        inputs=(tuple(range(items)), *(tuple(range(items + count)),) * count),
        outputs=(tuple(range(len(y))),) * (count + 1),
        stages=(1,) + (2,) * count,
        staged=staged,
    )


@pytest.mark.parametrize("staged", [False, True])
def test_a_hierarchy_in_contexts_has_one_module_a_level(staged):
    network = contexts(8, 3, staged)
    found = assert_same_flow(network)
    assert sorted(module.copies for module in found.modules) == [1, 1, 2, 4]
    for module in found.modules:
        tied = tie(module)
        assert tied is not None
        # Exchangeable contexts are one: the common pathway, and one pathway for all contexts
        # (its own context and the others are two outputs); at the root one more, the difference
        # of context inputs.
        inner = module.features[1].shape[0] == 1
        assert sorted(tied.coupling.shapes) == [(1, 1), *([] if inner else [(1, 1)]), (2, 1)]


def test_the_work_does_not_grow_with_contexts():
    shapes = []
    for count in (3, 6):
        found = split(reduced_flow(contexts(8, count, True)).data)
        ties = [tie(module) for module in found.modules]
        shapes.append(sorted(str(t.coupling.shapes) for t in ties if t is not None))
    assert shapes[0] == shapes[1]
    assert len(shapes[0]) == 4


def test_a_gain_that_sets_a_context_apart_is_seen():
    found = assert_same_flow(contexts(4, 3, True, tied=False))
    tied = [tie(module) for module in found.modules]
    # Beside the common one: the two contexts alike, and the third.
    assert all(t is not None and len(t.coupling.shapes) > 2 for t in tied)


@pytest.mark.parametrize("staged", [False, True])
def test_output_masks_are_part_of_the_algebra(staged):
    network = contexts(4, 5, staged)
    n_y = len(network.y)
    own = tuple(k for k in range(n_y) if not 7 <= k < 14)  # one pathway leaves context 1 alone
    found = assert_same_flow(replace(network, outputs=(own, *(tuple(range(n_y)),) * 5)))
    assert max(module.copies for module in found.modules) == 2
    for module in found.modules:
        tied = tie(module)
        assert tied is not None
        assert 2 * sum(a * b for a, b in tied.coupling.shapes) <= module.mask.sum()


@pytest.mark.parametrize("size", [1e-3, 1e-7, 1e-10])
def test_nearly_equal_parts_are_no_copies(size):
    network = contexts(4, 2, True)
    y = network.y.copy()
    y[0, 0] += size
    found = assert_same_flow(replace(network, y=y))
    if size >= 1e-7:
        assert [module.copies for module in found.modules] == [1] * len(found.modules)


def test_complex_structure_is_no_pair_of_copies():
    """Data over C, written in real numbers: every singular value is double, of one module."""
    rng = np.random.default_rng(3)

    def real(shape):
        a, b = rng.standard_normal((2, *shape))
        return np.kron(a, np.eye(2)) + np.kron(b, np.array([[0.0, -1.0], [1.0, 0.0]]))

    network = GatedNetwork(
        x=real((3, 4)),
        y=real((2, 4)),
        gates=np.kron([[1.0, 1, 0, 1], [0, 1, 1, 1]], np.ones((1, 2))),
        inputs=(tuple(range(6)),) * 2,
        outputs=(tuple(range(4)),) * 2,
        stages=(1, 1),
    )
    found = assert_same_flow(network)
    assert sum(module.copies * module.targets.shape[0] for module in found.modules) == 4
