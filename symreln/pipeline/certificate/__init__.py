"""Writes certificates: exact claims as :mod:`symreln.verifier` reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from symreln.claims.derivation import Derivation
from symreln.claims.every_size import EverySize
from symreln.claims.routing_claim import Routing, routing_of
from symreln.claims.texts import Json, Texts
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.laws.routing_network import DOMAINS, PARTNERS
from symreln.pipeline.certificate.pathway_part import pathways_part, texts_of
from symreln.verdict.judge import Level
from symreln.verifier import FORMAT, digest
from symreln.verifier.sizes import GROUPS, NUMBERS

__all__ = ["certificate"]


def certificate(derivation: Derivation) -> Json | None:
    """Return the certificate of a derivation: its gates, those taken later, and every size.

    Of pathways that share edges, or have unequally many, it is of a routing network alone.
    """
    known, routing = derivation.known, derivation.ask(routing_of)
    if routing is not None:
        return _whole(derivation, [pathways_part(_apart(derivation)), _routing_part(routing)])
    if known.sharing is not None or known.irregular:
        return None
    steps = zip(derivation.spec.switches, derivation.later, strict=True)
    parts = [
        derivation.ask(pathways_part),
        *({**phase.ask(pathways_part), "step": step} for step, phase in steps),
    ]
    family = derivation.family
    if family is not None and family.complete:
        parts.append(sizes_part(family))
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


def _routing_part(routing: Routing) -> Json:
    """Return what is claimed of a routing network, and for all M and K."""
    ends = [(path.edges[0], path.edges[-1]) for path in routing.paths]
    first, last = (list(dict.fromkeys(side)) for side in zip(*ends, strict=True))
    counts, total = routing.network.chain.counts, routing.network.chain.total
    n1, n2, _ = counts
    letters = (DOMAINS, PARTNERS)
    names = tuple(letter.name for letter in letters)
    texts, symbols = Texts(names), [Scalar.symbol(name, names) for name in names]

    def text(expr: Any) -> str:
        return texts.ratio(Scalar.of(sp.lambdify(letters, sp.cancel(expr))(*symbols), names))

    return {
        "kind": "routing",
        "pairs": [[first.index(a), last.index(b)] for a, b in ends],
        "domains": routing.domains,
        "partners": routing.partners,
        "uses": [text(n) for n in counts],
        "chain": {"conserved": [text(n / n1) for n in counts[1:]], "radicand": text(total)},
        "equal_weights": {
            "factor_squared": text(total * (n2 - n1) / (n1 * n2)),
            "angle_squared": text(n2 / n1 - 1),
        },
    }


def sizes_part(family: EverySize) -> Json:
    """Return the part on every size, as :mod:`symreln.verifier.sizes` reads it."""
    task = family.task
    assert task is not None
    texts = Texts(tuple(task.symbols))
    sizes = (
        {"symbol": x.symbol, "least": x.least, "at": x.at} for x in (task.items, task.contexts)
    )
    return {
        "kind": "sizes",
        "symbols": list(task.symbols),
        **dict(zip(GROUPS, sizes, strict=True)),
        "copies": str(task.copies),
        "scale": texts.ratio(task.scale),
        "stages": [
            {
                "name": stage.template.name,
                "gate": stage.template.gate,
                "inputs": list(stage.template.inputs),
                "level": stage.level.value,
                "initial_loss": texts.ratios(stage.before),
                "final_loss": texts.ratios(stage.after),
                "modes": [
                    {"part": mode.part}
                    | {x: (y := getattr(mode.found, x)) and texts.ratio(y) for x in NUMBERS}
                    for mode in stage.modes
                ],
            }
            for stage in family.stages
        ],
    }


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
