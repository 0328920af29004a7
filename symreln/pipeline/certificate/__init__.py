"""Writes certificates: exact claims as :mod:`symreln.verify` reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symreln.claims.derivation import Derivation
from symreln.claims.families.derivation import FamilyDerivation
from symreln.graphs.derivation import GraphDerivation
from symreln.pipeline.certificate.graphs import graph_part, texts_of_graph
from symreln.pipeline.certificate.pathways import pathways_part, texts_of
from symreln.pipeline.certificate.texts import Json, Texts, spec_digest
from symreln.spec.model import Spec
from symreln.verify import FORMAT, digest

__all__ = ["certificate", "certificate_of_family", "certificate_of_graph"]


def certificate(derivation: Derivation) -> Json:
    """Return the certificate of a derivation: its gates, those taken later, and every size."""
    steps = zip(derivation.spec.switches, derivation.later, strict=True)
    parts = [
        derivation.ask(pathways_part),
        *({**phase.ask(pathways_part), "step": step} for step, phase in steps),
    ]
    family = derivation.family
    if family is not None and family.template is not None and not derivation.later:
        parts.append(family.certified[0])
    return _whole(derivation.spec, texts_of(derivation.spec), parts)


def certificate_of_graph(derivation: GraphDerivation) -> Json:
    """Return the certificate of a graph's derivation."""
    return _whole(derivation.spec, texts_of_graph(derivation), [graph_part(derivation)])


def certificate_of_family(family: FamilyDerivation) -> Json:
    """Return a certificate of every size alone."""
    empty: dict[str, Any] = {"parameters": [], "inputs": None, "targets": None, "level": None}
    return _sealed({**_header(family.spec), **empty, "parts": [family.certified[0]]})


def _whole(spec: Spec, texts: Texts, parts: Iterable[Json]) -> Json:
    found = list(parts)
    return _sealed(
        {
            **_header(spec),
            "parameters": list(texts.names),
            "inputs": texts.matrix(spec.dataset.sparse_inputs),
            "targets": texts.matrix(spec.dataset.sparse_targets),
            "parts": found,
            "level": found[0]["level"],
        }
    )


def _header(spec: Spec) -> Json:
    return {"format": FORMAT, "spec": spec_digest(spec), "free_constants": 0}


def _sealed(certificate: Json) -> Json:
    return {**certificate, "digest": digest(certificate)}
