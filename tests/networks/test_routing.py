"""The routing network: proofs for all M and K, counts, closed forms, and the full graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad

import symreln as sr
from symreln.errors import NoClosedFormError
from symreln.exact.truth import Truth
from symreln.laws import routing
from symreln.laws.law import STRENGTH, STRENGTH0, TIME_CONSTANT
from symreln.laws.network_flow import NetworkFlow
from symreln.laws.routing import DOMAINS, PARTNERS, RoutingNetwork, circulant_uses, uses
from symreln.laws.shared_chain import D, S
from symreln.laws.three_edges import ThreeEdges, X, equal_start, half_time
from symreln.networks.bundles import NetworkData
from tests.networks.examples import aligned, chain_strengths, pathway_modes

M, K = DOMAINS, PARTNERS
NETWORK = RoutingNetwork()


def graph_data(m: int, k: int, items: int = 2, hidden: int = 3) -> NetworkData:
    tables = [f"parameters.M.value={m}", f"parameters.K.value={k}", f"dataset.items={items}"]
    spec = sr.load("routing", [*tables, f"network.hidden={hidden}"])
    assert spec.graph is not None
    return NetworkData(graph=spec.graph, dataset=spec.dataset)


def test_every_step_is_proven_for_symbols():
    found = sr.derive(sr.load("routing"))
    assert isinstance(found, sr.NetworkDerivation)
    claim = found.routing
    assert claim is not None
    assert claim.network == NETWORK
    assert [step.outcome for step in claim.steps()] == [Truth.PROVEN] * 3
    assert all(line.holds for line in NETWORK.lines())


def test_conserved_differences_and_speed_as_printed():
    a, b, c = routing.STRENGTHS
    assert NETWORK.chain.conserved == (b**2 - M * a**2, c**2 - a**2)
    assert sp.simplify(NETWORK.chain.gain - K * sp.cbrt(M)) == 0
    for counts, speed in (
        ((1, 1, 1), 1),
        ((1, K * M, 1), sp.cbrt(K * M)),
        ((K, 1, K), sp.cbrt(K) ** 2),
    ):
        shared = replace(NETWORK.chain, counts=tuple(map(sp.sympify, counts)))
        assert sp.simplify(shared.gain - speed) == 0


@pytest.mark.parametrize("m", range(1, 7))
def test_counts_agree_with_counting(m: int):
    for k in range(1, m + 1):
        data = graph_data(m, k)
        assert len(data.paths) == m * k
        counted = Counter(edge for path in data.paths for edge in path.edges)
        names = {edge.name: counted[e] for e, edge in enumerate(data.graph.edges)}
        expected = [int(n.subs({M: m, K: k})) for n in NETWORK.chain.counts]
        assert {n for name, n in names.items() if name.startswith("read")} == {expected[0]}
        assert names["route"] == expected[1]
        assert {n for name, n in names.items() if name.startswith("write")} == {expected[2]}
        assert data.routing == (m, k)


def test_counting_refuses_what_it_cannot_count():
    pairs = {"i": M, "k": K}
    with pytest.raises(NoClosedFormError, match="no index runs over all"):
        uses({"i": 2, "k": 1}, M, pairs)
    assert circulant_uses() == NETWORK.chain.counts == (K, K * M, K)


SIZES = ((1, 1, 2, 3), (2, 1, 2, 2), (3, 2, 4, 4), (5, 3, 2, 4), (4, 4, 2, 3))


@pytest.mark.parametrize(("m", "k", "items", "hidden"), SIZES)
def test_the_full_graph_follows_three_numbers_a_mode(m: int, k: int, items: int, hidden: int):
    data = graph_data(m, k, items, hidden)
    flow, modes = NetworkFlow.of(data), pathway_modes(data)
    pairs = m * k
    times = [0.0, 2.0 * pairs * items, 10.0 * pairs * items]
    states = flow.trajectory(aligned(data, 0.2), times)
    loss = np.full(len(times), flow.half_power)
    for s, d in zip(modes.s, modes.d, strict=True):
        w = chain_strengths((k, pairs, k), float(s), float(d), (0.2,) * 3, times)
        strength = w.prod(axis=1)
        loss -= pairs * (s * strength - d * strength**2 / 2)
    assert [flow.loss(w) for w in states] == pytest.approx(list(loss), abs=1e-10 * loss[0])
    assert abs(loss[-1]) < 0.5 * loss[0]


def test_pairs_that_are_never_trained_follow():
    data = graph_data(4, 2, items=2)
    flow = NetworkFlow.of(data)
    last = flow.trajectory(aligned(data, 0.3), [0.0, 40.0])[-1]
    place = {edge.name: e for e, edge in enumerate(data.graph.edges)}
    trained = {path.edges for path in data.paths}

    def whole(i: int, j: int) -> np.ndarray:
        return last[place[f"write_{j}"]] @ last[place["route"]] @ last[place[f"read_{i}"]]

    never = (place["read_1"], place["route"], place["write_4"])
    assert never not in trained
    assert whole(1, 4) == pytest.approx(whole(1, 1), abs=1e-11)


@pytest.mark.parametrize("start", [(0.2, 0.5, 0.2), (0.3, 0.1, 0.3), (0.2, 0.4, 0.2)])
def test_the_closed_form_gives_the_times_of_the_flow(start: tuple[float, float, float]):
    """Starts with each sign of the difference; (0.2, 0.4, 0.2) is balanced at M = 4."""
    m, k, s, d = 4, 2, 0.7, 0.4
    counts = (k, m * k, k)
    delta = start[1] ** 2 / (m * k) - start[0] ** 2 / k
    form = ThreeEdges(
        total=sp.Integer(k**3 * m),
        s=sp.Float(s, 30),
        d=sp.Float(d, 30),
        sign=0 if abs(delta) < 1e-12 else (1 if delta > 0 else -1),
        delta=sp.Float(delta, 30),
        x0=sp.Float(start[1], 30) / sp.sqrt(m * k),
    )
    times = [0.0, 0.2, 0.6, 1.0, 1.5]
    b = chain_strengths(counts, s, d, start, times)[:, 1]
    found = form.times(b / np.sqrt(m * k), {})
    assert list(found) == pytest.approx(times, abs=1e-10)


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_the_closed_form_against_quadrature(sign: int):
    kappa, n, s, d = sp.symbols("kappa n s d", positive=True)
    form = ThreeEdges(total=n, s=s, d=d, sign=sign, delta=sign * kappa**2)
    assert form.residual() == 0
    values = {kappa: 0.02, n: 5.0, s: 0.3, d: 1.1, sp.Symbol("x_0", positive=True): 0.04}
    points = np.array([0.05, 0.2, 0.4])
    slope = sp.lambdify(X, (1 / form.velocity).subs(values))
    expected = [quad(slope, 0.04, x, epsabs=1e-12, epsrel=1e-12)[0] for x in points]
    assert list(form.times(points, values)) == pytest.approx(expected, rel=1e-10)


def test_a_wrong_closed_form_has_a_residual():
    class Wrong(ThreeEdges):
        @property
        def velocity(self) -> sp.Expr:
            return super().velocity * (1 + X)

    s, d = sp.symbols("s d", positive=True)
    assert Wrong(total=sp.Integer(3), s=s, d=d, sign=0).residual() != 0


def test_the_balanced_time_is_that_of_the_flow():
    m, k, s, d = 3, 2, 0.9, 0.5
    counts, z = (k, m * k, k), 0.1
    start = [float(np.sqrt(n)) * z for n in counts]
    times = [0.0, 1.0, 2.0, 3.0]
    strength = chain_strengths(counts, s, d, start, times).prod(axis=1)
    values = {M: m, K: k, S: s, D: d, STRENGTH0: strength[0], TIME_CONSTANT: 1}
    time = sp.lambdify(STRENGTH, NETWORK.chain.mode.printed.rhs.subs(values))
    assert list(time(strength)) == pytest.approx(times, abs=1e-9)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (1, 3), (4, 2), (9, 5)])
def test_speed_from_equal_weights_is_the_limit(m: int, k: int):
    """Ratio of half-times at smaller and smaller starts; k may exceed m here: a formula of both."""
    network = RoutingNetwork(domains=sp.Integer(m), partners=sp.Integer(k))
    limit = float(network.speed_of_equal_weights)
    counts, s, d = (k, m * k, k), 0.7, 0.3

    def away(start: float) -> float:
        return abs(half_time((1, 1, 1), s, d, start) / half_time(counts, s, d, start) - limit)

    assert away(1e-6) < 1e-3 * limit
    assert away(1e-6) < away(1e-3) + 1e-12


def test_half_time_is_when_the_flow_is_half_way():
    counts, s, d, start = (2, 6, 2), 0.5, 0.8, 0.1
    time = half_time(counts, s, d, start)
    strength = chain_strengths(counts, s, d, (start,) * 3, [0.0, time])[-1].prod()
    assert strength == pytest.approx(s / (2 * d), rel=1e-10)
    assert equal_start(counts, s, d, start).sign == -1


def test_what_is_no_routing_network_is_not_taken_for_one():
    spec = sr.load("routing")
    assert spec.graph is not None
    whole = NetworkData(graph=spec.graph, dataset=spec.dataset)
    assert not isinstance(whole.routing, str)
    targets = spec.dataset.targets.masked(rows=range(1, spec.dataset.n_y))
    other = replace(whole, dataset=replace(spec.dataset, targets=targets))
    assert other.routing == "Sigma^yx differs between pathways"
    closed = tuple(int(t != 1) for t in spec.dataset.labels["target"])
    nodes = tuple(replace(n, gate=closed) if n.name == "in_1" else n for n in spec.graph.nodes)
    fewer = replace(whole, graph=replace(spec.graph, nodes=nodes))
    assert "equally many" in str(fewer.routing)


def test_pathways_that_couple_are_no_routing_network():
    """Equal data, one hidden edge, equal use; yet all four write the same outputs at once."""
    outer = {"inputs": "all"}, {"outputs": "all"}
    spec = sr.load(
        {
            "dataset": {"X": [[1, 0], [0, 1]], "Y": [[1, 2]]},
            "node": [
                *({"name": f"x{k}", **outer[0]} for k in (1, 2)),
                {"name": "h", "size": 2},
                {"name": "k", "size": 2},
                *({"name": f"y{k}", **outer[1]} for k in (1, 2)),
            ],
            "edge": [
                *({"from": f"x{k}", "to": "h"} for k in (1, 2)),
                {"from": "h", "to": "k"},
                *({"from": "k", "to": f"y{k}"} for k in (1, 2)),
            ],
        }
    )
    assert spec.graph is not None
    found = NetworkData(graph=spec.graph, dataset=spec.dataset)
    assert found.routing == "the outputs of two pathways meet on common samples"
