"""Small certificates that together use every field, and single-field mutations of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any

import pytest

import symreln as sr
from symreln.errors import CertificateError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.specs.spec import Dataset, Parameter, PathwaySpec, Spec
from symreln.verifier import digest, verify
from tests.unchecked import derive_unchecked

Json = dict[str, Any]


def main(certificate: Json) -> Json:
    """The part on pathways, or on a graph, that is first."""
    return certificate["parts"][0]


def certificate_of(
    inputs: ExactMatrix, targets: ExactMatrix, stages: list[list[PathwaySpec]]
) -> Json:
    """Run the exact pipeline and certify it."""
    x, y = inputs.aligned(targets)
    spec = Spec(
        dataset=Dataset(inputs=x, targets=y),
        parameters=tuple(Parameter(name=name) for name in x.parameters),
        pathways=tuple(
            replace(p, stage=number) for number, stage in enumerate(stages, 1) for p in stage
        ),
    )
    return derive_unchecked(spec).certificate


def contextual(items: int, contexts: int, scale: str, common: str, off: Json) -> Json:
    """The certificate of the contextual task: a common pathway, then one off each context."""
    later = {"name": "off {context}", "each": "context", "gate": "context != {context}", "stage": 2}
    spec = sr.load(
        {
            "dataset": {
                "task": "contextual",
                "items": items,
                "contexts": contexts,
                "context_scale": scale,
            },
            "parameters": {"c": {}} if scale == "c" else {},
            "pathway": [{"name": "common", "inputs": common}, later | off],
        }
    )
    return derive_unchecked(spec).certificate


def pathway(
    name: str, gate: list[int], inputs: Sequence[int], outputs: Sequence[int]
) -> PathwaySpec:
    return PathwaySpec(name=name, gate=tuple(gate), inputs=tuple(inputs), outputs=tuple(outputs))


@lru_cache(maxsize=1)
def certificates() -> dict[str, Json]:
    """Certificates by name; callers must not change them."""
    found: dict[str, Json] = {}

    delta = Scalar.symbol("Delta", ("Delta",))
    x = ExactMatrix.from_rows(
        [[1, 1, -1, -1], [1, -1, 1, -1], [delta, -delta, -delta, delta]], ("Delta",)
    )
    y = ExactMatrix.from_rows([[1, -1, -1, 1]], ("Delta",))
    found["xor"] = certificate_of(
        x,
        y,
        [[pathway("one", [1, 0, 0, 1], range(3), range(1)),
          pathway("two", [0, 1, 1, 0], range(3), range(1))]],
    )  # fmt: skip

    # Two stages, closed by symmetry, a symbol in the inputs and in the map's denominator.
    found["contextual"] = contextual(2, 2, "c", "all", {"inputs": "items"})
    # Couplings: three contexts that share samples.
    found["coupled"] = contextual(2, 3, "1", "all", {"inputs": "items"})
    # Modes that drive each other out of their span: context inputs, a symbol, three pathways alike.
    found["leak"] = contextual(2, 3, "c", "items", {})

    # Not diagonalisable, an irreducible quadratic, a fraction among the data.
    x = ExactMatrix.from_rows([[1, 2, 0], [0, 1, Fraction(1, 3)]])
    y = ExactMatrix.from_rows([[1, 0, 1], [1, 1, 0]])
    found["generic"] = certificate_of(x, y, [[pathway("all", [1] * 3, range(2), range(2))]])

    # More inputs than outputs: what is orthogonal to the modes with s > 0 is shown by no vectors.
    x = ExactMatrix.from_rows([[int(i == j) for j in range(5)] for i in range(5)])
    y = ExactMatrix.from_rows([[1, 2, 0, 0, 1], [0, 1, 1, 0, 3]])
    found["rest"] = certificate_of(x, y, [[pathway("all", [1] * 5, range(5), range(2))]])

    # White inputs: commuting with an irreducible quadratic; coupled modes of two pathways.
    x = ExactMatrix.from_rows([[1, 0, 1, 0], [0, 1, 0, 1]])
    y = ExactMatrix.from_rows([[1, 1, 2, 2], [0, 1, 0, 2]])
    found["white"] = certificate_of(
        x,
        y,
        [[pathway("all", [1] * 4, range(2), range(2)),
          pathway("half", [1, 1, 0, 0], range(2), range(2))]],
    )  # fmt: skip

    # Gains: gates between 0 and 1, one of them a parameter.
    g = Scalar.symbol("g", ("g",))
    x = ExactMatrix.from_rows([[1, 0, 1, 0], [0, 1, 0, 1]])
    y = ExactMatrix.from_rows([[1, 1, 2, 2], [0, 1, 0, 2]])
    half = Scalar((), 1, 2)
    found["gains"] = certificate_of(
        x,
        y,
        [[PathwaySpec(name="all", gate=(1, g, 0, half), inputs=(0, 1), outputs=(0, 1)),
          pathway("rest", [0, 0, 1, 1], range(2), range(1))]],
    )  # fmt: skip
    return found


def copied(name: str) -> Json:
    """One of them, to be changed."""
    return json.loads(json.dumps(certificates()[name]))


def renewed(certificate: Json) -> Json:
    """A certificate with its own digest; it shares what it holds with the one given."""
    return {**certificate, "digest": digest(certificate)}


def rejected(certificate: Json, match: str) -> None:
    """With its own digest it is refused, and this is what is said."""
    with pytest.raises(CertificateError, match=match):
        verify(renewed(certificate))


# -- mutations ------------------------------------------------------------------------------------


def leaves(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths of everything in a certificate, containers included."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, (*path, place))


@contextmanager
def mutation(certificate: Json, random: Random, paths: list[tuple]) -> Iterator[str]:
    """Change one field of a certificate for a while; yields what was done."""
    path = random.choice(paths)
    holder: Any = certificate
    for step in path[:-2]:
        holder = holder[step]
    # A copy of what is around the field takes its place, so that all of it can be put back.
    if len(path) > 1:
        old = holder[path[-2]]
        holder[path[-2]] = around = copy.deepcopy(old)
    else:
        around, old = holder, dict(holder)
    try:
        yield _mutate(around, path, random)
    finally:
        if len(path) > 1:
            holder[path[-2]] = old
        else:
            holder.clear()
            holder.update(old)


def _mutate(holder: Any, path: tuple, random: Random) -> str:
    key, old = path[-1], holder[path[-1]]
    kind = random.choice(["change", "change", "change", "delete", "type", "swap", "add"])
    if kind == "swap":
        others = [k for k in (holder if isinstance(holder, dict) else range(len(holder)))
                  if holder[k] != old]  # fmt: skip
        if others:
            other = random.choice(others)
            holder[key], holder[other] = holder[other], old
            return f"swap {path} with {other}"
        kind = "change"
    if kind == "delete":
        del holder[key]
    elif kind == "add":
        if isinstance(old, dict):
            holder[key] = {**old, "extra": "0"}
        elif isinstance(old, list):
            holder[key] = [*old, copy.deepcopy(random.choice(old)) if old else 0]
        else:
            holder[key] = [old]
    elif kind == "type":
        choices = [None, [], {}, 0, "", "x", 1.5, True, [old], str(old)]
        holder[key] = random.choice([item for item in choices if _differs(item, old)])
    else:
        holder[key] = changed(old, random)
    new = "" if kind == "delete" else str(holder[key])[:40]
    return f"{kind} {path}: {str(old)[:40]} -> {new}"


def _differs(a: Any, b: Any) -> bool:
    return type(a) is not type(b) or a != b


def changed(old: Any, random: Random) -> Any:
    """Another value of the same type."""
    if isinstance(old, bool) or old is None:
        return 1
    if isinstance(old, int):
        return old + random.choice([-1, 1, 2])
    if isinstance(old, list):
        return [] if old else [0]
    if isinstance(old, dict):
        return {}
    digits = [place for place, sign in enumerate(old) if sign.isdigit()]
    if not digits:
        return old + "x"
    place = random.choice(digits)
    if random.random() < 0.3:
        return (
            old[:place] + "-" + old[place:]
            if old[max(place - 1, 0)] != "-"
            else old[: place - 1] + old[place:]
        )
    digit = random.choice([d for d in "0123456789" if d != old[place]])
    return old[:place] + digit + old[place + 1 :]


# -- what a certificate claims, whatever its spelling ---------------------------------------------

POINTS = tuple(
    {"c": Fraction(a, 7), "Delta": Fraction(b, 5), "g": Fraction(5, c), "M": Fraction(b), "K": a}
    for a, b, c in ((3, 11, 9), (-9, 4, 2))
)


def evaluated(text: str, values: dict[str, Any], one: Any = 1) -> Any:
    """The value of a number's text at values of its letters; ``one`` is what they are."""
    parts = []
    for polynomial in text.split(" / "):
        total = one * 0
        for term in polynomial.split(" + "):
            coefficient, *factors = term.split("*")
            value = one * int(coefficient)
            for factor in factors:
                name, power = factor.split("^")
                value *= values[name] ** int(power)
            total += value
        parts.append(total)
    return parts[0] / parts[1] if len(parts) > 1 else parts[0]


def number(text: str) -> tuple[Fraction, ...]:
    """The value of a number's text at two parameter points."""
    return tuple(evaluated(text, point, Fraction(1)) for point in POINTS)


def entries(matrix: Json) -> dict[tuple[int, int], tuple[Fraction, ...]]:
    below = number(matrix["denominator"])
    found = {}
    for i, j, text in matrix["entries"]:
        found[i, j] = tuple(x / y for x, y in zip(number(text), below, strict=True))
    return found


def claims(certificate: Json) -> Any:
    """What is claimed, without names, order, scale of vectors, or the proof's choices.

    The proof's choices are: the vectors that span a mode's space and their Gram matrix, the
    operator of a class of one mode and the scale of its polynomial, which minimiser is shown,
    which symmetries are used, which classes that are equal are summed together, and which action
    is shown to leave its modes.
    """
    stages = []
    for stage in main(certificate)["stages"]:
        pathways = []
        d_eff = {
            tuple(node): [number(v) for v in part["d_eff"]]
            for part in stage["components"]
            for node in part["members"]
        }
        for place, item in enumerate(stage["pathways"]):
            root, home = item, place
            while root["like"] is not None:
                home = root["like"][0]
                root = stage["pathways"][home]
            commutator = item["commutator"]
            witness = commutator and [
                number(v) if isinstance(v, str) else v for _, v in sorted(commutator.items())
            ]
            gate = [number(g) if isinstance(g, str) else g for g in item["gate"]]
            classes = []
            for a, c in enumerate(root["classes"]):
                own = [number(v) for v in c["d"] or []] if c["inverse_d_eff"] else []
                left = len(root["inputs"]) - sum(map(_dimension, root["classes"]))
                claim = _class_claim(c, left)
                classes.append((claim, d_eff.get((place, a), own)))
            pathways.append((gate, item["inputs"], item["outputs"], witness, sorted(classes)))
        couplings = []
        for item in stage["couplings"] if stage["level"] == "coupled modes" else []:
            shown = [[number(q) for q in row] for row in item["factors"]]
            couplings.append((item["target"], item["source"], shown))
        final = number(stage["final_loss"])
        stages.append((pathways, sorted(couplings), stage["level"], final))
    data = entries(certificate["inputs"]), entries(certificate["targets"])
    shapes = [
        (certificate[key]["rows"], certificate[key]["columns"]) for key in ("inputs", "targets")
    ]
    more = [_routing_claim(part) for part in certificate["parts"][1:] if "pairs" in part]
    return data, shapes, stages, certificate["level"], certificate["free_constants"], more


def _routing_claim(part: Json) -> tuple:
    chain, equal = part["chain"], sorted(part["equal_weights"].items())
    texts = [*part["uses"], *chain["conserved"], chain["radicand"], *(text for _, text in equal)]
    return *map(number, texts), part["pairs"], part["domains"], part["partners"]


def _dimension(item: Json) -> int:
    """The dimension of a class's space, 0 of all that is orthogonal to the others."""
    vectors = item["generators"]
    return len(item["eigenvalue"]) * vectors["columns"] if vectors else 0


def _class_claim(item: Json, left: int) -> list:
    degree = len(item["eigenvalue"])
    multiplicity = item["generators"]["columns"] if item["generators"] else left
    values = [number(v) for v in item["eigenvalue"]] + [number(v) for v in item["d"] or []]
    if degree > 1:  # the operator's scale is that of theta
        operator = item["operator"]  # two weights, or the matrix at a point of the parameters
        values += (
            [entries(operator)] if isinstance(operator, dict) else [number(v) for v in operator]
        )
        lead = number(item["minpoly"][-1])
        values += [
            tuple(a / b for a, b in zip(number(v), lead, strict=True)) for v in item["minpoly"]
        ]
    return [degree, multiplicity, values]


def rederived(certificate: Json) -> Json:
    """The certificate of the problem that a certificate states, derived anew."""
    names = tuple(certificate["parameters"])
    stages = [
        [
            PathwaySpec(
                name=p["name"],
                gate=tuple(_scalar(g, names) if isinstance(g, str) else g for g in p["gate"]),
                inputs=tuple(p["inputs"]),
                outputs=tuple(p["outputs"]),
            )
            for p in stage["pathways"]
        ]
        for stage in main(certificate)["stages"]
    ]
    data = [read(certificate[key], names) for key in ("inputs", "targets")]
    return certificate_of(data[0], data[1], stages)


def read(matrix: Json, names: tuple[str, ...]) -> ExactMatrix:
    """A certificate's matrix."""
    rows = [[Scalar(names, 0)] * matrix["columns"] for _ in range(matrix["rows"])]
    below = _scalar(matrix["denominator"], names)
    for i, j, text in matrix["entries"]:
        rows[i][j] = _scalar(text, names) / below
    return ExactMatrix.from_rows(rows, names)


def _scalar(text: str, names: tuple[str, ...]) -> Scalar:
    return evaluated(text, {n: Scalar.symbol(n, names) for n in names}, Scalar(names, 1))
