"""The verifier's third part: what the pathways of a stage do to each other, checked exactly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from types import SimpleNamespace
from typing import Any

try:
    from symreln.verify_matrices import Packed, Sparse, combined, products
    from symreln.verify_modes import Element, Pathway, image, rank, times
    from symreln.verify_numbers import Ratio, require
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    from verify_matrices import Packed, Sparse, combined, products  # type: ignore[no-redef]
    from verify_modes import Element, Pathway, image, rank, times  # type: ignore[no-redef]
    from verify_numbers import Ratio, require  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]

Node = tuple[int, int]  # place of a pathway in its stage, class of modes
Piece = tuple[Ratio, Sparse, Packed, Any]  # factor, left, right, places: see products


def _fixed(root: Pathway, inputs: dict[int, int]) -> None:
    """Prove that a symmetry of a pathway moves the space of every class into itself."""
    for c in (c for c in root.classes if c.degree > 1):
        t = c.operator
        same = t is None or t.moved(inputs, inputs, t.shape).terms == t.terms
        require(same, f"{c.path}.operator", "an operator that symmetries of the pathway fix")
    met = (root.words.flipped @ root.words.packed().rows(inputs)).sparse()
    places = [
        (root.class_of[i], root.class_of[k])
        for part in met.terms.values()
        for i, row in part.items()
        for k in row
    ]
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
    """The pathways of a stage, and what they do to each other."""

    def __init__(self, data: Data, paths: list[Pathway], path: str) -> None:
        self.data, self.paths, self.path = data, paths, path
        self.one, self.per_sample = data.constant(1), data.constant(1) / data.x.shape[1]
        self.roots = [(place, p) for place, p in enumerate(paths) if not p.moved]
        self.moves: list[list[int]] = []  # of every symmetry, on the places of pathways
        places: dict[Any, list[int]] = {}
        for place, p in enumerate(paths):
            places.setdefault(p.key, []).append(place)
        for s in data.symmetries:
            move = []
            for place, p in enumerate(paths):
                own, images = places[p.key], places.get(image(p.key, s), [])
                move.append(images[own.index(place)] if len(images) == len(own) else -1)
            good = sorted(move) == list(range(len(paths)))
            good = good and all(paths[m].root is p.root for m, p in zip(move, paths, strict=True))
            require(good, path, "moved into itself by every symmetry, one pathway claimed an orbit")
            self.moves.append(move)
        for equal in places.values():  # equal pathways can change places
            for a, b in combinations(equal, 2):
                if paths[a].root is paths[b].root:
                    swap = {a: b, b: a}
                    self.moves.append([swap.get(n, n) for n in range(len(paths))])
        if all(p.commutes for p in paths):
            self._fixed_classes()

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

    def keeps_maps(self, s: Any, move: list[int]) -> bool:
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

    def nodes(self) -> Iterator[tuple[Node, Any]]:
        """Every class of modes that learn something."""
        for place, p in enumerate(self.paths):
            yield from (((place, a), c) for a, c in enumerate(p.root.classes) if not c.null)

    def overlaps(
        self, place: int, only: int | None = None
    ) -> Iterator[tuple[int, Pathway, Sparse]]:
        """Yield (j, pathway j, Wᵀ F_j F_pᵀ W) for the pathways that write where p does."""
        p = self.paths[place]
        seen = p.features.flipped @ p.words.packed()
        for j, q in enumerate(self.paths):
            if only in (None, j) and j != place and not q.outputs.keys().isdisjoint(p.outputs):
                yield j, q, q.coordinates(q.features @ seen).sparse()

    def acting(self, q: Pathway, power: int, part: Sparse) -> tuple[Pathway, Piece]:
        """Return F_qᵀ T^power W (WᵀW)^{-1}·part per sample, as a product."""
        root = q.root
        used = {root.class_of[i] for rows in part.terms.values() for i in rows}
        q.use(used)
        x = [self.data.constant(int(n == power)) for n in range(power + 1)]
        shifted = root.words @ root.action(self.data, dict.fromkeys(used, x)).packed()
        inner = (shifted.sparse() @ (root.gram @ part.packed()).tight()).tight()
        return q, (self.per_sample, *q.outward(inner), None)

    def effect(self, p: Pathway, parts: list[tuple[Pathway, Piece]]) -> Packed:
        """Return what pathways, summed over samples, make of the targets on the outputs of p."""
        groups: dict[frozenset[int], list[Piece]] = {}
        for q, piece in parts:
            groups.setdefault(frozenset(q.outputs.keys() & p.outputs.keys()), []).append(piece)
        shown = [
            self.data.drive(products(pieces)).rows({i: i for i in shared})
            for shared, pieces in groups.items()
        ]
        return shown[0] if len(shown) == 1 else combined([(self.one, rows) for rows in shown])

    def expected(self, p: Pathway, elements: dict[int, Element]) -> tuple[Pathway, Piece]:
        """Return -F_pᵀ q(T) w as a product, for :meth:`effect`."""
        words = p.words @ p.action(self.data, elements).packed()
        return p, (self.one * -1, p.features.flipped, words.tight(), None)

    def low(self, p: Pathway, elements: dict[int, Element], power: int) -> dict[int, Element]:
        """Return T^power q for the classes whose degree is above the power."""
        x = [self.data.constant(int(n == power)) for n in range(power + 1)]
        found = {a: p.root.classes[a] for a in elements}
        return {
            a: times(self.data, c.f, elements[a], x) for a, c in found.items() if c.degree > power
        }

    def restricted(self, p: Pathway, q: Pathway, overlap: Sparse, choose: Any) -> dict[Any, Sparse]:
        """Cut an overlap by choose(class of q, class of p), leaving out what that calls None."""
        tables: dict[Any, Any] = {}
        for key, rows in overlap.terms.items():
            for i, row in rows.items():
                for k, value in row.items():
                    slot = choose(q.root.class_of[i], p.class_of[k])
                    if slot is not None:
                        table = tables.setdefault(slot, {}).setdefault(key, {})
                        table.setdefault(i, {})[k] = value
        return {slot: Sparse(overlap.shape, t, overlap.below) for slot, t in tables.items()}

    def powers(self, q: Pathway, block: Sparse) -> Iterator[tuple[int, tuple[Pathway, Piece]]]:
        """Yield (k, what acts with T^k) for every k below the degrees of the block's classes."""
        degrees = [q.root.classes[a].degree for a in q.root.class_of]
        columns = {k: k for k in range(block.shape[1])}
        for power in range(max(degrees)):
            kept = {i: i for i, degree in enumerate(degrees) if degree > power}
            part = block.moved(kept, columns, block.shape)
            if part:
                yield power, self.acting(q, power, part)

    def closure(self, parts: dict[Node, int], gamma: dict[Node, Element]) -> bool:
        """Check the sums over every part; return whether some class acts on another pathway."""
        coupled = False
        for place, p in self.roots:
            sums: dict[tuple[int, int], list] = {}
            for j, q, overlap in self.overlaps(place):

                def part(i: int, a: int, j: int = j, place: int = place) -> int | None:
                    found = parts.get((j, i))
                    return -1 if found == parts.get((place, a), -1) else found

                for slot, block in self.restricted(p, q, overlap, part).items():
                    for power, piece in self.powers(q, block):
                        sums.setdefault((slot, power), []).append(piece)
                        inside = coupled or q.outputs.keys() <= p.outputs.keys()
                        coupled = inside or bool(self.effect(p, [piece]))
            own = {a: item for (n, a), item in gamma.items() if n == place}
            for power in range(max((c.degree for c in p.classes), default=1)):
                if elements := self.low(p, own, power):
                    sums.setdefault((-1, power), []).append(self.expected(p, elements))
            for pieces in sums.values():
                where = f"{self.path}.components"
                require(not self.effect(p, pieces), where, f"parts whose sums close on {p.name}")
        return coupled

    # -- coupled --

    def table(
        self, place: int, only: int | None = None
    ) -> Iterator[tuple[Node, Node, Pathway, Sparse]]:
        """Yield (target, source, pathway of the source, overlap) for the pairs that may couple."""
        p = self.paths[place]
        for j, q, overlap in self.overlaps(place, only):

            def pair(i: int, a: int, q: Pathway = q) -> tuple[int, int] | None:
                return None if q.root.classes[i].null else (i, a)

            for (i, a), block in sorted(self.restricted(p, q, overlap, pair).items()):
                yield (place, a), (j, i), q, block

    def leak(self, target: Node, source: Node) -> bool:
        """Whether the action of a class on another one is proven to leave the latter's modes."""
        p = self.paths[target[0]]
        block = {(t, s): (q, block) for t, s, q, block in self.table(target[0], source[0])}
        if p.moved or (target, source) not in block:
            return False
        actions = [self.effect(p, [piece]) for _, piece in self.powers(*block[target, source])]
        c = p.classes[target[1]]
        basis = [self.data.constant(int(n == 0)) for n in range(c.degree)]
        drives = []
        for power in range(0 if c.null else c.degree):
            elements = self.low(p, {target[1]: basis}, power)
            drives.append(self.effect(p, [self.expected(p, elements)]))
        driven = {i for drive in drives for i in drive.written}
        if any(not a.written <= driven for a in actions):
            return True  # it writes outputs that the modes do not
        known = [drive.sparse().entries() for drive in drives]
        ranks = [rank(self.data, [*known, action.sparse().entries()]) for action in actions]
        return max(ranks, default=0) > len(drives)

    def coupled_modes(self, listed: dict[tuple[Node, Node], Any], path: str) -> bool:
        """Check a complete list of couplings; return whether it is closed by symmetry."""
        left = dict(listed)
        for place, p in self.roots:
            for target, source, q, block in self.table(place):
                factors = left.pop((target, source), None)
                pieces = dict(self.powers(q, block))
                if factors is None:
                    none = not any(self.effect(p, [piece]) for piece in pieces.values())
                    require(none, path, f"complete: {source} acts on {target}")
                    continue
                good = len(factors) == q.root.classes[source[1]].degree
                good = good and not p.classes[target[1]].null
                require(good, path, "a factor for every power, and no action on null modes")
                for power, factor in enumerate(factors):
                    both = [self.expected(p, {target[1]: factor})]
                    both += [pieces[power]] if power in pieces else []
                    require(
                        not self.effect(p, both), path, "factors q_k with A_kl = A_p q_k(T) T^l w"
                    )
                alone = any(self.effect(p, [piece]) for piece in pieces.values())
                require(alone, path, "couplings that do not vanish")
        require(not left, path, "about classes that couple")
        return self._symmetric(listed)

    def _symmetric(self, listed: dict[tuple[Node, Node], Any]) -> bool:
        """Whether factors close by symmetry: parts have equal eigenvalues and equal sums."""
        classes, acting = dict(self.nodes()), dict[Node, list]()
        for (target, source), factors in listed.items():
            acting.setdefault(target, []).append((source, factors))
        theta = [self.data.constant(0), self.one]
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
            own = [q for source, q in items if classes[source].alike(classes[target])]
            gamma[name(target)] = summed(target, [factors[0] for factors in own])

        def one_part(a: Node, b: Node) -> bool:
            sums = [gamma.get(name(node)) or nothing(node) for node in (a, b)]
            return classes[a].alike(classes[b]) and sums[0] == sums[1]

        for target, items in acting.items():
            f = self.paths[target[0]].classes[target[1]].f
            while items:
                first = items[0][0]
                group = [factors for source, factors in items if one_part(source, first)]
                items = [item for item in items if not one_part(item[0], first)]
                wanted = gamma[name(target)] if one_part(target, first) else nothing(target)
                for rows in zip(*group, strict=True):
                    if summed(target, list(rows)) != wanted:
                        return False
                    wanted = times(self.data, f, wanted, theta)
        return True
