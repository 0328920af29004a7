"""A network as asked for by ``[[node]]`` and ``[[edge]]``, resolved against a dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symreln.errors import LimitReachedError, Problem, SpecError
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Gate, Node
from symreln.specs.entries import Asked, Written
from symreln.specs.finding import shown
from symreln.specs.pathways import Entries, read_entries
from symreln.specs.problems import Model, Problems
from symreln.specs.schema import MAX_PATHWAYS, EdgeModel, NodeModel

#: A node or an edge by its index.
_ENTRY = re.compile(r"(node|edge)\[(\d+)\]")


def read_graph(tables: Mapping[str, Any], asked: Asked, problems: Problems) -> Network | None:
    """Return the network of nodes and edges; None where it is wrong, which is a problem.

    Args:
        tables: The tables of the spec.
        asked: What gates and groups refer to.
        problems: Collects.
    """
    if "pathway" in tables:
        hint = "Remove [[pathway]]: the paths of the graph are the pathways."
        problems.add("pathway", "pathways beside a graph", "one of the two", hint)
    before = len(problems.found)
    nodes = _entries(tables.get("node"), NodeModel, "node", asked, problems)
    edges = _entries(tables.get("edge"), EdgeModel, "edge", asked, problems)
    if asked.dataset is None or len(problems.found) > before:
        return None
    hidden = _default_size(tables.get("network"))
    found_nodes = tuple(_node(path, model, hidden, problems) for path, model in nodes)
    found_edges = tuple(_edge(model) for _, model in edges)
    if len(problems.found) > before:
        return None
    try:
        network = Network(nodes=found_nodes, edges=found_edges)
        paths = network.paths(asked.dataset.samples)
    except SpecError as error:
        of_tables = (_of_tables(each, {"node": nodes, "edge": edges}) for each in error.problems)
        problems.found += dict.fromkeys(of_tables)
        return None
    except LimitReachedError as error:
        problems.add("edge", str(error), "fewer pathways")
        return None
    if not paths:
        found = "no path from an input to an output whose gates are open together"
        problems.add("edge", found, "at least one, on some sample")
    return network


def _of_tables(problem: Problem, asked: Mapping[str, Entries[Any]]) -> Problem:
    """Return a problem of a node or edge with the path of its table, which ``each`` may share."""

    def table(match: re.Match[str]) -> str:
        return asked[match[1]][int(match[2])][0]

    path, found = _ENTRY.sub(table, problem.path), _ENTRY.sub(table, problem.found)
    own, other = _ENTRY.search(path), _ENTRY.search(found)
    if own is None or other is None or other[0] != own[0]:
        return replace(problem, path=path, found=found)
    # One table stands for several nodes or edges, and gives all of them one name.
    each = next(model.each for place, model in asked[own[1]] if place == own[0])
    name = found.partition(", which ")[0]
    return replace(
        problem,
        path=path,
        found=f"{name} for every {each}",
        expected=f"{{{each}}} in it, for a name of its own each",
        hint=f'For example: name = "{own[1]}_{{{each}}}".',
    )


def _entries(
    value: object, kind: type[Model], name: str, asked: Asked, problems: Problems
) -> Entries[Model]:
    if not isinstance(value, list | tuple) or not value:
        problems.add(name, shown(value), f"tables [[{name}]]", "A graph has nodes and edges.")
        return []
    if len(value) > MAX_PATHWAYS:
        problems.add(name, f"{len(value)} tables", f"at most {MAX_PATHWAYS}")
        return []
    return read_entries(value, kind, name, asked, problems)


def _default_size(network: object) -> int | None:
    """Return network.hidden where it is a number; what is wrong with it is said elsewhere."""
    hidden = network.get("hidden") if isinstance(network, Mapping) else None
    return hidden if isinstance(hidden, int) and not isinstance(hidden, bool) else None


def _node(path: str, model: NodeModel, hidden: int | None, problems: Problems) -> Node:
    held: dict[str, Any] = {}
    for kind, value in (("inputs", model.inputs), ("outputs", model.outputs)):
        if value is not None:
            held |= {kind: value.values, f"{kind}_text": value.text}
    size = model.size or len(held.get("inputs") or held.get("outputs") or ()) or hidden
    if size is None and not held:
        expected = "the number of units"
        problems.add(f"{path}.size", "nothing", expected, "Or give network.hidden.")
    gate, text = _gate(model.gate), model.gate.text
    return Node(name=model.name, size=size or 1, gate=gate, gate_text=text, **held)


def _edge(model: EdgeModel) -> Edge:
    return Edge(
        name=model.name or f"{model.source} → {model.target}",
        source=model.source,
        target=model.target,
        gate=_gate(model.gate),
        gate_text=model.gate.text,
    )


def _gate(gate: Written) -> Gate | None:
    """Return a gate; None for "all", which asks nothing of the number of samples."""
    return None if gate.text == "all" else gate.values
