"""Conserved quantities: proven in letters, kept by trajectories, complete of their kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from symreln.exact.truth import Truth
from symreln.exact.words import Words, derivative
from symreln.laws.network_flow import NetworkFlow
from symreln.networks.bundles import NetworkData
from symreln.networks.conserved import (
    balances,
    edge_letter,
    letters,
    norm_balances,
    velocities,
)
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Node
from tests.networks.examples import dataset, random_data, start
from tests.strategies import examples, seeds


@examples(100)
@given(seeds)
def test_all_are_proven_and_have_no_velocity(seed: int):
    """The derivative along the float flow vanishes too: Ẇ from samples, product rule by hand."""
    data = random_data(seed)
    weights = [w.to_numpy() for w in start(data, seed)]
    slopes = NetworkFlow.of(data).velocity(weights)
    scale = 1 + max(float(np.abs(s).max()) for s in slopes)
    for balance in balances(data):
        assert balance.outcome is Truth.PROVEN
        moved = sum(slopes[e].T @ weights[e] + weights[e].T @ slopes[e] for e in balance.outgoing)
        moved -= sum(slopes[e] @ weights[e].T + weights[e] @ slopes[e].T for e in balance.incoming)
        assert np.abs(moved).max() < 1e-12 * scale
    for norms in norm_balances(data):
        assert norms.outcome is Truth.PROVEN
        triples = zip(norms.weights, weights, slopes, strict=True)
        assert abs(sum(2 * f * float((w * v).sum()) for f, w, v in triples)) < 1e-11 * scale


@examples(100)
@given(seeds)
def test_there_are_no_others_of_their_kind(seed: int):
    """As many as edges in use minus the rank of the table of pathways and edges (by numpy)."""
    data = random_data(seed)
    table = np.zeros((len(data.paths), len(data.graph.edges)))
    for row, path in zip(table, data.paths, strict=True):
        row[list(path.edges)] = 1
    used = int(table.any(axis=0).sum())
    found = norm_balances(data)
    assert len(found) == used - (np.linalg.matrix_rank(table) if len(table) else 0)
    assert all(not (table @ np.array(item.weights)).any() for item in found)


def crossing() -> NetworkData:
    """Two inputs and two outputs at one hidden node whose gates let each pair pass apart."""
    from random import Random

    data = dataset(Random(0), samples=4)
    one, two = (1, 1, 0, 0), (0, 0, 1, 1)
    nodes = (
        Node(name="a", size=4, inputs=(0, 1, 2, 3)),
        Node(name="b", size=4, inputs=(0, 1, 2, 3)),
        Node(name="h", size=3),
        Node(name="y", size=3, outputs=(0, 1, 2)),
        Node(name="z", size=3, outputs=(0, 1, 2)),
    )
    ends = (("a", "h", one), ("b", "h", two), ("h", "y", one), ("h", "z", two))
    edges = tuple(Edge(name=f"{s}{t}", source=s, target=t, gate=g) for s, t, g in ends)
    return NetworkData(graph=Network(nodes=nodes, edges=edges), dataset=data)


def test_pathways_that_pass_a_node_apart_are_balanced_apart():
    data = crossing()
    found = [(balance.incoming, balance.outgoing) for balance in balances(data)]
    assert found == [((0,), (2,)), ((1,), (3,))]
    weights = [w.to_numpy() for w in start(data, 3)]
    later = NetworkFlow.of(data).trajectory(weights, (0.0, 1.0, 4.0))[-1]
    for balance in balances(data):
        assert balance.value(later) == pytest.approx(balance.value(weights), abs=1e-11)
    assert max(float(np.abs(a - b).max()) for a, b in zip(later, weights, strict=True)) > 1e-2


def test_what_is_not_conserved_does_not_cancel():
    data = random_data(7, depth=3)
    velocity = velocities(data)
    first = letters(data)[data.paths[0].edges[0]]
    assert not derivative(first @ first.T, velocity).is_zero
    assert not derivative(first @ first.T, velocity).traced().is_zero


def test_words_follow_the_rules_of_matrices():
    generator = np.random.default_rng(0)
    values = {name: generator.integers(-3, 4, (3, 3)) for name in "ABC"}
    a, b, c = (Words.letter(name) for name in "ABC")

    def number(words: Words) -> np.ndarray:
        total = np.zeros((3, 3), dtype=int)
        for word, factor in words.terms.items():
            product = np.eye(3, dtype=int)
            for name, turned in word:
                product = product @ (values[name].T if turned else values[name])
            total += factor * product
        return total

    whole = (a @ b.T - c.scale(2)) @ (b + a.T)
    A, B, C = (values[name] for name in "ABC")
    assert (number(whole) == (A @ B.T - 2 * C) @ (B + A.T)).all()
    assert (number(whole.T) == number(whole).T).all()
    assert ((a + b) @ c - a @ c - b @ c).is_zero
    assert not (a @ b - b @ a).is_zero
    assert (a @ b - b @ a).traced().is_zero
    assert (a @ b.T - b @ a.T).traced().is_zero
    moved = derivative(a @ b.T, {"A": b, "B": c})
    assert (moved - b @ b.T - a @ c.T).is_zero
    orthonormal = {(("A", True), ("A", False)): ()}
    assert (b @ a.T @ a @ c).under(orthonormal).terms == (b @ c).terms
    nested = {(("A", True), ("A", False)): (), (("B", True), ("B", False)): ()}
    assert (c @ b.T @ a.T @ a @ b @ c).under(nested).terms == (c @ c).terms
    assert edge_letter(3) == "W3"
