r"""Check a certificate with exact rational arithmetic, using nothing but the standard library.

``python verify.py certificate.json``, or :func:`verify`. No SymPy, no FLINT, no floats.
From the dataset the verifier builds every pathway's A = Sigma^{yx}, M = AᵀA and B = Sigma^x.

**Modes.** A class gives t, f of degree k, polynomials lambda, d, and generators w_1 … w_m. With
T = M + tB, v_ij = T^j w_i it is checked that (1) f(T) w_i = 0; (2) M v_ij = lambda(T) v_ij and
B v_ij = d(T) v_ij for j < k; (3) the v_ij, j < k, of all classes are a basis. *Claim*: the pairs
(lambda(theta), d(theta)) over the roots theta of f, m times each, are exactly the joint eigenvalues
of (M, B), which commute. *Proof*: the v_ij, j < k, span for each i a T-invariant cyclic space of
dimension k (3) that f annihilates (1), so T has characteristic polynomial f/lead on it. There
M = lambda(T), B = d(T) by (2): they commute, and triangularised with T they show the pairs. By (3)
the whole space is the direct sum. (f need not be irreducible, nor square-free.) M and B are
symmetric at real parameters, so orthonormal V diagonalises both, and Sigma^{yx} = U S Vᵀ with
u = Sigma^{yx} v / s. Independence: the rank modulo a prime at one parameter point is a lower bound.
A pathway that does not commute shows the first non-zero entry of MB - BM; only M is claimed then.

**Stages.** W minimises a stage's loss if and only if (Y - W F) X_pᵀ = 0 on the outputs of every
pathway p, with F the gated inputs X_p stacked. Y - W F is what the next stage learns.

**Couplings.** With S = (T_j^l w)_l, G = (SᵀS)^{-1}, the actions A_kl = O_p A_j T_j^k S G Sᵀ
Sigma^x(j,p) T_p^l w of class i of j on class a of p are recomputed. Listed are those that do not
vanish; ``factors`` q_k say A_kl = A_p q_k(T_p) T_p^l w, ``null`` that no such q_k exist. The level
follows; d_eff = d + Gamma where the sums of A_kl over a component are A_p T^k Gamma(T) T^l w.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from types import SimpleNamespace
from typing import Any

try:
    from symreln.errors import CertificateError
except ImportError:  # this file alone, without the package
    CertificateError = ValueError  # type: ignore[assignment,misc]

FORMAT = "symreln-certificate/1"
PRIME = 2**61 - 1
LEVELS = ("closed", "closed by symmetry", "coupled modes", "coupled matrices")
Poly = dict[tuple[int, ...], Fraction]  # exponents to a coefficient that is not zero


def _require(holds: object, path: str, needed: str) -> None:
    if not holds:
        msg = f"certificate, {path}: this needs to be {needed}, and is not"
        raise CertificateError(msg)


def _sum(a: Poly, b: Poly) -> Poly:
    total = dict(a)
    for key, value in b.items():
        total[key] = total.get(key, 0) + value
        if not total[key]:
            del total[key]
    return total


def _product(a: Poly, b: Poly) -> Poly:
    total: Poly = {}
    for x, p in a.items():
        for y, q in b.items():
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
    """A rational function top/below; below is None where it is 1."""

    def __init__(self, top: Poly, below: Poly | None = None):
        found = _quotient(top, below) if below else top
        self.top, self.below = (top, below) if found is None else (found, None)

    def __bool__(self) -> bool:
        return bool(self.top)

    def __add__(self, other: _Ratio) -> _Ratio:
        if self.below == other.below:
            return _Ratio(_sum(self.top, other.top), self.below)
        left = _product(self.top, other.below) if other.below else self.top
        right = _product(other.top, self.below) if self.below else other.top
        return _Ratio(_sum(left, right), self._joint(other))

    def __mul__(self, other: _Ratio) -> _Ratio:
        return _Ratio(_product(self.top, other.top), self._joint(other))

    def __neg__(self) -> _Ratio:
        return _Ratio({key: -value for key, value in self.top.items()}, self.below)

    def _joint(self, other: _Ratio) -> Poly | None:
        if self.below and other.below:
            return _product(self.below, other.below)
        return self.below or other.below

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ratio) and not self + -other

    __hash__ = None  # type: ignore[assignment]


class _Matrix(dict[tuple[int, int], _Ratio]):
    """A sparse matrix."""

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
        total = dict(self)
        for key, value in other.items():
            total[key] = total[key] + value if key in total else value
        return _Matrix(self.shape, total)

    def __sub__(self, other: _Matrix) -> _Matrix:
        return self + _Matrix(self.shape, {key: -value for key, value in other.items()})

    def times(self, factor: _Ratio) -> _Matrix:
        return _Matrix(self.shape, {key: value * factor for key, value in self.items()})

    def flip(self) -> _Matrix:
        return _Matrix(self.shape[::-1], {(j, i): value for (i, j), value in self.items()})

    def part(self, rows: Any = None, columns: Any = None) -> _Matrix:
        """Return the matrix with all other rows and columns set to zero."""
        kept = {
            (i, j): value
            for (i, j), value in self.items()
            if (rows is None or i in rows) and (columns is None or j in columns)
        }
        return _Matrix(self.shape, kept)

    def square(self) -> _Ratio:
        """Return the sum of the squared entries."""
        return sum((value * value for value in self.values()), _Ratio({}))


def _beside(parts: list[_Matrix]) -> _Matrix:
    total, start = {}, 0
    for part in parts:
        total |= {(i, j + start): value for (i, j), value in part.items()}
        start += part.shape[1]
    return _Matrix((parts[0].shape[0], start), total)


def _apply(coefficients: list[_Ratio], powers: list[_Matrix]) -> _Matrix:
    """Return Σ coefficients[i]·powers[i]."""
    total = _Matrix(powers[0].shape, {})
    for coefficient, power in zip(coefficients, powers, strict=False):
        total = total + power.times(coefficient)
    return total


def _value(polynomial: Poly, point: list[int]) -> int:
    total = 0
    for key, value in polynomial.items():
        part = value.numerator * pow(value.denominator, -1, PRIME)
        for base, power in zip(point, key, strict=True):
            part = part * pow(base, power, PRIME) % PRIME
        total += part
    return total % PRIME


def _rank(matrix: _Matrix, point: list[int]) -> int:
    """Return the rank modulo a prime at a parameter point: a lower bound."""
    columns: dict[int, dict[int, int]] = {}
    for (i, j), entry in matrix.items():
        scale = pow(_value(entry.below, point), -1, PRIME) if entry.below else 1
        columns.setdefault(j, {})[i] = _value(entry.top, point) * scale % PRIME
    pivots: dict[int, dict[int, int]] = {}
    for column in columns.values():
        for row, pivot in pivots.items():
            if factor := column.get(row, 0):
                for i, value in pivot.items():
                    column[i] = (column.get(i, 0) - factor * value) % PRIME
        row = next((i for i, value in column.items() if value), None)
        if row is not None:
            inverse = pow(column[row], -1, PRIME)
            pivots[row] = {i: value * inverse % PRIME for i, value in column.items() if value}
    return len(pivots)


def _take(value: Any, path: str, keys: str) -> list[Any]:
    good = isinstance(value, dict) and set(value) == set(keys.split())
    _require(good, path, f"an object with exactly the keys {keys}")
    return [value[key] for key in keys.split()]


def _integers(value: list[Any], path: str, most: int) -> list[int]:
    good = all(type(item) is int and 0 <= item <= most for item in value)
    _require(good, path, f"integers from 0 to {most}")
    return value


class _Data:
    """The dataset and how its numbers are written."""

    def __init__(self, names: list[str], point: list[int]):
        self.names, self.point, self.used = names, point, set[str]()
        self.x = self.y = _Matrix((0, 0), {})
        self.one = _Ratio({(0,) * len(names): Fraction(1)})

    def poly(self, text: str) -> Poly:
        total: Poly = {}
        for term in text.split(" + "):
            number, *factors = term.split("*")
            powers = dict.fromkeys(self.names, 0)
            for factor in factors:
                name, power = factor.split("^")
                self.used.add(name)
                powers[name] += int(power) if power.isdecimal() else powers[power]
            total = _sum(total, {tuple(powers.values()): Fraction(int(number))})
        return {key: value for key, value in total.items() if value}

    def ratio(self, text: str, path: str) -> _Ratio:
        try:
            above, *below = map(self.poly, text.split(" / "))
            _require(len(below) < 2 and all(below), path, "a number with one denominator, not 0")
        except (AttributeError, LookupError, ValueError) as error:
            msg = f"certificate, {path}: {str(text)[:60]!r} is not a number over the parameters"
            raise CertificateError(msg) from error
        return _Ratio(above, *below)

    def ratios(self, value: Any, path: str, length: int = 0) -> list[_Ratio]:
        good = isinstance(value, list) and len(value) == (length or len(value)) > 0
        _require(good, path, f"a list of {length or 'some'} numbers")
        return [self.ratio(item, path) for item in value]

    def matrix(self, value: Any, path: str) -> _Matrix:
        rows, columns, entries = _take(value, path, "rows columns entries")
        _integers([rows, columns], path, 10**6)
        found = {}
        for i, j, text in entries:
            _require(i < rows and j < columns and (i, j) not in found, path, "one entry a place")
            found[i, j] = self.ratio(text, path)
            _integers([i, j], path, 10**6)
        return _Matrix((rows, columns), found)

    def each(self, matrix: _Matrix) -> _Matrix:
        """Return the matrix divided by the number of samples."""
        return matrix.times(_Ratio({(0,) * len(self.names): Fraction(1, self.x.shape[1])}))


def _pathway(data: _Data, value: Any, path: str) -> Any:
    fields = _take(value, path, "name gate inputs outputs commutator classes")
    name, gate, inputs, outputs, commutator, classes = fields
    (n_x, samples), n_y = data.x.shape, data.y.shape[0]
    good = isinstance(name, str) and len(_integers(gate, f"{path}.gate", 1)) == samples
    _require(good, f"{path}.gate", f"{samples} gates, and the name a text")
    for indices, where, most in ((inputs, "inputs", n_x), (outputs, "outputs", n_y)):
        good = sorted(set(_integers(indices, f"{path}.{where}", most - 1))) == indices != []
        _require(good, f"{path}.{where}", "ascending indices")
    is_open = {i for i, item in enumerate(gate) if item}
    place = {i: k for k, i in enumerate(inputs)}
    p = SimpleNamespace(outputs=set(outputs), commutes=commutator is None, name=name)
    seen = data.x.part(place, is_open)
    p.x = _Matrix((len(place), samples), {(place[i], j): item for (i, j), item in seen.items()})
    p.a = data.each(data.y.part(p.outputs, is_open) @ p.x.flip())
    p.b, p.m = data.each(p.x @ p.x.flip()), p.a.flip() @ p.a
    forward = p.m @ p.b
    difference, where = forward - forward.flip(), f"{path}.commutator"
    _require(p.commutes != bool(difference), where, "null exactly where M and B commute")
    if not p.commutes:
        row, column, entry, norm = _take(
            commutator, where, "row column value relative_norm_squared"
        )
        good = (row, column) == min(difference)
        good = good and data.ratio(entry, where) == difference[row, column]
        _require(good, where, "the first non-zero entry of MB - BM")
        good = data.ratio(norm, where) * forward.square() == difference.square()
        _require(good, where, "|MB - BM|²/|MB|² in relative_norm_squared")
    p.classes = [_class(data, c, f"{path}.classes[{n}]", p) for n, c in enumerate(classes)]
    words = [word for c in p.classes for word in c.words[: c.degree]]
    full = words and _beside(words).shape[1] == _rank(_beside(words), data.point) == len(place)
    _require(full, f"{path}.classes", f"a basis of {len(place)} dimensions")
    return p


def _class(data: _Data, value: Any, path: str, p: Any) -> Any:
    fields = _take(value, path, "t minpoly eigenvalue d generators gram_inverse")
    t, minpoly, eigenvalue, d, generators, gram = fields
    f = data.ratios(minpoly, f"{path}.minpoly")
    c = SimpleNamespace(degree=len(f) - 1, path=path, d=None)
    _require(f[-1] and c.degree, f"{path}.minpoly", "a polynomial of degree > 0")
    c.eigenvalue = data.ratios(eigenvalue, f"{path}.eigenvalue", c.degree)
    _require(p.commutes or (d is None and t == 0), f"{path}.d", "null, and t 0, without d")
    if p.commutes:
        c.d = data.ratios(d, f"{path}.d", c.degree)
    c.words = [data.matrix(generators, f"{path}.generators")]
    good = c.words[0].shape[0] == p.b.shape[0] and c.words[0].shape[1] <= p.b.shape[0]
    _require(good, f"{path}.generators", "columns as high as the pathway has inputs")
    shift = _Ratio({key: item * t for key, item in data.one.top.items() if t})
    operator = p.m + p.b.times(shift)
    _integers([t], f"{path}.t", 0 if c.degree == 1 else 10**6)
    while len(c.words) < max(3 * c.degree - 2, c.degree + 1):
        c.words.append(operator @ c.words[-1])
    _require(not _apply(f, c.words), f"{path}.minpoly", "f with f(T) w = 0")
    for j, word in enumerate(c.words[: c.degree]):
        holds = p.m @ word == _apply(c.eigenvalue, c.words[j:])
        _require(holds, f"{path}.eigenvalue", "lambda with M w = lambda(T) w")
        holds = not c.d or p.b @ word == _apply(c.d, c.words[j:])
        _require(holds, f"{path}.d", "d with B w = d(T) w")
    c.kind = (t, minpoly, eigenvalue, d, c.words[0].shape[1])
    c.drive, c.null = [p.a @ word for word in c.words], not any(c.eigenvalue)
    c.gram = gram if gram is None else data.matrix(gram, f"{path}.gram_inverse")
    return c


def _actions(data: _Data, paths: list[Any]) -> dict[Any, list[list[_Matrix]]]:
    """Return the actions that do not vanish, by (target, source)."""
    actions, used = {}, set()
    for p, j in product(range(len(paths)), repeat=2):
        target, source = paths[p], paths[j]
        cross = data.each(source.x @ target.x.flip())
        if p == j or not cross or not target.outputs & source.outputs:
            continue
        seen = source.a.part(target.outputs)
        for i, c in enumerate(source.classes):
            if c.null:
                continue
            used.add(c.path)
            k, s = c.degree, _beside(c.words[: c.degree])
            one = _Matrix((s.shape[1],) * 2, {(n, n): data.one for n in range(s.shape[1])})
            good = c.gram is not None and s.flip() @ s @ c.gram == one
            _require(good, f"{c.path}.gram_inverse", "the inverse of SᵀS")
            out = [seen @ _beside(c.words[n : n + k]) @ c.gram for n in range(k)]
            for a, other in enumerate(target.classes):
                moved = [s.flip() @ (cross @ word) for word in other.words[: other.degree]]
                table = [[left @ right for right in moved] for left in out]
                if any(entry for row in table for entry in row):
                    actions[(p, a), (j, i)] = table
    spare = [c.path for p in paths for c in p.classes if c.gram is not None and c.path not in used]
    _require(not spare, f"{spare[:1]}.gram_inverse", "null: nothing couples there")
    return actions


def _level(data: _Data, couplings: Any, path: str, paths: list[Any]) -> str:
    """Check the couplings of a stage and return the level that they prove."""
    commute = all(p.commutes for p in paths)
    left = actions = _actions(data, paths) if commute else {}
    group = {(p, a): {(p, a)} for p, item in enumerate(paths) for a in range(len(item.classes))}
    for pair in actions:
        if not any(paths[p].classes[a].null for p, a in pair):
            group |= dict.fromkeys(group[pair[0]] | group[pair[1]], group[pair[0]] | group[pair[1]])
    left, leaks, single, symmetric, gamma = dict(actions), False, True, True, {}
    for item in couplings:
        target, sources, factors = _take(item, path, "target sources factors")
        node, pushers = tuple(target), [tuple(source) for source in sources]
        known = pushers and all((node, source) in left for source in pushers)
        _require(known, path, "couplings that do not vanish, each in one place")
        tables, c = (
            [left.pop((node, source)) for source in pushers],
            paths[node[0]].classes[node[1]],
        )
        table = [[reduce(_Matrix.__add__, cell) for cell in zip(*row)] for row in zip(*tables)]
        if factors is None:
            drives = [] if c.null else [_flat(c.drive[n:], c.degree) for n in range(c.degree)]
            ranks = [_rank(_beside([*drives, _flat(row, c.degree)]), data.point) for row in table]
            _require(max(ranks) > len(drives), path, "factors where they exist")
            leaks = True
            continue
        rows = [data.ratios(q, path, c.degree) for q in factors]
        good = len(rows) == len(table) and all(
            cell == _apply(q, c.drive[n:])
            for q, row in zip(rows, table)
            for n, cell in enumerate(row)
        )
        _require(good, path, "factors q_k with A_kl = A_p q_k(T) T^l w")
        acting = {s for t, s in actions if t == node and s in group[pushers[0]]}
        single = single and len(pushers) == 1 and not c.null
        symmetric = symmetric and acting == set(pushers)
        for n, q in enumerate(rows):
            symmetric = symmetric and _apply(q, c.drive) == _apply(rows[0], c.drive[n:])
        gamma[node] = rows[0]
    _require(not left, path, f"complete; missing: {sorted(left)[:3]}")
    for (p, a), members in group.items():
        mine = paths[p].classes[a]
        zero = [_Ratio({})] * mine.degree
        for q, b in members:
            symmetric = symmetric and paths[q].classes[b].kind == mine.kind
            symmetric = symmetric and gamma.get((p, a), zero) == gamma.get((q, b), zero)
    if leaks or not commute:
        return LEVELS[3]
    _require(not actions or symmetric or single, path, "one source each, or closed by symmetry")
    return LEVELS[0] if not actions else LEVELS[1] if symmetric else LEVELS[2]


def _flat(row: list[_Matrix], count: int) -> _Matrix:
    """Return matrices as one column."""
    wide = _beside(row[:count])
    found = {(i * wide.shape[1] + j, 0): item for (i, j), item in wide.items()}
    return _Matrix((wide.shape[0] * wide.shape[1], 1), found)


def _stage(data: _Data, value: Any, path: str) -> tuple[str, str]:
    """Check one stage, leave its residual in ``data.y``; return its level and a line of text."""
    fields = _take(value, path, "pathways couplings level map initial_loss final_loss")
    pathways, couplings, level, learned, initial, final = fields
    half = _Ratio({(0,) * len(data.names): Fraction(1, 2 * data.x.shape[1])})
    good = data.ratio(initial, f"{path}.initial_loss") == data.y.square() * half
    _require(good, f"{path}.initial_loss", "|Y|²/2P")
    paths = [_pathway(data, item, f"{path}.pathways[{n}]") for n, item in enumerate(pathways)]
    proven = _level(data, couplings, f"{path}.couplings", paths)
    _require(paths and level == proven, f"{path}.level", proven)
    w, starts = data.matrix(learned, f"{path}.map"), [0]
    for p in paths:
        starts.append(starts[-1] + p.x.shape[0])
    features = _beside([p.x.flip() for p in paths]).flip()
    good = w.shape == (data.y.shape[0], starts[-1]) and all(
        any(row in p.outputs and starts[n] <= k < starts[n + 1] for n, p in enumerate(paths))
        for row, k in w
    )
    _require(good, f"{path}.map", "one column an input of each pathway, on its outputs")
    data.y = data.y - w @ features
    good = not any((data.y @ p.x.flip()).part(p.outputs) for p in paths)
    _require(good, f"{path}.map", "a minimiser of the stage's loss")
    good = data.ratio(final, f"{path}.final_loss") == data.y.square() * half
    _require(good, f"{path}.final_loss", "|Y - W F|²/2P")
    return level, f"{path}: {', '.join(p.name for p in paths)}: {level}"


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but the digest itself."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def verify(certificate: Any) -> tuple[str, ...]:
    """Check a certificate and return what was proven, one line a check.

    Raises:
        CertificateError: The certificate is malformed, or one of its claims does not hold; the
            message names the field.
    """
    keys = "format parameters inputs targets stages level free_constants digest"
    fields = _take(certificate, "the whole", keys)
    form, names, inputs, targets, stages, level, constants, shown = fields
    _require(form == FORMAT, "format", FORMAT)
    _require(shown == digest(certificate), "digest", "the SHA-256 of all other fields")
    _require(type(constants) is int and constants == 0, "free_constants", "0: all is derived")
    try:
        seed = int(shown, 16)
        data = _Data(names, [pow(3 + n, seed, PRIME) for n in range(len(names))])
        data.x, data.y = data.matrix(inputs, "inputs"), data.matrix(targets, "targets")
        _require(data.x.shape[1] == data.y.shape[1] > 0, "targets", "as many samples as inputs")
        found = [_stage(data, item, f"stages[{n}]") for n, item in enumerate(stages)]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, CertificateError):
            raise
        msg = f"certificate: a value is not of the form that its place needs ({error})"
        raise CertificateError(msg) from error
    _require(data.used == set(names), "parameters", "exactly the names that occur")
    weakest = max((LEVELS.index(item) for item, _ in found), default=-1)
    _require(found and level == LEVELS[weakest], "level", "the weakest of the stages")
    return tuple(text for _, text in found)


def verify_file(path: str | Path) -> tuple[str, ...]:
    """Read a certificate and check it; see :func:`verify`."""
    try:
        return verify(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, RecursionError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CertificateError(f"certificate {path}: cannot be read as JSON ({error})") from error


if __name__ == "__main__":
    sys.stdout.write("\n".join(verify_file(sys.argv[1])) + "\n")
