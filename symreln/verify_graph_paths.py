"""What the graph verifier reads: nodes, edges, gated paths, data; the standard library alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify_graph_spaces import Maps
    from symreln.verify_matrices import Sparse, combined
    from symreln.verify_numbers import Ratio, integers, require, take
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    from verify_graph_spaces import Maps  # type: ignore[no-redef]
    from verify_matrices import Sparse, combined  # type: ignore[no-redef]
    from verify_numbers import Ratio, integers, require, take  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]

MOST_PATHS = 1000
MOST_STEPS = 100_000

Bundle = SimpleNamespace  # source, target, gate, inputs, outputs, features, yx, x


def read_graph(data: Data, nodes: Any, edges: Any) -> SimpleNamespace:
    """Read nodes and edges; whether the graph has cycles shows where its paths are followed."""
    require(isinstance(nodes, list) and nodes, "nodes", "a list of nodes")
    require(isinstance(edges, list) and edges, "edges", "a list of edges")
    found = [_node(data, item, f"nodes[{n}]") for n, item in enumerate(nodes)]
    known = {node.name: node for node in found}
    require(len(known) == len(found), "nodes", "of unlike names")
    hidden = {n.name: ([], []) for n in found if not n.inputs and not n.outputs}
    lines = []
    for n, item in enumerate(edges):
        where = f"edges[{n}]"
        e = take(item, where, "name from to gate")
        ends = vars(e)["from"], e.to
        good = all(type(end) is str and end in known for end in ends) and type(e.name) is str
        good = good and not known[ends[0]].outputs and not known[ends[1]].inputs
        require(good, where, "an edge from an input or hidden node to a hidden or output node")
        gate = _gate(data, e.gate, f"{where}.gate")
        lines.append(SimpleNamespace(name=e.name, source=ends[0], target=ends[1], gate=gate))
        for end, side in ((ends[1], 0), (ends[0], 1)):
            if end in hidden:
                hidden[end][side].append(n)
    require(len({e.name for e in lines}) == len(lines), "edges", "of unlike names")
    return SimpleNamespace(nodes=found, edges=lines, known=known, hidden=hidden)


def _node(data: Data, item: Any, path: str) -> SimpleNamespace:
    v = take(item, path, "name size gate inputs outputs")
    require(type(v.name) is str, f"{path}.name", "a text")
    for indices, where, most in (
        (v.inputs, "inputs", data.x.shape[0]),
        (v.outputs, "outputs", data.y.shape[0]),
    ):
        good = sorted(set(integers(indices, f"{path}.{where}", most - 1))) == indices
        require(good, f"{path}.{where}", "ascending indices")
    (size,) = integers([v.size], f"{path}.size", 10**9)
    held = v.inputs or v.outputs
    good = size > 0 and not (v.inputs and v.outputs) and (not held or size == len(held))
    require(good, f"{path}.size", "its inputs, its outputs, or units of a hidden node")
    v.gate = _gate(data, v.gate, f"{path}.gate")
    return v


def _gate(data: Data, value: Any, path: str) -> list[Ratio] | None:
    """Read a gate: null, or 0, 1 and gains."""
    if value is None:
        return None
    good = isinstance(value, list) and len(value) == data.x.shape[1]
    require(good, path, f"{data.x.shape[1]} gates")
    return read_gains(data, value, path)


def read_gains(data: Data, value: list[Any], path: str) -> list[Ratio]:
    """Read 0, 1 and gains, which are texts."""
    good = all(type(g) is str or (type(g) is int and g in (0, 1)) for g in value)
    require(good, path, "0, 1 and texts")
    one = data.constant(1)
    gains = {g: data.ratio(g, path) for g in set(value) if type(g) is str}
    require(all(g and g != one for g in gains.values()), path, "1 and 0 as integers")
    return [gains[g] if type(g) is str else data.constant(g) for g in value]


def read_paths(data: Data, graph: SimpleNamespace, value: Any) -> list[SimpleNamespace]:
    """Find every path whose gates are open together somewhere, and compare with what is listed.

    In the order of the input nodes, then of the edges at every node. Paths that see the same data
    are in one bundle; bundles are numbered by their first paths.
    """
    found = _followed(data, graph)
    kinds: list[SimpleNamespace] = []
    for path in found:
        for number, kind in enumerate(kinds):
            same = (kind.source, kind.target) == (path.source, path.target)
            if same and kind.gate == path.gate:
                path.bundle = number
                break
        else:
            path.bundle = len(kinds)
            kinds.append(path)
    require(found, "pathways", "at least one")
    good = isinstance(value, list) and len(value) == len(found)
    require(good, "pathways", "all paths whose gates are open together")
    for n, (item, path) in enumerate(zip(value, found, strict=True)):
        v = take(item, f"pathways[{n}]", "edges bundle")
        listed = integers(v.edges, f"pathways[{n}].edges", len(graph.edges) - 1)
        (bundle,) = integers([v.bundle], f"pathways[{n}].bundle", len(kinds) - 1)
        require(listed == path.edges and bundle == path.bundle, f"pathways[{n}]", "in order")
    return found


def _followed(data: Data, graph: SimpleNamespace) -> list[SimpleNamespace]:
    one = data.constant(1)
    found: list[SimpleNamespace] = []
    steps = 0

    def times(gate: list[Ratio], other: list[Ratio] | None) -> list[Ratio]:
        return gate if other is None else [x * y for x, y in zip(gate, other, strict=True)]

    def follow(source: str, at: str, edges: list[int], gate: list[Ratio]) -> None:
        nonlocal steps
        steps += 1
        require(len(edges) < len(graph.nodes), "edges", "without a cycle")
        require(steps < MOST_STEPS and len(found) <= MOST_PATHS, "edges", "of fewer paths")
        if not any(gate):
            return
        if graph.known[at].outputs:
            path = SimpleNamespace(source=source, target=at, edges=edges, gate=gate)
            found.append(path)
            return
        for n, edge in enumerate(graph.edges):
            if edge.source == at:
                inner = times(times(gate, edge.gate), graph.known[edge.target].gate)
                follow(source, edge.target, [*edges, n], inner)

    for node in graph.nodes:
        if node.inputs:
            follow(node.name, node.name, [], times([one] * data.x.shape[1], node.gate))
    return found


def bundles_of(data: Data, graph: SimpleNamespace, paths: list[Any]) -> list[Bundle]:
    r"""Return every bundle with its features F = X_in diag(g), Sigma^{yx} and Sigma^x."""
    first: dict[int, Any] = {}
    for path in paths:
        first.setdefault(path.bundle, path)
    per_sample = data.constant(1) / data.x.shape[1]
    found = []
    for path in first.values():
        inputs, outputs = graph.known[path.source].inputs, graph.known[path.target].outputs
        features = _features(data, inputs, path.gate)
        places = {o: k for k, o in enumerate(outputs)}
        every = {k: k for k in range(data.x.shape[1])}
        targets = data.y.moved(places, every, (len(outputs), data.x.shape[1]))
        seen = features.flipped.packed()
        found.append(
            Bundle(
                source=path.source,
                target=path.target,
                gate=path.gate,
                open={k for k, g in enumerate(path.gate) if g},
                inputs=inputs,
                outputs=outputs,
                features=features,
                yx=combined([(per_sample, targets @ seen)]).sparse().reduced(),
                x=combined([(per_sample, features @ seen)]).sparse().reduced(),
            )
        )
    return found


def _features(data: Data, inputs: list[int], gate: list[Ratio]) -> Sparse:
    place = {i: k for k, i in enumerate(inputs)}
    shape = len(inputs), data.x.shape[1]
    one = data.constant(1)
    seen = data.x.moved(place, {j: j for j, g in enumerate(gate) if g}, shape)
    if all(not g or g == one for g in gate):
        return seen
    entries = {(i, j): Ratio(top, seen.below) * gate[j] for (i, j), top in seen.entries().items()}
    return data.assembled(entries, shape)


def maps_of(data: Data, bundles: list[Bundle]) -> Maps:
    r"""Return every correlation that is not 0, with its ends, and O_{bc} of pairs that couple."""
    found: Maps = {("yx", b): (p.source, p.target, p.yx) for b, p in enumerate(bundles)}
    per_sample = data.constant(1) / data.x.shape[1]
    for c, p in enumerate(bundles):
        for b, q in enumerate(bundles):
            if set(p.outputs).isdisjoint(q.outputs) or p.open.isdisjoint(q.open):
                continue
            cross = p.x if b == c else combined(
                [(per_sample, p.features @ q.features.flipped.packed())]
            ).sparse().reduced()  # fmt: skip
            if cross:
                found["x", c, b] = q.source, p.source, cross
                found["o", c, b] = p.target, q.target, _overlap(data, p.outputs, q.outputs)
    return found


def _overlap(data: Data, given: list[int], wanted: list[int]) -> Sparse:
    place = {o: k for k, o in enumerate(given)}
    rows = {i: {place[o]: 1} for i, o in enumerate(wanted) if o in place}
    return Sparse((len(wanted), len(given)), {data.unit: rows}, {data.unit: 1})
