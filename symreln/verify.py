r"""Check a certificate with exact integer arithmetic, using nothing but the standard library.

``python verify.py certificate.json`` (or its folder) with the other ``verify_*.py`` that it imports
beside it, or :func:`verify`. No SymPy, no FLINT, no floats. What the checks prove, and why, stands
at the top of ``symreln/exact/certificate.py``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

try:
    from symreln.errors import CertificateError
    from symreln.verify_matrices import Packed, combined, products
    from symreln.verify_modes import Element, Pathway, read_pathway, times, trace
    from symreln.verify_numbers import Ratio, checked_file, integers, require, take
    from symreln.verify_phases import MAIN, phases_beside, read_phases
    from symreln.verify_reading import Data
    from symreln.verify_stages import Node, Piece, Stage
except ImportError:  # the files alone, without the package
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from verify_matrices import Packed, combined, products  # type: ignore[no-redef]
    from verify_modes import Element, Pathway, read_pathway, times, trace  # type: ignore[no-redef]
    from verify_numbers import (  # type: ignore[no-redef]
        CertificateError,
        Ratio,
        checked_file,
        integers,
        require,
        take,
    )
    from verify_phases import MAIN, phases_beside, read_phases  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]
    from verify_stages import Node, Piece, Stage  # type: ignore[no-redef]

FORMAT = "symreln-certificate/2"
LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices")


# -- the level, the minimum, the loss -----------------------------------------------------------


def _nodes(value: Any, path: str, stage: Stage) -> list[Node]:
    require(isinstance(value, list) and value, path, "a list of [pathway, class]")
    known = {(n, a) for n, p in enumerate(stage.paths) for a in range(len(p.root.classes))}
    found = [tuple(integers(item, path, len(known))) for item in value]
    require(found == sorted(set(found)) and known.issuperset(found), path, "ascending classes")
    return found  # type: ignore[return-value]


def _components(data: Data, value: Any, path: str, stage: Stage) -> dict[Node, Element]:
    """Check the parts that classes of modes fall into, and return d_eff - d where it is not 0."""
    parts: dict[Node, int] = {}
    gamma: dict[Node, Element] = {}
    classes = dict(stage.nodes())
    shown = []
    for n, item in enumerate(value):
        where = f"{path}[{n}]"
        v = take(item, where, "members d_eff")
        members = _nodes(v.members, f"{where}.members", stage)
        good = all(node in classes and node not in parts for node in members)
        good = good and all(classes[node].alike(classes[members[0]]) for node in members)
        require(good, f"{where}.members", "equal classes that learn something, each named once")
        c = classes[members[0]]
        d_eff = data.ratios(v.d_eff, f"{where}.d_eff", c.degree)
        shown.append((members, v.d_eff))
        for node in members:
            parts[node] = n
            classes[node].d_eff = d_eff
            gamma[node] = [x + y * -1 for x, y in zip(d_eff, c.d, strict=True)]
    require([m for m, _ in shown] == sorted(m for m, _ in shown), path, "in ascending order")
    for move in stage.moves:
        moved = [(sorted((move[p], a) for p, a in m), text) for m, text in shown]
        require(sorted(moved) == shown, path, "moved into themselves by every symmetry")
    for node, c in classes.items():
        if node not in parts:
            parts[node] = len(parts) + len(value)
            c.d_eff = c.d
    coupled = stage.closure(parts, {node: g for node, g in gamma.items() if any(g)})
    require(coupled or not value, path, "empty where no class acts on another pathway")
    return gamma


def _level(data: Data, v: Any, path: str, stage: Stage) -> str:
    where = f"{path}.couplings"
    for name in ("components", "couplings"):
        require(isinstance(getattr(v, name), list), f"{path}.{name}", "a list")
    if not all(p.commutes for p in stage.paths):
        require(not v.components and not v.couplings, path, "without couplings between modes")
        return LEVELS[3]
    if not v.couplings:
        _components(data, v.components, f"{path}.components", stage)
        return LEVELS[1 if v.components else 0]
    require(not v.components, f"{path}.components", "empty where there are couplings")
    listed: dict[tuple[Node, Node], Any] = {}
    for item in v.couplings:
        c = take(item, where, "target source factors")
        pair = _nodes([c.target], where, stage)[0], _nodes([c.source], where, stage)[0]
        target = stage.paths[pair[0][0]].root.classes[pair[0][1]]
        good = pair not in listed and (not listed or max(listed) < pair)
        require(good and not stage.paths[pair[0][0]].moved, where, "ascending pairs of roots")
        if c.factors is None:
            good = len(v.couplings) == 1 and stage.leak(*pair)
            require(good, where, "one action that is proven to leave the modes it acts on")
            return LEVELS[3]
        require(isinstance(c.factors, list), where, "a list of factors")
        listed[pair] = [data.ratios(q, where, target.degree) for q in c.factors]
    symmetric = stage.coupled_modes(listed, where)
    require(not symmetric, f"{path}.level", LEVELS[1])
    return LEVELS[2]


def _closed_minimum(data: Data, stage: Stage, path: str) -> Ratio:
    """Return what a stage with closed modes takes off the loss; the minimum is then known."""
    total, minus = data.constant(0), data.constant(-1)
    for _, p in stage.roots:
        orbit = sum(q.root is p for q in stage.paths)
        inverses: dict[int, Element] = {}
        for a, c in enumerate(p.classes):
            where = f"{c.path}.inverse_d_eff"
            require((c.inverse_text is None) == c.null, where, "null exactly where s = 0")
            if not c.null:
                inverses[a] = data.ratios(c.inverse_text, where, c.degree)
                one = times(data, c.f, c.d_eff, inverses[a])
                good = one[0] == data.constant(1) and not any(one[1:])
                require(good, where, "1/d_eff modulo f")
                learned = trace(data, c.f, times(data, c.f, c.eigenvalue, inverses[a]))
                total = total + learned * (c.size * orbit)
        p.inverses = inverses

    def fit(seen: Packed) -> list[Piece]:
        parts: list[Piece] = []
        for p in stage.paths:
            root = p.root
            p.use(root.inverses)
            if not hasattr(root, "solution"):
                words = root.words @ root.action(data, root.inverses).packed()
                root.solution = words.sparse().reduced()
            inside = root.gram @ p.coordinates(p.features @ seen).tight()
            parts.append((minus, root.a, (root.solution @ inside.tight()).tight(), p.tau))
        return parts

    data.fits.append(fit)
    return total


def _map_minimum(data: Data, stage: Stage, value: Any, path: str) -> Ratio:
    """Check a minimiser that is given, and return what it takes off the loss."""
    require(isinstance(value, list) and len(value) == len(stage.paths), path, "a map a pathway")
    total, minus = data.constant(0), data.constant(-1)
    for n, (p, item) in enumerate(zip(stage.paths, value, strict=True)):
        where = f"{path}[{n}]"
        require((item is None) == p.moved, where, "null exactly where a pathway is like another")
        if not p.moved:
            p.map = data.matrix(item, where, data.y.shape[0])
            good = p.map.shape[1] == len(p.key[0])
            good = good and all(i in p.outputs for part in p.map.terms.values() for i in part)
            require(good, where, "one column an input, on the pathway's outputs")
            wrong = [c.path for c in p.classes if c.inverse_text is not None]
            require(not wrong, f"inverse_d_eff of {wrong}", "null in a stage that is not closed")
            orbit = sum(q.root is p for q in stage.paths)
            total = total + p.map.inner(p.a) * orbit

    for s, move in zip(data.symmetries, stage.moves, strict=False):  # then swaps of equal pathways
        require(stage.keeps_maps(s, move), path, "maps that every symmetry takes to each other")

    def fit(seen: Packed) -> list[Piece]:
        parts: list[Piece] = []
        for p in stage.paths:
            rows = (p.features @ seen).tight()
            parts.append((minus, p.root.map, rows.rows(p.from_root) if p.moved else rows, p.tau))
        return parts

    for _, p in stage.roots:
        seen = p.features.flipped.packed()
        learned = products(fit(seen)).rows(p.outputs)
        wrong = combined([(data.constant(1), p.driven), (data.constant(1), learned)])
        require(not wrong, path, "a minimiser of the stage's loss")
    data.fits.append(fit)
    return total


def _stage(data: Data, value: Any, path: str, *, last: bool) -> tuple[str, str]:
    v = take(value, path, "pathways components couplings level map final_loss")
    paths: list[Pathway] = []
    for n, item in enumerate(v.pathways):
        paths.append(read_pathway(data, item, f"{path}.pathways[{n}]", paths))
    stage = Stage(data, paths, path)
    proven = _level(data, v, path, stage)
    require(v.level == proven, f"{path}.level", proven)
    # Spaces that are split help to close sums and factors; against a level they say nothing.
    useful = proven in LEVELS[1:3]
    split = next((p.split for _, p in stage.roots if p.split and not useful), None)
    require(split is None, split or path, "of other eigenvalues than the other classes")
    if proven in LEVELS[:2]:
        require(v.map is None, f"{path}.map", "null: the modes give the minimum")
        learned = _closed_minimum(data, stage, path)
    else:
        learned = _map_minimum(data, stage, v.map, f"{path}.map")
    data.loss = data.loss + learned * -1 / 2
    holds = data.ratio(v.final_loss, f"{path}.final_loss") == data.loss
    require(holds, f"{path}.final_loss", "|Y - W F|²/2P at the minimum")
    needed = all(p.commutes for p in paths) and (len(paths) > 1 or not last)
    for c in (c for _, p in stage.roots for c in p.classes):
        good = (c.gram is not None) == (needed and not c.null)
        require(
            good, f"{c.path}.gram_inverse", "null exactly where no other class or stage needs it"
        )
    return v.level, f"{path}: {', '.join(p.name for p in paths)}: {v.level}"


def _symmetry(data: Data, value: Any, path: str) -> Any:
    v = take(value, path, "inputs outputs samples")
    sizes = (data.x.shape[0], data.y.shape[0], data.x.shape[1])
    for name, size in zip(("inputs", "outputs", "samples"), sizes, strict=True):
        moved = integers(getattr(v, name), f"{path}.{name}", size - 1)
        good = sorted(moved) == list(range(size))
        require(good, f"{path}.{name}", f"a permutation of {size}")
    maps = [dict(enumerate(moved)) for moved in (v.inputs, v.outputs, v.samples)]
    for matrix, rows in ((data.x, maps[0]), (data.y, maps[1])):
        same = matrix.moved(rows, maps[2], matrix.shape).terms == matrix.terms
        require(same, path, "a symmetry of inputs and targets")
    v.origins = sorted(range(sizes[2]), key=v.samples.__getitem__)
    return v


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, a line a stage, or raise CertificateError that names the field."""
    given = certificate.get("format") if isinstance(certificate, dict) else None
    require(given == FORMAT, "format", f"{FORMAT} (older ones are not read: derive again)")
    keys = "format parameters inputs targets symmetries stages level free_constants digest"
    v = take(certificate, "whole", keys + (" phases" if read_phases(certificate) else ""))
    require(v.digest == digest(certificate), "digest", "the SHA-256 of the rest")
    require(integers([v.free_constants], "free_constants", 0), "free_constants", "0")
    names = v.parameters
    good = isinstance(names, list) and all(type(n) is str and n.isidentifier() for n in names)
    require(good and len(set(names)) == len(names), "parameters", "a list of unlike names")
    unit = (0,) * len(names)
    data = Data(names=names, unit=unit, used=set(), texts={}, where="parameters", fits=[])
    try:
        data.point = [int(v.digest, 16) % (10**9 + n) for n in range(len(names))]
        data.x, data.y = data.matrix(v.inputs, "inputs"), data.matrix(v.targets, "targets")
        require(data.x.shape[1] == data.y.shape[1], "targets", "as many samples as inputs")
        data.loss = data.y.inner(data.y) / (2 * data.y.shape[1])
        symmetries = [_symmetry(data, s, f"symmetries[{n}]") for n, s in enumerate(v.symmetries)]
        data.symmetries = symmetries
        found = [
            _stage(data, item, f"stages[{n}]", last=n + 1 == len(v.stages))
            for n, item in enumerate(v.stages)
        ]
        require(data.used == set(names), "parameters", "exactly the names that occur")
        weakest = max((item for item, _ in found), key=LEVELS.index)
        require(v.level == weakest, "level", weakest)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, CertificateError):
            raise
        msg = f"certificate, {data.where} or after: a value has not the form needed ({error})"
        raise CertificateError(msg) from error
    return tuple(text for _, text in found)


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def verify_file(path: str | Path) -> tuple[str, ...]:
    """Read a certificate, from stdin where the path is "-", and check it; see :func:`verify`.

    Those of gates that are taken later, which it names, are looked for beside it and checked too;
    there is nothing beside stdin.
    """
    if path == "-":
        return checked_file(path, verify)
    path = Path(path) / MAIN if Path(path).is_dir() else Path(path)
    found: list[Any] = []
    lines = checked_file(path, lambda value: found.append(value) or verify(value))
    return lines + phases_beside(path, found[0], verify)


if __name__ == "__main__":
    sys.stdout.write("\n".join(verify_file(sys.argv[1])) + "\n")
