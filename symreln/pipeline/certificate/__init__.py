"""Writes certificates: exact claims as :mod:`symreln.verifier` reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.claims.rules import rule_of
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.pipeline.certificate.pathway_part import pathways_part
from symreln.pipeline.certificate.texts import Json, Texts
from symreln.verdict.judge import Level
from symreln.verifier import FORMAT, digest

__all__ = ["certificate"]


def certificate(derivation: Derivation) -> Json | None:
    """Return the certificate of a derivation: its gates, those taken later, and every size.

    Of pathways that share edges, or have unequally many, it is of a routing network alone.
    """
    known, routing = derivation.known, derivation.ask(rule_of("routing"))
    if routing is not None:
        return _whole(derivation, [pathways_part(_apart(derivation)), routing.certificate()])
    if known.sharing is not None or known.irregular:
        return None
    steps = zip(derivation.spec.switches, derivation.later, strict=True)
    parts = [
        derivation.ask(pathways_part),
        *({**phase.ask(pathways_part), "step": step} for step, phase in steps),
    ]
    family = derivation.ask(rule_of("family")) if derivation.spec.sizes else None
    if family is not None and family.complete:
        parts.append(family.certificate())
    return _whole(derivation, parts)


def _apart(derivation: Derivation) -> Derivation:
    """Return the derivation of the same pathways with edges of their own: they do not couple."""
    stages = tuple(
        replace(stage, verdict=replace(stage.verdict, level=Level.CLOSED))
        for stage in derivation.stages
    )
    verdict = replace(derivation.verdict, stages=tuple(stage.verdict for stage in stages))
    return replace(derivation, stages=stages, verdict=verdict)


def _whole(derivation: Derivation, parts: list[Json]) -> Json:
    spec, texts = derivation.spec, Texts.of(derivation.spec)
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
    said = _plain(spec)
    if not spec.find:  # as it was before specs said where gates are from
        del said["find"]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


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
