"""A network as asked for by ``[[node]]`` and ``[[edge]]``, resolved against a dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from symreln.errors import LimitReachedError, Problem, SpecError
from symreln.networks.model import Network
from symreln.networks.parts import Edge, Gate, Node
from symreln.specs.finding import check_text, shown
from symreln.specs.pathways import (
    NAME_LENGTH,
    Asked,
    Entry,
    Model,
    entry_text,
    members,
    read_entries,
)
from symreln.specs.problems import Problems
from symreln.specs.schema import MAX_PATHWAYS, EdgeModel, NodeModel

#: A node or an edge by its index.
_ENTRY = re.compile(r"(node|edge)\[(\d+)\]")


def read_graph(
    tables: Mapping[str, Any], asked: Asked | None, problems: Problems
) -> Network | None:
    """Return the network of nodes and edges; None where it is wrong, which is a problem.

    Args:
        tables: The tables of the spec.
        asked: What gates and groups refer to; None where the dataset is wrong itself.
        problems: Collects.
    """
    if "pathway" in tables:
        hint = "Remove [[pathway]]: the paths of the graph are the pathways."
        problems.add("pathway", "pathways beside a graph", "one of the two", hint)
    before = len(problems.found)
    nodes = _entries(tables.get("node"), NodeModel, "node", problems)
    edges = _entries(tables.get("edge"), EdgeModel, "edge", problems)
    if asked is None or len(problems.found) > before:
        return None
    nodes, edges = _expanded(nodes, asked), _expanded(edges, asked)
    hidden = _default_size(tables.get("network"))
    found_nodes = tuple(_node(entry, asked, hidden) for entry in nodes)
    found_edges = tuple(_edge(entry, asked) for entry in edges)
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


def _of_tables(problem: Problem, asked: Mapping[str, Sequence[Entry[Any]]]) -> Problem:
    """Return a problem of a node or edge with the path of its table, which ``each`` may share."""

    def table(match: re.Match[str]) -> str:
        return asked[match[1]][int(match[2])].path

    path, found = _ENTRY.sub(table, problem.path), _ENTRY.sub(table, problem.found)
    own, other = _ENTRY.search(path), _ENTRY.search(found)
    if own is None or other is None or other[0] != own[0]:
        return replace(problem, path=path, found=found)
    # One table stands for several nodes or edges, and gives all of them one name.
    each = next(entry.model.each for entry in asked[own[1]] if entry.path == own[0])
    name = found.partition(", which ")[0]
    return replace(
        problem,
        path=path,
        found=f"{name} for every {each}",
        expected=f"{{{each}}} in it, for a name of its own each",
        hint=f'For example: name = "{own[1]}_{{{each}}}".',
    )


def _entries(value: object, kind: type[Model], name: str, problems: Problems) -> list[Entry[Model]]:
    if not isinstance(value, list | tuple) or not value:
        problems.add(name, shown(value), f"tables [[{name}]]", "A graph has nodes and edges.")
        return []
    if len(value) > MAX_PATHWAYS:
        problems.add(name, f"{len(value)} tables", f"at most {MAX_PATHWAYS}")
        return []
    return read_entries(value, kind, name, problems)


def _expanded(entries: list[Entry[Model]], asked: Asked) -> list[Entry[Model]]:
    """Return one entry a node or edge."""
    found: list[Entry[Model]] = []
    for entry in entries:
        with asked.problems.at(f"{entry.path}.each"):
            found += members(entry, asked.dataset.labels)
    return found


def _default_size(network: object) -> int | None:
    """Return network.hidden where it is a number; what is wrong with it is said elsewhere."""
    hidden = network.get("hidden") if isinstance(network, Mapping) else None
    return hidden if isinstance(hidden, int) and not isinstance(hidden, bool) else None


def _node(entry: Entry[NodeModel], asked: Asked, hidden: int | None) -> Node:
    path, model = entry.path, entry.model
    with asked.problems.at(f"{path}.name"):
        check_text(model.name, longest=NAME_LENGTH)
    held: dict[str, Any] = {}
    for kind in ("inputs", "outputs"):
        value = getattr(model, kind)
        if value is not None:
            held[kind] = asked.indices(value, kind, path)
            held[f"{kind}_text"] = entry_text(value)
    size = model.size or len(held.get("inputs") or held.get("outputs") or ()) or hidden
    if size is None and not held:
        expected = "the number of units"
        asked.problems.add(f"{path}.size", "nothing", expected, "Or give network.hidden.")
    return Node(
        name=model.name,
        size=size or 1,
        gate=_gate(entry, asked),
        gate_text=entry_text(model.gate),
        **held,
    )


def _edge(entry: Entry[EdgeModel], asked: Asked) -> Edge:
    model = entry.model
    name = model.name or f"{model.source} → {model.target}"
    with asked.problems.at(f"{entry.path}.name"):
        check_text(name, longest=3 * NAME_LENGTH)
    return Edge(
        name=name,
        source=model.source,
        target=model.target,
        gate=_gate(entry, asked),
        gate_text=entry_text(model.gate),
    )


def _gate(entry: Entry[Any], asked: Asked) -> Gate | None:
    """Return a gate; None for "all", which asks nothing of the number of samples."""
    gate = entry.model.gate
    if isinstance(gate, str) and gate.strip() == "all":
        return None
    with asked.problems.at(f"{entry.path}.gate"):
        return asked.gate(gate)
    return None
