"""derivation.json of a graph, format symreln-graph/1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.base.provenance import library_versions
from symreln.report.encode import Encoder
from symreln.report.spec_json import DIGITS, spec_to_json

if TYPE_CHECKING:
    import sympy as sp

    from symreln.exact.spectrum import JointSpectrum
    from symreln.graphs.chains import SharedChain
    from symreln.graphs.derivation import GraphDerivation
    from symreln.graphs.routing import RoutingNetwork

FORMAT = "symreln-graph/1"


def graph_to_json(derivation: GraphDerivation) -> dict[str, Any]:
    """Return everything derived of a graph as JSON values."""
    return {
        **spec_to_json(derivation.spec),
        # Strengths start from a symbol: no number but those of the spec is in the formulas.
        "free_constants": 0,
        "constants": [],
        "format": FORMAT,
        **_graph(derivation),
        "verdict": {
            "level": derivation.level.value,
            "reasons": [c.why for c in derivation.components],
        },
        "diagonal": {
            "outcome": derivation.decision.outcome.value,
            "reason": derivation.decision.reason,
        },
        "components": _components(derivation),
        "curves": _curves(derivation),
        **_conserved(derivation),
        "routing": _routing(derivation),
        "steps": Encoder.of(derivation.spec)(derivation.steps),
        "versions": library_versions(),
    }


def _graph(derivation: GraphDerivation) -> dict[str, Any]:
    """Return nodes, edges and the paths through them."""
    graph, spaces, data = derivation.graph, derivation.spaces, derivation.data
    return {
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind,
                "size": node.size,
                "gate": node.gate_text,
                "space": None if node.is_hidden else spaces.dimension(node.name),
            }
            for node in graph.nodes
        ],
        "edges": [
            {
                "name": edge.name,
                "from": edge.source,
                "to": edge.target,
                "gate": edge.gate_text,
                "pathways": sum(place in path.edges for path in data.paths),
            }
            for place, edge in enumerate(graph.edges)
        ],
        "pathways": [
            {
                "name": graph.name(path),
                "edges": [graph.edges[place].name for place in path.edges],
                "samples": sum(value != 0 for value in path.gate),
                "bundle": data.bundle_of[number],
            }
            for number, path in enumerate(data.paths)
        ],
        "depth": graph.depth,
    }


def _conserved(derivation: GraphDerivation) -> dict[str, Any]:
    names = [edge.name for edge in derivation.graph.edges]
    return {
        "conserved": [
            {
                "node": balance.node,
                "plus": [names[e] for e in balance.outgoing],
                "minus": [names[e] for e in balance.incoming],
                "outcome": balance.outcome.value,
            }
            for balance in derivation.balances
        ],
        "conserved_norms": [
            {"expr": derivation.norm_text(norm), "outcome": norm.outcome.value}
            for norm in derivation.norms
        ],
    }


def _routing(derivation: GraphDerivation) -> dict[str, Any] | None:
    network, found = derivation.network, derivation.recognised
    if network is None:
        return None
    values = {"M": found.domains, "K": found.partners}
    return {
        "domains": found.domains,
        "partners": found.partners,
        "uses": dict(zip(("input", "hidden", "output"), map(str, network.counts), strict=True)),
        "equations": [str(expr) for expr in network.chain.velocities],
        "conserved": [str(item.expr) for item in network.chain.conserved],
        "balanced_rate": str(network.chain.balanced_rate),
        "balanced_time": str(network.balanced_time),
        "closed_forms": [
            {"difference": words, "time": str(form.primitive)}
            for words, form in closed_forms(network)
        ],
        "speed": _at(network.speed, values),
        "speed_from_equal_weights": _at(network.speed_of_equal_weights, values),
        "sharings": [
            {"shared": list(item.shared), "speed": str(item.speed)} for item in network.sharings()
        ],
        "modes": _modes(derivation, derivation.components[0].spectra[0]),
        "speed_from_start": None if isinstance(derivation.curves, str) else derivation.curves.speed,
    }


def closed_forms(network: RoutingNetwork) -> list[tuple[str, Any]]:
    """Return (sign of the difference in words, closed form) of the three cases."""
    words = {-1: "negative", 0: "zero", 1: "positive"}
    return [(words[sign], network.equal_ends(sign)) for sign in (-1, 0, 1)]


def _at(expr: sp.Expr, values: dict[str, int]) -> dict[str, Any]:
    """Return an expression in M and K with its value; its limit where it is one there."""
    import sympy as sp

    point = {s: sp.Integer(values[s.name]) for s in expr.free_symbols if isinstance(s, sp.Symbol)}
    value: Any = expr
    for symbol, number in point.items():
        value = sp.limit(value, symbol, number)
    return {"expr": str(expr), "value": str(value), "decimal": str(sp.N(value, 15))}


def _components(derivation: GraphDerivation) -> list[dict[str, Any]]:
    return [
        {
            "pathways": list(component.paths),
            "level": component.level.value,
            "reason": component.why,
            "uses": list(component.counts) or None,
            "not_regular": component.reason or None,
            "diagonal": {
                "outcome": component.decision.outcome.value,
                "reason": component.decision.reason,
            },
            "closed_form": None if component.form is None else _form(component.form),
            "modes": [
                {"bundle": place, "same_as": first, "modes": None}
                if first < place
                else {"bundle": place, "same_as": None, "modes": _modes(derivation, spectrum)}
                for place, (first, spectrum) in enumerate(
                    zip(component.equal_data, component.spectra, strict=True)
                )
            ],
        }
        for component in derivation.components
    ]


def _form(form: SharedChain) -> dict[str, Any]:
    return {
        "family": form.family,
        "rate": str(form.rate),
        "strength": None if form.mode.expr is None else str(form.mode.expr),
        "latex": form.mode.to_latex(),
        "conserved": [] if form.chain is None else [str(c.expr) for c in form.chain.conserved],
        "speed": str(form.gain),
    }


def _modes(derivation: GraphDerivation, spectrum: JointSpectrum) -> list[dict[str, Any]]:
    spec = derivation.spec
    return [
        {
            "s": mode.s.to_json(spec.values, spec.symbols, DIGITS),
            "d": None if mode.d is None else mode.d.to_json(spec.values, spec.symbols, DIGITS),
            "multiplicity": mode.multiplicity,
        }
        for mode in spectrum.modes
    ]


def _curves(derivation: GraphDerivation) -> dict[str, Any]:
    found = derivation.curves
    if isinstance(found, str):
        return {"missing": found}
    moments = found.moments
    return {
        "missing": None,
        "start": found.start,
        "steps": [float(t) for t in found.times[moments]],
        "full_loss": [float(value) for value in found.full] or None,
        "reduced_loss": [float(value) for value in found.loss[moments]],
        "difference": found.difference,
    }
