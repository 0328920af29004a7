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
from math import lcm, prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    from symreln.errors import CertificateError
except ImportError:  # this file alone, without the package
    CertificateError = ValueError  # type: ignore[assignment,misc]

FORMAT = "symreln-certificate/1"
LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices")
PRIME = 2**61 - 1
Poly = dict[tuple[int, ...], Any]  # exponents to a coefficient that is not zero


def _require(holds: object, path: str, needed: str) -> None:
    if not holds:
        msg = f"certificate, {path}: this needs to be {needed}, and is not"
        raise CertificateError(msg)


def _sum(a: Any, b: Any) -> Any:
    total = dict(a)
    for key, value in b.items():
        total[key] = total[key] + value if key in total else value
    return {key: value for key, value in total.items() if value}


def _accumulate(total: Poly, a: Poly, b: Poly) -> Poly:
    for (x, p), (y, q) in product(a.items(), b.items()):
        key = tuple(map(int.__add__, x, y)) if x else x
        total[key] = total[key] + p * q if key in total else p * q
    return total


def _product(a: Poly, b: Poly) -> Poly:
    return {key: value for key, value in _accumulate({}, a, b).items() if value}


def _quotient(a: Poly, b: Poly) -> Poly | None:  # None where a/b is no polynomial
    lead, found = max(b), Poly()
    while a:
        shift = tuple(map(int.__sub__, max(a), lead))
        if min(shift, default=0) < 0:
            return None
        found[shift] = Fraction(a[max(a)]) / b[lead]
        a = _sum(a, _product({shift: -found[shift]}, b))
    return found


class _Ratio:  # a rational function top/below, or top where below is empty
    def __init__(self, top: Poly, below: Poly | None = None):
        found = _quotient(top, below) if below else top
        self.top, self.below = (top, below or {}) if found is None else (found, {})

    def __bool__(self) -> bool:
        return bool(self.top)

    def __add__(self, other: _Ratio) -> _Ratio:
        a, b = self.below, other.below
        if a == b:
            return _Ratio(_sum(self.top, other.top), a)
        left = _product(self.top, b) if b else self.top
        right = _product(other.top, a) if a else other.top
        return _Ratio(_sum(left, right), _product(a, b) if a and b else a or b)

    def __mul__(self, other: Any) -> _Ratio:
        if not isinstance(other, _Ratio):
            products = ((key, Fraction(value * other)) for key, value in self.top.items())
            plain = {key: item if item.denominator > 1 else int(item) for key, item in products}
            return _Ratio(plain, self.below)
        a, b = self.below, other.below
        return _Ratio(_product(self.top, other.top), _product(a, b) if a and b else a or b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ratio) and not self + other * -1


class _Matrix(dict[tuple[int, int], _Ratio]):
    def __init__(self, shape: tuple[int, ...], entries: dict[tuple[int, int], _Ratio]):
        super().__init__({key: value for key, value in entries.items() if value})
        self.shape = shape

    def __matmul__(self, other: _Matrix) -> _Matrix:
        rows: dict[int, list[tuple[int, _Ratio]]] = {}
        for (k, j), value in other.items():
            rows.setdefault(k, []).append((j, value))
        slow, fast, zero = dict[Any, _Ratio](), dict[Any, Poly](), _Ratio({})
        for (i, k), left in self.items():
            for j, right in rows.get(k, ()):
                if left.below or right.below:
                    slow[i, j] = slow.get((i, j), zero) + left * right
                else:
                    _accumulate(fast.setdefault((i, j), {}), left.top, right.top)
        total = {key: _Ratio({e: n for e, n in cell.items() if n}) for key, cell in fast.items()}
        return _Matrix((self.shape[0], other.shape[1]), _sum(total, slow))

    def __add__(self, other: _Matrix) -> _Matrix:
        return _Matrix(self.shape, _sum(self, other))

    def times(self, factor: Any) -> _Matrix:
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


def _whole(matrix: _Matrix) -> tuple[int, _Matrix]:  # k, and k times the matrix, over Z
    k = lcm(*(number.denominator for item in matrix.values() for number in item.top.values()))
    return k, matrix.times(k)


def _apply(coefficients: list[_Ratio], powers: list[_Matrix]) -> _Matrix:  # Σ c_i powers_i
    parts = (powers[i].times(c) for i, c in enumerate(coefficients) if c)
    return reduce(_Matrix.__add__, parts, _Matrix(powers[0].shape, {}))


def _rank(columns: list[dict[Any, _Ratio]], point: list[int]) -> int:  # a lower bound
    pivots: dict[Any, dict[Any, int]] = {}
    for column in columns:
        work: dict[Any, int] = {}
        for key, entry in column.items():
            top, below = (
                sum(value * prod(map(pow, point, powers)) for powers, value in part.items())
                for part in (entry.top, entry.below)
            )
            value = Fraction(top) / below if entry.below else Fraction(top)
            work[key] = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
        for row, pivot in pivots.items():
            if factor := work.get(row, 0):
                for key, item in pivot.items():
                    work[key] = (work.get(key, 0) - factor * item) % PRIME
        found = next((key for key, item in work.items() if item), None)
        if found is not None:
            inverse = pow(work[found], -1, PRIME)
            pivots[found] = {key: item * inverse % PRIME for key, item in work.items() if item}
    return len(pivots)


def _take(value: Any, path: str, keys: str) -> SimpleNamespace:
    _require(isinstance(value, dict) and set(value) == set(keys.split()), path, f"keys: {keys}")
    return SimpleNamespace(**value)


def _integers(value: Any, path: str, most: int) -> Any:
    good = all(type(item) is int and 0 <= item <= most for item in value)
    _require(good and isinstance(value, list), path, f"integers from 0 to {most}")
    return value


class _Data(SimpleNamespace):
    def poly(self, text: str) -> Poly:
        total: Poly = {}
        for term in text.split(" + "):
            number, *factors = term.split("*")
            powers = dict.fromkeys(self.names, 0)
            for factor in factors:
                name, power = factor.split("^")
                powers[name] += int(power if len(power) < 5 and power.isdecimal() else "")
                self.used.add(name)
            total = _sum(total, {tuple(powers.values()): int(number)})
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
        v = _take(value, path, "rows columns entries")
        found = {(i, j): self.ratio(text, path) for i, j, text in v.entries}
        _integers([v.rows, v.columns, *(index for key in found for index in key)], path, 10**6)
        good = len(found) == len(v.entries) and all(i < v.rows and j < v.columns for i, j in found)
        good = good and all(found.values()) and rows in (None, v.rows)
        _require(good, path, f"one non-zero entry a place, and {rows or 'any number of'} rows")
        return _Matrix((v.rows, v.columns), found)


def _pathway(data: _Data, value: Any, path: str) -> Any:
    v = _take(value, path, "name gate inputs outputs commutator classes")
    (n_x, samples), n_y = data.x.shape, data.y.shape[0]
    good = isinstance(v.name, str) and len(_integers(v.gate, f"{path}.gate", 1)) == samples
    _require(good, f"{path}.gate", f"{samples} gates, and the name a text")
    for indices, where, most in ((v.inputs, "inputs", n_x), (v.outputs, "outputs", n_y)):
        good = sorted(set(_integers(indices, f"{path}.{where}", most - 1))) == indices != []
        _require(good, f"{path}.{where}", "ascending indices")
    samples_open = {i for i, item in enumerate(v.gate) if item}
    place = {i: k for k, i in enumerate(v.inputs)}
    p = SimpleNamespace(outputs=set(v.outputs), commutes=v.commutator is None, name=v.name)
    seen = data.x.part(place, samples_open)
    p.x = _Matrix((len(place), samples), {(place[i], j): item for (i, j), item in seen.items()})
    p.a = data.y.part(p.outputs, samples_open) @ p.x.flip()
    p.b, p.m = p.x @ p.x.flip(), p.a.flip() @ p.a
    p.units = (samples * data.x_unit * data.y_unit) ** 2, samples * data.x_unit**2  # of M and B
    forward, where = p.m @ p.b, f"{path}.commutator"
    difference = forward + forward.flip().times(-1)
    _require(p.commutes != bool(difference), where, "null exactly where M and B commute")
    if not p.commutes:
        w = _take(v.commutator, where, "row column value relative_norm_squared")
        norm = data.ratio(w.relative_norm_squared, where) * forward.square()
        good = (w.row, w.column) == min(difference) and norm == difference.square()
        good = good and data.ratio(w.value, where) * prod(p.units) == difference[w.row, w.column]
        _require(good, where, "the first non-zero entry of MB - BM, and |MB - BM|²/|MB|²")
    p.classes = [_class(data, c, f"{path}.classes[{n}]", p) for n, c in enumerate(v.classes)]
    words = [(c, n, j) for c in p.classes for n in range(c.degree) for j in range(c.size)]
    basis = [{i: v for (i, k), v in c.words[n].items() if k == j} for c, n, j in words]
    full = _rank(basis, data.point) == len(basis) == len(place)
    _require(full, f"{path}.classes", "a basis")
    return p


def _class(data: _Data, value: Any, path: str, p: Any) -> Any:
    v = _take(value, path, "operator minpoly eigenvalue d generators gram_inverse")
    f, size = data.ratios(v.minpoly, f"{path}.minpoly"), p.b.shape[0]
    c = SimpleNamespace(degree=len(f) - 1, path=path)
    _require(f[-1] and c.degree, f"{path}.minpoly", "a polynomial of degree > 0")
    if isinstance(v.operator, list):
        weights = zip(data.ratios(v.operator, f"{path}.operator", 2), p.units, strict=True)
        t = _apply([weight * Fraction(1, unit) for weight, unit in weights], [p.m, p.b])
    else:
        t = data.matrix(v.operator, f"{path}.operator", size)
    c.words = [data.matrix(v.generators, f"{path}.generators", size)]
    while len(c.words) <= max((2 + p.commutes) * c.degree - 2 - p.commutes, c.degree):
        c.words.append(t @ c.words[-1])
    _require(not _apply(f, c.words), f"{path}.minpoly", "f with f(T) w = 0")
    _require(p.commutes or v.d is None, f"{path}.d", "null: Sigma^x has no eigenvalue there")
    fields = (("eigenvalue", p.m, p.units[0]), ("d", p.b, p.units[1]))
    for field, matrix, unit in fields[: 1 + p.commutes]:
        g = [item * unit for item in data.ratios(value[field], f"{path}.{field}", c.degree)]
        holds = all(matrix @ c.words[j] == _apply(g, c.words[j:]) for j in range(c.degree))
        _require(holds, f"{path}.{field}", "g with M w = g(T) w, or Sigma^x w = g(T) w for d")
    c.size, c.null = c.words[0].shape[1], not any(data.ratios(v.eigenvalue, path))
    c.kind, c.drive = (v.minpoly, v.eigenvalue, v.d, c.size), [p.a @ word for word in c.words]
    c.gram = None if v.gram_inverse is None else data.matrix(v.gram_inverse, f"{path}.gram_inverse")
    return c


def _actions(data: _Data, paths: list[Any]) -> dict[Any, list[list[_Matrix]]]:
    actions, used = {}, set[str]()  # the A_kl that do not vanish, by (target, source)
    for (p, target), (j, source) in product(enumerate(paths), repeat=2):
        cross = source.x @ target.x.flip()
        if p == j or not cross or not target.outputs & source.outputs:
            continue
        for i, c in ((i, c) for i, c in enumerate(source.classes) if not c.null):
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
    commute = all(p.commutes for p in paths)
    actions = _actions(data, paths) if commute else {}
    classes = {(p, a): c for p, x in enumerate(paths) for a, c in enumerate(x.classes)}
    group = {node: {node} for node in classes}
    for target, source in actions:
        if not classes[target].null:
            group |= dict.fromkeys(group[target] | group[source], group[target] | group[source])
    left, leaks, single, symmetric, gamma = dict(actions), False, True, True, {}
    for item in couplings:
        v = _take(item, path, "target sources factors")
        node, pushers = tuple(v.target), [tuple(source) for source in v.sources]
        _require(pushers and all((node, x) in left for x in pushers), path, "listed once each")
        tables, c = [left.pop((node, source)) for source in pushers], classes[node]
        table = [[reduce(_Matrix.__add__, cell) for cell in zip(*r)] for r in zip(*tables)]  # noqa: B905
        if v.factors is None:
            known = 0 if c.null else c.degree
            rows = [*(c.drive[n : n + c.degree] for n in range(known)), *table]
            flat = [{(n, k): v for n, m in enumerate(r) for k, v in m.items()} for r in rows]
            ranks = [_rank([*flat[:known], item], data.point) for item in flat[known:]]
            _require(max(ranks) > known, path, "factors, which exist")
            leaks = True
            continue
        rows = [[x * paths[0].units[1] for x in data.ratios(q, path, c.degree)] for q in v.factors]
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
    return LEVELS[3 if leaks or not commute else 0 if not actions else 1 if symmetric else 2]


def _stage(data: _Data, value: Any, path: str) -> tuple[str, str]:
    v = _take(value, path, "pathways couplings level map final_loss")
    paths = [_pathway(data, item, f"{path}.pathways[{n}]") for n, item in enumerate(v.pathways)]
    proven = _level(data, v.couplings, f"{path}.couplings", paths)
    _require(v.level == proven, f"{path}.level", proven)
    features = _beside([p.x.flip() for p in paths]).flip()
    writers = [p.outputs for p in paths for _ in range(p.x.shape[0])]
    w = data.matrix(v.map, f"{path}.map", data.y.shape[0])
    good = w.shape[1] == len(writers) and all(row in writers[column] for row, column in w)
    _require(good, f"{path}.map", "one column an input of every pathway, on its outputs")
    outputs = (w @ features).times(Fraction(-1, data.x_unit))
    data.y_unit, data.y = _whole(data.y.times(Fraction(1, data.y_unit)) + outputs)
    good = not any((data.y @ p.x.flip()).part(p.outputs, range(p.x.shape[0])) for p in paths)
    _require(good, f"{path}.map", "a minimiser of the stage's loss")
    loss = data.y.square() * Fraction(1, 2 * data.x.shape[1] * data.y_unit**2)
    holds = data.ratio(v.final_loss, f"{path}.final_loss") == loss
    _require(holds, f"{path}.final_loss", "|Y - W F|²/2P")
    return v.level, f"{path}: {', '.join(p.name for p in paths)}: {v.level}"


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def verify(certificate: Any) -> tuple[str, ...]:
    """Return what was proven, a line a stage, or raise CertificateError that names the field."""
    keys = "format parameters inputs targets stages level free_constants digest"
    v = _take(certificate, "whole", keys)
    good = v.format == FORMAT and v.digest == digest(certificate)
    _require(good, "digest", f"{FORMAT} and its SHA-256")
    _require(_integers([v.free_constants], "free_constants", 0), "free_constants", "0")
    data = _Data(names=v.parameters, used=set(), where="parameters")
    try:
        data.point = [int(v.digest, 16) % (10**9 + n) for n in range(len(v.parameters))]
        data.x_unit, data.x = _whole(data.matrix(v.inputs, "inputs"))
        data.y_unit, data.y = _whole(data.matrix(v.targets, "targets"))
        _require(data.x.shape[1] == data.y.shape[1], "targets", "as many samples as inputs")
        found = [_stage(data, item, f"stages[{n}]") for n, item in enumerate(v.stages)]
        _require(data.used == set(v.parameters), "parameters", "exactly the names that occur")
        weakest = max((item for item, _ in found), key=LEVELS.index)
        _require(v.level == weakest, "level", weakest)
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
