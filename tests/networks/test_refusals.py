"""What has no modes of its own is refused with the reason, or kept as matrices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

import symreln as sr
from symreln.claims.network.in_numbers import Curves
from symreln.exact.matrix import ExactMatrix
from symreln.exact.truth import Truth
from symreln.networks.bundles import NetworkData
from symreln.report import html, latex
from symreln.specs.model import NetworkSpec
from symreln.task_library.load import load
from symreln.verdict.judge import Level

NETWORK = NetworkSpec(
    hidden=4, init_std=Fraction(2, 5), learning_rate=Fraction(1, 10), loss="mean", steps=90
)

Rows = list[list[int]]


def chain(x: Rows, y: Rows, depth: int = 3, *, beside: bool = False) -> sr.NetworkDerivation:
    """A chain of hidden nodes; ``beside`` puts a second, shorter path with a gate next to it."""
    names = ["x", *(f"h{n}" for n in range(1, depth)), "y"]
    hidden = [{"name": name, "size": 4} for name in names[1:-1]]
    edges = [{"from": a, "to": b} for a, b in pairwise(names)]
    if beside:
        half = [int(k < len(x[0]) // 2) for k in range(len(x[0]))]
        hidden.append({"name": "k", "size": 4, "gate": half})
        edges += [{"from": "x", "to": "k"}, {"from": "k", "to": "y"}]
    tables = {
        "dataset": {"X": x, "Y": y},
        "node": [{"name": "x", "inputs": "all"}, *hidden, {"name": "y", "outputs": "all"}],
        "edge": edges,
    }
    return sr.derive(replace(load(tables), network=NETWORK))


WHITE: Rows = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
MIXED: Rows = [[3, 1, 0], [1, 2, 0], [0, 0, 1]]


def check_curves(found: sr.NetworkDerivation) -> Curves:
    curves = found.curves
    assert isinstance(curves, Curves)
    assert curves.difference is not None
    assert curves.difference < 1e-10
    return curves


def test_coloured_inputs_that_commute_have_modes_with_their_own_heights() -> None:
    found = chain([[1, 0, 0], [0, 2, 0], [0, 0, 3]], [[4, 0, 0], [0, 3, 0], [0, 0, 2]])
    assert found.level is Level.CLOSED
    modes = found.components[0].spectra[0].modes
    pairs = {(m.s.to_float(), m.d.to_float()) for m in modes}
    assert pairs == {(4 / 3, 1 / 3), (2.0, 4 / 3), (2.0, 3.0)}
    curves = check_curves(found)
    assert sorted(curves.strengths[0].plateaus) == pytest.approx([2 / 3, 3 / 2, 4])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_coloured_inputs_that_do_not_commute_are_kept_as_matrices(depth: int) -> None:
    found = chain([[1, 1, 0], [0, 1, 0], [0, 0, 1]], MIXED, depth)
    (component,) = found.components
    assert found.level is Level.COUPLED_MATRICES
    assert component.form is None
    assert component.decision.outcome is Truth.REFUTED
    assert "does not commute" in component.why
    assert isinstance(found.curves, str)
    assert "does not commute" in found.curves
    page = html.render(found.to_document())
    assert "the matrices are kept whole" in page
    assert "No strengths are drawn" in page
    assert found.routing is None
    assert "Routing" not in page


def test_correlations_that_differ_between_coupled_pathways_are_refuted_with_a_product() -> None:
    x = [row * 2 for row in WHITE]
    y = [a + b for a, b in zip(MIXED, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], strict=True)]
    found = chain(x, y, beside=True)
    (component,) = found.components
    assert component.reason == "its pathways have different numbers of edges"
    assert found.level is Level.COUPLED_MATRICES
    assert "is not symmetric" in component.why


def test_null_modes_are_listed_and_stay_at_nothing() -> None:
    found = chain(WHITE, [[2, 0, 0], [0, 1, 0], [0, 0, 0]])
    modes = found.components[0].spectra[0].modes
    assert [m.is_null for m in modes] == [False, False, True]
    curves = check_curves(found)
    assert curves.strengths[0].values.shape[0] == 2
    assert "Null modes ($s = 0$): 1." in latex.render(found.to_document())


def test_null_modes_of_coupled_pathways_stay_at_nothing() -> None:
    found = chain(
        [row * 2 for row in WHITE], [[2, 0, 0] * 2, [0, 1, 0] * 2, [0, 0, 0] * 2], beside=True
    )
    assert found.level is Level.COUPLED_MODES
    curves = check_curves(found)
    assert [len(item.values) for item in curves.strengths] == [2, 2]


def test_inputs_of_lower_rank_than_their_number() -> None:
    """One input is the sum of two others: a direction with s = 0 and d = 0."""
    found = chain([[1, 0], [0, 1], [1, 1]], [[1, 1], [1, 1]])
    assert found.level is Level.CLOSED
    modes = found.components[0].spectra[0].modes
    assert sum(m.multiplicity for m in modes) == 3
    assert any(m.is_null and m.d.is_zero for m in modes)
    curves = check_curves(found)
    assert len(curves.strengths[0].values) == 1


def test_targets_that_vanish_teach_nothing() -> None:
    found = chain(WHITE, [[0, 0, 0]])
    assert found.level is Level.CLOSED
    curves = check_curves(found)
    assert curves.strengths == ()
    assert curves.loss == pytest.approx(0, abs=1e-15)
    assert "learns nothing" in html.render(found.to_document())


def test_inputs_that_vanish_on_a_path_leave_it_alone() -> None:
    x = [[1, 0, 0, 0], [0, 1, 0, 0]]
    tables = {
        "dataset": {"X": x, "Y": [[1, 0, 5, 5], [0, 2, 0, 0]]},
        "node": [
            {"name": "x", "inputs": "all"},
            {"name": "h", "size": 3, "gate": [1, 1, 0, 0]},
            {"name": "k", "size": 3, "gate": [0, 0, 1, 1]},
            {"name": "y", "outputs": "all"},
        ],
        "edge": [
            {"from": "x", "to": "h"},
            {"from": "h", "to": "y"},
            {"from": "x", "to": "k"},
            {"from": "k", "to": "y"},
        ],
    }
    found = sr.derive(replace(load(tables), network=NETWORK))
    assert [c.level for c in found.components] == [Level.CLOSED, Level.CLOSED]
    assert [len(item.values) for item in check_curves(found).strengths] == [2]


def test_hidden_nodes_with_fewer_units_than_modes_have_no_curves() -> None:
    found = chain(WHITE, [[3, 0, 0], [0, 2, 0], [0, 0, 1]])
    graph = found.graph
    nodes = tuple(replace(n, size=2) if n.name == "h1" else n for n in graph.nodes)
    spec = replace(found.spec, graph=replace(graph, nodes=nodes))
    narrow = sr.derive(spec)
    assert narrow.level is Level.CLOSED
    assert narrow.curves == (
        "node 'h1' has 2 units for 3 modes, and which of them it learns is not derived; "
        "give it at least 3 (size, or network.hidden)"
    )


def test_without_numbers_the_reason_is_given() -> None:
    bare = sr.derive(replace(chain(WHITE, MIXED).spec, network=None))
    assert bare.curves == "the spec has no [network], which says where the weights start"
    tables = {
        "dataset": {"X": [["c"]], "Y": [["1"]]},
        "parameters": {"c": {"positive": True}},
        "node": [{"name": "x", "inputs": "all"}, {"name": "y", "outputs": "all"}],
        "edge": [{"from": "x", "to": "y"}],
    }
    found = sr.derive(replace(load(tables), network=NETWORK))
    assert found.curves == "no value is declared for c"


def test_a_pathway_of_zero_correlations_is_no_special_case() -> None:
    data = chain(WHITE, [[0, 0, 0]]).data
    assert isinstance(data, NetworkData)
    assert data.sigma_yx[0] == ExactMatrix.zeros(1, 3)
