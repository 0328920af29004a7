r"""The verifier's second part: a pathway's correlations and modes, checked exactly.

With :mod:`symreln.verify` and :mod:`symreln.verify_matrices` it needs the standard library alone.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, product, zip_longest
from math import prod
from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify_matrices import Packed, Sparse, combined
    from symreln.verify_numbers import Poly, Ratio, integers, multiply, quotient, require, take
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    from verify_matrices import Packed, Sparse, combined  # type: ignore[no-redef]
    from verify_numbers import Poly, Ratio, integers, multiply, quotient, require, take  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]

PRIME = 2**61 - 1
MOST_PAIRS = 400  # of eigenvalues of two classes that are compared: a tenth of a second
SLOPE = 1_000_003  # t of lambda + t d, in which modes differ that differ in either
BOUNDARY = "/"  # a gate where the pathway's inputs are made orthogonal to the sample
Element = list[Ratio]  # of Q(parameters)[x]/f, low to high


def times(data: Data, f: Element, a: Element, b: Element) -> Element:
    """Return a·b modulo f."""
    zero = data.constant(0)
    work = [zero] * (len(a) + len(b) - 1)
    for (n, x), (m, y) in product(enumerate(a), enumerate(b)):
        work[n + m] = work[n + m] + x * y
    degree = len(f) - 1
    while len(work) > degree:
        if top := work.pop():
            lead = top / f[-1] * -1
            for m in range(degree):
                place = len(work) - degree + m
                work[place] = work[place] + lead * f[m]
    return work + [zero] * (degree - len(work))


def trace(data: Data, f: Element, a: Element) -> Ratio:
    """Return the sum of a over the roots of f."""
    total = data.constant(0)
    for place in range(len(f) - 1):
        total = total + a[place]
        a = times(data, f, a, [data.constant(0), data.constant(1)])
    return total


def _value(data: Data, polynomial: Poly) -> int:
    terms = (n * prod(map(pow, data.point, powers)) for powers, n in polynomial.items())
    return sum(terms) % PRIME


def rank(data: Data, columns: list[dict[Any, Any]]) -> int:
    """Return a lower bound of the rank over Q(parameters): that modulo a prime, at a point."""
    return _rank([{key: _value(data, entry) for key, entry in c.items()} for c in columns])


def _rank(columns: list[dict[Any, int]]) -> int:
    """Return the rank modulo the prime."""
    pivots: dict[Any, dict[Any, int]] = {}
    for work in columns:
        for row, pivot in pivots.items():
            if factor := work.get(row, 0):
                for key, item in pivot.items():
                    work[key] = (work.get(key, 0) - factor * item) % PRIME
        found = next((key for key, item in work.items() if item), None)
        if found is not None:
            inverse = pow(work[found], -1, PRIME)
            pivots[found] = {key: item * inverse % PRIME for key, item in work.items() if item}
    return len(pivots)


# -- pathways -------------------------------------------------------------------------------------


class ModeClass(SimpleNamespace):
    """Modes whose eigenvalues are the roots of one polynomial, as many vectors for each."""

    def alike(self, other: ModeClass) -> bool:
        """Whether the two have the same eigenvalues."""
        return self is other or self.same(other)

    def same(self, other: ModeClass) -> bool:
        """Whether the two have the same eigenvalues, shown in the same way.

        The scale of f, and f itself where it has one root only, are nothing that is shown.
        """
        good = self.degree == other.degree and (self.eigenvalue, self.d) == (
            other.eigenvalue, other.d
        )  # fmt: skip
        if good and self.degree > 1:
            pairs = zip(self.f, other.f, strict=True)
            good = all(x * other.f[-1] == y * self.f[-1] for x, y in pairs)
        return good


def _invertible(data: Data, c: ModeClass) -> bool:
    """Whether lambda has an inverse modulo f: multiplication by it has full rank."""
    columns, element = [], c.eigenvalue
    for _ in range(c.degree):
        whole = data.common(item.below for item in element)
        columns.append(
            {n: multiply(x.top, quotient(whole, x.below) or {}) for n, x in enumerate(element)}
        )
        element = times(data, c.f, element, [data.constant(0), data.constant(1)])
    return rank(data, columns) == c.degree


class Pathway(SimpleNamespace):
    """A pathway; where it is the image of another one, ``root`` is that and carries the proofs."""

    @cached_property
    def a(self) -> Sparse:
        """Sigma^yx, of a pathway that is no image."""
        return combined([(self.per_sample, self.driven)]).sparse().reduced()

    def action(self, data: Data, elements: dict[int, Element]) -> Sparse:
        """Return N with words·N = (T^l q(T) w)_l side by side, for the classes with a q."""
        entries = {}
        for a, q in elements.items():
            c = self.classes[a]
            x = [data.constant(0), data.constant(1)]
            for power in range(c.degree):
                for m, item in ((m, item) for m, item in enumerate(q) if item):
                    for j in range(c.size):
                        place = c.start + m * c.size + j, c.start + power * c.size + j
                        entries[place] = item
                q = times(data, c.f, q, x)
        return data.assembled(entries, (self.words.shape[1],) * 2)

    def coordinates(self, rows: Packed) -> Packed:
        """Return Wᵀ·rows, for rows by the inputs of this pathway and words W of its root."""
        return self.root.words.flipped @ (rows.rows(self.from_root) if self.moved else rows)

    def outward(self, root_rows: Packed) -> tuple[Sparse, Packed]:
        """Return (F_pᵀ, rows), for rows by the inputs of the root."""
        return self.features.flipped, root_rows.rows(self.to_root) if self.moved else root_rows

    def inputs_around(self, s: Any, other: Pathway) -> dict[int, int]:
        """Return how the root's inputs move: here, by s to another image, and back."""
        place = {i: k for k, i in enumerate(self.root.key[0])}
        back = {i: place[k] for k, i in other.rho.items()}
        return {place[k]: back[s.inputs[i]] for k, i in self.rho.items()}

    def outputs_around(self, s: Any, other: Pathway) -> list[int]:
        """Return how all outputs move: here, by s to another image, and back."""
        every = range(len(s.outputs))
        back = {o: k for k, o in enumerate(other.tau or every)}
        return [back[s.outputs[o]] for o in self.tau or every]

    def use(self, classes: Any) -> None:
        """Make sure that the projectors on these classes are known."""
        for a in classes:
            c = self.root.classes[a]
            require(c.gram, f"{c.path}.gram_inverse", "the inverse of SᵀS: the class acts")
            require(self.root.orthogonal, c.path, "orthogonal to the other classes")


def _indices(data: Data, v: Any, path: str) -> None:
    (n_x, samples), n_y = data.x.shape, data.y.shape[0]
    require(isinstance(v.name, str), f"{path}.name", "a text")
    for indices, where, most in ((v.inputs, "inputs", n_x), (v.outputs, "outputs", n_y)):
        good = sorted(set(integers(indices, f"{path}.{where}", most - 1))) == indices != []
        require(good, f"{path}.{where}", "ascending indices")
    good = isinstance(v.gate, list) and len(v.gate) == samples
    require(good, f"{path}.gate", f"{samples} gates")


def _features(data: Data, v: Any, path: str) -> Sparse:
    place = {i: k for k, i in enumerate(v.inputs)}
    shape = len(place), data.x.shape[1]
    good = all(type(g) is str or (type(g) is int and g in (0, 1)) for g in v.gate)
    require(good, f"{path}.gate", "0, 1 and texts")
    on = [j for j, g in enumerate(v.gate) if g == BOUNDARY]
    texts = {g for g in v.gate if type(g) is str and g != BOUNDARY}
    gains = {g: data.ratio(g, f"{path}.gate") for g in texts}
    good = all(item and item != data.constant(1) for item in gains.values())
    require(good, f"{path}.gate", "1 and 0 as integers")
    seen = data.x.moved(place, {j: j for j, g in enumerate(v.gate) if g}, shape)
    if not gains and not on:
        return seen
    entries = {(i, j): Ratio(top, seen.below) for (i, j), top in seen.entries().items()}
    if on:
        entries = _orthogonal(data, entries, on)
    one = data.constant(1)
    gained = {(i, j): e * gains.get(v.gate[j], one) for (i, j), e in entries.items() if e}
    return data.assembled(gained, shape)


def _orthogonal(data: Data, entries: Any, on: list[int]) -> Any:
    """Return samples without their parts along those on the boundary, by Gram and Schmidt."""
    columns: dict[int, dict[int, Ratio]] = {}
    for (i, j), item in entries.items():
        columns.setdefault(j, {})[i] = item
    frame: list[dict[int, Ratio]] = []

    def inner(a: dict[int, Ratio], b: dict[int, Ratio]) -> Ratio:
        return sum((a[i] * b[i] for i in a if i in b), start=data.constant(0))

    def off(column: dict[int, Ratio]) -> dict[int, Ratio]:
        for u in frame:
            share = inner(column, u) / inner(u, u) * -1
            both = {*column, *u}
            zero = data.constant(0)
            column = {i: column.get(i, zero) + u.get(i, zero) * share for i in both}
        return {i: item for i, item in column.items() if item}

    for j in on:
        if left := off(columns.get(j, {})):
            frame.append(left)
    return {(i, j): item for j, column in columns.items() for i, item in off(column).items()}


def read_pathway(data: Data, value: Any, path: str, earlier: list[Pathway]) -> Pathway:
    """Read a pathway and check its modes, or that it is the image of an earlier one."""
    v = take(value, path, "name gate inputs outputs like commutator classes")
    _indices(data, v, path)
    p = Pathway(name=v.name, outputs={i: i for i in v.outputs}, path=path, moved=False)
    p.key = tuple(v.inputs), tuple(v.outputs), tuple(map(str, v.gate))
    p.features = _features(data, v, path)
    if v.like is not None:
        require(v.commutator is v.classes is None, path, "without claims where it is like another")
        return _image(data, p, v, earlier)
    p.root, p.tau, p.rho = p, None, {i: i for i in v.inputs}
    p.driven = data.drive(p.features.flipped.packed()).rows(p.outputs)
    per_sample = p.per_sample = data.constant(1) / data.x.shape[1]
    p.b = combined([(per_sample, p.features @ p.features.flipped.packed())]).sparse().reduced()
    p.m = combined([(per_sample * per_sample, p.driven.gram())]).sparse().reduced()
    p.commutes = v.commutator is None
    if not p.commutes:
        _commutator(data, p, v.commutator, f"{path}.commutator")
    _spectrum(data, p, v.classes, f"{path}.classes")
    return p


def _image(data: Data, p: Pathway, v: Any, earlier: list[Pathway]) -> Pathway:
    where = f"{p.path}.like"
    require(isinstance(v.like, list) and len(v.like) == 2, where, "[pathway, symmetry]")
    _, n = integers(v.like, where, max(len(earlier), len(data.symmetries)) - 1)
    good = v.like[0] < len(earlier) and n < len(data.symmetries)
    require(good, where, "an earlier pathway and a symmetry")
    other, s = earlier[v.like[0]], data.symmetries[n]
    require(image(other.key, s) == p.key, where, "the image of that pathway")
    root = p.root = other.root
    p.rho = {i: s.inputs[k] for i, k in other.rho.items()}
    p.tau = [s.outputs[o] for o in (other.tau or range(data.y.shape[0]))]
    home = {i: k for k, i in enumerate(root.key[0])}
    place = {i: k for k, i in enumerate(p.key[0])}
    p.to_root = {home[i]: place[k] for i, k in p.rho.items()}
    p.from_root = {place[k]: home[i] for i, k in p.rho.items()}
    p.moved, p.commutes, p.classes = True, root.commutes, root.classes
    return p


def image(key: Any, s: Any) -> Any:
    """Return (inputs, outputs, gate) of the image of a pathway."""
    gate = tuple(map(key[2].__getitem__, s.origins))
    inputs = sorted(s.inputs[i] for i in key[0])
    return tuple(inputs), tuple(sorted(map(s.outputs.__getitem__, key[1]))), gate


def _commutator(data: Data, p: Pathway, value: Any, where: str) -> None:
    w = take(value, where, "row column value relative_norm_squared")
    forward, found = _forward_and_difference(data, p)
    require(found, where, "null exactly where M and B commute")
    difference, whole = found.sparse(), forward.sparse()
    (row, column), top = min(difference.entries().items())
    norm = data.ratio(w.relative_norm_squared, where)
    good = type(w.row) is int is type(w.column) and (w.row, w.column) == (row, column)
    good = good and norm == difference.inner(difference) / whole.inner(whole)
    good = good and data.ratio(w.value, where) == Ratio(top, difference.below)
    require(good, where, "the first non-zero entry of MB - BM, and |MB - BM|²/|MB|²")


def _forward_and_difference(data: Data, p: Pathway) -> tuple[Packed, Packed]:
    """Return MB and MB - BM, of symmetric M and B."""
    forward = p.m @ p.b.packed()
    backward = forward.sparse().flipped.packed()
    one = data.constant(1)
    return forward, combined([(one, forward), (one * -1, backward)])


# -- modes ----------------------------------------------------------------------------------------


def _spectrum(data: Data, p: Pathway, value: Any, path: str) -> None:
    require(isinstance(value, list) and value, path, "a list of classes")
    p.classes, start = [], 0
    for n, item in enumerate(value):
        c = _class(data, p, item, f"{path}[{n}]")
        c.start, start = start, start + c.degree * c.size
        p.classes.append(c)
    size = p.b.shape[0]
    require(start == size, path, f"a basis: {size} vectors")
    _unlike(data, p)
    terms: Any = {}
    below = data.common(word.below for c in p.classes for word in c.words[: c.degree])
    for c in p.classes:
        for power, word in enumerate(c.words[: c.degree]):
            data.beside(terms, word, below, c.start + power * c.size)
    p.words = Sparse((size, size), terms, below)
    kept = _deciding_words(data, p)
    one, shape, every = data.constant(1), (size, len(kept)), {i: i for i in range(size)}
    places = {column: n for n, column in enumerate(kept)}
    packed = p.words.moved(every, places, shape).packed()
    fields = [("eigenvalue", p.m), ("d", p.b)]
    for field, matrix in fields[: 1 + p.commutes]:
        action = p.action(data, {a: getattr(c, field) for a, c in enumerate(p.classes)})
        action = action.moved(every, places, shape)
        wrong = combined([(one, matrix @ packed), (one * -1, p.words @ action.packed())])
        if wrong:
            column = kept[min(j for _, j in wrong.sparse().entries())]
            c = next(c for c in p.classes if column < c.start + c.degree * c.size)
            require(False, f"{c.path}.{field}", "g with M w = g(T) w, or Sigma^x w = g(T) w for d")
    for c in p.classes:
        require(not c.left, f"{c.path}.minpoly", "f with f(T) w = 0")
    _independent(data, p, path)


def _deciding_words(data: Data, p: Pathway) -> list[int]:
    """Return the words T^l w on which it is decided how M and B act on all.

    Those of l = 0 where M and B commute with T = aM + bB: then M T^l w = T^l g(T) w follows from
    M w = g(T) w.
    """
    long = any(c.degree > 1 and c.weights for c in p.classes)
    commute = p.commutes and long and not _forward_and_difference(data, p)[1]

    def decided(c: ModeClass) -> bool:
        return c.weights and (commute or not (p.commutes or c.weights[1]))

    return [
        c.start + place
        for c in p.classes
        for place in range(c.size if decided(c) else c.degree * c.size)
    ]


def _unlike(data: Data, p: Pathway) -> None:
    """Find a class that could be part of another one: see :func:`symreln.verify._stage`."""
    p.split = None
    known: dict[Any, list[ModeClass]] = {}
    for c in p.classes:
        shown = [*c.eigenvalue, *(c.d or [])]  # compared where they are equal at a point
        values = (_value(data, x.top) * pow(_value(data, x.below), -1, PRIME) for x in shown)
        equal = known.setdefault(tuple(value % PRIME for value in values), [])
        for other in equal:
            if c.same(other):
                where = "of other eigenvalues than the other classes, as symmetries exchange them"
                require(not data.symmetries, c.path, where)
                p.split = c.path
        equal.append(c)


def _class(data: Data, p: Pathway, value: Any, path: str) -> Any:
    keys = "operator minpoly eigenvalue d generators gram_inverse inverse_d_eff"
    v = take(value, path, keys)
    f, size = data.ratios(v.minpoly, f"{path}.minpoly"), p.b.shape[0]
    c = ModeClass(f=f, degree=len(f) - 1, path=path, left=None, inverse_text=v.inverse_d_eff)
    require(f[-1] and c.degree, f"{path}.minpoly", "a polynomial of degree > 0")
    c.eigenvalue = data.ratios(v.eigenvalue, f"{path}.eigenvalue", c.degree)
    require(p.commutes or v.d is None, f"{path}.d", "null: Sigma^x has no eigenvalue there")
    c.d = data.ratios(v.d, f"{path}.d", c.degree) if p.commutes else None
    c.null = not any(c.eigenvalue)
    good = c.null or c.degree == 1 or _invertible(data, c)
    require(good, f"{path}.eigenvalue", "zero at every root of f, or at none")
    c.words = [data.matrix(v.generators, f"{path}.generators", size)]
    c.size = c.words[0].shape[1]
    require(c.size, f"{path}.generators", "at least one vector")
    where, needed = f"{path}.minpoly", "f with f(T) w = 0"
    weights = c.weights = c.operator = None
    if isinstance(v.operator, list):
        weights = c.weights = data.ratios(v.operator, f"{path}.operator", 2)
    if c.degree == 1 and weights and (p.commutes or not weights[1]):
        # w will be shown to be an eigenvector of M and B, so that T w is known.
        theta = weights[0] * c.eigenvalue[0]
        c.left = f[0] + f[1] * (theta + weights[1] * c.d[0] if c.d else theta)
    else:
        parts = (p.m.packed(), p.b.packed())
        t = (
            combined(list(zip(weights, parts, strict=True))).sparse().reduced()
            if weights
            else data.matrix(v.operator, f"{path}.operator", size)
        )
        require(t.shape == (size, size), f"{path}.operator", "a square matrix")
        c.operator = None if weights else t
        while len(c.words) <= c.degree:
            c.words.append((t @ c.words[-1].packed()).sparse().reduced())
        powers = [(q, word.packed()) for q, word in zip(f, c.words, strict=True)]
        require(not combined(powers), where, needed)
    span = c.degree * c.size
    where = f"{path}.gram_inverse"
    c.gram = None if v.gram_inverse is None else data.matrix(v.gram_inverse, where, span)
    require(c.gram is None or c.gram.shape == (span, span), where, f"{span} x {span}")
    return c


def _orthogonal_classes(data: Data, p: Pathway) -> bool:
    """Whether the words of every class are orthogonal to those of the others.

    M and Sigma^x are symmetric and act on the classes as was shown: what has other eigenvalues is
    orthogonal, and no products of words are needed, which have thousands of terms in parameters.
    """
    if data.names and all(_apart(data, *pair) for pair in combinations(p.classes, 2)):
        return True
    whole = (p.words.flipped @ p.words.packed()).sparse()
    return all(
        p.class_of[i] == p.class_of[j]
        for part in whole.terms.values()
        for i, row in part.items()
        for j in row
    )


def _apart(data: Data, a: ModeClass, b: ModeClass) -> bool:
    """Whether no eigenvalues of two classes are equal, as far as a point modulo a prime tells.

    The determinant of G -> AᵀG - GB is the product of all differences, for the matrices A and B of
    lambda + t d; where it is not zero there it is not zero over Q(parameters).
    """
    if a.degree * b.degree > MOST_PAIRS:
        return False
    first, second = (_action(data, c) for c in (a, b))
    if first is None or second is None:
        return False
    columns = []
    for i, j in product(range(a.degree), range(b.degree)):
        column = {(k, j): first[i][k] for k in range(a.degree)}
        for k in range(b.degree):
            column[i, k] = column.get((i, k), 0) - second[k][j]
        columns.append({key: value % PRIME for key, value in column.items()})
    return _rank(columns) == len(columns)


def _action(data: Data, c: ModeClass) -> list[list[int]] | None:
    """Return lambda + t d as a matrix on Q[x]/f, at the point modulo the prime, if it has one."""
    numbers = [*c.f, *c.eigenvalue, *(c.d or [])]
    below = [_value(data, x.below) for x in numbers]
    if not all(below) or not _value(data, c.f[-1].top):
        return None
    values = [_value(data, x.top) * pow(q, -1, PRIME) for x, q in zip(numbers, below, strict=True)]
    f, rest = values[: c.degree + 1], values[c.degree + 1 :]
    row = [x + SLOPE * y for x, y in zip_longest(rest[: c.degree], rest[c.degree :], fillvalue=0)]
    rows = []
    for _ in range(c.degree):
        rows.append(row)
        lead = row[-1] * pow(f[-1], -1, PRIME)
        row = [(x - lead * y) % PRIME for x, y in zip([0, *row[:-1]], f[:-1], strict=True)]
    return rows


def _independent(data: Data, p: Pathway, path: str) -> None:
    """Prove that the words are a basis."""
    p.class_of = [a for a, c in enumerate(p.classes) for _ in range(c.degree * c.size)]
    p.orthogonal = _orthogonal_classes(data, p)
    one = data.constant(1)
    grams: Any = {}
    below = data.common(c.gram.below for c in p.classes if c.gram)
    for c in p.classes:
        if c.gram:
            places = {c.start + k: k for k in range(c.degree * c.size)}
            own = p.words.moved(range(len(p.class_of)), places, (len(p.class_of), len(places)))
            gram = (own.flipped @ own.packed()).sparse()
            unit = data.assembled({(k, k): one for k in places.values()}, c.gram.shape)
            wrong = combined([(one, gram @ c.gram.packed()), (one * -1, unit.packed())])
            require(not wrong, f"{c.path}.gram_inverse", "the inverse of SᵀS")
            data.beside(grams, c.gram, below, c.start, c.start)
    p.gram = Sparse(p.words.shape, grams, below)
    columns: list[Any] = [{} for _ in p.class_of]
    for (i, j), entry in p.words.entries().items():
        columns[j][i] = entry
    groups = [[j for j, b in enumerate(p.class_of) if b == a] for a in range(len(p.classes))]
    if not p.orthogonal:
        groups = [list(range(len(columns)))]
    for group in groups:
        c = p.classes[p.class_of[group[0]]]
        known = p.orthogonal and c.gram is not None
        full = known or rank(data, [columns[j] for j in group]) == len(group)
        require(full, path, "a basis")
