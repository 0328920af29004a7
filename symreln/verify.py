r"""Check a certificate with exact rational arithmetic, using nothing but the standard library.

``python verify.py certificate.json``, or :func:`verify`. No SymPy, no FLINT, no floats. What
the checks prove, and why, stands at the top of ``symreln/exact/certificate.py``.
"""

from __future__ import annotations

import hashlib
import json
import sys
from fractions import Fraction
from functools import reduce
from itertools import product
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    from symreln.errors import CertificateError
except ImportError:  # this file alone, without the package
    CertificateError = ValueError  # type: ignore[assignment,misc]

FORMAT = "symreln-certificate/1"
LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices")
PRIME, MINUS = 2**61 - 1, Fraction(-1)
Poly = dict[tuple[int, ...], Fraction]  # exponents to a coefficient that is not zero


def _require(holds: object, path: str, needed: str) -> None:
    if not holds:
        msg = f"certificate, {path}: this needs to be {needed}, and is not"
        raise CertificateError(msg)


def _sum(a: Any, b: Any) -> Any:
    total = dict(a)
    for key, value in b.items():
        total[key] = total[key] + value if key in total else value
    return {key: value for key, value in total.items() if value}


def _product(a: Poly, b: Poly, empty: int = 0) -> Poly:
    total: Poly = (a or b) if empty and not (a and b) else {}  # an empty denominator is 1
    for (x, p), (y, q) in product(a.items(), b.items()):
        key = tuple(map(int.__add__, x, y))
        total[key] = total.get(key, 0) + p * q
    return {key: value for key, value in total.items() if value}


def _quotient(a: Poly, b: Poly) -> Poly | None:
    """Return a/b where that is a polynomial."""
    lead, found = max(b), Poly()
    while a:
        shift = tuple(map(int.__sub__, max(a), lead))
        if min(shift, default=0) < 0:
            return None
        found[shift] = a[max(a)] / b[lead]
        a = _sum(a, _product({shift: -found[shift]}, b))
    return found


class _Ratio:
    """A rational function top/below; below is empty where it is 1."""

    def __init__(self, top: Poly, below: Poly | None = None):
        found = _quotient(top, below) if below else top
        self.top, self.below = (top, below or {}) if found is None else (found, {})

    def __bool__(self) -> bool:
        return bool(self.top)

    def __add__(self, other: _Ratio) -> _Ratio:
        if self.below == other.below:
            return _Ratio(_sum(self.top, other.top), self.below)
        left = _product(self.top, other.below) if other.below else self.top
        right = _product(other.top, self.below) if self.below else other.top
        return _Ratio(_sum(left, right), _product(self.below, other.below, 1))

    def __mul__(self, other: _Ratio | Fraction) -> _Ratio:
        if isinstance(other, Fraction):
            return _Ratio({key: value * other for key, value in self.top.items()}, self.below)
        return _Ratio(_product(self.top, other.top), _product(self.below, other.below, 1))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ratio) and not self + other * MINUS


class _Matrix(dict[tuple[int, int], _Ratio]):
    def __init__(self, shape: tuple[int, int], entries: dict[tuple[int, int], _Ratio]):
        super().__init__({key: value for key, value in entries.items() if value})
        self.shape = shape

    def __matmul__(self, other: _Matrix) -> _Matrix:
        rows: dict[int, list[tuple[int, _Ratio]]] = {}
        for (k, j), value in other.items():
            rows.setdefault(k, []).append((j, value))
        total: dict[tuple[int, int], _Ratio] = {}
        for (i, k), left in self.items():
            for j, right in rows.get(k, ()):
                part = left * right
                total[i, j] = total[i, j] + part if (i, j) in total else part
        return _Matrix((self.shape[0], other.shape[1]), total)

    def __add__(self, other: _Matrix) -> _Matrix:
        return _Matrix(self.shape, _sum(self, other))

    def times(self, factor: _Ratio | Fraction) -> _Matrix:
        return _Matrix(self.shape, {key: value * factor for key, value in self.items()})

    def flip(self) -> _Matrix:
        return _Matrix(self.shape[::-1], {(j, i): value for (i, j), value in self.items()})

    def part(self, rows: Any, columns: Any) -> _Matrix:
        kept = {key: item for key, item in self.items() if key[0] in rows and key[1] in columns}
        return _Matrix(self.shape, kept)

    def square(self) -> _Ratio:
        return reduce(_Ratio.__add__, (value * value for value in self.values()), _Ratio({}))


def _beside(parts: list[_Matrix]) -> _Matrix:
    total, start = {}, 0
    for part in parts:
        total |= {(i, j + start): value for (i, j), value in part.items()}
        start += part.shape[1]
    return _Matrix((parts[0].shape[0], start), total)


def _column(row: list[_Matrix]) -> _Matrix:
    wide = _beside(row)
    found = {(i * wide.shape[1] + j, 0): item for (i, j), item in wide.items()}
    return _Matrix((prod(wide.shape), 1), found)


def _apply(coefficients: list[_Ratio], powers: list[_Matrix]) -> _Matrix:
    """Return Σ coefficients[i]·powers[i]."""
    parts = (power.times(c) for c, power in zip(coefficients, powers, strict=False) if c)
    return reduce(_Matrix.__add__, parts, _Matrix(powers[0].shape, {}))


def _rank(matrix: _Matrix, point: list[int]) -> int:
    """Return the rank modulo a prime at a parameter point: a lower bound."""
    columns: dict[int, dict[int, int]] = {}
    for (i, j), entry in matrix.items():
        top, below = (
            sum((value * prod(map(pow, point, key)) for key, value in part.items()), Fraction(0))
            for part in (entry.top, entry.below)
        )
        top = top / below if entry.below else top
        columns.setdefault(j, {})[i] = top.numerator * pow(top.denominator, -1, PRIME) % PRIME
    pivots: dict[int, dict[int, int]] = {}
    for column in columns.values():
        for row, pivot in pivots.items():
            if factor := column.get(row, 0):
                for i, item in pivot.items():
                    column[i] = (column.get(i, 0) - factor * item) % PRIME
        found = next((i for i, item in column.items() if item), None)
        if found is not None:
            inverse = pow(column[found], -1, PRIME)
            pivots[found] = {i: item * inverse % PRIME for i, item in column.items() if item}
    return len(pivots)


def _take(value: Any, path: str, keys: str) -> list[Any]:
    _require(isinstance(value, dict) and set(value) == set(keys.split()), path, f"keys: {keys}")
    return [value[key] for key in keys.split()]


def _integers(value: Any, path: str, most: int) -> Any:
    good = all(type(item) is int and 0 <= item <= most for item in value)
    _require(good and isinstance(value, list), path, f"integers from 0 to {most}")
    return value


class _Data:
    def __init__(self, names: list[str], point: list[int]):
        self.names, self.point, self.used, self.where = names, point, set[str](), "parameters"
        self.x, self.y, self.share = _Matrix((0, 0), {}), _Matrix((0, 0), {}), Fraction(1)

    def poly(self, text: str) -> Poly:
        total: Poly = {}
        for term in text.split(" + "):
            number, *factors = term.split("*")
            powers = dict.fromkeys(self.names, 0)
            for factor in factors:
                name, power = factor.split("^")
                powers[name] += int(power) if len(power) < 5 and power.isdecimal() else 1 / 0
                self.used.add(name)
            total = _sum(total, {tuple(powers.values()): Fraction(int(number))})
        return total

    def ratio(self, text: str, path: str) -> _Ratio:
        self.where = path  # for the message where the text is no number
        top, *below = map(self.poly, text.split(" / "))
        _require(all(below), path, "a number whose denominator is not 0")
        return _Ratio(top, *below)

    def ratios(self, value: Any, path: str, length: int = 0) -> list[_Ratio]:
        good = isinstance(value, list) and len(value) == (length or len(value)) > 0
        _require(good, path, f"a list of {length or 'some'} numbers")
        return [self.ratio(item, path) for item in value]

    def matrix(self, value: Any, path: str, rows: int | None = None) -> _Matrix:
        height, width, entries = _take(value, path, "rows columns entries")
        found = {(i, j): self.ratio(text, path) for i, j, text in entries}
        _integers([height, width, *(index for key in found for index in key)], path, 10**6)
        good = len(found) == len(entries) and all(i < height and j < width for i, j in found)
        good = good and all(found.values()) and rows in (None, height)
        _require(good, path, f"one non-zero entry a place, and {rows or 'any number of'} rows")
        return _Matrix((height, width), found)


def _pathway(data: _Data, value: Any, path: str) -> Any:
    keys = "name gate inputs outputs commutator classes"
    name, gate, inputs, outputs, commutator, classes = _take(value, path, keys)
    (n_x, samples), n_y = data.x.shape, data.y.shape[0]
    good = isinstance(name, str) and len(_integers(gate, f"{path}.gate", 1)) == samples
    _require(good, f"{path}.gate", f"{samples} gates, and the name a text")
    for indices, where, most in ((inputs, "inputs", n_x), (outputs, "outputs", n_y)):
        good = sorted(set(_integers(indices, f"{path}.{where}", most - 1))) == indices != []
        _require(good, f"{path}.{where}", "ascending indices")
    samples_open = {i for i, item in enumerate(gate) if item}
    place = {i: k for k, i in enumerate(inputs)}
    p = SimpleNamespace(outputs=set(outputs), commutes=commutator is None, name=name)
    seen = data.x.part(place, samples_open)
    p.x = _Matrix((len(place), samples), {(place[i], j): item for (i, j), item in seen.items()})
    p.a = (data.y.part(p.outputs, samples_open) @ p.x.flip()).times(data.share)
    p.b, p.m = (p.x @ p.x.flip()).times(data.share), p.a.flip() @ p.a
    forward, where = p.m @ p.b, f"{path}.commutator"
    difference = forward + forward.flip().times(MINUS)
    _require(p.commutes != bool(difference), where, "null exactly where M and B commute")
    if not p.commutes:
        keys, first = "row column value relative_norm_squared", min(difference)
        row, column, entry, norm = _take(commutator, where, keys)
        good = (row, column) == first and data.ratio(entry, where) == difference[first]
        good = good and data.ratio(norm, where) * forward.square() == difference.square()
        _require(good, where, "the first non-zero entry of MB - BM, and |MB - BM|²/|MB|²")
    p.classes = [_class(data, c, f"{path}.classes[{n}]", p) for n, c in enumerate(classes)]
    basis = _beside([word for c in p.classes for word in c.words[: c.degree]])
    rank = _rank(basis, data.point)
    _require(rank == basis.shape[1] == len(place), f"{path}.classes", "a basis")
    return p


def _class(data: _Data, value: Any, path: str, p: Any) -> Any:
    keys = "operator minpoly eigenvalue d generators gram_inverse"
    operator, minpoly, eigenvalue, d, generators, gram = _take(value, path, keys)
    f, size = data.ratios(minpoly, f"{path}.minpoly"), p.b.shape[0]
    c = SimpleNamespace(degree=len(f) - 1, path=path, null=False)
    _require(f[-1] and c.degree, f"{path}.minpoly", "a polynomial of degree > 0")
    if isinstance(operator, list):
        t = _apply(data.ratios(operator, f"{path}.operator", 2), [p.m, p.b])
    else:
        t = data.matrix(operator, f"{path}.operator", size)
    c.words = [data.matrix(generators, f"{path}.generators", size)]
    while len(c.words) < max(3 * c.degree - 2, c.degree + 1):
        c.words.append(t @ c.words[-1])
    _require(not _apply(f, c.words), f"{path}.minpoly", "f with f(T) w = 0")
    _require(p.commutes or d is None, f"{path}.d", "null: Sigma^x has no eigenvalue there")
    for field, matrix in (("eigenvalue", p.m), ("d", p.b))[: 1 + p.commutes]:
        g = data.ratios(value[field], f"{path}.{field}", c.degree)
        holds = all(matrix @ c.words[j] == _apply(g, c.words[j:]) for j in range(c.degree))
        _require(holds, f"{path}.{field}", "g with M w = g(T) w, or Sigma^x w = g(T) w for d")
        c.null = c.null or (field == "eigenvalue" and not any(g))
    c.kind = (minpoly, eigenvalue, d, c.words[0].shape[1])
    c.drive = [p.a @ word for word in c.words]
    c.gram = None if gram is None else data.matrix(gram, f"{path}.gram_inverse")
    return c


def _actions(data: _Data, paths: list[Any]) -> dict[Any, list[list[_Matrix]]]:
    """Return the actions A_kl that do not vanish, by (target, source)."""
    actions, used = {}, set()
    for (p, target), (j, source) in product(enumerate(paths), repeat=2):
        cross = (source.x @ target.x.flip()).times(data.share)
        if p == j or not cross or not target.outputs & source.outputs:
            continue
        for i, c in enumerate(source.classes):
            if c.null:
                continue
            k, s = c.degree, _beside(c.words[: c.degree])
            good = c.gram is not None and s.flip() @ s @ c.gram @ s.flip() == s.flip()
            _require(good, f"{c.path}.gram_inverse", "the inverse of SᵀS")
            used.add(c.path)
            shifted = [source.a @ _beside(c.words[n : n + k]) @ c.gram for n in range(k)]
            out = [item.part(target.outputs, range(s.shape[1])) for item in shifted]
            for a, other in enumerate(target.classes):
                moved = [s.flip() @ (cross @ word) for word in other.words[: other.degree]]
                table = [[left @ right for right in moved] for left in out]
                if any(map(any, table)):
                    actions[(p, a), (j, i)] = table
    wrong = [c.path for p in paths for c in p.classes if (c.gram is None) == (c.path in used)]
    _require(not wrong, f"gram_inverse of {wrong}", "null exactly where a class acts on no other")
    return actions


def _level(data: _Data, couplings: Any, path: str, paths: list[Any]) -> str:
    """Check the couplings of a stage and return the level that they prove."""
    commute = all(p.commutes for p in paths)
    actions = _actions(data, paths) if commute else {}
    classes = {(p, a): c for p, x in enumerate(paths) for a, c in enumerate(x.classes)}
    group = {node: {node} for node in classes}
    for target, source in actions:
        if not classes[target].null:
            group |= dict.fromkeys(group[target] | group[source], group[target] | group[source])
    left, leaks, single, symmetric, gamma = dict(actions), False, True, True, {}
    for item in couplings:
        target, sources, factors = _take(item, path, "target sources factors")
        node, pushers = tuple(target), [tuple(source) for source in sources]
        known = pushers and all((node, source) in left for source in pushers)
        _require(known, path, "couplings that do not vanish, each listed once")
        tables, c = [left.pop((node, source)) for source in pushers], classes[node]
        table = [[reduce(_Matrix.__add__, cell) for cell in zip(*r)] for r in zip(*tables)]  # noqa: B905
        if factors is None:
            drives = [_column(c.drive[n : n + c.degree]) for n in range(0 if c.null else c.degree)]
            ranks = [_rank(_beside([*drives, _column(row)]), data.point) for row in table]
            _require(max(ranks) > len(drives), path, "factors, which exist")
            leaks = True
            continue
        rows = [data.ratios(q, path, c.degree) for q in factors]
        for q, row in zip(rows, table, strict=True):
            good = all(cell == _apply(q, c.drive[n:]) for n, cell in enumerate(row))
            _require(good, path, "factors q_k with A_kl = A_p q_k(T) T^l w")
        single = single and len(pushers) == 1 and not c.null
        acting = {source for t, source in actions if t == node and source in group[pushers[0]]}
        same = all(_apply(q, c.drive) == _apply(rows[0], c.drive[n:]) for n, q in enumerate(rows))
        symmetric, gamma[node] = symmetric and same and acting == set(pushers), rows[0]
    _require(not left, path, f"complete; missing is {sorted(left)[:1]}")
    for members in group.values():
        kinds = [(classes[n].kind, gamma.get(n, [_Ratio({})] * classes[n].degree)) for n in members]
        symmetric = symmetric and all(kind == kinds[0] for kind in kinds)
    _require(symmetric or single or leaks, path, "of one source each, or closed by symmetry")
    if leaks or not commute:
        return LEVELS[3]
    return LEVELS[0] if not actions else LEVELS[1] if symmetric else LEVELS[2]


def _stage(data: _Data, value: Any, path: str) -> tuple[str, str]:
    """Check one stage, leave its residual in ``data.y``; return its level and a line of text."""
    keys = "pathways couplings level map final_loss"
    pathways, couplings, level, learned, final = _take(value, path, keys)
    paths = [_pathway(data, item, f"{path}.pathways[{n}]") for n, item in enumerate(pathways)]
    proven = _level(data, couplings, f"{path}.couplings", paths)
    _require(level == proven, f"{path}.level", proven)
    features = _beside([p.x.flip() for p in paths]).flip()
    writers = [p.outputs for p in paths for _ in range(p.x.shape[0])]
    w = data.matrix(learned, f"{path}.map", data.y.shape[0])
    good = w.shape[1] == len(writers) and all(row in writers[column] for row, column in w)
    _require(good, f"{path}.map", "one column an input of every pathway, on its outputs")
    data.y = data.y + (w @ features).times(MINUS)
    good = not any((data.y @ p.x.flip()).part(p.outputs, range(p.x.shape[0])) for p in paths)
    _require(good, f"{path}.map", "a minimiser of the stage's loss")
    loss = data.y.square() * (data.share / 2)
    _require(data.ratio(final, f"{path}.final_loss") == loss, f"{path}.final_loss", "|Y - WF|²/2P")
    return level, f"{path}: {', '.join(p.name for p in paths)}: {level}"


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, a line a stage, or raise CertificateError that names the field."""
    keys = "format parameters inputs targets stages level free_constants digest"
    form, names, x, y, stages, level, constants, shown = _take(certificate, "whole", keys)
    _require(form == FORMAT and shown == digest(certificate), "digest", f"{FORMAT} and its SHA-256")
    _require(_integers([constants], "free_constants", 0), "free_constants", "0")
    data = _Data(names, [int(shown[8 * n : 8 * n + 8] or "9", 16) for n in range(len(names))])
    try:
        data.x, data.y = data.matrix(x, "inputs"), data.matrix(y, "targets")
        _require(data.x.shape[1] == data.y.shape[1], "targets", "as many samples as inputs")
        data.share = Fraction(1, data.x.shape[1])
        found = [_stage(data, item, f"stages[{n}]") for n, item in enumerate(stages)]
        weakest = max((item for item, _ in found), key=LEVELS.index)
        _require(data.used == set(names), "parameters", "exactly the names that occur")
        _require(level == weakest, "level", "the weakest of the stages")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, CertificateError):
            raise
        msg = f"certificate, {data.where} or after: a value has not the form needed ({error})"
        raise CertificateError(msg) from error
    return tuple(text for _, text in found)


def verify_file(path: str | Path) -> tuple[str, ...]:
    """Read a certificate and check it; see :func:`verify`."""
    try:
        return verify(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, RecursionError, UnicodeDecodeError, json.JSONDecodeError) as error:
        msg = f"certificate {path}: cannot be read as JSON ({error})"
        raise CertificateError(msg) from error


if __name__ == "__main__":
    sys.stdout.write("\n".join(verify_file(sys.argv[1])) + "\n")
