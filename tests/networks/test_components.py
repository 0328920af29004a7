"""Parts that learn apart: verdicts and modes by two routes, reductions against the full flow."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

import symreln as sr
from symreln.claims.network.components import components
from symreln.claims.network.in_numbers import Curves
from symreln.exact.matrix import ExactMatrix
from symreln.exact.truth import Truth
from symreln.laws.network_flow import NetworkFlow
from symreln.networks.bundles import NetworkData
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Gain, Node
from symreln.specs.model import Dataset, NetworkSpec, PathwaySpec, Spec
from symreln.verdict.judge import Level
from tests.networks.examples import aligned, chain_strengths, dataset, gate, pathway_modes, spec_of
from tests.strategies import diagonal, exact, orthogonal, rectangle, seeds

NETWORK = NetworkSpec(
    hidden=4, init_std=Fraction(1, 2), learning_rate=Fraction(1, 10), loss="mean", steps=50
)


# -- pathways with one hidden layer each: the ordinary derivation is a second route ---------------


def graph_of(spec: Spec) -> Spec:
    """The graph of a spec's pathways: a hidden node each, outer nodes where they are needed."""
    inputs = list(dict.fromkeys(p.inputs for p in spec.pathways))
    outputs = list(dict.fromkeys(p.outputs for p in spec.pathways))
    nodes = [Node(name=f"x{n}", size=len(i), inputs=i) for n, i in enumerate(inputs)]
    nodes += [Node(name=f"h{n}", size=3, gate=p.gate) for n, p in enumerate(spec.pathways)]
    nodes += [Node(name=f"y{n}", size=len(o), outputs=o) for n, o in enumerate(outputs)]
    edges = []
    for n, p in enumerate(spec.pathways):
        edges.append(Edge(name=f"in{n}", source=f"x{inputs.index(p.inputs)}", target=f"h{n}"))
        edges.append(Edge(name=f"out{n}", source=f"h{n}", target=f"y{outputs.index(p.outputs)}"))
    data = NetworkData(graph=Network(nodes=tuple(nodes), edges=tuple(edges)), dataset=spec.dataset)
    return spec_of(data, parameters=spec.parameters)


def printed(spectrum: object) -> list[tuple[str, str | None, int]]:
    modes = spectrum.modes  # type: ignore[attr-defined]
    return [
        (str(m.s.to_sympy({})), None if m.d is None else str(m.d.to_sympy({})), m.multiplicity)
        for m in modes
    ]


def same_by_both_routes(spec: Spec) -> Level:
    joint = replace(spec, network=None, pathways=tuple(replace(p, stage=1) for p in spec.pathways))
    ordinary = sr.derive(joint)
    found = sr.derive(graph_of(joint))
    assert found.level is ordinary.verdict.level
    modes = {}
    for component in found.components:
        for place, spectrum in zip(component.data.bundles, component.spectra, strict=True):
            key = place.effective.pathway.gate, place.effective.pathway.inputs
            modes[key, place.effective.pathway.outputs] = printed(spectrum)
    for pathway in ordinary.pathways:
        p = pathway.effective.pathway
        assert modes[(p.gate, p.inputs), p.outputs] == printed(pathway.spectrum)
    return found.level


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("xor", Level.CLOSED),
        ("linear-hierarchy", Level.CLOSED),
        ("contextual-3", Level.COUPLED_MATRICES),
    ],
)
def test_a_ready_made_spec_as_a_graph_says_the_same(name: str, level: Level) -> None:
    """All pathways trained jointly; the contextual task's stages keep them apart otherwise."""
    spec = sr.load(name, ["dataset.items=2"] if name == "contextual-3" else [])
    assert same_by_both_routes(spec.at_values()) is level


def test_two_equal_pathways_are_closed_by_symmetry_as_a_graph() -> None:
    x = ExactMatrix.from_rows([[1, 0, 1, 0], [0, 1, 0, 1]])
    y = ExactMatrix.from_rows([[2, 0, 2, 0], [0, 1, 0, 1]])
    pathways = tuple(
        PathwaySpec(name=name, gate=(1,) * 4, inputs=(0, 1), outputs=(0, 1)) for name in "ab"
    )
    spec = Spec(dataset=Dataset(inputs=x, targets=y), pathways=pathways)
    assert same_by_both_routes(spec) is Level.CLOSED_BY_SYMMETRY


@settings(max_examples=12, deadline=None)
@given(seeds)
def test_random_parallel_pathways_say_the_same(seed: int) -> None:
    random = Random(seed)
    data = diagonal_parts(random)[0] if seed % 2 else dataset(random, rank=1 + seed % 3)
    pathways = []
    for n in range(random.randint(1, 3)):
        open_ = gate(random, data.samples) or (1,) * data.samples
        if not any(open_):
            open_ = (1,) * data.samples
        pathways.append(
            PathwaySpec(
                name=f"p{n}",
                gate=open_,
                inputs=tuple(range(data.n_x)),
                outputs=tuple(sorted(random.sample(range(data.n_y), random.randint(1, data.n_y)))),
            )
        )
    keys = {(p.gate, p.outputs): p for p in pathways}  # a graph has one bundle for equal ones
    same_by_both_routes(Spec(dataset=data, pathways=tuple(keys.values())))


# -- depth: the scalar reduction against the flow of all matrices ---------------------------------


def diagonal_parts(random: Random, count: int = 2) -> tuple[Dataset, list[list[int]]]:
    """Data whose parts, runs of columns, have Sigma^yx and Sigma^x diagonal in common bases."""
    v, u = orthogonal(random, 3), orthogonal(random, 3)
    x, y = [], []
    for _ in range(count):
        d = [Fraction(random.choice([1, 1, 2])) for _ in range(3)]
        s = [Fraction(random.choice([0, 1, 2, 3])) for _ in range(3)]
        x.append(exact(v * diagonal(d)))
        y.append(exact(u * rectangle(s, 3, 3)))
    runs = [list(range(3 * n, 3 * n + 3)) for n in range(count)]
    return Dataset(inputs=ExactMatrix.beside(x), targets=ExactMatrix.beside(y)), runs


def gate_by_part(random: Random, runs: list[list[int]]) -> tuple[Gain, ...] | None:
    """Open, closed or a gain for all samples of a part."""
    if random.random() < 0.5:
        return None
    choices = [0, 1, 1, ExactMatrix.from_rows([[Fraction(1, 2)]]).entry(0, 0)]
    found: list[Gain] = []
    for run in runs:
        found += [random.choice(choices)] * len(run)
    return tuple(found)


def random_dag(seed: int) -> sr.NetworkDerivation | None:
    """Hidden nodes in any order, edges that skip, run in parallel and are shared, gates on both."""
    random = Random(seed)
    data, runs = diagonal_parts(random)
    hidden = [
        Node(name=f"h{n}", size=random.randint(3, 4), gate=gate_by_part(random, runs))
        for n in range(random.randint(1, 4))
    ]
    x, y = Node(name="x", size=3, inputs=(0, 1, 2)), Node(name="y", size=3, outputs=(0, 1, 2))
    nodes = [x, *hidden, y]
    ends = []
    for n, node in enumerate(nodes[1:], start=1):  # everybody reads an earlier one …
        ends.append((random.choice(nodes[:n] if node is not y else nodes[:-1]).name, node.name))
    for n, node in enumerate(nodes[:-1]):  # … and is read by a later one
        ends.append((node.name, random.choice(nodes[n + 1 :]).name))
    for _ in range(random.randint(0, 2)):
        a, b = sorted(random.sample(range(len(nodes)), 2))
        ends.append((nodes[a].name, nodes[b].name))
    edges = tuple(
        Edge(name=f"e{n}", source=a, target=b, gate=gate_by_part(random, runs))
        for n, (a, b) in enumerate(ends)
    )
    whole = NetworkData(graph=Network(nodes=tuple(nodes), edges=edges), dataset=data)
    return sr.derive(spec_of(whole, network=NETWORK)) if whole.paths else None


@settings(max_examples=7, deadline=None)
@given(seeds)
def test_any_graph_on_diagonal_data_follows_its_scalar_reduction(seed: int) -> None:
    """Depth, skips, shared and parallel edges, gates with gains: losses to 1e-10 of the first."""
    found = random_dag(seed)
    if found is None:
        return
    assert all(c.decision.outcome is Truth.PROVEN for c in found.components)
    assert found.level is not Level.COUPLED_MATRICES or any(
        c.ordinary is not None for c in found.components
    )
    assert isinstance(found.curves, Curves)
    assert found.curves.difference is not None
    assert found.curves.difference < 1e-10


def shared_paths(random: Random, *, alike: bool) -> NetworkData:
    """Pathways on samples of their own through hidden layers that some of them share.

    Pathway p of P goes through node p // w of a layer, or p % w, for a w of the layer.
    """
    count, depth = random.choice([2, 3, 4]), random.randint(2, 5)
    first, _ = diagonal_parts(random, 1)
    x, y = [], []
    for p in range(count):
        own = first if alike or p == 0 else diagonal_parts(random, 1)[0]
        zero = ExactMatrix.zeros(3, 3)
        x.append([own.inputs if q == p else zero for q in range(count)])
        y.append([own.targets if q == p else zero for q in range(count)])
    blocks = [ExactMatrix.beside([row[q] for row in x]) for q in range(count)]
    targets = [ExactMatrix.beside([row[q] for row in y]) for q in range(count)]
    data = Dataset(inputs=stacked(blocks), targets=stacked(targets))
    gates = [tuple(int(k // 3 == p) for k in range(3 * count)) for p in range(count)]
    on_edge = random.random() < 0.5
    nodes = [
        Node(
            name=f"x{p}",
            size=3,
            inputs=tuple(range(3 * p, 3 * p + 3)),
            gate=None if on_edge else gates[p],
        )
        for p in range(count)
    ]
    trails = [[f"x{p}"] for p in range(count)]
    for layer in range(1, depth):
        width = random.choice([w for w in range(1, count + 1) if count % w == 0])
        blocky = random.random() < 0.5
        for p in range(count):
            place = p // width if blocky else p % width
            trails[p].append(f"h{layer}_{place}")
        # Pathways that are not used alike have modes of their own.
        nodes += [Node(name=n, size=3 * count) for n in dict.fromkeys(t[-1] for t in trails)]
    for p in range(count):
        trails[p].append(f"y{p}")
        nodes.append(
            Node(name=f"y{p}", size=3, outputs=tuple(range(3 * p, 3 * p + 3)), gate=gates[p])
        )
    ends = dict.fromkeys((t[n], t[n + 1]) for t in trails for n in range(depth))
    edges = tuple(
        Edge(
            name=f"{a} {b}",
            source=a,
            target=b,
            gate=gates[int(a[1:])] if on_edge and a[0] == "x" else None,
        )
        for a, b in ends
    )
    return NetworkData(graph=Network(nodes=tuple(nodes), edges=edges), dataset=data)


def stacked(blocks: list[ExactMatrix]) -> ExactMatrix:
    return ExactMatrix.beside([b.T for b in blocks]).T


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_edges_shared_at_several_depths_follow_the_reduction(seed: int) -> None:
    random = Random(seed)
    data = shared_paths(random, alike=bool(seed % 3))
    found = sr.derive(spec_of(data, network=NETWORK))
    assert isinstance(found.curves, Curves)
    assert found.curves.difference is not None
    assert found.curves.difference < 1e-10
    for component in found.components:
        if component.is_regular:
            uses = [
                [sum(e in p.edges for p in component.data.paths) for e in {*place}]
                for place in zip(*(p.edges for p in component.data.paths), strict=True)
            ]
            assert [set(counted) for counted in uses] == [{n} for n in component.counts]


def test_edges_that_are_used_unequally_are_not_alike() -> None:
    """Two of three pathways share an edge: their edges grow faster than the third one's."""
    gates = [tuple(int(k // 2 == p) for k in range(6)) for p in range(3)]
    x = ExactMatrix.beside([ExactMatrix.identity(2)] * 3)
    y = ExactMatrix.from_rows(
        [[(2 if r % 2 == 0 else 1) * int(k == r) for k in range(6)] for r in range(6)]
    )
    nodes = [Node(name="x", size=2, inputs=(0, 1))]
    nodes += [Node(name=n, size=6) for n in "hij"]
    nodes += [
        Node(name=f"y{p}", size=2, outputs=(2 * p, 2 * p + 1), gate=gates[p]) for p in range(3)
    ]
    ends = [("x", "h"), ("h", "i"), ("i", "y0"), ("i", "y1"), ("h", "j"), ("j", "y2")]
    edges = tuple(Edge(name=a + b, source=a, target=b) for a, b in ends)
    graph = Network(nodes=tuple(nodes), edges=edges)
    data = NetworkData(graph=graph, dataset=Dataset(inputs=x, targets=y))
    found = sr.derive(spec_of(data, network=NETWORK))
    (component,) = found.components
    assert component.counts == ()
    assert component.reason == "edges at one place are used by different numbers of pathways"
    assert found.level is Level.COUPLED_MODES
    assert isinstance(found.curves, Curves)
    assert found.curves.difference is not None
    assert found.curves.difference < 1e-10
    first, second, third = (item.values for item in found.curves.strengths)
    # Shared twice: the first two are alike, the third is behind.
    assert first[0] == pytest.approx(second[0])
    assert np.all(first.max(axis=0)[20:60] > third.max(axis=0)[20:60])


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_a_regular_component_follows_one_chain_with_counts(seed: int) -> None:
    """Every matrix of the graph against three or more numbers a mode, unbalanced start."""
    random = Random(seed)
    data = shared_paths(random, alike=True)
    for component in components(data, spec_of(data)):
        if not component.is_regular:
            continue
        part, times = component.data, [0.0, 3.0, 12.0]
        flow, modes = NetworkFlow.of(part), pathway_modes(part)
        states = flow.trajectory(aligned(part, 0.4), times)
        path = part.paths[0].edges
        for k, (s, d) in enumerate(zip(modes.s, modes.d, strict=True)):
            start = (0.4,) * len(path)
            strengths = chain_strengths(component.counts, float(s), float(d), start, times)
            for state, expected in zip(states, strengths, strict=True):
                first = np.linalg.norm(state[path[0]] @ modes.v[:, k])
                assert first == pytest.approx(expected[0], rel=1e-9, abs=1e-11)
                whole = np.linalg.multi_dot([state[e] for e in reversed(path)])
                strength = modes.u[:, k] @ whole @ modes.v[:, k]
                assert strength == pytest.approx(expected.prod(), rel=1e-9, abs=1e-11)
