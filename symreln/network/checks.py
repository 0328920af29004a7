"""What nodes and edges must be to make a network."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from symreln.errors import Problem
from symreln.network.parts import Edge, Node


def in_order(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[str]:
    """Return the names of the nodes, each after all that it reads; those on cycles are left out."""
    waiting = Counter(edge.target for edge in edges)
    targets = defaultdict(list)
    for edge in edges:
        targets[edge.source].append(edge.target)
    ready = [node.name for node in nodes if not waiting[node.name]]
    for name in ready:  # grows while it is read
        for target in targets[name]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return ready


def problems_of(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Problem]:
    """Return all that keeps nodes and edges from being a network, with the index of each."""
    found = [*_names("node", nodes), *_names("edge", edges), *_nodes(nodes, edges)]
    found += _ends(nodes, edges)
    # Names and ends first: what follows needs them.
    return found or [*_cycles(nodes, edges), *_idle(nodes, edges)]


def _problem(path: str, found: str, expected: str, hint: str = "") -> Problem:
    return Problem(path=path, found=found, expected=expected, hint=hint)


def _names(kind: str, items: Sequence[Node] | Sequence[Edge]) -> Iterator[Problem]:
    if not items:
        yield _problem(kind, f"no {kind}", f"at least one [[{kind}]]")
    first: dict[str, int] = {}
    for place, item in enumerate(items):
        earlier = first.setdefault(item.name, place)
        if earlier != place:
            found = f'the name "{item.name}", which {kind}[{earlier}] has'
            yield _problem(f"{kind}[{place}].name", found, "a name of its own")


def _nodes(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    for place, node in enumerate(nodes):
        path, held = f"node[{place}]", node.inputs or node.outputs
        if node.inputs and node.outputs:
            hint = "An edge from an input node to an output node is a path, too."
            found = f'node "{node.name}" with inputs and outputs'
            yield _problem(path, found, "inputs, or outputs, or neither", hint)
        if held and node.size != len(held):
            expected = f"its number of {node.kind}s, {len(held)}"
            yield _problem(f"{path}.size", str(node.size), expected)
        if node.size < 1:
            yield _problem(f"{path}.size", str(node.size), "at least one unit")
    lengths = {len(item.gate) for item in (*nodes, *edges) if item.gate}
    if len(lengths) > 1:
        found = f"gates for {' and for '.join(map(str, sorted(lengths)))} samples"
        yield _problem("node", found, "one entry for every sample")


def _ends(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    known = {node.name: node for node in nodes}
    for place, edge in enumerate(edges):
        for key, end in (("from", edge.source), ("to", edge.target)):
            if end not in known:
                hint = f"Known: {', '.join(list(known)[:12])}."
                yield _problem(
                    f"edge[{place}].{key}", f'the unknown node "{end}"', "the name of a node", hint
                )
        if edge.source in known and known[edge.source].outputs:
            found = f'the output node "{edge.source}"'
            yield _problem(f"edge[{place}].from", found, "an input or hidden node")
        if edge.target in known and known[edge.target].inputs:
            found = f'the input node "{edge.target}"'
            yield _problem(f"edge[{place}].to", found, "a hidden or output node")


def _cycles(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    left = {node.name: None for node in nodes}
    for name in in_order(nodes, edges):
        del left[name]
    if left:
        trail = [next(iter(left))]
        while trail[-1] not in trail[:-1]:
            # Every node that is left reads one that is left.
            trail.append(
                next(e.source for e in edges if e.target == trail[-1] and e.source in left)
            )
        cycle = trail[trail.index(trail[-1]) :][::-1]
        expected = "edges that lead from inputs to outputs without return"
        yield _problem(
            "edge", f"the cycle {' → '.join(cycle)}", expected, "Remove one of its edges."
        )


def _idle(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Problem]:
    read, written = {edge.source for edge in edges}, {edge.target for edge in edges}
    for place, node in enumerate(nodes):
        missing = ["into"] * (not node.inputs and node.name not in written)
        missing += ["out of"] * (not node.outputs and node.name not in read)
        if missing:
            found = f'the {node.kind} node "{node.name}" with no edge {" or ".join(missing)} it'
            hint = "Or give it inputs or outputs." if node.kind == "hidden" else ""
            yield _problem(f"node[{place}]", found, "a node between an input and an output", hint)
