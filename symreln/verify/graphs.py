r"""A network of nodes and edges: its pathways, invariant spaces, conserved quantities, components.

The verifier follows the paths of the graph itself, multiplies their gates, and builds from X and Y
the correlations of every *bundle*, pathways with the same ends and gate:
:math:`\Sigma^{yx}(b) = Y_b F_b^T/P`, :math:`\Sigma^x(c,b) = F_c F_b^T/P`, and O_{bc} of those that
write to a common output. With T_b the sum of the products of weights along the pathways of b,

.. math:: \tau\dot W_e = \sum_{p\ni e} W_{after}^T E_b W_{before}^T,\qquad
   E_b = \Sigma^{yx}(b) - \sum_c O_{bc} T_c \Sigma^x(c, b).

**Aligned weights stay aligned.** ``spaces`` has, for every input and output node, a basis B and
rows N with N B = 0 whose ranks add up to the node's size, so that the space of B is the kernel of
N. What correlations map into it is found in it exactly where N times it is 0. That it is the
smallest such space is shown by closing the images modulo a prime: no space that holds them all has
a smaller dimension. *Claim.* Weights that start as :math:`W_e = R_t B_e R_s^T`, with R_n of
orthonormal columns that span the space of node n, and any R_n at hidden nodes, keep that form, and
the B_e follow the flow of the smaller graph.
*Proof.* T_b = R_out (…) R_inᵀ for such weights, so that every column of E_b is in the space of its
output node and every row in that of its input node, by what is checked. In the term of edge e the
factor left of e ends the product with the matrix of the next edge of the path, transposed, which
begins with R_t as that edge begins where e ends; where e is the last edge, E_b itself begins in the
space of its node. The same holds on the right. So the velocity has the form of W_e, and flows from
a start are unique. ∎

**Conserved.** At a hidden node let in- and out-edges be those that pathways join there,
``balances``: the verifier finds them itself. *Claim.* :math:`\sum_{out} W_e^T W_e - \sum_{in} W_e
W_e^T` does not move. *Proof.* A path comes once at most to a node, by one edge e of *in* and
leaves it by one f of *out*. Its term in :math:`\tau W_f^T\dot W_f` is :math:`W_f^T W_{after}^T E_b
W_{before}^T W_e^T`, W_before being what comes before e, and that in :math:`\tau\dot W_e W_e^T` is
the same. ∎ ``norms`` is a basis of all λ for which Σ λ_e ‖W_e‖² does not move along any pathway:
:math:`\tau\,d\|W_e\|^2/dt = 2\sum_{p\ni e} tr(T_p^T E_b)`, the same number of p for all its edges.

**Components** are pathways that share an edge or a bundle, or couple. Their flows never meet.

- A *regular* one has pathways of L edges, one place for every edge, edges at one place used by
  equally many pathways, :math:`n_l`, and equal data of all pathways, which do not couple; all of
  which the verifier finds itself. Edges that start alike at each place, aligned with the modes
  (s, d) of one pathway, stay alike, and with strengths w_l in a mode
  :math:`\tau\dot w_l = n_l\prod_{m\ne l} w_m (s - d\pi)`, π = Π w_m: by the lemma above one
  pathway's term stands in the bases of its edge, where all pathways of the edge have the same.
  ``modes`` shows that Sigma^x and M commute, with all their modes, as :mod:`.modes` does. ``chain``
  has the conserved differences, N = Π n_l, and the closed form of a balanced start (:mod:`.times`).
  ``closed`` where all n are 1, else ``closed by symmetry``.
- Parallel pathways of two edges, none shared, are ``ordinary``: a part of pathways on the data.
- In others ``diagonal`` shows that orthonormal bases make all correlations diagonal, so that modes
  follow flows of numbers (``coupled modes``), or a product of correlations by which they cannot.
  Generators G are integer matrices between nodes; every map of the component and its transpose is
  a combination of them. Listed products of generators begin with the identities; every generator
  times every listed product is a combination of listed ones, so that they span all products; those
  that return to their node are symmetric. By the lemma of ``symreln/verdict/diagonal.py``
  orthonormal bases then make all maps diagonal. A refutation shows one product of maps that returns
  and is not symmetric.

The last two levels are upper bounds: what is said of modes and of matrices holds in any case.

**Routing network.** For one regular component of several pathways of three edges, one edge in the
middle of all, whose modes close, ``routing`` claims for *all* M and K: the counts (K, KM, K), the
conserved differences, the closed forms of a balanced start and of equal outer edges, the speed
N^{1/3} = K M^{1/3} against unshared pathways, and the limit of the speed from equal small weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import gcd
from types import SimpleNamespace
from typing import Any, Final

from .matrices import Matrix, combined, equal
from .modes import ascending, gated, read_gains, read_pathway
from .numbers import PRIME, Ratio, Span, rank, require
from .reading import Data, integers, listed, take, text
from .stages import LEVELS, check_pathways
from .times import check_chain, check_routing

MOST_PATHS: Final = 1000
MOST_STEPS: Final = 100_000

#: ("yx", b), ("x", c, b) or ("o", c, b) to (name of the source, of the target, matrix).
Maps = dict[tuple[Any, ...], tuple[str, str, Matrix]]


def check_graph(data: Data, value: Any, path: str) -> tuple[str, list[str]]:
    """Check a graph on a dataset; return the level and what was proven, line by line."""
    keys = "kind nodes edges pathways spaces conserved components routing level"
    v = take(value, path, keys)
    graph = _Graph(data, v.nodes, v.edges, path)
    graph.read_paths(v.pathways, f"{path}.pathways")
    maps = graph.maps()
    ends = {name: len(n.inputs or n.outputs) for name, n in graph.ends.items()}
    dimension = _check_spaces(data, v.spaces, f"{path}.spaces", ends, maps)
    matrices, norms = _check_conserved(graph, v.conserved, f"{path}.conserved")
    lines = [
        f"{len(graph.paths)} pathways in {len(graph.bundles)} bundles; invariant spaces of "
        f"dimension {dimension} in all",
        f"{matrices} conserved matrices and {norms} conserved sums of norms",
    ]
    levels, regular = [], []
    expected = _joined(graph.paths, maps)
    listed(v.components, f"{path}.components", len(expected))
    for n, (item, members) in enumerate(zip(v.components, expected, strict=True)):
        where = f"{path}.components[{n}]"
        level, counts = _check_component(graph, item, where, members, maps, ends)
        levels.append(level)
        regular.append(counts)
        used = "" if counts is None else f", edges used {', '.join(map(str, counts))} times"
        lines.append(f"components[{n}]: {len(members)} pathways{used}: {level}")
    counts = regular[0] or [] if len(regular) == 1 and levels != [LEVELS[3]] else []
    is_routing = len(counts) == 3 and counts[1] == len(graph.paths) > 1 and counts[0] == counts[2]
    here = (v.routing is not None) == is_routing
    require(here, f"{path}.routing", "null exactly where it is no such network")
    if is_routing:
        m, k = check_routing(v.routing, f"{path}.routing", counts)
        lines.append(f"routing: M = {m}, K = {k}; closed forms and speeds for all M and K")
    weakest = max(levels, key=LEVELS.index)
    require(v.level == weakest, f"{path}.level", weakest)
    return weakest, lines


# -- nodes, edges, paths ---------------------------------------------------------------------------


class _Graph:
    """Nodes and edges, the gated paths through them, and what every bundle of paths sees."""

    def __init__(self, data: Data, nodes: Any, edges: Any, path: str) -> None:
        self.data = data
        listed(nodes, f"{path}.nodes")
        found = [_node(data, node, f"{path}.nodes[{n}]") for n, node in enumerate(nodes)]
        self.nodes = {node.name: node for node in found}
        require(len(self.nodes) == len(found), f"{path}.nodes", "of unlike names")
        self.ends = {name: n for name, n in self.nodes.items() if n.inputs or n.outputs}
        self.edges: list[SimpleNamespace] = []
        for n, item in enumerate(listed(edges, f"{path}.edges")):
            where = f"{path}.edges[{n}]"
            e = take(item, where, "name from to gate")
            source, target = vars(e)["from"], e.to
            good = all(type(end) is str and end in self.nodes for end in (source, target))
            good = good and not self.nodes[source].outputs and not self.nodes[target].inputs
            require(good, where, "an edge from an input or hidden node to a hidden or output node")
            gate, name = _gate(data, e.gate, f"{where}.gate"), text(e.name, f"{where}.name")
            self.edges.append(SimpleNamespace(name=name, source=source, target=target, gate=gate))
        names = {e.name for e in self.edges}
        require(len(names) == len(self.edges), f"{path}.edges", "of unlike names")
        self.paths: list[SimpleNamespace] = []
        self.bundles: list[SimpleNamespace] = []

    def read_paths(self, value: Any, path: str) -> None:
        """Find every path whose gates are open together somewhere, and compare with what is listed.

        In the order of the input nodes, then of the edges at every node. Paths that see the same
        data are in one bundle; bundles are numbered by their first paths.
        """
        one, self._steps = self.data.constant(1), 0
        for node in self.nodes.values():
            if node.inputs:
                opened = _times([one] * self.data.samples, node.gate)
                self._follow(node.name, node.name, [], opened)
        kinds: list[SimpleNamespace] = []
        for p in self.paths:
            ends = p.source, p.target
            same = (n for n, k in enumerate(kinds) if (k.source, k.target) == ends)
            p.bundle = next((n for n in same if kinds[n].gate == p.gate), len(kinds))
            if p.bundle == len(kinds):
                kinds.append(p)
        require(self.paths, path, "at least one")
        listed(value, path, len(self.paths))
        for n, (item, p) in enumerate(zip(value, self.paths, strict=True)):
            v, where = take(item, f"{path}[{n}]", "edges bundle"), f"{path}[{n}]"
            shown = integers(v.edges, where, len(self.edges) - 1)
            (bundle,) = integers([v.bundle], where, len(kinds) - 1)
            require(shown == p.edges and bundle == p.bundle, where, "in order")
        self.bundles = [self._bundle(p) for p in kinds]

    def _follow(self, source: str, at: str, edges: list[int], gate: list[Ratio]) -> None:
        self._steps += 1
        require(len(edges) < len(self.nodes), "edges", "without a cycle")
        few = self._steps < MOST_STEPS and len(self.paths) <= MOST_PATHS
        require(few, "edges", "of fewer paths")
        if not any(gate):
            return
        if self.nodes[at].outputs:
            found = SimpleNamespace(source=source, target=at, edges=edges, gate=gate)
            self.paths.append(found)
            return
        for n, edge in enumerate(self.edges):
            if edge.source == at:
                inner = _times(_times(gate, edge.gate), self.nodes[edge.target].gate)
                self._follow(source, edge.target, [*edges, n], inner)

    def _bundle(self, p: SimpleNamespace) -> SimpleNamespace:
        r"""Return what a path sees: its features F, Sigma^{yx} and Sigma^x."""
        data = self.data
        inputs, outputs = self.nodes[p.source].inputs, self.nodes[p.target].outputs
        numbers = dict(enumerate(p.gate))
        if all(not g or g == data.constant(1) for g in p.gate):
            gate: list[Any] = [int(bool(g)) for g in p.gate]
            features = gated(data, inputs, gate, {0: data.constant(0), 1: data.constant(1)})
        else:
            names = [f"{n}" for n in numbers]
            features = gated(data, inputs, names, {f"{n}": g for n, g in numbers.items()})
        places, every = {o: k for k, o in enumerate(outputs)}, {k: k for k in numbers}
        targets = data.y.moved(places, every, (len(outputs), data.samples))
        return SimpleNamespace(
            source=p.source,
            target=p.target,
            gate=p.gate,
            open={k for k, g in numbers.items() if g},
            inputs=inputs,
            outputs=outputs,
            features=features,
            yx=combined([(data.per_sample, targets @ features.T)]).reduced(),
            x=combined([(data.per_sample, features @ features.T)]).reduced(),
        )

    def maps(self) -> Maps:
        r"""Return every correlation that is not 0, with its ends, and O_{bc} where two couple."""
        data = self.data
        found: Maps = {("yx", b): (p.source, p.target, p.yx) for b, p in enumerate(self.bundles)}
        for c, p in enumerate(self.bundles):
            for b, q in enumerate(self.bundles):
                if set(p.outputs).isdisjoint(q.outputs) or p.open.isdisjoint(q.open):
                    continue
                met = p.x if b == c else combined([(data.per_sample, p.features @ q.features.T)])
                if met:
                    found["x", c, b] = q.source, p.source, met.reduced()
                    place = {o: k for k, o in enumerate(p.outputs)}
                    rows = {i: {place[o]: 1} for i, o in enumerate(q.outputs) if o in place}
                    shape = len(q.outputs), len(p.outputs)
                    overlap = Matrix(shape, {data.unit: rows}, data.one)
                    found["o", c, b] = p.target, q.target, overlap
        return found


def _node(data: Data, item: Any, path: str) -> SimpleNamespace:
    v = take(item, path, "name size gate inputs outputs")
    v.name = text(v.name, f"{path}.name")
    ascending(v.inputs, f"{path}.inputs", data.x.shape[0])
    ascending(v.outputs, f"{path}.outputs", data.y.shape[0])
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
    gains = read_gains(data, value, path)
    return [gains[g] for g in value]


def _times(gate: list[Ratio], other: list[Ratio] | None) -> list[Ratio]:
    return gate if other is None else [x * y for x, y in zip(gate, other, strict=True)]


# -- spaces ----------------------------------------------------------------------------------------


def _check_spaces(data: Data, value: Any, path: str, sizes: dict[str, int], maps: Maps) -> int:
    """Check the smallest spaces of input and output nodes; return the sum of their dimensions."""
    bases: dict[str, Matrix] = {}
    outside: dict[str, Matrix] = {}
    for n, (item, (name, size)) in enumerate(
        zip(listed(value, path, len(sizes)), sizes.items(), strict=True)
    ):
        where = f"{path}[{n}]"
        v = take(item, where, "node basis outside")
        require(v.node == name, f"{where}.node", name)
        basis = bases[name] = data.integer_matrix(v.basis, f"{where}.basis", size, None)
        left = max(size - basis.shape[1], 0)
        normals = outside[name] = data.integer_matrix(v.outside, f"{where}.outside", left, size)
        right = rank(_vectors(basis.T)) == basis.shape[1] and rank(_vectors(normals)) == left
        require(right, where, "independent vectors, as many together as the node has units")
        require(not normals @ basis, where, "two spaces orthogonal to each other")
    for (kind, *_), (source, target, matrix) in maps.items():
        if kind == "yx":
            images = [(target, matrix), (source, matrix.T)]
        elif kind == "x":  # the space of c through Sigma^x(c, b)ᵀ
            images = [(source, matrix.T @ bases[target])]
        else:
            images = [(target, matrix @ bases[source])]
        for name, image in images:
            inside = not outside[name] @ image
            require(inside, path, f"a space of {name} that the flow does not leave")
    least = _closed(sizes, maps)
    for name, basis in bases.items():
        require(least[name] == basis.shape[1], path, f"the smallest space of {name}")
    return sum(least.values())


def _vectors(matrix: Matrix) -> list[dict[int, int]]:
    """Return the rows of all monomials' matrices."""
    return [row for part in matrix.terms.values() for row in part.values()]


def _closed(sizes: dict[str, int], maps: Maps) -> dict[str, int]:
    """Return the dimensions of the images' closure modulo a prime."""
    spans = {name: Span() for name in sizes}
    ways: dict[str, list[tuple[str, Any]]] = {name: [] for name in sizes}
    queue: list[tuple[str, dict[int, int]]] = []
    for (kind, *_), (source, target, matrix) in maps.items():
        if kind == "yx":
            queue += [(target, v) for v in _vectors(matrix.T)]
            queue += [(source, v) for v in _vectors(matrix)]
        elif kind == "x":
            ways[target] += [(source, part) for part in matrix.T.terms.values()]
        else:
            ways[source] += [(target, part) for part in matrix.terms.values()]
    while queue:
        name, vector = queue.pop()
        if spans[name].add(vector):
            for end, rows in ways[name]:
                sums = (
                    (i, sum(x * vector.get(k, 0) for k, x in r.items())) for i, r in rows.items()
                )
                queue.append((end, {i: total % PRIME for i, total in sums}))
    return {name: len(span.pivots) for name, span in spans.items()}


# -- conserved quantities --------------------------------------------------------------------------


def _check_conserved(graph: _Graph, value: Any, path: str) -> tuple[int, int]:
    """Check all conserved matrices and norms; return how many there are of each."""
    v = take(value, path, "balances norms")
    paths = [p.edges for p in graph.paths]
    expected = list(_balances(graph, paths))
    listed(v.balances, f"{path}.balances", len(expected))
    for n, (item, known) in enumerate(zip(v.balances, expected, strict=True)):
        where = f"{path}.balances[{n}]"
        b = take(item, where, "node incoming outgoing")
        integers([*b.incoming, *b.outgoing], where, len(graph.edges) - 1)
        require((b.node, b.incoming, b.outgoing) == known, where, "the edges joined at a node")
    edges, where = sorted({edge for p in paths for edge in p}), f"{path}.norms"
    rows = []
    used = [dict.fromkeys(p, 1) for p in paths]
    listed(v.norms, where, len(edges) - rank(used))
    for n, item in enumerate(v.norms):
        good = isinstance(item, list) and all(type(x) is int and abs(x) < PRIME for x in item)
        good = good and len(item) == len(graph.edges)
        require(good, f"{where}[{n}]", "an integer for every edge")
        good = not any(x for e, x in enumerate(item) if e not in edges)
        good = good and all(sum(item[e] for e in p) == 0 for p in paths)
        require(good, f"{where}[{n}]", "conserved")
        rows.append(dict(enumerate(item)))
    require(rank(rows) == len(rows), where, "independent")
    return len(v.balances), len(v.norms)


def _balances(graph: _Graph, paths: list[list[int]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield node, edges in and edges out of all edges that pathways join at a hidden node."""
    for name in (name for name in graph.nodes if name not in graph.ends):
        into = [n for n, e in enumerate(graph.edges) if e.target == name]
        out = [n for n, e in enumerate(graph.edges) if e.source == name]
        groups: list[set[int]] = []
        for path in paths:
            if met := {e for e in path if e in into or e in out}:
                apart = [g for g in groups if g.isdisjoint(met)]
                groups = [*apart, met.union(*(g for g in groups if not g.isdisjoint(met)))]
        for group in sorted(groups, key=min):
            yield name, [e for e in into if e in group], [e for e in out if e in group]


# -- components ------------------------------------------------------------------------------------


def _joined(paths: list[Any], maps: Maps) -> list[list[int]]:
    """Return the pathways that share an edge or a bundle, or whose bundles couple."""
    groups: list[tuple[set[int], set[Any]]] = []
    for n, path in enumerate(paths):
        links = {("edge", e) for e in path.edges} | {("bundle", path.bundle)}
        links |= {("bundle", key[1]) for key in maps if key[0] == "x" and key[2] == path.bundle}
        met = [g for g in groups if not g[1].isdisjoint(links)]
        members = {n}.union(*(g[0] for g in met))
        all_links = links.union(*(g[1] for g in met))
        groups = [*(g for g in groups if g[1].isdisjoint(links)), (members, all_links)]
    return sorted((sorted(members) for members, _ in groups), key=min)


def _regular_counts(own: list[Any], bundles: list[Any], maps: Maps) -> Any:
    """Return how many pathways use an edge at each place, None where they are not all alike."""
    lengths, numbers = {len(path.edges) for path in own}, [path.bundle for path in own]
    if len(lengths) != 1 or len(set(numbers)) != len(numbers):
        return None
    uses = [Counter(path.edges[n] for path in own) for n in range(len(own[0].edges))]
    if sum(map(len, uses)) != len({e for path in own for e in path.edges}):
        return None
    if any(len(set(counter.values())) != 1 for counter in uses):
        return None
    if any(key[0] == "x" and key[1] != key[2] and key[1] in numbers for key in maps):
        return None
    if not all(_alike(bundles[n], bundles[numbers[0]]) for n in numbers):
        return None
    return [next(iter(counter.values())) for counter in uses]


def _alike(a: Any, b: Any) -> bool:
    return equal(a.x, b.x) and equal(a.yx, b.yx)


def _check_component(
    graph: _Graph, value: Any, path: str, members: list[int], maps: Maps, ends: dict[str, int]
) -> tuple[str, list[int] | None]:
    """Check one component; return its level and, where it is regular, its counts."""
    data, bundles = graph.data, graph.bundles
    v = take(value, path, "pathways counts modes diagonal chain ordinary level")
    shown = integers(v.pathways, f"{path}.pathways", len(graph.paths))
    require(shown == members, f"{path}.pathways", "the pathways that meet")
    own = [graph.paths[n] for n in members]
    counts = _regular_counts(own, bundles, maps)
    integers(v.counts or [], f"{path}.counts", len(graph.paths))
    require(v.counts == counts, f"{path}.counts", "how many pathways use an edge at each place")
    edges = [e for p in own for e in p.edges]
    parallel = counts is None and len(set(edges)) == len(edges)
    parallel = parallel and all(len(p.edges) == 2 for p in own)
    general = counts is None and not parallel
    for field, there in (("ordinary", parallel), ("modes", not parallel), ("diagonal", general)):
        good = (getattr(v, field) is not None) == there
        require(good, f"{path}.{field}", f"{'there' if there else 'null'} in such a component")
    if parallel:
        level = _ordinary(graph, v.ordinary, f"{path}.ordinary", own)
    else:
        numbers = list(dict.fromkeys(p.bundle for p in own))
        commutes = _modes(data, v.modes, f"{path}.modes", numbers, bundles)
        level = LEVELS[3]
        if counts is not None and commutes:
            level = LEVELS[0 if max(counts) == 1 else 1]
        elif general:
            part = {key: m for key, m in maps.items() if {*key[1:]} <= {*numbers}}
            met = {end for source, target, _ in part.values() for end in (source, target)}
            sizes = {name: size for name, size in ends.items() if name in met}
            proven = _check_diagonal(data, v.diagonal, f"{path}.diagonal", sizes, part)
            level = LEVELS[2 if proven else 3]
    closed = counts is not None and level != LEVELS[3]
    require((v.chain is not None) == closed, f"{path}.chain", "there where modes close")
    if counts is not None and closed:
        check_chain(v.chain, f"{path}.chain", [data.constant(n) for n in counts], data)
    require(v.level == level, f"{path}.level", level)
    return level, counts


def _modes(data: Data, value: Any, path: str, numbers: list[int], bundles: list[Any]) -> bool:
    """Check the modes of every bundle; return whether all commute."""
    commutes = []
    for n, (item, number) in enumerate(
        zip(listed(value, path, len(numbers)), numbers, strict=True)
    ):
        where, bundle = f"{path}[{n}]", bundles[number]
        if type(item) is int:
            good = 0 <= item < n and not isinstance(value[item], int)
            require(good, where, "an earlier bundle whose modes are shown")
            require(_alike(bundle, bundles[numbers[item]]), where, "one with the same data")
            continue
        p = read_pathway(data.afresh(), item, where, [])
        require(_same(data, item, bundle, where), where, "the bundle's inputs, outputs and gate")
        bare = all(c.inverse_text is None and c.gram is None for c in p.classes)
        require(bare, f"{where}.classes", "without gram_inverse and inverse_d_eff")
        commutes.append(p.commutes)
    return all(commutes)


def _same(data: Data, item: Any, bundle: Any, path: str) -> bool:
    same = item["inputs"] == bundle.inputs and item["outputs"] == bundle.outputs
    return same and _gate(data, item["gate"], f"{path}.gate") == bundle.gate


def _ordinary(graph: _Graph, value: Any, path: str, own: list[Any]) -> str:
    """Check parallel pathways, a part of pathways on the same data; return its level."""
    level, _, stages = check_pathways(graph.data, value, path)
    good = value["kind"] == "pathways" and value["step"] == 0 and len(stages) == 1
    shown = value["stages"][0]["pathways"]
    require(good and len(shown) == len(own), path, "one stage of the component's pathways")
    for item, p in zip(shown, own, strict=True):
        same = _same(graph.data, item, graph.bundles[p.bundle], path)
        require(same, path, "the component's pathways")
    return level


# -- joint bases -----------------------------------------------------------------------------------


def _check_diagonal(data: Data, value: Any, path: str, sizes: dict[str, int], maps: Maps) -> bool:
    """Check what is said of joint bases; return whether they are proven."""
    require(isinstance(value, dict), path, "an object")
    outcome = value.get("outcome")
    if outcome == "undecided":
        take(value, path, "outcome")
    elif outcome == "refuted":
        _refuted(take(value, path, "outcome word row column"), path, sizes, maps)
    else:
        v = take(value, path, "outcome generators maps products relations")
        require(outcome == "proven", f"{path}.outcome", "proven, refuted or undecided")
        generators = []
        for n, item in enumerate(listed(v.generators, f"{path}.generators")):
            where = f"{path}.generators[{n}]"
            g = take(item, where, "source target matrix")
            known = type(g.source) is str is type(g.target) and {g.source, g.target} <= sizes.keys()
            require(known, where, "a matrix between nodes")
            matrix = data.integer_matrix(g.matrix, where, sizes[g.target], sizes[g.source])
            generators.append((g.source, g.target, matrix))
        needed = [(m, False) for m in maps.values()], [(m, True) for m in maps.values()]
        turned = [pair for both in zip(*needed, strict=True) for pair in both]
        listed(v.maps, f"{path}.maps", len(turned))
        for n, (item, ((source, target, matrix), flip)) in enumerate(
            zip(v.maps, turned, strict=True)
        ):
            arrow = (target, source, matrix.T) if flip else (source, target, matrix)
            _is_combination(data, item, f"{path}.maps[{n}]", arrow, generators)
        _products(data, v, path, sizes, generators)
    return outcome == "proven"


def _refuted(v: Any, path: str, sizes: dict[str, int], maps: Maps) -> None:
    total: Matrix | None = None
    start = end = ""
    for item in reversed(listed(v.word, f"{path}.word")):
        good = isinstance(item, list) and len(item) > 2 and type(item[-1]) is bool
        require(good and tuple(item[:-1]) in maps, f"{path}.word", "[kind, bundles, transposed]")
        source, target, matrix = maps[tuple(item[:-1])]
        if item[-1]:
            source, target, matrix = target, source, matrix.T
        if total is None:
            start, total = source, matrix
        else:
            require(source == end, f"{path}.word", "maps one after the other")
            total = matrix @ total
        end = target
    assert total is not None
    row, column = integers([v.row, v.column], path, sizes[start] - 1)
    entries = total.entries()
    differs = start == end and entries.get((row, column)) != entries.get((column, row))
    require(differs, path, "a product that returns to its node and is not symmetric there")


def _is_combination(
    data: Data, value: Any, path: str, arrow: tuple[str, str, Matrix], known: list[Any]
) -> None:
    """Check that a map is Σ number · arrow over [number, place] of arrows with the same ends."""
    source, target, matrix = arrow
    require(isinstance(value, list), path, "a list of [number, place]")
    parts = [(matrix.one * -1, matrix)]
    for item in value:
        number, place = listed(item, path, 2)
        integers([place], path, len(known) - 1)
        start, end, other = known[place]
        require((start, end) == (source, target), path, "of maps with the same ends")
        parts.append((data.ratio(number, path), other))
    require(not combined(parts), path, "a combination that equals the map")


def _products(data: Data, v: Any, path: str, sizes: dict[str, int], generators: Any) -> None:
    """Check that the listed products span all, and that those that return are symmetric."""
    where, one = f"{path}.products", data.constant(1)
    known = [
        (name, name, data.assembled({(i, i): one for i in range(size)}, (size, size)))
        for name, size in sizes.items()
    ]
    origins = set()
    require(isinstance(v.products, list), where, "a list of [generator, product]")
    for item in v.products:
        g, p = integers(listed(item, where, 2), where, len(generators) + len(known))
        good = g < len(generators) and p < len(known) and generators[g][0] == known[p][1]
        require(good, where, "a generator after a product")
        known.append((known[p][0], generators[g][1], _primitive(generators[g][2] @ known[p][2])))
        origins.add((g, p))
    for source, target, matrix in known:
        symmetric = source != target or equal(matrix, matrix.T)
        require(symmetric, where, "symmetric where a product returns to its node")
    pairs = [
        (g, p)
        for g, (start, _, _) in enumerate(generators)
        for p, (_, end, _) in enumerate(known)
        if start == end and (g, p) not in origins
    ]
    where = f"{path}.relations"
    require(isinstance(v.relations, list) and len(v.relations) == len(pairs), where, "complete")
    for n, (item, (g, p)) in enumerate(zip(v.relations, pairs, strict=True)):
        arrow = known[p][0], generators[g][1], generators[g][2] @ known[p][2]
        _is_combination(data, item, f"{where}[{n}]", arrow, known)


def _primitive(matrix: Matrix) -> Matrix:
    """Return an integer matrix over the common divisor of its entries."""
    common = gcd(*(v for part in matrix.terms.values() for r in part.values() for v in r.values()))
    terms = {
        key: {i: {j: v // common for j, v in row.items()} for i, row in part.items()}
        for key, part in matrix.terms.items()
    }
    return Matrix(matrix.shape, terms, matrix.below)
