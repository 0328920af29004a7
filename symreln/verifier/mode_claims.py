r"""The modes of a pathway: its correlations, computed from the data, and their joint eigenvalues.

From X, Y and the gates g (0, 1, gains, or "/": the inputs are made orthogonal to that sample) the
verifier builds every pathway's features F_p = X_p diag(g_p), :math:`A = \Sigma^{yx} = O_p Y
F_p^T/P`,
:math:`M = A^T A` and :math:`B = \Sigma^x` itself; Y is what earlier stages leave.

**Modes.** A class gives a matrix T (as a rule pM + qB), a polynomial f of degree k, polynomials
lambda and d of degree < k, and generators w_1 … w_m. With v_ij = T^j w_i it is checked that

1. f(T) w_i = 0;
2. M v_ij = (lambda x^j mod f)(T) w_i and B v_ij = (d x^j mod f)(T) w_i for all j < k;
3. the v_ij, j < k, of all classes together are as many as B has rows, and independent; one class
   of lambda = 0 may be *the rest*, shown by no vectors: all that is orthogonal to the others;
4. lambda is 0 (a *null* class), or has an inverse modulo f (multiplication by it has full rank);
5. no two classes have the same lambda and d and, for k > 1, the same f up to a factor; but without
   symmetries, a stage closed by symmetry or of coupled modes may *split* a class into several.

*Claim.* The pairs (lambda(theta), d(theta)) over the roots theta of f, each m times, over all
classes, are exactly the joint eigenvalues of (M, B) with multiplicity, and M B = B M.
*Proof.* For each i the v_ij with j < k span a space of dimension k, by 3. It is invariant under T
and annihilated by f, by 1; being cyclic of dimension k = deg f, its characteristic polynomial
under T is f up to the leading coefficient. By 2, M = lambda(T) and B = d(T) on it, so they commute
there and, triangularised together with T, have on the diagonal the pairs (lambda(theta),
d(theta)). By 3 the whole space is the direct sum of these spaces. ∎
For k = 1 and T = pM + qB, 1 follows from 2 and f(p lambda + q d) = 0, which is what is computed. f
need not be irreducible, nor square-free: by 4, lambda(theta) ≠ 0 at all roots or at none. M and B
are symmetric at real parameters, hence diagonal in one orthonormal V, and
:math:`\Sigma^{yx} = U S V^T` follows with :math:`u = \Sigma^{yx} v/s`.
*The rest* is invariant, as M and B are symmetric and the others' span is. M has no negative
eigenvalues, so it is 0 there if tr M is the sum of m tr lambda over the others. B is a number d
there if what the others leave of tr B and tr B² is d and d² for each dimension, since then its
eigenvalues there do not vary. So wide data need no n_x × n_x matrix.

Independence: where the classes are found to be orthogonal, class by class, by a given inverse of
the Gram matrix SᵀS of S = (T^j w)_{j<k}, or by a rank modulo a prime at one parameter point (a
lower bound of the true one); else by the rank of all. A pathway that does not commute shows the
first non-zero entry of MB - BM and ‖MB - BM‖²/‖MB‖²; then only M's equations are claimed.

A pathway that is ``like`` an earlier one is its image under a symmetry and has that one's classes
with the inputs permuted; :mod:`.stages` says why, and what is checked for it.
"""

from __future__ import annotations

from functools import cached_property, reduce
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any, Final

from .matrices import Matrix, assembled, combined, equal, placed, products
from .numbers import (
    PRIME,
    Element,
    Ratio,
    common_multiple,
    multiply,
    power,
    quotient,
    rank,
    require,
    times,
    trace,
)
from .reading import Data, Given, Reader

MOST_COMPARED: Final = 400  # pairs of eigenvalues of two classes: a tenth of a second
_SLOPE: Final = 1_000_003  # t of lambda + t d, in which modes differ that differ in either
BOUNDARY: Final = "/"
#: Entries of the features of a gate with "/", which are divided by each other.
MOST_ORTHOGONAL: Final = 10**6


class ModeClass(SimpleNamespace):
    """Modes whose eigenvalues are the roots of one polynomial, as many vectors for each."""

    def same(self, other: ModeClass) -> bool:
        """Whether the two have the same eigenvalues, shown in the same way.

        The scale of f, and f itself where it has one root only, are nothing that is shown.
        """
        if self is other:
            return True
        good = self.degree == other.degree
        good = good and (self.eigenvalue, self.d) == (other.eigenvalue, other.d)
        if good and self.degree > 1:
            pairs = zip(self.f, other.f, strict=True)
            good = all(x * other.f[-1] == y * self.f[-1] for x, y in pairs)
        return good


class Pathway(SimpleNamespace):
    """A pathway; where it is the image of another one, ``root`` is that and carries the proofs."""

    @cached_property
    def a(self) -> Matrix:
        """Sigma^yx, of a pathway that is no image."""
        return combined([(self.per_sample, self.driven)]).reduced()

    @cached_property
    def m(self) -> Matrix:
        """M = (Sigma^yx)^T Sigma^yx, of a pathway that is no image."""
        share = self.per_sample * self.per_sample
        return combined([(share, self.driven.gram())]).reduced()

    @cached_property
    def b(self) -> Matrix:
        """Sigma^x, of a pathway that is no image."""
        return combined([(self.per_sample, self.features @ self.features.T)]).reduced()

    def on_m(self, words: Matrix) -> Matrix:
        """Return M·words, through the outputs where these are fewer than the inputs."""
        few = len(self.outputs) < len(self.key[0])
        return self.a.T @ (self.a @ words) if few else self.m @ words

    def on_b(self, words: Matrix) -> Matrix:
        """Return Sigma^x·words, through the samples where these are fewer than the inputs."""
        if self.features.shape[1] >= len(self.key[0]):
            return self.b @ words
        return products([(self.per_sample, self.features, self.features.T @ words, None)])

    @classmethod
    def read(cls, data: Data, given: Given, earlier: list[Pathway]) -> Pathway:
        """Read a pathway and check its modes, or that it is the image of an earlier one."""
        v = given.take("name gate inputs outputs like commutator classes")
        inputs = v.inputs.ascending(data.x.shape[0] - 1)
        outputs = v.outputs.ascending(data.y.shape[0] - 1)
        given.require(inputs and outputs, "of some inputs and outputs")
        gate = _read_gate(data, v.gate)
        p = cls(name=v.name.text(), path=given.path, moved=False, gate=gate)
        p.outputs = {i: i for i in outputs}
        p.key = tuple(inputs), tuple(outputs), tuple(map(str, v.gate.value))
        p.features = _gated(data, inputs, gate)
        if v.like.there:
            bare = not v.commutator.there and not v.classes.there
            given.require(bare, "without claims where it is like another")
            return _image(data, p, v.like, earlier)
        p.root, p.tau, p.rho, p.shifted = p, None, {i: i for i in inputs}, {}
        p.driven = data.drive(p.features.T).rows(p.outputs)
        p.per_sample, p.data = data.per_sample, data
        p.commutes = not v.commutator.there
        if not p.commutes:
            _commutator(data, p, v.commutator)
        _spectrum(data, p, v.classes)
        return p

    def image(self, s: Any) -> Any:
        """Return (inputs, outputs, gate) of the pathway that a symmetry maps this one onto."""
        gate = tuple(map(self.key[2].__getitem__, s.origins))
        inputs = sorted(s.inputs[i] for i in self.key[0])
        return tuple(inputs), tuple(sorted(map(s.outputs.__getitem__, self.key[1]))), gate

    @cached_property
    def orthogonal(self) -> bool:
        """Whether classes are orthogonal to each other; asked for where projectors are used."""
        return _orthogonal_classes(self.data, self)

    def action(self, data: Data, elements: dict[int, Element]) -> Matrix:
        """Return N with words·N = (T^l q(T) w)_l side by side, for the classes with a q."""
        entries = {}
        for a, q in elements.items():
            c = self.classes[a]
            for exponent in range(c.degree):
                for m, item in ((m, item) for m, item in enumerate(q) if item):
                    for j in range(c.size):
                        place = c.start + m * c.size + j, c.start + exponent * c.size + j
                        entries[place] = item
                q = times(c.f, q, power(data.constant(1), 1))
        return assembled(entries, (self.words.shape[1],) * 2, data.one)

    def coordinates(self, rows: Matrix) -> Matrix:
        """Return Wᵀ·rows, for rows by the inputs of this pathway and words W of its root."""
        return self.root.words.T @ (rows.rows(self.from_root) if self.moved else rows)

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
            require(c.gram is not None, f"{c.path}.gram_inverse", "shown: the class acts")
            require(self.root.orthogonal, c.path, "orthogonal to the other classes")


# -- what a pathway sees ---------------------------------------------------------------------------


def _read_gate(data: Data, given: Given) -> list[Any]:
    """Return the numbers of a gate: 0 and 1 are integers, gains texts, None on the boundary."""
    one, values = data.constant(1), given.value
    good = isinstance(values, list) and len(values) == data.samples
    given.require(good, f"a list of {data.samples}")
    good = all(type(g) is str or (type(g) is int and g in (0, 1)) for g in values)
    given.require(good, "0, 1 and texts")
    texts = {g: given[values.index(g)] for g in {*values} if type(g) is str and g != BOUNDARY}
    gains: dict[Any, Any] = {g: data.ratio(text) for g, text in texts.items()}
    given.require(all(g and g != one for g in gains.values()), "1 and 0 as integers")
    gains |= {0: one * 0, 1: one, BOUNDARY: None}
    return [gains[g] for g in values]


def _gated(data: Data, inputs: list[int], gate: list[Any]) -> Matrix:
    """Return F = X_p diag(g), some inputs by all samples; on None they are made orthogonal."""
    place, shape = {i: k for k, i in enumerate(inputs)}, (len(inputs), data.samples)
    one, on = data.constant(1), [j for j, g in enumerate(gate) if g is None]
    opened = {j: j for j, g in enumerate(gate) if g is None or g}
    seen = data.x.moved(place, opened, shape)
    if not on and all(gate[j].top == gate[j].below for j in opened):
        return seen
    entries = seen.ratios()
    if on:
        require(len(entries) * len(on) <= MOST_ORTHOGONAL, "gate", "of fewer entries")
        entries = _orthogonal(data, entries, on)
    gained = {at: e * (gate[at[1]] or one) for at, e in entries.items()}
    return assembled({at: e for at, e in gained.items() if e}, shape, data.one)


def _orthogonal(data: Data, entries: Any, on: list[int]) -> Any:
    """Return samples without their parts along those on the boundary, by Gram and Schmidt."""
    columns: dict[int, dict[int, Ratio]] = {}
    for (i, j), item in entries.items():
        columns.setdefault(j, {})[i] = item
    frame: list[dict[int, Ratio]] = []
    zero = data.constant(0)

    def inner(a: dict[int, Ratio], b: dict[int, Ratio]) -> Ratio:
        return sum((a[i] * b[i] for i in a if i in b), start=zero)

    def off(column: dict[int, Ratio]) -> dict[int, Ratio]:
        for u in frame:
            share = inner(column, u) / inner(u, u) * -1
            both = {*column, *u}
            column = {i: column.get(i, zero) + u.get(i, zero) * share for i in both}
        return {i: item for i, item in column.items() if item}

    for j in on:
        if left := off(columns.get(j, {})):
            frame.append(left)
    return {(i, j): item for j, column in columns.items() for i, item in off(column).items()}


def _image(data: Data, p: Pathway, given: Given, earlier: list[Pathway]) -> Pathway:
    place, n = given.items(2)
    other = earlier[place.integer(len(earlier) - 1)]
    s = data.symmetries[n.integer(len(data.symmetries) - 1)]
    given.require(other.image(s) == p.key, "the image of that pathway")
    root = p.root = other.root
    p.rho = {i: s.inputs[k] for i, k in other.rho.items()}
    p.tau = [s.outputs[o] for o in (other.tau or range(data.y.shape[0]))]
    home = {i: k for k, i in enumerate(root.key[0])}
    own = {i: k for k, i in enumerate(p.key[0])}
    p.to_root = {home[i]: own[k] for i, k in p.rho.items()}
    p.from_root = {own[k]: home[i] for i, k in p.rho.items()}
    p.moved, p.commutes, p.classes = True, root.commutes, root.classes
    return p


def _commutator(data: Data, p: Pathway, given: Given) -> None:
    w = given.take("row column value relative_norm_squared")
    forward, difference = _forward_and_difference(p)
    given.require(difference, "null exactly where M and B commute")
    rows = (line for part in difference.terms.values() for line in part.items() if line[1])
    row, column = min((i, min(line)) for i, line in rows)
    found = {key: part.get(row, {}).get(column, 0) for key, part in difference.terms.items()}
    top = {key: value for key, value in found.items() if value}
    w.row.shows(row, "that of the first non-zero entry of MB - BM")
    w.column.shows(column, "that of the first non-zero entry of MB - BM")
    good = data.ratio(w.value) == Ratio(top, difference.below)
    w.value.require(good, "the first non-zero entry of MB - BM")
    norm = difference.inner(difference) / forward.inner(forward)
    good = data.ratio(w.relative_norm_squared) == norm
    w.relative_norm_squared.require(good, "|MB - BM|²/|MB|²")


def _forward_and_difference(p: Pathway) -> tuple[Matrix, Matrix]:
    """Return MB and MB - BM, of symmetric M and B."""
    few = len(p.outputs) < len(p.key[0])
    forward = p.a.T @ p.on_b(p.a.T).T if few else p.m @ p.b
    return forward, combined([(p.a.one, forward), (p.a.one * -1, forward.T)])


# -- its modes -------------------------------------------------------------------------------------


def _spectrum(data: Data, p: Pathway, given: Given) -> None:
    p.classes, width = [], 0
    for item in given.items():
        c = _class(data, p, item)
        c.start, width = width, width + c.span
        p.classes.append(c)
    size = len(p.key[0])
    rest = [c for c in p.classes if c.size is None]
    given.require(len(rest) < 2 and (width < size) == bool(rest), f"a basis: {size} vectors")
    _unlike(data, p)
    words = [
        (word, 0, c.start + exponent * c.size)
        for c in p.classes
        if c.span
        for exponent, word in enumerate(c.words[: c.degree])
    ]
    p.words = placed(words, (size, width), data.one)
    kept = _deciding_words(p)
    shape, every = (size, len(kept)), {i: i for i in range(size)}
    places = {column: n for n, column in enumerate(kept)}
    decisive = p.words.moved(every, places, shape)
    for field, on in [("eigenvalue", p.on_m), ("d", p.on_b)][: 1 + p.commutes]:
        action = p.action(data, {a: getattr(c, field) for a, c in enumerate(p.classes) if c.span})
        shown = p.words @ action.moved(every, places, (width, len(kept)))
        if wrong := combined([(data.constant(1), on(decisive)), (data.constant(-1), shown)]):
            column = kept[min(j for _, j in wrong.entries())]
            c = next(c for c in p.classes if column < c.start + c.span)
            require(False, f"{c.path}.{field}", "g with M w = g(T) w, or Sigma^x w = g(T) w for d")
    for c in p.classes:
        require(not c.left, f"{c.path}.minpoly", "f with f(T) w = 0")
    for c in rest:
        c.size = size - width
        _rest(data, p, c)
    _independent(data, p, given)


def _rest(data: Data, p: Pathway, c: ModeClass) -> None:
    """Prove that M and Sigma^x are 0 and d on what is orthogonal to the other classes."""
    require(c.null and c.degree == 1, c.path, "of s = 0 where no vectors are shown")
    share, x = data.per_sample, p.features
    totals = {"eigenvalue": [p.a.inner(p.a)]}
    if p.commutes:
        square = x.T @ x if x.shape[1] < x.shape[0] else x @ x.T
        totals["d"] = [share * x.inner(x), share * share * square.inner(square)]
    for field, traces in totals.items():
        for exponent, left in enumerate(traces, start=1):
            for other in p.classes:
                value = getattr(other, field)
                value = value if exponent == 1 else times(other.f, value, value)
                left = left - trace(other.f, value) * other.size
            require(not left, f"{c.path}.{field}", "the one eigenvalue where no vectors are shown")


def _deciding_words(p: Pathway) -> list[int]:
    """Return the words T^l w on which it is decided how M and B act on all.

    Those of l = 0 where M and B commute with T = aM + bB: then M T^l w = T^l g(T) w follows from
    M w = g(T) w.
    """
    long = any(c.degree > 1 and c.weights for c in p.classes)
    commute = p.commutes and long and not _forward_and_difference(p)[1]

    def decided(c: ModeClass) -> bool:
        return c.weights and (commute or not (p.commutes or c.weights[1]))

    return [
        c.start + place
        for c in p.classes
        if c.span
        for place in range(c.size if decided(c) else c.span)
    ]


def _unlike(data: Data, p: Pathway) -> None:
    """Find a class that could be part of another one: see :mod:`.stages`."""
    p.split = None
    known: dict[Any, list[ModeClass]] = {}
    for c in p.classes:  # compared where they are equal at a point
        at = tuple(data.ratio_at_point(x) for x in [*c.eigenvalue, *(c.d or [])])
        for other in known.setdefault(at, []):
            if c.same(other):
                where = "of other eigenvalues than the other classes, as symmetries exchange them"
                require(not data.symmetries, c.path, where)
                p.split = c.path
        known[at].append(c)


def _class(data: Data, p: Pathway, given: Given) -> ModeClass:
    v = given.take("operator minpoly eigenvalue d generators gram_inverse inverse_d_eff")
    f, size = data.ratios(v.minpoly), len(p.key[0])
    c = ModeClass(f=f, degree=len(f) - 1, path=given.path, left=None, inverse=v.inverse_d_eff)
    v.minpoly.require(f[-1] and c.degree, "a polynomial of degree > 0")
    c.eigenvalue = data.ratios(v.eigenvalue, c.degree)
    v.d.require(p.commutes or not v.d.there, "null: Sigma^x has no eigenvalue there")
    c.d = data.ratios(v.d, c.degree) if p.commutes else None
    c.null = not any(c.eigenvalue)
    good = c.null or c.degree == 1 or _invertible(data, c)
    v.eigenvalue.require(good, "zero at every root of f, or at none")
    c.words, c.size, c.span = [], None, 0  # what is orthogonal to the others, if no vector is shown
    if v.generators.there:
        c.words = [data.matrix(v.generators, size)]
        c.size = c.words[0].shape[1]
        c.span = c.degree * c.size
        v.generators.require(c.size, "at least one vector")
    weights = c.weights = c.operator = None
    if isinstance(v.operator.value, list):
        weights = c.weights = data.ratios(v.operator, 2)
    if c.degree == 1 and weights and (p.commutes or not weights[1]):
        # w will be shown to be an eigenvector of M and B, so that T w is known.
        theta = weights[0] * c.eigenvalue[0]
        c.left = f[0] + f[1] * (theta + weights[1] * c.d[0] if c.d else theta)
    else:
        v.generators.require(c.span, "shown of conjugate modes")
        _powers(data, p, c, v.operator)
    c.gram = data.matrix(v.gram_inverse, c.span, c.span) if v.gram_inverse.there else None
    return c


def _powers(data: Data, p: Pathway, c: ModeClass, operator: Given) -> None:
    """Find T^l w, and check that f(T) w = 0."""
    if not c.weights:
        c.operator = data.matrix(operator, len(p.key[0]), len(p.key[0]))
    parts = [(q, on) for q, on in zip(c.weights or (), (p.on_m, p.on_b), strict=False) if q]
    while len(c.words) <= c.degree:
        w = c.words[-1]
        image = combined([(q, on(w)) for q, on in parts]) if c.weights else c.operator @ w
        c.words.append(image.reduced())
    left = combined(list(zip(c.f, c.words, strict=True)))
    require(not left, f"{c.path}.minpoly", "f with f(T) w = 0")


def _invertible(data: Data, c: ModeClass) -> bool:
    """Whether lambda has an inverse modulo f: multiplication by it has full rank."""
    columns, element = [], c.eigenvalue
    for _ in range(c.degree):
        whole = reduce(common_multiple, (item.below for item in element), data.one)
        columns.append(
            {
                n: data.at_point(multiply(x.top, quotient(whole, x.below) or {}))
                for n, x in enumerate(element)
            }
        )
        element = times(c.f, element, power(data.constant(1), 1))
    return rank(columns) == c.degree


def _orthogonal_classes(data: Data, p: Pathway) -> bool:
    """Whether the words of every class are orthogonal to those of the others.

    M and Sigma^x are symmetric and act on the classes as was shown: what has other eigenvalues is
    orthogonal, and no products of words are needed, which have thousands of terms in parameters.
    """
    if data.names and all(_apart(data, *pair) for pair in combinations(p.classes, 2)):
        return True
    return all(p.class_of[i] == p.class_of[j] for i, j in (p.words.T @ p.words).entries())


def _apart(data: Data, a: ModeClass, b: ModeClass) -> bool:
    """Whether no eigenvalues of two classes are equal, as far as a point modulo a prime tells.

    The determinant of G -> AᵀG - GB is the product of all differences, for the matrices A and B of
    lambda + t d; where it is not zero there it is not zero over Q(parameters).
    """
    if a.degree * b.degree > MOST_COMPARED:
        return False
    try:
        shown = ([c.eigenvalue, *([c.d] if c.d else [])] for c in (a, b))
        first, second = (_multiplication(data, c.f, q) for c, q in zip((a, b), shown, strict=True))
    except ValueError:  # not finite at the point
        return False
    columns = []
    for i, j in product(range(a.degree), range(b.degree)):
        column = {(k, j): first[i][k] for k in range(a.degree)}
        for k in range(b.degree):
            column[i, k] = column.get((i, k), 0) - second[k][j]
        columns.append(column)
    return rank(columns) == len(columns)


def _multiplication(reader: Reader, f: Element, elements: list[Element]) -> list[list[int]]:
    """Return Σ t^n q_n as a matrix on Q[x]/f, at the reader's point modulo the prime.

    Raises:
        ValueError: It is not finite there.
    """
    below = [reader.ratio_at_point(x) for x in f]
    row = [0] * (len(f) - 1)
    for n, element in enumerate(elements):
        scale = pow(_SLOPE, n, PRIME)
        row = [
            (x + scale * reader.ratio_at_point(y)) % PRIME
            for x, y in zip(row, element, strict=True)
        ]
    lead, rows = pow(below[-1], -1, PRIME), []
    for _ in row:
        rows.append(row)
        top = row[-1] * lead
        row = [(x - top * y) % PRIME for x, y in zip([0, *row[:-1]], below[:-1], strict=True)]
    return rows


def _independent(data: Data, p: Pathway, given: Given) -> None:
    """Prove that the words are a basis."""
    p.class_of = [a for a, c in enumerate(p.classes) for _ in range(c.span)]
    used = data.names or data.symmetries or any(c.gram is not None for c in p.classes)
    apart = used and p.orthogonal
    height, width = p.words.shape
    columns: list[dict[int, int]] = [{} for _ in p.class_of]
    for (i, j), entry in p.words.entries().items():
        columns[j][i] = data.at_point(entry)
    if not apart:
        given.require(rank(columns) == width, "a basis")
    for c in p.classes:
        if c.gram is not None:
            places = {c.start + k: k for k in range(c.span)}
            own = p.words.moved(range(height), places, (height, c.span))
            unit = assembled(
                {(k, k): data.constant(1) for k in range(c.span)}, c.gram.shape, data.one
            )
            good = equal(own.T @ own @ c.gram, unit)
            require(good, f"{c.path}.gram_inverse", "the inverse of SᵀS")
        elif apart:
            given.require(rank(columns[c.start : c.start + c.span]) == c.span, "a basis")
    grams = [(c.gram, c.start, c.start) for c in p.classes if c.gram is not None]
    p.gram = placed(grams, (width, width), data.one)
