"""Writes certificates: exact claims as :mod:`symreln.verifier` reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symreln.claims.derivation import Derived, of_pathways
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.texts import Json, Texts
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.pipeline.certificate.pathways import pathways_part, texts_of
from symreln.verifier import FORMAT, digest

__all__ = ["certificate"]


def certificate(derivation: Derived) -> Json | None:
    """Return the certificate of a derivation: its gates, those taken later, and every size.

    Of nodes and edges it is of a routing network; other graphs have none.
    """
    if isinstance(derivation, NetworkDerivation):
        return _of_network(derivation)
    derivation = of_pathways(derivation)
    steps = zip(derivation.spec.switches, derivation.later, strict=True)
    parts = [
        derivation.ask(pathways_part),
        *({**phase.ask(pathways_part), "step": step} for step, phase in steps),
    ]
    family = derivation.family
    if family is not None and family.complete:
        from symreln.claims.families.derivation import sizes_part

        parts.append(sizes_part(family))
    return _whole(derivation, parts)


def _of_network(derivation: NetworkDerivation) -> Json | None:
    sizes = derivation.routing_sizes
    if isinstance(sizes, str):
        return None
    from symreln.pipeline.certificate.routing import routing_part

    apart = derivation.components[0].unshared.ask(pathways_part)
    return _whole(derivation, [apart, routing_part(derivation.data, *sizes)])


def _whole(derivation: Derived, parts: list[Json]) -> Json:
    spec, texts = derivation.spec, texts_of(derivation.spec)
    whole = {
        "format": FORMAT,
        "spec": spec_digest(spec),
        "parameters": list(texts.names),
        "inputs": texts.matrix(spec.dataset.inputs),
        "targets": texts.matrix(spec.dataset.targets),
        "parts": parts,
        "level": derivation.level.value,
        "free_constants": 0,
    }
    return {**whole, "digest": digest(whole)}


def spec_digest(spec: Any) -> str:
    """Return the SHA-256 of everything that a spec says."""
    return hashlib.sha256(json.dumps(_plain(spec)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return JSON values that are equal for equal values only."""
    if isinstance(value, tuple | list) and {*map(type, value)} == {int}:  # most of a spec
        return [f"int {item}" for item in value]
    if isinstance(value, ExactMatrix):
        return Texts(value.parameters).matrix(value)
    if isinstance(value, Scalar):
        return Texts(value.parameters).ratio(value)
    if is_dataclass(value):
        said = [each.name for each in fields(value) if each.compare]
        return {name: _plain(getattr(value, name)) for name in said}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):  # however it was written
        return f"Fraction {value}"
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    return value.tolist() if isinstance(value, np.ndarray) else f"{type(value).__name__} {value}"
