r"""Certificates of graphs: exact claims as JSON that :mod:`symreln.verify_graph` checks alone.

Format ``symreln-graph-certificate/1``; numbers and matrices are spelled as in
:mod:`symreln.exact.certificate`, and the modes of a pathway are proven as there. The verifier
follows the paths of the graph itself, multiplies their gates, and builds from X and Y the
correlations of every *bundle*, pathways with the same ends and gate:
:math:`\Sigma^{yx}(b) = Y_b F_b^T/P`, :math:`\Sigma^x(c,b) = F_c F_b^T/P`, and O_{bc} of those that
write to a common output. With T_b the sum of the products of weights along the pathways of b,

.. math:: \tau\dot W_e = \sum_{p\ni e} W_{after}^T E_b W_{before}^T,\qquad
   E_b = \Sigma^{yx}(b) - \sum_c O_{bc} T_c \Sigma^x(c, b).

**Aligned weights stay aligned.** ``spaces`` has a space at every input and output node that the
correlations do not leave (:mod:`symreln.verify_graph_spaces`). *Claim.* Weights that start as
:math:`W_e = R_t B_e R_s^T`, with R_n of orthonormal columns that span the space of node n, and any
R_n at hidden nodes, keep that form, and the B_e follow the flow of the smaller graph.
*Proof.* T_b = R_out (…) R_inᵀ for such weights, so that every column of E_b is in the space of its
output node and every row in that of its input node, by what is checked. In the term of edge e the
factor left of e ends the product with the matrix of the next edge of the path, transposed, which
begins with R_t as that edge begins where e ends; where e is the last edge, E_b itself begins in the
space of its node. The same holds on the right. So the velocity has the form of W_e, and flows from
a start are unique. ∎

**Conserved quantities** are derived in letters (:mod:`symreln.verify_graph_words`): at every hidden
node the matrix :math:`\sum_{out} W_e^T W_e - \sum_{in} W_e W_e^T` over the edges that pathways join
there, and a basis of all λ for which Σ λ_e ‖W_e‖² does not move along any pathway.

**Components** are pathways that share an edge or a bundle, or couple. Their flows never meet.

- A *regular* one has pathways of L edges, one place for every edge, edges at one place used by
  equally many pathways, :math:`n_l`, and equal data of all pathways, which do not couple; all of
  which the verifier finds itself. Edges that start alike at each place, aligned with the modes
  (s, d) of one pathway, stay alike, and with strengths w_l in a mode
  :math:`\tau\dot w_l = n_l\prod_{m\ne l} w_m (s - d\pi)`, π = Π w_m: by the lemma above one
  pathway's term stands in the bases of its edge, where all pathways of the edge have the same.
  ``modes`` shows that Sigma^x and M commute, with all their modes. ``chain`` has the conserved
  differences, N = Π n_l, and the closed form of a balanced start, all as rational identities
  (:mod:`symreln.verify_graph_forms`). ``closed`` where all n are 1, else ``closed by symmetry``.
- Parallel pathways of two edges, none shared, are an ordinary derivation; ``ordinary`` is its
  certificate.
- In others ``diagonal`` shows that orthonormal bases make all correlations diagonal, so that modes
  follow flows of numbers (``coupled modes``), or a product of correlations by which they cannot.

The last two levels are upper bounds: what is said of modes and of matrices holds in any case.

**Routing network.** For one regular component of several pathways of three edges, one edge in the
middle of all, whose modes close, ``routing`` claims for *all* M and K: the counts (K, KM, K), the
conserved differences, the closed forms of a balanced start and of equal outer edges, the speed
N^{1/3} = K M^{1/3} against unshared pathways, and the limit of the speed from equal small weights.

Every field is bound: by these equations, by its spelling, by the level, or (names of edges and of
modes' pathways, sizes of hidden nodes) by the digest. With a renewed digest only choices of the
proof can be made otherwise: vectors and operators that span modes, bases of spaces, generators and
products, the word of a refutation, another basis of conserved norms, another form of a time.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.exact import integers
from symreln.exact.certificate import CertifiedPathway, pathway_json
from symreln.exact.certificate_text import Json, Texts, names_used
from symreln.exact.scalar import Scalar
from symreln.graphs.certified_forms import chain_form, routing_form
from symreln.pipeline.certify import certificate
from symreln.truth import Truth
from symreln.verdict.judge import Level
from symreln.verify import LEVELS, digest
from symreln.verify_graph import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flint import fmpz_mat

    from symreln.exact.matrix import ExactMatrix
    from symreln.graphs.components import Component
    from symreln.graphs.derivation import GraphDerivation
    from symreln.graphs.diagonal import Arrow, Diagonality
    from symreln.graphs.model import Edge, Node
    from symreln.graphs.spaces import NodeSpaces
    from symreln.spec.model import Gain


def graph_certificate(derivation: GraphDerivation) -> Json:
    """Return the certificate of a graph's derivation."""
    data, graph = derivation.data, derivation.graph
    dataset = data.dataset
    matrices = [dataset.sparse_inputs, dataset.sparse_targets]
    texts = Texts(names_used(matrices, _gains([*graph.nodes, *graph.edges])))
    found = derivation.recognised
    certificate: Json = {
        "format": FORMAT,
        "parameters": list(texts.names),
        "inputs": texts.matrix(dataset.sparse_inputs),
        "targets": texts.matrix(dataset.sparse_targets),
        "nodes": [
            {
                "name": node.name,
                "size": node.size,
                "gate": _gate(node.gate, texts),
                "inputs": list(node.inputs),
                "outputs": list(node.outputs),
            }
            for node in graph.nodes
        ],
        "edges": [
            {
                "name": edge.name,
                "from": edge.source,
                "to": edge.target,
                "gate": _gate(edge.gate, texts),
            }
            for edge in graph.edges
        ],
        "pathways": [
            {"edges": list(path.edges), "bundle": data.bundle_of[place]}
            for place, path in enumerate(data.paths)
        ],
        "spaces": _spaces(derivation.spaces),
        "conserved": {
            "balances": [
                {"node": b.node, "incoming": list(b.incoming), "outgoing": list(b.outgoing)}
                for b in derivation.balances
            ],
            "norms": [list(norm.weights) for norm in derivation.norms],
        },
        "components": [_component(c, texts) for c in derivation.components],
        "routing": None
        if derivation.network is None
        else routing_form(found.domains, found.partners),
        "level": max((c.level.value for c in derivation.components), key=LEVELS.index),
        "free_constants": 0,
    }
    return {**certificate, "digest": digest(certificate)}


def _gains(items: Iterable[Node | Edge]) -> set[Scalar]:
    return {g for item in items for g in item.gate or () if isinstance(g, Scalar)}


def _gate(gate: tuple[Gain, ...] | None, texts: Texts) -> list[Any] | None:
    if gate is None:
        return None
    return [texts.ratio(g) if isinstance(g, Scalar) else int(g) for g in gate]


# -- spaces ---------------------------------------------------------------------------------------


def _rows(matrix: fmpz_mat) -> list[list[int]]:
    return [[int(entry) for entry in row] for row in matrix.tolist()]


def _spaces(spaces: NodeSpaces) -> list[Json]:
    found = []
    for node in spaces.data.graph.nodes:
        if not node.is_hidden:
            basis = spaces.bases[node.name].transpose()
            normals = integers.kernel(basis) if basis.nrows() else integers.identity(node.size)
            found.append(
                {
                    "node": node.name,
                    "basis": _rows(basis),
                    "outside": _rows(normals.transpose()),
                }
            )
    return found


# -- components -----------------------------------------------------------------------------------


def _component(component: Component, texts: Texts) -> Json:
    ordinary = component.ordinary
    general = not component.is_regular and ordinary is None
    closed = component.is_regular and component.level is not Level.COUPLED_MATRICES
    return {
        "pathways": list(component.paths),
        "counts": list(component.counts) if component.is_regular else None,
        "modes": None if ordinary is not None else _modes(component),
        "diagonal": _diagonal(component, component.decision, texts) if general else None,
        "chain": chain_form([sp.Integer(n) for n in component.counts]) if closed else None,
        "ordinary": None if ordinary is None else ordinary.ask(certificate),
        "level": component.level.value,
    }


def _modes(component: Component) -> list[Json | int]:
    data = component.data
    found: list[Json | int] = []
    for place, (bundle, spectrum) in enumerate(zip(data.bundles, component.spectra, strict=True)):
        first = component.equal_data[place]
        if first < place:
            found.append(first)
            continue
        spec = bundle.effective.pathway
        shown = CertifiedPathway(
            name=spec.name,
            gate=spec.gate,
            inputs=spec.inputs,
            outputs=spec.outputs,
            spectrum=spectrum,
        )
        found.append(pathway_json(shown))
    return found


def _diagonal(component: Component, decision: Diagonality, texts: Texts) -> Json:
    if decision.outcome is Truth.UNDECIDED:
        return {"outcome": "undecided"}
    if decision.outcome is Truth.REFUTED:
        assert decision.entry is not None
        word = [decision.generators[n] for n in decision.word]
        row, column = decision.entry
        return {
            "outcome": "refuted",
            "word": [[*arrow.of, arrow.is_turned] for arrow in word],
            "row": row,
            "column": column,
        }
    known = {origin for origin in decision.origins if origin[0] >= 0}
    return {
        "outcome": "proven",
        "generators": [
            {"source": g.source, "target": g.target, "rows": _rows(g.matrix)}
            for g in decision.generators
        ],
        "maps": _maps(component, decision, texts),
        "products": [list(origin) for origin in decision.origins if origin[0] >= 0],
        "relations": [
            _relation(_times(g, p), decision.arrows)
            for n, g in enumerate(decision.generators)
            for k, p in enumerate(decision.arrows)
            if g.source == p.target and (n, k) not in known
        ],
    }


def _times(generator: Arrow, arrow: Arrow) -> Arrow:
    """Return their product as it is, where :meth:`Arrow.after` takes a common factor out."""
    return replace(arrow, target=generator.target, matrix=generator.matrix * arrow.matrix)


def _maps(component: Component, decision: Diagonality, texts: Texts) -> list[list[list[Any]]]:
    """Return every map and its transpose as combinations of generators."""
    data = component.data
    maps = [(b.source, b.target, m) for b, m in zip(data.bundles, data.sigma_yx, strict=True)]
    for (c, b), sigma in data.sigma_x.items():
        into, out = data.bundles[b], data.bundles[c]
        maps.append((into.source, out.source, sigma))
        maps.append((out.target, into.target, data.overlaps[c, b]))
    found = []
    for source, target, matrix in maps:
        found.append(_combination(matrix, (source, target), decision.generators, texts))
        found.append(_combination(matrix.T, (target, source), decision.generators, texts))
    return found


def _combination(
    matrix: ExactMatrix, ends: tuple[str, str], generators: Sequence[Arrow], texts: Texts
) -> list[list[Any]]:
    """Return [number, generator] with the sum of number · generator equal to a matrix."""
    names = matrix.parameters
    below = Scalar(names, matrix.denominator)
    totals: dict[int, Scalar] = {}
    for key, part in matrix.terms.items():
        monomial = Scalar(names, 1)
        for name, power in zip(names, key, strict=True):
            monomial = monomial * Scalar.symbol(name, names) ** int(power)
        for place, value in _coordinates(part, ends, generators):
            share = Scalar.of(value, names) * monomial / below
            totals[place] = totals[place] + share if place in totals else share
    return [[texts.ratio(value), place] for place, value in totals.items() if value != 0]


def _coordinates(
    matrix: fmpz_mat, ends: tuple[str, str], among: Sequence[Arrow]
) -> list[tuple[int, Fraction]]:
    """Return (place, factor) of the arrows with these ends that a matrix is a combination of.

    Raises:
        ArithmeticError: It is none.
    """
    places = [k for k, a in enumerate(among) if (a.source, a.target) == ends]
    size = matrix.nrows() * matrix.ncols()
    basis = integers.from_columns([among[k].matrix.entries() for k in places], size)
    target = integers.from_columns([matrix.entries()], size)
    found = integers.coordinates(basis, target) if places else None
    if found is None:
        if integers.is_zero(matrix):
            return []
        msg = "a map is no combination of the generators"
        raise ArithmeticError(msg)
    values = [Fraction(int(entry.p), int(entry.q)) for entry in found.entries()]
    return [(k, value) for k, value in zip(places, values, strict=True) if value]


def _relation(product: Arrow, arrows: Sequence[Arrow]) -> list[list[int]]:
    """Return [numerator, denominator, product] with their sum equal to a product's matrix."""
    ends = product.source, product.target
    found = _coordinates(product.matrix, ends, arrows)
    return [[value.numerator, value.denominator, place] for place, value in found]
