"""Pathways as asked for, resolved against a dataset: gates to samples, groups to indices.

The tables of a network, ``[[pathway]]``, ``[[node]]`` and ``[[edge]]`` alike, may each stand for
several by ``each = "context"``, have a gate over the samples, and name inputs or outputs of the
dataset.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symreln.errors import LimitReachedError, SpecError
from symreln.networks.dataset import Label
from symreln.networks.gdln import Network
from symreln.networks.parts import Edge, Node, Switch
from symreln.specs.finding import nearest, need, quoted, shown
from symreln.specs.kinds import AskedEntry, StrictModel, Written
from symreln.specs.problems import Model, Problems
from symreln.specs.schema import MAX_PATHWAYS, EdgeModel, NetworkModel, NodeModel, PathwayModel
from symreln.specs.spec import PathwayFamily, PathwaySpec

_Entries = list[tuple[str, Model]]
"""Key paths and what stands there; members of a family have one path."""


def read_paths(
    tables: Mapping[str, Any], asked: AskedEntry, network: NetworkModel | None, problems: Problems
) -> tuple[tuple[PathwaySpec, ...], tuple[PathwayFamily, ...], Network | None]:
    """Return pathways and their families, or the paths of a graph and it.

    Args:
        tables: The tables of a spec.
        asked: What gates and groups refer to.
        network: The table [network], None where there is none or it is wrong.
        problems: Takes what is wrong.
    """
    if "node" in tables or "edge" in tables:
        # Where [network] is wrong, that is what is said.
        hidden = network.hidden if network else 1 if "network" in tables else None
        graph = _graph(tables, asked, hidden, problems)
        if graph is None or asked.dataset is None:
            return (), (), None
        paths = graph.paths(asked.dataset.samples)
        return tuple(PathwaySpec.along(graph, path) for path in paths), (), graph
    families: list[PathwayFamily] = []
    before = len(problems.found)
    entries = _entries(tables.get("pathway"), PathwayModel, "pathway", asked, problems, families)
    complete = len(problems.found) == before
    _check_names(entries, problems)
    if complete:
        _check_stages(entries, problems)
    if asked.dataset is None:
        return (), (), None
    return tuple(_pathway(model) for _, model in entries), tuple(families), None


def _pathway(model: PathwayModel) -> PathwaySpec:
    given = _given(model)
    given["then"] = tuple(Switch(**_given(each)) for each in model.then)
    return PathwaySpec(**given)


def _given(model: StrictModel) -> dict[str, Any]:
    """Return what an entry says: of gates, inputs and outputs the values and their text."""
    found: dict[str, Any] = {}
    for key, value in model:
        if isinstance(value, Written):
            found |= {key: value.values, f"{key}_text": value.text}
            found |= {"boundary": value.boundary} if value.boundary else {}
        elif key != "each":
            found[key] = value
    return found


def _check_names(entries: _Entries[PathwayModel], problems: Problems) -> None:
    first: dict[str, str] = {}
    for path, model in entries:
        if model.name in first:
            found = f"the name {quoted(model.name)}, which {first[model.name]} has"
            problems.add(f"{path}.name", found, "a name of its own")
        first.setdefault(model.name, path)


def _check_stages(entries: _Entries[PathwayModel], problems: Problems) -> None:
    stages = {0, *(model.stage for _, model in entries)}
    for path, stage in dict.fromkeys((path, model.stage) for path, model in entries):
        if stage - 1 not in stages:
            found = f"stage {stage} where no pathway has stage {stage - 1}"
            problems.add(f"{path}.stage", found, "stages 1, 2, … without a gap")


def _entries(
    value: object,
    kind: type[Model],
    name: str,
    asked: AskedEntry,
    problems: Problems,
    families: list[PathwayFamily] | None = None,
) -> _Entries[Model]:
    """Return the tables that are well formed; the others are problems.

    Args:
        value: The tables as read; one with ``each`` stands for one for every value of a label.
        kind: What they must look like.
        name: What they are called.
        asked: What they refer to.
        problems: Collects.
        families: Takes those of pathways, with the indices of their members.
    """
    if not isinstance(value, list | tuple) or not value:
        what = f"[[{name}]]" + ' with name = "shared" and gate = "all"' * (name == "pathway")
        hint = "" if name == "pathway" else "A graph has nodes and edges."
        hint = "Double the brackets." if isinstance(value, Mapping) else hint
        problems.add(name, shown(value), f"at least one {what}", hint)
        return []
    tables: list[tuple[str, object]] = []
    for place, table in enumerate(value[: MAX_PATHWAYS + 1]):
        path = f"{name}[{place}]"
        each = table.get("each") if isinstance(table, Mapping) else None
        if asked.dataset is None or not isinstance(table, Mapping) or not isinstance(each, str):
            tables.append((path, table))
            continue
        with problems.at(f"{path}.each"):
            values = _label_values(each, asked.dataset.labels)
            table = _template(table, each)
            if families is not None:
                members = tuple(range(len(tables), len(tables) + len(values)))
                families.append(_family(table, f"{{{each}}}", members))
            tables += [
                (path, _filled(table, each, json.dumps(v, ensure_ascii=False), str(v)))
                for v in values
            ]
    count = max(len(value), len(tables))
    if count > MAX_PATHWAYS:
        problems.add(name, f"{count} {name}s", f"at most {MAX_PATHWAYS}")
        return []
    models = [(path, problems.check(kind, table, path, context=asked)) for path, table in tables]
    return [(path, model) for path, model in models if model is not None]


def _label_values(each: str, labels: Mapping[str, tuple[Label, ...]]) -> tuple[Label, ...]:
    """Return the different values of the label that ``each`` names, in their order.

    Raises:
        Finding: There is no such label, or it has too many values.
    """
    hint = nearest(each, labels) or "Add labels: [dataset.labels]."
    expected = f"a label of the dataset ({', '.join(labels) or 'it has none'})"
    need(each in labels, f"the unknown label {quoted(each)}", expected, hint)
    values = tuple(dict.fromkeys(labels[each]))
    few, most = len(values) <= MAX_PATHWAYS, f"at most {MAX_PATHWAYS}"
    need(few, f"a label of {len(values)} values", most)
    return values


def _template(table: Mapping[str, Any], each: str) -> dict[str, Any]:
    """Return an entry for every value of a label, with the mark in its name and bare in its gate.

    The mark stands for a value, quotes and all.
    """
    mark, name, gate = f"{{{each}}}", table.get("name"), table.get("gate")
    if "from" in table:
        name = name or f"{table['from']} → {table.get('to')}"
    named = {"name": f"{name}_{mark}"} if isinstance(name, str) and mark not in name else {}
    return {**table, **named} | ({"gate": _filled(gate, each, mark, mark, "gate")} if gate else {})


def _family(table: Mapping[str, Any], mark: str, members: tuple[int, ...]) -> PathwayFamily:
    """Return the pathways that one entry stands for.

    Raises:
        Finding: Nothing depends on the value.
    """
    texts = {key: str(table.get(key, "all")).strip() for key in ("gate", "inputs", "outputs")}
    each, depends = table["each"], any(mark in text for text in texts.values())
    expected, hint = f"{mark} in its gate, inputs or outputs", f'gate = "{each} != {mark}".'
    need(depends, f"an entry that is the same for every {each}", expected, f"For example: {hint}")
    return PathwayFamily(members=members, name=str(table.get("name")), **texts)


def _filled(value: Any, each: str, constant: str, characters: str, key: str = "") -> Any:
    """Put a label's value for its mark: in gates as a constant, elsewhere as characters."""
    if isinstance(value, Mapping):
        return {k: _filled(entry, each, constant, characters, k) for k, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, each, constant, characters, key) for entry in value]
    if not isinstance(value, str):
        return value
    if key != "gate":
        return value.replace(f"{{{each}}}", characters)
    mark = re.escape(f"{{{each}}}")
    return re.sub(rf"""(["'])\s*{mark}\s*\1|{mark}""", lambda _: constant, value)


# -- nodes and edges ------------------------------------------------------------------------------

#: A node or an edge by its index.
_ENTRY = re.compile(r"(node|edge)\[(\d+)\]")


def _graph(
    tables: Mapping[str, Any], asked: AskedEntry, hidden: int | None, problems: Problems
) -> Network | None:
    """Return the network of nodes and edges; None where it is wrong, which is a problem."""
    if "pathway" in tables:
        hint = "Remove [[pathway]]: the paths of the graph are the pathways."
        problems.add("pathway", "pathways beside a graph", "one of the two", hint)
    before = len(problems.found)
    nodes = _entries(tables.get("node"), NodeModel, "node", asked, problems)
    edges = _entries(tables.get("edge"), EdgeModel, "edge", asked, problems)
    if asked.dataset is None or len(problems.found) > before:
        return None
    found_nodes = tuple(_node(path, model, hidden, problems) for path, model in nodes)
    found_edges = tuple(_edge(model) for _, model in edges)
    if len(problems.found) > before:
        return None
    try:
        network = Network(nodes=found_nodes, edges=found_edges)
        paths = network.paths(asked.dataset.samples)
    except SpecError as error:
        of_tables = {"node": nodes, "edge": edges}

        def placed(text: str) -> str:
            return _ENTRY.sub(lambda match: of_tables[match[1]][int(match[2])][0], text)

        problems.found += dict.fromkeys(
            replace(each, path=placed(each.path), found=placed(each.found))
            for each in error.problems
        )
        return None
    except LimitReachedError as error:
        problems.add("edge", str(error), "fewer pathways")
        return None
    if not paths:
        found = "no path from an input to an output whose gates are open together"
        problems.add("edge", found, "at least one, on some sample")
    return network


def _node(path: str, model: NodeModel, hidden: int | None, problems: Problems) -> Node:
    given = {key: value for key, value in _gated(model).items() if value is not None}
    held = given.get("inputs") or given.get("outputs")
    size = model.size or len(held or ()) or hidden
    if size is None:
        problems.add(f"{path}.size", "nothing", "the number of units", "Or give network.hidden.")
    given["size"] = size or 1
    return Node(**given)


def _edge(model: EdgeModel) -> Edge:
    given = _gated(model)
    given["name"] = model.name or f"{model.source} → {model.target}"
    return Edge(**given)


def _gated(model: NodeModel | EdgeModel) -> dict[str, Any]:
    """Return what an entry says; no gate for "all", which asks nothing of the number of samples."""
    return _given(model) | ({"gate": None} if model.gate.text == "all" else {})
