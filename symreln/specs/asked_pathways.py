"""Pathways as asked for, resolved against a dataset: gates to samples, groups to indices.

The tables of a network, ``[[pathway]]``, ``[[node]]`` and ``[[edge]]`` alike, may each stand for
several by ``each = "context"``, have a gate over the samples, and name inputs or outputs of the
dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from symreln.errors import LimitReachedError, Problem, SpecError
from symreln.networks.gdln import Network
from symreln.networks.parts import Edge, Gate, Node, Switch
from symreln.specs.entries import AskedEntry, Written
from symreln.specs.finding import nearest, need, quoted, shown
from symreln.specs.problems import Model, Problems
from symreln.specs.schema import MAX_PATHWAYS, EdgeModel, NodeModel, PathwayModel
from symreln.specs.spec import Label, PathwayFamily, PathwaySpec

Pathways = tuple[tuple[PathwaySpec, ...], tuple[PathwayFamily, ...]]
"""In the order given, members of a family in the order of its values; and the families."""

_Entries = list[tuple[str, Model]]
"""Key paths and what stands there; members of a family have one path."""

_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")


def read_pathways(value: object, asked: AskedEntry, problems: Problems) -> Pathways:
    """Return the pathways of a spec; what is wrong is added to ``problems``.

    Args:
        value: What stands under ``pathway``.
        asked: What gates and groups refer to.
        problems: Collects.
    """
    example = '[[pathway]] with name = "shared" and gate = "all"'
    if value is None or value in ([], ()):
        problems.add("pathway", "no pathway", f"at least one {example}")
        return (), ()
    if not isinstance(value, list | tuple):
        problems.add("pathway", shown(value), f"tables {example}", "Double the brackets.")
        return (), ()
    families: list[PathwayFamily] = []
    before = len(problems.found)
    entries = _read_entries(value, PathwayModel, "pathway", asked, problems, families)
    complete = len(problems.found) == before
    _check_names(entries, problems)
    if complete:
        _check_stages(entries, problems)
    _check_switch_steps(entries, problems)
    if asked.dataset is None:
        return (), ()
    return tuple(_pathway(model) for _, model in entries), tuple(families)


def _pathway(model: PathwayModel) -> PathwaySpec:
    later = [(switch.step, switch.gate) for switch in model.then]
    return PathwaySpec(
        name=model.name,
        gate=model.gate.values,
        gate_text=model.gate.text,
        inputs=model.inputs.values,
        inputs_text=model.inputs.text,
        outputs=model.outputs.values,
        outputs_text=model.outputs.text,
        stage=model.stage,
        hidden=model.hidden,
        boundary=model.gate.boundary,
        then=tuple(Switch(step=step, gate=g.values, gate_text=g.text) for step, g in later),
    )


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


def _check_switch_steps(entries: _Entries[PathwayModel], problems: Problems) -> None:
    for path, model in entries:
        for place, (before, after) in enumerate(pairwise(model.then), start=1):
            if after.step <= before.step:
                found = f"step {after.step} after step {before.step}"
                problems.add(f"{path}.then[{place}].step", found, "ascending steps")


def _read_entries(
    value: Sequence[object],
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
    tables: list[tuple[str, object]] = []
    for place, table in enumerate(value[: MAX_PATHWAYS + 1]):
        path = f"{name}[{place}]"
        each = table.get("each") if isinstance(table, Mapping) else None
        if asked.dataset is None or not isinstance(table, Mapping) or not isinstance(each, str):
            tables.append((path, table))
            continue
        with problems.at(f"{path}.each"):
            values = _label_values(each, asked.dataset.labels)
            if families is not None:
                table = _template(dict(table), each)
                members = tuple(range(len(tables), len(tables) + len(values)))
                families.append(_family(table, values, members))
            tables += [(path, _filled(table, f"{{{each}}}", value)) for value in values]
    count = max(len(value), len(tables))
    if count > MAX_PATHWAYS:
        problems.add(name, f"{count} {name}s", f"at most {MAX_PATHWAYS}")
        return []
    models = [(path, problems.check(kind, table, path, context=asked)) for path, table in tables]
    return [(path, model) for path, model in models if model is not None]


def _family(
    template: Mapping[str, Any], values: tuple[Label, ...], members: tuple[int, ...]
) -> PathwayFamily:
    texts = {key: str(template.get(key, "all")).strip() for key in ("gate", "inputs", "outputs")}
    stage, name = template.get("stage", 1), str(template.get("name"))
    label = template["each"]
    return PathwayFamily(
        label=label, values=values, members=members, name=name, stage=stage, **texts
    )


def _template(table: dict[str, Any], each: str) -> dict[str, Any]:
    """Return an entry for every value of a label, with the mark in its name and bare in its gate.

    Raises:
        Finding: Nothing depends on the value.
    """
    mark = f"{{{each}}}"
    depends = any(mark in str(table.get(key)) for key in ("gate", "inputs", "outputs"))
    expected, hint = f"{mark} in its gate, inputs or outputs", f'gate = "{each} != {mark}".'
    need(depends, f"an entry that is the same for every {each}", expected, f"For example: {hint}")
    name, gate = table.get("name"), table.get("gate")
    if isinstance(name, str) and mark not in name:
        table["name"] = f"{name}_{mark}"
    if isinstance(gate, str):
        table["gate"] = _bare(gate, mark)
    return table


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


def _bare(gate: str, mark: str) -> str:
    """Return a gate without the quotes around the mark: it stands for a value, quotes and all."""
    return "".join(
        mark if part[1:-1].strip() == mark and part[:1] in ("'", '"') else part
        for part in _QUOTED.split(gate)
    )


def _filled(value: Any, mark: str, label: Label, key: str = "") -> Any:
    """Put a label's value for its mark: in gates as a constant, elsewhere as characters."""
    if isinstance(value, Mapping):
        return {each: _filled(entry, mark, label, each) for each, entry in value.items()}
    if isinstance(value, list) and key == "then":
        return [_filled(entry, mark, label) for entry in value]
    if not isinstance(value, str):
        return value
    if key != "gate":
        return value.replace(mark, str(label))
    escaped = re.sub(r"""([\\"'])""", r"\\\1", str(label))
    constant = str(label) if isinstance(label, int) else f'"{escaped}"'
    return "".join(
        part.replace(mark, escaped if place % 2 else constant)
        for place, part in enumerate(_QUOTED.split(_bare(value, mark)))
    )


# -- nodes and edges ------------------------------------------------------------------------------

#: A node or an edge by its index.
_ENTRY = re.compile(r"(node|edge)\[(\d+)\]")


def read_graph(tables: Mapping[str, Any], asked: AskedEntry, problems: Problems) -> Network | None:
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


def _of_tables(problem: Problem, asked: Mapping[str, _Entries[Any]]) -> Problem:
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
    value: object, kind: type[Model], name: str, asked: AskedEntry, problems: Problems
) -> _Entries[Model]:
    if not isinstance(value, list | tuple) or not value:
        problems.add(name, shown(value), f"tables [[{name}]]", "A graph has nodes and edges.")
        return []
    if len(value) > MAX_PATHWAYS:
        problems.add(name, f"{len(value)} tables", f"at most {MAX_PATHWAYS}")
        return []
    return _read_entries(value, kind, name, asked, problems)


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
