"""[[pathway]] is shorthand for two edges through a node of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from symreln.specs.spec import Spec
from symreln.task_library.load import load
from symreln.task_library.registry import SPECS

DATASET = {"task": "contextual", "contexts": 3, "context_scale": "c"}
TABLES: dict[str, Any] = {
    "dataset": DATASET,
    "parameters": {"c": {"value": 2}, "g": {"value": "1/2"}},
    "network": {"hidden": 30, "init_std": "1/100", "learning_rate": "1/1000", "steps": 9},
}
PATHWAYS = [
    {"name": "common"},
    {"name": "gained", "gate": ["g"] * 8 + [1] * 16, "outputs": "common", "hidden": 7},
    {"name": "off", "each": "context", "gate": "context != {context}", "inputs": "items"},
]
NODES = [
    {"name": "x: all", "inputs": "all"},
    {"name": "x: items", "inputs": "items"},
    {"name": "common"},
    {"name": "gained", "gate": PATHWAYS[1]["gate"], "size": 7},
    {"name": "off_{context}", "each": "context", "gate": "context != {context}"},
    {"name": "y: all", "outputs": "all"},
    {"name": "y: common", "outputs": "common"},
]
EDGES = [
    {"from": "x: all", "to": "common"},
    {"from": "common", "to": "y: all"},
    {"from": "x: all", "to": "gained"},
    {"from": "gained", "to": "y: common"},
    *(
        {"from": source, "to": target}
        for k in (1, 2, 3)
        for source, target in (("x: items", f"off_{k}"), (f"off_{k}", "y: all"))
    ),
]


def test_pathways_and_the_nodes_and_edges_they_stand_for_are_one_network():
    asked = load({**TABLES, "pathway": PATHWAYS})
    drawn = load({**TABLES, "node": NODES, "edge": EDGES})
    assert asked.graph is None
    assert drawn.graph is drawn.network_graph
    assert asked.network_graph == drawn.network_graph
    assert asked.at_values().network_graph == drawn.at_values().network_graph
    halved = asked.at_values().network_graph.node("gained").gate
    assert halved is not None
    assert halved[0] == Fraction(1, 2)


def applied(spec: Spec) -> list[tuple]:
    """Return what the pathways of a spec apply to the data, and what they are trained with."""
    found = [(p.name, p.gate, p.inputs, p.outputs, p.stage, p.then) for p in spec.pathways]
    return sorted(found, key=str)


def along_paths(spec: Spec) -> list[tuple]:
    """Return the same, read off the paths of the network; a path's name is its own node's."""
    network, found = spec.network_graph, []
    for path in network.paths(spec.dataset.samples):
        source, own, target = (network.node(name) for name in path.nodes)
        found.append((own.name, path.gate, source.inputs, target.outputs, own.stage, own.then))
    return sorted(found, key=str)


@pytest.mark.parametrize("name", [name for name in SPECS if name not in ("depth", "routing")])
def test_the_paths_of_a_ready_made_spec_are_its_pathways(name: str):
    spec = load(name)
    assert along_paths(spec) == applied(spec)
