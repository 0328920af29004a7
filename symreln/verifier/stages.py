r"""The stages of gated pathways: what modes do to each other, the level, the minimum, the loss.

**Symmetries.** A symmetry permutes inputs, outputs and samples; X and Y stay the same, and every
stage's pathways (inputs, outputs, gates) go to pathways of that stage, as is checked. Least-squares
outputs are unique, so what a stage leaves to the next one stays the same too, and with it
everything that is claimed of a stage: spaces of modes, couplings, sums of couplings, minimal loss.
So a pathway that is ``like`` another one, its image, has that one's classes with the inputs
permuted, and what is checked for one pathway of every orbit holds for all, *if* these classes do
not depend on the way to the image. Let h be the way from the orbit's first pathway to an image, by
a listed symmetry (or none) to an image, equal to the pathway found there, and back. If all k are 1,
the classes' spaces are those of all modes with one pair (lambda, d), by 3 and 5 of :mod:`.modes`,
and T is a number there: h keeps them. Else, where h moves inputs, the classes must be orthogonal,
h S must be orthogonal to the other classes for the words S of each, so that it spans what S does,
and h must keep every T that is not pM + qB (which it keeps as it keeps M and B). An orbit has one
pathway whose classes are shown. Components of couplings must be invariant, also where equal
pathways of an orbit change places, and are compared. A ``map`` is shown for the orbit's first
pathway and brought to the images; every symmetry must take these maps to each other, equal pathways
in any order, so that the normal equations of one pathway of the orbit hold for all.

**Couplings** (all pathways of the stage commute). E_i = S(SᵀS)^{-1}Sᵀ is the orthogonal projector
on class i of pathway j: all classes of j are required to be orthogonal. Class i acts on class a of
p by A_kl = O_p A_j E_i T_j^k Sigma^x(j,p) T_p^l w, computed
over samples as O_p O_j Y' F_jᵀ(…)/P², Y' being what earlier stages leave. Where p writes all
outputs of j it vanishes if and only if :math:`S^T \Sigma^x(j,p) T_p^l w = 0`: A_j is one to one on
classes with lambda ≠ 0, as A_jᵀA_j = M.

- ``closed``, ``closed by symmetry``: the classes with s > 0 fall into parts, ``components`` and
  single classes. In a part k, lambda, d and, for k > 1, f up to a factor are equal, and d_eff =
  d + Gamma (Gamma = 0 for single classes). For all p, a, k, l, *the sum of A_kl over the classes
  of the part on other pathways is A_p T_p^{k+l} Gamma(T_p) w for classes a of the part, and 0 for
  all others*, null ones included. Then strengths that start equal in a part stay equal with d_eff
  for d. Without components no class acts on another pathway; with components at least one does, as
  is checked, so that the stage is not ``closed``.
- ``coupled modes``: every action that does not vanish is listed with factors q_k,
  A_kl = A_p q_k(T_p) T_p^l w, and none is on a null class; so the stage is not ``closed``. The sums
  of the factors over all sources show that the classes, in parts as above, do not stay equal. That
  other classes (with m > 1 or k > 1: another eigenbasis, a factor of f, another operator) do not
  close by symmetry is not certified.
- ``coupled matrices``: a pathway does not commute, or one action is shown that is on a null class,
  or is not A_p q(T_p) w with one q for all generators, by a rank: then the stage is not ``closed``,
  and these classes are not of coupled modes. Not certified is that no sum of such actions closes by
  symmetry, and, for m > 1 or k > 1, that no other eigenbasis of the same spaces closes. So the last
  two levels are upper bounds: what is said of coupled modes and of matrices holds in any case.

**Minimum.** The loss is convex in the weights, so W is a minimum if and only if
(Y' - Σ W_j F_j) F_pᵀ = 0 on the outputs of every p; the outputs of a minimum are unique. A stage
that is not closed shows such ``map``\ s. In a closed one W_p = A_p Σ_a E_a g_a(T_p) is a minimum,
with g = ``inverse_d_eff``, g d_eff ≡ 1 modulo f: for a class b with s > 0 the sums above and the
pathway's own part give Σ_j O_p W_j Sigma^x(j,p) w = A_p (g (Gamma + d))(T_p) w = A_p w; for a null
class both sides vanish. (Y' - Σ W F) ⊥ F gives the loss, ‖Y'‖²/2P - ½ Σ_p ⟨W_p, A_p⟩, which is
½ Σ m tr_f(lambda g) less in a closed stage. It is ``final_loss``; later stages learn the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import combinations
from types import SimpleNamespace
from typing import Any, Final

from .matrices import Matrix, Part, combined, products
from .mode_claims import ModeClass, Pathway
from .numbers import Element, Ratio, power, rank, require, times, trace
from .reading import Data, Given, named

LEVELS: Final = ("closed", "closed by symmetry", "coupled modes", "coupled matrices")
Node = tuple[int, int]  # place of a pathway in its stage, class of modes


def check_pathways(
    data: Data, given: Given, least: int, most: int
) -> tuple[str, list[str], list[Stage]]:
    """Check one set of gates, from a step in a range on; return level, a line a stage, stages."""
    v = given.take("kind step symmetries stages level")
    v.kind.shows("pathways")
    v.step.integer(most, least)
    data = copy(data)  # before anything is learnt
    data.symmetries = [_symmetry(data, s) for s in v.symmetries.items(least=0)]
    shown = v.stages.items()
    stages = [Stage(data, item, last=item is shown[-1]) for item in shown]
    weakest = max((stage.level for stage in stages), key=LEVELS.index)
    v.level.shows(weakest)
    lines = []
    for n, stage in enumerate(stages):
        names = ", ".join(named(p.name) for p in stage.paths)
        lines.append(f"stages[{n}]: {names}: {stage.level}")
    return weakest, lines, stages


def _symmetry(data: Data, given: Given) -> Any:
    v = given.take("inputs outputs samples")
    sizes = (data.x.shape[0], data.y.shape[0], data.samples)
    for moved, size in zip((v.inputs, v.outputs, v.samples), sizes, strict=True):
        good = sorted(moved.integers(size - 1)) == list(range(size))
        moved.require(good, f"a permutation of {size}")
    s = SimpleNamespace(**given.value)
    maps = [dict(enumerate(moved)) for moved in (s.inputs, s.outputs, s.samples)]
    for matrix, rows in ((data.x, maps[0]), (data.y, maps[1])):
        same = matrix.moved(rows, maps[2], matrix.shape).terms == matrix.terms
        given.require(same, "a symmetry of inputs and targets")
    s.origins = sorted(range(sizes[2]), key=s.samples.__getitem__)
    return s


def _fixed(root: Pathway, inputs: dict[int, int]) -> None:
    """Prove that a symmetry of a pathway moves the space of every class into itself."""
    for c in (c for c in root.classes if c.degree > 1):
        t = c.operator
        same = t is None or t.moved(inputs, inputs, t.shape).terms == t.terms
        require(same, f"{c.path}.operator", "an operator that symmetries of the pathway fix")
    met = (root.words.T @ root.words.rows(inputs)).entries()
    places = ((root.class_of[i], root.class_of[k]) for i, k in met)
    wrong = next((a for b, a in places if a != b), None if root.orthogonal else 0)
    where = root.path if wrong is None else root.classes[wrong].path
    require(wrong is None, where, "orthogonal to the other classes and their symmetric images")


def _moved(p: Pathway, s: Any, q: Pathway) -> bool:
    """Whether a symmetry moves the map of one image of a root to that of another one."""
    w, inputs, outputs = p.root.map, p.inputs_around(s, q), p.outputs_around(s, q)
    if all(i == k for i, k in (*inputs.items(), *enumerate(outputs))):
        return True
    return w.moved(dict(enumerate(outputs)), inputs, w.shape).terms == w.terms


class Stage:
    """The pathways of a stage, checked: what they do to each other, and what they leave."""

    def __init__(self, data: Data, given: Given, *, last: bool) -> None:
        v = given.take("pathways components couplings level map final_loss")
        self.data, self.given, self.paths = data, given, list[Pathway]()
        self.initial_loss = data.loss
        for item in v.pathways.items():
            self.paths.append(Pathway.read(data, item, self.paths))
        self.one = data.constant(1)
        self.roots = [(place, p) for place, p in enumerate(self.paths) if not p.moved]
        self.moves = self._moves()
        self.commutes = all(p.commutes for p in self.paths)
        if self.commutes:
            self._fixed_classes()
        self.level = self._level(v)
        v.level.shows(self.level)
        # Spaces that are split help to close sums and factors; against a level they say nothing.
        useful = self.level in LEVELS[1:3]
        split = next((p.split for _, p in self.roots if p.split and not useful), None)
        require(split is None, split or "", "of other eigenvalues than the other classes")
        if self.level in LEVELS[:2]:
            v.map.require(not v.map.there, "null: the modes give the minimum")
            learned = self._closed_minimum()
        else:
            learned = self._map_minimum(v.map)
        self.final_loss = data.loss = data.loss + learned * -1 / 2
        good = data.ratio(v.final_loss) == data.loss
        v.final_loss.require(good, "|Y - W F|²/2P at the minimum")
        needed = self.commutes and (len(self.paths) > 1 or not last)
        for c in (c for _, p in self.roots for c in p.classes):
            good = (c.gram is not None) == (needed and not c.null)
            where = f"{c.path}.gram_inverse"
            require(good, where, "null exactly where no other class or stage needs it")
            good = c.words or not self.commutes or (len(self.paths) == 1 and not data.symmetries)
            require(good, f"{c.path}.generators", "shown: others act on it, or symmetries move it")

    # -- symmetries --

    def _moves(self) -> list[list[int]]:
        """Return what every symmetry does to the places of pathways."""
        moves = []
        places: dict[Any, list[int]] = {}
        for place, p in enumerate(self.paths):
            places.setdefault(p.key, []).append(place)
        for s in self.data.symmetries:
            move = []
            for place, p in enumerate(self.paths):
                own, images = places[p.key], places.get(p.image(s), [])
                move.append(images[own.index(place)] if len(images) == len(own) else -1)
            good = sorted(move) == list(range(len(self.paths)))
            roots = [p.root for p in self.paths]
            good = good and all(roots[m] is roots[n] for n, m in enumerate(move))
            needed = "moved into itself by every symmetry, one pathway claimed an orbit"
            self.given.require(good, needed)
            moves.append(move)
        for equal in places.values():  # equal pathways can change places
            for a, b in combinations(equal, 2):
                if self.paths[a].root is self.paths[b].root:
                    swap = {a: b, b: a}
                    moves.append([swap.get(n, n) for n in range(len(self.paths))])
        return moves

    def _fixed_classes(self) -> None:
        """Prove that the classes do not depend on the way from a root to its images.

        They do not where all classes have one eigenvalue, since no two are alike: the space of
        each is that of all modes with this eigenvalue, and its operator a number there.
        """
        still = SimpleNamespace(inputs=range(self.data.x.shape[0]))
        simple = {id(p) for _, p in self.roots if all(c.degree == 1 for c in p.classes)}
        known = set[Any]()
        swaps = [still] * (len(self.moves) - len(self.data.symmetries))
        for s, move in zip([*self.data.symmetries, *swaps], self.moves, strict=True):
            for p, place in zip(self.paths, move, strict=True):
                if id(p.root) in simple:
                    continue
                inputs = p.inputs_around(s, self.paths[place])
                key = id(p.root), *sorted(inputs.items())
                if key not in known and any(i != k for i, k in inputs.items()):
                    known.add(key)
                    _fixed(p.root, inputs)

    def _keeps_maps(self, s: Any, move: list[int]) -> bool:
        """Whether a symmetry takes the maps to each other, those of equal pathways in any order."""
        left = dict.fromkeys(range(len(self.paths)))
        for place, p in enumerate(self.paths):
            key = self.paths[move[place]].key
            for n in left:
                q = self.paths[n]
                if q.root is p.root and q.key == key and _moved(p, s, q):
                    del left[n]
                    break
            else:
                return False
        return True

    # -- the level --

    def _level(self, v: Any) -> str:
        components, couplings = v.components.items(least=0), v.couplings.items(least=0)
        if not self.commutes:
            bare = not components and not couplings
            self.given.require(bare, "without couplings between modes")
            return LEVELS[3]
        if not couplings:
            self._components(v.components, components)
            return LEVELS[1 if components else 0]
        v.components.require(not components, "empty where there are couplings")
        known: dict[tuple[Node, Node], Any] = {}
        for item in couplings:
            c = item.take("target source factors")
            pair = self._node(c.target), self._node(c.source)
            good = (not known or max(known) < pair) and not self.paths[pair[0][0]].moved
            item.require(good, "ascending pairs of roots")
            if not c.factors.there:
                good = len(couplings) == 1 and self._leak(*pair)
                item.require(good, "one action that is proven to leave the modes it acts on")
                return LEVELS[3]
            degree = self._class(pair[0]).degree
            known[pair] = [self.data.ratios(q, degree) for q in c.factors.items()]
        symmetric = self._coupled_modes(known, v.couplings)
        v.level.require(not symmetric, LEVELS[1])
        return LEVELS[2]

    def _class(self, node: Node) -> ModeClass:
        return self.paths[node[0]].root.classes[node[1]]

    def _node(self, given: Given) -> Node:
        place, a = given.items(2)
        p = self.paths[place.integer(len(self.paths) - 1)]
        return place.value, a.integer(len(p.root.classes) - 1)

    def nodes(self) -> Iterator[tuple[Node, ModeClass]]:
        """Every class of modes that learn something."""
        for place, p in enumerate(self.paths):
            yield from (((place, a), c) for a, c in enumerate(p.root.classes) if not c.null)

    def _components(self, given: Given, items: list[Given]) -> None:
        """Check the parts that classes of modes fall into, and find d_eff of all classes."""
        data, parts, gamma = self.data, dict[Node, int](), dict[Node, Element]()
        classes = dict(self.nodes())
        shown = []
        for n, item in enumerate(items):
            v = item.take("members d_eff")
            members = [self._node(member) for member in v.members.items()]
            v.members.require(members == sorted(set(members)), "ascending classes")
            good = all(node in classes and node not in parts for node in members)
            good = good and all(classes[node].same(classes[members[0]]) for node in members)
            needed = "equal classes that learn something, each named once"
            v.members.require(good, needed)
            c = classes[members[0]]
            d_eff = data.ratios(v.d_eff, c.degree)
            shown.append((members, v.d_eff.value))
            for node in members:
                parts[node] = n
                classes[node].d_eff = d_eff
                gamma[node] = [x - y for x, y in zip(d_eff, c.d, strict=True)]
        given.require([m for m, _ in shown] == sorted(m for m, _ in shown), "in ascending order")
        for move in self.moves:
            moved = [(sorted((move[p], a) for p, a in m), given) for m, given in shown]
            given.require(sorted(moved) == shown, "moved into themselves by every symmetry")
        for node, c in classes.items():
            if node not in parts:
                parts[node] = len(parts) + len(items)
                c.d_eff = c.d
        coupled = self._closure(parts, {node: g for node, g in gamma.items() if any(g)})
        given.require(coupled or not items, "empty where no class acts on another pathway")

    # -- actions --

    def _overlaps(self, place: int) -> Iterator[tuple[int, Pathway, Matrix]]:
        """Yield (j, pathway j, Wᵀ F_j F_pᵀ W) for the pathways that write where p does."""
        p = self.paths[place]
        seen = p.features.T @ p.words
        for j, q in enumerate(self.paths):
            if j != place and not q.outputs.keys().isdisjoint(p.outputs):
                yield j, q, q.coordinates(q.features @ seen)

    def _acting(self, q: Pathway, exponent: int, part: Matrix) -> tuple[Pathway, Part]:
        """Return F_qᵀ T^exponent W (WᵀW)^{-1}·part per sample, as a product."""
        root = q.root
        used = frozenset(root.class_of[i] for rows in part.terms.values() for i in rows)
        q.use(used)
        if (used, exponent) not in root.shifted:
            shifts = dict.fromkeys(used, power(self.one, exponent))
            root.shifted[used, exponent] = root.words @ root.action(self.data, shifts)
        inner = (root.shifted[used, exponent] @ (root.gram @ part).reduced()).reduced()
        own = inner.rows(q.to_root) if q.moved else inner
        return q, (self.data.per_sample, q.features.T, own, None)

    def _effect(self, p: Pathway, parts: list[tuple[Pathway, Part]]) -> Matrix:
        """Return what pathways, summed over samples, make of the targets on the outputs of p."""
        groups: dict[frozenset[int], list[Part]] = {}
        for q, piece in parts:
            groups.setdefault(frozenset(q.outputs.keys() & p.outputs.keys()), []).append(piece)
        shown = [
            self.data.drive(products(pieces)).rows({i: i for i in shared})
            for shared, pieces in groups.items()
        ]
        return shown[0] if len(shown) == 1 else combined([(self.one, rows) for rows in shown])

    def _expected(self, p: Pathway, elements: dict[int, Element]) -> tuple[Pathway, Part]:
        """Return -F_pᵀ q(T) w as a product, for :meth:`_effect`."""
        words = p.words @ p.action(self.data, elements)
        return p, (self.one * -1, p.features.T, words.reduced(), None)

    def _low(self, p: Pathway, elements: dict[int, Element], exponent: int) -> dict[int, Element]:
        """Return T^exponent q for the classes whose degree is above the exponent."""
        x, found = power(self.one, exponent), {a: p.root.classes[a] for a in elements}
        return {a: times(c.f, elements[a], x) for a, c in found.items() if c.degree > exponent}

    def _sums(self, place: int, choose: Any) -> dict[Any, dict[int, list[tuple[Pathway, Part]]]]:
        """Collect what classes of other pathways do to those of p, by sums that are claimed.

        Returns:
            {choose(source, target): {k: what acts with T^k}}, but for what that calls None.
        """
        p, sums = self.paths[place], dict[Any, Any]()
        for j, q, overlap in self._overlaps(place):
            tables: dict[Any, Any] = {}
            for key, rows in overlap.terms.items():
                for i, row in rows.items():
                    for k, value in row.items():
                        slot = choose((j, q.root.class_of[i]), (place, p.class_of[k]))
                        if slot is not None:
                            table = tables.setdefault(slot, {}).setdefault(key, {})
                            table.setdefault(i, {})[k] = value
            for slot, table in tables.items():
                block = Matrix(overlap.shape, table, overlap.below)
                for exponent, piece in self._powers(q, block):
                    sums.setdefault(slot, {}).setdefault(exponent, []).append(piece)
        return sums

    def _powers(self, q: Pathway, block: Matrix) -> Iterator[tuple[int, tuple[Pathway, Part]]]:
        """Yield (k, what acts with T^k) for every k below the degrees of the block's classes."""
        degrees = [q.root.classes[a].degree for a in q.root.class_of]
        columns = {k: k for k in range(block.shape[1])}
        for exponent in range(max(degrees)):
            kept = {i: i for i, degree in enumerate(degrees) if degree > exponent}
            part = block.moved(kept, columns, block.shape)
            if part:
                yield exponent, self._acting(q, exponent, part)

    def _closure(self, parts: dict[Node, int], gamma: dict[Node, Element]) -> bool:
        """Check the sums over every part; return whether some class acts on another pathway."""
        coupled = False

        def part(source: Node, target: Node) -> int | None:
            found = parts.get(source)
            return -1 if found == parts.get(target, -1) else found

        for place, p in self.roots:
            sums = self._sums(place, part)
            acting = (piece for by in sums.values() for pieces in by.values() for piece in pieces)
            coupled = coupled or any(
                q.outputs.keys() <= p.outputs.keys() or self._effect(p, [(q, piece)])
                for q, piece in acting
            )
            own = {a: item for (n, a), item in gamma.items() if n == place}
            for exponent in range(max((c.degree for c in p.classes), default=1)):
                if elements := self._low(p, own, exponent):
                    expected = self._expected(p, elements)
                    sums.setdefault(-1, {}).setdefault(exponent, []).append(expected)
            for pieces in (pieces for by in sums.values() for pieces in by.values()):
                closes = not self._effect(p, pieces)
                self.given["components"].require(closes, f"parts whose sums close on {p.name}")
        return coupled

    # -- coupled --

    def _pair(self, source: Node, target: Node) -> tuple[Node, Node] | None:
        """Return (target, source), None where the source learns nothing."""
        return None if self._class(source).null else (target, source)

    def _leak(self, target: Node, source: Node) -> bool:
        """Whether the action of a class on another one is proven to leave the latter's modes."""
        p = self.paths[target[0]]
        sums = self._sums(
            target[0], lambda *pair: self._pair(*pair) if pair == (source, target) else None
        )
        actions = [self._effect(p, pieces) for by in sums.values() for pieces in by.values()]
        if not actions:
            return False
        c = p.classes[target[1]]
        drives = []
        for exponent in range(0 if c.null else c.degree):
            element = [self.data.constant(int(n == exponent)) for n in range(c.degree)]
            drives.append(self._effect(p, [self._expected(p, {target[1]: element})]))
        driven = {i for drive in drives for i in drive.written}
        if any(not a.written <= driven for a in actions):
            return True  # it writes outputs that the modes do not
        known = [self._at_point(drive) for drive in drives]
        ranks = [rank([*known, self._at_point(action)]) for action in actions]
        return max(ranks, default=0) > len(drives)

    def _at_point(self, matrix: Matrix) -> dict[Any, int]:
        return {at: self.data.at_point(entry) for at, entry in matrix.entries().items()}

    def _coupled_modes(self, known: dict[tuple[Node, Node], Any], given: Given) -> bool:
        """Check a complete list of couplings; return whether it is closed by symmetry."""
        left = dict(known)
        for place, p in self.roots:
            for (target, source), by in sorted(self._sums(place, self._pair).items()):
                factors = left.pop((target, source), None)
                acts = any(self._effect(p, pieces) for pieces in by.values())
                if factors is None:
                    given.require(not acts, f"complete: {source} acts on {target}")
                    continue
                good = len(factors) == self._class(source).degree
                good = good and not self._class(target).null
                given.require(good, "a factor for every power, and no action on null modes")
                for exponent, factor in enumerate(factors):
                    both = [self._expected(p, {target[1]: factor}), *by.get(exponent, [])]
                    holds = not self._effect(p, both)
                    given.require(holds, "factors q_k with A_kl = A_p q_k(T) T^l w")
                given.require(acts, "couplings that do not vanish")
        given.require(not left, "about classes that couple")
        return self._symmetric(known)

    def _symmetric(self, known: dict[tuple[Node, Node], Any]) -> bool:
        """Whether factors close by symmetry: parts have equal eigenvalues and equal sums."""
        classes, acting = dict(self.nodes()), dict[Node, list]()
        for (target, source), factors in known.items():
            acting.setdefault(target, []).append((source, factors))
        gamma: dict[tuple[str, int], Element] = {}

        def name(node: Node) -> tuple[str, int]:
            return self.paths[node[0]].root.path, node[1]

        def nothing(node: Node) -> Element:
            return [self.data.constant(0)] * classes[node].degree

        def summed(target: Node, rows: list[Element]) -> Element:
            total = nothing(target)
            for row in rows:
                total = [x + y for x, y in zip(total, row, strict=True)]
            return total

        for target, items in acting.items():
            own = [q for source, q in items if classes[source].same(classes[target])]
            gamma[name(target)] = summed(target, [factors[0] for factors in own])

        def one_part(a: Node, b: Node) -> bool:
            sums = [gamma.get(name(node)) or nothing(node) for node in (a, b)]
            return classes[a].same(classes[b]) and sums[0] == sums[1]

        for target, items in acting.items():
            f = self._class(target).f
            while items:
                first = items[0][0]
                group = [factors for source, factors in items if one_part(source, first)]
                items = [item for item in items if not one_part(item[0], first)]
                wanted = gamma[name(target)] if one_part(target, first) else nothing(target)
                for rows in zip(*group, strict=True):
                    if summed(target, list(rows)) != wanted:
                        return False
                    wanted = times(f, wanted, power(self.one, 1))
        return True

    # -- the minimum --

    def _closed_minimum(self) -> Ratio:
        """Return what a stage with closed modes takes off the loss; the minimum is then known."""
        data, total = self.data, self.data.constant(0)
        for _, p in self.roots:
            orbit = sum(q.root is p for q in self.paths)
            p.inverses = dict[int, Element]()
            for a, c in enumerate(p.classes):
                c.inverse.require(c.inverse.there != c.null, "null exactly where s = 0")
                if not c.null:
                    inverse = p.inverses[a] = data.ratios(c.inverse, c.degree)
                    one = times(c.f, c.d_eff, inverse)
                    good = one[0] == self.one and not any(one[1:])
                    c.inverse.require(good, "1/d_eff modulo f")
                    learned = trace(c.f, times(c.f, c.eigenvalue, inverse))
                    total = total + learned * (c.size * orbit)

        def fit(seen: Matrix) -> list[Part]:
            parts: list[Part] = []
            for p in self.paths:
                root = p.root
                p.use(root.inverses)
                if not hasattr(root, "solution"):
                    root.solution = (root.words @ root.action(data, root.inverses)).reduced()
                inside = root.gram @ p.coordinates(p.features @ seen).reduced()
                learned = (root.solution @ inside.reduced()).reduced()
                parts.append((self.one * -1, root.a, learned, p.tau))
            return parts

        data.fits = [*data.fits, fit]
        return total

    def _map_minimum(self, given: Given) -> Ratio:
        """Check a minimiser that is given, and return what it takes off the loss."""
        data, total = self.data, self.data.constant(0)
        for p, item in zip(self.paths, given.items(len(self.paths)), strict=True):
            item.require(item.there != p.moved, "null exactly where a pathway is like another")
            if not p.moved:
                p.map = data.matrix(item, data.y.shape[0], len(p.key[0]))
                good = all(i in p.outputs for i, _ in p.map.entries())
                item.require(good, "one column an input, on the pathway's outputs")
                for c in p.classes:
                    c.inverse.require(not c.inverse.there, "null in a stage not closed")
                orbit = sum(q.root is p for q in self.paths)
                total = total + p.map.inner(p.a) * orbit
        for s, move in zip(data.symmetries, self.moves, strict=False):  # then swaps of equal ones
            keeps = self._keeps_maps(s, move)
            given.require(keeps, "maps that every symmetry takes to each other")

        def fit(seen: Matrix) -> list[Part]:
            parts: list[Part] = []
            for p in self.paths:
                rows = (p.features @ seen).reduced()
                rows = rows.rows(p.from_root) if p.moved else rows
                parts.append((self.one * -1, p.root.map, rows, p.tau))
            return parts

        for _, p in self.roots:
            learned = products(fit(p.features.T)).rows(p.outputs)
            wrong = combined([(self.one, p.driven), (self.one, learned)])
            given.require(not wrong, "a minimiser of the stage's loss")
        data.fits = [*data.fits, fit]
        return total
