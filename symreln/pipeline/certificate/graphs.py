"""The part of a certificate on a graph of nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp
from flint import fmpz_mat

from symreln.claims.network.components import Component
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.network.described import described
from symreln.claims.network.kept import conserved_of
from symreln.claims.texts import Json, Texts, names_used
from symreln.exact import integers
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.networks.parts import Gain
from symreln.pipeline.certificate.pathways import pathway_json, pathways_part
from symreln.pipeline.certificate.times import chain_json, routing_json
from symreln.verdict.diagonal import Arrow, Diagonality
from symreln.verdict.judge import Level


def texts_of_network(derivation: NetworkDerivation) -> Texts:
    """Return the spelling of numbers in the parameters of the data and of the graph's gates."""
    graph, dataset = derivation.graph, derivation.data.dataset
    items = [*graph.nodes, *graph.edges]
    gains = {g for item in items for g in item.gate or () if isinstance(g, Scalar)}
    return Texts(names_used([dataset.inputs, dataset.targets], gains))


def network_part(derivation: NetworkDerivation) -> Json:
    """Return everything that is claimed of a graph."""
    data, graph, found = derivation.data, derivation.graph, derivation.routing_sizes
    texts, conserved = texts_of_network(derivation), derivation.ask(conserved_of)
    return {
        "kind": "graph",
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
        "spaces": _spaces(derivation, texts),
        "conserved": {
            "balances": [
                {"node": b.node, "incoming": list(b.incoming), "outgoing": list(b.outgoing)}
                for b in conserved.balances
            ],
            "norms": [list(norm.weights) for norm in conserved.norms],
        },
        "components": [_component(c, texts) for c in derivation.components],
        "routing": None if isinstance(found, str) else routing_json(*found),
        "level": derivation.level.value,
    }


def _gate(gate: tuple[Gain, ...] | None, texts: Texts) -> list[Any] | None:
    if gate is None:
        return None
    return [texts.ratio(g) if isinstance(g, Scalar) else int(g) for g in gate]


def _integers(matrix: fmpz_mat, texts: Texts) -> Json:
    return texts.matrix(ExactMatrix.from_integers(matrix, parameters=texts.names))


def _spaces(derivation: NetworkDerivation, texts: Texts) -> list[Json]:
    found = []
    for node in derivation.graph.nodes:
        if not node.is_hidden:
            basis = derivation.ask(described).spaces.bases[node.name]
            rows = basis.transpose()
            normals = integers.kernel(rows) if rows.nrows() else integers.identity(node.size)
            found.append(
                {
                    "node": node.name,
                    "basis": _integers(basis, texts),
                    "outside": _integers(normals.transpose(), texts),
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
        "modes": None if ordinary is not None else _modes(component, texts),
        "diagonal": _diagonal(component, component.decision, texts) if general else None,
        "chain": chain_json([sp.Integer(n) for n in component.counts]) if closed else None,
        "ordinary": None if ordinary is None else ordinary.ask(pathways_part),
        "level": component.level.value,
    }


def _modes(component: Component, texts: Texts) -> list[Json | int]:
    found: list[Json | int] = []
    for place, (bundle, spectrum) in enumerate(
        zip(component.data.bundles, component.spectra, strict=True)
    ):
        first = component.equal_data[place]
        shown = first if first < place else pathway_json(bundle.effective.pathway, spectrum, texts)
        found.append(shown)
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
            {"source": g.source, "target": g.target, "matrix": _integers(g.matrix, texts)}
            for g in decision.generators
        ],
        "maps": _maps(component, decision, texts),
        "products": [list(origin) for origin in decision.origins if origin[0] >= 0],
        "relations": [
            [
                [texts.ratio(value), place]
                for place, value in _coordinates(
                    g.matrix * p.matrix, (p.source, g.target), decision.arrows
                )
            ]
            for n, g in enumerate(decision.generators)
            for k, p in enumerate(decision.arrows)
            if g.source == p.target and (n, k) not in known
        ],
    }


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
        for place, value in _coordinates(part.flint, ends, generators):
            share = value * monomial / below
            totals[place] = totals[place] + share if place in totals else share
    return [[texts.ratio(value), place] for place, value in totals.items() if value != 0]


def _coordinates(
    matrix: fmpz_mat, ends: tuple[str, str], among: Sequence[Arrow]
) -> list[tuple[int, Scalar]]:
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
    values = [Scalar((), int(entry.p), int(entry.q)) for entry in found.entries()]
    return [(k, value) for k, value in zip(places, values, strict=True) if not value.is_zero]
