"""Small certificates that together use every field, and single-field mutations of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any

from symreln.exact.certificate import (
    CertifiedCoupling,
    CertifiedPathway,
    CertifiedStage,
    build_certificate,
)
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import joint_spectrum
from symreln.pathways.effective import EffectiveDataset, effective_dataset
from symreln.pathways.residual import converged_outputs
from symreln.spec.model import Dataset, PathwaySpec
from symreln.verdict import judge

Json = dict[str, Any]


def tree(items: int) -> list[list[int]]:
    """Binary tree features: blocks of 1, 2, 4, … rows."""
    rows, height = [], 1
    while height <= items:
        width = items // height
        rows += [[int(j // width == i) for j in range(items)] for i in range(height)]
        height *= 2
    return rows


def contextual(
    items: int, contexts: int, scale: Scalar | int, parameters: tuple[str, ...]
) -> tuple[ExactMatrix, ExactMatrix]:
    """The contextual task's inputs and targets, context-major."""
    samples = [(i, k) for k in range(contexts) for i in range(items)]
    features = tree(items)
    x = [[int(i == row) for i, _ in samples] for row in range(items)]
    x += [[scale if k == row else 0 for _, k in samples] for row in range(contexts)]
    y = [[row[i] for i, _ in samples] for row in features]
    for context in range(contexts):
        y += [[row[i] if k == context else 0 for i, k in samples] for row in features]
    return ExactMatrix.from_rows(x, parameters), ExactMatrix.from_rows(y, parameters)


def certificate_of(
    inputs: ExactMatrix, targets: ExactMatrix, stages: list[list[PathwaySpec]]
) -> Json:
    """Run the exact pipeline and certify it."""
    dataset = Dataset(inputs=inputs, targets=targets)
    certified = []
    for number, pathways in enumerate(stages, start=1):
        effective: tuple[EffectiveDataset, ...] = tuple(
            effective_dataset(dataset, pathway, targets) for pathway in pathways
        )
        spectra = tuple(joint_spectrum(e.sigma_yx, e.sigma_x) for e in effective)
        verdict = judge(number, effective, spectra)
        certified.append(
            CertifiedStage(
                pathways=tuple(
                    CertifiedPathway(
                        name=p.name,
                        gate=p.gate,
                        inputs=p.inputs,
                        outputs=p.outputs,
                        spectrum=spectrum,
                    )
                    for p, spectrum in zip(pathways, spectra, strict=True)
                ),
                level=verdict.level.value,
                couplings=tuple(
                    CertifiedCoupling(target=c.target, source=c.source, factors=c.factors)
                    for c in verdict.couplings.couplings
                ),
                d_eff=verdict.d_eff,
            )
        )
        targets = targets - converged_outputs(targets, effective)
    return build_certificate(inputs=inputs, targets=dataset.targets, stages=certified)


def outputs_without(context: int, rows: int, contexts: int) -> list[int]:
    """The common block and those of the other contexts: what is never zero on open samples."""
    blocks = [block for block in range(contexts + 1) if block != context + 1]
    return [block * rows + row for block in blocks for row in range(rows)]


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
    c = Scalar.symbol("c", ("c",))
    x, y = contextual(2, 2, c, ("c",))
    off = [[int(s // 2 != k) for s in range(4)] for k in range(2)]
    found["contextual"] = certificate_of(
        x,
        y,
        [
            [pathway("common", [1] * 4, range(4), range(9))],
            [pathway(f"off {k}", off[k], range(2), outputs_without(k, 3, 2)) for k in range(2)],
        ],
    )

    # Couplings: three contexts that share samples.
    x, y = contextual(2, 3, 1, ())
    off = [[int(s // 2 != k) for s in range(6)] for k in range(3)]
    found["coupled"] = certificate_of(
        x,
        y,
        [
            [pathway("common", [1] * 6, range(5), range(12))],
            [pathway(f"off {k}", off[k], range(2), outputs_without(k, 3, 3)) for k in range(3)],
        ],
    )

    # Not diagonalisable, an irreducible quadratic, a fraction among the data.
    x = ExactMatrix.from_rows([[1, 2, 0], [0, 1, Fraction(1, 3)]])
    y = ExactMatrix.from_rows([[1, 0, 1], [1, 1, 0]])
    found["generic"] = certificate_of(x, y, [[pathway("all", [1] * 3, range(2), range(2))]])

    # White inputs: commuting with an irreducible quadratic; coupled modes of two pathways.
    x = ExactMatrix.from_rows([[1, 0, 1, 0], [0, 1, 0, 1]])
    y = ExactMatrix.from_rows([[1, 1, 2, 2], [0, 1, 0, 2]])
    found["white"] = certificate_of(
        x,
        y,
        [[pathway("all", [1] * 4, range(2), range(2)),
          pathway("half", [1, 1, 0, 0], range(2), range(2))]],
    )  # fmt: skip
    return found


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


def mutated(certificate: Json, random: Random, paths: list[tuple]) -> tuple[str, Json]:
    """A copy with one field changed, and what was done."""
    path = random.choice(paths)
    result = copy.deepcopy(certificate)
    holder = result
    for step in path[:-1]:
        holder = holder[step]
    key, old = path[-1], holder[path[-1]]
    kind = random.choice(["change", "change", "change", "delete", "type", "swap", "add"])
    if kind == "swap":
        others = [k for k in (holder if isinstance(holder, dict) else range(len(holder)))
                  if holder[k] != old]  # fmt: skip
        if others:
            other = random.choice(others)
            holder[key], holder[other] = holder[other], old
            return f"swap {path} with {other}", result
        kind = "change"
    if kind == "delete":
        del holder[key]
    elif kind == "add":
        if isinstance(old, dict):
            old["extra"] = "0"
        elif isinstance(old, list):
            old.append(copy.deepcopy(random.choice(old)) if old else 0)
        else:
            holder[key] = [old]
    elif kind == "type":
        choices = [None, [], {}, 0, "", "x", 1.5, True, [old], str(old)]
        holder[key] = random.choice([item for item in choices if _differs(item, old)])
    else:
        holder[key] = changed(old, random)
    return (
        f"{kind} {path}: {str(old)[:40]} -> {str(holder[key])[:40] if _has(holder, key) else ''}",
        result,
    )


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


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

POINTS = (
    {"c": Fraction(3, 7), "Delta": Fraction(11, 5)},
    {"c": Fraction(-9), "Delta": Fraction(4)},
)


def number(text: str) -> tuple[Fraction, ...]:
    """The value of a number's text at two parameter points."""
    values = []
    for point in POINTS:
        parts = [Fraction(0), Fraction(0)]
        for place, polynomial in enumerate(text.split(" / ")):
            for term in polynomial.split(" + "):
                coefficient, *factors = term.split("*")
                value = Fraction(int(coefficient))
                for factor in factors:
                    name, power = factor.split("^")
                    value *= point[name] ** int(power)
                parts[place] += value
        values.append(parts[0] / (parts[1] or 1))
    return tuple(values)


def entries(matrix: Json) -> dict[tuple[int, int], tuple[Fraction, ...]]:
    return {(i, j): number(text) for i, j, text in matrix["entries"]}


def claims(certificate: Json) -> Any:
    """What is claimed, without names, order, scale of vectors, or the proof's choices."""
    stages = []
    for stage in certificate["stages"]:
        pathways = []
        for item in stage["pathways"]:
            commutator = item["commutator"]
            witness = commutator and [
                number(v) if isinstance(v, str) else v for _, v in sorted(commutator.items())
            ]
            shown = (item["gate"], item["inputs"], item["outputs"], witness)
            pathways.append((*shown, sorted(map(_class_claim, item["classes"]))))
        couplings = []
        for item in stage["couplings"]:
            factors = item["factors"]
            shown = None if factors is None else [[number(q) for q in row] for row in factors]
            couplings.append((item["target"], sorted(item["sources"]), shown))
        final = number(stage["final_loss"])
        stages.append((pathways, sorted(couplings), stage["level"], entries(stage["map"]), final))
    data = entries(certificate["inputs"]), entries(certificate["targets"])
    return data, stages, certificate["level"], certificate["free_constants"]


def _class_claim(item: Json) -> list:
    degree = len(item["eigenvalue"])
    multiplicity = 1 + max(j for _, j, _ in item["generators"]["entries"])
    values = [number(v) for v in item["eigenvalue"]] + [number(v) for v in item["d"] or []]
    if degree > 1:  # the operator's scale is that of theta
        values += [number(v) for v in item["operator"]]
        lead = number(item["minpoly"][-1])
        values += [
            tuple(a / b for a, b in zip(number(v), lead, strict=True)) for v in item["minpoly"]
        ]
    return [degree, multiplicity, values]


def rederived(certificate: Json) -> Json:
    """The certificate of the problem that a certificate states, derived anew."""
    names = tuple(certificate["parameters"])
    stages = [
        [pathway(p["name"], p["gate"], p["inputs"], p["outputs"]) for p in stage["pathways"]]
        for stage in certificate["stages"]
    ]
    data = [read(certificate[key], names) for key in ("inputs", "targets")]
    return certificate_of(data[0], data[1], stages)


def read(matrix: Json, names: tuple[str, ...]) -> ExactMatrix:
    """A certificate's matrix."""
    rows = [[Scalar(names, 0)] * matrix["columns"] for _ in range(matrix["rows"])]
    for i, j, text in matrix["entries"]:
        rows[i][j] = _scalar(text, names)
    return ExactMatrix.from_rows(rows, names)


def _scalar(text: str, names: tuple[str, ...]) -> Scalar:
    parts = []
    for polynomial in text.split(" / "):
        total = Scalar(names, 0)
        for term in polynomial.split(" + "):
            coefficient, *factors = term.split("*")
            value = Scalar(names, int(coefficient))
            for factor in factors:
                name, power = factor.split("^")
                value *= Scalar.symbol(name, names) ** int(power)
            total += value
        parts.append(total)
    return parts[0] / parts[1] if len(parts) > 1 else parts[0]
