"""A graph as asked for, ``[[node]]`` and ``[[edge]]``, resolved against a dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from symreln.errors import LimitReachedError, Problem, SpecError
from symreln.network.model import Network
from symreln.network.parts import Edge, Node
from symreln.spec.each import bare, entry_text, filled_gate, label_values
from symreln.spec.expression import Declared
from symreln.spec.finding import check_text, shown
from symreln.spec.gates import evaluate_gate
from symreln.spec.model import Dataset, Gain, Label, PathwayFamily, PathwaySpec
from symreln.spec.parameters import gate_over
from symreln.spec.pathways import NAME_LENGTH, resolved_indices
from symreln.spec.problems import Problems
from symreln.spec.schema import MAX_PATHWAYS, EdgeModel, NodeModel

Model = TypeVar("Model", NodeModel, EdgeModel)


#: A node or an edge by its index.
_ENTRY = re.compile(r"(node|edge)\[(\d+)\]")


class GraphTables(NamedTuple):
    """What a graph's tables say.

    Attributes:
        pathways: The gated paths of the graph.
        families: None of them is written with ``each`` itself.
        graph: The graph, or None where it is wrong.
    """

    pathways: tuple[PathwaySpec, ...] = ()
    families: tuple[PathwayFamily, ...] = ()
    graph: Network | None = None


def is_graph(tables: Mapping[str, Any]) -> bool:
    """Return whether a spec describes its network by a graph."""
    return "node" in tables or "edge" in tables


def read_graph(
    tables: Mapping[str, Any], dataset: Dataset | None, declared: Declared, problems: Problems
) -> GraphTables:
    """Return the graph of a spec and its pathways; what is wrong is added to ``problems``.

    Args:
        tables: The tables of the spec.
        dataset: What gates and groups refer to; None where it is wrong itself.
        declared: Names that gains may use.
        problems: Collects.
    """
    if "pathway" in tables:
        hint = "Remove [[pathway]]: the paths of the graph are the pathways."
        problems.add("pathway", "pathways beside a graph", "one of the two", hint)
    before = len(problems.found)
    nodes = _models(tables.get("node"), NodeModel, "node", problems)
    edges = _models(tables.get("edge"), EdgeModel, "edge", problems)
    if dataset is None or len(problems.found) > before:
        return GraphTables()
    hidden = _default_size(tables.get("network"))
    nodes = list(_expanded(nodes, dataset, "node", problems))
    edges = list(_expanded(edges, dataset, "edge", problems))
    found_nodes = tuple(
        _node(model, dataset, declared, hidden, f"node[{place}]", problems)
        for place, model in nodes
    )
    found_edges = tuple(
        _edge(model, dataset, declared, f"edge[{place}]", problems) for place, model in edges
    )
    if len(problems.found) > before:
        return GraphTables()
    try:
        graph = Network(nodes=found_nodes, edges=found_edges)
        paths = graph.paths(dataset.samples)
    except SpecError as error:
        asked = {"node": nodes, "edge": edges}
        problems.extend(dict.fromkeys(_of_tables(problem, asked) for problem in error.problems))
        return GraphTables()
    except LimitReachedError as error:
        problems.add("edge", str(error), "fewer pathways")
        return GraphTables()
    if not paths:
        found = "no path from an input to an output whose gates are open together"
        problems.add("edge", found, "at least one, on some sample")
    return GraphTables(
        pathways=tuple(PathwaySpec.along(graph, path) for path in paths), graph=graph
    )


def _of_tables(problem: Problem, asked: Mapping[str, Sequence[tuple[int, Any]]]) -> Problem:
    """Return a problem of a node or edge with the index of its table, which ``each`` may share."""

    def table(match: re.Match[str]) -> str:
        return f"{match[1]}[{asked[match[1]][int(match[2])][0]}]"

    path, found = _ENTRY.sub(table, problem.path), _ENTRY.sub(table, problem.found)
    own, other = _ENTRY.search(path), _ENTRY.search(found)
    if own is None or other is None or other[0] != own[0]:
        return replace(problem, path=path, found=found)
    # One table stands for several nodes or edges, and gives all of them one name.
    each = next(model.each for place, model in asked[own[1]] if str(place) == own[2])
    name = found.partition(", which ")[0]
    return replace(
        problem,
        path=path,
        found=f"{name} for every {each}",
        expected=f"{{{each}}} in it, for a name of its own each",
        hint=f'For example: name = "{own[1]}_{{{each}}}".',
    )


def restricted_graph(graph: Network, names: tuple[str, ...]) -> Network:
    """Return the graph with its gains over exactly these parameters, the ring of the data."""
    return replace(
        graph,
        nodes=tuple(replace(node, gate=_over(node.gate, names)) for node in graph.nodes),
        edges=tuple(replace(edge, gate=_over(edge.gate, names)) for edge in graph.edges),
    )


def _over(gate: tuple[Gain, ...] | None, names: tuple[str, ...]) -> tuple[Gain, ...] | None:
    return None if gate is None else gate_over(gate, names)


def _models(
    value: object, kind: type[Model], name: str, problems: Problems
) -> list[tuple[int, Model]]:
    if not isinstance(value, list | tuple) or not value:
        problems.add(name, shown(value), f"tables [[{name}]]", "A graph has nodes and edges.")
        return []
    if len(value) > MAX_PATHWAYS:
        problems.add(name, f"{len(value)} tables", f"at most {MAX_PATHWAYS}")
        return []
    found = []
    for place, table in enumerate(value):
        model = problems.check(kind, table, f"{name}[{place}]")
        if model is not None:
            found.append((place, model))
    return found


def _default_size(network: object) -> int | None:
    """Return network.hidden where it is a number; what is wrong with it is said elsewhere."""
    hidden = network.get("hidden") if isinstance(network, Mapping) else None
    return hidden if isinstance(hidden, int) and not isinstance(hidden, bool) else None


def _expanded(
    models: list[tuple[int, Model]], dataset: Dataset, name: str, problems: Problems
) -> Iterator[tuple[int, Model]]:
    """Yield one model a node or edge, ``each`` filled in, with the index of its table."""
    for place, model in models:
        if model.each is None:
            yield place, model
            continue
        with problems.at(f"{name}[{place}].each"):
            for value in label_values(model.each, dataset.labels):
                yield place, _filled(model, value)


def _filled(model: Model, value: Label) -> Model:
    """Put a label's value for its mark, in the gate as a constant, elsewhere as characters."""
    mark = f"{{{model.each}}}"
    texts = {
        key: text.replace(mark, str(value))
        for key in type(model).model_fields
        if key != "gate" and isinstance(text := getattr(model, key), str)
    }
    if isinstance(model.gate, str):
        texts["gate"] = filled_gate(bare(model.gate, mark), mark, value)
    return model.model_copy(update=texts)


def _node(
    model: NodeModel,
    dataset: Dataset,
    declared: Declared,
    hidden: int | None,
    path: str,
    problems: Problems,
) -> Node:
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    with problems.at(f"{path}.name"):
        check_text(model.name, longest=NAME_LENGTH)
    if model.inputs is not None:
        with problems.at(f"{path}.inputs"):
            inputs = resolved_indices(model.inputs, dataset.input_groups, dataset.n_x, "input")
    if model.outputs is not None:
        with problems.at(f"{path}.outputs"):
            outputs = resolved_indices(model.outputs, dataset.output_groups, dataset.n_y, "output")
    held = model.inputs is not None or model.outputs is not None
    size = model.size or len(inputs or outputs) or hidden
    if size is None and not held:
        what = "nothing"
        problems.add(f"{path}.size", what, "the number of units", "Or give network.hidden.")
    return Node(
        name=model.name,
        size=size or 1,
        gate=_gate(model.gate, dataset, declared, path, problems),
        gate_text=entry_text(model.gate),
        inputs=inputs,
        inputs_text="" if model.inputs is None else entry_text(model.inputs),
        outputs=outputs,
        outputs_text="" if model.outputs is None else entry_text(model.outputs),
    )


def _edge(
    model: EdgeModel, dataset: Dataset, declared: Declared, path: str, problems: Problems
) -> Edge:
    name = model.name or f"{model.source} → {model.target}"
    with problems.at(f"{path}.name"):
        check_text(name, longest=3 * NAME_LENGTH)
    return Edge(
        name=name,
        source=model.source,
        target=model.target,
        gate=_gate(model.gate, dataset, declared, path, problems),
        gate_text=entry_text(model.gate),
    )


def _gate(
    gate: object, dataset: Dataset, declared: Declared, path: str, problems: Problems
) -> tuple[Gain, ...] | None:
    """Return a gate; None for "all", which asks nothing of the number of samples."""
    if isinstance(gate, str) and gate.strip() == "all":
        return None
    found: Sequence[Gain] | None = None
    with problems.at(f"{path}.gate"):
        found = evaluate_gate(gate, dataset.labels, dataset.samples, declared)
    return None if found is None else tuple(found)
