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
from .modes import gated, read_gate, read_pathway
from .numbers import PRIME, Ratio, Span, rank, require
from .reading import Data, Given
from .stages import LEVELS, check_pathways
from .times import check_chain, check_routing

MOST_PATHS: Final = 1000
MOST_STEPS: Final = 100_000
MOST_UNITS: Final = 10**9

#: ("yx", b), ("x", c, b) or ("o", c, b) to (name of the source, of the target, matrix).
Arrow = tuple[str, str, Matrix]
Maps = dict[tuple[Any, ...], Arrow]


def check_graph(data: Data, given: Given) -> tuple[str, list[str]]:
    """Check a graph on a dataset; return the level and what was proven, line by line."""
    v = given.take("kind nodes edges pathways spaces conserved components routing level")
    graph = _Graph(data, v.nodes, v.edges)
    graph.read_paths(v.pathways)
    dimension = _check_spaces(graph, v.spaces)
    matrices, norms = _check_conserved(graph, v.conserved)
    lines = [
        f"{len(graph.paths)} pathways in {len(graph.bundles)} bundles; invariant spaces of "
        f"dimension {dimension} in all",
        f"{matrices} conserved matrices and {norms} conserved sums of norms",
    ]
    levels, regular = [], []
    expected = _joined(graph)
    shown = zip(v.components.items(len(expected)), expected, strict=True)
    for n, (item, members) in enumerate(shown):
        level, counts = _check_component(graph, item, members)
        levels.append(level)
        regular.append(counts)
        used = "" if counts is None else f", edges used {', '.join(map(str, counts))} times"
        lines.append(f"components[{n}]: {len(members)} pathways{used}: {level}")
    counts = regular[0] or [] if len(regular) == 1 and levels != [LEVELS[3]] else []
    is_routing = len(counts) == 3 and counts[1] == len(graph.paths) > 1 and counts[0] == counts[2]
    v.routing.require(v.routing.there == is_routing, "null exactly where it is no such network")
    if is_routing:
        m, k = check_routing(v.routing, counts)
        lines.append(f"routing: M = {m}, K = {k}; closed forms and speeds for all M and K")
    weakest = max(levels, key=LEVELS.index)
    v.level.shows(weakest)
    return weakest, lines


# -- nodes, edges, paths ---------------------------------------------------------------------------


class _Graph:
    """Nodes and edges, the gated paths through them, and what every bundle of paths sees."""

    def __init__(self, data: Data, nodes: Given, edges: Given) -> None:
        self.data = data
        found = [self._node(item) for item in nodes.items()]
        self.nodes = {node.name: node for node in found}
        nodes.require(len(self.nodes) == len(found), "of unlike names")
        self.ends = {n.name: len(n.inputs or n.outputs) for n in found if n.inputs or n.outputs}
        self.edges = [self._edge(item) for item in edges.items()]
        names = {e.name for e in self.edges}
        edges.require(len(names) == len(self.edges), "of unlike names")
        self.paths: list[SimpleNamespace] = []
        self.bundles: list[SimpleNamespace] = []

    def _node(self, given: Given) -> SimpleNamespace:
        v = given.take("name size gate inputs outputs")
        inputs = v.inputs.ascending(self.data.x.shape[0] - 1)
        outputs = v.outputs.ascending(self.data.y.shape[0] - 1)
        size = v.size.integer(MOST_UNITS, 1)
        held = inputs or outputs
        good = not (inputs and outputs) and (not held or size == len(held))
        v.size.require(good, "its inputs, its outputs, or units of a hidden node")
        name, gate = v.name.text(), self._gate(v.gate)
        return SimpleNamespace(name=name, gate=gate, inputs=inputs, outputs=outputs)

    def _edge(self, given: Given) -> SimpleNamespace:
        v = given.take("name from to gate")
        source, target = given["from"].text(), v.to.text()
        good = {source, target} <= self.nodes.keys()
        good = good and not self.nodes[source].outputs and not self.nodes[target].inputs
        given.require(good, "an edge from an input or hidden node to a hidden or output node")
        name, gate = v.name.text(), self._gate(v.gate)
        return SimpleNamespace(name=name, source=source, target=target, gate=gate)

    def _gate(self, given: Given) -> list[Ratio] | None:
        return read_gate(self.data, given) if given.there else None

    def read_paths(self, given: Given) -> None:
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
        given.require(self.paths, "at least one")
        shown = [{"edges": p.edges, "bundle": p.bundle} for p in self.paths]
        given.shows(shown, "all paths in order")
        self.bundles = [self._bundle(p) for p in kinds]
        self.maps = self._maps()

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
        features = gated(data, inputs, p.gate)
        places, every = {o: k for k, o in enumerate(outputs)}, range(data.samples)
        targets = data.y.moved(places, every, (len(outputs), data.samples))
        return SimpleNamespace(
            source=p.source,
            target=p.target,
            gate=p.gate,
            open={k for k, g in enumerate(p.gate) if g},
            inputs=inputs,
            outputs=outputs,
            features=features,
            yx=combined([(data.per_sample, targets @ features.T)]).reduced(),
            x=combined([(data.per_sample, features @ features.T)]).reduced(),
        )

    def _maps(self) -> Maps:
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


def _times(gate: list[Ratio], other: list[Ratio] | None) -> list[Ratio]:
    return gate if other is None else [x * y for x, y in zip(gate, other, strict=True)]


# -- spaces ----------------------------------------------------------------------------------------


def _check_spaces(graph: _Graph, given: Given) -> int:
    """Check the smallest spaces of input and output nodes; return the sum of their dimensions."""
    data, bases, outside = graph.data, dict[str, Matrix](), dict[str, Matrix]()
    sizes = graph.ends
    for item, (name, size) in zip(given.items(len(sizes)), sizes.items(), strict=True):
        v = item.take("node basis outside")
        v.node.shows(name)
        basis = bases[name] = data.integer_matrix(v.basis, size, None)
        left = max(size - basis.shape[1], 0)
        normals = outside[name] = data.integer_matrix(v.outside, left, size)
        right = rank(_vectors(basis.T)) == basis.shape[1] and rank(_vectors(normals)) == left
        item.require(right, "independent vectors, as many together as the node has units")
        item.require(not normals @ basis, "two spaces orthogonal to each other")
    for (kind, *_), (source, target, matrix) in graph.maps.items():
        if kind == "yx":
            images = [(target, matrix), (source, matrix.T)]
        elif kind == "x":  # the space of c through Sigma^x(c, b)ᵀ
            images = [(source, matrix.T @ bases[target])]
        else:
            images = [(target, matrix @ bases[source])]
        for name, image in images:
            inside = not outside[name] @ image
            given.require(inside, f"a space of {name} that the flow does not leave")
    least = _closed(sizes, graph.maps)
    for name, basis in bases.items():
        given.require(least[name] == basis.shape[1], f"the smallest space of {name}")
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


def _check_conserved(graph: _Graph, given: Given) -> tuple[int, int]:
    """Check all conserved matrices and norms; return how many there are of each."""
    v = given.take("balances norms")
    paths = [p.edges for p in graph.paths]
    balances = list(_balances(graph, paths))
    v.balances.shows(balances, "the edges joined at every node")
    edges, rows = {edge for p in paths for edge in p}, []
    for item in v.norms.items(len(edges) - rank([dict.fromkeys(p, 1) for p in paths])):
        weights = [x.integer(PRIME - 1, 1 - PRIME) for x in item.items(len(graph.edges))]
        good = not any(x for e, x in enumerate(weights) if e not in edges)
        item.require(good and all(sum(weights[e] for e in p) == 0 for p in paths), "conserved")
        rows.append(dict(enumerate(weights)))
    v.norms.require(rank(rows) == len(rows), "independent")
    return len(balances), len(rows)


def _balances(graph: _Graph, paths: list[list[int]]) -> Iterator[dict[str, Any]]:
    """Yield node, edges in and edges out of all edges that pathways join at a hidden node."""
    for name in (name for name in graph.nodes if name not in graph.ends):
        into = [n for n, e in enumerate(graph.edges) if e.target == name]
        out = [n for n, e in enumerate(graph.edges) if e.source == name]
        met = ((set(), {e for e in path if e in into or e in out}) for path in paths)
        for _, group in sorted(_merged(met), key=lambda item: min(item[1])):
            edges = ([e for e in side if e in group] for side in (into, out))
            yield dict(zip(("node", "incoming", "outgoing"), (name, *edges), strict=True))


def _merged(items: Any) -> list[tuple[set[Any], set[Any]]]:
    """Return (members, links), those that have some link in common merged; without links none."""
    groups: list[tuple[set[Any], set[Any]]] = []
    for members, links in items:
        if links:
            met = [g for g in groups if not g[1].isdisjoint(links)]
            one = members.union(*(g[0] for g in met)), links.union(*(g[1] for g in met))
            groups = [*(g for g in groups if g not in met), one]
    return groups


# -- components ------------------------------------------------------------------------------------


def _joined(graph: _Graph) -> list[list[int]]:
    """Return the pathways that share an edge or a bundle, or whose bundles couple."""
    met = [key[1:] for key in graph.maps if key[0] == "x"]
    items = []
    for n, path in enumerate(graph.paths):
        links: set[Any] = {("edge", e) for e in path.edges} | {path.bundle}
        items.append(({n}, links | {c for c, b in met if b == path.bundle}))
    return sorted(sorted(members) for members, _ in _merged(items))


def _regular_counts(own: list[Any], graph: _Graph) -> Any:
    """Return how many pathways use an edge at each place, None where they are not all alike."""
    lengths, numbers = {len(path.edges) for path in own}, [path.bundle for path in own]
    if len(lengths) != 1 or len(set(numbers)) != len(numbers):
        return None
    uses = [Counter(path.edges[n] for path in own) for n in range(len(own[0].edges))]
    apart = sum(map(len, uses)) == len({e for path in own for e in path.edges})
    if not apart or any(len(set(counter.values())) != 1 for counter in uses):
        return None
    if any(key[0] == "x" and key[1] != key[2] and key[1] in numbers for key in graph.maps):
        return None
    if not all(_alike(graph.bundles[n], graph.bundles[numbers[0]]) for n in numbers):
        return None
    return [next(iter(counter.values())) for counter in uses]


def _alike(a: Any, b: Any) -> bool:
    return equal(a.x, b.x) and equal(a.yx, b.yx)


def _check_component(
    graph: _Graph, given: Given, members: list[int]
) -> tuple[str, list[int] | None]:
    """Check one component; return its level and, where it is regular, its counts."""
    data = graph.data
    v = given.take("pathways counts modes diagonal chain ordinary level")
    v.pathways.shows(members, "the pathways that meet")
    own = [graph.paths[n] for n in members]
    counts = _regular_counts(own, graph)
    v.counts.shows(counts, "how many pathways use an edge at each place")
    edges = [e for p in own for e in p.edges]
    parallel = counts is None and len(set(edges)) == len(edges)
    parallel = parallel and all(len(p.edges) == 2 for p in own)
    general = counts is None and not parallel
    for field, there in ((v.ordinary, parallel), (v.modes, not parallel), (v.diagonal, general)):
        good = field.there == there
        field.require(good, f"{'there' if there else 'null'} in such a component")
    if parallel:
        level = _ordinary(graph, v.ordinary, own)
    else:
        numbers = list(dict.fromkeys(p.bundle for p in own))
        commutes = _modes(graph, v.modes, numbers)
        level = LEVELS[3]
        if counts is not None and commutes:
            level = LEVELS[0 if max(counts) == 1 else 1]
        elif general:
            maps = {key: m for key, m in graph.maps.items() if {*key[1:]} <= {*numbers}}
            level = LEVELS[2 if _check_diagonal(graph, v.diagonal, maps) else 3]
    closed = counts is not None and level != LEVELS[3]
    v.chain.require(v.chain.there == closed, "there where modes close")
    if counts is not None and closed:
        check_chain(v.chain, [data.constant(n) for n in counts], data)
    v.level.shows(level)
    return level, counts


def _modes(graph: _Graph, given: Given, numbers: list[int]) -> bool:
    """Check the modes of every bundle; return whether all commute."""
    commutes = []
    for n, (item, number) in enumerate(zip(given.items(len(numbers)), numbers, strict=True)):
        bundle, earlier = graph.bundles[number], item.value
        if type(earlier) is int:
            good = 0 <= earlier < n and not isinstance(given.value[earlier], int)
            item.require(good, "an earlier bundle whose modes are shown")
            good = _alike(bundle, graph.bundles[numbers[earlier]])
            item.require(good, "one with the same data")
            continue
        p = read_pathway(graph.data.afresh(), item, [])
        item.require(_same(p, bundle), "the bundle's inputs, outputs and gate")
        bare = all(not c.inverse.there and c.gram is None for c in p.classes)
        item["classes"].require(bare, "without gram_inverse and inverse_d_eff")
        commutes.append(p.commutes)
    return all(commutes)


def _same(p: Any, bundle: Any) -> bool:
    ends = p.key[:2] == (tuple(bundle.inputs), tuple(bundle.outputs))
    return ends and p.gate == bundle.gate


def _ordinary(graph: _Graph, given: Given, own: list[Any]) -> str:
    """Check parallel pathways, a part of pathways on the same data; return its level."""
    level, _, stages = check_pathways(graph.data, given, 0, 0)
    shown = [p for stage in stages for p in stage.paths]
    good = len(stages) == 1 and len(shown) == len(own)
    given.require(good, "one stage of the component's pathways")
    good = all(_same(p, graph.bundles[q.bundle]) for p, q in zip(shown, own, strict=True))
    given.require(good, "the component's pathways")
    return level


# -- joint bases -----------------------------------------------------------------------------------


def _check_diagonal(graph: _Graph, given: Given, maps: Maps) -> bool:
    """Check what is said of joint bases; return whether they are proven."""
    outcome = given["outcome"]
    if outcome.value == "undecided":
        given.take("outcome")
    elif outcome.value == "refuted":
        _refuted(given, maps)
    else:
        outcome.shows("proven", "proven, refuted or undecided")
        _proven(graph, given, maps)
    return outcome.value == "proven"


def _turned(arrow: Arrow) -> Arrow:
    return arrow[1], arrow[0], arrow[2].T


def _refuted(given: Given, maps: Maps) -> None:
    """Check a product of maps, one after the other, that returns and is not symmetric."""
    v = given.take("outcome word row column")
    total: Arrow | None = None
    for item in reversed(v.word.items()):
        *key, flip = item.value
        item.require(type(flip) is bool and tuple(key) in maps, "[kind, bundles, transposed]")
        arrow = _turned(maps[tuple(key)]) if flip else maps[tuple(key)]
        item.require(total is None or arrow[0] == total[1], "maps one after the other")
        total = arrow if total is None else (total[0], arrow[1], arrow[2] @ total[2])
    assert total is not None
    row, column = (n.integer(total[2].shape[1] - 1) for n in (v.row, v.column))
    entries = total[2].entries()
    differs = total[0] == total[1] and entries.get((row, column)) != entries.get((column, row))
    given.require(differs, "a product that returns to its node and is not symmetric there")


def _proven(graph: _Graph, given: Given, maps: Maps) -> None:
    """Check that the listed products span all, and that those that return are symmetric."""
    v, data = given.take("outcome generators maps products relations"), graph.data
    met = {end for m in maps.values() for end in m[:2]}
    sizes = {name: size for name, size in graph.ends.items() if name in met}
    generators: list[Arrow] = []
    for item in v.generators.items():
        g = item.take("source target matrix")
        ends = g.source.text(), g.target.text()
        item.require({*ends} <= sizes.keys(), "a matrix between nodes")
        matrix = data.integer_matrix(g.matrix, sizes[ends[1]], sizes[ends[0]])
        generators.append((*ends, matrix))
    arrows = [arrow for m in maps.values() for arrow in (m, _turned(m))]
    for item, arrow in zip(v.maps.items(len(arrows)), arrows, strict=True):
        _is_combination(data, item, arrow, generators)
    one = data.constant(1)
    products: list[Arrow] = [
        (name, name, data.assembled({(i, i): one for i in range(size)}, (size, size)))
        for name, size in sizes.items()
    ]
    origins = set()
    for item in v.products.items(least=0):
        shown = zip(item.items(2), (generators, products), strict=True)
        g, p = (n.integer(len(known) - 1) for n, known in shown)
        (source, end, matrix), after = products[p], generators[g]
        item.require(after[0] == end, "a generator after a product")
        products.append((source, after[1], _primitive(after[2] @ matrix)))
        origins.add((g, p))
    for source, target, matrix in products:
        symmetric = source != target or equal(matrix, matrix.T)
        v.products.require(symmetric, "symmetric where a product returns to its node")
    left = [
        (source, after[1], after[2] @ matrix)
        for g, after in enumerate(generators)
        for p, (source, end, matrix) in enumerate(products)
        if after[0] == end and (g, p) not in origins
    ]
    for item, arrow in zip(v.relations.items(len(left)), left, strict=True):
        _is_combination(data, item, arrow, products)


def _is_combination(data: Data, given: Given, arrow: Arrow, known: list[Arrow]) -> None:
    """Check that a map is Σ number · arrow over [number, place] of arrows with the same ends."""
    parts = [(data.constant(-1), arrow[2])]
    for item in given.items(least=0):
        number, place = item.items(2)
        other = known[place.integer(len(known) - 1)]
        item.require(other[:2] == arrow[:2], "of maps with the same ends")
        parts.append((data.ratio(number), other[2]))
    given.require(not combined(parts), "a combination that equals the map")


def _primitive(matrix: Matrix) -> Matrix:
    """Return an integer matrix over the common divisor of its entries."""
    common = gcd(*(v for part in matrix.terms.values() for r in part.values() for v in r.values()))
    terms = {
        key: {i: {j: v // common for j, v in row.items()} for i, row in part.items()}
        for key, part in matrix.terms.items()
    }
    return Matrix(matrix.shape, terms, matrix.below)
